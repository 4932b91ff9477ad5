"""The loop's rules: Fig. 8 to 10 of the supplement as scripted taggers, and hand cases of what they leave open."""

import pytest

from reelbench.scoring.answers.reasoning import last_line
from reelbench.studio.evidence.findings import NodeVerdict, read_findings
from reelbench.studio.evidence.graphs import Graph, Node
from reelbench.studio.evidence.isolation import (
    Round,
    next_round,
    nodes_to_tag,
    report,
    stopped_round,
)

LABEL = {
    "T": "Temporal Localization",
    "S": "Spatial Grounding",
    "A": "Attribute Misidentification",
    "K": "Knowledge-Dependent Issue",
    "R": "Reasoning",
}


def verdict(sign):
    """Return what a sign stands for: + right, / another path, a letter of `LABEL` wrong; R- is planning, R+ logic."""
    if sign in "+/":
        return NodeVerdict(status="right" if sign == "+" else "divergent")
    sub_cause = {"R-": "planning", "R+": "logic"}.get(sign)
    return NodeVerdict(status="wrong", label=LABEL[sign[0]], sub_cause=sub_cause)


def graph_of(**parents):
    nodes = (
        Node(
            id=key,
            evidence=f"evidence of {key}",
            timestamp="0:10" if not above else "N/A",
            parents=tuple(above),
        )
        for key, above in parents.items()
    )
    return Graph(id="q", nodes=tuple(nodes))


def play(graph, *attempts, right_at=None, rounds=5):
    """Run the loop: an attempt is one vote's signs by node (taken three times), or a list of three votes."""
    history = []
    for number, attempt in enumerate(attempts, start=1):
        votes = attempt if isinstance(attempt, list) else [attempt] * 3
        votes = [
            None if vote is None else {key: verdict(sign) for key, sign in vote.items()}
            for vote in votes
        ]
        history.append(
            next_round(graph, history, votes, answer_right=number == right_at, rounds=rounds)
        )
        if history[-1].stop:
            break
    return history


def signs(record):
    return {key: tag.label or tag.status for key, tag in record.nodes.items()}


def new_labels(history):
    return [
        [tag.label for tag in r.nodes.values() if tag.label and tag.settled == r.round]
        for r in history
    ]


# ta-IN: the raid; the raider's number and those of two who were out; their sum; the product.
RAID = graph_of(
    raid=[],
    raider=["raid"],
    first=["raid"],
    second=["raid"],
    sum=["first", "second"],
    product=["raider", "sum"],
)
EVERYTHING = dict.fromkeys(RAID.by_id, "+")
# es-MX: the mistake on the pitch; the commentator who crouches; his name.
NAME = graph_of(mistake=[], commentator=["mistake"], name=["commentator"])
# en-GB: the shelf; the torn book; its writer; the writer's college.
COLLEGE = graph_of(shelf=[], book=["shelf"], writer=["book"], college=["writer"])


def test_figure_8_gemini():
    lost = dict.fromkeys(RAID.by_id, "S") | {"raid": "T"}
    history = play(
        RAID,
        lost,
        EVERYTHING | {"first": "S", "second": "S", "sum": "R+", "product": "R+"},
        EVERYTHING,
        right_at=3,
    )
    assert new_labels(history) == [
        ["Temporal Localization"],
        ["Spatial Grounding", "Spatial Grounding"],
        [],
    ]
    assert [record.stop for record in history] == [None, None, "answer_right"]
    assert signs(history[0]) == {"raid": "Temporal Localization"} | dict.fromkeys(
        list(RAID.by_id)[1:], "undetermined"
    )
    assert signs(history[1])["raider"] == "right"
    assert [signs(history[1])[key] for key in ("sum", "product")] == [
        "undetermined",
        "undetermined",
    ]
    assert [record.corrects for record in history] == ["raid", "first", None]


def test_figure_8_gpt_5():
    unseen = EVERYTHING | dict.fromkeys(["raider", "first", "second", "sum", "product"], "S")
    history = play(RAID, unseen, EVERYTHING, right_at=2)
    assert new_labels(history) == [["Spatial Grounding"] * 3, []]
    assert [record.stop for record in history] == [None, "answer_right"]
    # It completes all that remains, though the cue gave one of the three: the other two it found by
    # itself.
    assert [history[1].nodes[key].status for key in ("sum", "product")] == ["right", "right"]
    assert history[1].nodes["second"].later == "recovered"


def test_figure_9_gemini_is_right_at_once():
    history = play(NAME, dict.fromkeys(NAME.by_id, "+"), right_at=1)
    assert [(record.stop, record.cue) for record in history] == [("answer_right", None)]
    assert set(signs(history[0]).values()) == {"right"}


def test_figure_9_gpt_5_stops_when_evaluated_not_when_right():
    no_plan = dict.fromkeys(NAME.by_id, "R-")
    history = play(NAME, no_plan, {"mistake": "+", "commentator": "+", "name": "A"}, no_plan)
    assert new_labels(history) == [["Reasoning"], ["Attribute Misidentification"]]
    assert [record.stop for record in history] == [None, "all_evaluated"]
    assert history[0].nodes["mistake"].sub_cause == "planning"
    assert signs(history[0])["name"] == "undetermined"


def test_figure_9_in_a_taggers_words_by_both_readings():
    """From replies to the report: GPT-5 plans nothing, then sees the man and calls him by another name."""
    plain = {"time_critical": False, "model_time": "N/A", "other_path": None}

    def reply(**nodes):
        entries = [
            {"id": key, **plain, "found": said[0], "cause": said[1], "causes": said[2]}
            for key, said in nodes.items()
        ]
        verdicts, problems = read_findings({"nodes": entries}, NAME, list(nodes))
        assert problems == []
        return [verdicts] * 3

    gave_up = ("no", "planning", ["planning"])
    first = next_round(
        NAME, [], reply(mistake=gave_up, commentator=gave_up, name=gave_up), answer_right=False
    )
    assert signs(first) == {
        "mistake": "Reasoning",
        "commentator": "undetermined",
        "name": "undetermined",
    }
    assert first.cue == "What to work from next:\n- evidence of mistake (at 0:10)"
    seen, misnamed = ("yes", None, []), ("partial", "attribute", ["knowledge", "attribute"])
    second = next_round(
        NAME, [first], reply(mistake=seen, commentator=seen, name=misnamed), answer_right=False
    )
    assert signs(second) == {
        "mistake": "Reasoning",
        "commentator": "right",
        "name": "Attribute Misidentification",
    }
    assert second.stop == "all_evaluated"
    # By the earliest of all causes the name would be a matter of knowledge, which the caption
    # denies.
    assert [tag.by_order for tag in second.nodes.values()] == [
        "Reasoning",
        None,
        "Knowledge-Dependent Issue",
    ]


@pytest.mark.parametrize("model", ["Gemini-2.5-Pro", "GPT-5"])
def test_figure_10(model):
    del model  # both make the same errors
    other_book = {"shelf": "+", "book": "S", "writer": "K", "college": "K"}
    history = play(
        COLLEGE, other_book, {"shelf": "+", "book": "+", "writer": "+", "college": "K"}, other_book
    )
    assert new_labels(history) == [["Spatial Grounding"], ["Knowledge-Dependent Issue"]]
    assert [record.stop for record in history] == [None, "all_evaluated"]
    assert signs(history[0]) == {
        "shelf": "right",
        "book": "Spatial Grounding",
        "writer": "undetermined",
        "college": "undetermined",
    }


def test_what_was_right_stays_as_it_was_whatever_comes_later():
    # The shelf is right at once; a later attempt without it, and one with it, say nothing more of
    # it.
    history = play(
        COLLEGE,
        {"shelf": "+", "book": "S", "writer": "K", "college": "K"},
        {"shelf": "S", "book": "S", "writer": "K", "college": "K"},
        {"shelf": "+", "book": "+", "writer": "K", "college": "K"},
    )
    shelf = [record.nodes["shelf"] for record in history]
    assert [(tag.status, tag.later, tag.settled) for tag in shelf] == [("right", None, 1)] * len(
        history
    )
    assert len(history) == 3


@pytest.mark.parametrize(
    ("text", "line"),
    [("So:\n**X-RAY XX**", "X-RAY XX"), ("* Paris *\n\n  \n", "Paris"), ("***", ""), ("", "")],
)
def test_the_last_line_is_the_answer_without_emphasis(text, line):
    assert last_line(text) == line


def test_the_report_of_the_figures():
    lost = dict.fromkeys(RAID.by_id, "S") | {"raid": "T"}
    fig_8 = play(RAID, lost, EVERYTHING | {"first": "S", "second": "S"}, EVERYTHING, right_at=3)
    fig_9 = play(
        NAME, dict.fromkeys(NAME.by_id, "R-"), {"mistake": "+", "commentator": "+", "name": "A"}
    )
    book = {"shelf": "+", "book": "S", "writer": "+", "college": "K"}
    two_of_three = [book, book, book | {"book": "A"}]
    fig_10 = play(COLLEGE, two_of_three, book)
    counted = report([*fig_8, *fig_9, *fig_10])
    none = dict.fromkeys(counted["labels"], 0)
    assert counted["rounds"] == [
        {"round": 1, "labels": none | {LABEL["T"]: 1, LABEL["R"]: 1, LABEL["S"]: 1}, "open": 3},
        {"round": 2, "labels": none | {LABEL["S"]: 2, LABEL["A"]: 1, LABEL["K"]: 1}, "open": 3},
        {"round": 3, "labels": none, "open": 1},
    ]
    assert counted["labels"][LABEL["S"]] == {"n": 3, "share": pytest.approx(3 / 7)}
    assert counted["labels"]["Spurious Object/Event"] == {"n": 0, "share": 0}
    # All 6 + 3 + 4 nodes are settled once, two of them by the right answer of Fig. 8, which is held
    # apart; the torn book by two of three.
    assert counted["consensus"] == {"3": 10, "2": 1, "none": 0}
    assert counted["stops"] == {"answer_right": 1, "all_evaluated": 2}
    assert report([])["labels"]["Reasoning"] == {"n": 0, "share": None}


# --- cues ---


def test_cues_grow_and_never_tell_what_was_not_evaluated():
    history = play(
        RAID,
        dict.fromkeys(RAID.by_id, "T"),
        EVERYTHING | {"first": "S", "second": "S", "sum": "R+"},
        EVERYTHING | {"second": "S", "sum": "R+"},
    )
    cues = [record.cue for record in history]
    told = [{key for key in RAID.by_id if f"evidence of {key}" in cue} for cue in cues]
    assert told == [{"raid"}, {"raid", "raider", "first"}, {"raid", "raider", "first", "second"}]
    assert "evidence of raid (at 0:10)" in cues[0]
    for word in ("wrong", "fail", "miss", "mistake", "N/A"):
        assert word not in "".join(cues)


def test_an_error_of_reasoning_is_told_what_it_follows_from():
    chain = graph_of(a=[], b=[], c=["a", "b"], d=["c"])
    cue = play(chain, {"a": "+", "b": "+", "c": "R+", "d": "R+"})[0].cue
    facts, correction, premises = (
        cue.split("evidence of c")[0],
        "evidence of c",
        cue.split("evidence of c")[1],
    )
    assert correction in cue
    assert all(f"evidence of {key}" in part for key in "ab" for part in (facts, premises))
    assert "evidence of d" not in cue


# --- what the figures don't show ---


def test_a_settled_node_keeps_its_label_and_a_hint_that_is_ignored_is_noted():
    history = play(
        COLLEGE,
        {"shelf": "+", "book": "S", "writer": "K", "college": "K"},
        {"shelf": "T", "book": "A", "writer": "K", "college": "K"},
    )
    shelf, book = history[1].nodes["shelf"], history[1].nodes["book"]
    assert (shelf.status, shelf.later) == ("right", None)
    assert (book.label, book.settled, book.later) == (LABEL["S"], 1, "hint_ignored")
    # The node after the hint is evaluated all the same.
    assert history[1].nodes["writer"].settled == 2


def test_a_model_that_ignores_every_hint_ends():
    ignoring = dict.fromkeys(COLLEGE.by_id, "S")
    history = play(COLLEGE, *[ignoring] * 9)
    assert [record.stop for record in history] == [None, None, None, "all_evaluated"]
    history = play(COLLEGE, *[ignoring] * 9, rounds=2)
    assert [(record.stop, record.cue is None) for record in history] == [
        (None, False),
        ("limit", True),
    ]


def test_two_wrong_branches_are_both_logged_and_told_one_at_a_time():
    fork = graph_of(a=[], b=[], c=["a", "b"])
    history = play(
        fork,
        {"a": "S", "b": "T", "c": "R+"},
        {"a": "S", "b": "T", "c": "R+"},
        {"a": "+", "b": "+", "c": "+"},
    )
    assert [record.corrects for record in history] == ["a", "b", None]
    assert [record.nodes["c"].status for record in history] == [
        "undetermined",
        "undetermined",
        "right",
    ]
    assert history[-1].stop == "all_evaluated"


def test_another_path_blocks_what_rests_on_it_and_is_led_back():
    history = play(
        COLLEGE,
        {"shelf": "/", "book": "+", "writer": "+", "college": "+"},
        dict.fromkeys(COLLEGE.by_id, "+"),
    )
    assert signs(history[0]) == {"shelf": "divergent"} | dict.fromkeys(
        ["book", "writer", "college"], "undetermined"
    )
    assert history[0].corrects == "shelf"
    assert (history[1].nodes["shelf"].status, history[1].stop) == ("divergent", "all_evaluated")


@pytest.mark.parametrize(
    ("votes", "status", "label", "sub_cause"),
    [
        (["+", "+", "S"], "right", None, None),
        (["S", "T", "S"], "wrong", LABEL["S"], None),
        (["+", "S", "T"], "undecided", None, None),
        (["S", "T", "A"], "undecided", None, None),
        (["R-", "R+", "S"], "wrong", LABEL["R"], None),
        (["R-", "R+", "R+"], "wrong", LABEL["R"], "logic"),
        (["+", None, "+"], "right", None, None),
        (["+", None, None], "undetermined", None, None),  # too few could be read to tag anything
        (["/", "/", "+"], "divergent", None, None),
    ],
)
def test_the_majority_of_three(votes, status, label, sub_cause):
    tag = play(graph_of(a=[]), [vote and {"a": vote} for vote in votes])[0].nodes["a"]
    assert (tag.status, tag.label, tag.sub_cause) == (status, label, sub_cause)


def test_votes_that_always_differ_end_without_consensus():
    differing = [dict.fromkeys(NAME.by_id, sign) for sign in "STA"]
    history = play(NAME, differing, differing)
    assert [record.stop for record in history] == ["no_consensus"]
    assert signs(history[0]) == {
        "mistake": "undecided",
        "commentator": "undetermined",
        "name": "undetermined",
    }
    assert report(history)["consensus"] == {"3": 0, "2": 0, "none": 1}


def test_a_node_on_which_votes_differ_is_voted_on_again_while_there_is_something_to_tell():
    fork = graph_of(a=[], b=[])
    split = [{"a": "S", "b": sign} for sign in "TA+"]
    history = play(fork, split, {"a": "+", "b": "T"})
    assert [record.nodes["b"].status for record in history] == ["undecided", "wrong"]
    assert history[1].nodes["b"].settled == 2
    assert history[1].stop == "all_evaluated"


def test_votes_that_still_differ_when_all_else_is_told_end_without_consensus():
    split = [{"a": "S", "b": sign} for sign in "TA+"]
    history = play(graph_of(a=[], b=[]), split, [{"a": "+", "b": sign} for sign in "TA+"], split)
    assert [(record.corrects, record.stop) for record in history] == [
        ("a", None),
        (None, "no_consensus"),
    ]


def test_a_tagger_that_cannot_be_read_ends_the_question_and_keeps_its_tags():
    start = {"shelf": "+", "book": "S", "writer": "K", "college": "K"}
    history = play(COLLEGE, start, [None, None, start])
    assert history[1].stop == "tagger_unparsable"
    assert history[1].nodes == history[0].nodes
    assert report(history)["consensus"] == {"3": 2, "2": 0, "none": 0}


def test_votes_that_differ_are_counted_in_their_own_round_only():
    fork = graph_of(a=[], b=[])
    history = play(fork, [{"a": "S", "b": sign} for sign in "TA+"], [None, None, None])
    assert [record.nodes["b"].status for record in history] == ["undecided", "undecided"]
    assert report(history)["consensus"] == {"3": 1, "2": 0, "none": 1}


def test_a_round_without_tags_names_its_reason():
    record = stopped_round(COLLEGE, [], "media_missing")
    assert (record.round, record.stop, set(signs(record).values())) == (
        1,
        "media_missing",
        {"undetermined"},
    )
    assert report([record])["stops"] == {"media_missing": 1}


def test_the_tagger_is_asked_for_what_the_model_has_not_got_right():
    assert nodes_to_tag(COLLEGE, []) == ["shelf", "book", "writer", "college"]
    history = play(COLLEGE, {"shelf": "+", "book": "S", "writer": "K", "college": "K"})
    assert nodes_to_tag(COLLEGE, history) == ["book", "writer", "college"]


def test_five_votes_need_three():
    votes = [{"a": sign} for sign in "SST+S"]
    record = play(graph_of(a=[]), votes)[0]
    assert record.nodes["a"].label == LABEL["S"]
    assert report([record])["consensus"] == {"5": 0, "4": 0, "3": 1, "none": 0}


def test_a_record_is_read_back_as_it_was():
    record = play(COLLEGE, {"shelf": "+", "book": "R+", "writer": "K", "college": "K"})[0]
    assert Round.model_validate_json(record.model_dump_json()) == record


# --- what a tagger in the paper's shape leaves out, and the cue that it writes
# --------------------------------------


def test_a_node_that_no_vote_judges_waits_and_a_hint_that_is_ignored_is_told_again():
    # Of the paper's tagger what follows from a wrong node is undetermined, also where the cue had
    # given that node.
    history = play(
        NAME,
        {"mistake": "R-"},
        {"mistake": "R-"},
        {"mistake": "+", "commentator": "+", "name": "A"},
    )
    assert new_labels(history) == [["Reasoning"], [], ["Attribute Misidentification"]]
    assert [record.corrects for record in history] == ["mistake", "mistake", None]
    assert history[1].cue == history[0].cue
    assert history[1].nodes["mistake"].later == "hint_ignored"
    assert history[-1].stop == "all_evaluated"
    assert play(NAME, *[{"mistake": "R-"}] * 3, rounds=3)[-1].stop == "limit"


def test_a_first_round_in_which_no_vote_judges_a_known_node_ends_without_consensus():
    # Each vote (Fig. 7's shape) leaves the last node out, behind another parent; two of three find
    # each parent.
    graph = graph_of(a=[], b=[], c=[], d=["a", "b", "c"])
    votes = [
        {"a": "S", "b": "+", "c": "+"},
        {"a": "+", "b": "S", "c": "+"},
        {"a": "+", "b": "+", "c": "S"},
    ]
    (record,) = play(graph, votes)
    assert signs(record) == {"a": "right", "b": "right", "c": "right", "d": "undetermined"}
    assert record.stop == "no_consensus"


def test_the_cue_is_that_of_the_first_vote_whose_first_failing_node_is_the_majoritys():
    votes = [
        {"mistake": verdict("+"), "commentator": verdict("S")},
        {"mistake": verdict("R-")},
        {"mistake": verdict("R-")},
    ]
    told = next_round(
        NAME, [], votes, answer_right=False, cues=["of the man", None, "of the mistake"]
    )
    assert (told.cue, told.corrects) == ("of the mistake", "mistake")
    ours = next_round(NAME, [], votes, answer_right=False, cues=["of the man", None, None])
    assert ours.cue == "What to work from next:\n- evidence of mistake (at 0:10)"


def test_both_readings_are_voted_on():
    first = verdict("A").model_copy(update={"by_order": LABEL["K"]})
    votes = [{"mistake": first}, {"mistake": first}, {"mistake": verdict("A")}]
    tag = next_round(NAME, [], votes, answer_right=False).nodes["mistake"]
    assert (tag.label, tag.by_order) == (LABEL["A"], LABEL["K"])
