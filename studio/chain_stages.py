"""Where a chain is stopped: a stage's file, which people may edit, and the account that a later run goes on from."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError

from reelbench.registry.base_record import Record, first_wrong_field
from reelbench.registry.errors import InputError
from reelbench.registry.files import open_aside, read_json, sha256_of, write_json, write_jsonl
from reelbench.studio.funnel import FunnelRecord


class _Account(Record):
    """What a stage's file took: its sha256 as it was written, and the funnel up to there."""

    file_sha256: str
    funnel: FunnelRecord


@dataclass(frozen=True, slots=True)
class EarlierStages:
    """What a chain came to before it was stopped: its funnel, and the file of what was asked."""

    funnel: FunnelRecord
    trace: Path

    @classmethod
    def read(cls, folder: Path, stage: str) -> Self | None:
        """Read what `save_stage` wrote; None where the stage's file was made without it, as people may write one.

        Raises:
            InputError: The account is damaged.
        """
        path, trace = _account(folder, stage), _trace(folder, stage)
        if not path.is_file() or not trace.is_file():
            return None
        try:
            account = _Account.model_validate(read_json(path))
        except ValidationError as error:
            raise InputError(f"{path}, {first_wrong_field(error)}; write it anew with --until {stage}") from None
        funnel = account.funnel
        if sha256_of(folder / stage_file(stage)) != account.file_sha256:
            funnel = funnel.model_copy(update={"edited_after": (*(funnel.edited_after or ()), stage)})
        return cls(funnel, trace)


def save_stage(folder: Path, stage: str, lines: Iterable[dict[str, Any]], funnel: FunnelRecord, trace: Path) -> None:
    """Write what a chain has after a stage, which people may edit, and beside it the account of how it came about."""
    path = folder / stage_file(stage)
    write_jsonl(path, lines)
    with trace.open("rb") as source, open_aside(_trace(folder, stage), "wb") as copy:
        shutil.copyfileobj(source, copy)
    account = _Account(file_sha256=sha256_of(path), funnel=funnel)
    write_json(_account(folder, stage), account.model_dump(mode="json", by_alias=True))


def stage_file(stage: str) -> str:
    """Return the name of the file that `--until` writes and `--from` reads."""
    return f"{stage.replace(' ', '_')}.jsonl"


def _account(folder: Path, stage: str) -> Path:
    return (folder / stage_file(stage)).with_suffix(".account.json")


def _trace(folder: Path, stage: str) -> Path:
    return (folder / stage_file(stage)).with_suffix(".trace.jsonl")
