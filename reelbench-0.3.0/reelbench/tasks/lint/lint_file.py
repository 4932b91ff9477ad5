"""`lint.json` beside a benchmark: what `data lint --write` found, for its card and for boards."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from reelbench.base import bounds
from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_json
from reelbench.base.values import is_object

NAME = "lint.json"


class LintedSplitRecord(BaseModel, frozen=True):
    """A split as it was linted."""

    rows: int
    fingerprint: str


class RuleRecord(BaseModel, frozen=True):
    """A rule's findings."""

    title: str
    findings: int
    accepted: int


class WordsRecord(BaseModel, frozen=True):
    """The score of words alone on a split, in percent."""

    value: float
    chance: float
    ci95: tuple[float, float] | None
    constant: float
    finding: bool

    def in_words(self, split: str) -> str:
        """Return the score beside chance and the best letter."""
        text = f"words alone, trained: {self.value:.1f} % of {split} (chance {self.chance:.1f}"
        if self.ci95 is not None:
            low, high = self.ci95
            text += f"; 95 % interval {low:.1f} to {high:.1f}"
        return f"{text}); always one letter: {self.constant:.1f} %"


class WordsAloneRecord(BaseModel, frozen=True):
    """The scores of words alone."""

    title: str
    splits: dict[str, WordsRecord]


class LintRecord(BaseModel, frozen=True):
    """The file, as far as it is read."""

    benchmark: str
    version: int
    reelbench: str
    splits: dict[str, LintedSplitRecord]
    findings: int
    accepted: int
    rules: dict[str, RuleRecord]
    words_alone: WordsAloneRecord

    @property
    def summary(self) -> str:
        """The numbers of questions and findings, in words."""
        rows = sum(split.rows for split in self.splits.values())
        questions = number_of(rows, "question")
        text = f"({self.reelbench}) looked at {questions}: "
        if not self.findings:
            return f"{text}nothing found."
        text += number_of(self.findings, "finding")
        if self.accepted:
            text += f", {self.accepted:,} of them accepted by the authors"
        return f"{text}."


def read(folder: Path) -> LintRecord | None:
    """Return the record of a benchmark's folder. None where it has none.

    Raises:
        InputError: The file is damaged.
    """
    path = folder / NAME
    if not path.is_file():
        return None
    document: Any = read_json(path, most=bounds.BESIDE_BYTES)
    if not is_object(document):
        raise InputError(f"{path}: expected what `reelbench data lint --write` writes; run it")
    return record_of(LintRecord, document, str(path))
