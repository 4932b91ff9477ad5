"""Questions on moments: the chain from captions or queries to files that the registry reads, and its command."""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.studio.chain import ChainPrompts, ChainSetup
from reelbench.studio.chain_rules import Cuts, GateName, GateRules, SourceRules
from reelbench.studio.gates import Gates
from reelbench.studio.moment_pairs import (
    MomentSource,
    across_time,
    cost_per_1000,
    mini_test,
    read_pairs,
)
from reelbench.studio.moment_sources import read_sources
from reelbench.studio.moments import MomentOptions, Moments, run
from reelbench.video import mini_clips
from tests.servers import roles
from tests.servers.judge import Answer
from tests.studio.conftest import INJECTIONS, adds_up, dropped, files_in, stages, valid

ANET = {
    f"v_{number:011d}": {
        "duration": 100.0,
        "timestamps": [[0, 30.5], [31, 60.5], [62, 90]],
        "sentences": [
            f" A man {number} opens a box.",
            "He takes a rope out.",
            " He climbs a tree.",
        ],
    }
    for number in range(4)
}


def qvh(number, clip="clip", **more):
    entry = {
        "qid": number,
        "query": f"A cat {number} jumps.",
        "duration": 150,
        "vid": clip,
        "relevant_windows": [[20, 40]],
    }
    return {**entry, "relevant_clip_ids": [10], "saliency_scores": [[4, 4, 4]], **more}


@pytest.fixture
def make(tmp_path, models):
    """Make questions from ActivityNet's dict or QVHighlights' list; returns the folder and `funnel.json`."""

    def make(given, *, out="out", prompts=None, gates=None, **options):
        path = tmp_path / ("val_1.json" if isinstance(given, dict) else "val.jsonl")
        lines = (
            json.dumps(given)
            if isinstance(given, dict)
            else "".join(json.dumps(one) + "\n" for one in given)
        )
        path.write_text(lines, encoding="utf-8")
        folder = None if out is None else tmp_path / out
        if folder is not None:
            folder.mkdir(exist_ok=True)
        moments = Moments(ChainPrompts("moments", prompts), MomentOptions(**options), gates)
        names = (
            *(roles.CAPTIONS if isinstance(given, dict) else roles.QUERIES),
            "blind",
            "checker",
        )
        document = asyncio.run(
            run(
                [MomentSource(source) for source in read_sources(path)],
                moments,
                ChainSetup(models(*names), folder),
            )
        )
        assert folder is None or document == valid(folder / "funnel.json")
        return folder, document

    make.models = models(*roles.CAPTIONS)
    return make


def rows_in(folder):
    return json.loads((folder / "rextime.json").read_text())


def test_captions_become_rows_of_the_hubs_schema(make, server):
    folder, document = make(ANET)
    rows = rows_in(folder)
    assert len(rows) == 8
    assert Counter(row["category"] for row in rows) == {"means-to-an-end": 4, "sequential": 4}
    for row in rows:
        right = row["options"]["ABCD".index(row["ans"])]
        assert row["answer"] == f"From <s0> to <e0>, {right}."
        assert len(set(row["options"])) == 4
        assert row["source"] == "ActivityNet_val_1"
    # Type 1 of means and end is answered by the means, which is the first event; of an order by the
    # second one.
    spans = {(row["category"], row["qid"][-1]): row["span"] for row in rows}
    expected = {
        ("means-to-an-end", "1"): [0, 30.5],
        ("means-to-an-end", "2"): [62, 90],
        ("sequential", "1"): [31, 60.5],
        ("sequential", "2"): [0, 30.5],
    }
    assert all(expected[key] == span for key, span in spans.items())
    assert stages(document) == {
        "filters": (4, 4),
        "pairs": (8, 8),
        "questions": (16, 16),
        "verification": (16, 8),
        "options": (8, 8),
    }
    assert Counter(call.body["model"] for call in server.calls) == {
        "relation": 4,
        "sequential": 4,
        "means_to_an_end": 4,
        "verification": 8,
        "options": 8,
    }


def test_causes_are_asked_for_and_answered_the_right_way_round(make, server):
    def script(call):
        answer = roles.play(call)
        if call.body["model"] == "relation":
            answer.content = answer.content.replace('"Purpose": 3', '"Purpose": 1')
        return answer

    server.script(script)
    cuts = Cuts(keep="both")
    folder, _ = make(ANET, cuts=cuts)
    causal = {row["qid"]: row for row in rows_in(folder) if row["category"] == "cause-effect"}
    name = "anet_v_00000000000_cause_effect"
    assert causal[f"{name}_1"]["span"] == [62, 90]  # what comes of the cause: the effect
    assert causal[f"{name}_2"]["span"] == [0, 30.5]  # why the effect came about: the cause


@pytest.mark.parametrize(
    ("scores", "kept", "lost"),
    [
        ((3, 2), ["1"], {"low_score": 1}),
        ((2, 3), ["2"], {"low_score": 1}),
        ((2, 2), [], {"low_score": 2}),
    ],
)
def test_a_question_needs_its_score(make, server, scores, kept, lost):
    def script(call):
        if call.body["model"] == "relation":
            return Answer("no")
        if call.body["model"] == "verification":
            return Answer(json.dumps({"case_1_score": scores[0], "case_2_score": scores[1]}))
        return roles.play(call)

    server.script(script)
    folder, document = make({name: ANET[name] for name in list(ANET)[:1]})
    assert [row["qid"][-1] for row in rows_in(folder)] == kept
    assert dropped(document, "verification") == lost
    assert dropped(document, "pairs") == {"unparsable": 1}
    assert adds_up(document)


def test_a_pair_in_the_wrong_order_is_asked_for_again_and_then_dropped(make, server):
    def script(call):
        answer = roles.play(call)
        if call.body["model"] == "relation":
            turned = (
                answer.content.replace("event1", "x")
                .replace("event2", "event1")
                .replace('"x', '"event2')
            )
            answer.content = turned
        return answer

    server.script(script)
    folder, document = make({name: ANET[name] for name in list(ANET)[:1]})
    assert {row["category"] for row in rows_in(folder)} == {"sequential"}
    assert dropped(document, "pairs") == {"unparsable": 1}
    asked = [call.body["messages"] for call in server.calls if call.body["model"] == "relation"]
    assert len(asked) == 3
    assert "starts after the event2" in asked[1][-1]["content"]


def test_a_video_whose_events_all_overlap_is_not_asked_about(make, server):
    one = {
        "v_00000000000": {
            "duration": 100,
            "timestamps": [[0, 50], [0, 49.9]],
            "sentences": ["a", "b"],
        }
    }
    _, document = make(one)
    assert dropped(document, "filters") == {"overlapping": 1}
    assert server.calls == []


@pytest.mark.parametrize(
    ("overlap", "second", "kept"),
    [
        ("partial", [29.8, 60], True),
        ("none", [29.8, 60], False),
        ("none", [30, 60], True),
        ("0.2", [29.8, 60], True),  # 30 - 29.8 is 0.2, and floating point would not say so
        ("0.1", [29.8, 60], False),
        ("100", [5, 20], False),  # covered: not across time, however much may overlap (C.6)
        ("partial", [0, 60], False),
        ("partial", [5, 30], False),
    ],
)
def test_how_far_two_events_of_a_pair_may_overlap(make, server, overlap, second, kept):
    """A pair that a model names is read; one that overlaps too far is dropped under that name, and not asked again."""

    def script(call):
        answer = roles.play(call)
        for before, after in (
            ("[62, 90]", second),
            ("[62.0, 90.0]", second),
            ("[0, 30.5]", [0, 30]),
            ("[0.0, 30.5]", [0, 30]),
        ):
            answer.content = answer.content.replace(before, json.dumps(after))
        return answer

    server.script(script)
    times = [[0, 30], second, [62, 90]]
    video = {"duration": 100, "timestamps": times, "sentences": ["a", "b", "c"]}
    _, document = make({"v_00000000000": video}, rules=SourceRules(overlap=overlap, gap=50))
    assert document["thresholds"]["overlap"] == overlap
    asked = Counter(call.body["model"] for call in server.calls)
    assert asked["relation"] == 1
    assert dropped(document, "pairs") == (
        {} if kept else {"overlapping": asked["relation"] + asked["sequential"]}
    )


def test_an_overlap_that_is_none_of_these_is_told(reelbench, tmp_path):
    (tmp_path / "val_1.json").write_text(json.dumps(ANET))
    done = reelbench(
        "make", "moments", "--captions", tmp_path / "val_1.json", "--plan", "--overlap", "some"
    )
    assert done.returncode == 2
    assert "--overlap: 'some' is not none, partial or a number of seconds" in done.stderr


@pytest.mark.parametrize(("role", "left"), [("verification", 2), ("options", 1)])
def test_questions_that_a_later_step_gives_nothing_for_are_kept_apart(make, server, role, left):
    def script(call):
        silent = call.body["model"] in {role, "relation"}
        return Answer("I don't know.") if silent else roles.play(call)

    server.script(script)
    folder, document = make({name: ANET[name] for name in list(ANET)[:1]})
    assert rows_in(folder) == []
    kept = [json.loads(line) for line in (folder / "unfinished.jsonl").read_text().splitlines()]
    assert len(kept) == left
    assert all(
        one["question"] and one["answer"] and one["category"] == "sequential" for one in kept
    )
    assert adds_up(document)


def test_options_are_shuffled_by_the_seed(make):
    many = {f"v_{n:011d}": ANET["v_00000000000"] for n in range(40)}
    letters = [
        [row["ans"] for row in rows_in(make(many, out=f"o{seed}", seed=seed)[0])]
        for seed in (0, 0, 1)
    ]
    assert letters[0] == letters[1] != letters[2]
    assert set(letters[0]) == set("ABCD")


def test_a_second_run_asks_nothing_and_writes_the_same(make, server):
    first, _ = make(ANET, out="one")
    calls = len(server.calls)
    second, document = make(ANET, out="two")
    assert (len(server.calls), document["calls"]) == (calls, 0)
    assert {**files_in(first), "funnel.json": b""} == {**files_in(second), "funnel.json": b""}


def test_a_plan_counts_what_comes_after_the_rules(make, server):
    sparse = {"v_sparse00000": {"duration": 100, "timestamps": [[0, 10]], "sentences": ["x"]}}
    _, plan = make({**ANET, **sparse}, out=None)
    assert server.calls == []
    assert stages(plan)["filters"] == (5, 4)
    assert (
        plan["calls"] == 4 * 2 + 4 + 8 + 8
    )  # a plan takes every pair to be causal and every question to be right


class TestQueries:
    @pytest.fixture
    def media(self):
        row = next(
            row
            for row in loading.locate("rextime_mini").read()
            if not row["video"].startswith("v_")
        )
        return Path(mini_clips.mini_clip("rextime", row["video"], row["duration"]))

    def test_frames_are_shown_and_both_sides_become_questions(self, make, server, media):
        folder, document = make(
            [qvh(1, media.stem), qvh(2, media.stem, relevant_windows=[[0, 150]])],
            media=media.parent,
            frames="uniform:3,size=64",
            cuts=Cuts(keep="both"),
        )
        (seen,) = [call for call in server.calls if call.body["model"] == "neighbours"]
        text, *pictures = seen.body["messages"][1]["content"]
        assert "A cat 1 jumps." in text["text"]
        assert [part["type"] for part in pictures] == ["image_url"] * 3
        assert dropped(document, "filters") == {"whole_clip": 1}
        rows = {row["qid"]: row for row in rows_in(folder)}
        assert set(rows) == {
            f"qvh_1_{side}_cause_effect_{n}" for side in ("cause", "effect") for n in (1, 2)
        }
        # The query is answered by its window; what was seen beside it has no time yet.
        assert rows["qvh_1_cause_cause_effect_1"]["span"] == [20, 40]
        assert rows["qvh_1_effect_cause_effect_2"]["span"] == [20, 40]
        assert set(document["unmarked"]) == {
            "qvh_1_cause_cause_effect_2",
            "qvh_1_effect_cause_effect_1",
        }

    def test_what_merely_comes_before_or_after_a_query_is_asked_for_its_order(
        self, make, server, media
    ):
        def script(call):
            answer = roles.play(call)
            if call.body["model"] == "neighbours":
                answer.content = answer.content.replace(
                    '"cause-relevant": "yes"', '"cause-relevant": "no"'
                )
            return answer

        server.script(script)
        folder, document = make(
            [qvh(1, media.stem)],
            media=media.parent,
            frames="uniform:2,size=64,as=images",
            cuts=Cuts(keep="both"),
        )
        (ordered,) = [call for call in server.calls if call.body["model"] == "sequential"]
        shown = json.loads(roles.block(ordered, "captions"))
        # What comes before lies somewhere before the query's window.
        assert [one["timestamp"] for one in shown] == [[0, 20], [20, 40]]
        assert shown[1]["caption"] == "A cat 1 jumps."
        rows = {row["qid"]: row for row in rows_in(folder)}
        first, second = (rows[f"qvh_1_cause_sequential_{n}"] for n in (1, 2))
        # Type 1 is answered by what comes later, the query; type 2 by what comes before, which has
        # no time yet.
        assert (first["span"], first["question_span"]) == ([20, 40], None)
        assert (second["span"], second["question_span"]) == ([0, 150], [20, 40])
        assert second["qid"] in document["unmarked"]
        assert document["across_time"]["known"] == 0

    def test_for_training_only_what_has_a_time_is_kept(self, make, media):
        folder, document = make(
            [qvh(1, media.stem)],
            media=media.parent,
            frames="uniform:2,size=64,as=images",
            with_options=False,
            cuts=Cuts(query_answers="query"),
        )
        assert [row["span"] for row in rows_in(folder)] == [[20, 40], [20, 40]]
        assert dropped(document, "verification") == {"no_span": 2}
        assert document["unmarked"] == []

    def test_a_clip_that_is_not_here_is_dropped(self, make, server):
        _, document = make([qvh(1)])
        assert dropped(document, "filters") == {"media_missing": 1}
        assert server.calls == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            '{"v": {"duration": 10, "timestamps": [[0, 1]], "sentences": []}}',
            "1 timestamps and 0 sentences",
        ),
        ('{"v": {"duration": 0, "timestamps": [], "sentences": []}}', "video 'v', field duration"),
        ("[1]", "entry 1, the object"),
        (
            '{"qid": 1, "query": "q", "duration": 5, "vid": "v", "relevant_windows": []}',
            "field relevant_windows",
        ),
        ("[]", "nothing in it that questions can be made from"),
    ],
)
def test_a_file_that_is_neither_is_told(tmp_path, content, said):
    path = tmp_path / "some.json"
    path.write_text(content)
    with pytest.raises(InputError, match=re.escape(said)):
        read_sources(path)


@pytest.mark.parametrize("text", INJECTIONS)
def test_captions_that_give_orders_are_material(make, server, text):
    given = {
        "v_00000000000": {**ANET["v_00000000000"], "sentences": [text, f"{text} 2", f"{text} 3"]}
    }
    folder, document = make(given)
    first = next(call for call in server.calls if call.body["model"] == "relation")
    captions = json.loads(roles.block(first, "captions"))
    assert [one["caption"] for one in captions] == [text, f"{text} 2", f"{text} 3"]
    assert {row["category"] for row in rows_in(folder)} == {"means-to-an-end", "sequential"}
    assert adds_up(document)


PRINTED = {
    "relation": (
        'Captions:\n<CAPTIONS>\n```json{\n "event1": "<EVENT1>", "Purpose": <PURPOSE>\n}```',
        ["captions"],
    ),
    "sequential": ('Captions: <CAPTION>\n"Question": "<QUESTION>"', ["caption"]),
    "means_to_an_end": (
        '"<EVENT1>" is a means to "<EVENT2>". "Question": "<QUESTION>"',
        ["event1", "event2"],
    ),
    "verification": (
        "1. <QUESTION1>\n<ANSWER1>\n2. <QUESTION2>\n<ANSWER2>\n<SCORE>",
        ["question1", "answer1", "question2", "answer2"],
    ),
    "options": (
        '<QUESTION> <ANSWER> "correct_answer": "<ANSWER>", "<OPTION1>"',
        ["question", "answer"],
    ),
}
"""Prompts with places as the paper prints them (C.8), in words of ours; and which of them the chain fills in."""


def test_prompts_as_the_paper_prints_them_are_sent_as_they_stand(make, server, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    for role, (text, _) in PRINTED.items():
        (mine / f"{role}.txt").write_text(text)
    ours, shown = {}, {}

    def script(call):
        role, text = call.body["model"], roles.text_of(call)
        if call.body["messages"][0]["role"] == "user":
            shown[role] = text
            return ours[role]  # the paper's prompts ask for the same keys
        ours.setdefault(role, roles.play(call))
        return ours[role]

    server.script(script)
    one = {"v_00000000000": ANET["v_00000000000"]}
    make(one, out="ours")
    folder, _ = make(one, out="theirs", prompts=mine)
    assert len(rows_in(folder)) == 2
    for role, (text, filled) in PRINTED.items():
        pattern = re.escape(text)
        for place in filled:
            pattern = pattern.replace(re.escape(f"<{place.upper()}>"), "(.+)")
        assert re.fullmatch(pattern, shown[role], re.DOTALL), shown[role]
    assert "He climbs a tree." in shown["relation"]


def test_people_step_in_after_a_stage(make, server, tmp_path):
    one = {"v_00000000000": ANET["v_00000000000"]}
    folder, document = make(one, until="questions")
    assert [stage["name"] for stage in document["stages"]] == ["filters", "pairs", "questions"]
    path = folder / "questions.jsonl"
    line = json.loads(path.read_text())
    assert line["source"] == "v_00000000000"
    _, ordered = line["pairs"]
    ordered["questions"][0]["question"] = "What follows, says a person?"
    del ordered["questions"][1]
    path.write_text(json.dumps({**line, "pairs": [ordered]}))
    before = len(server.calls)
    pairs = read_pairs(path, read_sources(tmp_path / "val_1.json"))
    moments = Moments(ChainPrompts("moments"), MomentOptions(start_after="questions"))
    models = {role: make.models[role] for role in ("verification", "options")}
    document = asyncio.run(run(pairs, moments, ChainSetup(models, folder)))
    assert [call.body["model"] for call in server.calls[before:]] == ["verification", "options"]
    assert [row["question"] for row in rows_in(folder)] == ["What follows, says a person?"]
    before = {"filters": (1, 1), "pairs": (2, 2), "questions": (4, 4)}
    assert stages(document) == {**before, "verification": (1, 1), "options": (1, 1)}
    assert document["edited_after"] == ["questions"]


def test_a_chain_in_parts_comes_to_what_it_comes_to_in_one_go(reelbench, server, tmp_path):
    def script(call):
        lost = call.body["model"] == "verification" and "man 1" in roles.text_of(call)
        return Answer("no scores") if lost else roles.play(call)

    server.script(script)
    (tmp_path / "val_1.json").write_text(json.dumps(ANET))
    named = [part for role in roles.CAPTIONS for part in ("--llm", f"{role}={role}")]
    captions = (
        "--captions",
        tmp_path / "val_1.json",
        "--llm-url",
        server.url,
        *named,
        "--llm-price",
        "2.5,10",
    )

    def make(folder, *options):
        done = reelbench("make", "moments", *captions, "--out", tmp_path / folder, *options)
        assert done.returncode == 0, done.stderr
        return valid(tmp_path / folder / "funnel.json")

    taken = ("--longest-event", 0.9)
    whole = make("whole", *taken, "--verified-from", 2)
    make("parts", *taken, "--until", "pairs")
    make("parts", "--from", "pairs", "--until", "verification", "--verified-from", 2)
    make("parts", "--from", "verification", "--until", "options")
    in_parts = make("parts", "--from", "options")
    assert {**in_parts, "cached": 0, "calls": 0} == {**whole, "cached": 0, "calls": 0}
    assert in_parts["cached"] == whole["calls"]
    assert in_parts["thresholds"]["longest_event"] == 0.9
    assert in_parts["thresholds"]["verified_from"] == 2
    assert len((tmp_path / "parts" / "unfinished.jsonl").read_text().splitlines()) == 4
    for file in ("rextime.json", "unfinished.jsonl"):
        assert (tmp_path / "parts" / file).read_text() == (tmp_path / "whole" / file).read_text()
    # A stage's file that nobody has an account of, as a person may write one.
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "options.jsonl").write_bytes(
        (tmp_path / "parts" / "options.jsonl").read_bytes()
    )
    assert make("own", "--from", "options")["stages"] == []


def test_what_is_answered_right_in_every_order_without_the_video_is_dropped(make, server):
    def script(call):
        if call.body["model"] != "blind":
            return roles.play(call)
        options = dict(line.split(". ", 1) for line in roles.block(call, "options").splitlines())
        guessed = [letter for letter, text in options.items() if "something else" not in text]
        return Answer(
            json.dumps({"answer": guessed[0] if "comes of" in roles.text_of(call) else None})
        )

    server.script(script)
    gates = Gates(GateRules(gate=[GateName.ANSWERABLE]))
    one = {"v_00000000000": ANET["v_00000000000"]}
    folder, document = make(one, gates=gates, cuts=Cuts(keep="both"))
    assert dropped(document, "answerable") == {"answerable": 2}
    assert {row["qid"][-1] for row in rows_in(folder)} == {"2"}
    orders = [
        roles.block(call, "options") for call in server.calls if call.body["model"] == "blind"
    ]
    assert len(set(orders)) == len(orders) == 2 * 3 + 2


def test_rows_keep_the_questions_span_and_the_funnel_counts_what_is_across_time(make):
    folder, document = make(ANET, cuts=Cuts(keep="both"), mini_test=3)
    spans = {
        (row["category"], row["qid"][-1]): (row["question_span"], row["span"])
        for row in rows_in(folder)
    }
    assert spans == {
        ("means-to-an-end", "1"): ([62, 90], [0, 30.5]),
        ("means-to-an-end", "2"): ([0, 30.5], [62, 90]),
        ("sequential", "1"): ([0, 30.5], [31, 60.5]),
        ("sequential", "2"): ([31, 60.5], [0, 30.5]),
    }
    measured = document["across_time"]
    assert (measured["known"], measured["across_time"]) == (16, 16)
    # By hand: 30.5 + 28 s for means and end; 0 to 60.5 s for the order, whose gap of half a second
    # counts.
    assert measured["certificate_length"]["value"] == pytest.approx((58.5 + 60.5) / 2)
    assert measured["qa_miou"]["value"] == 0
    drawn = json.loads((folder / "mini_test.json").read_text())
    assert Counter(row["category"] for row in drawn) == {"means-to-an-end": 3, "sequential": 3}


def test_a_complete_overlap_is_not_across_time():
    spans = [
        ((0, 10), (0, 10), "a"),
        ((2, 5), (0, 10), "b"),
        ((0, 10), (5, 12), "c"),
        (None, (0, 1), "d"),
    ]
    measured = across_time(spans)
    assert [
        measured[name] for name in ("questions", "known", "identical", "contained", "across_time")
    ] == [
        4,
        3,
        1,
        2,
        1,
    ]
    assert measured["qa_miou"]["value"] == pytest.approx((1 + 0.3 + 5 / 12) / 3)


def test_a_mini_test_takes_all_of_a_small_category_and_says_so():
    said = []
    rows = [{"qid": n, "category": "sequential" if n < 2 else "cause-effect"} for n in range(20)]
    drawn = mini_test(rows, 5, 0, said.append)
    assert Counter(row["category"] for row in drawn) == {"sequential": 2, "cause-effect": 5}
    assert said == ["mini test: sequential has only 2 questions; all are in it"]


def test_what_1000_questions_cost_as_the_paper_counts_it():
    # C.3: $35 of GPT-4 and 60 reviewed an hour at $6 make $135.
    cost = cost_per_1000(35.0, 1000 / 60 * 3600, 1000)
    assert cost["usd"] == pytest.approx(135)
    assert cost["people_usd"] == pytest.approx(100)
    assert cost_per_1000(None, 0, 10) is None


# --- the command, and what its files are good for
# --------------------------------------------------------------------


def test_what_the_command_makes_is_read_scored_and_gets_a_card(reelbench, score, server, tmp_path):
    captions, out = tmp_path / "val_1.json", tmp_path / "made"
    captions.write_text(json.dumps(ANET))
    model = [
        "--llm-url",
        server.url,
        *(part for role in roles.CAPTIONS for part in ("--llm", f"{role}={role}")),
    ]
    done = reelbench("make", "moments", "--captions", captions, "--out", out, "--json", *model)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["thresholds"]["longest_event"] == 0.8
    made = out / "rextime.json"
    rows = loading.locate("rextime", "val", made).read()
    assert [row["id"] for row in rows] == [row["qid"] for row in rows_in(out)]
    truth = tmp_path / "truth.jsonl"
    lines = [
        {"qid": row["id"], "pred_relevant_windows": [row["span"]], "ans": row["answer"]}
        for row in rows
    ]
    truth.write_text("".join(json.dumps(line) + "\n" for line in lines))
    document = score("rextime", "--predictions", truth, "--references", made)
    assert {
        name: metric["value"] if isinstance(metric, dict) else metric
        for name, metric in document["metrics"].items()
    } == {
        **dict.fromkeys(
            ("accuracy_at_iou_0.5", "accuracy", "miou", "recall_at_0.3", "recall_at_0.5"), 100
        )
    }
    card = reelbench("cards", "render", "rextime", "--data", made, "--out", tmp_path / "card")
    assert card.returncode == 0, card.stderr
    # The training form: no options, read as the split `train`.
    done = reelbench(
        "make", "moments", "--captions", captions, "--out", out, "--no-options", *model
    )
    assert done.returncode == 0, done.stderr
    training = loading.locate("rextime", "train", made).read()
    assert all(row["options"] == [] and row["answer"] == "" for row in training)
    assert training[0]["sentence"].startswith("From <s0> to <e0>, ")
    assert training[0]["span"]
    with pytest.raises(InputError, match="has no options"):
        loading.locate("rextime", "val", made).read()


@pytest.mark.parametrize(
    ("option", "word"), [("--coverage", "most"), ("--keep", "none"), ("--alignment-from", "top")]
)
def test_a_word_that_is_no_choice_is_one_line(reelbench, tmp_path, option, word):
    captions = tmp_path / "val_1.json"
    captions.write_text(json.dumps(ANET))
    done = reelbench(
        "make", "moments", "--captions", captions, "--plan", "--llm", "x", option, word
    )
    assert done.returncode == 2
    assert f"'{option}'" in done.stderr
    assert f"'{word}' is not one of" in done.stderr
