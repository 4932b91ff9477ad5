"""What the steps of making questions on moments reply (the keys of ReXTime's supplement, C.8), read and judged."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from reelbench.llm.reading import UnreadableError, read_model
from reelbench.studio.funnel import DroppedError
from reelbench.studio.moment_rules import Cuts
from reelbench.studio.moment_sources import Span

Category = Literal["cause-effect", "means-to-an-end", "sequential"]
Rating = Annotated[int, Field(ge=0, le=3)]
_Text = Annotated[str, Field(min_length=1)]
_Word = BeforeValidator(lambda value: value.strip().rstrip(".").lower() if isinstance(value, str) else value)
_YesNo = Annotated[Literal["yes", "no"] | None, _Word]
_Level = Annotated[Literal["low", "medium", "high"] | None, _Word]
ALIGNMENTS = ("low", "medium", "high")
ROUNDED = 0.5
"""Seconds by which a stated time may differ from a caption's: models round."""


class _Read(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True)


class Relation(_Read):
    """Two events and five ratings (C.8.1)."""

    event1: _Text
    event1_timestamp: Span
    event2: _Text
    event2_timestamp: Span
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


class Sequential(BothTypes):
    """Two events in order, with both questions (C.8.3)."""

    pre_event: _Text = Field(validation_alias="pre-event")
    pre_span: Span = Field(validation_alias="pre-event_timestamp")
    post_event: _Text = Field(validation_alias="post-event")
    post_span: Span = Field(validation_alias="post-event_timestamp")


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


def read_relation(reply: str, captions: Sequence[Span], last: float) -> Relation:
    """Read a pair of events; `captions` have their starts and ends, `last` is when the video, or its last event, ends.

    All in seconds.
    """
    relation = read_model(reply, Relation)
    _check_times({"event1": relation.event1_timestamp, "event2": relation.event2_timestamp}, captions, last)
    return relation


def read_sequential(reply: str, captions: Sequence[Span], last: float) -> Sequential:
    """Read two events in order; arguments as of `read_relation`."""
    pair = read_model(reply, Sequential)
    _check_times({"pre-event": pair.pre_span, "post-event": pair.post_span}, captions, last)
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


def _check_times(pair: Mapping[str, Span], captions: Sequence[Span], last: float) -> None:
    """Raise UnreadableError unless the pair's events are captioned ones, the first of which begins first."""
    for name, (start, end) in pair.items():
        if not 0 <= start < end <= last:
            raise UnreadableError(f"{name}_timestamp: not a part of the video, which goes from 0 to {last:g} s")
    if len(set(pair.values())) < len(pair):
        raise UnreadableError("both events have the same timestamp; they must be at different times")
    for name, (start, end) in pair.items():
        starts = any(abs(start - caption[0]) <= ROUNDED for caption in captions)
        if not starts or not any(abs(end - caption[1]) <= ROUNDED for caption in captions):
            raise UnreadableError(
                f"{name}_timestamp: [{start:g}, {end:g}] is no event's time; take start and end from the material"
            )
    (first, (start, _)), (second, (later, _)) = pair.items()
    if start > later:
        raise UnreadableError(f"{first}_timestamp: starts after the {second}; the first event must come first")
