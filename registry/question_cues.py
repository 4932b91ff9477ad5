"""Cues: what a model gets beside a question, by a file of JSON Lines `{"id", "cue"}` that `REELBENCH_CUES` names.

Only the questions in the file are asked; an empty cue asks without one.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_jsonl, sha256_of
from reelbench.registry.values import is_object


@dataclass(frozen=True, slots=True)
class QuestionCues:
    """A file of cues: question id -> its cue, which may be empty, and the sha256 of the file's bytes."""

    by_id: dict[str, str]
    sha256: str

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a file; InputError names the line that is wrong, or says that there is none."""
        by_id: dict[str, str] = {}
        for number, line in read_jsonl(path):
            where = f"{path}, line {number}"
            if not is_object(line) or not all(isinstance(line.get(key), str) for key in ("id", "cue")):
                raise InputError(f'{where}: is not {{"id": "…", "cue": "…"}}')
            if line["id"] in by_id:
                raise InputError(f"{where}: the id {line['id']!r} occurs twice; keep one of them")
            by_id[line["id"]] = line["cue"]
        if not by_id:
            raise InputError(f"{path}: no cues in it, so nothing would be asked")
        return cls(by_id, sha256_of(path))
