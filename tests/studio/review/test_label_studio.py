"""To Label Studio and back. The fixture was exported by Label Studio 1.23.2 itself, from our tasks (see its README)."""

import json
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.studio.review import label_studio
from reelbench.studio.review.kinds import summarize

EXPORT = Path(__file__).parents[2] / "fixtures" / "label_studio" / "question_spans.json"


def test_a_real_export_is_read(reelbench):
    done = reelbench("review", "summarize", EXPORT, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Frames 1 to 24 and 1 to 36 at 12 frames per second: 0 to 2 s and 0 to 3 s.
    assert found["kind"] == "question-spans"
    assert found["items"]["mini1"] == {
        "span": [0, 2.5],
        "n": 2,
        "rejected": 0,
        "pairwise_iou": pytest.approx(2 / 3),
    }
    assert found["items"]["mini10"]["rejected"] == 1
    assert found["ignored"] == {"cancelled": 1, "without_range": 1, "unfinished": 0}
    # The first annotator marked the answer too, frames 25 to 48: 2 to 4 s. Together 0 to 4 s,
    # shared 0.5 s.
    assert found["certificate_length"]["value"] == pytest.approx(4)
    assert found["qa_miou"]["value"] == pytest.approx(0.5 / 4)
    assert "left out: 1 result of Label Studio, cancelled" in done.stderr


def test_tasks_and_configuration(reelbench, tmp_path):
    done = reelbench(
        "review", "page", "rextime_mini", "--ask", "spans", "--as", "label-studio", "--media-url", "http://x/v/",
        "--output", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    assert len(tasks) == 12
    data = tasks[0]["data"]
    assert data["video"].startswith("http://x/v/")
    assert data["video"].endswith(".mp4")
    assert data["fps"] == 12
    assert "predictions" not in tasks[0]
    config = (tmp_path / "out" / "config.xml").read_text()
    assert 'frameRate="$fps"' in config
    assert 'value="question"' not in config


@pytest.mark.parametrize("fps", [12, 23.976, 25, 29.97, 60])
@pytest.mark.parametrize("span", [(0, 2), (0.04, 0.05), (1.234, 7.777), (3, 3)])
def test_there_and_back_within_one_frame(tmp_path, fps, span):
    annotation = {
        "completed_by": 1,
        "was_cancelled": False,
        "result": [label_studio.region("answer", span, fps)],
    }
    task = {"data": {"id": "q", "fps": fps, "page": "p"}, "annotations": [annotation]}
    (tmp_path / "export.json").write_text(json.dumps([task]))
    start, end = summarize([tmp_path / "export.json"]).document()["items"]["q"]["span"]
    assert start <= span[0] + 1e-9
    assert span[0] - start < 1 / fps
    assert end >= span[1] - 1e-9
    assert end - span[1] <= 1 / fps + 1e-9


def test_audio_regions_are_in_seconds_and_an_annotators_last_word_counts(tmp_path):
    def said(start, end, created):
        value = {"start": start, "end": end, "channel": 0, "labels": ["answer"]}
        result = [{"type": "labels", "from_name": "span", "original_length": 150.0, "value": value}]
        return {
            "completed_by": {"id": 4, "email": "a@b.c"},
            "created_at": created,
            "result": result,
        }

    annotations = [said(3.1, 8.2, "2026-11-21T10:00:00Z"), said(1, 2, "2026-11-20T10:00:00Z")]
    (tmp_path / "e.json").write_text(
        json.dumps([{"data": {"id": 1, "page": "p"}, "annotations": annotations}])
    )
    found = summarize([tmp_path / "e.json"]).document()
    assert found["reviewers"] == ["a@b.c"]
    assert found["items"]["1"]["span"] == [3.1, 8.2]


def first(tasks):
    return tasks[0]["annotations"][0]


def ranged(tasks):
    return next(
        result
        for task in tasks
        for annotation in task["annotations"]
        if not annotation["was_cancelled"]
        for result in annotation["result"]
        if result["value"].get("ranges")
    )


DAMAGES = {
    "JSON-MIN": (
        lambda tasks: [task.pop("annotations") for task in tasks],
        r"task 1, field annotations: .*; export the project whole as JSON \(not JSON-MIN or CSV\)",
    ),
    "no id": (
        lambda tasks: tasks[0]["data"].pop("id"),
        r"task 1, field data.id: .*of the tasks that Reelbench wrote \(--as label-studio\)",
    ),
    "id twice": (lambda tasks: tasks.append(tasks[0]), "task 5, field data.id: .* occurs twice"),
    "no fps": (
        lambda tasks: [task["data"].pop("fps") for task in tasks],
        "field data.fps: expected",
    ),
    "fps of text": (
        lambda tasks: [task["data"].update(fps="fast") for task in tasks],
        "field data.fps: .*'fast'",
    ),
    "another page": (
        lambda tasks: tasks[1]["data"].update(page="other"),
        "task 2, field data.page: is from a different page",
    ),
    "result cut": (
        lambda tasks: first(tasks).update(result=None),
        "task 1, field annotations.0.result: .* valid list",
    ),
    "no annotator": (
        lambda tasks: first(tasks).update(completed_by=None),
        "field annotations.0.completed_by: .*expected a text or a whole number",
    ),
    "frame 0": (
        lambda tasks: ranged(tasks)["value"].update(ranges=[{"start": 0, "end": 5}]),
        "ranges.0.start: .* or equal to 1",
    ),
    "backwards": (
        lambda tasks: ranged(tasks)["value"].update(ranges=[{"start": 9, "end": 5}]),
        "ranges.0.end: .*not before the start",
    ),
    "strange label": (
        lambda tasks: ranged(tasks)["value"].update(timelinelabels=["scene"]),
        "timelinelabels.0: .*'answer' or 'question' .*scene",
    ),
    "strange verdict": (
        lambda tasks: next(r for r in first(tasks)["result"] if r["type"] == "choices")[
            "value"
        ].update(choices=["?"]),
        "value.choices.0: .*'ok' or 'bad'",
    ),
    "nobody": (
        lambda tasks: [task.update(annotations=[]) for task in tasks],
        "no task in it is annotated",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_export_is_one_clear_line(tmp_path, damage):
    spoil, says = DAMAGES[damage]
    tasks = json.loads(EXPORT.read_text())
    spoil(tasks)
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    with pytest.raises(InputError, match=says) as error:
        summarize([path])
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_a_cut_off_or_empty_export_is_named(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(EXPORT.read_text()[:500])
    with pytest.raises(InputError, match="not valid JSON"):
        summarize([path])
    path.write_text("[]")
    with pytest.raises(InputError, match="no task in it is annotated"):
        summarize([path])
