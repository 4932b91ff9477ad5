"""Results in the Every Eval Ever format.

Its package has its schema but needs Python 3.12: where it is installed its own validator is run;
the format's rules that matter to us are held here besides, from its published schema 0.3.0.
"""

import hashlib
import importlib.util
import json
import re
from importlib import resources
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.leaderboard import store
from reelbench.leaderboard.exports import every_eval_ever
from tests.leaderboard.exports.conftest import rextime_result


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
        r"data/rextime/org/model/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.json",
        relative,
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
    results = {
        result["metric_config"]["metric_id"]: result for result in document["evaluation_results"]
    }
    primary = results["rextime.accuracy_at_iou_0.5"]
    assert primary["score_details"]["score"] == 50.0
    assert primary["metric_config"]["min_score"] == 0
    assert primary["metric_config"]["max_score"] == 100
    interval = primary["score_details"]["uncertainty"]["confidence_interval"]
    assert interval["lower"] <= 50 <= interval["upper"]
    assert primary["source_data"]["hf_repo"] == "ReXTime/ReXTime"


@pytest.mark.usefixtures("as_real")
def test_a_run_that_was_shown_no_video_says_that_it_is_not_ranked(tamper, tmp_path):
    folder = rextime_result(tmp_path / "results")
    tamper(folder, result=lambda result: result["settings"].update(frames="none"))
    store.add(folder, tmp_path / "store")
    out = tmp_path / "out"
    [one] = every_eval_ever.export(store.read(tmp_path / "store"), out, organization="Lab")
    document = json.loads(one.files[-1].read_text())
    for result in document["evaluation_results"]:
        told = result["score_details"]["details"]["not_ranked"]
        assert told == "a reference point, shown no video"


def test_an_answer_is_correct_from_where_its_metric_says(exported):
    _, _, rows = exported["rextime"]
    letters = [row for row in rows if row["evaluation_name"] == "rextime.accuracy"]
    assert {(row["evaluation"]["score"], row["evaluation"]["is_correct"]) for row in letters} == {
        (1.0, True),
        (0.0, False),
    }
    _, _, judged = exported["moviecore"]
    assert {(row["evaluation"]["score"], row["evaluation"]["is_correct"]) for row in judged} == {
        (4.0, True)
    }


def test_an_unscored_answer_has_no_row_and_is_told(exported):
    _, document, rows = exported["moviecore"]
    items = int(document["evaluation_results"][0]["score_details"]["details"]["items"])
    assert len({row["sample_id"] for row in rows}) == items - 1
    assert (
        document["evaluation_results"][0]["score_details"]["details"]["unscored"]
        == "1 judge_unparsable"
    )
    assert (
        document["detailed_evaluation_results"]["additional_details"]["left_out"]
        == "1 judge_unparsable"
    )


def test_the_judge_stands_in_its_metrics(exported):
    _, document, _ = exported["moviecore"]
    scoring = document["evaluation_results"][0]["metric_config"]["llm_scoring"]
    assert [judge["model_info"]["id"] for judge in scoring["judges"]] == ["judge-0001"]
    assert "Dimension: depth" in scoring["input_prompt"]


def test_no_question_is_repeated(exported):
    from reelbench.data import loading

    for benchmark, (path, _, _) in exported.items():
        text = path.with_name(path.stem + "_samples.jsonl").read_text() + path.read_text()
        assert not any(row["question"] in text for row in loading.locate(benchmark).read())


@pytest.mark.usefixtures("exported")
def test_the_same_result_gives_the_same_files(stored, tmp_path):
    before = {
        path.relative_to(tmp_path / "eee"): path.read_bytes()
        for path in (tmp_path / "eee").rglob("*.json*")
    }
    list(every_eval_ever.export(store.read(stored), tmp_path / "again", organization="Lab"))
    after = {
        path.relative_to(tmp_path / "again"): path.read_bytes()
        for path in (tmp_path / "again").rglob("*.json*")
    }
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
        assert all(
            isinstance(text, str) for text in (*row["input"]["reference"], *row["output"]["raw"])
        )
        assert all(isinstance(value, str) for value in row["metadata"].values())


@pytest.mark.parametrize("benchmark", ["rextime", "moviecore"])
def test_the_published_schema_accepts_both_files(exported, benchmark):
    if importlib.util.find_spec("every_eval_ever") is None:
        pytest.skip(
            "every-eval-ever, which has the schema, is not installed (it needs Python 3.12)"
        )
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


def test_the_command_writes_files_and_says_what_it_leaves_out(
    reelbench, stored, rextime_run, tmp_path
):
    mini = tmp_path / "mini-store"
    store.add(rextime_run(), mini)
    done = reelbench(
        "leaderboard",
        "export",
        stored,
        mini,
        "--format",
        "eee",
        "--organization",
        "Lab",
        "--out",
        tmp_path / "out",
    )
    assert done.returncode == 0, done.stderr
    written = done.stdout.split()
    assert len(written) == 4
    assert all(Path(path).is_file() for path in written)
    assert "left out: org__model" in done.stderr
