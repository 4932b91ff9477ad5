"""Which questions of a benchmark are meant, where not all are: a file of ids that the user or the environment names."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json_or_jsonl, read_text, sha256_of_names, write_text
from reelbench.registry.values import is_array, is_id, is_object

_JSON = frozenset({".json", ".jsonl", ".ndjson"})


@dataclass(frozen=True, slots=True)
class QuestionIds:
    """Some of a benchmark's questions; never none."""

    ids: frozenset[str]

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a file: an id a line, or JSON (Lines) of ids or of objects with an `id`, as `samples.jsonl`.

        InputError where it holds none, or something else.
        """
        if Path(path).suffix.lower() in _JSON:
            document = read_json_or_jsonl(path)
            names = list[str]()
            for entry in document if is_array(document) else [document]:
                name = entry.get("id") if is_object(entry) else entry
                if not is_id(name):
                    raise InputError(f"{path}: {entry!r} is not an id, nor an object with one; give an id a line")
                names.append(str(name))
        else:
            names = [line for line in map(str.strip, read_text(path).splitlines()) if line]
        if not names:
            raise InputError(f"{path}: no id in it; give one a line")
        return cls(frozenset(names))

    def write(self, path: Path) -> None:
        """Write them as `read` takes them."""
        write_text(path, "".join(f"{name}\n" for name in sorted(self.ids)))

    def check(self, known: Iterable[str], where: str) -> None:
        """Raise InputError where one of them is not among the ids that `where` has."""
        if lacking := sorted(self.ids - set(known)):
            raise InputError(f"{where}: has no question {lacking[0]!r}, nor {len(lacking) - 1} more that --ids names")

    @property
    def sha256(self) -> str:
        """A hash of them, whatever their order in the file."""
        return sha256_of_names(self.ids)
