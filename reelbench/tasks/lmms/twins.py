"""Runs of lmms-eval's own tasks on rows that are ours too: their answers, as our readers read them.

lmms-eval drops the row from what it logs. What is left says which it was: an id in a metric's
details, where the task puts one there; else the row's number (`doc_id`), held against the question
in the logged prompt (`input`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.files import read_jsonl
from reelbench.base.values import is_number, is_object
from reelbench.registry import rows
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item
from reelbench.registry.rows import Row
from reelbench.scoring import choice
from reelbench.tasks.lmms.run_logs import logged_reply
from reelbench.tasks.submissions import Questions, answered, cut_off, reference_of

_IDS = ("id", "key", "qid", "question_id")
"""Where tasks put a row's id, among a metric's details."""

_OWN_LETTERS = ("pred_answer", "pred")
"""Where tasks put the letter that they read."""

_UNFILTERED = ",none"
"""What ends the names of figures over answers as they are."""

_Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TwinItems:
    """The answers of a run, in the order of its lines; of `duplicate` ids, which came twice, the last one counts.

    Of `compared` answers lmms-eval logs what it read, or whether it took them as right; `differing`
    are those of them that our readers read otherwise: id, our reading, and lmms-eval's.
    """

    items: list[Item]
    duplicate: list[str] = field(default_factory=list)
    compared: int = 0
    differing: list[tuple[str, str, str]] = field(default_factory=list)

    def note(self, task: str, figures: Mapping[str, Any]) -> str:
        """Say in one line how far our readings and lmms-eval's own go apart; `figures` are its own of the run."""
        if not self.compared:
            own = ", ".join(
                f"{name.removesuffix(_UNFILTERED)} {value:.2f}"
                for name, value in figures.items()
                if is_number(value) and name.endswith(_UNFILTERED) and "_stderr" not in name
            )
            return f"{task}: read by our readers; lmms-eval logs its readings in sum alone: {own or 'none'}"
        count = f"{len(self.differing)} of {self.compared}"
        told = f"{task}: read by our readers; {count} readings differ from lmms-eval's own"
        if self.differing:
            name, ours, theirs = self.differing[0]
            told += f" (first {name}: ours {ours}, lmms-eval's {theirs})"
        return told


def twin_items(path: Path, questions: Questions) -> TwinItems:
    """Read the answers to questions of ours out of the samples of lmms-eval's own task.

    InputError where a line is about none of them, or has no answer; DataUnavailableError where
    their rows are not here.
    """
    spec, known = questions.spec, questions.here.rows
    by_id = {row["id"]: row for row in known}
    items: dict[str, Item] = {}
    duplicate: list[str] = []
    readings: dict[str, tuple[str, str] | None] = {}
    for number, line in read_jsonl(path):
        where = f"{path}, line {number}"
        if not is_object(line):
            raise InputError(f"{where}: no sample of lmms-eval")
        details = [value for value in line.values() if is_object(value)]
        row = _row(line, details, known, by_id)
        if row is None:
            raise InputError(
                f"{where}: is about no question of {spec.id}; is the data of the same release?"
            )
        text = logged_reply(line)
        if text is None:
            raise InputError(f"{where}: has no answer; was it logged with --predict_only?")
        if row["id"] in items:
            duplicate.append(row["id"])
        given = answered(spec, text, row.get("options", ()), rows.timing(row))
        cut_short: dict[str, Any] = {"flags": (), "reason": Reason.CUT_OFF} if cut_off(text) else {}
        items[row["id"]] = item = reference_of(spec, row).item(given, **cut_short)
        readings[row["id"]] = _readings(item, details)
    known_readings = {name: pair for name, pair in readings.items() if pair is not None}
    differing = [(name, *pair) for name, pair in known_readings.items() if pair[0] != pair[1]]
    return TwinItems(list(items.values()), duplicate, len(known_readings), differing)


def _row(
    line: _Line, details: Sequence[_Line], known: Sequence[Row], by_id: Mapping[str, Row]
) -> Row | None:
    """Return the row that a line is about; `details` are its metrics'."""
    for of_metric in details:
        for name in _IDS:
            if str(of_metric.get(name)) in by_id:
                return by_id[str(of_metric[name])]
    prompt, place = str(line.get("input") or ""), line.get("doc_id")
    if isinstance(place, int) and 0 <= place < len(known) and _asks(prompt, known[place]):
        return known[place]
    asked = [row for row in known if _asks(prompt, row)]
    return asked[0] if len(asked) == 1 else None


def _asks(prompt: str, row: Row) -> bool:
    asked = " ".join(prompt.split())
    return all(
        " ".join(text.split()) in asked for text in (row["question"], *row.get("options", ()))
    )


def _readings(item: Item, details: Sequence[_Line]) -> tuple[str, str] | None:
    """Return our reading and lmms-eval's, as letters or as right and wrong; None where it logs neither."""
    if item.reason is not None or "answer" not in (item.parsed or {}):
        return None
    for of_metric in details:
        for name in _OWN_LETTERS:
            if isinstance(of_metric.get(name), str):
                return (item.parsed or {})["answer"] or "none", of_metric[
                    name
                ].strip().upper() or "none"
        if of_metric.get("score") in (0, 1):
            right = choice.columns(item)["correct"] == 1
            return "right" if right else "wrong", "right" if of_metric["score"] == 1 else "wrong"
    return None
