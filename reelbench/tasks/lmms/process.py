"""Run lmms-eval as a process of its own, with our arguments added to its own.

Its failures are found from its results: it exits with 0 all the same.
"""

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
from functools import partial
from importlib.metadata import entry_points, version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

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
    "accelerate.commands.launch",
    "--multi_gpu",
    "--num_machines",
    "1",
    "--main_process_port",
    "0",
    "--mixed_precision",
    "no",
    "--dynamo_backend",
    "no",
)
"""Arguments that are given here aren't asked of a file of accelerate's; 0 is any free port."""

_FOLLOWED_EVERY_S = 1.0

Start = Callable[[list[str], dict[str, str], Sequence[int], int | None], None]
"""A function that runs lmms-eval.

Its arguments are lmms-eval's, variables beside ours, descriptors that it holds open, and where its
table goes.
"""


class ArgumentsWithPreset(NamedTuple):
    """lmms-eval's arguments with a preset's values, and the preset as it was taken."""

    arguments: list[str]
    preset: PresetRecord


class ArgumentsOfTasks(NamedTuple):
    """lmms-eval's arguments with tasks by name, and the variables that they need."""

    arguments: list[str]
    environ: dict[str, str]


class ArgumentsWithOutput(NamedTuple):
    """lmms-eval's arguments with samples logged to an output folder, and that folder."""

    arguments: list[str]
    output: Path


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
    """Run lmms-eval into `output` with the frames asked for, and score its answers.

    For the arguments and errors see `run`. `questions` are those that `check_data` found.

    Raises:
        InputError: A task is one that is not scored.
    """
    for name in wanted_tasks(arguments):
        check_scored(name)
    all_logged = run(
        arguments, output, sampling, options.note, environ=environ, stdout=stdout, start=start
    )
    outcomes: list[Outcome] = []
    for logged in all_logged:
        folder = scores_folder(logged)
        outcomes.append(score_logged(logged, folder, options, questions.get(logged.task)))
    return outcomes


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
    """Run lmms-eval into `output` with the frames asked for. Return its logs, by task.

    Args:
        arguments: lmms-eval's arguments, with `output` as the `--output_path`.
        output: The output folder.
        sampling: The frames asked for. None where nobody asked.
        note: Called with a line for each thing that the user should know.
        environ: Variables beside this process's.
        kept_open: Descriptors that lmms-eval holds open.
        stdout: Where its table goes.
        start: The function that runs it, by default in a process of its own.

    Raises:
        ReelbenchError: It failed, or left no result at all.
    """
    environ = dict(environ or {})
    arguments = with_frames(arguments, sampling or FrameSampling(), note)
    if sampling is not None:
        environ[settings.FRAMES.name] = sampling.spec(words=True)
    before = set(output.rglob("*_results.json"))
    (start or lmms_eval)(arguments, environ, kept_open, stdout)
    written = set(output.rglob("*_results.json")) - before
    if not written:
        raise ReelbenchError(
            "lmms-eval ended without results, though it may have exited with 0; "
            "its messages say why"
        )
    new_tasks = [logged for logged in logged_tasks(output) if logged.results in written]
    return [replace(logged, is_own=True) for logged in new_tasks]


def run_with_progress(
    status: StatusFile | None,
    start: Start,
    arguments: list[str],
    environ: dict[str, str],
    *streams: Any,  # noqa: ANN401 - as a `Start` takes them
) -> None:
    """Call `start` with its arguments, and report the progress of lmms-eval each second.

    It is reported to `status`, if any.
    """
    if status is None:
        start(arguments, environ, *streams)
        return
    ended = threading.Event()
    with tempfile.TemporaryDirectory(prefix="reelbench-") as folder, status.bar("lmms-eval", None):
        environ[settings.PROGRESS.name] = folder
        follow = partial(_show_questions_begun, Path(folder), status.bar, ended)
        following = threading.Thread(target=follow, daemon=True)
        following.start()
        try:
            start(arguments, environ, *streams)
        finally:
            ended.set()
            following.join()


def _show_questions_begun(folder: Path, bar: Bar, ended: threading.Event) -> None:
    """Show the questions that the processes have begun, until the end, from their files."""
    total = 0
    show = no_show
    with ExitStack() as bars:
        is_over = False
        while not is_over:
            is_over = ended.wait(_FOLLOWED_EVERY_S)
            reports = [read_json(file) for file in folder.glob("*.json")]  # one of each process
            new_total = sum(report["of"] for report in reports)
            if new_total != total:
                total = new_total
                show = bars.enter_context(bar("lmms-eval", total))
            line = reports[0]["line"] if reports else ""
            show(sum(report["done"] for report in reports), line)


def check_data(
    arguments: list[str], sampling: FrameSampling | None, *, videos: bool = True
) -> dict[str, Questions]:
    """Look for the rows, and with `videos` for the videos, of the named tasks.

    This is done before a model loads. lmms-eval leaves out a task that lacks them. Returned are the
    questions of each task whose rows are here.

    Raises:
        DataUnavailableError: No task is left.
    """
    ours = wanted_tasks(arguments)
    needs_videos = videos and (sampling is None or sampling.kind != "none")
    lacking: dict[str, str] = {}
    questions: dict[str, Questions] = {}
    for name in sorted(ours):
        try:
            located = locate(name)
        except DataUnavailableError as error:
            lacking[name] = str(error)
            continue
        questions[name] = Questions(located.spec, located.split, located.task, located=located)
        if needs_videos and not is_mini(located.split):
            library = Library(located.spec, located.split)
            if located.rows and not any(map(library.find, located.rows)):
                where = where_looked(located.spec, library.missing(located.rows[:1]))
                lacking[name] = f"none of its videos is here {where}"
    if ours and len(lacking) == len(ours) and not any(map(_is_foreign, _typed_tasks(arguments))):
        reasons = "; ".join(f"{name}: {why}" for name, why in lacking.items())
        raise DataUnavailableError(f"nothing to run: {reasons}")
    return questions


def _is_foreign(name: str) -> bool:
    """Return True for the name of a task, or a tag, that is not ours."""
    return name != "" and discovery.find_task(name) is None and not _tasks_with_tag(name)


def way_variables(
    arguments: list[str], candidates: Candidates | None, answering: Answering | None
) -> dict[str, str]:
    """Return the variables by which lmms-eval asks as was chosen.

    Raises:
        InputError: A task of ours can't be asked so, or there is none.
    """
    variables: dict[str, str] = {}
    if candidates is not None:
        variables[settings.CANDIDATES.name] = str(candidates)
    if answering is not None:
        variables[settings.ANSWERING.name] = str(answering)
    names = sorted(wanted_tasks(arguments))
    if variables and not names:
        ways = " and ".join(variables.values())
        raise InputError(f"{ways}: for our tasks, and --tasks names none")
    for name in names:
        decoding.check(spec_and_task(name).task, candidates, answering)
    return variables


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
    """Return lmms-eval's arguments with those by which its adapter takes the frames as they are.

    A line on each thing that can't be goes to `note`.
    """
    user_arguments = adapters.values_in(option_value(arguments, "--model_args"))
    user_arguments["batch_size"] = option_value(arguments, "--batch_size") or "1"
    model = option_value(arguments, "--model")
    kinds: Collection[str] = adapters.kinds(model)
    if "--force_simple" in arguments:
        kinds = {"simple"}
    adapters.check_times(sampling, kinds)
    added, notes = adapters.added_arguments(model, user_arguments, sampling)
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
    """Return lmms-eval's arguments with an answer's limit among its `--gen_kwargs`.

    One that is there stays. A temperature can't be left out there: where none is given, most of
    lmms-eval's adapters (0.7.3) take 0.
    """
    tokens = max_tokens
    if not tokens and thinking:
        tokens = THINKING_TOKENS
    model = option_value(arguments, "--model")
    if not tokens:
        model_args = option_value(arguments, "--model_args") or ""
        if adapters.adapter_named(model).thinks and "enable_thinking=" not in model_args:
            note(
                f"{model} thinks before it answers, and an answer has 512 tokens or less: "
                "--thinking gives it more, --model_args enable_thinking=False has it answer at once"
            )
        return arguments
    if not arguments:
        return arguments
    generation = adapters.values_in(option_value(arguments, "--gen_kwargs"))
    if _MAX_NEW_TOKENS in generation:
        limit = generation[_MAX_NEW_TOKENS]
        note(f"--gen_kwargs {_MAX_NEW_TOKENS}={limit} stays, and not {tokens}: it was given")
        return arguments
    if thinking and "temperature" not in generation:
        note(
            "--thinking: lmms-eval's adapters take temperature 0 unless --gen_kwargs has the one "
            "that the model wants"
        )
    return _with_more(arguments, "--gen_kwargs", [f"{_MAX_NEW_TOKENS}={tokens}"])


def with_preset(arguments: list[str], preset: PresetRecord) -> ArgumentsWithPreset:
    """Return lmms-eval's arguments with a preset's values that they don't give.

    Its sampling and tokens go to `--gen_kwargs`; of the pixels of a frame only Qwen's adapters can
    be told.

    Raises:
        InputError: The preset has a value that can't be said to lmms-eval.
    """
    for name in ("prompt", "thinking"):
        if preset.get(name) not in {None, "after"}:
            raise InputError(
                f"--preset {preset.name}: lmms-eval has no option for its {name!r}; "
                "use `reelbench ask`"
            )
    # The preset's names of values -> lmms-eval's.
    names = {name: name for name in SAMPLING if name != "seed"}
    names["max_tokens"] = _MAX_NEW_TOKENS
    generation = adapters.values_in(option_value(arguments, "--gen_kwargs"))
    model = option_value(arguments, "--model")
    dropped = _dropped_sampling_values(preset, model, names)
    overridden: dict[str, bool | None] = {}
    for name, gen_name in names.items():
        overridden[name] = name in dropped or gen_name in generation or None
    not_taken = None if "qwen" in (model or "") else "not taken"
    preset = preset.overridden_by(
        **overridden,
        seed=option_value(arguments, "--seed"),
        pixels=not_taken,
    )
    pairs: list[str] = []
    for name, gen_name in names.items():
        if preset.get(name) is not None and name not in dropped:
            pairs.append(f"{gen_name}={preset.get(name)}")
    passes_temperature = preset.get("temperature") and "temperature" not in dropped
    if passes_temperature and generation.keys().isdisjoint({"do_sample", "temperature"}):
        # Adapters take it from the temperature by themselves; so the record says it too.
        pairs.append("do_sample=True")
    if pairs:
        arguments = _with_more(arguments, "--gen_kwargs", pairs)
    seed = preset.get("seed")
    if seed is not None:
        arguments = set_option(arguments, "--seed", str(seed))
    model_args = option_value(arguments, "--model_args") or ""
    pixels = preset.get("pixels")
    if "max_pixels=" in model_args:
        preset = preset.overridden_by(pixels=model_args)
    elif pixels is not None:
        arguments = _with_more(arguments, "--model_args", [f"max_pixels={pixels}"])
    return ArgumentsWithPreset(arguments, preset)


def _dropped_sampling_values(
    preset: PresetRecord, model: str | None, names: Mapping[str, str]
) -> set[str]:
    """Return the preset's sampling values that an adapter does not pass on to its model."""
    dropped: set[str] = set()
    for name, gen_name in names.items():
        has_effect = preset.get(name) not in {None, _NEUTRAL.get(name)}
        if name != "max_tokens" and has_effect and adapters.ignores_setting(model, gen_name):
            dropped.add(name)
    return dropped


def named_by_path(arguments: Sequence[str]) -> dict[str, BenchmarkSpec]:
    """Return the words of `--tasks` that are a `benchmark.yaml` or its folder, with the benchmark.

    Raises:
        InputError: Such a file is wrong.
    """
    specs: dict[str, BenchmarkSpec] = {}
    for name in _typed_tasks(arguments):
        if name and not discovery.find_task(name):
            path = settings.with_home_expanded(name)
            if path.name == NAME or (path / NAME).is_file():
                specs[name] = discovery.open_file(path)
    return specs


def opened_by_path(arguments: list[str]) -> ArgumentsOfTasks:
    """Return the arguments with each path of a benchmark replaced by its task.

    The variable that comes with them names the folders.

    Raises:
        InputError: As by `named_by_path`, and for a task or a model that nobody has.
    """
    specs = named_by_path(arguments)
    _check_names(arguments)
    if not specs:
        return ArgumentsOfTasks(by_name(arguments), {})
    names = _typed_tasks(arguments)
    for place, name in enumerate(names):
        if name in specs:
            names[place] = specs[name].tasks[0].name
    folders = [str(Path(spec.file).resolve().parent) for spec in specs.values()]
    folders += map(str, settings.BENCHMARKS.paths)
    arguments = set_option(arguments, "--tasks", ",".join(names))
    environ = {settings.BENCHMARKS.name: os.pathsep.join(folders)}
    return ArgumentsOfTasks(by_name(arguments), environ)


def by_name(arguments: list[str]) -> list[str]:
    """Return the arguments with tasks of ours in words that are no folder here.

    lmms-eval would run the code of a folder's YAML files.
    """
    tasks = option_value(arguments, "--tasks") or ""
    while os.path.isdir(tasks) and wanted_tasks(arguments):  # noqa: PTH112 - Path has errors for a long list of tasks
        tasks = f"{tasks},{_typed_tasks(arguments)[0]}"
        arguments = set_option(arguments, "--tasks", tasks)
    return arguments


def _check_names(arguments: list[str]) -> None:
    """Raise InputError for a task or a model that neither we nor lmms-eval have.

    lmms-eval would report it after a minute.
    """
    spec = find_spec("lmms_eval")
    if spec is None or not spec.submodule_search_locations:
        return
    package = Path(next(iter(spec.submodule_search_locations)))
    _check_model(option_value(arguments, "--model"), package / "models")
    ours: set[str] = set()
    for benchmark in discovery.specs().values():
        for task in benchmark.tasks:
            ours |= {task.name, *task.tags}
    if option_value(arguments, "--include_path"):
        return
    for name in _typed_tasks(arguments):
        is_ours = name in ours or name in discovery.specs() or Path(name).exists()
        is_list = name == "list" or name.startswith("list_")
        if is_ours or is_list or not re.fullmatch(r"\w[\w.-]*", name):
            continue
        if not _is_task_of(package / "tasks", name):
            raise InputError(
                f"--tasks {name}: neither Reelbench nor lmms-eval has such a task"
                f"{_closest_name(name, ours)}"
            )


def _check_model(model: str | None, folder: Path) -> None:
    """Raise InputError for an adapter that lmms-eval, whose models are in `folder`, has not."""
    if not model:
        return
    names: set[str] = set()
    for file in folder.glob("*.py"):
        names.update(re.findall(r'"(\w+)"', file.read_text(encoding="utf-8")))
    if model == "reelbench_baseline" or model in names:
        return
    # Another package's adapters have names that are not known here.
    entries = entry_points(group="lmms_eval.models")
    if all(entry.module.partition(".")[0] == "reelbench" for entry in entries):
        raise InputError(
            f"--model {model}: lmms-eval has no such adapter{_closest_name(model, names)}"
        )


def _is_task_of(folder: Path, name: str) -> bool:
    """Return True where one of lmms-eval's YAML files has a task's name as a word."""
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])".encode())
    return any(word.search(file.read_bytes()) for file in folder.rglob("*.y*ml"))


def _closest_name(name: str, names: Collection[str]) -> str:
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else "; `reelbench list` shows ours"


_REFUSED = {
    "--predict_only": "it logs nothing that can be scored; leave it out, "
    "and score again later by `score --run`",
    "--num_fewshot": "our tasks have no examples to show; leave it out",
}
"""Arguments of lmms-eval's with which there would be nothing to score in the end."""


def with_logging(arguments: list[str]) -> ArgumentsWithOutput:
    """Return lmms-eval's arguments with samples logged to an output folder."""
    if not arguments:
        raise InputError(
            "nothing to run: put lmms-eval's arguments after --, "
            "e.g. reelbench run -- --tasks moviecore …"
        )
    for name, why in _REFUSED.items():
        for argument in arguments:
            if argument == name or argument.startswith(f"{name}="):
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
    return ArgumentsWithOutput(arguments, Path(output))


def lmms_eval(
    arguments: list[str],
    environ: dict[str, str] | None = None,
    kept_open: Sequence[int] = (),
    stdout: int | None = None,
    *,
    processes: int = 1,
) -> None:
    """Run lmms-eval in a process of its own, or in several by accelerate.

    Several divide the questions among them.

    Raises:
        ReelbenchError: It says that it failed.
    """
    module = ["lmms_eval", *arguments]
    if processes > 1:
        module = [*_ACCELERATE, "--num_processes", str(processes), "-m", *module]
    with start(module, environ or {}, kept_open, stdout) as running:
        status = running.wait()
    if status != 0:
        raise run_error(status)


def start(
    module: Sequence[str],
    environ: Mapping[str, str],
    kept_open: Sequence[int] = (),
    stdout: int | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a Python module, with its arguments, that runs lmms-eval.

    Raises:
        InputError: lmms-eval is not installed, or would take its settings from this folder.
    """
    if find_spec("lmms_eval") is None:
        raise InputError(f"lmms-eval is not installed; {installing('lmms-eval')}")
    command = [sys.executable, "-m", *module]
    # The judge is asked afterwards, in one batch: many calls at once, and none that holds up the
    # model. The current folder stays off the path: a folder `datasets` or `evaluate` there would
    # shadow a library. Nor is its `.env` read, which could say to whom the user's key goes.
    if Path(".env").exists() and version("python-dotenv") < "1.2":
        raise InputError(
            ".env: lmms-eval would take its settings from this folder; "
            "move it, or python-dotenv>=1.2"
        )
    safe = {settings.JUDGE.name: "", "PYTHONSAFEPATH": "1", "PYTHON_DOTENV_DISABLED": "1"}
    environ = {**os.environ, **safe, **environ}
    return subprocess.Popen(command, env=environ, pass_fds=kept_open, stdout=stdout)  # noqa: S603


def run_error(status: int) -> ReelbenchError:
    """Return the error of a run that ended with a status other than 0."""
    return ReelbenchError(f"lmms-eval failed with exit status {status}; its messages say why")


def wanted_tasks(arguments: list[str]) -> set[str]:
    """Return our tasks that the arguments name, by themselves or by one of our tags.

    Other people's are lmms-eval's.
    """
    tasks: set[str] = set()
    for name in _typed_tasks(arguments):
        if discovery.find_task(name) is not None:
            tasks.add(name)
        else:
            tasks |= _tasks_with_tag(name)
    return tasks


def _typed_tasks(arguments: Sequence[str]) -> list[str]:
    return [part.strip() for part in (option_value(arguments, "--tasks") or "").split(",")]


def _tasks_with_tag(tag: str) -> set[str]:
    names: set[str] = set()
    for spec in discovery.specs().values():
        names.update(task.name for task in spec.tasks if tag in task.tags)
    return names


def set_option(arguments: list[str], option: str, value: str) -> list[str]:
    """Return the arguments with an option's value replaced, or the option added."""
    changed = list(arguments)
    for place, argument in enumerate(arguments):
        if argument == option and place + 1 < len(arguments):
            changed[place + 1] = value
            return changed
        if argument.startswith(f"{option}="):
            changed[place] = f"{option}={value}"
            return changed
    return [*arguments, option, value]


def _with_more(arguments: list[str], option: str, pairs: Sequence[str]) -> list[str]:
    """Return the arguments with more values, `name=value`, in an option's list."""
    values = list(pairs)
    before = option_value(arguments, option)
    if before:
        values.insert(0, before)
    return set_option(arguments, option, ",".join(values))


def option_value(arguments: Sequence[str], option: str) -> str | None:
    """Return an option's value among lmms-eval's arguments, or None."""
    for place, argument in enumerate(arguments):
        if argument == option and place + 1 < len(arguments):
            return arguments[place + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return None
