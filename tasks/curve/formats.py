"""CURVE's prediction files: JSON Lines (or a list) of `{"key", "pred"}`, held against `curve.json`."""

from pathlib import Path
from typing import Any

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json_or_jsonl
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks import submissions
from reelbench.tasks.curve import data

EXPECTED = '"key" (the question\'s) and "pred" (the answer\'s text)'


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a document is meant to be in this format: some entry has both fields."""
    entries = document if isinstance(document, list) else [document]
    return any(isinstance(entry, dict) and {"key", "pred"} <= entry.keys() for entry in entries)


def read(spec: BenchmarkSpec, inputs: submissions.Inputs) -> submissions.PredictionSet:
    """Read predictions and hold them against their references."""
    predictions = read_predictions(spec, inputs.predictions)
    references, source, split = submissions.references_of(spec, inputs, read_references)
    return submissions.join(predictions, references, source, path=inputs.predictions, split=split)


def read_references(path: Path) -> list[submissions.Reference]:
    """Read the owners' annotation file."""
    references = [
        submissions.Reference(
            entry["key"],
            data.video(entry, where),
            {"text": data.text(entry, "answer", where)},
            {"locale": [data.locale(entry, where)], "category": data.category(entry)},
            data.text(entry, "question", where),
        )
        for where, entry in data.entries(path)
    ]
    if not references:
        raise InputError(f"{path}: no questions in it; expected the owners' curve.json")
    return references


def read_predictions(spec: BenchmarkSpec, path: Path) -> dict[str, submissions.Prediction]:
    """Read predictions by key; InputError where one occurs twice."""
    predictions: dict[str, submissions.Prediction] = {}
    for where, key, entry in submissions.listed(
        path, read_json_or_jsonl(path), "key", EXPECTED, lambda entry: "pred" not in entry
    ):
        if not isinstance(entry["pred"], str):
            raise InputError(f"{where}: 'pred' is a {type(entry['pred']).__name__}, expected the answer's text")
        predictions[key] = submissions.answered(spec, entry["pred"])
    return predictions


def submission_row(sample: Sample) -> dict[str, Any]:
    """Return a sample as a line of a predictions file."""
    return {"key": sample.id, "pred": sample.prediction or ""}
