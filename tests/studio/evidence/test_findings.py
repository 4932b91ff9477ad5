"""The paper's tables (supplement, Fig. 6), case by case."""

import pytest

from reelbench.studio.evidence.findings import (
    LABELS,
    Finding,
    read_cue,
    read_findings,
    seconds_off,
    verdict_on_node,
)
from reelbench.studio.evidence.graphs import Graph, Node

TIMED = Node(id="a", evidence="A red book.", timestamp="1:00 - 1:10")
GRAPH = Graph(id="q", nodes=(TIMED, Node(id="b", evidence="Its writer.", parents=("a",))))
PATH = {"new_evidence": True, "productive": True, "contradicts": False}


def finding(found="yes", **rest):
    return Finding.model_validate({"id": "a", "found": found, **rest})


def test_the_labels_are_those_of_table_8():
    assert set(LABELS) == {
        "Temporal Localization",
        "Spatial Grounding",
        "Spurious Object/Event",
        "Attribute Misidentification",
        "Knowledge-Dependent Issue",
        "Reasoning",
    }


@pytest.mark.parametrize(
    ("said", "status", "label"),
    [
        # Rule 2: another path counts only where all three conditions hold; otherwise rule 3 goes
        # on.
        (finding("no", other_path=PATH, causes=["spatial"]), "divergent", None),
        (finding("yes", other_path=PATH), "divergent", None),
        (finding("yes", other_path=PATH | {"new_evidence": False}), "right", None),
        (
            finding("no", other_path=PATH | {"productive": False}, causes=["logic"]),
            "wrong",
            "Reasoning",
        ),
        (finding("yes", other_path=PATH | {"contradicts": True}), "right", None),
        # Rule 3: content first.
        (finding("yes"), "right", None),
        (finding("no", causes=["spatial"]), "wrong", "Spatial Grounding"),
        (finding("partial", causes=["spatial"]), "wrong", "Spatial Grounding"),
        # Then the time: critical and more than five seconds from 1:00-1:10.
        (finding("yes", time_critical=True, model_time="0:55"), "right", None),
        (finding("yes", time_critical=True, model_time="0:54"), "wrong", "Temporal Localization"),
        (finding("yes", time_critical=True, model_time="1:15"), "right", None),
        (finding("yes", time_critical=True, model_time="1:16"), "wrong", "Temporal Localization"),
        (finding("yes", time_critical=True, model_time="0:10 - 1:05"), "right", None),
        (finding("yes", time_critical=True, model_time="0:10, 1:05"), "right", None),
        (
            finding("yes", time_critical=True, model_time="9:00", causes=["planning"]),
            "wrong",
            "Reasoning",
        ),
        (finding("yes", time_critical=False, model_time="9:00"), "right", None),
        (finding("yes", time_critical=True), "right", None),
    ],
)
def test_the_decision_table(said, status, label):
    verdict = verdict_on_node(said, TIMED)
    assert (verdict.status, verdict.label) == (status, label)


def test_a_node_without_a_time_is_never_off():
    assert (
        verdict_on_node(finding(time_critical=True, model_time="9:00"), GRAPH.by_id["b"]).status
        == "right"
    )


@pytest.mark.parametrize(
    ("causes", "label", "sub_cause"),
    [
        (["planning"], "Reasoning", "planning"),
        (["knowledge"], "Knowledge-Dependent Issue", None),
        (["temporal"], "Temporal Localization", None),
        (["spatial"], "Spatial Grounding", None),
        (["attribute"], "Attribute Misidentification", None),
        (["spurious"], "Spurious Object/Event", None),
        (["logic"], "Reasoning", "logic"),
        # The first in the paper's order counts, however they are listed.
        (["logic", "spurious", "attribute"], "Attribute Misidentification", None),
        (["logic", "planning"], "Reasoning", "planning"),
        (["temporal", "knowledge"], "Knowledge-Dependent Issue", None),
        # By the labels' own names, and by the one that the captions use.
        ("Spatial Grounding", "Spatial Grounding", None),
        (["External Knowledge"], "Knowledge-Dependent Issue", None),
    ],
)
def test_the_first_cause_that_applies(causes, label, sub_cause):
    verdict = verdict_on_node(finding("no", causes=causes), TIMED)
    assert (verdict.label, verdict.sub_cause) == (label, sub_cause)


def reply(*entries):
    return {"nodes": list(entries)}


def test_a_reply_that_reads():
    said = reply(
        {"id": "a", "found": "yes", "why": "said so"},
        {"id": "b", "found": "no", "causes": ["logic"]},
    )
    verdicts, problems = read_findings(said, GRAPH, ["a", "b"])
    assert problems == []
    assert (verdicts["a"].status, verdicts["b"].label) == ("right", "Reasoning")
    assert read_findings(reply(said["nodes"][1]), GRAPH, ["b"])[1] == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([], ["nodes"]),
        (reply({"id": "a", "found": "yes"}), ["'b'", "missing"]),
        (
            reply({"id": "a", "found": "yes"}, {"id": "z", "found": "yes"}),
            ["'z'", "not in the graph"],
        ),
        (reply({"id": "a", "found": "yes"}, {"id": "a", "found": "yes"}), ["'a'", "twice"]),
        (reply({"id": "a", "found": "no"}), ["'a'", "causes"]),
        (reply({"id": "a", "found": "maybe"}), ["'a'", "found"]),
        (reply({"id": "a", "found": "no", "causes": ["Localization"]}), ["'a'", "causes"]),
        (reply({"id": "a", "found": "no", "causes": ["Reasoning"]}), ["'a'", "causes"]),
        (reply({"id": "a", "found": "no", "causes": 3}), ["'a'", "causes"]),
        (reply({"id": "a", "found": "yes", "model_time": "later"}), ["'a'", "model_time", "N/A"]),
        (reply("a"), ["number 1"]),
        (reply({"found": "yes"}), ["number 1", "id"]),
    ],
)
def test_what_is_wrong_is_told_in_a_line(value, told):
    problems = read_findings(value, GRAPH, ["a", "b"])[1]
    assert all("\n" not in problem for problem in problems)
    assert all(text in problems[0] for text in told)


# --- both readings of Fig. 6
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cause", "causes", "label", "by_order"),
    [
        # Fig. 9, GPT-5's second attempt: it sees the man and names another; that a name is
        # knowledge comes after.
        (
            "attribute",
            ["knowledge", "attribute"],
            "Attribute Misidentification",
            "Knowledge-Dependent Issue",
        ),
        # Fig. 10: the writer is right, and his college, which no frame shows, is wrong: one reading
        # as the other.
        ("knowledge", ["knowledge"], "Knowledge-Dependent Issue", "Knowledge-Dependent Issue"),
        # Fig. 8: the time is right, the players aren't found, so their sum is wrong too.
        ("spatial", ["spatial", "logic"], "Spatial Grounding", "Spatial Grounding"),
        ("External Knowledge", [], "Knowledge-Dependent Issue", "Knowledge-Dependent Issue"),
    ],
)
def test_the_label_is_of_the_first_cause_and_the_earliest_one_is_on_record(
    cause, causes, label, by_order
):
    verdict = verdict_on_node(finding("no", cause=cause, causes=causes), TIMED)
    assert (verdict.label, verdict.by_order) == (label, by_order)


def test_what_a_time_rests_on_is_kept_so_that_it_can_be_decided_anew():
    verdict = verdict_on_node(
        finding(time_critical=True, model_time="1:21", why="It looked later."), TIMED
    )
    assert (verdict.status, verdict.found, verdict.time_critical) == ("wrong", "yes", True)
    assert (verdict.model_time, verdict.why) == ("1:21", "It looked later.")
    assert seconds_off(verdict.model_time, TIMED) == 11
    assert seconds_off(None, TIMED) is seconds_off("1:21", GRAPH.by_id["b"]) is None


# --- the paper's own shape (Fig. 7)
# ---------------------------------------------------------------------------------


def solution(**nodes):
    """The paper's reply: node -> (status, reason), or what `outputs` is instead."""
    outputs = {
        key: {
            "divergence": None,
            "evidence_retrieved": "partial",
            "status": said[0],
            "missing_evidence_reason": said[1],
            "justification": "It names another.",
        }
        if isinstance(said, tuple)
        else said
        for key, said in nodes.items()
    }
    return {
        "solution_graph": {key: {"evidence": "e", "outputs": out} for key, out in outputs.items()}
    }


@pytest.mark.parametrize(
    ("reason", "label", "sub_cause"),
    [
        ("Attribute MisIdentification", "Attribute Misidentification", None),
        ("External Knowledge", "Knowledge-Dependent Issue", None),
        ("Reasoning", "Reasoning", None),
        ("Intent/Planning Failure", "Reasoning", "planning"),
        ("Logical Failure", "Reasoning", "logic"),
        ("Localization", "Temporal Localization", None),
        ("Grounding", "Spatial Grounding", None),
        ("Hallucination", "Spurious Object/Event", None),
    ],
)
def test_a_reply_in_the_papers_shape_states_status_and_reason(reason, label, sub_cause):
    verdicts, problems = read_findings(
        solution(a=("wrong", reason), b=("undetermined", None)), GRAPH, ["a", "b"]
    )
    assert problems == []
    assert verdicts.keys() == {"a"}  # what is undetermined has no verdict
    assert (verdicts["a"].label, verdicts["a"].sub_cause) == (label, sub_cause)
    assert (verdicts["a"].found, verdicts["a"].why) == ("partial", "It names another.")


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        ({"time_critical": True, "model_time": "1:07 - 1:10"}, (True, "1:07 - 1:10")),
        ({"time_critical": "yes", "model_time": "late"}, (None, None)),
        ({"time_critical": False, "model_time": "N/A"}, (False, None)),
        ({}, (None, None)),  # as the paper prints it
    ],
)
def test_times_that_a_prompt_of_the_users_asks_for_are_kept_in_the_papers_shape(more, kept):
    verdicts, problems = read_findings(
        solution(a={"status": "right"} | more, b=("right", None)), GRAPH, ["a", "b"]
    )
    assert problems == []
    assert (verdicts["a"].time_critical, verdicts["a"].model_time) == kept


def test_another_path_and_the_cue_in_the_papers_shape():
    reply = solution(a={"divergence": True, "status": None}, b=("right", None)) | {
        "next_attempt_cue": " Look at 1:00. "
    }
    verdicts, problems = read_findings(reply, GRAPH, ["a", "b"])
    assert (problems, verdicts["a"].status, verdicts["b"].status) == ([], "divergent", "right")
    assert read_cue(reply) == "Look at 1:00."
    assert read_cue(solution()) is None


@pytest.mark.parametrize(
    ("nodes", "told"),
    [
        ({"a": ("right", None)}, "node 'b': is missing"),
        (
            {"a": ("wrong", "bad luck"), "b": ("right", None)},
            "missing_evidence_reason is 'bad luck'",
        ),
        ({"a": ("fine", None), "b": ("right", None)}, "status is 'fine'"),
        (
            {"a": ("right", None), "b": ("right", None), "z": ("right", None)},
            "node 'z': is not in the graph",
        ),
    ],
)
def test_what_is_wrong_in_the_papers_shape(nodes, told):
    assert told in read_findings(solution(**nodes), GRAPH, ["a", "b"])[1][0]
