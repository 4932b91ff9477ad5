"""lmms-eval as a process of its own: its arguments with ours added, and its failures found, which it exits 0 on."""

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reelbench.base import containment, settings
from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError, installing
from reelbench.base.files import read_json
from reelbench.base.progress import Bar, no_show
from reelbench.base.settings import home
from reelbench.base.status import StatusFile
from reelbench.data.loading import locate
from reelbench.llm.ask_options import THINKING_TOKENS
from reelbench.registry import decoding, discovery
from reelbench.registry.benchmark_file import NAME
from reelbench.registry.decoding import Answering, Candidates
from reelbench.registry.presets import SAMPLING
from reelbench.registry.records import PresetRecord
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini
from reelbench.tasks.lmms import adapters
from reelbench.tasks.lmms.run_logs import LoggedTask, logged_tasks, spec_and_task
from reelbench.tasks.score import Options, Outcome
from reelbench.tasks.score_runs import check_scored, score_logged, scores_folder
from reelbench.tasks.submissions import Questions
from reelbench.video.library import Library, where_looked

_MAX_NEW_TOKENS = "max_new_tokens"

_NEUTRAL = {"repetition_penalty": 1.0, "presence_penalty": 0.0}
"""Values that change nothing, passed on or not."""

_ACCELERATE = (
    *(
        "accelerate.commands.launch",
        "--multi_gpu",
        "--num_machines",
        "1",
        "--main_process_port",
        "0",
    ),
    *("--mixed_precision", "no", "--dynamo_backend", "no"),
)
"""What is said here isn't asked of a file of accelerate's; 0 is any free port."""

Start = Callable[[list[str], dict[str, str], Sequence[int], int | None], None]
"""Runs lmms-eval: its arguments, variables beside ours, descriptors that it holds open, and where its table goes."""


def run_and_score(
    arguments: list[str],
    output: Path,
    sampling: FrameSampling | None,
    options: Options,
    *,
    environ: Mapping[str, str] | None = None,
    stdout: int | None = None,
    start: Start | None = None,
    questions: Mapping[str, Questions] = MappingProxyType({}),
) -> list[Outcome]:
    """Run lmms-eval into `output` with the frames asked for (None: nobody asked), and score what it left.

    For the arguments and errors see `run`; `questions` are those that `check_data` found.
    InputError too where a task is one that is not scored.
    """
    for name in wanted_tasks(arguments):
        check_scored(name)
    return [
        score_logged(logged, scores_folder(logged), options, questions.get(logged.task))
        for logged in run(
            arguments, output, sampling, options.note, environ=environ, stdout=stdout, start=start
        )
    ]


def run(
    arguments: list[str],
    output: Path,
    sampling: FrameSampling | None,
    note: Callable[[str], None],
    *,
    environ: Mapping[str, str] | None = None,
    kept_open: Sequence[int] = (),
    stdout: int | None = None,
    start: Start | None = None,
) -> list[LoggedTask]:
    """Run lmms-eval into `output` with the frames asked for (None: nobody asked) -> what it left, by task.

    `output` is the `--output_path` in its arguments; `note` is told one line for each thing that
    the user should know; `environ` are variables beside this process's; `start` runs it, by default
    in a process of its own. ReelbenchError where it failed, or left no result at all.
    """
    environ = dict(environ or {})
    arguments = with_frames(arguments, sampling or FrameSampling(), note)
    if sampling is not None:
        environ[settings.FRAMES.name] = sampling.spec(given=True)
    before = set(output.rglob("*_results.json"))
    (start or lmms_eval)(arguments, environ, kept_open, stdout)
    written = set(output.rglob("*_results.json")) - before
    if not written:
        raise ReelbenchError(
            "lmms-eval ended without results, though it may have exited with 0; its messages say why"
        )
    return [
        replace(logged, own=True) for logged in logged_tasks(output) if logged.results in written
    ]


def followed(
    status: StatusFile | None,
    start: Start,
    arguments: list[str],
    environ: dict[str, str],
    *streams: Any,  # noqa: ANN401 - as a `Start` takes them
) -> None:
    """Call `start` with its arguments; `status`, if any, is told each second how far lmms-eval has come."""
    if status is None:
        start(arguments, environ, *streams)
        return
    ended = threading.Event()
    with tempfile.TemporaryDirectory(prefix="reelbench-") as folder, status.bar("lmms-eval", None):
        environ[settings.PROGRESS.name] = folder
        following = threading.Thread(
            target=_follow, args=(Path(folder), status.bar, ended), daemon=True
        )
        following.start()
        try:
            start(arguments, environ, *streams)
        finally:
            ended.set()
            following.join()


def _follow(folder: Path, part: Bar, ended: threading.Event) -> None:
    """Tell `part` of the questions that the processes have begun, and what they say of themselves."""
    known, show, over = 0, no_show, False
    with ExitStack() as parts:
        while not over:
            over = ended.wait(1.0)
            told = [read_json(file) for file in folder.glob("*.json")]  # one of each process
            if (of := sum(one["of"] for one in told)) != known:
                known, show = of, parts.enter_context(part("lmms-eval", of))
            show(sum(one["done"] for one in told), told[0]["line"] if told else "")


def check_data(
    arguments: list[str], sampling: FrameSampling | None, *, videos: bool = True
) -> dict[str, Questions]:
    """Look for the rows, and with `videos` for the videos, of the tasks that are named, before a model loads.

    A task that lacks them is left out by lmms-eval; DataUnavailableError only where no other one is
    left. Returned are the questions of each task whose rows are here.
    """
    ours = wanted_tasks(arguments)
    videos = videos and (sampling is None or sampling.kind != "none")
    lacking: dict[str, str] = {}
    questions: dict[str, Questions] = {}
    for name in sorted(ours):
        try:
            located = locate(name)
        except DataUnavailableError as error:
            lacking[name] = str(error)
            continue
        questions[name] = Questions(located.spec, located.split, located.task, located=located)
        library = Library(located.spec, located.split)
        rows = located.rows if videos and not is_mini(located.split) else []
        if rows and not any(library.find(row) for row in rows):
            where = where_looked(located.spec, library.missing(rows[:1]))
            lacking[name] = f"none of its videos is here {where}"
    others = any(
        name and discovery.find_task(name) is None and not _tagged(name)
        for name in _tasks(arguments)
    )
    if not ours or len(lacking) < len(ours) or others:
        return questions
    raise DataUnavailableError(
        "nothing to run: " + "; ".join(f"{name}: {why}" for name, why in lacking.items())
    )


def way_variables(
    arguments: list[str], candidates: Candidates | None, answering: Answering | None
) -> dict[str, str]:
    """Return the variables by which lmms-eval asks as was chosen; InputError where a task of ours can't be asked so."""
    chosen = {settings.CANDIDATES.name: candidates, settings.ANSWERING.name: answering}
    stated = {name: str(way) for name, way in chosen.items() if way is not None}
    names = sorted(wanted_tasks(arguments))
    if stated and not names:
        raise InputError(
            f"{' and '.join(stated.values())}: for tasks of ours, and --tasks names none"
        )
    for name in names:
        decoding.check(spec_and_task(name)[1], candidates, answering)
    return stated


def check_all_there(arguments: list[str], outcomes: list[Outcome]) -> None:
    """Raise ReelbenchError where one of the tasks that were asked for left no result."""
    absent = wanted_tasks(arguments) - {outcome.folder.name for outcome in outcomes}
    if absent:
        raise ReelbenchError(
            f"no results for {', '.join(sorted(absent))}; lmms-eval's messages say why"
        )


def with_frames(
    arguments: list[str], sampling: FrameSampling, note: Callable[[str], None]
) -> list[str]:
    """Return lmms-eval's arguments with the adapter's own set to take the frames as they are; say what can't be."""
    model_args = option_value(arguments, "--model_args")
    given = adapters.values_in(model_args) | {
        "batch_size": option_value(arguments, "--batch_size") or "1"
    }
    model = option_value(arguments, "--model")
    adapters.check_times(
        sampling, {"simple"} if "--force_simple" in arguments else adapters.kinds(model)
    )
    added, notes = adapters.added_arguments(model, given, sampling)
    for line in notes:
        note(line)
    if not added:
        return arguments
    pairs = [f"{name}={value}" for name, value in added.items()]
    note(f"frames {sampling}: --model_args {','.join(pairs)} added")
    return _with_more(arguments, "--model_args", pairs)


def with_output_limit(
    arguments: list[str],
    max_tokens: int | None,
    note: Callable[[str], None],
    *,
    thinking: bool = False,
) -> list[str]:
    """Return lmms-eval's arguments with an answer's limit among its `--gen_kwargs`; one that is there stays.

    A temperature can't be left out there: where none is given, most of lmms-eval's adapters (0.7.3)
    take 0.
    """
    tokens = max_tokens or (THINKING_TOKENS if thinking else None)
    model = option_value(arguments, "--model")
    told = "enable_thinking=" in (option_value(arguments, "--model_args") or "")
    if tokens is None and adapters.of(model).thinks and not told:
        note(
            f"{model} thinks before it answers, and an answer has 512 tokens or less: --thinking gives it more, "
            "--model_args enable_thinking=False has it answer at once"
        )
    if tokens is None or not arguments:
        return arguments
    own = adapters.values_in(option_value(arguments, "--gen_kwargs"))
    if _MAX_NEW_TOKENS in own:
        note(
            f"--gen_kwargs {_MAX_NEW_TOKENS}={own[_MAX_NEW_TOKENS]} stays, and not {tokens}: it was given"
        )
        return arguments
    if thinking and "temperature" not in own:
        note(
            "--thinking: lmms-eval's adapters take temperature 0 unless --gen_kwargs has the one that the model wants"
        )
    return _with_more(arguments, "--gen_kwargs", [f"{_MAX_NEW_TOKENS}={tokens}"])


def with_preset(arguments: list[str], preset: PresetRecord) -> tuple[list[str], PresetRecord]:
    """Return lmms-eval's arguments with a preset's values that they don't give, and the preset as it was taken.

    Its sampling and tokens go to `--gen_kwargs`; of the pixels of a frame only Qwen's adapters can
    be told. InputError where it has a value that can't be said to lmms-eval.
    """
    for name in ("prompt", "thinking"):
        if preset.get(name) not in {None, "after"}:
            raise InputError(
                f"--preset {preset.name}: lmms-eval can't be told its {name!r}; use `reelbench ask`"
            )
    names = {name: name for name in (*SAMPLING, "max_tokens") if name != "seed"} | {
        "max_tokens": _MAX_NEW_TOKENS
    }
    own = adapters.values_in(option_value(arguments, "--gen_kwargs"))
    model = option_value(arguments, "--model")
    lost = {
        name
        for name, theirs in names.items()
        if preset.get(name) not in {None, _NEUTRAL.get(name)} and adapters.drops(model, theirs)
    } - {"max_tokens"}
    preset = preset.overridden_by(
        **{name: name in lost or theirs in own or None for name, theirs in names.items()},
        seed=option_value(arguments, "--seed"),
        pixels=None if "qwen" in (model or "") else "not taken",
    )
    pairs = [
        f"{theirs}={preset.get(name)}"
        for name, theirs in names.items()
        if preset.get(name) is not None and name not in lost
    ]
    if preset.get("temperature") and "do_sample" not in own and "temperature" not in {*own, *lost}:
        pairs.append(
            "do_sample=True"
        )  # as adapters make of it by themselves; so the record says it too
    if pairs:
        arguments = _with_more(arguments, "--gen_kwargs", pairs)
    if (seed := preset.get("seed")) is not None:
        arguments = set_option(arguments, "--seed", str(seed))
    model_args = option_value(arguments, "--model_args") or ""
    if "max_pixels=" in model_args:
        preset = preset.overridden_by(pixels=model_args)
    elif (pixels := preset.get("pixels")) is not None:
        arguments = _with_more(arguments, "--model_args", [f"max_pixels={pixels}"])
    return arguments, preset


def named_by_path(arguments: Sequence[str]) -> dict[str, BenchmarkSpec]:
    """Return the words of `--tasks` that are a `benchmark.yaml` or its folder, with the benchmark; InputError of it."""
    paths = {
        name: settings.expanded(name)
        for name in _tasks(arguments)
        if name and not discovery.find_task(name)
    }
    return {
        name: discovery.open_file(path)
        for name, path in paths.items()
        if path.name == NAME or (path / NAME).is_file()
    }


def opened_by_path(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the arguments with each path of a benchmark replaced by its task, and the variable that names the folders.

    InputError as `named_by_path`, and for a task or a model that nobody has.
    """
    specs = named_by_path(arguments)
    _check_names(arguments)
    if not specs:
        return by_name(arguments), {}
    names = [specs[name].tasks[0].name if name in specs else name for name in _tasks(arguments)]
    known = [
        *(str(Path(spec.file).resolve().parent) for spec in specs.values()),
        *map(str, settings.BENCHMARKS.paths),
    ]
    return by_name(set_option(arguments, "--tasks", ",".join(names))), {
        settings.BENCHMARKS.name: os.pathsep.join(known)
    }


def by_name(arguments: list[str]) -> list[str]:
    """Return the arguments with tasks of ours as no folder here is called: lmms-eval would run its YAML files' code."""
    named = option_value(arguments, "--tasks") or ""
    while os.path.isdir(named) and wanted_tasks(arguments):  # noqa: PTH112 - Path has errors for a long list of tasks
        named = f"{named},{_tasks(arguments)[0]}"
        arguments = set_option(arguments, "--tasks", named)
    return arguments


def _check_names(arguments: list[str]) -> None:
    """Raise InputError for a task or a model that neither we nor lmms-eval have: it would say so after a minute."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    spec = find_spec("lmms_eval")
    if spec is None or not spec.submodule_search_locations:
        return
    theirs = Path(next(iter(spec.submodule_search_locations)))
    model = option_value(arguments, "--model")
    known = set(re.findall(r'"(\w+)"', (theirs / "models/__init__.py").read_text(encoding="utf-8")))
    known |= {
        word
        for file in (theirs / "models").glob("*.py")
        for word in re.findall(r'"(\w+)"', file.read_text())
    }
    if model and model not in {*known, "reelbench_baseline"}:
        modules = [
            entry.module.partition(".")[0] for entry in entry_points(group="lmms_eval.models")
        ]
        if {*modules} <= {"reelbench"}:
            raise InputError(
                f"--model {model}: lmms-eval has no such adapter{_close(model, known)}"
            )
    tags = {tag for spec in discovery.specs().values() for task in spec.tasks for tag in task.tags}
    ours = {*tags, *(task.name for spec in discovery.specs().values() for task in spec.tasks)}
    for name in _tasks(arguments):
        if (
            not re.fullmatch(r"\w[\w.-]*", name)
            or name in ours
            or name in discovery.specs()
            or Path(name).exists()
        ):
            continue
        if name == "list" or name.startswith("list_") or option_value(arguments, "--include_path"):
            continue
        word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])".encode())
        if not any(word.search(file.read_bytes()) for file in (theirs / "tasks").rglob("*.y*ml")):
            raise InputError(
                f"--tasks {name}: neither Reelbench nor lmms-eval has such a task{_close(name, ours)}"
            )


def _close(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else "; `reelbench list` shows ours"


_REFUSED = {
    "--predict_only": "it logs nothing that can be scored; leave it out, and score again later by `score --run`",
    "--num_fewshot": "our tasks have no examples to show; leave it out",
}
"""Arguments of lmms-eval's with which there would be nothing to score in the end."""


def with_logging(arguments: list[str]) -> tuple[list[str], Path]:
    """Return lmms-eval's arguments with samples logged to an output folder, and that folder."""
    if not arguments:
        raise InputError(
            "nothing to run: put lmms-eval's arguments after --, e.g. reelbench run -- --tasks moviecore …"
        )
    for name, why in _REFUSED.items():
        if any(argument == name or argument.startswith(f"{name}=") for argument in arguments):
            raise InputError(f"{name}: {why}")
    for argument in (option_value(arguments, "--model_args") or "").split(","):
        containment.hub_id(argument.partition("=")[2], "--model_args")
    arguments = list(arguments)
    output = option_value(arguments, "--output_path")
    if output is None:
        output = str(home() / "runs" / datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f"))
        arguments += ["--output_path", output]
    if "--log_samples" not in arguments:
        arguments.append("--log_samples")
    return arguments, Path(output)


def lmms_eval(
    arguments: list[str],
    environ: dict[str, str] | None = None,
    kept_open: Sequence[int] = (),
    stdout: int | None = None,
    *,
    processes: int = 1,
) -> None:
    """Run lmms-eval in a process of its own, or in several by accelerate, which divide the questions among them.

    ReelbenchError where it says that it failed.
    """
    several = [*_ACCELERATE, "--num_processes", str(processes), "-m"] if processes > 1 else []
    with start([*several, "lmms_eval", *arguments], environ or {}, kept_open, stdout) as running:
        status = running.wait()
    if status != 0:
        raise run_error(status)


def start(
    module: Sequence[str],
    environ: Mapping[str, str],
    kept_open: Sequence[int] = (),
    stdout: int | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a Python module, with its arguments, that runs lmms-eval; InputError where that is not installed."""
    from importlib.util import find_spec

    if find_spec("lmms_eval") is None:
        raise InputError(f"lmms-eval is not installed; {installing('lmms-eval')}")
    command = [sys.executable, "-m", *module]
    # The judge is asked afterwards, in one batch: many calls at once, and none that holds up the
    # model. The current folder stays off the path: a folder `datasets` or `evaluate` there would
    # shadow a library. Nor is its `.env` read, which could say to whom the user's key goes.
    if Path(".env").exists() and version("python-dotenv") < "1.2":
        raise InputError(
            ".env: lmms-eval would take its settings from this folder; move it, or python-dotenv>=1.2"
        )
    here = {"PYTHONSAFEPATH": "1", "PYTHON_DOTENV_DISABLED": "1"}
    environ = {**os.environ, settings.JUDGE.name: "", **here, **environ}
    return subprocess.Popen(command, env=environ, pass_fds=kept_open, stdout=stdout)  # noqa: S603


def run_error(status: int) -> ReelbenchError:
    """Return the error of a run that ended with a status other than 0."""
    return ReelbenchError(f"lmms-eval failed with exit status {status}; its messages say why")


def wanted_tasks(arguments: list[str]) -> set[str]:
    """Return our tasks that the arguments name, by themselves or by one of our tags; other people's are lmms-eval's."""
    wanted: set[str] = set()
    for name in _tasks(arguments):
        wanted |= {name} if discovery.find_task(name) is not None else _tagged(name)
    return wanted


def _tasks(arguments: Sequence[str]) -> list[str]:
    return [part.strip() for part in (option_value(arguments, "--tasks") or "").split(",")]


def _tagged(tag: str) -> set[str]:
    return {
        task.name for spec in discovery.specs().values() for task in spec.tasks if tag in task.tags
    }


def set_option(arguments: list[str], option: str, value: str) -> list[str]:
    """Return the arguments with an option's value replaced, or the option added."""
    for number, argument in enumerate(arguments):
        if argument == option and number + 1 < len(arguments):
            return [*arguments[: number + 1], value, *arguments[number + 2 :]]
        if argument.startswith(f"{option}="):
            return [*arguments[:number], f"{option}={value}", *arguments[number + 1 :]]
    return [*arguments, option, value]


def _with_more(arguments: list[str], option: str, pairs: Sequence[str]) -> list[str]:
    """Return the arguments with more values, `name=value`, in an option's list."""
    given = option_value(arguments, option)
    return set_option(arguments, option, ",".join([given, *pairs] if given else pairs))


def option_value(arguments: Sequence[str], option: str) -> str | None:
    """Return an option's value among lmms-eval's arguments, or None."""
    for number, argument in enumerate(arguments):
        if argument == option and number + 1 < len(arguments):
            return arguments[number + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return None
