"""Pairs of events and the questions on them, from the first draft to the row; and what is counted of all rows.

A file of pairs (`--until`) has a line for each source: people may edit its questions, or take some
out, and the chain goes on from it (`--from`).
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_jsonl
from reelbench.llm.reading import UnreadableError, read_model
from reelbench.registry.rows import LETTERS
from reelbench.scoring.certificate_length import certificates
from reelbench.studio.chain_rules import Cuts
from reelbench.studio.funnel import DroppedError
from reelbench.studio.moment_sources import Source, Span

Category = Literal["cause-effect", "means-to-an-end", "sequential"]
Rating = Annotated[int, Field(ge=0, le=3)]
_Text = Annotated[str, Field(min_length=1)]
_Word = BeforeValidator(
    lambda value: value.strip().rstrip(".").lower() if isinstance(value, str) else value
)
_YesNo = Annotated[Literal["yes", "no"] | None, _Word]
_Level = Annotated[Literal["low", "medium", "high"] | None, _Word]
ALIGNMENTS = ("low", "medium", "high")
ROUNDED = 0.5
"""Seconds by which a stated time may differ from a caption's: models round."""


class _Read(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)


class EventPair(_Read):
    """Two events, the first of which begins first."""

    role: ClassVar[str]  # who pairs them
    names: ClassVar[tuple[str, str]]  # of both in a reply
    first: _Text
    first_span: Span
    second: _Text
    second_span: Span


EventPairT = TypeVar("EventPairT", bound=EventPair)


class Relation(EventPair):
    """Two events and five ratings (C.8.1)."""

    role = "relation"
    names = ("event1", "event2")
    first: _Text = Field(validation_alias="event1")
    first_span: Span = Field(validation_alias="event1_timestamp")
    second: _Text = Field(validation_alias="event2")
    second_span: Span = Field(validation_alias="event2_timestamp")
    directness: Rating = Field(validation_alias="Directness")
    necessity: Rating = Field(validation_alias="Necessity")
    intentionality: Rating = Field(validation_alias=AliasChoices("Intentionality", "Proactiveness"))
    purpose: Rating = Field(validation_alias="Purpose")
    similarity: Rating = Field(validation_alias="Similarity")

    def category(self, cuts: Cuts) -> Category:
        """Return the pair's category by its ratings; DroppedError: `similar` or `not_causal`."""
        if self.similarity >= cuts.similar_from:
            raise DroppedError("similar")
        if min(self.directness, self.necessity) < cuts.causal_from:
            raise DroppedError("not_causal")
        meant = min(self.intentionality, self.purpose) >= cuts.means_from
        return "means-to-an-end" if meant else "cause-effect"


class QuestionAnswer(_Read):
    """A question and its answer."""

    question: _Text = Field(validation_alias="Question")
    answer: _Text = Field(validation_alias="Answer")


class BothTypes(_Read):
    """The two questions on a pair (C.8.4, C.8.5)."""

    type1: QuestionAnswer = Field(validation_alias="Type1")
    type2: QuestionAnswer = Field(validation_alias="Type2")


class Sequential(EventPair, BothTypes):
    """Two events in order, with both questions (C.8.3)."""

    role = "sequential"
    names = ("pre-event", "post-event")
    first: _Text = Field(validation_alias="pre-event")
    first_span: Span = Field(validation_alias="pre-event_timestamp")
    second: _Text = Field(validation_alias="post-event")
    second_span: Span = Field(validation_alias="post-event_timestamp")


class Neighbours(_Read):
    """What leads to a query's event and what follows from it, as far as there is either (C.8.2)."""

    cause: str | None = None
    cause_relevant: _YesNo = Field(default=None, validation_alias="cause-relevant")
    cause_alignment: _Level = Field(default=None, validation_alias="cause-alignment")
    effect: str | None = None
    effect_relevant: _YesNo = Field(default=None, validation_alias="effect-relevant")
    effect_alignment: _Level = Field(default=None, validation_alias="effect-alignment")

    def neighbour(self, side: Literal["cause", "effect"], cuts: Cuts) -> str:
        """Return the event that was seen on one side; DroppedError: `none`, `not_relevant` or `low_alignment`."""
        text, relevant = getattr(self, side), getattr(self, f"{side}_relevant")
        if not text or text.lower().rstrip(".") == "none":
            raise DroppedError("none")
        if relevant != "yes" and (relevant is None or cuts.not_causal == "drop"):
            raise DroppedError("not_relevant")
        alignment = getattr(self, f"{side}_alignment")
        if alignment is None or ALIGNMENTS.index(alignment) < ALIGNMENTS.index(cuts.alignment_from):
            raise DroppedError("low_alignment")
        return text


class Scores(_Read):
    """How right the two questions are (C.8.6)."""

    case_1_score: Rating
    case_2_score: Rating


class _Options(_Read):
    wrong_answer_1: _Text
    wrong_answer_2: _Text
    wrong_answer_3: _Text


def read_pair(
    reply: str, model: type[EventPairT], captions: Sequence[Span], last: float
) -> EventPairT:
    """Read a pair of events; `captions` have their starts and ends, `last` is when the video, or its last event, ends.

    All in seconds. UnreadableError unless the events are captioned ones, the first of which begins
    first.
    """
    pair = read_model(reply, model)
    spans = dict(zip(model.names, (pair.first_span, pair.second_span), strict=True))
    for name, (start, end) in spans.items():
        if not 0 <= start < end <= last:
            raise UnreadableError(
                f"{name}_timestamp: not a part of the video, which goes from 0 to {last:g} s"
            )
    if pair.first_span == pair.second_span:
        raise UnreadableError(
            "both events have the same timestamp; they must be at different times"
        )
    for name, (start, end) in spans.items():
        starts = any(abs(start - caption[0]) <= ROUNDED for caption in captions)
        if not starts or not any(abs(end - caption[1]) <= ROUNDED for caption in captions):
            raise UnreadableError(
                f"{name}_timestamp: [{start:g}, {end:g}] is no event's time; take start and end from the material"
            )
    if pair.first_span[0] > pair.second_span[0]:
        first, second = model.names
        raise UnreadableError(
            f"{first}_timestamp: starts after the {second}; the first event must come first"
        )
    return pair


def read_neighbours(reply: str) -> Neighbours:
    """Read what was seen beside a query's event; the one word `none` is an answer too."""
    if reply.strip().strip("\"'`.").lower() == "none":
        return Neighbours()
    return read_model(reply, Neighbours)


def read_wrong(reply: str, right: str) -> list[str]:
    """Read three wrong answers, formed as `option` forms them, and hold them to be different from all others."""
    wrong = [option(text) for text in read_model(reply, _Options).model_dump().values()]
    if len({text.casefold() for text in [right, *wrong]}) < 1 + len(wrong):
        raise UnreadableError("two of the four answers are the same; each must be another")
    return wrong


def option(text: str) -> str:
    """Return an answer as an option: on one line, without the last full stop, not capitalised.

    All four are formed the same way, or the right one could be told by its looks.
    """
    first, *others = text.split() or [""]
    if first != "I" and (len(first) == 1 or not first.isupper()):
        first = first[:1].lower() + first[1:]
    return " ".join([first, *others]).rstrip(".")


WAGE = 6.0
"""Dollars an hour that a person is paid at least (supplement, C.3)."""


class Draft(BaseModel):
    """A question on its way.

    `span` is when the answer happens and `question_span` when that which the question names does,
    in seconds; None where nobody knows yet.
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

        Type 1 names the first event and is answered by the second; of means and end it names the
        end.
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


@dataclass(slots=True)
class MomentSource:
    """A source on its way, its pairs, and the questions that a stage gave nothing for."""

    source: Source
    pairs: list[Pair] = field(default_factory=list[Pair])
    unfinished: list[Draft] = field(default_factory=list[Draft])

    def leave(self, pair: Pair) -> None:
        """Leave a pair out; its questions, if any, are unfinished."""
        self.unfinished += pair.questions
        self.pairs.remove(pair)

    def as_line(self) -> dict[str, Any]:
        """Return it as a file to go on from has it."""
        return PairsLine(
            source=self.source.id, pairs=self.pairs, unfinished=self.unfinished
        ).model_dump()


class PairsLine(BaseModel):
    """A line of a file to go on from: a source's id, its pairs, and the questions that nothing came for."""

    source: str
    pairs: list[Pair]
    unfinished: list[Draft] = []


def read_pairs(path: Path, sources: Sequence[Source]) -> list[MomentSource]:
    """Read a file of pairs and join it with its sources; InputError names the line that is wrong."""
    known = {source.id: source for source in sources}
    read = []
    for number, line in read_jsonl(path):
        where = f"{path}, line {number}"
        given = record_of(PairsLine, line, where)
        if given.source not in known:
            raise InputError(
                f"{where}: --captions has no {given.source!r}; give the file it was made from"
            )
        read.append(MomentSource(known[given.source], given.pairs, given.unfinished))
    return read


def to_row(draft: Draft, source: Source, *, seed: int, with_options: bool) -> dict[str, Any]:
    """Return a question as a row in the Hub's schema, with the span of what it names beside the answer's.

    Where nobody knows the answer's span it is the whole video. The seed decides on the options'
    order.
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
    rows: Sequence[Mapping[str, Any]],
    number: int,
    seed: int,
    note: Callable[[str], None] = lambda _: None,
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

    Of each: question span, answer span (None where it isn't known) and video. A question whose own
    span and its answer's overlap completely does not reason across time; that one lies within the
    other is taken for that, `identical` counts those with the same ends.
    """
    whole = [(asked, answer, video) for asked, answer, video in spans]
    known = [
        (asked, answer, video)
        for asked, answer, video in whole
        if asked is not None and answer is not None
    ]
    # One lies within the other where what they share is all of it.
    shared = [(max(asked[0], answer[0]), min(asked[1], answer[1])) for asked, answer, _ in known]
    contained = sum(
        both in (tuple(asked), tuple(answer))
        for both, (asked, answer, _) in zip(shared, known, strict=True)
    )
    measured = (
        certificates([(a, b) for a, b, _ in known], [video for *_, video in known])
        if known
        else None
    )
    return {
        "questions": len(whole),
        "known": len(known),
        "identical": sum(tuple(asked) == tuple(answer) for asked, answer, _ in known),
        "contained": contained,
        "across_time": len(known) - contained,
        "certificate_length": measured and asdict(measured.length),
        "qa_miou": measured and asdict(measured.qa_miou),
    }


def cost_per_1000(
    cost_usd: float | None, seconds: float, kept: int, wage: float = WAGE
) -> dict[str, float] | None:
    """Return the cost of 1,000 kept questions: dollars of models, people's hours, both in dollars; None of nothing.

    `cost_usd` is None without prices; `seconds` are of people's work, `wage` is in dollars an hour.
    ReXTime counts $35 of GPT-4 and 1,000 / 60 hours at $6, together $135 (supplement, C.3).
    """
    if not kept or (cost_usd is None and not seconds):
        return None
    models, hours = 1000 * (cost_usd or 0.0) / kept, 1000 * seconds / 3600 / kept
    return {
        "models_usd": models,
        "people_hours": hours,
        "people_usd": hours * wage,
        "usd": models + hours * wage,
    }
