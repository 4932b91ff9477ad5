"""The options of a judge, beside those of any language model."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.base.values import is_number, is_object
from reelbench.judges.identity import judge_name_faults
from reelbench.llm.ask_options import LIMITS, AskOptions
from reelbench.llm.model_names import read_model_name, takes_completion_limit
from reelbench.llm.reply_bound import REASONING_TOKENS, TOKENS, ReplyBound
from reelbench.llm.structured import Structured

VoteRule = Literal["majority", "mean", "median"]

_PRICES = {
    "input_cost_per_token": "usd_per_million_prompt",
    "output_cost_per_token": "usd_per_million_completion",
    "cache_read_input_token_cost": "usd_per_million_cached",
    "output_cost_per_reasoning_token": "usd_per_million_reasoning",
}
"""LiteLLM's name, in dollars per token -> ours, in dollars per million tokens (`AskOptions`)."""

_REASONING_SETTINGS = {"reasoning", "reasoning_effort", "thinking", "chat_template_kwargs"}
"""Settings of a model that reasons, as servers call them."""

_NEEDED = ("input_cost_per_token", "output_cost_per_token")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions(AskOptions):
    """A judge and its options. InputError if a value makes no sense.

    Attributes:
        votes: Number of replies per criterion.
        vote_rule: `majority` is the most frequent score. If several are equally frequent, the lower
            median of all votes. `mean` and `median` are those of the votes. A panel's score is the
            judges' median with `median`, otherwise their mean.
        prompts: `reelbench`, `official`, or a path to a file (see `reelbench.judges.prompting`).
        temperature: `auto` is the temperature of the prompt set (ours: 0; official: the owners'
            setting). `none` sends no temperature. Reasoning models need this.
        structured: When a reply's schema is sent along: with each call, with a re-ask alone, or
            never. None is `retry`, and `never` for the owners' own prompts, whose re-asks have the
            same words.
        max_tokens: Bound on a reply, which is no part of its key; by default 8,192, and 32,768 for
            a judge that reasons.
        others: The other judges of a panel.
    """

    option: ClassVar[str] = "--judge"
    who: ClassVar[str] = "the judge"
    name_option: ClassVar[str | None] = "--judge-name"
    key_variable: ClassVar[str] = settings.JUDGE_API_KEY.name
    advice: ClassVar[Mapping[str, str]] = {
        "cut_off": "allow longer replies (--judge-max-tokens), or switch the model's thinking off",
        "unreadable": "name another model, or try --judge-structured always",
    }

    votes: int = 1
    vote_rule: VoteRule = "majority"
    prompts: str = "reelbench"
    temperature: float | Literal["auto", "none"] = "auto"
    structured: Structured | None = None
    others: tuple["JudgeOptions", ...] = ()

    def __post_init__(self) -> None:
        AskOptions.__post_init__(self)
        if self.votes < 1:
            raise InputError(f"--judge-votes: {self.votes} is not a number from 1 up")
        if self.vote_rule not in get_args(VoteRule):
            raise InputError(
                f"--judge-vote-rule: {self.vote_rule!r} is not majority, mean or median"
            )
        if self.structured is not None and self.structured not in get_args(Structured):
            raise InputError(
                f"--judge-structured: {self.structured!r} is not {', '.join(get_args(Structured))}"
            )
        for name, judges in Counter(judge.filed_name for judge in self.members).items():
            if judges > 1:
                raise InputError(
                    f"--judge: {name} is named twice; a panel's judges are different models, and "
                    "--judge-name NAME,NAME tells them apart"
                )

    def _name_faults(self) -> Iterator[str]:
        """Yield the faults of the judge's name in results."""
        yield from judge_name_faults("the name", self.filed_name)

    def sampling(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of each call, without the bound.

        Keys are made of them.
        """
        return dict(settings) | dict(self.extra)

    def reply_bound(self, sampling: Mapping[str, Any]) -> ReplyBound | None:
        """Return the bound on replies. None where the settings name it."""
        if self.local or any(name in sampling for name in LIMITS):
            return None
        if self.max_tokens is not None:
            return ReplyBound(self.max_tokens, may_grow=False)
        if takes_completion_limit(self.model) or not _REASONING_SETTINGS.isdisjoint(self.extra):
            return ReplyBound(REASONING_TOKENS, may_grow=True)
        return ReplyBound(TOKENS, may_grow=True)

    @property
    def members(self) -> list["JudgeOptions"]:
        """The judges of the panel one by one. This one alone without others."""
        if not self.others:
            return [self]
        return [replace(self, others=()), *self.others]

    @property
    def name(self) -> str:
        """The judges' names in a record: a panel is the same in any order."""
        return ",".join(sorted(judge.filed_name for judge in self.members))

    @classmethod
    def named(
        cls,
        text: str,
        *,
        url: str | None = None,
        names: str | None = None,
        prices: Path | None = None,
        **shared: Any,  # noqa: ANN401 - as the fields are
    ) -> "JudgeOptions":
        """Return the judge, or the panel, that a text names.

        The key of a judge is `REELBENCH_JUDGE_API_KEY`, else `OPENAI_API_KEY`, or the provider's
        own (`llm.model_names`).

        Args:
            text: `MODEL[@URL][,MODEL[@URL]…]`.
            url: Server of those without one of their own, by default `REELBENCH_JUDGE_URL`, else
                `OPENAI_BASE_URL`.
            names: The names that results have for the judges, comma-separated in the same order.
            prices: A file of prices in LiteLLM's shape (`model_prices_and_context_window.json`).
            **shared: Fields of every judge.
        """
        url = url or settings.first(settings.JUDGE_URL, settings.OPENAI_BASE_URL)
        parts = text.split(",")
        for part, next_part in pairwise(parts):
            if "?" in part and "@http" not in next_part:
                raise InputError(
                    "--judge: behind an address with a query name the next judge as MODEL@URL; "
                    "a comma in a query is %2C"
                )
        filed_names = cls._names_of(parts, names)
        judges: list[JudgeOptions] = []
        for part, filed in zip(parts, filed_names, strict=True):
            fields = read_model_name(
                "--judge", part.strip(), url, settings.JUDGE_API_KEY, settings.OPENAI_API_KEY
            )
            model = fields["model"]
            costs: dict[str, float] = {}
            if prices and model:
                costs = model_prices(prices, model, batch=shared.get("batch", False))
            judges.append(cls(**{**fields, **shared, **costs, "file_as": filed}))
        return replace(judges[0], others=tuple(judges[1:]))

    @staticmethod
    def _names_of(judges: Sequence[str], names: str | None) -> Sequence[str | None]:
        """Return the name that results have for each judge, None where none is given."""
        if names is None:
            return [None] * len(judges)
        filed_names = [name.strip() for name in names.split(",")]
        if len(filed_names) != len(judges):
            raise InputError(
                f"--judge-name: {len(filed_names)} for {len(judges)} of --judge; give one each"
            )
        return filed_names

    @classmethod
    def from_environment(cls) -> "JudgeOptions | None":
        """Return the judge that `REELBENCH_JUDGE` names, or None where it is unset.

        `OPENAI_BASE_URL` and `OPENAI_API_KEY` alone never make a judge: they may belong to the
        model under test.
        """
        model = settings.JUDGE.get()
        return cls.named(model) if model else None


def model_prices(path: Path, model: str, *, batch: bool = False) -> dict[str, float]:
    """Return a model's prices, as `AskOptions` names them.

    The file has them under the model's own name, or under one provider's (`openai/MODEL`). Of a
    `batch` they are those called `…_batches`, where it has them.

    Raises:
        InputError: The file has none, or several.
    """
    models = read_json(path)
    if not is_object(models):
        raise InputError(f"{path}: not one JSON object, model -> prices")
    names = [name for name in models if name.endswith(f"/{model}")]
    if model in models:
        names = [model]
    if len(names) != 1:
        reason = "has none"
        if names:
            reason = f"has several: {', '.join(sorted(names)[:4])}"
        raise InputError(
            f"{path}: no one price for {model!r} (it {reason}); add it, or give the price itself"
        )
    [name] = names
    entry = models[name]
    prices: dict[str, float] = {}
    for litellm_name, our_name in _PRICES.items():
        price = None
        if is_object(entry):
            price = entry.get(litellm_name)
            if batch:
                price = entry.get(f"{litellm_name}_batches", price)
        if price is None and litellm_name not in _NEEDED:
            continue
        if not is_number(price) or not 0 <= price < 1:
            raise InputError(f"{path}, {name}: {litellm_name} is {price!r}, not dollars per token")
        prices[our_name] = price * 1e6
    return prices
