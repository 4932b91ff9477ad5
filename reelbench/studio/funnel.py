"""Count what goes into each stage of a chain, what comes out, and why the rest is dropped."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import Field

from reelbench.base.base_record import Count, Omittable, Record
from reelbench.pages.svg import COLOURS, GRID, SOFT, rectangle, svg_document, text


class StageRecord(Record):
    """A stage of a chain. `in` is what came out and all that was dropped."""

    name: str
    entered: Count = Field(alias="in")
    passed: Count = Field(alias="out")
    dropped: dict[str, int] = Field(description="Reason -> number.")


class TokensRecord(Record):
    """Tokens of all replies behind the results, whenever they were paid."""

    prompt: int = Field(ge=0)
    completion: int = Field(ge=0)


class RoleRecord(Record):
    """The models that played a role."""

    requested: str = Field(alias="asked", description="The model that was named.")
    returned: dict[str, int] = Field(description="Model as the server names it -> replies.")
    sampling: Omittable[dict[str, Any] | None] = Field(
        default=None,
        description="What was sent beside model and messages (temperature, seed, `--llm-extra`).",
    )


class EstimateRecord(Record):
    """A mean and its interval over videos (null under ten)."""

    value: float
    ci95: tuple[float, float] | None


class AcrossTimeRecord(Record):
    """Questions that reason across time, and their certificates (ReXTime, C.6).

    Certificates are of the questions whose own span and answer span are both known.
    """

    questions: int = Field(ge=0)
    with_both_spans: int = Field(
        alias="known",
        ge=0,
        description="Questions with a span for the question and one for the answer.",
    )
    identical: int = Field(ge=0, description="Of these, both spans are the same.")
    contained: int = Field(ge=0, description="One span lies within the other: not across time.")
    across_time: int = Field(ge=0)
    certificate_length: EstimateRecord | None = Field(description="Seconds (C.L.).")
    qa_miou: EstimateRecord | None = Field(description="0 to 1.")


class CostRecord(Record):
    """The cost of 1,000 questions that passed all stages."""

    models_usd: float = Field(ge=0)
    people_hours: float = Field(ge=0)
    people_usd: float = Field(ge=0)
    usd: float = Field(ge=0, description="Both together.")


class FunnelRecord(Record):
    """The content of `funnel.json`: the stages of a chain, its calls and their cost."""

    stages: tuple[StageRecord, ...]
    calls: int = Field(ge=0, description="Replies that this run requested.")
    cached: int = Field(ge=0, description="Replies that were saved before.")
    tokens: TokensRecord
    models: dict[str, RoleRecord]
    thresholds: dict[str, int | float | str | None] = Field(
        description="The thresholds that separate what is kept from the rest."
    )
    settings: dict[str, int | float | bool | str | tuple[str, ...] | None]
    prompts: dict[str, str] = Field(description="File -> sha256.")
    cost_usd: float | None = Field(
        ge=0, description="Of all replies behind the results; null without prices."
    )
    unmarked: Omittable[tuple[str, ...] | None] = Field(
        default=None,
        description="`make moments`: questions whose span is the whole video until people mark it.",
    )
    across_time: Omittable[AcrossTimeRecord | None] = Field(
        default=None, description="`make moments`."
    )
    per_1000_kept: Omittable[CostRecord | None] = Field(
        default=None, description="Null if prices or people's time are unknown."
    )
    edited_after: Omittable[tuple[str, ...] | None] = Field(
        default=None,
        description="Stages whose file people changed before the chain continued from it.",
    )
    made_by: Omittable[Literal["machine"] | None] = Field(
        default=None, description="`make tags`: who made the tags."
    )


def join_accounts(earlier: FunnelRecord, later: FunnelRecord) -> FunnelRecord:
    """Return one account of a chain that was stopped and continued.

    It has the stages, replies, models and prompts of both runs. The calls are the later run's, and
    the earlier run's calls count as cached replies.
    """
    models = earlier.models | later.models
    for role in earlier.models.keys() & later.models.keys():
        replies = Counter(earlier.models[role].returned) + Counter(later.models[role].returned)
        returned = dict(sorted(replies.items()))
        models[role] = later.models[role].model_copy(update={"returned": returned})
    tokens = TokensRecord(
        prompt=earlier.tokens.prompt + later.tokens.prompt,
        completion=earlier.tokens.completion + later.tokens.completion,
    )
    prompts = earlier.prompts | later.prompts
    return later.model_copy(
        update={
            "stages": (*earlier.stages, *later.stages),
            "cached": earlier.calls + earlier.cached + later.cached,
            "tokens": tokens,
            "models": models,
            "thresholds": earlier.thresholds | later.thresholds,
            "settings": earlier.settings | later.settings,
            "edited_after": earlier.edited_after,
            "prompts": dict(sorted(prompts.items())),
        }
    )


class DroppedError(Exception):
    """An item is dropped. `reason` is a word or two joined by underscores."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Funnel:
    """Counts by stage. The items may come in any order."""

    def __init__(self, *names: str) -> None:
        self._entered = Counter[str]()
        self._dropped = {name: Counter[str]() for name in names}

    @contextmanager
    def stage(self, name: str, size: int = 1) -> Iterator[None]:
        """Count one item that goes through the block, or `size` of them.

        An item comes out, or the block drops it by raising DroppedError, which is raised again.
        """
        try:
            yield
        except DroppedError as error:
            self.count(name, size, {error.reason: size})
            raise
        self.count(name, size)

    def count(self, name: str, entered: int, dropped: Mapping[str, int] | None = None) -> None:
        """Count several items at once."""
        self._entered[name] += entered
        self._dropped[name].update(dropped or {})

    def document(self) -> list[dict[str, Any]]:
        """Return the stages as `funnel.json` has them."""
        stages: list[dict[str, Any]] = []
        for name, dropped in self._dropped.items():
            entered = self._entered[name]
            reasons = {reason: count for reason, count in sorted(dropped.items()) if count > 0}
            stages.append(
                {
                    "name": name,
                    "in": entered,
                    "out": entered - dropped.total(),
                    "dropped": reasons,
                }
            )
        return stages


_PASSED_COLOUR = COLOURS[0]
_DROPPED_COLOUR = COLOURS[1]
_EMPTY_COLOUR = GRID
_MARGIN = 12
_NAME_WIDTH = 150
_BAR_WIDTH = 320
_REASONS_WIDTH = 430
_ROW_HEIGHT = 34
_BAR_HEIGHT = 20
_LONGEST_REASONS = 70  # characters
_FONT_SIZE = 13


def to_svg(stages: Sequence[Mapping[str, Any]]) -> str:
    """Draw the stages of a `funnel.json`.

    The length of a bar is the share of the stage's own `in` that came out.
    """
    parts: list[str] = []
    counts: list[str] = []
    top = _MARGIN
    for stage in stages:
        counts.append(f"{stage['name']}: {stage['out']} of {stage['in']}")
        parts += _stage_row(stage, top=top)
        top += _ROW_HEIGHT
    return svg_document(
        "What came through",
        height=top + _MARGIN,
        parts=parts,
        width=2 * _MARGIN + _NAME_WIDTH + _BAR_WIDTH + _REASONS_WIDTH,
        description="; ".join(counts),
    )


def _stage_row(stage: Mapping[str, Any], top: float) -> list[str]:
    """Return the name, the bar, the counts and the reasons of one stage."""
    entered = stage["in"]
    share = 0.0
    background = _EMPTY_COLOUR
    if entered:
        share = stage["out"] / entered
        background = _DROPPED_COLOUR
    bar_start = _MARGIN + _NAME_WIDTH
    bar_end = bar_start + _BAR_WIDTH
    baseline = top + _BAR_HEIGHT / 2 + 4
    name = stage["name"].replace("_", " ")
    counts = f"{stage['out']} of {entered}"
    return [
        text(_MARGIN, baseline, name, size=_FONT_SIZE),
        rectangle(bar_start, top, _BAR_WIDTH, _BAR_HEIGHT, background),
        rectangle(bar_start, top, _BAR_WIDTH * share, _BAR_HEIGHT, _PASSED_COLOUR),
        text(bar_end + 10, baseline, counts, size=_FONT_SIZE),
        text(bar_end + 110, baseline, _reasons_text(stage["dropped"]), size=_FONT_SIZE, fill=SOFT),
    ]


def _reasons_text(dropped: Mapping[str, int]) -> str:
    """Return the reasons with their counts, cut where they are long."""
    reasons: list[str] = []
    for reason, count in dropped.items():
        name = reason.replace("_", " ")
        reasons.append(f"{name} {count}")
    joined = ", ".join(reasons)
    if len(joined) > _LONGEST_REASONS:
        return joined[: _LONGEST_REASONS - 1] + "…"
    return joined
