"""Groups of options: who judges, who is asked and how, which questions, and what a user says of a model."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.cli import console
from reelbench.cli.option_groups import CachePatience, option
from reelbench.llm.defaults import CACHE_PATIENCE, CONCURRENCY, TIMEOUT

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions, VoteRule
    from reelbench.llm.ask_options import AskOptions
    from reelbench.llm.budget import Budget
    from reelbench.methods.kept import Keeping
    from reelbench.methods.runs import Runs
    from reelbench.registry.decoding import Candidates
    from reelbench.registry.question_files import QuestionIds
    from reelbench.registry.records import About, PresetRecord
    from reelbench.tasks.earlier import EarlierResult
    from reelbench.tasks.score import RunMetadata

_ANY = ""  # the role of a model that was named without one
_NAMED = re.compile(r"(?:(?P<role>[a-z][a-z0-9_]*)=)?(?P<model>.+)", re.DOTALL)

_asking, _judge, _llm, _questions, _model, _answers = (
    partial(option, group) for group in ("asking", "judge", "llm", "questions", "model", "answers")
)

RetryUnread = Annotated[bool, _asking("--retry-unread")]
LlmBatch = Annotated[bool, _llm("--llm-batch")]


def llm_options(
    *,
    llm: Annotated[list[str] | None, _llm("--llm")] = None,
    llm_url: Annotated[str | None, _llm("--llm-url")] = None,
    llm_concurrency: Annotated[int, _llm("--llm-concurrency")] = CONCURRENCY,
    llm_budget: Annotated[str | None, _llm("--llm-budget")] = None,
    llm_price: Annotated[str | None, _llm("--llm-price")] = None,
    llm_extra: Annotated[str | None, _llm("--llm-extra")] = None,
    llm_timeout: Annotated[float, _llm("--llm-timeout")] = TIMEOUT,
    cache_patience: CachePatience = CACHE_PATIENCE,
) -> "dict[str, AskOptions]":
    """Return the model of each role that was named; under `""` the one that was named without a role."""
    from reelbench.llm.ask_options import AskOptions
    from reelbench.llm.model_names import read_model_name

    shared: dict[str, Any] = {
        "concurrency": llm_concurrency,
        "extra": extra_of("--llm-extra", llm_extra),
        "timeout": llm_timeout,
        "cache_patience": cache_patience,
        **budget_of("--llm-budget", llm_budget),
        **price_of("--llm-price", llm_price),
    }
    default = llm_url or settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL)
    named: dict[str, AskOptions] = {}
    for text in llm or ():
        match = _NAMED.fullmatch(text)
        if match is None:
            raise InputError(f"--llm: {text!r} is not MODEL, MODEL@URL or ROLE=MODEL[@URL]")
        role = match["role"] or _ANY
        if role in named:
            raise InputError(
                f"--llm: two models for {role or 'every role'}; name one, or ROLE=MODEL for each role"
            )
        whose = read_model_name(
            "--llm", match["model"], default, settings.LLM_API_KEY, settings.OPENAI_API_KEY
        )
        named[role] = AskOptions(**whose, **shared)
    return named


Llm = Annotated["dict[str, AskOptions]", llm_options]


@dataclass(frozen=True, kw_only=True)
class OutputLimit:
    """How long an answer may be, as it was typed (see `AskOptions`), and the preset that says so and more."""

    max_tokens: Annotated[int | None, _asking("--max-tokens")] = None
    thinking: Annotated[bool, _asking("--thinking")] = False
    preset_named: Annotated[str | None, _asking("--preset")] = None

    @cached_property
    def preset(self) -> "PresetRecord | None":
        """The preset; InputError where there is none of that name."""
        from reelbench.registry.presets import preset

        return None if self.preset_named is None else preset(self.preset_named)

    def of_model(
        self, llm: "Mapping[str, AskOptions]", frames: str | None, candidates: "Candidates | None"
    ) -> "tuple[AskOptions, PresetRecord | None]":
        """Return the one model to ask, as the preset says where the user says nothing, and what was taken of it."""
        from reelbench.registry.presets import SAMPLING

        model = only_model(llm, max_tokens=self.max_tokens, thinking=self.thinking)
        if self.preset is None:
            return model, None
        typed = {name: model.extra.get(name) for name in SAMPLING}
        preset = self.preset.overridden_by(
            **{name: value for name, value in typed.items() if name != "temperature"},
            temperature=candidates.temperature if candidates else typed["temperature"],
            frames=frames,
            max_tokens=self.max_tokens or self.thinking or None,
            pixels=model.extra.get("mm_processor_kwargs"),
            thinking=model.extra.get("chat_template_kwargs"),
        )
        extra = {name: value for name in SAMPLING if (value := preset.get(name)) is not None}
        if (pixels := preset.get("pixels")) is not None:
            extra["mm_processor_kwargs"] = {"max_pixels": pixels}
        if (thinks := preset.get("thinking")) is not None:
            extra["chat_template_kwargs"] = {"enable_thinking": thinks}
        limit = model.max_tokens if self.thinking else model.max_tokens or preset.get("max_tokens")
        return replace(model, extra=extra | dict(model.extra), max_tokens=limit), preset


@dataclass(frozen=True, slots=True)
class QuestionChoice:
    """Which questions are meant: all, those of `ids`, or some of an earlier result's, whose other answers stay."""

    ids: "QuestionIds | None" = None
    earlier: "EarlierResult | None" = None


def question_choice(
    *,
    ids: Annotated[Path | None, _questions("--ids")] = None,
    only: Annotated[str | None, _questions("--only")] = None,
    earlier_folder: Annotated[list[Path] | None, _questions("--from")] = None,
) -> QuestionChoice:
    """Return the choice of questions; InputError where the options don't go together."""
    folders = earlier_folder or []
    if only in {"failed", "unscored"} and not folders:
        console.note(
            f"--only {only}: what was not answered is asked again without it; of a result: --from RESULT"
        )
        only = None
    if ids is None and only is None and not folders:
        return QuestionChoice()
    if ids is not None and only is not None:
        raise InputError("--ids and --only: give one of them")
    if (only is not None and not folders) or (folders and ids is None and only is None):
        raise InputError("--only and --from: give both, e.g. --only cut_off --from RESULT")
    from reelbench.registry.question_files import QuestionIds
    from reelbench.tasks.earlier import EarlierResult

    named = QuestionIds.read(ids) if ids is not None else None
    if not folders:
        return QuestionChoice(named)
    if len(folders) > 2:  # noqa: PLR2004 - those that disagree
        raise InputError("--from: give it once, or twice with --only disagree")
    return QuestionChoice(None, EarlierResult.read(folders[0], named or only or "", *folders[1:]))


ChosenQuestions = Annotated[QuestionChoice, question_choice]


def keeping_options(
    *,
    kept: Annotated[bool, _questions("--kept")] = False,
    fresh: Annotated[bool, _questions("--fresh")] = False,
    no_recheck: Annotated[bool, _questions("--no-recheck")] = False,
) -> "Keeping":
    """Return the treatment of answers that are kept."""
    if kept and fresh:
        raise InputError("--kept and --fresh: give one of them")
    from reelbench.methods.kept import Keeping

    return Keeping(kept, fresh, not no_recheck)


Kept = Annotated["Keeping", keeping_options]


def runs_options(
    *,
    runs: Annotated[int, option("sweeps", "--runs")] = 1,
    seed: Annotated[int | None, option("sweeps", "--seed")] = None,
) -> "Runs":
    """Return the number of runs."""
    from reelbench.methods.runs import Runs

    return Runs(runs, seed)


Repeats = Annotated["Runs", runs_options]


def only_model(llm: "Mapping[str, AskOptions]", **changed: Any) -> "AskOptions":  # noqa: ANN401 - as its fields
    """Return the one model of a command without roles, some fields changed; InputError where none was named."""
    return replace(by_role(llm, (_ANY,))[_ANY], **changed)


def by_role(llm: "Mapping[str, AskOptions]", roles: Sequence[str]) -> "dict[str, AskOptions]":
    """Return the model of each role, its own or else the one for all; InputError where a role has none."""
    unknown = sorted(llm.keys() - {_ANY, *roles})
    known = ", ".join(role for role in roles if role)
    if unknown:
        there = f"there are {known}" if known else "this command has none; give --llm MODEL"
        raise InputError(f"--llm: no role is called {unknown[0]}; {there}")
    lacking = [role for role in roles if role not in llm and _ANY not in llm]
    if lacking:
        whose = f" for {', '.join(filter(None, lacking))}" if any(lacking) else ""
        raise InputError(
            f"--llm: no model is named{whose}; give --llm MODEL and --llm-url URL of its server"
        )
    return {role: llm[role] if role in llm else llm[_ANY] for role in roles}


def shared_budget(llm: "Mapping[str, AskOptions]") -> "Budget":
    """Return one budget for all roles: `--llm-budget` is what the command may spend, not what each role may."""
    from reelbench.llm.budget import Budget

    options = next(iter(llm.values()))
    return Budget(options.budget_calls, options.budget_usd)


# --- the judge
# --------------------------------------------------------------------------------------------------------

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
    try:
        named = judge_temperature in ("auto", "none")
        temperature = (
            cast("Literal['auto', 'none']", judge_temperature)
            if named
            else float(judge_temperature)
        )
    except ValueError:
        why = f"{judge_temperature!r} is neither auto, none nor a number"
        raise InputError(f"--judge-temperature: {why}") from None
    extra = extra_of("--judge-extra", judge_extra)
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


Judge = Annotated["JudgeOptions | None", judge_options]


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
        raise InputError(
            f"{option}: {text!r} is not IN,OUT in dollars per million tokens (0.15,0.60)"
        ) from None
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


# --- what a user says of a model or its answers, and no run can show
# --------------------------------------------------


def about_options(
    *,
    about: Annotated[list[str] | None, _model("--about")] = None,
    setting: Annotated[
        Literal["zero-shot", "fine-tuned", "reasoning", "tools", "human"] | None,
        _model("--setting"),
    ] = None,
    trained_on: Annotated[list[str] | None, _model("--trained-on")] = None,
    parameters: Annotated[str | None, _model("--parameters")] = None,
    organisation: Annotated[str | None, _model("--organisation")] = None,
    released: Annotated[str | None, _model("--released")] = None,
    licence: Annotated[str | None, _model("--licence")] = None,
    links: Annotated[list[str] | None, _model("--link")] = None,
    revision: Annotated[str | None, _model("--revision")] = None,
) -> "About | None":
    """Return the facts of the model, or None; InputError where it is not what its field takes.

    A fact has an option of its own too (`--parameters 7B`), which help leaves out; it overrides
    `--about`.
    """
    own = {name: value for name, value in locals().items() if name != "about" and value}
    facts: dict[str, Any] = {}
    file = None
    for given in about or ():
        name, is_fact, value = given.partition("=")
        if not is_fact or not name.isidentifier():
            if file is not None:
                raise InputError(f"--about: two files, {file} and {given}; give one")
            file = Path(given)
        elif name in ("trained_on", "links"):
            facts.setdefault(name, []).append(value)
        elif name in facts:
            raise InputError(f"--about: {name} is given twice")
        else:
            facts[name] = value
    facts |= own
    if file is None and not facts:
        return None
    from reelbench.tasks import about as abouts

    stated = abouts.parse(facts, "the options") if facts else None
    if file is None:
        return stated
    in_file = abouts.read(file)
    return abouts.merge(stated, in_file) if stated else in_file


AboutModel = Annotated["About | None", about_options]


def metadata_options(
    *,
    model: Annotated[str | None, _answers("--model")] = None,
    frames: Annotated[str | None, _answers("--frames")] = None,
    label: Annotated[str | None, _answers("--label")] = None,
    url: Annotated[str | None, _answers("--url")] = None,
) -> "RunMetadata":
    """Return them; InputError where the frames are no sampling."""
    from reelbench.tasks.score import RunMetadata

    return RunMetadata(model=model, frames=frames, label=label, url=url)


AboutAnswers = Annotated["RunMetadata", metadata_options]

GROUPS = (
    judge_options,
    about_options,
    keeping_options,
    OutputLimit,
    question_choice,
    runs_options,
    llm_options,
)
