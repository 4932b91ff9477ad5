"""The loop against scripted models over the wire: when it ends, what it pays for, and how it goes on."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.judges.judge_options import JudgeOptions
from reelbench.studio.diagnosis import report
from reelbench.studio.diagnosis.attempts import LmmsEval
from reelbench.studio.diagnosis.folder import Folder
from tests.alarms import PATIENCE_S
from tests.forks import kill
from tests.servers.diagnosis import CHAIN, UNDER_TEST, Models, findings, material, role_of
from tests.servers.judge import Answer, JudgeServer
from tests.studio.looping import UnderTest, run

ROOT = Path(__file__).resolve().parents[2]


def ends(folder):
    records = (step.record for step in folder.steps())
    return {record.id: (record.round, record.stop) for record in records if record.stop}


def labels(folder):
    counted = report.figures(folder)["labels"]
    return {label: figures["n"] for label, figures in counted.items() if figures["n"]}


def replies_in(home):
    """How many replies the cache holds."""
    path = home / "judge.sqlite"
    if not path.is_file():
        return 0
    with contextlib.closing(sqlite3.connect(path)) as cache:
        return cache.execute("SELECT count(*) FROM replies").fetchone()[0]


def runs_in(asked):
    """How many requests to the model under test are among those asked."""
    return sum(number for messages, number in asked.items() if '"under test"' in messages)


# --- when it ends
# ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fact", "rounds"), [("n1", 2), ("n2", 3), ("n3", 4)])
def test_a_model_that_needs_a_fact_ends_once_the_cues_have_given_it(fact, rounds, tmp_path):
    with JudgeServer(Models(nodes=CHAIN, fact=fact)) as server:
        folder = run(server.url, tmp_path)
    assert ends(folder) == {"q0": (rounds, "answer_right"), "q1": (rounds, "answer_right")}
    # Each wrong round finds the first node that is not known: one error a round and question; the
    # right one has none.
    assert labels(folder) == {"Temporal Localization": 2 * (rounds - 1)}


def test_a_question_ends_when_all_is_evaluated_though_it_is_not_right(tmp_path):
    with JudgeServer(Models(nodes=CHAIN)) as server:
        folder = run(server.url, tmp_path)
    assert ends(folder) == {"q0": (4, "all_evaluated"), "q1": (4, "all_evaluated")}


def test_the_limit(tmp_path):
    with JudgeServer(Models(nodes=CHAIN)) as server:
        folder = run(server.url, tmp_path, rounds=2)
    assert ends(folder) == {"q0": (2, "limit"), "q1": (2, "limit")}
    assert report.figures(folder)["settled"] == [
        {"round": 1, "n": 0, "share": 0},
        {"round": 2, "n": 0, "share": 0},
    ]


def test_a_model_that_ignores_hints(tmp_path):
    with JudgeServer(Models(nodes=CHAIN, heeds=False)) as server:
        folder = run(server.url, tmp_path)
    assert ends(folder)["q0"] == (4, "all_evaluated")
    last = [step.record for step in folder.steps() if step.record.id == "q0"][-1]
    # The first three were told and wrong again; the fourth was never told.
    assert [tag.later for tag in last.nodes.values()] == ["hint_ignored"] * 3 + [None]
    assert report.figures(folder)["nodes"]["hint_ignored"] == 6


def test_a_tagger_that_never_agrees(tmp_path):
    turn = iter(["temporal", "spatial", "attribute"] * 10)

    def differs(call, role):
        return Answer(findings(call, dict.fromkeys("ab", next(turn)))) if role == "tagger" else None

    with JudgeServer(Models(scripted=differs)) as server:
        folder = run(server.url, tmp_path)
    assert ends(folder) == {"q0": (1, "no_consensus"), "q1": (1, "no_consensus")}
    counted = report.figures(folder)
    assert counted["consensus"] == {"3": 0, "2": 0, "none": 4}
    assert counted["nodes"]["undecided"] == 4


def test_two_votes_of_three_decide(tmp_path):
    turn = iter(["temporal", "spatial", "temporal"] * 10)

    def differs(call, role):
        return Answer(findings(call, {"a": next(turn)})) if role == "tagger" else None

    with JudgeServer(Models(scripted=differs)) as server:
        folder = run(server.url, tmp_path, count=1, rounds=1)
    assert labels(folder) == {"Temporal Localization": 1}
    assert report.figures(folder)["consensus"] == {"3": 1, "2": 1, "none": 0}


def test_only_questions_that_are_lost_enter(tmp_path):
    def right(call, role):
        return Answer("right") if role == "under_test" and "q0" in call.user else None

    with JudgeServer(Models(scripted=right)) as server:
        folder = run(server.url, tmp_path, rounds=1)
    assert ends(folder).keys() == {"q1"}
    assert report.figures(folder)["questions"] == {
        "asked": 2,
        "right": 1,
        "unjudged": 0,
        "entered": 1,
    }


# --- replies that do not read
# ---------------------------------------------------------------------------------------


def test_a_graph_with_a_circle_is_asked_again_with_what_is_wrong(tmp_path):
    first = iter([True])
    circle = [
        {"id": "x", "evidence": "e", "parents": ["y"]},
        {"id": "y", "evidence": "e", "parents": ["x"]},
    ]

    def once(_call, role):
        return (
            Answer(json.dumps({"nodes": circle}))
            if role == "graph" and next(first, False)
            else None
        )

    with JudgeServer(Models(scripted=once)) as server:
        folder = run(server.url, tmp_path, count=1, rounds=1)
        asked = [call for call in server.calls if role_of(call) == "graph"]
    assert len(asked) == 2
    assert "is in a cycle" in asked[1].body["messages"][-1]["content"]
    assert folder.graphs["q0"].order == ("a", "b", "c")


def test_a_question_without_a_graph_ends(tmp_path):
    with JudgeServer(
        Models(scripted=lambda _, role: Answer("no graph") if role == "graph" else None)
    ) as server:
        folder = run(server.url, tmp_path, count=1)
        assert len(server.calls) == 1 + 3  # the model under test, and three attempts at a graph
    assert ends(folder) == {"q0": (1, "graph_invalid")}


def test_a_tagger_that_can_not_be_read(tmp_path):
    def forgets(_call, role):
        return Answer('{"nodes": [{"id": "a", "found": "yes"}]}') if role == "tagger" else None

    with JudgeServer(Models(scripted=forgets)) as server:
        folder = run(server.url, tmp_path, count=1)
        asked = [call for call in server.calls if role_of(call) == "tagger"]
    assert ends(folder) == {"q0": (1, "tagger_unparsable")}
    assert len(asked) == 3 * 3
    assert "node 'b': is missing" in json.dumps([call.body for call in asked])


# --- what the tagger is shown
# ---------------------------------------------------------------------------------------


def test_the_tagger_reads_english_all_that_was_written_and_the_cues(tmp_path):
    with JudgeServer(Models(nodes=CHAIN)) as server:
        run(server.url, tmp_path, rounds=2)
        tagged = [call for call in server.calls if role_of(call) == "tagger"]
        translated = [
            material(call, "text") for call in server.calls if role_of(call) == "translator"
        ]
    english, japanese = tagged[0], next(call for call in tagged if "A1" in call.user)
    assert [material(english, tag) for tag in ("question", "answer", "prediction")] == [
        "Q0",
        "A0",
        "wrong",
    ]
    assert material(japanese, "question") == "in English: Q1"
    assert sorted(translated) == ["A1", "Q1", "wrong"]  # once, though two rounds needed them
    second = next(call for call in tagged if "Q0 n1" in material(call, "cues"))
    assert "Q0 n2" not in material(second, "cues")
    assert "Q0 n1" in material(second, "output")
    nodes = {node["id"]: node for node in json.loads(material(second, "graph"))["nodes"]}
    assert [nodes[key]["established"] for key in nodes] == [True, False, False, False]


GRAPH_AS_PRINTED = """Make a graph. Reply with {{"solution_graph": {{"N1": {{"evidence": "<Evidence Text>"}}}}}}.
Question: {question}
Answer: {answer}
Human Response: {human_response}
"""
TAG_AS_PRINTED = """Judge each node. Reply with {{"solution_graph": {{...}}, "next_attempt_cue": ...}}
Question (English): {question_english}
Additional Cues: {additional_cues}
Ground Truth Answer (English): {ground_truth_answer_english}
Model Prediction (English): {model_prediction_english}
Model Thoughts/Outputs: {model_output_thoughts}
Evidence Graph: ``json{evidence_graph_json}```
Human Reasoning (Raw): {human_reasoning}
"""


def test_prompts_are_asked_as_the_paper_prints_them_and_its_replies_are_read(tmp_path):
    """Places, braces and shapes as in Fig. 5 to 7; the words are ours."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "graph.txt").write_text(GRAPH_AS_PRINTED)
    (tmp_path / "prompts" / "tag.txt").write_text(TAG_AS_PRINTED)
    nodes = {
        "N1": {"evidence": "The ball is lost.", "timestamp": "1:02", "parent_nodes": []},
        "N2": {"evidence": "He is called Jorge.", "timestamp": "N/A", "parent_nodes": ["N1"]},
    }

    def tagged(cue, **outputs):
        said = {
            key: {"status": status, "missing_evidence_reason": reason, "evidence_retrieved": "no"}
            for key, (status, reason) in outputs.items()
        }
        graph = {key: {**nodes[key], "outputs": said[key]} for key in nodes}
        return Answer(json.dumps({"solution_graph": graph, "next_attempt_cue": cue}))

    def script(call):
        (message,) = [message for message in call.body["messages"] if message["role"] != "system"]
        if call.system:
            return Answer("wrong")
        if message["content"].startswith("Make a graph"):
            return Answer(json.dumps({"solution_graph": nodes}))
        if "Cues: none" in message["content"]:
            return tagged(
                "Told: it is lost at 1:02.", N1=("wrong", "Reasoning"), N2=("undetermined", None)
            )
        return tagged(None, N1=("right", None), N2=("wrong", "Attribute MisIdentification"))

    with JudgeServer(script) as server:
        folder = run(server.url, tmp_path / "out", 1, prompts=tmp_path / "prompts")
        asked = [call.user for call in server.calls]
    assert asked[1] == (
        'Make a graph. Reply with {"solution_graph": {"N1": {"evidence": "<Evidence Text>"}}}.\n'
        "Question: Q0\nAnswer: A0\nHuman Response: steps"
    )
    assert f"``json{json.dumps({'solution_graph': nodes}, indent=1)}```" in asked[2]
    assert "Model Thoughts/Outputs: wrong" in asked[2]
    assert asked[5] == "Asked q0. Told: it is lost at 1:02."  # the tagger's own cue
    assert "Additional Cues: Told: it is lost at 1:02." in asked[6]
    assert [[tag.label for tag in step.record.nodes.values()] for step in folder.steps()] == [
        ["Reasoning", None],
        ["Reasoning", "Attribute Misidentification"],
    ]
    assert ends(folder) == {"q0": (2, "all_evaluated")}


def test_answers_that_are_right_are_tagged_on_request_and_counted_apart(tmp_path):
    def right(call, role):
        return Answer("Q0 a, Q0 b\nright") if role == "under_test" and "q0" in call.user else None

    with JudgeServer(Models(scripted=right)) as server:
        folder = run(server.url, tmp_path, rounds=1, right=True)
    assert ends(folder) == {"q0": (1, "answer_right"), "q1": (1, "limit")}
    counted = report.figures(folder)
    assert counted["questions"]["entered"] == 1
    assert counted["labels"]["Temporal Localization"]["n"] == 2  # q1's two moments
    # It wrote both moments and not what follows from them.
    assert (
        counted["right_answers"]["nodes"] | {"undetermined": 0} == counted["right_answers"]["nodes"]
    )
    assert (
        counted["right_answers"]["nodes"]["right"],
        counted["right_answers"]["nodes"]["wrong"],
    ) == (2, 1)
    assert (counted["right_answers"]["n"], counted["right_answers"]["without_error"]) == (1, 0)
    # All judged answers have a graph, so there are shares by size: both have three nodes.
    assert counted["sizes"]["nodes"] == {"3–4": {"n": 2, "right": 0.5, "ci95": None}}
    assert counted["sizes"]["depth"]["1"]["n"] == 2


@pytest.mark.parametrize("right", [False, True])
def test_right_answers_of_later_rounds_have_no_errors(right, tmp_path):
    """Four questions are right in round 2, four in round 3: 4 · 1 + 4 · 2 errors, whatever a tagger finds after that.

    Up to each round, as Fig. 3 draws them: 8 after the first (one a question), 12 after the second,
    12 after the third.
    """

    def scripted(call, role):
        late = any(f"Asked q{n}." in call.user for n in range(4, 8))
        said = "right" if " n2" in call.user else "wrong"
        return Answer(f"{call.user}\n{said}") if role == UNDER_TEST and late else None

    models = Models(nodes=CHAIN, fact="n1", scripted=scripted)
    with JudgeServer(models) as server:
        folder = run(server.url, tmp_path, 8, right=right)
    assert Counter(ends(folder).values()) == {(2, "answer_right"): 4, (3, "answer_right"): 4}
    report.write(folder)
    counted = json.loads((tmp_path / "report.json").read_text())
    assert labels(folder) == {"Temporal Localization": 12}
    assert [line["labels"]["Temporal Localization"] for line in counted["rounds"]] == [8, 4, 0]
    assert (counted["later"]["n"], counted["nodes"]["hint_ignored"]) == (4, 0)
    assert "(n = 12)" in (tmp_path / "errors.svg").read_text()
    # The tagger is asked of the 12 wrong answers, three times each; on request of the 8 right ones
    # too.
    assert models.calls["tagger"] == 3 * (20 if right else 12)
    if not right:
        assert counted["right_answers"] is None
        return
    # It finds the next node of each missing, in a column of its own.
    assert (counted["right_answers"]["n"], counted["right_answers"]["without_error"]) == (8, 0)
    assert counted["right_answers"]["labels"]["Temporal Localization"] == 8


# --- going on
# -------------------------------------------------------------------------------------------------------


def test_the_same_call_again_asks_nobody(tmp_path):
    with JudgeServer(Models(nodes=CHAIN, fact="n2")) as server:
        first = report.write(run(server.url, tmp_path))
        paid, under_test = len(server.calls), UnderTest(server.url)
        again = report.write(run(server.url, tmp_path, under_test=under_test))
        assert len(server.calls) == paid
    assert under_test.runs == []
    assert again == first


def test_calls_in_flight_are_those_of_all_roles_together(tmp_path):
    scripted = Models(nodes=CHAIN)
    with JudgeServer(lambda call: replace(scripted(call), delay=0.05)) as server:
        run(server.url, tmp_path, 24, rounds=1, concurrency=4)
        assert server.most_in_flight <= 4


def test_another_diagnosis_needs_another_folder(tmp_path):
    with JudgeServer(Models()) as server:
        run(server.url, tmp_path, rounds=1)
        with pytest.raises(
            InputError, match=r"other settings \(votes: 3, now 5\); give another --out"
        ):
            run(server.url, tmp_path, rounds=1, votes=5)


def test_a_model_server_that_dies_in_round_2_costs_only_what_it_did_not_answer(tmp_path):
    dead = threading.Event()

    def dying(call, role):
        second = role == "under_test" and "Known" not in call.user and "work from" in call.user
        if second and "q1" in call.user:
            dead.set()
        return (
            Answer(status=500)
            if role == "under_test" and dead.is_set() and not healed.is_set()
            else None
        )

    healed = threading.Event()
    with JudgeServer(Models(nodes=CHAIN, fact="n2", scripted=dying)) as server:
        under_test = UnderTest(server.url)
        with pytest.raises(
            ReelbenchError, match=r"round 2: the model failed on 3 of 4 questions; .* again"
        ):
            run(server.url, tmp_path / "dying", 4, under_test=under_test)
        healed.set()
        died = report.write(run(server.url, tmp_path / "dying", 4, under_test=under_test))
        whole = report.write(run(server.url, tmp_path / "whole", 4))
    everybody = ["q0", "q1", "q2", "q3"]
    assert under_test.runs == [everybody, everybody, ["q1", "q2", "q3"], everybody]
    assert died == whole
    assert ends(Folder(tmp_path / "dying")) == dict.fromkeys(everybody, (3, "answer_right"))


def test_what_the_model_failed_on_can_be_left(tmp_path):
    def fails(call, role):
        return Answer(status=500) if role == "under_test" and "q1" in call.user else None

    with JudgeServer(Models(scripted=fails)) as server:
        with pytest.raises(ReelbenchError, match="the model failed on 1 of 2"):
            run(server.url, tmp_path)
        folder = run(server.url, tmp_path, skip_failed=True)
    assert ends(folder)["q1"] == (1, "model_failed")
    assert ends(folder)["q0"][1] == "all_evaluated"


def test_a_tagger_that_is_away_ends_nothing(tmp_path):
    away = threading.Event()
    away.set()

    def gone(_, role):
        return Answer(status=500) if role == "tagger" and away.is_set() else None

    with JudgeServer(Models(scripted=gone)) as server:
        with pytest.raises(ReelbenchError, match=r"2 questions lack a reply \(unavailable\)"):
            run(server.url, tmp_path, rounds=1)
        assert not (tmp_path / "isolation.jsonl").exists()
        away.clear()
        under_test = UnderTest(server.url)
        folder = run(server.url, tmp_path, rounds=1, under_test=under_test)
    assert under_test.runs == []
    assert set(ends(folder).values()) == {(1, "limit")}


@pytest.fixture(scope="module")
def unharmed(tmp_path_factory):
    """What a loop of two questions asks for when nothing happens to it, and its report."""
    with (
        pytest.MonkeyPatch.context() as patch,
        JudgeServer(Models(nodes=CHAIN, fact="n2")) as server,
    ):
        patch.setenv("REELBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        counted = report.write(run(server.url, tmp_path_factory.mktemp("out")))
        return Counter(json.dumps(call.body["messages"]) for call in server.calls), counted


@pytest.mark.parametrize(
    "at", [3, 14, *(pytest.param(at, marks=pytest.mark.slow) for at in (1, 9, 20))]
)
def test_a_loop_that_is_killed_goes_on_and_pays_nothing_twice(
    at, unharmed, tmp_path, reelbench_home, python
):
    """Killed at its n-th request: of the model under test, for a graph, of the tagger, in the first round or later."""

    def loop(key):
        command = [
            python,
            "-m",
            "tests.studio.looping",
            server.url,
            str(tmp_path / "out"),
            "2",
            key,
        ]
        return subprocess.Popen(command, cwd=ROOT)

    def kills(call, _role):
        if call.number == at:
            kill(process)

    with JudgeServer(Models(nodes=CHAIN, fact="n2", scripted=kills)) as server:
        process = loop("first")
        assert process.wait() == -signal.SIGKILL
        kept = replies_in(reelbench_home)
        process = loop("second")
        assert process.wait() == 0
        asked = Counter(json.dumps(call.body["messages"]) for call in server.calls)
    needed, counted = unharmed
    assert report.write(Folder(tmp_path / "out")) == counted
    first = [call for call in server.calls if call.headers.get("authorization") == "Bearer first"]
    # What was under way and not yet kept is asked again; of the model under test, the run that was
    # cut short.
    twice = asked - needed
    of_the_run = sum(role_of(call) == UNDER_TEST for call in server.calls) - runs_in(needed)
    assert of_the_run <= 2
    assert twice.total() - of_the_run == len(first) - kept
    assert not needed - asked


def test_a_folder_is_held_by_what_a_killed_loop_left_running(tmp_path):
    with Folder(tmp_path).locked(print) as lock:
        child = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,)
        )
    told, entered = threading.Event(), threading.Event()

    def enter():
        with Folder(tmp_path).locked(lambda _line: told.set()):
            entered.set()

    waiting = threading.Thread(target=enter)
    waiting.start()
    assert told.wait(PATIENCE_S)
    assert not entered.is_set()
    child.communicate(os.linesep.encode())
    waiting.join(PATIENCE_S)
    assert entered.is_set()


def test_a_folder_says_which_model_it_is_of_and_no_secret():
    arguments = ["--model", "openai", "--model_args", "model=m-1,api_key=sk-1"]
    judge = JudgeOptions(model="j", url="http://127.0.0.1:9/v1", api_key="sk-2")
    about = LmmsEval("curve_mini", arguments, judge, print).about
    assert {name: about[name] for name in ("model", "adapter", "judge")} == {
        "model": "m-1",
        "adapter": "openai",
        "judge": "j",
    }
    assert about["model_args"] == {"model": "m-1"}
    assert "sk-" not in json.dumps(about)
