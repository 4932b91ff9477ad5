"""Audits of questions as CURVE's (supplement, B.2): clear or not, then answered blind and compared.

The page shows the writer's answer and steps once the auditor has answered. It has them from the
start. An audit ends as CURVE's: a right question stays, one that writer and auditor mended together
stays with their changes, and the rest goes back.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from reelbench.base.text_tables import Table, number
from reelbench.registry.rows import Row, steps
from reelbench.registry.spec import BenchmarkSpec
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.answers import ANSWERS
from reelbench.studio.review.kept_rows import Verification, write_rows
from reelbench.studio.review.review_kind import (
    WORDS,
    Marks,
    Review,
    ReviewKind,
    Reviews,
    ReviewSummary,
    choice_alpha,
)

CODES: dict[str, str] = WORDS[KindName.AUDIT]["codes"]
"""Outcomes of the comparison of the auditor's answer with the writer's."""
_APPROVED = ("A", "C2")
_TIME = re.compile(r"\d:\d\d")
_TEXTS = ("answer", "question")
"""The asks for texts that can be mended."""
_SHOWN = 10

_MendedTexts = dict[str, dict[str, dict[str, str]]]
"""Question -> field -> the text `before` and `after`."""
_StepAnswers = dict[tuple[str, str], list[str]]
"""Question and step -> the auditors' answers."""


class Audits(ReviewKind):
    """A question's clarity, the rightness of its answer, and the need of its reasoning steps."""

    name = KindName.AUDIT

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question: the gate, the blind answer, then the comparison and the steps."""
        texts = {"question": row["question"]}
        if not spec.asks_choice:  # options aren't mended
            texts["answer"] = row["answer"]
        reference = parts.shown_answer(spec, row)
        step_asks = _step_asks(row)
        asks: list[parts.Part] = []
        for ask in self.asks:
            name = ask["name"]
            if name in texts:
                asks.append({**ask, "start": texts[name]})
            elif name == "revealed":
                asks += [*_own_asks(spec, row), ask]
            elif name == "note":
                asks += [*step_asks, ask]
            elif name == "code":
                asks.append({**ask, "shows": [reference]})
            elif name not in _TEXTS:
                asks.append(ask)
        item = parts.row_item(row, [parts.question_part(row)], asks)
        item["about"]["texts"] = texts
        item["about"]["steps"] = [ask["name"] for ask in step_asks]
        return item

    def done(self, review: Review) -> int:
        """Return the number of questions with a code, its reason, and all steps judged."""
        number_done = 0
        for name, marks in review.marks.items():
            facts = review.items.get(name, {})
            steps = set(facts.get("steps", ()))
            has_steps = _is_unclear(marks) or steps <= marks.keys()
            if has_steps and self.is_done(marks):
                number_done += 1
        return number_done

    def is_done(self, marks: Marks) -> bool:
        """Return True where there is a code, and a reason where it takes one."""
        code = self.verdict_of(marks)
        if code is None:
            return False
        return code == "A" or bool(marks.get("why"))

    def verdict_of(self, marks: Marks) -> str | None:
        """Return the code.

        A question that did not pass the gate has C3.
        """
        if _is_unclear(marks):
            return "C3"
        return marks.get("code")

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Return True where auditors' codes differ, or their ways to mend the question."""
        if super().disagrees(by_reviewer):
            return True
        different_edits: list[dict[str, str]] = []
        for marks in by_reviewer.values():
            edits = _mended_texts(marks)
            if edits and edits not in different_edits:
                different_edits.append(edits)
        return len(different_edits) > 1

    def is_open(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Return True where auditors differ, or nobody has mended what goes back."""
        coded = [marks for marks in by_reviewer.values() if self.verdict_of(marks)]
        if not coded:
            return False
        return self.disagrees(by_reviewer) or not any(map(_is_kept, coded))

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return codes with their agreement, the gate, reasons, mended texts, and wrong steps.

        Raises:
            InputError: Nothing is audited.
        """
        marks = reviews.marks()
        settled: dict[str, Marks] = {}
        open_ids: list[str] = []
        codes_by_item: list[list[str]] = []
        for name, codes in self.verdicts_of_all(reviews).items():
            codes_by_item.append(list(codes.values()))
            decision = reviews.decisions.get(name, {})
            if self.verdict_of(decision):
                settled[name] = decision
            elif self.disagrees(marks[name]):
                open_ids.append(name)
            else:
                coded = [marks[name][reviewer] for reviewer in codes]
                settled[name] = _one_who_mended(coded)
        figures = _audit_figures(reviews, settled, open_ids, codes_by_item)
        write = partial(_write, reviews, settled)
        tables = _figure_tables(reviews.heading, figures)
        return ReviewSummary(self, reviews, figures, tables, write, _figure_notes(figures))


AUDITS = Audits()


# --- a question
# -------------------------------------------------------------------------------------------------


def _own_asks(spec: BenchmarkSpec, row: Row) -> list[parts.Part]:
    """Return the asks of the auditor's own answer."""
    asks: list[parts.Part] = []
    for ask in ANSWERS.item(spec, row)["asks"]:
        own_ask = dict(ask)
        own_ask["name"] = f"own_{ask['name']}"
        if ask["name"] == "answer":
            own_ask["title"] = "2. Your answer"
        own_ask |= WORDS[KindName.AUDIT]["own"]
        if ask["type"] == "text":
            own_ask["start"] = ""
        asks.append(own_ask)
    return asks


def _step_asks(row: Row) -> list[parts.Part]:
    """Return the asks about each step, which stands above the first of its own."""
    asks: list[parts.Part] = []
    lines = parts.lines_of("\n".join(steps(row)))
    for place, step in enumerate(lines, start=1):
        shown_step = parts.shown_text(f"Step {place}", step, row["language"])
        shows = {"shows": [shown_step]}
        for subject, words in WORDS[KindName.AUDIT]["step"].items():
            if subject == "required" or _TIME.search(step):
                name = f"step {place} {subject}"
                ask = {"type": "choice", "name": name, **words, **shows}
                asks.append(parts.ask_of(ask))
                shows = {}
    return asks


# --- marks
# -------------------------------------------------------------------------------------------------


def _is_unclear(marks: Marks) -> bool:
    """Return True where a question did not pass the gate."""
    return marks.get("clarity") == "unclear"


def _mended_texts(marks: Marks) -> dict[str, str]:
    """Return the mended texts, where gate and code let them be mended."""
    if _is_unclear(marks):
        return {}
    text_asks = {ask["name"]: ask for ask in AUDITS.asks}
    edits: dict[str, str] = {}
    for name in _TEXTS:
        text = str(marks.get(name) or "").strip()
        if text and _is_asked(text_asks[name], marks):
            edits[name] = text
    return edits


def _is_asked(ask: parts.Part, marks: Marks) -> bool:
    """Return True where one of the ask's conditions is met."""
    for name, values in ask["when"]:
        if marks.get(name) in values:
            return True
    return False


def _is_kept(marks: Marks) -> bool:
    """Return True where a question stays: approved, or mended as its code asks.

    C1 asks for a right answer, C3 for a clear question.
    """
    code = AUDITS.verdict_of(marks)
    edits = _mended_texts(marks)
    if code == "B":
        return bool(edits)
    if code == "C1":
        return "answer" in edits
    if code == "C3":
        return "question" in edits
    return code in _APPROVED


def _one_who_mended(all_marks: Iterable[Marks]) -> Marks:
    """Return, of several who gave the same code, the marks of one who mended."""

    def usefulness(marks: Marks) -> tuple[bool, bool]:
        has_edits = bool(_mended_texts(marks))
        return _is_kept(marks), has_edits

    return max(all_marks, key=usefulness)


# --- figures
# -------------------------------------------------------------------------------------------------


def _audit_figures(
    reviews: Reviews,
    settled: Mapping[str, Marks],
    open_ids: Sequence[str],
    codes_by_item: Sequence[Sequence[str]],
) -> dict[str, Any]:
    """Return an audit's figures.

    Args:
        reviews: The auditors' files.
        settled: The valid marks by question: decided, or of auditors who gave the same code.
        open_ids: The questions on which auditors differ.
        codes_by_item: The codes of all auditors, by question.
    """
    clarity: Counter[str] = Counter()
    for by_reviewer in reviews.marks().values():
        for marks in by_reviewer.values():
            if "clarity" in marks:
                clarity[marks["clarity"]] += 1
    back: dict[str, str | None] = {}
    for name, marks in settled.items():
        if not _is_kept(marks):
            back[name] = AUDITS.verdict_of(marks)
    return {
        "codes": _code_figures(settled, codes_by_item),
        "alpha": choice_alpha(codes_by_item, list(CODES)),
        "clarity": dict(clarity),
        "open": open_ids,
        "reasons": _auditors_reasons(reviews),
        "mended": _texts_before_and_after(reviews, settled),
        "back": back,
        "steps": _step_figures(reviews),
    }


def _code_figures(
    settled: Mapping[str, Marks], codes_by_item: Sequence[Sequence[str]]
) -> dict[str, dict[str, Any]]:
    """Return the number of each code, and its agreement.

    That is the share, of all choices of it by one of a pair of auditors, that the second made too:
    2 both / (first + second), over all pairs (Fleiss, Levin and Paik, Statistical Methods for Rates
    and Proportions, 18.1).
    """
    settled_codes = Counter(map(AUDITS.verdict_of, settled.values()))
    chosen: Counter[str] = Counter()
    in_pairs: Counter[str] = Counter()
    by_both: Counter[str] = Counter()
    for codes in codes_by_item:
        chosen.update(codes)
        for first, second in combinations(codes, 2):
            in_pairs.update((first, second))
            if first == second:
                by_both[first] += 1
    figures: dict[str, dict[str, Any]] = {}
    for code in CODES:
        agreement = None
        if in_pairs[code]:
            agreement = 2 * by_both[code] / in_pairs[code]
        figures[code] = {
            "n": chosen[code],
            "settled": settled_codes[code],
            "agreement": agreement,
        }
    return figures


def _auditors_reasons(reviews: Reviews) -> list[dict[str, Any]]:
    """Return the auditors' reasons for all codes but A."""
    reasons: list[dict[str, Any]] = []
    for name, by_reviewer in reviews.marks().items():
        for reviewer, marks in by_reviewer.items():
            code = AUDITS.verdict_of(marks)
            if marks.get("why") and code not in (None, "A"):
                reason = {
                    "id": name,
                    "reviewer": reviewer,
                    "code": code,
                    "reason": marks["why"],
                }
                reasons.append(reason)
    return reasons


def _texts_before_and_after(reviews: Reviews, settled: Mapping[str, Marks]) -> _MendedTexts:
    """Return id -> field -> the text `before` and `after`."""
    facts = reviews.items
    mended: _MendedTexts = {}
    for name, marks in settled.items():
        texts = facts.get(name, {}).get("texts", {})
        for field, text in _mended_texts(marks).items():
            change = {"before": texts.get(field, ""), "after": text}
            mended.setdefault(name, {})[field] = change
    return mended


def _step_figures(reviews: Reviews) -> dict[str, dict[str, Any]]:
    """Count judged steps, and those that somebody calls not required or wrongly timed."""
    answers_by_step = _answers_by_step(reviews)
    figures: dict[str, dict[str, Any]] = {}
    for subject, title in (("required", "not_required"), ("time", "wrong_time")):
        judged = 0
        wrong_steps: list[dict[str, Any]] = []
        for (name, step), answers in answers_by_step.items():
            if not step.endswith(subject):
                continue
            judged += 1
            if "no" in answers:
                _, number_of_step, _ = step.split()
                wrong_steps.append({"id": name, "step": int(number_of_step)})
        figures[title] = {"judged": judged, "steps": wrong_steps}
    return figures


def _answers_by_step(reviews: Reviews) -> _StepAnswers:
    """Return question and step ask -> the answers of those who gave a code."""
    facts = reviews.items
    answers: _StepAnswers = {}
    for name, by_reviewer in reviews.marks().items():
        steps = facts.get(name, {}).get("steps", ())
        for marks in by_reviewer.values():
            for step in steps:
                if step in marks and marks.get("code"):
                    answers.setdefault((name, step), []).append(marks[step])
    return answers


# --- words
# -------------------------------------------------------------------------------------------------


def _figure_tables(heading: str, figures: Mapping[str, Any]) -> list[Table]:
    alpha = number(figures["alpha"])
    tables = [
        Table(
            f"{heading}, Krippendorff's alpha {alpha}",
            ("code", "meaning", "#chosen", "#questions", "#agreement"),
            _code_rows(figures),
        ),
        Table("what was found", ("", "#n"), _count_rows(figures)),
    ]
    reason_rows = [tuple(reason.values()) for reason in figures["reasons"]]
    if reason_rows:
        columns = ("question", "auditor", "code", "reason")
        tables.append(Table("reasons", columns, reason_rows))
    return tables


def _code_rows(figures: Mapping[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for code, code_figures in figures["codes"].items():
        row = (
            code,
            CODES[code],
            str(code_figures["n"]),
            str(code_figures["settled"]),
            number(code_figures["agreement"]),
        )
        rows.append(row)
    return rows


def _count_rows(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for verdict in ("clear", "mended", "unclear"):
        count = figures["clarity"].get(verdict, 0)
        rows.append((f"gate: {verdict}", str(count)))
    fields_of_mended = list(figures["mended"].values())
    for field in ("question", "answer"):
        count = sum(field in fields for fields in fields_of_mended)
        rows.append((f"{field} mended", str(count)))
    back_to_writer = len(figures["back"])
    rows.append(("back to the writer", str(back_to_writer)))
    for name, step_figures in figures["steps"].items():
        plain_name = name.replace("_", " ")
        wrong_steps = len(step_figures["steps"])
        rows.append((f"steps: {plain_name}", f"{wrong_steps} of {step_figures['judged']}"))
    return rows


def _figure_notes(figures: Mapping[str, Any]) -> list[str]:
    changes: list[str] = []
    for name, fields in figures["mended"].items():
        for field, text in fields.items():
            change = f"{text['before']} → {text['after']}"
            changes.append(f"{name}, {field}: {change}")
    notes = changes[:_SHOWN]
    if len(changes) > _SHOWN:
        notes.append(f"and {len(changes) - _SHOWN} more were corrected; --json lists all")
    open_questions = len(figures["open"])
    back = len(figures["back"])
    if open_questions or back:
        notes.append(
            f"{open_questions} are open and {back} go back to their writer (--write): review page "
            "… --consensus FILES writes a page on which both decide, and enter what they agree on"
        )
    return notes


def _write(reviews: Reviews, settled: Mapping[str, Marks], path: Path) -> str:
    """Write the data with mended texts, without questions that go back.

    Each row gets `verified`. Back go B, C1 and C3 where nobody entered what they ask for, to a file
    of their own (`….back.json`) with code and reasons, which its writer mends and an audit takes
    again (`--data`). A question that nobody audited, or that is open, stays unverified.
    """
    all_marks = reviews.marks()
    verified: set[str] = set()
    dropped: dict[str, str] = {}
    changes: dict[str, dict[str, Any]] = {}
    back: dict[str, dict[str, Any]] = {}
    for name, marks in settled.items():
        if _is_kept(marks):
            verified.add(name)
            changes[name] = dict(_mended_texts(marks))
            continue
        code = AUDITS.verdict_of(marks)
        reasons: dict[str, str] = {}
        for reviewer, reviewer_marks in all_marks[name].items():
            if reviewer_marks.get("why"):
                reasons[reviewer] = reviewer_marks["why"]
        dropped[name] = f"audit_{code}"
        back[name] = {"code": code, "why": reasons}
    verification = Verification(verified, dropped, changes, back=back)
    return write_rows(path, reviews, verification)
