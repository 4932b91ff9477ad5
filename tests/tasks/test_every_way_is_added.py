"""What `score` wrote, `leaderboard add` takes: each benchmark in each way in which it is scored."""

import json

import pytest

from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import store
from reelbench.scoring.cognitive_profile import read_tags
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.scored import score_files, score_run
from tests.servers.judge import Answer, JudgeServer
from tests.tasks.test_score_offline import MINI_FILES, default_task, logged_run, predictions

SPECS = registry.specs()
JUDGED = {name: spec for name, spec in SPECS.items() if spec.judge}
each_benchmark = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
PLAIN = Options(overlap=False)


@pytest.fixture
def added(tmp_path):
    """Add a folder with one result; returns what the store then has of it."""

    def run(folder):
        [one] = store.add(folder, tmp_path / "store")
        assert one.outcome == "added", one.why
        [stored] = store.read(tmp_path / "store")
        [checked] = store.check(tmp_path / "store")
        assert checked.outcome == "same", checked.why
        return stored

    return run


def edited(path, edit):
    """Edit the entries of a predictions file."""
    document = json.loads(path.read_text())
    if isinstance(document, dict):
        document = [{"question_id": key, **value} for key, value in document.items()]
    path.write_text(json.dumps(edit(document)))
    return path


WAYS = {
    "whole": (lambda entries: entries, None),
    "one missing": (lambda entries: entries[:-1], "{} of {} items scored (1 prediction_missing)"),
    "one of nobody's": (
        lambda entries: [
            *entries,
            {
                **entries[0],
                **dict.fromkeys({"id", "qid", "key", "question_id"} & entries[0].keys(), "x"),
                "video": "x",
            },
        ],
        None,
    ),
    "in another order": (lambda entries: entries[::-1], None),
}


FILES = [
    *((name, "whole", True) for name in SPECS),
    *((name, "one missing", False) for name in SPECS),
    # One of lines by id, and one whose entries are found by video and question.
    *((name, way, False) for name in ("rextime", "moviecore") for way in WAYS),
]


@pytest.mark.parametrize(("name", "way", "references"), dict.fromkeys(FILES))
def test_files(name, way, references, added, tmp_path):
    spec = SPECS[name]
    edit, partial = WAYS[way]
    path = edited(predictions(tmp_path / "predictions.json", spec), edit)
    own = spec.folder / "mini" / MINI_FILES[spec.id] if references else None
    score_files(spec.id, Inputs(path, own, split="mini"), tmp_path / "result", PLAIN)
    stored = added(tmp_path / "result")
    assert stored.filed_row.ids == "checked"
    if partial:
        questions = len(loading.load(spec.id, "mini"))
        partial = partial.format(questions - 1, questions)
    # Without a judge the answers to open questions are not scored wholly.
    assert stored.filed_row.partial == partial or spec.judge


@each_benchmark
def test_an_answer_that_is_there_twice_is_refused(spec, tmp_path):
    path = edited(
        predictions(tmp_path / "predictions.json", spec), lambda entries: [*entries, entries[0]]
    )
    doubled = len(loading.load(spec.id, "mini")) + 1
    said = rf" {doubled}: the id '[^']+' occurs twice, first at .* 1; keep one"
    with pytest.raises(InputError, match=said):
        score_files(spec.id, Inputs(path, split="mini"), tmp_path / "result", PLAIN)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("rextime", {"ans": "A"}),
        ("rextime", {"pred_relevant_windows": [[0, 4]]}),
        ("dramaqa_cogme", {"correct_idx": 9}),
    ],
    ids=["answers only", "windows only", "nothing readable"],
)
def test_files_that_hold_less(name, answer, added, tmp_path):
    path = tmp_path / "predictions.json"
    path.write_text(
        json.dumps([{"qid": row["id"], **answer} for row in loading.load(name, "mini")])
    )
    score_files(name, Inputs(path, split="mini"), tmp_path / "result", PLAIN)
    assert added(tmp_path / "result").filed_row.partial is None


@pytest.mark.parametrize(
    ("name", "options", "spoilt"),
    [
        *((name, {}, spoilt) for name in JUDGED for spoilt in (False, True)),
        ("curve", {"votes": 3}, False),
        ("moviecore", {"votes": 3, "vote_rule": "mean"}, False),
        ("curve", {"temperature": "none", "extra": {"reasoning_effort": "low"}}, False),
        ("moviechat", {"votes": 3}, True),
        ("curve", {"budget_calls": 7}, True),
    ],
)
def test_judged(name, options, spoilt, added, tmp_path):
    spec = SPECS[name]
    path = predictions(tmp_path / "predictions.json", spec)
    first = next(iter(loading.load(spec.id, "mini")))["question"]

    def judge(call):
        return Answer("no" if spoilt and first in call.user else '{"score": 1}')

    with JudgeServer(judge) as server:
        asked = JudgeOptions(
            model="judge", url=server.url, cache=tmp_path / "judge.sqlite", concurrency=1, **options
        )
        score_files(
            spec.id,
            Inputs(path, split="mini"),
            tmp_path / "result",
            Options(overlap=False, judge=asked),
            model="org/m",
        )
    stored = added(tmp_path / "result")
    assert bool(stored.filed_row.partial) is spoilt
    assert stored.filed_row.stated == ("judge replies",)


@pytest.mark.java
def test_with_overlap(added, tmp_path):
    path = predictions(tmp_path / "predictions.json", SPECS["moviecore"])
    score_files("moviecore", Inputs(path, split="mini"), tmp_path / "result", Options())
    assert added(tmp_path / "result").result.metrics["bleu4"].value is not None


def write_tags(path, ids):
    line = {"target": ["Character"], "content": ["Identity"], "thinking": "Recall"}
    path.write_text("".join(json.dumps({"qid": name, **line}) + "\n" for name in ids))
    return path


@pytest.mark.parametrize("tagged", [slice(12), slice(5)], ids=["all", "some"])
@pytest.mark.parametrize("others", [[], ["999", "998"]], ids=["only these", "others too"])
@pytest.mark.parametrize(
    "of", ["run of dramaqa_cogme", "file of dramaqa_cogme", "run of moviecore", "file of rextime"]
)
def test_tags_that_fit_or_not(of, tagged, others, added, tmp_path):
    source, _, name = of.partition(" of ")
    spec = SPECS[name]
    ids = [row["id"] for row in loading.load(spec.id, "mini")]
    tags = write_tags(tmp_path / "tags.jsonl", [*ids[tagged], *others])
    if source == "run":
        logged_run(
            tmp_path / "run", spec, next(task for task in spec.tasks if task.split == "mini")
        )
        score_run(tmp_path / "run", None, PLAIN, tags=read_tags(tags))
        stored = added(tmp_path / "run")
    else:
        path = predictions(tmp_path / "predictions.json", spec)
        score_files(
            spec.id, Inputs(path, tags=read_tags(tags), split="mini"), tmp_path / "result", PLAIN
        )
        stored = added(tmp_path / "result")
    counts = stored.result.counts
    assert counts.tags_without_question == len(others)
    assert counts.questions_without_tags == 12 - len(ids[tagged])
    assert stored.filed_row.stated == ("labels",)


def test_of_a_run_with_several_tasks_those_get_tags_that_they_are_about(tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("rextime", "moviecore"):
        spec = SPECS[name]
        logged_run(
            tmp_path / "run" / name, spec, next(task for task in spec.tasks if task.split == "mini")
        )
    tags = write_tags(
        tmp_path / "tags.jsonl", [row["id"] for row in loading.load("rextime", "mini")][:5]
    )
    outcomes = score_run(tmp_path / "run", None, PLAIN, tags=read_tags(tags))
    untagged = {
        outcome.result.benchmark.id: outcome.result.counts.questions_without_tags
        for outcome in outcomes
    }
    assert untagged == {"rextime": 7, "moviecore": 0}
    with pytest.raises(InputError, match="none of its 1 qids is among the questions of the run"):
        score_run(
            tmp_path / "run",
            None,
            PLAIN,
            tags=read_tags(write_tags(tmp_path / "others.jsonl", ["999"])),
        )


@each_benchmark
@pytest.mark.parametrize("mini", [True, False], ids=["mini", "its own split"])
def test_runs(spec, mini, added, tmp_path):
    task = next(task for task in spec.tasks if task.split == "mini") if mini else default_task(spec)
    logged_run(tmp_path / "run", spec, task)
    score_run(tmp_path / "run", None, PLAIN)
    stored = added(tmp_path / "run")
    assert stored.filed_row.ids == ("checked" if mini else "unchecked")


@each_benchmark
def test_limited_runs(spec, added, tmp_path):
    task = next(task for task in spec.tasks if task.split == "mini")
    logged_run(tmp_path / "run", spec, task)
    path = tmp_path / "run" / f"1_samples_{task.name}.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:4]))
    document = json.loads((tmp_path / "run" / "1_results.json").read_text())
    document["config"]["limit"] = 4
    (tmp_path / "run" / "1_results.json").write_text(json.dumps(document))
    score_run(tmp_path / "run", None, PLAIN)
    assert added(tmp_path / "run").filed_row.partial.startswith("--limit 4: 4 items")


# --- a run is completed in its own folder ---


@pytest.fixture
def judge():
    with JudgeServer(lambda _: Answer('{"score": 1}')) as server:
        yield server


def two_tasks(folder):
    """A run of two judged tasks into one output folder."""
    for name in JUDGED:
        spec = SPECS[name]
        task = next(task for task in spec.tasks if task.split == "mini")
        logged_run(folder.with_name(name), spec, task)
        folder.mkdir(exist_ok=True)
        folder.with_name(name).rename(folder / name)
    return folder


def test_a_judge_completes_a_run_where_it_lies(judge, reelbench, tmp_path):
    run = two_tasks(tmp_path / "out")
    unjudged = reelbench("score", "--run", run, "--no-overlap")
    assert unjudged.returncode == 0, unjudged.stderr
    hints = [
        line.partition("to finish: ")[2]
        for line in unjudged.stderr.splitlines()
        if "to finish" in line
    ]
    assert len(hints) == len(JUDGED)
    for hint, spec in zip(
        sorted(hints), sorted(JUDGED.values(), key=lambda spec: spec.id), strict=True
    ):
        assert hint.endswith(f"--task {spec.id}_mini --judge {spec.judge.suggested}")
        assert f"--run {run} " in hint
        assert "--no-overlap" in hint
    options = ("--judge", "own-judge", "--judge-url", judge.url)
    done = reelbench("score", "--run", run, "--no-overlap", "--task", "moviecore_mini", *options)
    assert done.returncode == 0, done.stderr
    found = {
        path.parent.name: json.loads(path.read_text())["judge"] for path in run.rglob("result.json")
    }
    assert {name: bool(judged) for name, judged in found.items()} == {
        "moviecore_mini": True,
        "curve_mini": False,
        "moviechat_mini": False,
    }
    assert {path.parent.parent.name for path in run.rglob("result.json")} == {"reelbench"}
    # Scoring once more without a judge would lose what was paid for.
    again = reelbench("score", "--run", run, "--no-overlap", "--task", "moviecore_mini")
    assert again.returncode == 2
    assert "were judged there by own-judge" in again.stderr
    added = reelbench("leaderboard", "add", run, "--store", tmp_path / "store")
    assert added.returncode == 0, added.stderr
    stored = {one.result.benchmark.id: one for one in store.read(tmp_path / "store")}
    assert stored["moviecore"].result.judge.requested == "own-judge"
    assert stored["moviecore"].filed_row.partial is None
    assert "12 judge_unavailable" in stored["curve"].filed_row.partial


def test_a_judged_copy_elsewhere_is_not_filed_beside_the_run(judge, reelbench, tmp_path):
    run = two_tasks(tmp_path / "out")
    reelbench("score", "--run", run, "--no-overlap")
    options = ("--judge", "own-judge", "--judge-url", judge.url, "--output", run / "judged")
    assert reelbench("score", "--run", run, "--no-overlap", *options).returncode == 0
    added = reelbench("leaderboard", "add", run, "--store", tmp_path / "store")
    assert added.returncode == 0, added.stderr
    stored = store.read(tmp_path / "store")
    assert sorted(one.result.benchmark.id for one in stored) == sorted(JUDGED)
    assert all(one.result.judge for one in stored)


def test_the_hint_of_a_judge_that_could_not_finish_names_that_judge(reelbench, tmp_path):
    spec = SPECS["moviecore"]
    path = predictions(tmp_path / "my predictions.json", spec)
    with JudgeServer(lambda _: Answer('{"score": 1}')) as server:
        url = server.url
    given = (
        "score",
        "moviecore",
        "--predictions",
        path,
        "--split",
        "mini",
        "--no-overlap",
        "--judge",
        "own-judge",
    )
    done = reelbench(*given, "--judge-url", url, "--output", tmp_path / "out", timeout=1800)
    [hint] = [
        line.partition("to finish: ")[2] for line in done.stderr.splitlines() if "to finish" in line
    ]
    assert "--judge own-judge" in hint
    assert f"--judge-url {url}" in hint
    assert f"--output {tmp_path / 'out'}" in hint
    assert f"--predictions '{path}'" in hint
    assert hint.count("--judge ") == 1


def test_a_task_that_the_run_has_not(tmp_path, reelbench):
    run = two_tasks(tmp_path / "out")
    done = reelbench("score", "--run", run, "--task", "rextime")
    assert done.returncode == 2
    assert "has no task 'rextime'; it has curve_mini, moviechat_mini, moviecore_mini" in done.stderr
