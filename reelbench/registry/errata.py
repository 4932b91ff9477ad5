"""Errata of a benchmark: rows to leave out, and answers and spans to correct.

They stand in a file of JSON Lines, which `errata:` names in the benchmark's own file:

    {"id": "q7", "leave_out": true, "reason": "Two options are equal.", "source": "https://…"}
    {"id": "q9", "answer": "B", "reason": "He leaves by the window.", "source": "the owners"}

They change what answers are compared with, never a question: it was asked as it stands. So they are
applied where answers are scored, and one run can be scored with them and without.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reelbench.base import bounds
from reelbench.base.containment import contained
from reelbench.base.errors import InputError, first_of
from reelbench.base.files import hold_size, read_jsonl
from reelbench.base.values import is_array, is_number, is_object
from reelbench.registry import rows
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import upstream_split

if TYPE_CHECKING:
    from reelbench.registry.records import ErrataRecord, Item

ErrataChoice = Literal["apply", "ignore"]
"""The use of errata where answers are scored."""

LEAVE_OUT = "leave_out"
"""The key of a row that is left out, in the file and in rows with their errata."""

_CORRECTED = ("answer", "span")
_STATED = ("reason", "source")
_KEYS = ("id", "split", LEAVE_OUT, *_CORRECTED, *_STATED)
_ASKED = ("question", "options", "video", "videos")


@dataclass(frozen=True, slots=True)
class Erratum:
    """One line of the file.

    Attributes:
        where: Its place.
        id: The row.
        split: The row's split.
        changes: Columns of the row -> right values. Empty where the row is left out.
    """

    where: str
    id: str
    split: str
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def leaves_out(self) -> bool:
        """True where the row is left out."""
        return not self.changes

    def applied(self, spec: BenchmarkSpec, row: Row) -> Row:
        """Return a row with the correction, or marked as left out.

        Raises:
            InputError: The row can't have this answer.
        """
        if self.leaves_out:
            return {**row, LEAVE_OUT: True}
        corrected: Row = {**row, **self.changes}
        if "answer" in self.changes:
            if not rows.has_text_answer(spec, corrected):
                several = rows.allows_several_answers(spec)
                rows.check_answer(self.where, corrected, corrected["options"], several=several)
            if rows.ALSO.name in corrected:
                corrected[rows.ALSO.name] = []  # others' spellings of the wrong answer
        return corrected


@dataclass(frozen=True, slots=True)
class Errata:
    """The errata of one split, by the rows' ids."""

    spec: BenchmarkSpec
    path: Path
    by_id: Mapping[str, Erratum]

    @property
    def record(self) -> "ErrataRecord":
        """The record of a result to which they are applied."""
        from reelbench.registry.records import ErrataRecord

        changes: dict[str, Any] = {name: self.by_id[name].changes for name in sorted(self.by_id)}
        text = json.dumps(changes, sort_keys=True)
        left_out = sum(erratum.leaves_out for erratum in self.by_id.values())
        return ErrataRecord(
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            left_out=left_out,
            corrected=len(self.by_id) - left_out,
        )

    def check_ids(self, row_ids: Collection[str]) -> None:
        """Raise InputError where an erratum is of no row of its split."""
        for erratum in self.by_id.values():
            if erratum.id not in row_ids:
                raise InputError(
                    f"{erratum.where}: no row of split {erratum.split!r} has the id {erratum.id!r}"
                )

    def rows(self, split_rows: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of the split with their errata."""
        for row in split_rows:
            erratum = self.by_id.get(row["id"])
            yield row if erratum is None else erratum.applied(self.spec, row)

    def items(self, items: Iterable["Item"]) -> "Iterator[Item]":
        """Yield items with their errata, as they are to be scored."""
        for item in items:
            erratum = self.by_id.get(item.id)
            yield item if erratum is None else self._corrected_item(erratum, item)

    def _corrected_item(self, erratum: Erratum, item: "Item") -> "Item":
        from reelbench.registry.reasons import Reason

        if item.reason == Reason.MEDIA_MISSING:  # it was no part of the run
            return item
        if erratum.leaves_out:
            return item.model_copy(update={"reason": Reason.LEFT_OUT})
        row = erratum.applied(self.spec, _row_of(item))
        facets = {**item.facets, **rows.labels_from_span(self.spec, row)}
        return item.model_copy(update={"target": rows.target(self.spec, row), "facets": facets})


def _row_of(item: "Item") -> Row:
    """Return the columns of an item's row that a correction changes or is held to."""
    target = item.target
    ends: list[float] = []
    for span in target.get("spans", ()):
        ends += span
    return {
        "options": list(item.options),
        "answer": target.get("text", target.get("answer")),
        "span": ends,
        rows.ALSO.name: list(target.get("also", ())),
        rows.RUBRIC.name: target.get("rubric", ""),
    }


def read_errata(spec: BenchmarkSpec, split: str) -> Errata | None:
    """Return the errata of a split. None where it has none.

    Raises:
        InputError: The file is wrong. The line is named.
    """
    if not spec.errata:
        return None
    path = contained(spec.folder, spec.folder / spec.errata)
    if not path.is_file():
        raise InputError(f"{path}: no such file, which `errata` of {spec.id} names")
    hold_size(path, bounds.BESIDE_BYTES)
    by_id: dict[str, Erratum] = {}
    known_places: dict[tuple[str, str], str] = {}
    for number, line in read_jsonl(path):
        erratum = _parse_erratum(spec, line, f"{path}, line {number}")
        key = (erratum.split, erratum.id)
        if key in known_places:
            raise InputError(
                f"{erratum.where}: the id {erratum.id!r} already has an erratum, at "
                f"{known_places[key]}; keep one of them"
            )
        known_places[key] = erratum.where
        if erratum.split == split:
            by_id[erratum.id] = erratum
    return Errata(spec, path, by_id) if by_id else None


def _parse_erratum(spec: BenchmarkSpec, line: Any, where: str) -> Erratum:  # noqa: ANN401 - any JSON value
    if not is_object(line):
        raise InputError(f"{where}: expected an object with {', '.join(_KEYS)}")
    for key in line:
        if key in _ASKED:
            raise InputError(
                f'{where}: {key} has already been asked and can\'t be corrected; "leave_out": true '
                "leaves the row out"
            )
        if key not in _KEYS:
            raise InputError(f"{where}: unknown key {key!r}; there are {', '.join(_KEYS)}")
    for key in ("id", *_STATED):
        if not _is_text(line.get(key)):
            raise InputError(f"{where}: {key} is missing or not text")
    changes: dict[str, Any] = {}
    if "answer" in line:
        changes["answer"] = _answer(spec, line["answer"], where)
    if "span" in line:
        changes["span"] = _span_ends(spec, line["span"], where)
    if (line.get(LEAVE_OUT, False) is not True) == (not changes):
        raise InputError(f'{where}: expected either "leave_out": true, or the right answer or span')
    return Erratum(where, line["id"], _split_of_line(spec, line, where), changes)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _split_of_line(spec: BenchmarkSpec, line: Mapping[str, Any], where: str) -> str:
    """Return the split that a line is of, which the only one needn't be told."""
    names = list(spec.splits)
    if "split" not in line and len(names) == 1:
        return names[0]
    split = line.get("split")
    if not isinstance(split, str) or upstream_split(spec, split) not in names:
        raise InputError(f"{where}: split is {split!r}; expected one of {first_of(names)}")
    return split


def _answer(spec: BenchmarkSpec, answer: Any, where: str) -> str:  # noqa: ANN401 - any JSON value
    if spec.row_kind == "span":
        raise InputError(f"{where}: {spec.id} asks for spans, so correct `span`")
    if not isinstance(answer, str) or not answer.strip():
        form = "a letter" if spec.asks_choice else "a text"
        raise InputError(f"{where}: answer is {answer!r}, expected {form}")
    return answer


def _span_ends(spec: BenchmarkSpec, span: Any, where: str) -> list[float]:  # noqa: ANN401 - as above
    """Return the ends of a span, or of several, in a row."""
    if not spec.asks_span:
        raise InputError(f"{where}: {spec.id} asks for no span, so none can be corrected")
    spans: Sequence[Any] = [span]
    if is_array(span) and span and all(is_array(part) for part in span):
        spans = span
    ends: list[float] = []
    for part in spans:
        if not _is_span(part):
            raise InputError(
                f"{where}: span is {span!r}, expected [start, end] in seconds, or several"
            )
        ends += [float(end) for end in part]
    return ends


def _is_span(part: object) -> bool:
    if not is_array(part) or len(part) != len(("start", "end")):
        return False
    start, end = part
    return is_number(start) and is_number(end) and 0 <= start < end
