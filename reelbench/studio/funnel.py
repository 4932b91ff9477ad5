"""How many went into each stage of a chain, how many came out, and why the others did not."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from pydantic import Field

from reelbench.base.base_record import Count, Omittable, Record
from reelbench.pages.svg import COLOURS, GRID, SOFT, rectangle, svg_document, text


class StageRecord(Record):
    """A stage of a chain; `in` is what came out and all that was dropped."""

    name: str
    entered: Count = Field(alias="in")
    left: Count = Field(alias="out")
    dropped: dict[str, int] = Field(description="Reason -> how many.")


class TokensRecord(Record):
    """Tokens of all replies behind the results, whenever they were paid."""

    prompt: int = Field(ge=0)
    completion: int = Field(ge=0)


class RoleRecord(Record):
    """Who played a role."""

    asked: str = Field(description="The model that was named.")
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
    """Questions that reason across time, and certificates of those whose both spans are known (ReXTime, C.6)."""

    questions: int = Field(ge=0)
    known: int = Field(
        ge=0, description="Questions with a span of their own and one of their answer."
    )
    identical: int = Field(ge=0, description="Of these, both spans are the same.")
    contained: int = Field(ge=0, description="One span lies within the other: not across time.")
    across_time: int = Field(ge=0)
    certificate_length: EstimateRecord | None = Field(description="Seconds (C.L.).")
    qa_miou: EstimateRecord | None = Field(description="0 to 1.")


class CostRecord(Record):
    """What 1,000 kept questions cost."""

    models_usd: float = Field(ge=0)
    people_hours: float = Field(ge=0)
    people_usd: float = Field(ge=0)
    usd: float = Field(ge=0, description="Both together.")


class FunnelRecord(Record):
    """`funnel.json`: what went into each stage of a chain, what came out, and what it took."""

    stages: tuple[StageRecord, ...]
    calls: int = Field(ge=0, description="Replies that this run asked for.")
    cached: int = Field(ge=0, description="Replies that were there.")
    tokens: TokensRecord
    models: dict[str, RoleRecord]
    thresholds: dict[str, int | float | str | None] = Field(
        description="Where what is kept was parted from the rest."
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
        default=None, description="Null without prices and people's time."
    )
    edited_after: Omittable[tuple[str, ...] | None] = Field(
        default=None,
        description="Stages whose file people changed before the chain went on from it.",
    )
    made_by: Omittable[Literal["machine"] | None] = Field(
        default=None, description="`make tags`: who made the tags."
    )


def join_accounts(earlier: FunnelRecord, later: FunnelRecord) -> FunnelRecord:
    """Return the account of a chain that was stopped and went on: of all its stages, replies, models and prompts.

    The calls are the later run's; whatever was paid before is among the replies that were there.
    """
    models = earlier.models | later.models
    for role in earlier.models.keys() & later.models.keys():
        before, after = earlier.models[role], later.models[role]
        returned = Counter(before.returned) + Counter(after.returned)
        models[role] = after.model_copy(update={"returned": dict(sorted(returned.items()))})
    return later.model_copy(
        update={
            "stages": (*earlier.stages, *later.stages),
            "cached": earlier.calls + earlier.cached + later.cached,
            "tokens": TokensRecord(
                prompt=earlier.tokens.prompt + later.tokens.prompt,
                completion=earlier.tokens.completion + later.tokens.completion,
            ),
            "models": models,
            "thresholds": earlier.thresholds | later.thresholds,
            "settings": earlier.settings | later.settings,
            "edited_after": earlier.edited_after,
            "prompts": dict(sorted((earlier.prompts | later.prompts).items())),
        }
    )


class DroppedError(Exception):
    """An item that a chain goes on without; `reason` is a word or two, joined by underscores."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Funnel:
    """Stages in the order of the chain. All counts add up whatever order the items come in."""

    def __init__(self, *names: str) -> None:
        self._entered = Counter[str]()
        self._dropped = {name: Counter[str]() for name in names}

    @contextmanager
    def stage(self, name: str, size: int = 1) -> Iterator[None]:
        """Count what the block does to an item (or to `size` of them): it comes out, or is dropped with a reason."""
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
        counts = [(name, self._entered[name], dropped) for name, dropped in self._dropped.items()]
        return [
            {
                "name": name,
                "in": entered,
                "out": entered - lost.total(),
                "dropped": dict(sorted((+lost).items())),
            }
            for name, entered, lost in counts
        ]


_KEPT, _LOST, _EMPTY = COLOURS[0], COLOURS[1], GRID
_MARGIN, _NAME, _BAR, _LOSSES, _ROW, _HEIGHT = 12, 150, 320, 430, 34, 20
_LONGEST = 70  # characters of a row's losses


def to_svg(stages: Sequence[Mapping[str, Any]]) -> str:
    """Draw the stages of a `funnel.json`; a bar's length is the share of the stage's own `in` that came out."""
    parts: list[str] = []
    left = _MARGIN + _NAME
    for place, stage in enumerate(stages):
        top = _MARGIN + place * _ROW
        middle = top + _HEIGHT / 2 + 4
        share = stage["out"] / stage["in"] if stage["in"] else 0.0
        losses = ", ".join(
            f"{reason.replace('_', ' ')} {count}" for reason, count in stage["dropped"].items()
        )
        if len(losses) > _LONGEST:
            losses = losses[: _LONGEST - 1] + "…"
        parts += [
            text(_MARGIN, middle, stage["name"].replace("_", " "), size=13),
            rectangle(left, top, _BAR, _HEIGHT, _LOST if stage["in"] else _EMPTY),
            rectangle(left, top, _BAR * share, _HEIGHT, _KEPT),
            text(left + _BAR + 10, middle, f"{stage['out']} of {stage['in']}", size=13),
            text(left + _BAR + 110, middle, losses, size=13, fill=SOFT),
        ]
    description = "; ".join(f"{stage['name']}: {stage['out']} of {stage['in']}" for stage in stages)
    width, height = 2 * _MARGIN + _NAME + _BAR + _LOSSES, 2 * _MARGIN + _ROW * len(stages)
    return svg_document("What came through", height, parts, width=width, description=description)
