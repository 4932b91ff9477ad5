"""The rows that a profile is made of: a benchmark's, or the user's own."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.registry.data import loading
from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json_or_jsonl, read_jsonl
from reelbench.registry.rows import LETTERS, Row, steps
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.values import is_number

_NUMBERED = re.compile(r"^\s*\(?\d+\s*[.):]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One question of a dataset, as far as a profile looks at it.

    Spans are [start, end] in seconds, `duration` is the video's length in seconds; empty or None where unknown.
    """

    id: str
    question: str
    answer: str | None = None
    language: str = "en"
    video: str = ""
    span: tuple[float, ...] = ()
    question_span: tuple[float, ...] = ()
    duration: float | None = None
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    reasoning_steps: int | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """What is profiled: its name, its questions, and the benchmark it is, if it is one."""

    name: str
    entries: list[ProfileRow]
    spec: BenchmarkSpec | None = None


def read_benchmark(name: str, split: str | None = None, data: Path | None = None) -> Dataset:
    """Read a benchmark's (or one of its tasks') rows; errors as in `registry.data.loading.locate`."""
    located = loading.locate(name, split, data)
    entries = [_profile_row(located.spec, row) for row in located.read()]
    return Dataset(name if split is None else f"{name} {split}", entries, located.spec)


def _profile_row(spec: BenchmarkSpec, row: Row) -> ProfileRow:
    answer = row.get("answer") or None
    if answer is not None and spec.asks_choice:
        answer = row["options"][LETTERS.index(answer)]
    labels = {facet.name: row[facet.name] for facet in spec.facets if facet.in_rows}
    if "skills" in row:
        labels["skills"] = row["skills"]
    told = steps(row)
    return ProfileRow(
        id=row["id"],
        question=row["question"],
        answer=answer,
        language=row["language"],
        video=row["video"],
        span=tuple(row.get("span") or ()),
        duration=row.get("duration"),
        labels=labels,
        reasoning_steps=count_steps(told) if told else None,
    )


def count_steps(texts: Iterable[str]) -> int:
    """Return the number of reasoning steps: a text is one, or as many as it has numbers, or else lines."""
    return sum(len(_NUMBERED.findall(text)) or sum(bool(line.strip()) for line in text.splitlines()) for text in texts)


def read_file(path: Path, name: str | None = None) -> Dataset:
    """Read the user's own rows with `question` and, where there is one, `answer`.

    JSON Lines, a JSON list, or a JSON object whose values are the rows (as `make discussion` writes them). The data set
    is called `name`, or after the file.

    `id` (or `qid`), `language` (default `en`), `video`, `span`, `question_span` and `duration` are read too; other
    fields are left alone.

    Raises:
        InputError: names the file, the line and the field that is wrong.
    """
    if path.suffix == ".json":
        document = read_json_or_jsonl(path)
        if isinstance(document, dict) and "question" not in document:
            document = list(document.values())
        rows = list(enumerate(document if isinstance(document, list) else [document], start=1))
        unit = "entry"
    else:
        rows, unit = read_jsonl(path), "line"
    if not rows:
        raise InputError(f'{path}: no rows; expected one JSON object per line with "question" and "answer"')
    return Dataset(name or path.stem, [_own_row(row, f"{path}, {unit} {number}", str(number)) for number, row in rows])


def _own_row(row: Any, where: str, number: str) -> ProfileRow:  # noqa: ANN401 - any JSON value
    if not isinstance(row, dict):
        raise InputError(f'{where}: expected an object with "question" and "answer", found {type(row).__name__}')
    question, answer, language = row.get("question"), row.get("answer"), row.get("language") or "en"
    if not isinstance(question, str) or not question.strip():
        raise InputError(f'{where}, field "question": expected text, found {question!r}')
    if answer is not None and not isinstance(answer, str):
        raise InputError(f'{where}, field "answer": expected text, found {answer!r}')
    if not isinstance(language, str):
        raise InputError(f'{where}, field "language": expected a tag such as "en", found {language!r}')
    duration = row.get("duration")
    if duration is not None and not (is_number(duration) and duration > 0):
        raise InputError(f'{where}, field "duration": expected seconds above 0, found {duration!r}')
    return ProfileRow(
        id=str(row.get("id", row.get("qid", number))),
        question=question,
        answer=answer if answer and answer.strip() else None,
        language=language,
        video=str(row.get("video") or ""),
        span=_span(row, "span", where),
        question_span=_span(row, "question_span", where),
        duration=duration,
    )


def _span(row: Mapping[str, Any], name: str, where: str) -> tuple[float, ...]:
    value = row.get(name)
    if value is None or value == []:
        return ()
    if not isinstance(value, list) or len(value) != 2 or not all(map(is_number, value)) or value[0] > value[1]:  # noqa: PLR2004
        raise InputError(f'{where}, field "{name}": expected [start, end] in seconds, found {value!r}')
    return float(value[0]), float(value[1])


def read_question_spans(path: Path) -> dict[str, tuple[float, ...]]:
    """Read spans by question id from JSON Lines of `qid` (or `id`) and `span`; InputError names what is wrong."""
    spans = {}
    for number, row in read_jsonl(path):
        where = f"{path}, line {number}"
        if not isinstance(row, dict) or ("qid" not in row and "id" not in row):
            raise InputError(f'{where}: expected an object with "qid" and "span"')
        spans[str(row.get("qid", row.get("id")))] = _span(row, "span", where)
    return spans
