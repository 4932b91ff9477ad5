"""Prediction files of benchmarks that a `benchmark.yaml` declares: tables of ids and texts alone."""

from typing import Any, NoReturn

from reelbench.registry.errors import InputError
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.submissions import Inputs


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a document is in the owners' own format: there is none."""
    del document
    return False


def read(spec: BenchmarkSpec, inputs: Inputs) -> NoReturn:
    """Refuse what is no table."""
    raise InputError(f"{inputs.predictions}: {spec.id} has no file format of its own; give ids and predictions")


def submission_row(sample: Sample) -> dict[str, Any]:
    """Return a sample of a split whose answers are hidden as a line that `reelbench score` reads where they are."""
    return {"id": sample.id, "prediction": sample.prediction or ""}
