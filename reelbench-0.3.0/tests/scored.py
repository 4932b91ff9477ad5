"""Scoring a file, or a run, into a folder, as `reelbench score` does."""

import pytest

from reelbench import registry
from reelbench.tasks import score, score_runs


def score_files(name, inputs, folder, options, *, model=None):
    return score.score_files(name, inputs, options, metadata=score.RunMetadata(model=model)).write(
        folder
    )


def score_run(*run, **more):
    return [
        evaluation.write(folder) for evaluation, folder in score_runs.run_evaluations(*run, **more)
    ]


def benchmarks(names):
    """Benchmarks as parameters of a test that scores them whole: text overlap starts Java."""
    return [
        pytest.param(name, marks=pytest.mark.java)
        if "text_overlap" in registry.get(name).kinds
        else name
        for name in names
    ]
