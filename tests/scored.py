"""Scoring a file into a folder, as `reelbench score --output` does."""

from reelbench.tasks import score


def score_files(name, inputs, folder, options, *, model=None):
    return score.score_files(name, inputs, options, said=score.Said(model=model)).write(folder)
