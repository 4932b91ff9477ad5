"""Files on a benchmark's questions that the user or the environment names: which are asked, beside what, and how put.

Cues are what a model gets beside a question, by JSON Lines `{"id", "cue"}` of `REELBENCH_CUES`:
only the questions in the file are asked; an empty cue asks without one. `REELBENCH_LANGUAGE` is the
language that all questions are put in, by JSON Lines `{"id", "language", "question"}` of
`REELBENCH_TRANSLATIONS`; one that is in it by itself stays as it is.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.base.files import (
    read_json_or_jsonl,
    read_jsonl,
    read_text,
    sha256_of,
    sha256_of_names,
    write_text,
)
from reelbench.base.languages import language_of
from reelbench.base.values import is_array, is_id, is_object
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec

log = logging.getLogger("reelbench")

_JSON = frozenset({".json", ".jsonl", ".ndjson"})


@dataclass(frozen=True, slots=True)
class QuestionIds:
    """Some of a benchmark's questions; never none."""

    ids: frozenset[str]

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read an id a line, or JSON (Lines) of ids or of objects with an `id`; InputError for anything else."""
        if Path(path).suffix.lower() in _JSON:
            document = read_json_or_jsonl(path)
            names = list[str]()
            for entry in document if is_array(document) else [document]:
                name = entry.get("id") if is_object(entry) else entry
                if not is_id(name):
                    raise InputError(
                        f"{path}: {entry!r} is not an id, nor an object with one; give an id a line"
                    )
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
            raise InputError(
                f"{where}: has no question {lacking[0]!r}, nor {len(lacking) - 1} more that --ids names"
            )

    @property
    def sha256(self) -> str:
        """A hash of them, whatever their order in the file."""
        return sha256_of_names(self.ids)


def _texts(path: Path | str, *keys: str, blank: bool = False) -> dict[tuple[str, ...], str]:
    """Read JSON Lines of texts: the values of the first keys -> the last's; InputError names the line that is wrong."""
    texts: dict[tuple[str, ...], str] = {}
    for number, line in read_jsonl(path):
        where = f"{path}, line {number}"
        found: list[Any] = [line.get(key) if is_object(line) else None for key in keys]
        if not all(isinstance(value, str) for value in found) or not (blank or found[-1].strip()):
            form = ", ".join(f'"{key}": "…"' for key in keys)
            raise InputError(f"{where}: is not {{{form}}}")
        *names, text = found
        if tuple(names) in texts:
            named = " in ".join([repr(names[0]), *names[1:]])
            raise InputError(f"{where}: the id {named} occurs twice; keep one of them")
        texts[*names,] = text
    return texts


@dataclass(frozen=True, slots=True)
class QuestionCues:
    """A file of cues: question id -> its cue, which may be empty, and the sha256 of the file's bytes."""

    by_id: dict[str, str]
    sha256: str

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a file; InputError names the line that is wrong, or says that there is none."""
        by_id = {name: cue for (name,), cue in _texts(path, "id", "cue", blank=True).items()}
        if not by_id:
            raise InputError(f"{path}: no cues in it, so nothing would be asked")
        return cls(by_id, sha256_of(path))


def is_in(row: Mapping[str, Any], language: str) -> bool:
    """Whether a row's question is in a language by itself; regions don't count (`es` is the language of `es-MX`)."""
    return language_of(row["language"]) == language_of(language)


def read_translations(path: Path) -> dict[tuple[str, str], str]:
    """Read a file -> (question id, language) -> the question; InputError names the line that is wrong."""
    return {
        (name, tag): text
        for (name, tag), text in _texts(path, "id", "language", "question").items()
    }


@dataclass(frozen=True, slots=True)
class Translations:
    """The questions in one language (a BCP-47 tag) by id; `sha256` is the file's, None where none was needed."""

    language: str
    by_id: Mapping[str, str]
    sha256: str | None = None

    @classmethod
    def from_environment(cls) -> Self | None:
        """Return the environment's translations, None where it names no language; InputError as `read_translations`."""
        language, path = settings.LANGUAGE.get(), settings.TRANSLATIONS.get()
        if not language:
            return None
        if not path:
            return cls(language, {})
        questions = {
            name: text
            for (name, tag), text in read_translations(Path(path)).items()
            if tag == language
        }
        return cls(language, questions, sha256_of(path))

    def lacking(self, spec: BenchmarkSpec, rows: Collection[Row]) -> set[str]:
        """Return the ids of the rows that are in another language and have no translation, and say how many.

        InputError where the benchmark's questions have options, or none of them is there in the
        language.
        """
        if spec.row_kind != "open":
            raise InputError(
                f"{settings.LANGUAGE.name}: {spec.id} has options, which stay in their language; leave it out"
            )
        lacking = {
            row["id"]
            for row in rows
            if row["id"] not in self.by_id and not is_in(row, self.language)
        }
        if lacking and len(lacking) == len(rows):
            raise InputError(f"{settings.TRANSLATIONS.name}: has no question in {self.language}")
        if lacking:
            some = f"{len(lacking)} of {len(rows)} questions"
            log.warning(
                "%s: %s are left out because they have no translation into %s",
                spec.id,
                some,
                self.language,
            )
        return lacking

    def translated(self, row: Row) -> Row:
        """Return a row with its question, and so its prompt, in the language."""
        if is_in(row, self.language):
            return row
        return {**row, "language": self.language, "question": self.by_id[row["id"]]}
