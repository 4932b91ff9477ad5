"""Groups of options: the judge, the asked model, the questions, and facts of the model."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.llm.defaults import CACHE_PATIENCE
from reelbench.terminal import console
from reelbench.terminal.option_groups import CachePatience, KeepGoing, Kind

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions, VoteRule
    from reelbench.judges.presets import JudgePreset
    from reelbench.llm.ask_options import AskOptions
    from reelbench.llm.budget import Budget
    from reelbench.llm.structured import Structured
    from reelbench.methods.kept import Keeping
    from reelbench.methods.runs import Runs
    from reelbench.registry.decoding import Candidates
    from reelbench.registry.question_files import QuestionIds
    from reelbench.registry.records import About, PresetRecord
    from reelbench.tasks.answer_reader import ReaderOptions
    from reelbench.tasks.earlier import EarlierResult
    from reelbench.tasks.score import RunMetadata

_ANY = ""  # the role of a model that was named without one
_NAMED = re.compile(r"(?:(?P<role>[a-z][a-z0-9_]*)=)?(?P<model>.+)", re.DOTALL)

_judge = partial(typer.Option, rich_help_panel="Judge")
_reader = partial(typer.Option, rich_help_panel="Reader")
_llm = partial(typer.Option, rich_help_panel="Language model")
_questions = partial(typer.Option, rich_help_panel="Some questions only")
_model = partial(typer.Option, rich_help_panel="What the result records about the model")
_answers = partial(typer.Option, rich_help_panel="What the result records about the answers")

_HTTP_KEY = "--allow-http-key"
_HTTP_KEY_HELP = "Send the key over http:// to another machine, unencrypted."
AllowHttpKey = Annotated[bool, _llm(_HTTP_KEY, help=_HTTP_KEY_HELP), Kind.TYPED]
AllowHttpKeyOfJudge = Annotated[bool, _judge(_HTTP_KEY, help=_HTTP_KEY_HELP), Kind.TYPED]
RetryUnread = Annotated[
    bool,
    typer.Option(
        "--retry-unread", help="Where every cached reply was unreadable, ask again, up to 3 times."
    ),
]
LlmBatch = Annotated[
    bool,
    _llm(
        "--llm-batch",
        help="Use the server's Batch API, at its lower price; rerun to collect "
        "replies and send the next requests.",
    ),
]


ModelName = Annotated[
    str | None,
    _model("--name", metavar="TEXT", help="What results, boards and cards call the model."),
]
"""Default: as it was asked for, of a path its telling part."""
LlmUrl = Annotated[
    str | None,
    _llm("--llm-url", metavar="URL", help="OpenAI-compatible server; default OPENAI_BASE_URL."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """Options of requests to a model, as they were typed."""

    llm_concurrency: Annotated[
        int | None,
        _llm(
            "--llm-concurrency",
            metavar="N",
            help="Maximum concurrent calls; without it, 64.",
        ),
    ] = None
    llm_budget: Annotated[
        str | None,
        _llm("--llm-budget", metavar="LIMIT", help="Maximum calls (500) or dollars ($2.50)."),
    ] = None
    llm_price: Annotated[
        str | None,
        _llm(
            "--llm-price",
            metavar="IN,OUT",
            help="Dollars per million prompt and completion tokens.",
        ),
    ] = None
    llm_extra: Annotated[
        str | None,
        _llm(
            "--llm-extra",
            metavar="JSON",
            help='Sent with every request, e.g. {"reasoning_effort": "low"}; null removes.',
        ),
    ] = None
    llm_timeout: Annotated[
        float | None,
        _llm(
            "--llm-timeout",
            metavar="S",
            help="Seconds in which it has to finish something.",
        ),
    ] = None
    keep_going: KeepGoing = False
    cache_patience: CachePatience = CACHE_PATIENCE
    allow_http_key: AllowHttpKey = False

    def as_fields(self) -> dict[str, Any]:
        """Return them as fields of `AskOptions`."""
        return {
            "concurrency": self.llm_concurrency,
            "extra": extra_of("--llm-extra", self.llm_extra),
            "timeout": self.llm_timeout,
            "keep_going": self.keep_going,
            "cache_patience": self.cache_patience,
            "allow_http_key": self.allow_http_key,
            **budget_of("--llm-budget", self.llm_budget),
            **price_of("--llm-price", self.llm_price),
        }


def llm_options(
    *,
    llm: Annotated[
        list[str] | None,
        _llm(
            "--llm",
            metavar="[ROLE=]MODEL[@URL]",
            help="Model, by its server's name for it; ROLE=MODEL sets one role's model (repeat).",
        ),
    ] = None,
    llm_url: LlmUrl = None,
    requests: RequestOptions,
) -> "dict[str, AskOptions]":
    """Return the model of each role that was named.

    One that was named without a role is under `""`.
    """
    from reelbench.llm.ask_options import AskOptions

    model_of_role: dict[str, AskOptions] = {}
    for text in llm or ():
        match = _NAMED.fullmatch(text)
        if match is None:
            raise InputError(f"--llm: {text!r} is not MODEL, MODEL@URL or ROLE=MODEL[@URL]")
        role = match["role"] or _ANY
        if role in model_of_role:
            for_role = role or "every role"
            raise InputError(
                f"--llm: two models for {for_role}; name one, or ROLE=MODEL for each role"
            )
        model_of_role[role] = _model_named(match["model"], llm_url, requests, AskOptions)
    return model_of_role


Llm = Annotated["dict[str, AskOptions]", llm_options]


def named_llm_options(
    *,
    llm: Annotated[
        list[str] | None,
        _llm("--llm", metavar="MODEL[@URL]", help="Model, by its server's name for it."),
    ] = None,
    name: ModelName = None,
    llm_url: LlmUrl = None,
    requests: RequestOptions,
) -> "dict[str, AskOptions]":
    """Return the one model whose answers are a result, under `""`."""
    from reelbench.llm.ask_options import NamedModelOptions

    if llm and len(llm) > 1:
        raise InputError(
            "--llm: name one model; several: `reelbench eval NAME --model A --model B`"
        )
    if not llm:
        return {}
    named_model = partial(NamedModelOptions, file_as=name)
    return {_ANY: _model_named(llm[0], llm_url, requests, named_model)}


NamedLlm = Annotated["dict[str, AskOptions]", named_llm_options]


def _model_named(
    text: str,
    llm_url: str | None,
    requests: RequestOptions,
    options_of_model: "Callable[..., AskOptions]",
) -> "AskOptions":
    """Return the options of the model that `--llm` names, without a role."""
    from reelbench.llm.model_names import read_model_name

    default_url = llm_url or settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL)
    model_fields = read_model_name(
        "--llm", text, default_url, settings.LLM_API_KEY, settings.OPENAI_API_KEY
    )
    return options_of_model(**model_fields, **requests.as_fields())


@dataclass(frozen=True, kw_only=True)
class OutputLimit:
    """The longest answer, as it was typed (see `AskOptions`), and the preset."""

    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            metavar="N",
            min=1,
            help="Most tokens of an answer, with reasoning.",
        ),
    ] = None
    thinking: Annotated[
        bool,
        typer.Option("--thinking", help="For a reasoning model: 32,768 tokens, no temperature."),
    ] = False
    preset_named: Annotated[
        str | None,
        typer.Option(
            "--preset",
            metavar="NAME|FILE",
            help="Use its owners' settings (`reelbench list presets`).",
        ),
    ] = None

    @cached_property
    def preset(self) -> "PresetRecord | None":
        """The preset. InputError where there is none of that name."""
        from reelbench.registry.presets import preset

        if self.preset_named is None:
            return None
        return preset(self.preset_named)

    def of_model(
        self, llm: "Mapping[str, AskOptions]", frames: str | None, candidates: "Candidates | None"
    ) -> "tuple[AskOptions, PresetRecord | None]":
        """Return the one model to ask, as the preset says where the user says nothing.

        Beside it stands the part of the preset that was taken.
        """
        from reelbench.registry.presets import SAMPLING

        model = only_model(llm, max_tokens=self.max_tokens, thinking=self.thinking)
        if self.preset is None:
            return model, None
        preset = self._without_typed(self.preset, model, frames, candidates)
        extra: dict[str, Any] = {}
        for name in SAMPLING:
            value = preset.get(name)
            if value is not None:
                extra[name] = value
        pixels = preset.get("pixels")
        if pixels is not None:
            extra["mm_processor_kwargs"] = {"max_pixels": pixels}
        thinking = preset.get("thinking")
        if thinking is not None:
            extra["chat_template_kwargs"] = {"enable_thinking": thinking}
        max_tokens = model.max_tokens
        if not self.thinking:
            max_tokens = model.max_tokens or preset.get("max_tokens")
        model = replace(model, extra={**extra, **model.extra}, max_tokens=max_tokens)
        return model, preset

    def _without_typed(
        self,
        preset: "PresetRecord",
        model: "AskOptions",
        frames: str | None,
        candidates: "Candidates | None",
    ) -> "PresetRecord":
        """Return a preset without the settings that the user typed."""
        from reelbench.registry.presets import SAMPLING

        typed: dict[str, Any] = {name: model.extra.get(name) for name in SAMPLING}
        if candidates:
            typed["temperature"] = candidates.temperature
        return preset.overridden_by(
            **typed,
            frames=frames,
            max_tokens=self.max_tokens or self.thinking or None,
            pixels=model.extra.get("mm_processor_kwargs"),
            thinking=model.extra.get("chat_template_kwargs"),
        )


@dataclass(frozen=True, slots=True)
class QuestionChoice:
    """The chosen questions: all, those of `ids`, or some of an earlier result.

    The other answers of an earlier result stay.
    """

    ids: "QuestionIds | None" = None
    earlier: "EarlierResult | None" = None


def question_choice(
    *,
    ids: Annotated[
        Path | None,
        _questions(
            "--ids",
            metavar="FILE",
            help="Only these questions: one id per line, or JSON Lines with `id`. "
            "With --from the result's other answers stay; without it the new "
            "result is partial.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        _questions(
            "--only",
            metavar="WHICH",
            help="Only these questions of --from, into a new result: cut_off, "
            "refused, unscored (any reason), unreadable, disagree (two results "
            "differ: give --from twice; the first one's answers stay), "
            "other-judge (with `ask`: judge again if the judge's id is "
            "unusual).",
        ),
    ] = None,
    earlier_folder: Annotated[
        list[Path] | None,
        _questions(
            "--from", metavar="RESULT", help="Folder of the result that --only and --ids refer to."
        ),
    ] = None,
) -> QuestionChoice:
    """Return the choice of questions.

    Raises:
        InputError: The options don't go together.
    """
    folders = earlier_folder or []
    if only in {"failed", "unscored"} and not folders:
        console.note(
            f"--only {only}: what was not answered is asked again without it; of a result: "
            "--from RESULT"
        )
        only = None
    if ids is None and only is None and not folders:
        return QuestionChoice()
    if ids is not None and only is not None:
        raise InputError("--ids and --only: give one of them")
    only_without_result = only is not None and not folders
    result_without_choice = folders and ids is None and only is None
    if only_without_result or result_without_choice:
        raise InputError("--only and --from: give both, e.g. --only cut_off --from RESULT")
    from reelbench.registry.question_files import QuestionIds
    from reelbench.tasks.earlier import EarlierResult

    question_ids = None
    if ids is not None:
        question_ids = QuestionIds.read(ids)
    if not folders:
        return QuestionChoice(question_ids)
    if len(folders) > 2:  # noqa: PLR2004 - those that disagree
        raise InputError("--from: give it once, or twice with --only disagree")
    which = question_ids or only or ""
    return QuestionChoice(None, EarlierResult.read(folders[0], which, *folders[1:]))


ChosenQuestions = Annotated[QuestionChoice, question_choice]


def keeping_options(
    *,
    kept_answers: Annotated[
        bool, _questions("--kept", help="Use saved answers without checking who gave them.")
    ] = False,
    fresh: Annotated[
        bool,
        _questions(
            "--fresh",
            help="Ask all questions again; saved answers stay in the cache but are not used.",
        ),
    ] = False,
    no_recheck: Annotated[
        bool,
        _questions(
            "--no-recheck",
            help="Don't ask a few kept questions again to check that the same model answers.",
        ),
    ] = False,
    no_probe: Annotated[
        bool,
        _questions(
            "--no-probe",
            help="Skip the two test questions that check whether the model sees pictures.",
        ),
    ] = False,
) -> "Keeping":
    """Return the treatment of answers that are kept."""
    if kept_answers and fresh:
        raise InputError("--kept and --fresh: give one of them")
    from reelbench.methods.kept import Keeping

    return Keeping(kept_answers, fresh, not no_recheck, not no_probe)


Kept = Annotated["Keeping", keeping_options]


def runs_options(
    *,
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            metavar="N",
            min=1,
            help="Ask all N times; each run has answers of its own.",
            rich_help_panel="Several settings",
        ),
    ] = 1,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            metavar="S",
            help="S, S + 1, … is the seed of each run.",
            rich_help_panel="Several settings",
        ),
    ] = None,
) -> "Runs":
    """Return the number of runs."""
    from reelbench.methods.runs import Runs

    return Runs(runs, seed)


Repeats = Annotated["Runs", runs_options]


def served_model(
    model: str, filed_name: str | None, base_url: str | None, requests: RequestOptions
) -> "dict[str, AskOptions]":
    """Return the served model that `eval --model` names, as the one model without a role."""
    from reelbench.llm.ask_options import ServedModelOptions
    from reelbench.llm.model_names import read_model_name

    default_url = base_url or settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL)
    model_fields = read_model_name(
        "--model",
        model,
        default_url,
        settings.LLM_API_KEY,
        settings.OPENAI_API_KEY,
        url_option="--base-url",
    )
    return {_ANY: ServedModelOptions(**model_fields, file_as=filed_name, **requests.as_fields())}


def only_model(llm: "Mapping[str, AskOptions]", **changed: Any) -> "AskOptions":  # noqa: ANN401 - as its fields
    """Return the one model of a command without roles, some fields changed.

    Raises:
        InputError: None was named.
    """
    return replace(by_role(llm, (_ANY,))[_ANY], **changed)


def by_role(llm: "Mapping[str, AskOptions]", roles: Sequence[str]) -> "dict[str, AskOptions]":
    """Return the model of each role, its own or else the one for all.

    Raises:
        InputError: A role has none.
    """
    if not any(roles):
        llm = _without_roles(llm)
    unknown = sorted(llm.keys() - {_ANY, *roles})
    if unknown:
        role_names = ", ".join(role for role in roles if role)
        advice = f"there are {role_names}; a model of that name: ROLE={unknown[0]}=…"
        raise InputError(f"--llm: no role is called {unknown[0]}; {advice}")
    lacking = [role for role in roles if role not in llm and _ANY not in llm]
    if lacking:
        named_roles = ", ".join(role for role in lacking if role)
        for_roles = ""
        if named_roles:
            for_roles = f" for {named_roles}"
        raise InputError(
            f"--llm: no model is named{for_roles}; give --llm MODEL and --llm-url URL of its server"
        )
    model_of_role: dict[str, AskOptions] = {}
    for role in roles:
        if role in llm:
            model_of_role[role] = llm[role]
        else:
            model_of_role[role] = llm[_ANY]
    return model_of_role


def _without_roles(llm: "Mapping[str, AskOptions]") -> "dict[str, AskOptions]":
    """Return the models of a command without roles: `team=blue` is one model's name."""
    models: dict[str, AskOptions] = {}
    for role, options in llm.items():
        model = options
        if role:
            model = replace(options, model=f"{role}={options.model}")
        if models:
            raise InputError("--llm: name one model; this command has no roles")
        models[_ANY] = model
    return models


def shared_budget(llm: "Mapping[str, AskOptions]") -> "Budget":
    """Return one budget for all roles: `--llm-budget` is the command's, not each role's."""
    from reelbench.llm.budget import Budget

    options = next(iter(llm.values()))
    return Budget(options.budget_calls, options.budget_usd)


# The judge.

JudgeEstimate = Annotated[
    bool, _judge("--judge-estimate", help="Estimate calls, tokens, cost and time; ask no model.")
]


JudgeName = Annotated[
    str | None,
    _judge(
        "--judge-name",
        metavar="TEXT",
        help="What results call the judge; of a panel comma-separated. Default: --judge.",
    ),
]
JudgeUrl = Annotated[
    str | None,
    _judge("--judge-url", metavar="URL", help="OpenAI-compatible server; default OPENAI_BASE_URL."),
]
JudgeConcurrency = Annotated[
    int | None,
    _judge(
        "--judge-concurrency",
        metavar="N",
        help="Maximum concurrent calls; without it, 64.",
    ),
]
JudgePrompts = Annotated[
    str, _judge("--judge-prompts", metavar="SET", help="reelbench, official, or a file.")
]
JudgeBudget = Annotated[
    str | None,
    _judge("--judge-budget", metavar="LIMIT", help="Maximum calls (500) or dollars ($2.50)."),
]
JudgePrice = Annotated[
    str | None,
    _judge(
        "--judge-price",
        metavar="IN,OUT",
        help="Dollars per million prompt and completion tokens.",
    ),
]


def judge_options(
    *,
    judge: Annotated[
        str | None,
        _judge(
            "--judge",
            metavar="MODEL[@URL][,…]",
            help="Judge open answers with MODEL; several, comma-separated, form a panel.",
        ),
    ] = None,
    judge_preset: Annotated[
        str | None,
        _judge(
            "--judge-preset",
            metavar="NAME",
            help="Instead of --judge: an open judge from `reelbench list judges` (unvalidated).",
        ),
    ] = None,
    no_judge: Annotated[
        bool, _judge("--no-judge", help="Use no judge, even if REELBENCH_JUDGE names one.")
    ] = False,
    judge_name: JudgeName = None,
    judge_url: JudgeUrl = None,
    judge_concurrency: JudgeConcurrency = None,
    judge_votes: Annotated[
        int, _judge("--judge-votes", metavar="K", help="Replies per score.")
    ] = 1,
    judge_vote_rule: Annotated[
        str,
        _judge(
            "--judge-vote-rule",
            metavar="RULE",
            help="majority, mean, median; of a panel, mean or median.",
        ),
    ] = "majority",
    judge_prompts: JudgePrompts = "reelbench",
    judge_budget: JudgeBudget = None,
    judge_price: JudgePrice = None,
    judge_prices: Annotated[
        Path | None,
        _judge(
            "--judge-prices", metavar="FILE", help="Price list of models, JSON in LiteLLM's format."
        ),
    ] = None,
    judge_batch: Annotated[
        bool, _judge("--judge-batch", help="Use the Batch API; rerun to collect.")
    ] = False,
    judge_temperature: Annotated[
        str,
        _judge(
            "--judge-temperature",
            metavar="T",
            help="auto (as the prompt set says), none (for reasoning models), or a number.",
        ),
    ] = "auto",
    judge_extra: Annotated[
        str | None,
        _judge(
            "--judge-extra",
            metavar="JSON",
            help='Sent with every request, e.g. {"reasoning_effort": "low"}; null removes.',
        ),
    ] = None,
    judge_timeout: Annotated[
        float | None,
        _judge(
            "--judge-timeout",
            metavar="S",
            help="Seconds in which it has to finish something.",
        ),
    ] = None,
    judge_structured: Annotated[
        str | None,
        _judge(
            "--judge-structured",
            metavar="WHEN",
            help="Send the reply's JSON schema always, never, or on a retry (the default; official "
            "prompts: never).",
        ),
    ] = None,
    judge_max_tokens: Annotated[
        int | None,
        _judge(
            "--judge-max-tokens",
            metavar="N",
            help="Most tokens of a reply (default 8192; 32768 for a reasoning judge).",
        ),
    ] = None,
    retry_unscored: Annotated[
        bool, _judge("--retry-unscored", help="Ask again if no reply was readable.")
    ] = False,
    keep_going: KeepGoing = False,
    cache_patience: CachePatience = CACHE_PATIENCE,
    allow_http_key: AllowHttpKeyOfJudge = False,
) -> "JudgeOptions | None":
    """Return the judge of `--judge`, `--judge-preset`, else `REELBENCH_JUDGE`, or None."""
    preset = None
    model = judge
    if judge_preset is not None:
        if judge is not None:
            raise InputError("--judge and --judge-preset: give one of them")
        preset = _unvalidated_preset(judge_preset)
        model = preset.model
    model = model or settings.JUDGE.get()
    if no_judge or not model:
        return None
    temperature = _temperature_of(judge_temperature)
    extra = extra_of("--judge-extra", judge_extra)
    if preset is not None:
        extra = {**preset.extra, **extra}
        if temperature == "auto":
            temperature = preset.temperature
    if judge_price and judge_prices:
        raise InputError("--judge-price and --judge-prices: give one of them")
    from reelbench.judges.judge_options import JudgeOptions

    return JudgeOptions.named(
        model,
        url=judge_url,
        names=judge_name,
        prices=judge_prices,
        batch=judge_batch,
        concurrency=judge_concurrency,
        votes=judge_votes,
        vote_rule=cast("VoteRule", judge_vote_rule),
        prompts=judge_prompts,
        temperature=temperature,
        extra=extra,
        timeout=judge_timeout,
        structured=cast("Structured | None", judge_structured),
        max_tokens=judge_max_tokens,
        keep_going=keep_going,
        retry_unread=retry_unscored,
        cache_patience=cache_patience,
        allow_http_key=allow_http_key,
        **budget_of("--judge-budget", judge_budget),
        **price_of("--judge-price", judge_price),
    )


Judge = Annotated["JudgeOptions | None", judge_options]


def reader_options(
    *,
    reader: Annotated[
        str | None,
        _reader(
            "--reader",
            metavar="MODEL[@URL]",
            help="Let MODEL read the answers in which no option was found.",
        ),
    ] = None,
    reader_name: Annotated[
        str | None,
        _reader(
            "--reader-name",
            metavar="TEXT",
            help="What results call the reader. Default: --reader.",
        ),
    ] = None,
    reader_url: Annotated[
        str | None,
        _reader(
            "--reader-url",
            metavar="URL",
            help="OpenAI-compatible server; default OPENAI_BASE_URL.",
        ),
    ] = None,
    reader_concurrency: Annotated[
        int | None,
        _reader(
            "--reader-concurrency",
            metavar="N",
            help="Maximum concurrent calls; without it, 64.",
        ),
    ] = None,
    reader_budget: Annotated[
        str | None,
        _reader("--reader-budget", metavar="LIMIT", help="Maximum calls (500) or dollars ($2.50)."),
    ] = None,
    reader_price: Annotated[
        str | None,
        _reader(
            "--reader-price",
            metavar="IN,OUT",
            help="Dollars per million prompt and completion tokens.",
        ),
    ] = None,
    reader_extra: Annotated[
        str | None,
        _reader(
            "--reader-extra",
            metavar="JSON",
            help='Sent with every request, e.g. {"reasoning_effort": "low"}; null removes.',
        ),
    ] = None,
    reader_timeout: Annotated[
        float | None,
        _reader(
            "--reader-timeout", metavar="S", help="Seconds in which it has to finish something."
        ),
    ] = None,
    keep_going: KeepGoing = False,
    cache_patience: CachePatience = CACHE_PATIENCE,
    allow_http_key: AllowHttpKeyOfJudge = False,
) -> "ReaderOptions | None":
    """Return the reader of `--reader`, or None."""
    if reader is None:
        return None
    from reelbench.tasks.answer_reader import ReaderOptions

    return ReaderOptions.named(
        reader,
        url=reader_url,
        file_as=reader_name,
        concurrency=reader_concurrency,
        extra=extra_of("--reader-extra", reader_extra),
        timeout=reader_timeout,
        keep_going=keep_going,
        cache_patience=cache_patience,
        allow_http_key=allow_http_key,
        **budget_of("--reader-budget", reader_budget),
        **price_of("--reader-price", reader_price),
    )


Reader = Annotated["ReaderOptions | None", reader_options]


def _unvalidated_preset(name: str) -> "JudgePreset":
    """Return a judge's preset, and note that nobody has validated it."""
    from reelbench.judges import presets

    preset = presets.judge_preset(name)
    unmeasured = "nobody has measured how far it agrees with people or with others"
    console.note(f"judge preset {name} is unvalidated: {unmeasured}")
    return preset


def _temperature_of(text: str) -> "Literal['auto', 'none'] | float":
    """Return the temperature of `--judge-temperature`."""
    if text == "auto" or text == "none":  # noqa: PLR1714 - pyright reads the type of each
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"--judge-temperature: {text!r} is neither auto, none nor a number"
        ) from None


def budget_of(option: str, text: str | None) -> dict[str, Any]:
    """Return a budget as options take it: calls (`500`) or dollars (`$2.50`)."""
    if text is None:
        return {}
    dollars = text.startswith("$") or text.lower().endswith("usd")
    number = text.removeprefix("$").lower().removesuffix("usd").strip()
    try:
        if dollars:
            return {"budget_usd": float(number)}
        return {"budget_calls": int(number)}
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


# What a user says of a model or its answers, and no run can show.


def about_options(
    *,
    about: Annotated[
        list[str] | None,
        _model(
            "--about",
            metavar="FILE|FACT=VALUE",
            help="A fact of the model (setting, trained_on, parameters, "
            "organisation, released, licence, weights, links, frames, revision), e.g. "
            "parameters=7B, or a YAML file of them. Repeat it; a fact overrides"
            " the file.",
        ),
    ] = None,
    setting: Annotated[
        Literal["zero-shot", "fine-tuned", "reasoning", "tools", "agent", "ensemble", "human"]
        | None,
        _model("--setting", hidden=True),
    ] = None,
    trained_on: Annotated[
        list[str] | None, _model("--trained-on", metavar="NAME", hidden=True)
    ] = None,
    parameters: Annotated[str | None, _model("--parameters", metavar="N", hidden=True)] = None,
    organisation: Annotated[
        str | None, _model("--organisation", metavar="NAME", hidden=True)
    ] = None,
    released: Annotated[str | None, _model("--released", metavar="DATE", hidden=True)] = None,
    licence: Annotated[str | None, _model("--licence", metavar="TEXT", hidden=True)] = None,
    links: Annotated[list[str] | None, _model("--link", metavar="URL", hidden=True)] = None,
    revision: Annotated[str | None, _model("--revision", metavar="TEXT", hidden=True)] = None,
) -> "About | None":
    """Return the facts of the model, or None.

    A fact has an option of its own too (`--parameters 7B`), which help leaves out. It overrides
    `--about`.

    Raises:
        InputError: A fact is not what its field takes.
    """
    hidden_options = {
        "setting": setting,
        "trained_on": trained_on,
        "parameters": parameters,
        "organisation": organisation,
        "released": released,
        "licence": licence,
        "links": links,
        "revision": revision,
    }
    facts: dict[str, Any] = {}
    file = None
    for text in about or ():
        name, equals_sign, value = text.partition("=")
        if not equals_sign or not name.isidentifier():
            if file is not None:
                raise InputError(f"--about: two files, {file} and {text}; give one")
            file = Path(text)
        elif name in ("trained_on", "links"):
            facts.setdefault(name, []).append(value)
        elif name in facts:
            raise InputError(f"--about: {name} is given twice")
        else:
            facts[name] = value
    facts |= {name: value for name, value in hidden_options.items() if value}
    if file is None and not facts:
        return None
    from reelbench.tasks import about as abouts

    typed_facts = None
    if facts:
        typed_facts = abouts.parse(facts, "the options")
    if file is None:
        return typed_facts
    if typed_facts is None:
        return abouts.read(file)
    return abouts.merge(typed_facts, abouts.read(file))


AboutModel = Annotated["About | None", about_options]


def metadata_options(
    *,
    model: Annotated[
        str | None,
        _answers(
            "--model",
            "--name",
            metavar="ID",
            help="Name of the model; default: the file's name without suffix.",
        ),
    ] = None,
    frames: Annotated[
        str | None,
        _answers(
            "--frames",
            metavar="SPEC",
            help="Frames that it was shown, e.g. uniform:32; default: unknown.",
        ),
    ] = None,
    label: Annotated[
        str | None,
        _answers(
            "--label", metavar="TEXT", help='Other conditions of the answers, e.g. "web search".'
        ),
    ] = None,
    url: Annotated[
        str | None,
        _answers("--url", metavar="URL", help="Address of a page on the answers or the model."),
    ] = None,
) -> "RunMetadata":
    """Return the facts of the answers.

    Raises:
        InputError: The frames are no sampling.
    """
    from reelbench.tasks.score import RunMetadata

    return RunMetadata(model=model, frames=frames, label=label, url=url)


AboutAnswers = Annotated["RunMetadata", metadata_options]
