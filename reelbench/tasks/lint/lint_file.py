"""`lint.json` beside a benchmark: what `data lint --write` found, for its card."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from reelbench.base import bounds
from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
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


def read(folder: Path) -> LintRecord | None:
    """Return the record of a benchmark's folder; None where it has none.

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
