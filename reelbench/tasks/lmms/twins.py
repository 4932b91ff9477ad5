"""Read the answers of lmms-eval's own tasks on rows that are ours too, with our readers.

lmms-eval drops the row from its logs. Something else tells which it was: an id in a metric's
details, where the task puts one there; else the row's number (`doc_id`), compared with the question
in the logged prompt (`input`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_jsonl
from reelbench.base.values import is_number, is_object
from reelbench.registry import rows
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import choice
from reelbench.tasks.lmms.run_logs import logged_reply
from reelbench.tasks.submissions import (
    Questions,
    is_cut_off_while_reasoning,
    parse_answer,
    reference_of,
)

_IDS = ("id", "key", "qid", "question_id")
"""Names under which tasks put a row's id, among a metric's details."""

_OWN_LETTERS = ("pred_answer", "pred")
"""Names under which tasks put the letter that they read."""

_UNFILTERED = ",none"
"""The end of the names of figures over answers as they are."""

_Line = Mapping[str, Any]


class Readings(NamedTuple):
    """An answer as our readers read it, and as lmms-eval did."""

    ours: str
    lmms_eval: str


class DifferingReadings(NamedTuple):
    """An answer that our readers read otherwise than lmms-eval."""

    id: str
    ours: str
    lmms_eval: str


@dataclass(frozen=True, slots=True)
class TwinItems:
    """The answers of a run, in the order of its lines.

    Of `duplicate` ids, which came twice, the last answer counts. Of `compared` answers lmms-eval
    logs its reading, or whether it took them as right.
    """

    items: list[Item]
    duplicate: list[str] = field(default_factory=list)
    compared: int = 0
    differing: list[DifferingReadings] = field(default_factory=list)
    left_out: int = 0
    """Answers to rows of ours that can't be read and are left out (`skip: unreadable`)."""

    def note(self, task: str, figures: Mapping[str, Any]) -> str:
        """Return a line on how far our readings and lmms-eval's own go apart.

        `figures` are lmms-eval's own of the run.
        """
        line = self._line_of_readings(task, figures)
        if self.left_out:
            answers = number_of(self.left_out, "answer")
            line += f"; {answers} to rows that are left out (skip: unreadable)"
        return line

    def _line_of_readings(self, task: str, figures: Mapping[str, Any]) -> str:
        if not self.compared:
            return (
                f"{task}: read by our readers; lmms-eval logs only the totals of its readings: "
                f"{_own_figures(figures) or 'none'}"
            )
        count = f"{len(self.differing)} of {self.compared}"
        note = f"{task}: read by our readers; {count} readings differ from lmms-eval's own"
        if self.differing:
            first = self.differing[0]
            note += f" (first {first.id}: ours {first.ours}, lmms-eval's {first.lmms_eval})"
        return note


def _own_figures(figures: Mapping[str, Any]) -> str:
    texts: list[str] = []
    for name, value in figures.items():
        if is_number(value) and name.endswith(_UNFILTERED) and "_stderr" not in name:
            texts.append(f"{name.removesuffix(_UNFILTERED)} {value:.2f}")
    return ", ".join(texts)


def twin_items(path: Path, questions: Questions) -> TwinItems:
    """Read the answers to questions of ours out of the samples of lmms-eval's own task.

    Raises:
        InputError: A line is about none of them, or has no answer.
        DataUnavailableError: Their rows are not here.
    """
    spec = questions.spec
    all_rows = questions.here.numbered_rows
    by_id = {row["id"]: row for row in questions.here.rows}
    left_out = 0
    items: dict[str, Item] = {}
    duplicate: list[str] = []
    readings: dict[str, Readings | None] = {}
    for number, line in read_jsonl(path):
        where = f"{path}, line {number}"
        if not is_object(line):
            raise InputError(f"{where}: no sample of lmms-eval")
        details = [value for value in line.values() if is_object(value)]
        row = _row_of_line(line, details, all_rows, by_id)
        if row is None and _is_left_out(line, all_rows):
            left_out += 1
            continue
        if row is None:
            raise InputError(
                f"{where}: is about no question of {spec.id}; is the data of the same release?"
            )
        text = logged_reply(line)
        if text is None:
            raise InputError(f"{where}: has no answer; was it logged with --predict_only?")
        item = _item_of_answer(spec, row, text)
        if row["id"] in items:
            duplicate.append(row["id"])
        items[row["id"]] = item
        readings[row["id"]] = _both_readings(item, details)
    compared = 0
    differing: list[DifferingReadings] = []
    for name, pair in readings.items():
        if pair is None:
            continue
        compared += 1
        if pair.ours != pair.lmms_eval:
            differing.append(DifferingReadings(name, pair.ours, pair.lmms_eval))
    return TwinItems(list(items.values()), duplicate, compared, differing, left_out)


def _item_of_answer(spec: BenchmarkSpec, row: Row, text: str) -> Item:
    """Return a row with an answer as our own rules read it."""
    options = row.get("options", ())
    prediction = parse_answer(spec, text, options, rows.timing(row), row["question"])
    reference = reference_of(spec, row)
    if is_cut_off_while_reasoning(text):
        return reference.item(prediction, flags=(), reason=Reason.CUT_OFF)
    return reference.item(prediction)


def _is_left_out(line: _Line, all_rows: Sequence[Row | None]) -> bool:
    """Return True where a line is about a row that can't be read."""
    place = line.get("doc_id")
    return isinstance(place, int) and 0 <= place < len(all_rows) and all_rows[place] is None


def _row_of_line(
    line: _Line, details: Sequence[_Line], all_rows: Sequence[Row | None], by_id: Mapping[str, Row]
) -> Row | None:
    """Return the row that a line is about. `details` are its metrics'."""
    for metric_details in details:
        for name in _IDS:
            row = by_id.get(str(metric_details.get(name)))
            if row is not None:
                return row
    prompt = " ".join(str(line.get("input") or "").split())
    place = line.get("doc_id")
    if isinstance(place, int) and 0 <= place < len(all_rows):
        row_in_place = all_rows[place]
        if row_in_place is not None and _prompt_asks_row(prompt, row_in_place):
            return row_in_place
    asked_rows = [row for row in by_id.values() if _prompt_asks_row(prompt, row)]
    return asked_rows[0] if len(asked_rows) == 1 else None


def _prompt_asks_row(prompt: str, row: Row) -> bool:
    """Return True where a prompt has a row's question and options. White space doesn't count."""
    for text in (row["question"], *row.get("options", ())):
        if " ".join(text.split()) not in prompt:
            return False
    return True


def _both_readings(item: Item, details: Sequence[_Line]) -> Readings | None:
    """Return our reading and lmms-eval's, as letters or as right and wrong.

    None where lmms-eval logs neither.
    """
    parsed = item.parsed or {}
    if item.reason is not None or "answer" not in parsed:
        return None
    for metric_details in details:
        for name in _OWN_LETTERS:
            letter = metric_details.get(name)
            if isinstance(letter, str) and _is_reading(letter):
                return Readings(parsed["answer"] or "none", letter.strip().upper() or "none")
        score = metric_details.get("score")
        if score in (0, 1):
            ours = _right_or_wrong(choice.columns(item)["correct"])
            return Readings(ours, _right_or_wrong(score))
    return None


def _is_reading(text: str) -> bool:
    """Return True for one letter or none. Some tasks log the whole answer instead."""
    letter = text.strip()
    return not letter or (len(letter) == 1 and letter.isalpha())


def _right_or_wrong(score: float) -> str:
    return "right" if score == 1 else "wrong"
