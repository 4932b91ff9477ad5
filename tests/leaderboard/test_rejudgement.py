"""`leaderboard rejudge`: the answers of a store under another judge, against what pencil and paper make of them.

The judges here read their scores from the answers: `old=2 new=1` is a 2 to the old judge and a 1 to
the new one.
"""

import hashlib
import json
import re
import shlex
import shutil
import subprocess
import threading
from collections import Counter
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.data import loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import against_data, site, store
from reelbench.leaderboard import board as boards
from reelbench.leaderboard import bridge as bridges
from reelbench.leaderboard.store import Filing
from reelbench.registry import discovery
from reelbench.scoring import result_files
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.alarms import PATIENCE_S
from tests.forks import kill
from tests.program import app
from tests.scored import score_files
from tests.servers.batches import BatchServer, answered, completion
from tests.servers.judge import Answer, JudgeServer, always

QUESTIONS = 12
ANSWERS = {
    # Old 2 x 10, 1, 0: 21 of 24. New: six of the 2 stay, four become 1; the 1 and the 0 stay: 17 of
    # 24.
    "lab/drops": [(2, 2)] * 6 + [(2, 1)] * 4 + [(1, 1), (0, 0)],
    "lab/climbs": [(1, 2)] * 12,  # 12 of 24, then 24 of 24
    "lab/stays": [(0, 0)] * 12,
}


def judging(call):
    side = "new" if call.body["model"] == "later" else "old"
    score = re.search(rf"{side}=(\d)", call.user)[1]
    return Answer(json.dumps({"score": int(score)}), model=call.body["model"])


@pytest.fixture
def server():
    with JudgeServer(judging) as running:
        yield running


@pytest.fixture
def curve(tmp_path, monkeypatch, server):
    """Twelve questions on as many videos, answered by three models and filed under the old judge."""
    rows = [
        {
            "key": str(n),
            "video_id": f"{n:011d}",
            "locale": "ja-JP",
            "question": f"Q{n}?",
            "answer": "a carp",
        }
        for n in range(QUESTIONS)
    ]
    (tmp_path / "curve.json").write_text(json.dumps(rows))
    monkeypatch.setenv("REELBENCH_DATA_CURVE", str(tmp_path / "curve.json"))
    for model, scores in ANSWERS.items():
        folder = tmp_path / "runs" / model
        folder.mkdir(parents=True)
        lines = [
            {"id": str(n), "prediction": f"{model} old={a} new={b}"}
            for n, (a, b) in enumerate(scores)
        ]
        (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
        judge = JudgeOptions(model="earlier", url=server.url)
        score_files(
            "curve",
            Inputs(folder / "answers.jsonl"),
            folder / "result",
            Options(judge=judge),
            model=model,
        )
    store.add(tmp_path / "runs", tmp_path / "store")
    server.calls.clear()
    return tmp_path / "store"


def rejudge(folder, server, *words, judge="later", status=0):
    """Run the command; return what it printed, or its error where it is to end with `status`."""
    command = [
        "leaderboard",
        "rejudge",
        "--store",
        folder,
        "--judge",
        judge,
        "--judge-url",
        server.url,
        *words,
    ]
    done = CliRunner().invoke(app, [str(word) for word in command])
    if isinstance(done.exception, ReelbenchError):
        assert done.exception.exit_code == status, done.exception
        return str(done.exception)
    assert done.exit_code == status, (done.output, done.exception)
    return done.stdout


def bridge(folder, server, *words, **more):
    return json.loads(rejudge(folder, server, "--json", *words, **more))


def test_shift_agreement_and_ranks_are_those_of_hand_work(curve, server, tmp_path):
    before = {path: path.read_bytes() for path in curve.rglob("*.json*")}
    document = bridge(curve, server, "--out", tmp_path / "out")
    assert list(document) == ["curve"]
    results = {one["model"]: one for one in document["curve"]["results"]}
    drops, climbs, stays = (results[name] for name in ANSWERS)
    assert drops["old"] == {"judge": "earlier", "value": pytest.approx(87.5)}
    assert drops["new"] == {"judge": "later", "value": pytest.approx(100 * 17 / 24)}
    assert drops["shift"]["value"] == pytest.approx(-100 * 4 / 24)
    # Per video -50 four times in twelve: the mean's standard error is 7.11. With -50 and 50 added:
    # the mean of 14 is -14.29, its error 8.065; Student's t of 11 degrees 2.2010.
    low, high = drops["shift"]["ci95"]
    assert low < -100 / 6 < high
    assert high - low == pytest.approx(2 * 17.75, rel=0.05)
    # Squared misses: four of 1. By chance, of the margins 1, 1, 10 and 1, 5, 6: (29 + 7 + 90) / 12
    # = 10.5.
    assert drops["agreement"] == {
        "exact": pytest.approx(8 / 12),
        "kappa": pytest.approx(1 - 4 / 10.5),
    }
    assert climbs["shift"] == {
        "value": pytest.approx(50),
        "ci95": [pytest.approx(27.71, abs=0.01), pytest.approx(58.01, abs=0.01)],
    }  # the same on every video; with -50 and 50 added 42.86 ± 2.2010 times 6.883
    assert climbs["agreement"] == {"exact": 0.0, "kappa": pytest.approx(0)}
    assert stays["agreement"] == {"exact": 1.0, "kappa": None}  # one score throughout
    assert [one["rank"] for one in (drops, climbs, stays)] == [
        {"old": 1, "new": 2},
        {"old": 2, "new": 1},
        {"old": 3, "new": 3},
    ]
    assert document["curve"]["kendall_tau"] == pytest.approx(
        1 / 3
    )  # one pair of three turned round
    [changed] = document["curve"]["changed_places"]
    assert (changed["first"], changed["second"]) == ("lab/drops", "lab/climbs")
    assert changed["p"] < 0.05
    # All is filed beside what was there, which is as it was.
    for path, content in before.items():
        assert path.read_bytes()[: len(content)] == content  # the ledger goes on
        assert path.name == "ledger.jsonl" or path.stat().st_size == len(content)
    judges = sorted((one.result.judge.requested, one.result.model.id) for one in store.read(curve))
    assert judges == sorted((judge, model) for judge in ("earlier", "later") for model in ANSWERS)
    assert (
        len(list((tmp_path / "out").rglob("result.json")))
        == len(list((tmp_path / "out").rglob("samples.jsonl")))
        == 3
    )


def test_of_two_judges_who_scored_no_answer_in_common_the_board_relates_nothing(curve, monkeypatch):
    [old] = [one for one in store.read(curve) if one.result.model.id == "lab/drops"]
    new = replace(old, key="other")
    whole = bridges.ranked_samples(old)
    monkeypatch.setattr(
        bridges, "ranked_samples", lambda one: whole[:6] if one is old else whole[6:]
    )
    assert bridges.bridges([(old, new)]) == []


def test_a_second_run_asks_nobody_and_says_the_same(curve, server, tmp_path):
    first = bridge(curve, server, "--out", tmp_path / "out")
    assert len(server.calls) == 36
    filed = {path: path.read_bytes() for path in curve.rglob("*") if path.is_file()}
    assert bridge(curve, server, "--out", tmp_path / "other") == first
    printed = rejudge(curve, server, "--out", tmp_path / "other")
    [drops] = [line.split() for line in printed.splitlines() if line.startswith("lab/drops")]
    assert [*drops[:4], *drops[-5:]] == [
        "lab/drops",
        "87.50",
        "70.83",
        "-16.67",
        "66.7",
        "0.619",
        "12",
        "1",
        "2",
    ]
    assert re.fullmatch(r"-\d+\.\d\d to [+-]\d+\.\d\d", " ".join(drops[4:-5]))
    assert "Kendall's tau of the two orders: 0.33" in printed
    assert len(server.calls) == 36
    assert not (tmp_path / "other").exists()
    assert {path: path.read_bytes() for path in curve.rglob("*") if path.is_file()} == filed


def test_the_estimate_is_what_it_takes_and_what_was_paid_is_not_paid_again(curve, server, tmp_path):
    [before] = json.loads(rejudge(curve, server, "--judge-estimate", "--json"))
    assert (before["calls"], len(server.calls)) == (36, 0)
    # A budget for a result and a half: the second is filed with what it has.
    rejudge(
        curve,
        server,
        "--judge-budget",
        18,
        "--judge-concurrency",
        1,
        "--out",
        tmp_path / "out",
        status=1,
    )
    assert len(server.calls) == 18
    [left] = json.loads(rejudge(curve, server, "--judge-estimate", "--json"))
    assert (left["calls"], left["cached"]) == (18, 6)
    bridge(curve, server)
    assert len(server.calls) == 36
    assert len({json.dumps(call.body["messages"]) for call in server.calls}) == 36
    assert all(one.result.counts.scored == QUESTIONS for one in store.read(curve))


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_where_it_was(curve, server, tmp_path, program):
    """Killed as a process, in the middle of the second result: what was in flight may be paid twice, no more."""
    half = threading.Event()

    def slowly(call):
        if len(server.calls) <= 18:
            return judging(call)
        half.set()
        return replace(judging(call), delay=60)

    server.script(slowly)
    words = [
        "leaderboard",
        "rejudge",
        "--store",
        curve,
        "--judge",
        "later",
        "--judge-url",
        server.url,
    ]
    words += ["--judge-concurrency", "2", "--out", tmp_path / "out"]
    command = [program, *words]
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL)
    assert half.wait(PATIENCE_S)
    kill(process)
    assert len(store.read(curve)) == 4
    server.script(judging)
    document = bridge(curve, server, "--out", tmp_path / "out")
    asked = Counter(json.dumps(call.body["messages"]) for call in server.calls)
    assert len(asked) == 36
    assert len(server.calls) <= 36 + 2
    assert len(document["curve"]["results"]) == 3


def test_of_a_sample_the_same_questions_are_judged_of_each_and_the_rest_later(
    curve, server, tmp_path
):
    document = bridge(curve, server, "--sample", 4, "--out", tmp_path / "out")
    assert len(server.calls) == 12
    asked = Counter(re.search(r"Q\d+\?", call.user)[0] for call in server.calls)
    assert sorted(asked.values()) == [3] * 4
    drawn = {int(question[1:-1]) for question in asked}
    [drops] = [one for one in document["curve"]["results"] if one["model"] == "lab/drops"]
    of_drawn = [ANSWERS["lab/drops"][number] for number in sorted(drawn)]
    assert drops["shift"]["value"] == pytest.approx(
        100 * sum(new - old for old, new in of_drawn) / 8
    )
    assert drops["old"]["value"] == pytest.approx(87.5)
    assert drops["new"]["value"] == pytest.approx(100 * sum(new for _, new in of_drawn) / 8)
    part = [one.result for one in store.read(curve) if one.result.judge.requested == "later"]
    assert {json.dumps(one.counts.unscored) for one in part} == {'{"judge_not_drawn": 8}'}
    for fewer in (3, 1):  # they are among the four
        assert bridge(curve, server, "--sample", fewer) == document
    assert "--sample: 0 is not a number from 1 up" in rejudge(
        curve, server, "--sample", 0, status=2
    )
    assert len(server.calls) == 12
    whole = bridge(curve, server)["curve"]["results"]
    assert len(server.calls) == 36
    assert whole[0]["new"]["value"] == pytest.approx(100)
    assert len(store.read(curve)) == 6


def test_of_a_result_without_an_answer_to_what_is_drawn_nobody_is_said_to_have_judged_it(
    curve, server, tmp_path
):
    assert curve.is_dir()
    drawn = min(map(str, range(QUESTIONS)), key=lambda name: hashlib.sha256(name.encode()).digest())
    lines = (tmp_path / "runs/lab/stays/answers.jsonl").read_text().splitlines()
    (tmp_path / "few.jsonl").write_text(
        "\n".join(line for line in lines if json.loads(line)["id"] != drawn)
    )
    judge = JudgeOptions(model="earlier", url=server.url)
    score_files(
        "curve",
        Inputs(tmp_path / "few.jsonl"),
        tmp_path / "few/result",
        Options(judge=judge),
        model="few",
    )
    store.add(tmp_path / "few", tmp_path / "of_few")
    server.calls.clear()
    words = [
        "leaderboard",
        "rejudge",
        "--store",
        tmp_path / "of_few",
        "--judge",
        "later",
        "--judge-url",
        server.url,
    ]
    done = CliRunner().invoke(app, [str(word) for word in (*words, "--sample", 1)])
    assert "none of the questions drawn has an answer: 1 result" in done.output
    assert "already" not in done.output
    assert server.calls == []


def test_a_reply_that_could_not_be_read_is_final_unless_it_is_to_be_asked_for_again(
    curve, server, tmp_path
):
    server.script(
        lambda call: (
            Answer("?") if "lab/stays" in call.user and "Q7?" in call.user else judging(call)
        )
    )
    first = bridge(curve, server, "--out", tmp_path / "out")
    server.calls.clear()
    assert bridge(curve, server) == first
    assert server.calls == []
    server.script(judging)
    bridge(curve, server, "--retry-unscored")
    assert ["Q7?" in call.user for call in server.calls] == [True]
    states = {
        sample.id: sample.state
        for kept in store.read(curve)
        if kept.result.judge.requested == "later" and kept.result.model.id == "lab/stays"
        for sample in result_files.read_samples(kept.folder)
    }
    assert states == dict.fromkeys(map(str, range(QUESTIONS)), "scored")


def test_so_many_of_each_label_are_judged_the_same_of_each_result(curve, server, tmp_path):
    bridge(curve, server, "--per", "locale=4", "--out", tmp_path / "out")
    asked = Counter(re.search(r"Q\d+\?", call.user)[0] for call in server.calls)
    assert sorted(asked.values()) == [3] * 4
    assert "has the fields locale, category" in rejudge(curve, server, "--per", "place=4", status=2)
    assert "--per and --sample: give one of them" in rejudge(
        curve, server, "--per", "locale=4", "--sample", 4, status=2
    )


def test_a_judge_of_five_criteria_agrees_over_all_its_scores(moviecore_run, tmp_path, server):
    """Each of the 12 answers has 0, 1, 2, 3, 4, 5, 0, … of the first judge on every criterion; the second gives 3."""
    run = moviecore_run()
    store.add(run, tmp_path / "store")
    server.script(always('{"score": 3}'))
    [result] = bridge(tmp_path / "store", server)["moviecore"]["results"]
    # The owners count a question once for each of its classes.
    classes = [len(row["classification"]) for row in loading.locate("moviecore", "mini").read()]
    old = sum(number % 6 * times for number, times in enumerate(classes)) / sum(classes)
    assert result["old"]["value"] == pytest.approx(old)
    assert result["new"]["value"] == pytest.approx(3)
    assert result["shift"]["value"] == pytest.approx(3 - old)
    assert result["agreement"] == {"exact": pytest.approx(2 / 12), "kappa": pytest.approx(0)}
    assert len(server.calls) == 60


def test_answers_that_can_t_be_judged_here_are_said_and_nothing_is_filed(
    curve, server, monkeypatch, tmp_path
):
    with JudgeServer(lambda _: Answer(status=401)) as closed:
        line = rejudge(curve, closed, status=1)
        assert "401" in line
        assert "lab__climbs" in line
    rows = json.loads((tmp_path / "curve.json").read_text())
    rows[3]["answer"] = "a whale"
    (tmp_path / "own.json").write_text(json.dumps(rows))
    monkeypatch.setenv("REELBENCH_DATA_CURVE", str(tmp_path / "own.json"))
    assert "item '3' is not in the data here, or has another reference there" in rejudge(
        curve, server, status=2
    )
    monkeypatch.delenv("REELBENCH_DATA_CURVE")
    assert "REELBENCH_DATA_CURVE names your own" in rejudge(curve, server, status=2)
    assert "no result in it was scored by another judge than earlier" in rejudge(
        curve, server, judge="earlier", status=2
    )
    assert server.calls == []
    assert len(store.read(curve)) == 3


def test_the_board_has_both_judges_tables_and_says_how_they_relate(curve, server, tmp_path):
    bridge(curve, server)
    site.build(curve, tmp_path / "site", published=False)
    text = (tmp_path / "site" / "data" / "board.js").read_text()
    document = json.loads(text.removeprefix("globalThis.REELBENCH=").rstrip().removesuffix(";"))
    groups = {group["judge"]: group for group in document["groups"]}
    assert sorted(groups) == ["earlier", "later"]
    # Shifts 50, 0 and -100 / 6 points; 20 of 36 scores equal; hand work as above.
    [there] = groups["earlier"]["relations"]
    assert there == (
        "The answers of 3 runs were judged by later (Reelbench’s prompts), too: there "
        "they score 11.1 higher on average (−16.7 to +50.0); 56 % of the single scores are equal "
        "(mean quadratic kappa 0.31); Kendall’s tau of the two orders is 0.33; one pair changed places beyond chance."
    )
    [back] = groups["later"]["relations"]
    assert "judged by earlier" in back
    assert "there they score 11.1 lower on average (−50.0 to +16.7)" in back
    rows = {
        (row["model"], document["groups"][row["group"]]["judge"]): row for row in document["rows"]
    }
    assert rows["lab/climbs", "earlier"]["other_judges"] == "100.0 by later (+50.0, +27.7 to +58.0)"
    assert rows["lab/climbs", "later"]["other_judges"] == "50.0 by earlier (-50.0, -58.0 to -27.7)"
    assert rows["lab/climbs", "earlier"]["rank"] == 2  # by its own judge, whatever another says
    downloads = json.loads((tmp_path / "site" / "downloads" / "leaderboard.json").read_text())
    [made] = downloads["bridges"]
    assert made["kendall_tau"] == pytest.approx(1 / 3)


def test_anchors_are_drawn_by_quantile_and_asked_anew_each_time(moviecore_run, tmp_path, server):
    """The twelve answers have 0 to 5 twice each, so six at equal steps are one of each; the judge then gets milder."""
    run, anchors = moviecore_run(), tmp_path / "anchors"

    def ask(*words):
        command = ["judge", *words]
        done = CliRunner().invoke(app, [str(word) for word in command], catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    assert ask("anchors", run, "--out", anchors, "--number", 6) == ""
    drawn = [json.loads(line) for line in (anchors / "samples.jsonl").read_text().splitlines()]
    assert [line["scores"]["accuracy"] for line in drawn] == [0, 1, 2, 3, 4, 5]
    server.script(always('{"score": 5}'))
    judge = ("--judge", "judge", "--judge-url", server.url)
    for times in (1, 2):  # the same anchors, whatever number is given, and no kept reply
        printed = ask("anchors", run, "--out", anchors, "--number", 3, *judge)
        assert len(server.calls) == 30 * times
        again = shlex.split(printed)
        assert again[:3] == ["reelbench", "judge", "agree"]
        report = json.loads(ask("agree", *again[3:], "--json"))
        assert report["both"] == 30
        assert report["criteria"]["depth"]["exact"] == pytest.approx(100 / 6)
        assert (report["criteria"]["depth"]["mean_a"], report["criteria"]["depth"]["mean_b"]) == (
            2.5,
            5,
        )
    assert len(list(anchors.glob("asked-*"))) == 2
    # Of each label the one in the middle: Genre 0, Theme 0 0 [2] 5, Narrative Structure 2 [3] 5,
    # Visual Language 3, Character Motivation 0 [4] 4, Emotion 1 1 [5] 5.
    ask("anchors", run, "--out", run / "each", "--per", "classification=1")
    each = [json.loads(line) for line in (run / "each" / "samples.jsonl").read_text().splitlines()]
    assert [line["scores"]["accuracy"] for line in each] == [0, 2, 3, 3, 4, 5]


def test_by_batch_nothing_is_filed_until_the_replies_are_there(curve):
    with BatchServer() as server:
        words = ("--judge-batch", "--json")
        assert json.loads(rejudge(curve, server, *words)) == {}
        assert len(store.read(curve)) == 3
        ones = completion({"model": "later"}, "1")
        server.finish(
            "completed",
            lambda _, line: answered(line) | {"response": {"status_code": 200, "body": ones}},
        )
        results = json.loads(rejudge(curve, server, *words))["curve"]["results"]
        assert {one["model"]: one["new"]["value"] for one in results} == dict.fromkeys(
            ANSWERS, 50.0
        )
        paid = len(server.paid)
        assert paid == 36
        rejudge(curve, server, *words)
        assert (len(server.paid), server.live) == (paid, [])


def test_a_panel_is_a_judge_of_its_own_and_asks_only_whom_it_lacks(curve, server):
    bridge(curve, server)
    assert len(server.calls) == 36
    judge = "later,third"  # the third says what the old one said
    [*results] = bridge(curve, server, judge=judge)["curve"]["results"]
    assert len(server.calls) == 72
    assert {call.body["model"] for call in server.calls[36:]} == {"third"}
    # The mean of both; beside either judge alone.
    climbs = {one["old"]["judge"]: one for one in results if one["model"] == "lab/climbs"}
    assert {name: one["shift"]["value"] for name, one in climbs.items()} == {
        "earlier": 25,
        "later": -25,
    }
    assert {one["new"]["judge"] for one in results} == {"later, third"}


def test_words_are_of_who_filed_the_answers_first_and_marked_as_theirs(curve, server, tmp_path):
    """A stranger files the owner's public answers as his, by a judge of his own, with words and an older date."""
    shutil.rmtree(curve)
    for model in ANSWERS:
        store.add(tmp_path / "runs" / model / "result", curve, filing=Filing("lab"))
    answers = tmp_path / "runs" / "lab" / "drops" / "answers.jsonl"
    judge = JudgeOptions(model="made-up", url=server.url)
    score_files(
        "curve", Inputs(answers), tmp_path / "evil", Options(judge=judge), model="lab/drops"
    )
    path = tmp_path / "evil" / "result.json"
    document = json.loads(path.read_text())
    document["model"]["about"] = {"organisation": "Evil Corp"}
    document["provenance"] |= {"note": "Retracted.", "date": "1970-01-01T00:00:00+00:00"}
    path.write_text(json.dumps(document))
    [refused] = store.add(path.parent, curve, filing=Filing("evil"))
    assert "lab/drops was filed first by lab" in refused.why
    # Even where the maintainers took it in, as somebody's, whose words the new result has is the
    # first one's.
    [added] = store.add(path.parent, curve, filing=Filing("evil", as_maintainer=True))
    assert added.outcome == "added", added.why
    bridge(curve, server)
    new = {one.result.model.id: one for one in store.read(curve) if one.filed_row.judged}
    assert set(new) == set(ANSWERS)
    drops = new["lab/drops"]
    assert (drops.result.model.about, drops.result.provenance.note) == (None, None)
    assert (drops.filed_row.account, drops.result.judge.requested) == ("lab", "later")
    # The maintainers asked that judge themselves: nobody's statement is what its scores rest on.
    rows = {
        (one.model, one.group.judge): one for one in boards.make(curve, published=False).entries
    }
    assert "judge replies" not in (rows["lab/drops", "later"].facts["stated"] or "")
    assert "judge replies" in rows["lab/drops", "earlier"].facts["stated"]
    assert rows["lab/drops", "made-up"].note == "as stated by evil: Retracted."
    (curve / "settings.yaml").write_text("judges: []\n")
    made = boards.make(curve, published=False)
    assert {group.judge for group in made.listed_only} == {"earlier", "made-up"}
    assert made.other_judges == {}


def test_where_the_questions_are_not_here_the_line_says_what_brings_them(monkeypatch):
    monkeypatch.setattr(discovery, "_registry", None)
    known = discovery.get("curve")
    with pytest.raises(InputError, match="`reelbench data fetch curve` brings them"):
        against_data.as_asked(known, [], None, "lab/one")
    with pytest.raises(
        InputError,
        match=r"lab/one: .* of films are not here; REELBENCH_BENCHMARKS names the folder",
    ):
        against_data.as_asked(replace(known, id="films"), [], None, "lab/one")
