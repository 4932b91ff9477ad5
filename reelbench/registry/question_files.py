"""Files on a benchmark's questions: the ids to ask, cues beside them, and translations.

Cues are what a model gets beside a question, by JSON Lines `{"id", "cue"}` of `REELBENCH_CUES`:
only the questions in the file are asked. An empty cue asks without one. `REELBENCH_LANGUAGE` is the
language that all questions are put in, by JSON Lines `{"id", "language", "question"}` of
`REELBENCH_TRANSLATIONS`. One that is in it by itself stays as it is.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

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
    """Some of a benchmark's questions. Never none."""

    ids: frozenset[str]

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read an id a line, or JSON (Lines) of ids or objects with an `id`.

        Raises:
            InputError: The file has anything else, or no id.
        """
        if Path(path).suffix.lower() in _JSON:
            ids = _ids_of_json(path)
        else:
            lines = map(str.strip, read_text(path).splitlines())
            ids = [line for line in lines if line]
        if not ids:
            raise InputError(f"{path}: no id in it; give one id per line")
        return cls(frozenset(ids))

    def write(self, path: Path) -> None:
        """Write the ids as `read` takes them."""
        write_text(path, "".join(f"{name}\n" for name in sorted(self.ids)))

    def check(self, known_ids: Iterable[str], where: str) -> None:
        """Raise InputError where an id is not among the known ones, which `where` has."""
        lacking_ids = sorted(self.ids - set(known_ids))
        if lacking_ids:
            raise InputError(
                f"{where}: has no question {lacking_ids[0]!r}, nor {len(lacking_ids) - 1} more "
                "that --ids names"
            )

    @property
    def sha256(self) -> str:
        """A hash of the ids, whatever their order in the file."""
        return sha256_of_names(self.ids)


def _ids_of_json(path: Path | str) -> list[str]:
    document = read_json_or_jsonl(path)
    ids: list[str] = []
    for entry in document if is_array(document) else [document]:
        question_id = entry.get("id") if is_object(entry) else entry
        if not is_id(question_id):
            raise InputError(
                f"{path}: {entry!r} is not an id or an object with one; give one id per line"
            )
        ids.append(str(question_id))
    return ids


def _read_texts(path: Path | str, *keys: str, blank: bool = False) -> dict[tuple[str, ...], str]:
    """Read JSON Lines of texts: values of the first keys -> the last one's.

    Args:
        path: The file.
        *keys: Keys of each object. The first is a question's id.
        blank: The last key's text may be blank.

    Raises:
        InputError: A line is wrong. It is named.
    """
    texts: dict[tuple[str, ...], str] = {}
    for number, line in read_jsonl(path):
        where = f"{path}, line {number}"
        values = _values_of(line, keys)
        is_complete = len(values) == len(keys)
        if not is_complete or not (blank or values[-1].strip()):
            form = ", ".join(f'"{key}": "…"' for key in keys)
            raise InputError(f"{where}: is not {{{form}}}")
        names = tuple(values[:-1])
        if names in texts:
            shown_id = repr(names[0])
            shown_names = " in ".join([shown_id, *names[1:]])
            raise InputError(f"{where}: the id {shown_names} occurs twice; keep one of them")
        texts[names] = values[-1]
    return texts


def _values_of(line: object, keys: Sequence[str]) -> list[str]:
    """Return the texts under keys, without those that a line lacks."""
    if not is_object(line):
        return []
    return [line[key] for key in keys if isinstance(line.get(key), str)]


@dataclass(frozen=True, slots=True)
class QuestionCues:
    """A file of cues.

    Attributes:
        by_id: Question id -> its cue, which may be empty.
        sha256: Of the file's bytes.
    """

    by_id: dict[str, str]
    sha256: str

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """Read a file. InputError names the line that is wrong."""
        texts = _read_texts(path, "id", "cue", blank=True)
        if not texts:
            raise InputError(f"{path}: it has no subtitles, so nothing would be shown")
        cue_by_id = {question_id: cue for (question_id,), cue in texts.items()}
        return cls(cue_by_id, sha256_of(path))


def is_in(row: Mapping[str, str], language: str) -> bool:
    """Return True where a row's question is in a language by itself.

    Regions don't count: `es` is the language of `es-MX`.
    """
    return language_of(row["language"]) == language_of(language)


def read_translations(path: Path) -> dict[tuple[str, str], str]:
    """Read a file as (question id, language) -> the question.

    Raises:
        InputError: A line is wrong. It is named.
    """
    texts = _read_texts(path, "id", "language", "question")
    return {(question_id, tag): text for (question_id, tag), text in texts.items()}


@dataclass(frozen=True, slots=True)
class Translations:
    """The questions in one language.

    Attributes:
        language: A BCP-47 tag.
        by_id: Question id -> the question in it.
        sha256: Of the file. None where no file was needed.
    """

    language: str
    by_id: Mapping[str, str]
    sha256: str | None = None

    @classmethod
    def from_environment(cls) -> Self | None:
        """Return the environment's translations. None where it names no language.

        Raises:
            InputError: As `read_translations`.
        """
        language = settings.LANGUAGE.get()
        path = settings.TRANSLATIONS.get()
        if not language:
            return None
        if not path:
            return cls(language, {})
        questions: dict[str, str] = {}
        for (question_id, tag), text in read_translations(Path(path)).items():
            if tag == language:
                questions[question_id] = text
        return cls(language, questions, sha256_of(path))

    def lacking(self, spec: BenchmarkSpec, rows: Collection[Row]) -> set[str]:
        """Return the ids of the rows that have no translation, with a warning.

        Rows that are in the language by themselves need none.

        Raises:
            InputError: The benchmark's questions have options, or none is there in the language.
        """
        if spec.row_kind != "open":
            raise InputError(
                f"{settings.LANGUAGE.name}: {spec.id} has options, which stay in their language; "
                "leave it out"
            )
        rows_to_translate = [row for row in rows if not is_in(row, self.language)]
        lacking_ids = {row["id"] for row in rows_to_translate if row["id"] not in self.by_id}
        if not lacking_ids:
            return lacking_ids
        if len(lacking_ids) == len(rows):
            raise InputError(f"{settings.TRANSLATIONS.name}: has no question in {self.language}")
        log.warning(
            "%s: %s are left out because they have no translation into %s",
            spec.id,
            f"{len(lacking_ids)} of {len(rows)} questions",
            self.language,
        )
        return lacking_ids

    def translated(self, row: Row) -> Row:
        """Return a row with its question, and so its prompt, in the language."""
        if is_in(row, self.language):
            return row
        return {**row, "language": self.language, "question": self.by_id[row["id"]]}
