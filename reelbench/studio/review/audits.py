"""Questions audited as CURVE's were (supplement, B.2): clear or not, answered blind, then compared with the writer's.

The page shows the writer's answer and steps once the auditor has answered; it holds them from the
start. An audit ends as there: what is right stays, what writer and auditor mended together is
entered and stays, and the rest goes back.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
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
"""What comes of comparing the auditor's answer with the writer's."""
_APPROVED = ("A", "C2")
_TIME = re.compile(r"\d:\d\d")
_SHOWN = 10


class Audits(ReviewKind):
    """Whether a question is clear, its answer right, and each of its reasoning steps required."""

    name = KindName.AUDIT

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question: the gate, the blind answer, and behind it the comparison and the steps."""
        reference = parts.shown_answer(spec, row)
        texts = {"question": row["question"]} | (
            {} if spec.asks_choice else {"answer": row["answer"]}
        )
        own: list[parts.Part] = []
        for ask in ANSWERS.item(spec, row)["asks"]:
            title = "2. Your answer" if ask["name"] == "answer" else ask["title"]
            start = {"start": ""} if ask["type"] == "text" else {}
            own.append(
                {
                    **ask,
                    "name": f"own_{ask['name']}",
                    "title": title,
                    **WORDS[self.name]["own"],
                    **start,
                }
            )
        judged: list[parts.Part] = []
        for at, step in enumerate(parts.lines_of("\n".join(steps(row))), 1):
            shown = {"shows": [parts.shown_text(f"Step {at}", step, row["language"])]}
            for what, words in WORDS[self.name]["step"].items():
                if what == "required" or _TIME.search(step):
                    judged.append(
                        parts.ask_of(
                            {"type": "choice", "name": f"step {at} {what}", **words, **shown}
                        )
                    )
                    shown = {}
        asks: list[parts.Part] = []
        for ask in self.asks:
            if ask["name"] in ("question", "answer"):  # options aren't mended
                asks += [{**ask, "start": texts[ask["name"]]}] if ask["name"] in texts else []
            else:
                before = {"revealed": own, "note": judged}.get(ask["name"], [])
                asks += [*before, {**ask, "shows": [reference]} if ask["name"] == "code" else ask]
        item = parts.row_item(row, [parts.question_part(row)], asks)
        item["about"] |= {"texts": texts, "steps": [ask["name"] for ask in judged]}
        return item

    def done(self, review: Review) -> int:
        """Return the number of questions with a code, a reason where it takes one, and a word on each step."""
        return sum(
            self.is_done(marks)
            and (
                marks.get("clarity") == "unclear"
                or set(review.items.get(name, {}).get("steps", ())) <= marks.keys()
            )
            for name, marks in review.marks.items()
        )

    def is_done(self, marks: Marks) -> bool:
        """Whether there is a code, and a reason where it takes one."""
        code = self.verdict_of(marks)
        return code == "A" or bool(code and marks.get("why"))

    def verdict_of(self, marks: Marks) -> str | None:
        """The code; a question that did not pass the gate has C3."""
        return "C3" if marks.get("clarity") == "unclear" else marks.get("code")

    def disagrees(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether auditors chose different codes, or mended the question in different ways."""
        mended = {tuple(_edits(marks).items()) for marks in by_reviewer.values()}
        return super().disagrees(by_reviewer) or len(mended - {()}) > 1

    def is_open(self, by_reviewer: Mapping[str, Marks]) -> bool:
        """Whether auditors differ, or nobody has yet entered how what goes back is mended."""
        given = [marks for marks in by_reviewer.values() if self.verdict_of(marks)]
        return bool(given) and (self.disagrees(by_reviewer) or not any(map(_stays, given)))

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return codes with their agreement, the gate, reasons, what was mended, and the steps that are wrong.

        InputError where nothing is audited.
        """
        settled: dict[str, Marks] = {}
        still_open: list[str] = []
        codes, marks = self.verdicts_of_all(reviews), reviews.marks()
        for name, said in codes.items():
            decided = reviews.decisions.get(name, {})
            if self.verdict_of(decided):
                settled[name] = decided
            elif self.disagrees(marks[name]):
                still_open.append(name)
            else:  # of several who say the same, one who mended
                given = [marks[name][who] for who in said]
                settled[name] = max(given, key=lambda one: (_stays(one), bool(_edits(one))))
        figures = _figures(
            reviews, settled, still_open, [list(said.values()) for said in codes.values()]
        )
        notes = [
            f"{name}, {field}: {text['before']} → {text['after']}"
            for name, fields in figures["mended"].items()
            for field, text in fields.items()
        ]
        if len(notes) > _SHOWN:
            notes = [
                *notes[:_SHOWN],
                f"and {len(notes) - _SHOWN} more were mended; --json lists all",
            ]
        if still_open or figures["back"]:
            notes.append(
                f"{len(still_open)} are open and {len(figures['back'])} go back to their writer (--write): review page "
                "… --consensus FILES writes a page on which both decide, and enter what they agree on"
            )
        codes_found = [
            (code, CODES[code], str(found["n"]), str(found["settled"]), number(found["agreement"]))
            for code, found in figures["codes"].items()
        ]
        title = f"{reviews.heading}, Krippendorff's alpha {number(figures['alpha'])}"
        columns = ("code", "meaning", "#chosen", "#questions", "#agreement")
        counts = [
            (f"gate: {name}", str(figures["clarity"].get(name, 0)))
            for name in ("clear", "mended", "unclear")
        ]
        mended = figures["mended"].values()
        counts += [
            (f"{name} mended", str(sum(name in by for by in mended)))
            for name in ("question", "answer")
        ]
        counts.append(("back to the writer", str(len(figures["back"]))))
        counts += [
            (f"steps: {name.replace('_', ' ')}", f"{len(found['steps'])} of {found['judged']}")
            for name, found in figures["steps"].items()
        ]
        reasons = [
            (one["id"], one["reviewer"], one["code"], one["reason"]) for one in figures["reasons"]
        ]
        tables = [Table(title, columns, codes_found), Table("what was found", ("", "#n"), counts)]
        if reasons:
            tables.append(Table("reasons", ("question", "auditor", "code", "reason"), reasons))
        return ReviewSummary(
            self, reviews, figures, tables, partial(_write, reviews, settled), notes
        )


AUDITS = Audits()


def _edits(marks: Marks) -> dict[str, str]:
    """Return the texts that were mended, where gate and code let them be."""
    if marks.get("clarity") == "unclear":
        return {}
    may_be = {
        ask["name"]: ask["when"] for ask in AUDITS.asks if ask["name"] in ("answer", "question")
    }
    names = [
        name
        for name in sorted(may_be)
        if any(marks.get(key) in values for key, values in may_be[name])
    ]
    return {name: text for name in names if (text := str(marks.get(name) or "").strip())}


def _stays(marks: Marks) -> bool:
    """Whether a question stays: approved, or mended as its code asks (C1: a right answer, C3: a clear question)."""
    code, edits = AUDITS.verdict_of(marks), _edits(marks)
    if code == "B":
        return bool(edits)
    return (
        code in _APPROVED
        or (code == "C1" and "answer" in edits)
        or (code == "C3" and "question" in edits)
    )


def _figures(
    reviews: Reviews,
    settled: Mapping[str, Marks],
    still_open: Sequence[str],
    codes: Sequence[Sequence[str]],
) -> dict[str, Any]:
    """Return an audit's figures.

    `settled` are the marks that hold by question (decided, or of auditors who chose the same code),
    `codes` what each auditor chose, by question. A code's agreement is the share, of all choices of
    it by one of a pair of auditors, that the other made too: 2 both / (one + other), over all pairs
    (Fleiss, Levin and Paik, Statistical Methods for Rates and Proportions, 18.1).
    """
    marks, about = reviews.marks(), reviews.items
    held = Counter(AUDITS.verdict_of(one) for one in settled.values())
    chosen = Counter(code for given in codes for code in given)
    pairs = [pair for given in codes for pair in combinations(given, 2)]
    of_pairs = Counter(code for pair in pairs for code in pair)
    both = Counter(one for one, other in pairs if one == other)
    mended = {}
    for name, one in settled.items():
        before = about.get(name, {}).get("texts", {})
        if edits := _edits(one):
            mended[name] = {
                field: {"before": before.get(field, ""), "after": text}
                for field, text in edits.items()
            }
    judged: dict[tuple[str, str], list[str]] = {}
    for name, by in marks.items():
        for one in by.values():
            for step in about.get(name, {}).get("steps", ()):
                if step in one and one.get("code"):
                    judged.setdefault((name, step), []).append(one[step])
    steps = {}  # judged ones, and those that somebody calls not required or wrongly timed
    for field, title in (("required", "not_required"), ("time", "wrong_time")):
        of_field = {key: given for key, given in judged.items() if key[1].endswith(field)}
        wrong = [
            {"id": key, "step": int(step.split()[1])}
            for (key, step), given in of_field.items()
            if "no" in given
        ]
        steps[title] = {"judged": len(of_field), "steps": wrong}
    return {
        "codes": {
            code: {
                "n": chosen[code],
                "settled": held[code],
                "agreement": 2 * both[code] / of_pairs[code] if of_pairs[code] else None,
            }
            for code in CODES
        },
        "alpha": choice_alpha(codes, list(CODES)),
        "clarity": dict(
            Counter(
                one["clarity"] for by in marks.values() for one in by.values() if "clarity" in one
            )
        ),
        "open": still_open,
        "reasons": [
            {"id": name, "reviewer": who, "code": AUDITS.verdict_of(one), "reason": one["why"]}
            for name, by in marks.items()
            for who, one in by.items()
            if one.get("why") and AUDITS.verdict_of(one) not in (None, "A")
        ],
        "mended": mended,
        "back": {name: AUDITS.verdict_of(one) for name, one in settled.items() if not _stays(one)},
        "steps": steps,
    }


def _write(reviews: Reviews, settled: Mapping[str, Marks], path: Path) -> str:
    """Write the data with what was mended, without what goes back to its writers; `verified` in each row.

    Back go B, C1 and C3 where nobody entered what they ask for, to a file of their own
    (`….back.json`) with code and reasons, which its writer mends and an audit takes again
    (`--data`). What nobody audited, or is open, stays unverified.
    """
    verified = {name for name, marks in settled.items() if _stays(marks)}
    changes = {name: edits for name in verified if (edits := _edits(settled[name]))}
    marks = reviews.marks()
    back = {}
    for name in [name for name in settled if name not in verified]:
        why = {who: said["why"] for who, said in marks[name].items() if said.get("why")}
        back[name] = {"code": AUDITS.verdict_of(settled[name]), "why": why}
    dropped = {name: f"audit_{said['code']}" for name, said in back.items()}
    return write_rows(path, reviews, Verification(verified, dropped, changes, back=back))
