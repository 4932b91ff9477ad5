"""Pairs of events and the questions on them: read from replies, kept in files, written as rows.

A file of pairs (`--until`) has a line for each source. People may edit its questions, or take some
out, and the chain continues from it (`--from`).
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


def _plain_word(value: object) -> object:
    """Return a word in lower case, without a full stop."""
    if isinstance(value, str):
        return value.strip().rstrip(".").lower()
    return value


_YesNo = Annotated[Literal["yes", "no"] | None, BeforeValidator(_plain_word)]
_Level = Annotated[Literal["low", "medium", "high"] | None, BeforeValidator(_plain_word)]
ALIGNMENTS = ("low", "medium", "high")
ROUNDED = 0.5
"""Seconds by which a stated time may differ from a caption's: models round."""
Side = Literal["cause", "effect"]


class _Reply(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)


class EventPair(_Reply):
    """Two events, the first of which begins first."""

    role: ClassVar[str]
    """The role that pairs them."""
    names: ClassVar[tuple[str, str]]
    """The names of both in a reply."""
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
        """Return the pair's category by its ratings.

        Raises:
            DroppedError: `similar` or `not_causal`.
        """
        if self.similarity >= cuts.similar_from:
            raise DroppedError("similar")
        if min(self.directness, self.necessity) < cuts.causal_from:
            raise DroppedError("not_causal")
        if min(self.intentionality, self.purpose) >= cuts.means_from:
            return "means-to-an-end"
        return "cause-effect"


class QuestionAnswer(_Reply):
    """A question and its answer."""

    question: _Text = Field(validation_alias="Question")
    answer: _Text = Field(validation_alias="Answer")


class BothTypes(_Reply):
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


class Neighbours(_Reply):
    """The cause and the effect of a query's event, where there is one (C.8.2)."""

    cause: str | None = None
    cause_relevant: _YesNo = Field(default=None, validation_alias="cause-relevant")
    cause_alignment: _Level = Field(default=None, validation_alias="cause-alignment")
    effect: str | None = None
    effect_relevant: _YesNo = Field(default=None, validation_alias="effect-relevant")
    effect_alignment: _Level = Field(default=None, validation_alias="effect-alignment")

    def is_relevant(self, side: Side) -> bool:
        """Return True where the event on one side is its cause or effect."""
        return getattr(self, f"{side}_relevant") == "yes"

    def neighbour(self, side: Side, cuts: Cuts) -> str:
        """Return the event on one side.

        Raises:
            DroppedError: `none`, `not_relevant` or `low_alignment`.
        """
        text = getattr(self, side)
        if not text or text.lower().rstrip(".") == "none":
            raise DroppedError("none")
        relevance = getattr(self, f"{side}_relevant")
        if relevance is None or (relevance == "no" and cuts.not_causal == "drop"):
            raise DroppedError("not_relevant")
        alignment = getattr(self, f"{side}_alignment")
        lowest = ALIGNMENTS.index(cuts.alignment_from)
        if alignment is None or ALIGNMENTS.index(alignment) < lowest:
            raise DroppedError("low_alignment")
        return text


class Scores(_Reply):
    """Ratings of the two questions (C.8.6)."""

    case_1_score: Rating
    case_2_score: Rating


class WrongOptions(_Reply):
    """Three wrong answers."""

    wrong_answer_1: _Text
    wrong_answer_2: _Text
    wrong_answer_3: _Text


def read_pair(
    reply: str, model: type[EventPairT], captions: Sequence[Span], last: float
) -> EventPairT:
    """Read a pair of events.

    Args:
        reply: The reply.
        model: The kind of pair.
        captions: Start and end of each caption, in seconds.
        last: The second at which the video, or its last event, ends.

    Raises:
        UnreadableError: The events are not captioned ones, or the first does not begin first.
    """
    pair = read_model(reply, model)
    first_name, second_name = model.names
    first = pair.first_span
    second = pair.second_span
    _check_within(first_name, first, last)
    _check_within(second_name, second, last)
    if first == second:
        raise UnreadableError(
            "both events have the same timestamp; they must be at different times"
        )
    _check_captioned(first_name, first, captions)
    _check_captioned(second_name, second, captions)
    if first[0] > second[0]:
        raise UnreadableError(
            f"{first_name}_timestamp: starts after the {second_name}; "
            "the first event must come first"
        )
    return pair


def _check_within(name: str, span: Span, last: float) -> None:
    start, end = span
    if not 0 <= start < end <= last:
        raise UnreadableError(
            f"{name}_timestamp: not a part of the video, which goes from 0 to {last:g} s"
        )


def _check_captioned(name: str, span: Span, captions: Sequence[Span]) -> None:
    """Check that a span starts where a caption does, and ends where one does."""
    start, end = span
    starts = any(abs(start - caption_start) <= ROUNDED for caption_start, _ in captions)
    ends = any(abs(end - caption_end) <= ROUNDED for _, caption_end in captions)
    if not (starts and ends):
        raise UnreadableError(
            f"{name}_timestamp: [{start:g}, {end:g}] is no event's time; "
            "take start and end from the material"
        )


def read_neighbours(reply: str) -> Neighbours:
    """Read the neighbours of a query's event. The one word `none` is an answer too."""
    if reply.strip().strip("\"'`.").lower() == "none":
        return Neighbours()
    return read_model(reply, Neighbours)


def read_wrong(reply: str, right: str) -> list[str]:
    """Read three wrong answers, formed as `option` forms them.

    Raises:
        UnreadableError: Two of all four answers are the same.
    """
    answers = read_model(reply, WrongOptions).model_dump()
    wrong_options = [option(text) for text in answers.values()]
    options = [right, *wrong_options]
    distinct = {text.casefold() for text in options}
    if len(distinct) < len(options):
        raise UnreadableError("two of the four answers are the same; each must be another")
    return wrong_options


def option(text: str) -> str:
    """Return an answer as an option.

    It is on one line, without the last full stop, and not capitalised. All four are formed the same
    way, or the right one could be told by its looks.
    """
    line = " ".join(text.split())
    first_word = line.partition(" ")[0]
    is_acronym = len(first_word) > 1 and first_word.isupper()
    if first_word != "I" and not is_acronym:
        line = line[:1].lower() + line[1:]
    return line.rstrip(".")


WAGE = 6.0
"""Dollars an hour that a person is paid at least (supplement, C.3)."""


class Draft(BaseModel):
    """A question on its way.

    `span` is when the answer happens. `question_span` is when the event that the question names
    happens. Both are in seconds, and None where nobody knows yet.
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
    """Two events in order, their times, and the questions on them.

    A time is None where nobody knows it.
    """

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
        named, answering = self.spans
        if self.category == "means-to-an-end":
            answering, named = self.spans
        self.questions = [
            self._draft_question(1, both.type1, span=answering, question_span=named),
            self._draft_question(2, both.type2, span=named, question_span=answering),
        ]
        return self

    def _draft_question(
        self,
        number: int,
        written: QuestionAnswer,
        *,
        span: Span | None,
        question_span: Span | None,
    ) -> Draft:
        kind = self.category.replace("-", "_")
        return Draft(
            id=f"{self.id}_{kind}_{number}",
            category=self.category,
            question=written.question,
            answer=written.answer,
            span=span,
            question_span=question_span,
        )


@dataclass(slots=True)
class MomentSource:
    """A source on its way, its pairs, and its unfinished questions."""

    source: Source
    pairs: list[Pair] = field(default_factory=list[Pair])
    unfinished: list[Draft] = field(default_factory=list[Draft])

    def leave(self, pair: Pair) -> None:
        """Leave a pair out. Its questions, if any, are unfinished."""
        self.unfinished += pair.questions
        self.pairs.remove(pair)

    def as_line(self) -> dict[str, Any]:
        """Return the line of a file of pairs."""
        line = PairsLine(source=self.source.id, pairs=self.pairs, unfinished=self.unfinished)
        return line.model_dump()


class PairsLine(BaseModel):
    """A line of a file of pairs. `source` is the source's id."""

    source: str
    pairs: list[Pair]
    unfinished: list[Draft] = []


def read_pairs(path: Path, sources: Sequence[Source]) -> list[MomentSource]:
    """Read a file of pairs and join it with its sources.

    Raises:
        InputError: Names the line that is wrong.
    """
    sources_by_id = {source.id: source for source in sources}
    joined_sources: list[MomentSource] = []
    for number, entry in read_jsonl(path):
        where = f"{path}, line {number}"
        line = record_of(PairsLine, entry, where)
        source = sources_by_id.get(line.source)
        if source is None:
            raise InputError(
                f"{where}: --captions has no {line.source!r}; give the file it was made from"
            )
        joined_sources.append(MomentSource(source, line.pairs, line.unfinished))
    return joined_sources


def to_row(draft: Draft, source: Source, *, seed: int, with_options: bool) -> dict[str, Any]:
    """Return a question as a row in the Hub's schema, and its question span.

    Where nobody knows the answer's span it is the whole video. The seed decides the order of the
    options.
    """
    right = option(draft.answer)
    question_span = None
    if draft.question_span is not None:
        question_span = list(draft.question_span)
    row: dict[str, Any] = {
        "qid": draft.id,
        "vid": source.video,
        "duration": source.duration,
        "question": draft.question,
        "answer": f"From <s0> to <e0>, {right}.",
        "source": source.source,
        "category": draft.category,
        "span": list(draft.span or (0.0, source.duration)),
        "question_span": question_span,
    }
    if with_options:
        options = [right, *draft.wrong]
        random.Random(f"{seed}|{draft.id}").shuffle(options)  # noqa: S311 - no secret
        row["options"] = options
        row["ans"] = LETTERS[options.index(right)]
    return row


def mini_test(
    rows: Sequence[Mapping[str, Any]],
    number: int,
    seed: int,
    note: Callable[[str], None] = lambda _: None,
) -> list[Mapping[str, Any]]:
    """Draw rows of each category by the seed, and return them in order.

    ReXTime's mini-test has 100 of each.
    """
    places_by_category: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places_by_category.setdefault(row["category"], []).append(place)
    drawn_places: list[int] = []
    for category, places in sorted(places_by_category.items()):
        count = min(number, len(places))
        if count < number:
            questions = number_of(count, "question")
            note(f"mini test: {category} has only {questions}; all are in it")
        generator = random.Random(f"{seed}|{category}")  # noqa: S311 - no secret
        drawn_places += generator.sample(places, count)
    return [rows[place] for place in sorted(drawn_places)]


def across_time(spans: Iterable[tuple[Span | None, Span | None, str]]) -> dict[str, Any]:
    """Count the questions that reason across time, and measure their certificates (C.6).

    A question does not reason across time where one of its spans lies within the other.
    `identical` counts those whose spans have the same ends.

    Args:
        spans: Question span, answer span (None where it isn't known) and video of each question.
    """
    questions = 0
    known_pairs: list[tuple[Span, Span]] = []
    videos: list[str] = []
    identical = 0
    contained = 0
    for question_span, answer_span, video in spans:
        questions += 1
        if question_span is None or answer_span is None:
            continue
        known_pairs.append((question_span, answer_span))
        videos.append(video)
        if tuple(question_span) == tuple(answer_span):
            identical += 1
        if _is_contained(question_span, answer_span):
            contained += 1
    certificate_length = None
    qa_miou = None
    if known_pairs:
        measured = certificates(known_pairs, videos)
        certificate_length = asdict(measured.length)
        qa_miou = asdict(measured.qa_miou)
    return {
        "questions": questions,
        "known": len(known_pairs),
        "identical": identical,
        "contained": contained,
        "across_time": len(known_pairs) - contained,
        "certificate_length": certificate_length,
        "qa_miou": qa_miou,
    }


def _is_contained(first: Span, second: Span) -> bool:
    """Return True where one of two spans lies within the other."""
    overlap = (max(first[0], second[0]), min(first[1], second[1]))
    return overlap in (tuple(first), tuple(second))


def cost_per_1000(
    cost_usd: float | None, seconds: float, questions: int, wage: float = WAGE
) -> dict[str, float] | None:
    """Return the cost of 1,000 kept questions.

    ReXTime counts $35 of GPT-4 and 1,000 / 60 hours at $6, together $135 (supplement, C.3).

    Args:
        cost_usd: Dollars for models. None without prices.
        seconds: Seconds of people's work.
        questions: Number of kept questions.
        wage: Dollars an hour.

    Returns:
        Dollars for models, hours and dollars for people, and dollars for both. None without kept
        questions, or with neither prices nor people's work.
    """
    if not questions:
        return None
    if cost_usd is None:
        if not seconds:
            return None
        cost_usd = 0.0
    models_usd = 1000 * cost_usd / questions
    people_hours = 1000 * seconds / 3600 / questions
    people_usd = people_hours * wage
    return {
        "models_usd": models_usd,
        "people_hours": people_hours,
        "people_usd": people_usd,
        "usd": models_usd + people_usd,
    }
