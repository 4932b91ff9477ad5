"""Say in words what was verified of a result, and read files that the board itself wrote."""

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from reelbench.base import bounds
from reelbench.base.base_record import Record
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.judges.identity import (
    judges_by_schema,
    judges_under_several_ids,
    other_than_requested,
)
from reelbench.leaderboard.ledger import Verification
from reelbench.leaderboard.rejudge import Rejudged
from reelbench.leaderboard.rereading import is_current
from reelbench.registry import discovery
from reelbench.registry.records import JudgeRecord, Result
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import answers

RecordT = TypeVar("RecordT", bound=Record)


def known_spec(result: Result) -> BenchmarkSpec | None:
    """Return a result's benchmark. None where nobody declares it."""
    try:
        return discovery.spec_of(result.benchmark)
    except InputError:
        return None


def read_own(
    kind: type[RecordT], path: Path, what: str, todo: str, *, most: int = bounds.FILE_BYTES
) -> RecordT:
    """Read a file that the board wrote, of at most so many bytes.

    Raises:
        InputError: If it is not `what`, with what to do, or too large.
    """
    try:
        return kind.model_validate(read_json(path, most=most))
    except ValidationError as error:
        number = error.error_count()
        raise InputError(f"{path}: is not {what} ({number} fields are wrong); {todo}") from None


def summary(verified: Verification, result: Result, rejudged: Rejudged | None = None) -> str:
    """Return in one line what a reader must know of a result that holds.

    It is empty where the result is whole and all was computed again.
    """
    parts: list[str] = []
    if verified.partial:
        parts.append(f"partial, so not ranked: {verified.partial}")
    if result.judge is not None:
        parts += _judge_lines(result.judge)
    if not is_current(result):
        parts.append(
            f"answers of version {result.answers} of the rules are read again by version "
            f"{answers.VERSION}"
        )
    if verified.stated:
        parts.append(f"recomputed from the submitter's {' and '.join(verified.stated)}")
    if rejudged is not None:
        parts.append(str(rejudged))
    return "; ".join(parts)


def _judge_lines(judge: JudgeRecord) -> list[str]:
    ambiguous = judges_under_several_ids(judge)
    if ambiguous:
        return [f"not ranked: judge {name} answered under several ids" for name in ambiguous]
    lines = judges_by_schema(judge)
    for requested, returned in other_than_requested(judge):
        lines.append(f"judge {requested} was asked for, {returned} answered")
    return lines
