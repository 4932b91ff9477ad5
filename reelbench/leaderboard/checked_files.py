"""The files of a store that this machine hashed, known again by their sizes and times.

A build of a store of a thousand rows would else hash every file for one more row. `check` hashes
them all. The record is in `REELBENCH_HOME`: whoever can write to a store can't say that its files
were checked.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base import files
from reelbench.base.settings import record_of
from reelbench.base.values import is_array
from reelbench.leaderboard.code_state import file_states

if TYPE_CHECKING:
    from reelbench.leaderboard.board_state import FiledRow

FOLDER = "checked"


class CheckedFiles:
    """The files of a store, and which of them are those that were hashed before."""

    def __init__(self, store: Path) -> None:
        """Look at a store's files. Links are not followed."""
        self.states: Mapping[str, list[int]] = dict(file_states(store))
        self._record = record_of(store, FOLDER)
        document = files.read_record(self._record) or {}
        self._entries = {path: entry for path, entry in document.items() if is_array(entry)}

    def has(self, row: "FiledRow", names: Iterable[str]) -> bool:
        """Return True where a row's files are known to be those filed.

        Args:
            row: The row.
            names: The files that it may have.
        """
        if not row.files:
            return False
        for name in names:
            path = f"{row.key}/{name}"
            if name not in row.files:
                if path in self.states:
                    return False
            elif self._entries.get(path) != self._entry(path, row.files[name]):
                return False
        return True

    def _entry(self, path: str, sha256: str) -> list[Any]:
        """Return the entry of a file: its size, its time, its hash."""
        return [*self.states.get(path, ()), sha256]

    def remember(self, rows: "Iterable[FiledRow]") -> None:
        """Remember the files of rows, all of which were hashed."""
        entries: dict[str, list[Any]] = {}
        for row in rows:
            for name, sha256 in row.files.items():
                path = f"{row.key}/{name}"
                if path in self.states:
                    entries[path] = self._entry(path, sha256)
        if entries != self._entries:
            self._record.parent.mkdir(parents=True, exist_ok=True)
            # Keys, numbers and hashes, of which the ledger has most.
            files.write_text(self._record, json.dumps(entries, ensure_ascii=False))
            self._entries = entries
