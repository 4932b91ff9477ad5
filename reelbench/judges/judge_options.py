"""What the user asks of a judge, beside what is asked of any language model."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.base.values import is_number, is_object
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.model_names import read_model_name

VoteRule = Literal["majority", "mean", "median"]

_PRICES = {
    "input_cost_per_token": "usd_per_million_prompt",
    "output_cost_per_token": "usd_per_million_completion",
    "cache_read_input_token_cost": "usd_per_million_cached",
    "output_cost_per_reasoning_token": "usd_per_million_reasoning",
}
"""LiteLLM's name, in dollars per token -> ours, in dollars per million tokens (`AskOptions`)."""

_NEEDED = ("input_cost_per_token", "output_cost_per_token")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions(AskOptions):
    """A judge and its options; InputError if a value makes no sense.

    Attributes:
        votes: Number of replies per criterion.
        vote_rule: `majority` is the most frequent score; if several are equally frequent, the lower
            median of all votes. `mean` and `median` are those of the votes. A panel's score is the
            judges' median with `median`, otherwise their mean.
        prompts: `reelbench`, `official`, or a path to a file (see `reelbench.judges.prompting`).
        temperature: `auto` is the temperature of the prompt set (ours: 0; official: the owners'
            setting). `none` sends no temperature; reasoning models need this.
        others: The other judges of a panel.
    """

    option: ClassVar[str] = "--judge"
    who: ClassVar[str] = "the judge"
    key_variable: ClassVar[str] = settings.JUDGE_API_KEY.name

    votes: int = 1
    vote_rule: VoteRule = "majority"
    prompts: str = "reelbench"
    temperature: float | Literal["auto", "none"] = "auto"
    others: tuple["JudgeOptions", ...] = ()

    def __post_init__(self) -> None:
        AskOptions.__post_init__(self)
        if self.votes < 1:
            raise InputError(f"--judge-votes: {self.votes} is not a number from 1 up")
        if self.vote_rule not in get_args(VoteRule):
            raise InputError(
                f"--judge-vote-rule: {self.vote_rule!r} is not majority, mean or median"
            )
        twice = [
            name
            for name, times in Counter(judge.model for judge in self.members).items()
            if times > 1
        ]
        if twice:
            raise InputError(
                f"--judge: {twice[0]} is named twice; a panel's judges are different models"
            )

    @property
    def members(self) -> list["JudgeOptions"]:
        """The judges of the panel one by one; this one alone where there is none beside it."""
        return [replace(self, others=()), *self.others] if self.others else [self]

    @property
    def name(self) -> str:
        """The judges' names, as a record has them: a panel is the same in any order."""
        return ",".join(sorted(judge.model for judge in self.members))

    @classmethod
    def named(
        cls, text: str, *, url: str | None = None, prices: Path | None = None, **shared: Any
    ) -> "JudgeOptions":  # noqa: ANN401
        """Return the judge, or the panel, that `MODEL[@URL][,MODEL[@URL]…]` names; `shared` are every judge's fields.

        `url` is the server of those without one of their own, by default `REELBENCH_JUDGE_URL`,
        else `OPENAI_BASE_URL`; their key is `REELBENCH_JUDGE_API_KEY`, else `OPENAI_API_KEY`, or
        the provider's own (`llm.model_names`). `prices` is a file of prices in LiteLLM's shape
        (`model_prices_and_context_window.json`).
        """
        url = url or settings.first(settings.JUDGE_URL, settings.OPENAI_BASE_URL)
        judges, parts = [], text.split(",")
        if any("?" in part and "@http" not in after for part, after in pairwise(parts)):
            raise InputError(
                "--judge: behind an address with a query name the next judge as MODEL@URL; a comma in a query is %2C"
            )
        for part in parts:
            whose = read_model_name(
                "--judge", part.strip(), url, settings.JUDGE_API_KEY, settings.OPENAI_API_KEY
            )
            model = whose["model"]
            cost = (
                model_prices(prices, model, batch=shared.get("batch", False))
                if prices and model
                else {}
            )
            judges.append(cls(**{**whose, **shared, **cost}))
        return replace(judges[0], others=tuple(judges[1:]))

    @classmethod
    def from_environment(cls) -> "JudgeOptions | None":
        """Return the judge that `REELBENCH_JUDGE` names, or None where it is unset.

        `OPENAI_BASE_URL` and `OPENAI_API_KEY` alone never make a judge: they may belong to the
        model under test.
        """
        model = settings.JUDGE.get()
        return cls.named(model) if model else None


def model_prices(path: Path, model: str, *, batch: bool = False) -> dict[str, float]:
    """Return a model's prices, as `AskOptions` names them; InputError where the file has none, or several.

    The file has them under the model's own name, or under one provider's (`openai/MODEL`). Of a
    `batch` they are those called `…_batches`, where it has them.
    """
    models = read_json(path)
    if not is_object(models):
        raise InputError(f"{path}: not one JSON object, model -> prices")
    names = [model] if model in models else [name for name in models if name.endswith(f"/{model}")]
    if len(names) != 1:
        why = f"has several: {', '.join(sorted(names)[:4])}" if names else "has none"
        raise InputError(
            f"{path}: no one price for {model!r} (it {why}); add it, or give the price itself"
        )
    entry = models[names[0]]
    prices: dict[str, float] = {}
    for theirs, ours in _PRICES.items():
        price = entry.get(theirs) if is_object(entry) else None
        if batch and is_object(entry):
            price = entry.get(f"{theirs}_batches", price)
        if price is None and theirs not in _NEEDED:
            continue
        if not is_number(price) or not 0 <= price < 1:
            raise InputError(f"{path}, {names[0]}: {theirs} is {price!r}, not dollars per token")
        prices[ours] = price * 1e6
    return prices
