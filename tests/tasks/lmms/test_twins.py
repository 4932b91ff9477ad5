"""Runs of lmms-eval's own tasks on rows that are ours too: the answers are read by our readers."""

import json

import pytest

import reelbench
from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.tasks.score import Options
from tests.scored import score_run

SPECS = registry.specs()


@pytest.fixture
def logged(tmp_path, monkeypatch):
    """Write a run as lmms-eval 0.7.3 does, a line a row of the mini data; returns its folder."""

    def write(name, task, line, results=None):
        spec = SPECS[name]
        monkeypatch.setenv(f"REELBENCH_DATA_{name.upper()}", str(spec.folder / "mini"))
        document = {
            "results": {task: results or {}},
            "configs": {task: {"generation_kwargs": {"temperature": 0}}},
        }
        folder = tmp_path / "run"
        folder.mkdir()
        (folder / "1_results.json").write_text(
            json.dumps(document | {"config": {"model": "openai"}})
        )
        lines = (line(n, row) for n, row in enumerate(reelbench.load(name, "mini")))
        (folder / f"1_samples_{task}.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in lines)
        )
        return folder

    return write


REPLIES = [
    "B",
    "(C)",
    "The answer is A.",
    "I can't tell.",
    "Answer: D",
    "Because At first it moves.",
] * 2
LAST_CAPITAL = ["B", "C", "A", "E", "D", "A"] * 2
"""What lmms-eval's own reader makes of them: the last capital A to E, and a letter at random where there is none."""


def minerva_line(n, row):
    own = {
        "id": row["id"],
        "pred_answer": LAST_CAPITAL[n],
        "score": float(LAST_CAPITAL[n] == row["answer"]),
    }
    return {"doc_id": n, "target": row["answer"], "filtered_resps": REPLIES[n], "minerva_acc": own}


def test_minerva_is_read_by_its_ids(logged):
    [outcome] = score_run(logged("minerva", "minerva", minerva_line), None, Options())
    rows = reelbench.load("minerva", "mini")
    ours = ["B", "C", "A", None, "D", None] * 2
    right = sum(letter == row["answer"] for letter, row in zip(ours, rows, strict=True))
    result = outcome.result
    assert result.metrics["accuracy"].value == pytest.approx(100 * right / 12)
    assert (result.benchmark.id, result.benchmark.split) == ("minerva", "test")
    assert (result.counts.scored, result.counts.parse_failed) == (12, 4)
    assert (result.settings.label, result.settings.prompt_sha256) == (
        "lmms-eval's task minerva",
        None,
    )
    [note] = outcome.notes
    assert note.startswith(
        "minerva: read by our readers; 4 of 12 readings differ from lmms-eval's own"
    )
    assert note.endswith("(first mini4: ours none, lmms-eval's E)")


def test_rows_without_an_id_are_found_by_their_place_and_their_question(logged):
    def line(n, row):
        asked = "\n".join([f"Question: {row['question']}", *row["options"]])
        return {
            "doc_id": n, "input": asked, "filtered_resps": row["answer"], "video_holmes_accuracy": {"score": n % 2}
        }  # fmt: skip

    [outcome] = score_run(logged("video_holmes", "video_holmes", line), None, Options())
    assert outcome.result.metrics["accuracy"].value == 100
    assert "6 of 12 readings differ" in outcome.notes[0]
    assert "ours right, lmms-eval's wrong" in outcome.notes[0]


def test_spans_are_read_and_its_own_figures_told(logged):
    def line(n, row):
        start, end = row["span"]
        details = {f"{row['video']}: {row['question']}": "…"}
        return {
            "doc_id": n, "input": f"When? {row['question']}", "filtered_resps": f"From {start} to {end} seconds",
            "timelens_mIOU": details,
        }  # fmt: skip

    figures = {
        "alias": "timelens_charades",
        "timelens_mIOU,none": 41.666,
        "timelens_mIOU_stderr,none": "N/A",
    }
    [outcome] = score_run(logged("timelens", "timelens_charades", line, figures), None, Options())
    assert outcome.result.metrics["miou"].value == 100
    assert outcome.result.benchmark.split == "charades"
    assert outcome.notes[0].endswith("logs its readings in sum alone: timelens_mIOU 41.67")


def test_a_run_on_other_rows_is_refused(logged):
    folder = logged(
        "minerva",
        "minerva",
        lambda n, row: {**minerva_line(n, row), "minerva_acc": {"id": f"x{n}"}},
    )
    with pytest.raises(InputError, match="line 1: is about no question of minerva"):
        score_run(folder, None, Options())


@pytest.mark.lmms
def test_a_real_run_of_lmms_evals_own_task(tmp_path, monkeypatch):
    from lmms_eval.evaluator import simple_evaluate

    rows = SPECS["minerva"].folder / "mini" / "minerva.json"
    monkeypatch.setenv("REELBENCH_DATA_MINERVA", str(rows))
    local = {"task": "minerva", "dataset_kwargs": {"data_files": {"test": str(rows)}}}
    done = simple_evaluate(
        model="dummy", model_args="response=I see no square here.", tasks=[local], log_samples=True
    )
    (tmp_path / "1_results.json").write_text(
        json.dumps({key: done[key] for key in ("results", "configs", "config")}, default=str)
    )
    lines = (json.dumps(line, default=str) + "\n" for line in done["samples"]["minerva"])
    (tmp_path / "1_samples_minerva.jsonl").write_text("".join(lines))
    [outcome] = score_run(tmp_path, None, Options())
    assert outcome.result.metrics["accuracy"].value == 0  # lmms-eval: a random letter each
    assert "12 of 12 readings differ" in outcome.notes[0]
