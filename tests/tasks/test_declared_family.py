"""MINERVA, TimeLens-Bench and Video-Holmes: what their files say is what the owners' rows, and numbers, have."""

import json
from dataclasses import replace

import pytest

from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.data.loading import locate
from reelbench.registry import discovery
from reelbench.scoring.cognitive_profile import read_tags
from reelbench.tasks.submissions import PredictionSet, Questions, with_tags
from tests.tasks.test_predictions import half_right, put, scored


def rows_of(name, file):
    return json.loads((registry.get(name).folder / "mini" / file).read_text(encoding="utf-8"))


def test_minervas_column_is_found_as_the_owners_and_as_lmms_eval_write_it(tmp_path):
    given = rows_of("minerva", "minerva.json")
    owners = [
        {("question type" if key == "question_type" else key): value for key, value in row.items()}
        for row in given
    ]
    (tmp_path / "minerva.json").write_text(json.dumps(owners))
    read = locate("minerva", data=tmp_path / "minerva.json").read()
    assert [row["skills"] for row in read] == [row["question_type"].split(", ") for row in given]
    assert [row["options"]["ABCDE".index(row["answer"])] for row in read] == [
        row["answer"] for row in given
    ]


@pytest.mark.parametrize("as_text", [False, True])
def test_a_span_is_nested_or_json_text(as_text, tmp_path):
    given = rows_of("timelens", "charades.json")
    rows = [{**row, "span": json.dumps(row["span"]) if as_text else row["span"]} for row in given]
    (tmp_path / "charades.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = locate("timelens", data=tmp_path).read()
    assert [row["span"] for row in read] == [row["span"][0] for row in given]
    assert len({row["id"] for row in read}) == len(given)


def test_options_are_a_mapping_and_an_id_is_the_films_and_the_questions():
    given, read = (
        rows_of("video_holmes", "test_Video-Holmes.json"),
        locate("video_holmes", "mini").read(),
    )
    assert [row["options"] for row in read] == [list(row["Options"].values()) for row in given]
    assert [row["answer"] for row in read] == [row["Answer"] for row in given]
    assert read[0]["id"] == f"{given[0]['video ID']}-1"


# Read off the tables of the owners' README files.
@pytest.mark.parametrize(
    ("name", "split", "model", "metric", "value"),
    [
        ("timelens", "charades", "TimeLens-8B", "miou", 55.2),
        ("timelens", "activitynet", "Qwen2.5-VL-7B-Instruct", "recall_at_0.7", 16.1),
        ("timelens", "qvhighlights", "Qwen3-VL-8B-Instruct", "recall_at_0.5", 64.6),
        ("video_holmes", "test", "Qwen2.5-VL-7B", "accuracy", 27.8),
    ],
)
def test_published_numbers_stand_where_the_table_has_them(name, split, model, metric, value):
    [row] = [r for r in registry.get(name).published if (r.model, r.split) == (model, split)]
    assert row.metrics[metric] == value


def test_lmms_evals_own_tasks_are_known_as_twins():
    twins = set()
    for name in ("minerva", "timelens", "video_holmes"):
        twins.update(task.twin for task in registry.get(name).tasks if task.twin)
    assert twins == {
        "minerva", "video_holmes", "timelens_charades", "timelens_activitynet", "timelens_qvhighlights"
    }  # fmt: skip
    assert all(discovery.find_task(twin) is None for twin in twins)


def test_tags_do_not_hide_a_facet_of_the_rows(tmp_path):
    items = scored("video_holmes", put(tmp_path / "p.csv", half_right("video_holmes"))).items
    tags = tmp_path / "tags.jsonl"
    tags.write_text(
        json.dumps({"qid": items[0].id, "target": [], "content": [], "thinking": "Recall"})
    )
    spec = registry.get("video_holmes")
    own = replace(spec, facets=(replace(spec.facets[0], name="content"),))
    with pytest.raises(InputError, match="has a facet 'content' of its own"):
        with_tags(PredictionSet(Questions(own, "mini"), items), read_tags(tags))
