"""The runs of a sweep: what each differs in from the others."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.lmms import process
from reelbench.terminal import console
from reelbench.terminal.asking_options import Llm, by_role

TRANSLATIONS_FILE = "translations.jsonl"
NATIVE = "native"
"""The questions in their own language."""
TRANSLATOR = "translator"
_COUNTED = ("uniform", "keyframe", "window")
_GENERATION = "gen_kwargs."
_NOT_OF_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")

Arguments = list[str]


@dataclass(frozen=True, slots=True)
class Step:
    """One run of a sweep.

    Attributes:
        setting: The setting that the runs differ in.
        label: The run's value of it, as the axis has it.
        title: The run in the user's messages.
        point_fields: Further fields of its points.
        at: Its place on the axis. None is behind the run before.
        sampling: Its frames.
        environ: Its variables.
        change: Makes its arguments of lmms-eval's.
    """

    setting: str
    label: str
    title: str
    point_fields: Mapping[str, Any]
    at: float | None = None
    sampling: FrameSampling | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    change: Callable[[Arguments], Arguments] = list

    @property
    def folder(self) -> str:
        """Its folder, in the sweep's."""
        plain_label = _NOT_OF_A_NAME.sub("-", self.label)
        return f"{self.setting}-{plain_label[:60]}"


class ArgumentSteps(NamedTuple):
    """The argument that a sweep sets, and a run for each value."""

    key: str
    steps: list[Step]


def of_frames(spec: str | None, counts: str) -> list[Step]:
    """Return a run for each number of frames, rising and once; 0 is text only.

    `spec` has `N` for the number of frames, or a number that each of `counts` stands in for; by
    default `uniform:N`.

    Raises:
        InputError: Either can't be read.
    """
    parts = [part.strip() for part in counts.split(",")]
    for part in parts:
        if not re.fullmatch(r"[0-9]{1,6}", part):
            raise InputError(
                f"--frames-sweep {counts!r}: {part!r} is not a number of frames; give e.g. "
                "0,1,8,32,128"
            )
    pattern = FrameSampling.parse(re.sub(r"\bN\b", "1", spec or "uniform:N"))
    if pattern.kind not in _COUNTED:
        raise InputError(
            f"--frames {spec!r}: a sweep needs a sampling of N frames: uniform:N, keyframe:N or "
            "window:START-END,N"
        )
    steps: list[Step] = []
    for count in sorted({int(part) for part in parts}):
        sampling = FrameSampling(kind="none", subs=pattern.subs)
        if count:
            # Parsed again, so that a number too large for a spec is refused here.
            sampling = FrameSampling.parse(str(replace(pattern, frames=count)))
        step = Step(
            "frames",
            str(count),
            f"frames {sampling}",
            {"frames": count, "sampling": str(sampling)},
            at=math.log2(count + 1),
            sampling=sampling,
        )
        steps.append(step)
    return steps


def of_argument(text: str, sampling: FrameSampling | None) -> ArgumentSteps:
    """Return the key of `KEY=A,B,C` and a run for each value, in their order.

    KEY is an argument of the adapter's. `gen_kwargs.KEY` one of generation.
    """
    key, equals_sign, values_text = text.partition("=")
    values = [part.strip() for part in values_text.split(",")]
    is_key = re.fullmatch(r"[A-Za-z_][\w.]*", key)
    has_values = all(values) and len(set(values)) == len(values)
    if not equals_sign or not is_key or not has_values:
        raise InputError(
            f"--sweep {text!r}: not KEY=A,B,C with each value once, e.g. reasoning_effort=low,high"
        )
    option = "--model_args"
    if key.startswith(_GENERATION):
        option = "--gen_kwargs"
    name = key.removeprefix(_GENERATION)
    steps: list[Step] = []
    for value in values:
        step = Step(
            key,
            value,
            f"{key}={value}",
            {"setting": {key: value}},
            sampling=sampling,
            change=partial(_with_value, option=option, name=name, value=value),
        )
        steps.append(step)
    return ArgumentSteps(key, steps)


def _with_value(arguments: Arguments, option: str, name: str, value: str) -> Arguments:
    """Return lmms-eval's arguments with one value in an option of `K=V,…`."""
    parts = (process.option_value(arguments, option) or "").split(",")
    other_parts = [part for part in parts if part and part.partition("=")[0].strip() != name]
    return process.set_option(arguments, option, ",".join([*other_parts, f"{name}={value}"]))


def of_languages(
    text: str,
    translations: Path | None,
    llm: Llm,
    arguments: Arguments,
    output: Path,
    *,
    sampling: FrameSampling | None,
) -> list[Step]:
    """Return a plain run, then one for each language of `text`.

    Their questions are written to a file in the run's folder first: the user's translations, or
    made by a model.

    Raises:
        InputError: A language is no tag, or there twice; neither translations nor a model is
            given; the file lacks a question.
    """
    from reelbench.methods import translating
    from reelbench.registry.question_files import read_translations

    tags = [part.strip() for part in text.split(",")]
    languages = translating.checked_languages([tag for tag in tags if tag != NATIVE])
    tasks = process.wanted_tasks(arguments)
    if not tasks:
        raise InputError("--languages: name one of our tasks with --tasks, e.g. curve")
    shows_videos = sampling is None or sampling.kind != "none"
    rows = translating.rows_to_translate(
        tasks, languages, limit=_row_limit(arguments), shows_videos=shows_videos
    )
    if translations is not None:
        all_questions = read_translations(translations)
        translating.check(all_questions, rows, translations)
        questions = {key: all_questions[key] for key in rows}
    else:
        model = by_role(llm, (TRANSLATOR,))[TRANSLATOR]
        questions = translating.translate(rows, model, note=console.note, bar=console.progress)
    path = output / TRANSLATIONS_FILE
    translating.write(path, questions)
    steps = [_language_step(NATIVE, "questions in their own language", sampling, {})]
    for tag in languages:
        environ = {
            settings.LANGUAGE.name: tag,
            settings.TRANSLATIONS.name: str(path.absolute()),
        }
        steps.append(_language_step(tag, f"questions in {tag}", sampling, environ))
    return steps


def _language_step(
    language: str, title: str, sampling: FrameSampling | None, environ: Mapping[str, str]
) -> Step:
    return Step(
        "language", language, title, {"language": language}, sampling=sampling, environ=environ
    )


def _row_limit(arguments: Arguments) -> int | None:
    """Return lmms-eval's limit of rows, or None where all rows are needed.

    A limit below 1 is a share of the rows: then all are made ready.
    """
    limit = process.option_value(arguments, "--limit") or ""
    if not re.fullmatch(r"[0-9]+(\.0*)?", limit):
        return None
    return int(float(limit)) or None


def of_runs(
    number: int, seed: int | None, arguments: Arguments, sampling: FrameSampling | None
) -> list[Step]:
    """Return as many runs, each with a seed of its own.

    The first seed is `seed`, lmms-eval's own `--seed` or 0.

    Raises:
        InputError: `--seed` behind `--` is not one number, or there are two.
    """
    lmms_eval_seed = process.option_value(arguments, "--seed")
    if lmms_eval_seed is not None and (seed is not None or not lmms_eval_seed.isdecimal()):
        raise InputError(
            f"--seed {lmms_eval_seed} after --: with --runs give one number, before or after it"
        )
    first_seed = seed
    if first_seed is None:
        first_seed = int(lmms_eval_seed or 0)
    steps: list[Step] = []
    for run in range(number):
        run_seed = first_seed + run
        step = Step(
            "run",
            str(run + 1),
            f"run {run + 1} of {number}, seed {run_seed},",
            {"run": run + 1},
            sampling=sampling,
            environ={settings.RUN.name: str(run + 1)},
            change=partial(_with_seed, seed=run_seed),
        )
        steps.append(step)
    return steps


def _with_seed(arguments: Arguments, seed: int) -> Arguments:
    return process.set_option(arguments, "--seed", str(seed))
