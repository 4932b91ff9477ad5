"""Results as others' formats: models' pages on the Hub, and Every Eval Ever.

Every Eval Ever's package has its schema but needs Python 3.12: where it is installed its own validator is run; the
format's rules that matter to us are held here besides, from its published schema 0.3.0.
"""

import hashlib
import importlib.util
import json
import re
import shutil
from importlib import resources
from pathlib import Path

import pytest
import yaml

from reelbench.leaderboard import every_eval_ever, hub_results, store
from reelbench.registry.errors import InputError
from reelbench.tasks import moviecore, rextime
from reelbench.tasks.score import Options, score_files
from reelbench.tasks.submissions import Inputs
from tests.servers.judge import Answer, JudgeServer


@pytest.fixture
def as_real(tmp_path, monkeypatch):
    """Let the mini data stand for the real splits: whole, known, and not called mini."""

    def stand_in(package, mini, name):
        folder = tmp_path / f"data-{name}"
        folder.mkdir()
        shutil.copy(Path(package.__path__[0]) / "mini" / mini, folder / name)
        benchmark = package.__name__.rpartition(".")[2]
        monkeypatch.setenv(f"REELBENCH_DATA_{benchmark.upper()}", str(folder))

    stand_in(rextime, "rextime_val.json", "rextime_val.json")
    stand_in(moviecore, "test.json", "test.json")


def rextime_result(folder, *, model="org/model"):
    """The first half of the questions right, the rest wrong in letter and window."""
    from reelbench.registry.data import loading

    rows = loading.locate("rextime").read()
    folder.mkdir(parents=True)
    lines = []
    for number, row in enumerate(rows):
        right = number < len(rows) // 2
        wrong = "B" if row["answer"] == "A" else "A"
        window = row["span"] if right else [0, 0]
        lines.append({"qid": row["id"], "pred_relevant_windows": [window], "ans": row["answer"] if right else wrong})
    path = folder / "submission.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    score_files("rextime", Inputs(path), folder / "result", Options(), model=model)
    return folder / "result"


def moviecore_result(folder, *, unparsable=0):
    """Judged answers, all 4 of 5, of which the first so many questions get replies that can't be read."""
    from reelbench.judges.llm import JudgeOptions
    from reelbench.registry.data import loading

    rows = loading.locate("moviecore").read()
    folder.mkdir(parents=True)
    entries = {}
    for row in rows:
        entries.setdefault(f"{row['video']}.mp4", []).append(
            {
                "question": row["question"],
                "answer": row["answer"],
                "pred": f"It is so, {row['id']}.",
                "classification": ", ".join(row["classification"]),
            }
        )
    path = folder / "predictions.json"
    path.write_text(json.dumps(entries))
    bad = [row["question"] for row in rows[:unparsable]]
    with JudgeServer(lambda call: Answer("no" if any(q in call.user for q in bad) else '{"score": 4}')) as server:
        judge = JudgeOptions(model="judge", url=server.url, cache=folder / "judge.sqlite")
        score_files(
            "moviecore", Inputs(path), folder / "result", Options(overlap=False, judge=judge), model="org/judged"
        )
    return folder / "result"


@pytest.fixture
def stored(as_real, tmp_path):  # noqa: ARG001 - for what it sets up
    """A store with a whole ReXTime result and a judged MovieCORE result of which one answer is unscored."""
    results = tmp_path / "results"
    rextime_result(results / "rextime")
    moviecore_result(results / "moviecore", unparsable=1)
    added = store.add(results, tmp_path / "store")
    assert [one.outcome for one in added] == ["added", "added"], added
    return tmp_path / "store"


# --- the Hub's model pages -----------------------------------------------------------------------------------------


def test_eval_results_are_entries_that_the_hub_reads(stored, tmp_path):
    from huggingface_hub import parse_eval_result_entries

    done = {one.key.split("/")[2]: one for one in hub_results.export(store.read(stored), tmp_path / "out")}
    (path,) = done["rextime"].files
    assert path.parent == tmp_path / "out" / "org__model" / ".eval_results"
    (entry,) = parse_eval_result_entries(yaml.safe_load(path.read_text()))
    # Half of the questions have the right letter and window: 50 per cent.
    assert entry.dataset_id == "ReXTime/ReXTime"
    assert entry.task_id == "rextime"
    assert entry.value == 50.0
    assert "Accuracy at IoU" in entry.notes
    assert "95% interval" in entry.notes


def test_a_result_with_unscored_items_would_stand_beside_whole_ones_and_is_left_out(stored, tmp_path):
    done = {one.key.split("/")[2]: one for one in hub_results.export(store.read(stored), tmp_path / "out")}
    assert done["moviecore"].files == ()
    assert "(1 judge_unparsable)" in done["moviecore"].why


def test_eval_results_say_who_judged(as_real, tmp_path):  # noqa: ARG001 - for what it sets up
    moviecore_result(tmp_path / "results", unparsable=0)
    store.add(tmp_path / "results", tmp_path / "store")
    [done] = hub_results.export(store.read(tmp_path / "store"), tmp_path / "out")
    (entry,) = yaml.safe_load(done.files[0].read_text())
    assert entry["value"] == 4.0
    assert "12 of 12 items scored" in entry["notes"]
    assert "judge judge-0001, prompts reelbench" in entry["notes"]


@pytest.mark.usefixtures("as_real")
def test_what_the_hub_has_no_place_for_is_left_out_and_said(rextime_run, tmp_path):
    rextime_result(tmp_path / "results" / "local", model="my-checkpoint")
    shutil.copytree(rextime_run(), tmp_path / "results" / "mini")
    store.add(tmp_path / "results", tmp_path / "store")
    done = list(hub_results.export(store.read(tmp_path / "store"), tmp_path / "out"))
    assert not any(one.files for one in done)
    whys = "\n".join(one.why for one in done)
    assert "'my-checkpoint' is no model repository" in whys
    assert "mini data" in whys


# --- Every Eval Ever -----------------------------------------------------------------------------------------------


@pytest.fixture
def exported(stored, tmp_path):
    """Export the store -> benchmark -> (aggregate's path, aggregate, rows)."""
    out = tmp_path / "eee"
    found = {}
    for one in every_eval_ever.export(store.read(stored), out, organization="Lab"):
        samples, path = one.files
        rows = [json.loads(line) for line in samples.read_text().splitlines()]
        found[one.key.split("/")[2]] = path, json.loads(path.read_text()), rows
    return found


def test_files_lie_where_the_datastore_wants_them_and_name_each_other(exported, tmp_path):
    path, document, rows = exported["rextime"]
    relative = path.relative_to(tmp_path / "eee").as_posix()
    assert re.fullmatch(
        r"data/rextime/org/model/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json", relative
    )
    detail = document["detailed_evaluation_results"]
    assert detail["file_path"] == relative.removesuffix(".json") + "_samples.jsonl"
    samples = tmp_path / "eee" / detail["file_path"]
    assert detail["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
    assert detail["total_rows"] == len(rows)
    assert {row["evaluation_id"] for row in rows} == {document["evaluation_id"]}
    assert {row["model_id"] for row in rows} == {document["model_info"]["id"]}
    known = {result["evaluation_result_id"] for result in document["evaluation_results"]}
    assert {row["evaluation_result_id"] for row in rows} <= known


def test_scores_intervals_and_scales_are_the_results(exported):
    _, document, _ = exported["rextime"]
    results = {result["metric_config"]["metric_id"]: result for result in document["evaluation_results"]}
    primary = results["rextime.accuracy_at_iou_0.5"]
    assert primary["score_details"]["score"] == 50.0
    assert primary["metric_config"]["min_score"] == 0
    assert primary["metric_config"]["max_score"] == 100
    interval = primary["score_details"]["uncertainty"]["confidence_interval"]
    assert interval["lower"] <= 50 <= interval["upper"]
    assert primary["source_data"]["hf_repo"] == "ReXTime/ReXTime"


def test_an_answer_is_correct_at_the_top_of_its_scale(exported):
    _, _, rows = exported["rextime"]
    letters = [row for row in rows if row["evaluation_name"] == "rextime.accuracy"]
    assert {(row["evaluation"]["score"], row["evaluation"]["is_correct"]) for row in letters} == {
        (1.0, True),
        (0.0, False),
    }
    _, _, judged = exported["moviecore"]
    assert {(row["evaluation"]["score"], row["evaluation"]["is_correct"]) for row in judged} == {(4.0, False)}


def test_an_unscored_answer_has_no_row_and_is_told(exported):
    _, document, rows = exported["moviecore"]
    items = int(document["evaluation_results"][0]["score_details"]["details"]["items"])
    assert len({row["sample_id"] for row in rows}) == items - 1
    assert document["evaluation_results"][0]["score_details"]["details"]["unscored"] == "1 judge_unparsable"
    assert document["detailed_evaluation_results"]["additional_details"]["left_out"] == "1 judge_unparsable"


def test_the_judge_stands_in_its_metrics(exported):
    _, document, _ = exported["moviecore"]
    scoring = document["evaluation_results"][0]["metric_config"]["llm_scoring"]
    assert [judge["model_info"]["id"] for judge in scoring["judges"]] == ["judge-0001"]
    assert "Dimension: depth" in scoring["input_prompt"]


def test_no_question_is_repeated(exported):
    from reelbench.registry.data import loading

    for benchmark, (path, _, _) in exported.items():
        text = path.with_name(path.stem + "_samples.jsonl").read_text() + path.read_text()
        assert not any(row["question"] in text for row in loading.locate(benchmark).read())


@pytest.mark.usefixtures("exported")
def test_the_same_result_gives_the_same_files(stored, tmp_path):
    before = {path.relative_to(tmp_path / "eee"): path.read_bytes() for path in (tmp_path / "eee").rglob("*.json*")}
    list(every_eval_ever.export(store.read(stored), tmp_path / "again", organization="Lab"))
    after = {path.relative_to(tmp_path / "again"): path.read_bytes() for path in (tmp_path / "again").rglob("*.json*")}
    assert before == after


# What the published schema 0.3.0 requires, by object; every `additional_details` holds text alone.
REQUIRED = {
    (): "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results",
    ("source_metadata",): "source_type source_organization_name evaluator_relationship",
    ("eval_library",): "name version",
    ("model_info",): "name id additional_details",
    ("model_info", "additional_details"): "deployment_type model_availability",
    ("evaluation_results", 0): "evaluation_name source_data metric_config score_details",
    ("evaluation_results", 0, "metric_config"): "lower_is_better min_score max_score",
    ("evaluation_results", 0, "score_details"): "score",
    ("detailed_evaluation_results",): "format file_path",
}
ROW = (
    "schema_version evaluation_id model_id evaluation_name sample_id interaction_type input answer_attribution "
    "evaluation output"
)


def details(value):
    if isinstance(value, dict):
        for name, found in value.items():
            if name in {"additional_details", "details"}:
                yield found
            yield from details(found)
    elif isinstance(value, list):
        for found in value:
            yield from details(found)


@pytest.mark.parametrize("benchmark", ["rextime", "moviecore"])
def test_what_the_schema_requires_is_there(exported, benchmark):
    _, document, rows = exported[benchmark]
    for place, names in REQUIRED.items():
        found = document
        for step in place:
            found = found[step]
        assert set(names.split()) <= found.keys(), place
    assert all(isinstance(value, str) for found in details(document) for value in found.values())
    for row in rows:
        assert set(ROW.split()) <= row.keys()
        assert type(row["evaluation"]["is_correct"]) is bool
        assert isinstance(row["evaluation"]["score"], float)
        assert all(isinstance(text, str) for text in (*row["input"]["reference"], *row["output"]["raw"]))
        assert all(isinstance(value, str) for value in row["metadata"].values())


@pytest.mark.parametrize("benchmark", ["rextime", "moviecore"])
def test_the_published_schema_accepts_both_files(exported, benchmark):
    if importlib.util.find_spec("every_eval_ever") is None:
        pytest.skip("every-eval-ever, which has the schema, is not installed (it needs Python 3.12)")
    jsonschema = pytest.importorskip("jsonschema")
    schemas = resources.files("every_eval_ever.schemas")
    _, document, rows = exported[benchmark]
    jsonschema.validate(document, json.loads((schemas / "eval.schema.json").read_text()))
    of_row = json.loads((schemas / "instance_level_eval.schema.json").read_text())
    for row in rows:
        jsonschema.validate(row, of_row)


def test_the_format_wants_to_know_who_evaluated(stored, tmp_path):
    with pytest.raises(InputError, match="--organization"):
        list(every_eval_ever.export(store.read(stored), tmp_path, organization=None))


def test_the_command_writes_files_and_says_what_it_leaves_out(reelbench, stored, rextime_run, tmp_path):
    mini = tmp_path / "mini-store"
    store.add(rextime_run(), mini)
    done = reelbench(
        "leaderboard", "export", stored, mini, "--format", "eee", "--organization", "Lab", "--out", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    written = done.stdout.split()
    assert len(written) == 4
    assert all(Path(path).is_file() for path in written)
    assert "left out: org__model" in done.stderr
