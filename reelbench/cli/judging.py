"""The judge's options, declared once for the commands that take them."""

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from reelbench.cli import console, families
from reelbench.cli.option_groups import CachePatience, Json, served, takes
from reelbench.llm.defaults import CACHE_PATIENCE, CONCURRENCY, TIMEOUT
from reelbench.registry import settings
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions, VoteRule
    from reelbench.judges.presets import JudgePreset

_PANEL = families.JUDGE


JudgeModel = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="MODEL[@URL][,…]",
        help="Judge open answers with MODEL; several, comma-separated, form a panel.",
        rich_help_panel=_PANEL,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--judge-preset",
        metavar="NAME",
        help="Instead of --judge: an open judge from `reelbench judge presets` (unvalidated).",
        rich_help_panel=_PANEL,
    ),
]
NoJudge = Annotated[
    bool,
    typer.Option("--no-judge", help="Use no judge, even if REELBENCH_JUDGE names one.", rich_help_panel=_PANEL),
]
JudgeUrl = Annotated[str | None, served("judge", "url", _PANEL)]
Concurrency = Annotated[int, served("judge", "concurrency", _PANEL)]
Votes = Annotated[int, typer.Option("--judge-votes", metavar="K", help="Replies per score.", rich_help_panel=_PANEL)]
Rule = Annotated[
    str,
    typer.Option(
        "--judge-vote-rule",
        metavar="RULE",
        help="majority, mean, median; of a panel, mean or median.",
        rich_help_panel=_PANEL,
    ),
]
Prompts = Annotated[
    str,
    typer.Option("--judge-prompts", metavar="SET", help="reelbench, official, or a file.", rich_help_panel=_PANEL),
]
Budget = Annotated[str | None, served("judge", "budget", _PANEL)]
Price = Annotated[str | None, served("judge", "price", _PANEL)]
Prices = Annotated[
    Path | None,
    typer.Option(
        "--judge-prices",
        metavar="FILE",
        help="Price list of models, JSON in LiteLLM's format.",
        rich_help_panel=_PANEL,
    ),
]
Batch = Annotated[
    bool,
    typer.Option(
        "--judge-batch",
        help="Use the Batch API; rerun to collect.",
        rich_help_panel=_PANEL,
    ),
]
Temperature = Annotated[
    str,
    typer.Option(
        "--judge-temperature",
        metavar="T",
        help="auto (as the prompt set says), none (for reasoning models), or a number.",
        rich_help_panel=_PANEL,
    ),
]
Extra = Annotated[str | None, served("judge", "extra", _PANEL)]
Timeout = Annotated[float, served("judge", "timeout", _PANEL)]
Retry = Annotated[
    bool,
    typer.Option("--retry-unscored", help="Ask again where no reply was readable.", rich_help_panel=_PANEL),
]

JudgeEstimate = Annotated[
    bool,
    typer.Option(
        "--judge-estimate",
        help="Estimate calls, tokens, cost and time; ask no model.",
        rich_help_panel=_PANEL,
    ),
]


def judge_options(
    *,
    judge: JudgeModel = None,
    judge_preset: Preset = None,
    no_judge: NoJudge = False,
    judge_url: JudgeUrl = None,
    judge_concurrency: Concurrency = CONCURRENCY,
    judge_votes: Votes = 1,
    judge_vote_rule: Rule = "majority",
    judge_prompts: Prompts = "reelbench",
    judge_budget: Budget = None,
    judge_price: Price = None,
    judge_prices: Prices = None,
    judge_batch: Batch = False,
    judge_temperature: Temperature = "auto",
    judge_extra: Extra = None,
    judge_timeout: Timeout = TIMEOUT,
    retry_unscored: Retry = False,
    cache_patience: CachePatience = CACHE_PATIENCE,
) -> "JudgeOptions | None":
    """Return the judge that was named by `--judge`, `--judge-preset`, else `REELBENCH_JUDGE`; None where none was."""
    preset = _preset(judge_preset, judge)
    model = judge or (preset and preset.model) or settings.JUDGE.get() or None
    if no_judge or model is None:
        return None
    from reelbench.judges.judge_options import JudgeOptions, default_api_key, default_url

    temperature, extra = _temperature(judge_temperature), extra_of("--judge-extra", judge_extra)
    if preset is not None:
        temperature = preset.temperature if temperature == "auto" else temperature
        extra = {**preset.extra, **extra}
    if judge_price and judge_prices:
        raise InputError("--judge-price and --judge-prices: give one of them")
    return JudgeOptions.named(
        model,
        url=judge_url or default_url(),
        prices=judge_prices,
        batch=judge_batch,
        api_key=default_api_key(),
        concurrency=judge_concurrency,
        votes=judge_votes,
        vote_rule=cast("VoteRule", judge_vote_rule),
        prompts=judge_prompts,
        temperature=temperature,
        extra=extra,
        timeout=judge_timeout,
        retry_unread=retry_unscored,
        cache_patience=cache_patience,
        **budget_of("--judge-budget", judge_budget),
        **price_of("--judge-price", judge_price),
    )


takes_judge = takes("judge", judge_options)
"""Gives a command the judge's options; it takes their outcome as its argument `judge`."""


def _preset(name: str | None, judge: str | None) -> "JudgePreset | None":
    """Return the preset that was named, and say that nobody has validated it."""
    if name is None:
        return None
    from reelbench.judges.presets import judge_preset

    if judge is not None:
        raise InputError("--judge and --judge-preset: give one of them")
    preset = judge_preset(name)
    console.note(
        f"judge preset {name} is unvalidated: nobody has measured how far it agrees with people or with others"
    )
    return preset


def _temperature(text: str) -> float | Literal["auto", "none"]:
    if text == "auto" or text == "none":  # noqa: PLR1714 - a type checker follows this, and not `in`
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--judge-temperature: {text!r} is neither auto, none nor a number") from None


def budget_of(option: str, text: str | None) -> dict[str, Any]:
    """Return a budget as options take it: calls (`500`) or dollars (`$2.50`)."""
    if text is None:
        return {}
    dollars = text.startswith("$") or text.lower().endswith("usd")
    number = text.removeprefix("$").lower().removesuffix("usd").strip()
    try:
        return {"budget_usd": float(number)} if dollars else {"budget_calls": int(number)}
    except ValueError:
        raise InputError(f"{option}: {text!r} is neither calls (500) nor dollars ($2.50)") from None


def price_of(option: str, text: str | None) -> dict[str, Any]:
    """Return prices as options take them: `IN,OUT` in dollars per million tokens."""
    if text is None:
        return {}
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option}: {text!r} is not IN,OUT in dollars per million tokens (0.15,0.60)") from None
    return {"usd_per_million_prompt": prompt, "usd_per_million_completion": completion}


def extra_of(option: str, text: str | None) -> dict[str, Any]:
    """Return the parameters sent with every request as they are: one JSON object."""
    if text is None:
        return {}
    try:
        extra = json.loads(text, parse_constant=_not_json)
        json.dumps(extra).encode()
    except (ValueError, RecursionError) as error:
        raise InputError(f"{option}: not JSON ({error})") from None
    if not isinstance(extra, dict):
        raise InputError(f'{option}: not one JSON object, like {{"reasoning_effort": "low"}}')
    reserved = sorted(extra.keys() & {"model", "messages", "stream", "n"})
    if reserved:
        raise InputError(f"{option}: {reserved[0]!r} is set by Reelbench itself; leave it out")
    return extra


def _not_json(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")


def presets(*, as_json: Json = False) -> None:
    """List the pinned open judges: weights, how to serve them, what is sent, and the sources.

    None is validated, and none is ever a default: --judge-preset NAME is what asks one.
    """
    from reelbench.judges.presets import PRESETS

    if as_json:
        listed = [{**asdict(preset), "model": preset.model, "validated": False} for preset in PRESETS.values()]
        console.write_json({"presets": listed})
        return
    for preset in PRESETS.values():
        console.write(f"{preset.name}: {preset.repository} at {preset.revision}, {preset.licence}; unvalidated")
        console.write(f"  serve: {shlex.join(preset.serve)}")
        console.write(f"  sent: temperature {preset.temperature:g}, {json.dumps(dict(preset.extra))}")
        for what, source in preset.sources.items():
            console.write(f"  {what}: {source}")
