"""The judge's options, declared once for the commands that take them."""

import json
import shlex
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from reelbench.cli import console
from reelbench.cli.option_groups import CachePatience, Group, Json, option
from reelbench.llm.defaults import CACHE_PATIENCE, CONCURRENCY, TIMEOUT
from reelbench.registry import settings
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions, VoteRule

_judge = partial(option, "judge")

JudgeEstimate = Annotated[bool, _judge("--judge-estimate")]


def judge_options(
    *,
    judge: Annotated[str | None, _judge("--judge")] = None,
    judge_preset: Annotated[str | None, _judge("--judge-preset")] = None,
    no_judge: Annotated[bool, _judge("--no-judge")] = False,
    judge_url: Annotated[str | None, _judge("--judge-url")] = None,
    judge_concurrency: Annotated[int, _judge("--judge-concurrency")] = CONCURRENCY,
    judge_votes: Annotated[int, _judge("--judge-votes")] = 1,
    judge_vote_rule: Annotated[str, _judge("--judge-vote-rule")] = "majority",
    judge_prompts: Annotated[str, _judge("--judge-prompts")] = "reelbench",
    judge_budget: Annotated[str | None, _judge("--judge-budget")] = None,
    judge_price: Annotated[str | None, _judge("--judge-price")] = None,
    judge_prices: Annotated[Path | None, _judge("--judge-prices")] = None,
    judge_batch: Annotated[bool, _judge("--judge-batch")] = False,
    judge_temperature: Annotated[str, _judge("--judge-temperature")] = "auto",
    judge_extra: Annotated[str | None, _judge("--judge-extra")] = None,
    judge_timeout: Annotated[float, _judge("--judge-timeout")] = TIMEOUT,
    retry_unscored: Annotated[bool, _judge("--retry-unscored")] = False,
    cache_patience: CachePatience = CACHE_PATIENCE,
) -> "JudgeOptions | None":
    """Return the judge that was named by `--judge`, `--judge-preset`, else `REELBENCH_JUDGE`; None where none was."""
    preset = None
    if judge_preset is not None:
        from reelbench.judges import presets as of_judges

        if judge is not None:
            raise InputError("--judge and --judge-preset: give one of them")
        preset = of_judges.judge_preset(judge_preset)
        unmeasured = "nobody has measured how far it agrees with people or with others"
        console.note(f"judge preset {judge_preset} is unvalidated: {unmeasured}")
    model = judge or (preset and preset.model) or settings.JUDGE.get() or None
    if no_judge or model is None:
        return None
    temperature, extra = _temperature(judge_temperature), extra_of("--judge-extra", judge_extra)
    if preset is not None:
        temperature = preset.temperature if temperature == "auto" else temperature
        extra = {**preset.extra, **extra}
    if judge_price and judge_prices:
        raise InputError("--judge-price and --judge-prices: give one of them")
    from reelbench.judges.judge_options import JudgeOptions

    return JudgeOptions.named(
        model,
        url=judge_url,
        prices=judge_prices,
        batch=judge_batch,
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


Judge = Annotated["JudgeOptions | None", Group(judge_options)]


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
    """List the open judges with fixed versions: weights, server command, request settings, sources.

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
