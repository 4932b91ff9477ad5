"""Questions in another language: a file of JSON Lines `{"id", "language", "question"}` that the environment names.

`REELBENCH_LANGUAGE` is the language that all questions are put in, `REELBENCH_TRANSLATIONS` the file. A question that
is in that language by itself stays as it is.
"""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from reelbench.registry import settings
from reelbench.registry.errors import InputError
from reelbench.registry.files import read_jsonl, sha256_of
from reelbench.registry.languages import language_of
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.values import is_object

log = logging.getLogger("reelbench")


def is_in(row: Mapping[str, Any], language: str) -> bool:
    """Whether a row's question is in a language by itself; regions don't count (`es` is the language of `es-MX`)."""
    return language_of(row["language"]) == language_of(language)


def read(path: Path) -> dict[tuple[str, str], str]:
    """Read a file -> (question id, language) -> the question; InputError names the line that is wrong."""
    questions: dict[tuple[str, str], str] = {}
    for number, line in read_jsonl(path):
        where = f"{path}, line {number}"
        fields = line if is_object(line) else {}
        name, language, question = (fields.get(key) for key in ("id", "language", "question"))
        if not (isinstance(name, str) and isinstance(language, str) and isinstance(question, str) and question.strip()):
            raise InputError(f'{where}: is not {{"id": "…", "language": "…", "question": "…"}}')
        if (name, language) in questions:
            raise InputError(f"{where}: {name!r} in {language} occurs twice; keep one of them")
        questions[name, language] = question
    return questions


@dataclass(frozen=True, slots=True)
class Translations:
    """The questions in one language (a BCP-47 tag) by id; `sha256` is the file's, None where none was needed."""

    language: str
    by_id: Mapping[str, str]
    sha256: str | None = None

    @classmethod
    def from_environment(cls) -> Self | None:
        """Return the environment's translations, None where it names no language; for the errors see `read`."""
        language, path = settings.LANGUAGE.get(), settings.TRANSLATIONS.get()
        if not language:
            return None
        if not path:
            return cls(language, {})
        questions = {name: text for (name, tag), text in read(Path(path)).items() if tag == language}
        return cls(language, questions, sha256_of(path))

    def lacking(self, spec: BenchmarkSpec, rows: Collection[Row]) -> set[str]:
        """Return the ids of the rows that are in another language and have no translation, and say how many.

        InputError where the benchmark's questions have options, or none of them is there in the language.
        """
        if spec.row_kind != "open":
            raise InputError(
                f"{settings.LANGUAGE.name}: {spec.id} has options, which stay in their language; leave it out"
            )
        lacking = {row["id"] for row in rows if row["id"] not in self.by_id and not is_in(row, self.language)}
        if lacking and len(lacking) == len(rows):
            raise InputError(f"{settings.TRANSLATIONS.name}: has no question in {self.language}")
        if lacking:
            some = f"{len(lacking)} of {len(rows)} questions"
            log.warning("%s: %s are left out because they have no translation into %s", spec.id, some, self.language)
        return lacking

    def translated(self, row: Row) -> Row:
        """Return a row with its question, and so its prompt, in the language."""
        if is_in(row, self.language):
            return row
        return {**row, "language": self.language, "question": self.by_id[row["id"]]}
