"""Pairs of events and the questions on them, from the first draft to the row; and what is counted of all rows.

A file of pairs (`--until`) has a line for each source: people may edit its questions, or take some out, and the chain
goes on from it (`--from`).
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from reelbench.registry.base_record import checked
from reelbench.registry.errors import InputError, number_of
from reelbench.registry.files import read_jsonl
from reelbench.registry.rows import LETTERS
from reelbench.scoring.certificate_length import certificates
from reelbench.studio.moment_replies import BothTypes, Category, option
from reelbench.studio.moment_sources import Source, Span

WAGE = 6.0
"""Dollars an hour that a person is paid at least (supplement, C.3)."""


class Draft(BaseModel):
    """A question on its way.

    `span` is when the answer happens and `question_span` when that which the question names does, in seconds; None
    where nobody knows yet.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    category: Category
    question: str
    answer: str
    span: Span | None = None
    question_span: Span | None = None
    wrong: list[str] = []


class Pair(BaseModel):
    """Two events in order, when they happen (None where nobody knows), and the questions on them."""

    model_config = ConfigDict(extra="forbid")

    id: str
    category: Category
    events: tuple[str, str]
    spans: tuple[Span | None, Span | None]
    questions: list[Draft] = []

    def with_questions(self, both: BothTypes) -> Self:
        """Take the two questions of a reply, and return the pair.

        Type 1 names the first event and is answered by the second; of means and end it names the end.
        """
        kind = self.category.replace("-", "_")
        turned = self.category == "means-to-an-end"
        named, answering = (self.spans[1], self.spans[0]) if turned else self.spans
        asked = ((both.type1, answering, named), (both.type2, named, answering))
        self.questions = [
            Draft(
                id=f"{self.id}_{kind}_{number}",
                category=self.category,
                question=written.question,
                answer=written.answer,
                span=span,
                question_span=question_span,
            )
            for number, (written, span, question_span) in enumerate(asked, start=1)
        ]
        return self


@dataclass(frozen=True, slots=True)
class MomentSource:
    """A source, and its pairs where a chain goes on, with the questions that an earlier stage gave nothing for."""

    source: Source
    pairs: Sequence[Pair] = ()
    unfinished: Sequence[Draft] = ()

    def line(self, pairs: Iterable[Pair], unfinished: Iterable[Draft]) -> dict[str, Any]:
        """Return the line of a file to go on from."""
        return {
            "source": self.source.id,
            "pairs": [pair.model_dump() for pair in pairs],
            "unfinished": [draft.model_dump() for draft in unfinished],
        }


class _Line(BaseModel):
    source: str
    pairs: list[Pair]
    unfinished: list[Draft] = []


def read_pairs(path: Path, sources: Sequence[Source]) -> list[MomentSource]:
    """Read a file of pairs and join it with its sources; InputError names the line that is wrong."""
    known = {source.id: source for source in sources}
    read = []
    for number, line in read_jsonl(path):
        where = f"{path}, line {number}"
        given = checked(_Line, line, where)
        if given.source not in known:
            raise InputError(f"{where}: --captions has no {given.source!r}; give the file it was made from")
        read.append(MomentSource(known[given.source], given.pairs, given.unfinished))
    return read


def to_row(draft: Draft, source: Source, *, seed: int, with_options: bool) -> dict[str, Any]:
    """Return a question as a row in the Hub's schema, with the span of what it names beside the answer's.

    Where nobody knows the answer's span it is the whole video. The seed decides on the options' order.
    """
    right = option(draft.answer)
    row: dict[str, Any] = {
        "qid": draft.id,
        "vid": source.video,
        "duration": source.duration,
        "question": draft.question,
        "answer": f"From <s0> to <e0>, {right}.",
        "source": source.source,
        "category": draft.category,
        "span": list(draft.span or (0.0, source.duration)),
        "question_span": None if draft.question_span is None else list(draft.question_span),
    }
    if not with_options:
        return row
    options = [right, *draft.wrong]
    random.Random(f"{seed}|{draft.id}").shuffle(options)  # noqa: S311 - no secret
    return row | {"options": options, "ans": LETTERS[options.index(right)]}


def mini_test(
    rows: Sequence[Mapping[str, Any]], number: int, seed: int, note: Callable[[str], None] = lambda _: None
) -> list[Mapping[str, Any]]:
    """Return so many rows of each category, drawn by the seed, in the rows' order; ReXTime's mini-test has 100 each."""
    by_category: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_category.setdefault(row["category"], []).append(place)
    drawn: list[int] = []
    for category, places in sorted(by_category.items()):
        if len(places) < number:
            note(f"mini test: {category} has {number_of(len(places), 'question')}, all in it")
        drawn += random.Random(f"{seed}|{category}").sample(places, min(number, len(places)))  # noqa: S311 - no secret
    return [rows[place] for place in sorted(drawn)]


def across_time(spans: Iterable[tuple[Span | None, Span | None, str]]) -> dict[str, Any]:
    """Return the number of questions that reason across time, and the certificates of those with both spans (C.6).

    Of each: question span, answer span (None where it isn't known) and video. A question whose own span and its
    answer's overlap completely does not reason across time; that one lies within the other is taken for that,
    `identical` counts those with the same ends.
    """
    whole = [(asked, answer, video) for asked, answer, video in spans]
    known = [(asked, answer, video) for asked, answer, video in whole if asked is not None and answer is not None]
    contained = sum(_within(asked, answer) or _within(answer, asked) for asked, answer, _ in known)
    measured = certificates([(a, b) for a, b, _ in known], [video for *_, video in known]) if known else None
    return {
        "questions": len(whole),
        "known": len(known),
        "identical": sum(tuple(asked) == tuple(answer) for asked, answer, _ in known),
        "contained": contained,
        "across_time": len(known) - contained,
        "certificate_length": measured and asdict(measured.length),
        "qa_miou": measured and asdict(measured.qa_miou),
    }


def _within(inner: Sequence[float], outer: Sequence[float]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def cost_per_1000(cost_usd: float | None, seconds: float, kept: int, wage: float = WAGE) -> dict[str, float] | None:
    """Return the cost of 1,000 kept questions: dollars of models, people's hours, both in dollars; None of nothing.

    `cost_usd` is None without prices; `seconds` are of people's work, `wage` is in dollars an hour. ReXTime counts $35
    of GPT-4 and 1,000 / 60 hours at $6, together $135 (supplement, C.3).
    """
    if not kept or (cost_usd is None and not seconds):
        return None
    models, hours = 1000 * (cost_usd or 0.0) / kept, 1000 * seconds / 3600 / kept
    return {"models_usd": models, "people_hours": hours, "people_usd": hours * wage, "usd": models + hours * wage}
