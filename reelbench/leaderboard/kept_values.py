"""The values of runs on some of their videos, kept in `REELBENCH_HOME` by what they follow from.

A run that lacks a video has all others scored on the common videos too. Without these files, each
build would do that again for every row.
"""

from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from reelbench.base.files import sha256_of_names, written_aside
from reelbench.base.settings import kept_tables
from reelbench.leaderboard.code_state import code_state, digest_of
from reelbench.leaderboard.standing import Standing, standing
from reelbench.leaderboard.store import StoredResult
from reelbench.scoring import result_files

_VALUES = TypeAdapter(dict[str, Standing])


class KeptValues:
    """The values of one benchmark's runs on the videos that they have in common."""

    def __init__(self, benchmark: str) -> None:
        """Keep the values of a benchmark, given by its id."""
        self._benchmark = benchmark
        self._path: Path | None = None
        self._before: dict[str, Standing] = {}
        self._used: dict[str, Standing] = {}

    def of(self, stored: StoredResult) -> Standing:
        """Return the values of a run."""
        content = self._content_of(stored)
        if content is None:
            return standing(stored)
        values = self._before.get(content)
        if values is None:
            values = standing(stored)
        self._used[content] = values
        return values

    def _content_of(self, stored: StoredResult) -> str | None:
        """Return the hash of all that a run's values follow from.

        None where they can't be kept: it is several runs, or has no columns.
        """
        if stored.columns is None or stored.videos is None or stored.runs:
            return None
        if self._path is None:
            self._open(stored.columns.path.parent)
        row = stored.filed_row
        return digest_of(
            [
                stored.columns.sha256,
                row.files.get(result_files.RESULT_FILE),
                row.failed,
                row.partial,
                sha256_of_names(stored.videos),
                repr(stored.spec),
                code_state(),
            ]
        )

    def _open(self, folder: Path) -> None:
        """Read the values of a store, given by the folder of its columns."""
        digest = digest_of([str(folder.resolve()), self._benchmark])
        self._path = kept_tables() / f"{digest[:16]}.json"
        with suppress(OSError, ValidationError):  # there are none, or they are broken
            self._before = _VALUES.validate_json(self._path.read_bytes())

    def save(self) -> None:
        """Write the values that were used, where they are others than before."""
        if self._path is None or self._used.keys() == self._before.keys():
            return
        with suppress(OSError), written_aside(self._path) as aside:  # it is a cache
            aside.write_bytes(_VALUES.dump_json(self._used))
