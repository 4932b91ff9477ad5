"""`reelbench doctor`: what is installed, kept and set, and how far a command has come.

Its parts are `doctor settings` and `doctor status`.
"""

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

import typer

from reelbench import __version__
from reelbench.base import settings
from reelbench.base.credentials import without_credentials
from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.base.status import read_status
from reelbench.terminal import console, defaults
from reelbench.terminal.option_groups import Json, Kind, option_name

_PACKAGES = (
    "aiohttp",
    "av",
    "datasets",
    "evaluate",
    "huggingface-hub",
    "numpy",
    "openai",
    "pandas",
    "pyarrow",
    "pycocoevalcap",
    "pydantic",
    "typer",
)

_PACKAGES_OF_EXTRA = {
    "figures": ("matplotlib",),
    "gemini": ("google-genai",),
    "lint": ("scikit-learn",),
    "lmms-eval": (
        "lmms-eval",
        "torch",
        "transformers",
        "accelerate",
        "decord",
    ),
    "mcp": ("mcp",),
    "postgres": (
        "psycopg",
        "psycopg-pool",
    ),
    "profile": ("spacy",),
    "ray": ("ray",),
    "s3": ("s3fs",),
}
"""The names of packages: our own needs, and those of each extra."""
_LOOKED_AT_MOST = 200_000  # files of a folder whose sizes are added up


def doctor(
    context: typer.Context,
    model_args: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL_ARGS", help="After --: lmms-eval's --model_args of the adapter."
        ),
    ] = None,
    *,
    adapter: Annotated[
        str | None,
        typer.Option(
            "--adapter",
            metavar="NAME",
            help="Show what an lmms-eval adapter gets; with MODEL_ARGS, try it.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="Ask a served model two small questions with pictures, and show what arrives.",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="The OpenAI-compatible server of --model."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show versions, tools and folders, for a bug report.

    With --adapter it shows one adapter, tried on a mini question; with --model, what of a prompt
    arrives at a served model. Else it asks no network. It fetches nothing, and whatever it finds,
    its status is 0.
    """
    if model_args and adapter is None:
        raise InputError(f"{model_args[0]}: arguments of a model need --adapter NAME")
    if base_url is not None and model is None:
        raise InputError("--base-url: the server of a model; name it by --model")
    if model is not None:
        report = _served_report(model, base_url)
    elif adapter is None:
        report = _installation_facts(defaults.known_to(context))
    else:
        report = _adapter_report(adapter, model_args or ())
    if as_json:
        console.write_json(report, indent=1)
    else:
        _show_report(report)


def _served_report(model: str, base_url: str | None) -> dict[str, object]:
    """Return the facts of a served model."""
    from reelbench.methods.probe import probe
    from reelbench.terminal.asking_options import RequestOptions, served_model

    [options] = served_model(model, None, base_url, RequestOptions()).values()
    return {model: probe(options)}


def _adapter_report(adapter: str, model_args: Sequence[str]) -> dict[str, object]:
    """Return the facts of an adapter, and its answer to one question."""
    from reelbench.tasks.lmms import adapters

    report: dict[str, object] = {adapter: adapters.row(adapter)}
    if model_args:
        report["tried on one question"] = _finding_or_failure(
            partial(_try_adapter, adapter, ",".join(model_args))
        )
    return report


def _installation_facts(all_commands: defaults.Known) -> dict[str, object]:
    """Return the facts of this installation, by section."""
    extras: dict[str, dict[str, str | None]] = {}
    for extra, names in _PACKAGES_OF_EXTRA.items():
        extras[extra] = {name: _package_version(name) for name in names}
    return {
        "reelbench": {
            "version": __version__,
            "installed at": str(Path(__file__).resolve().parent.parent),
            "python": f"{platform.python_version()} ({sys.executable})",
            "system": platform.platform(),
            "cores": os.cpu_count(),
        },
        "packages": {name: _package_version(name) for name in _PACKAGES},
        "extras": extras,
        "tools": {
            "java": _finding_or_failure(_java_version),
            "decoder": _finding_or_failure(_decoder_versions),
        },
        "folders": _finding_or_failure(_folder_facts),
        "benchmarks": _finding_or_failure(_benchmark_facts),
        "settings": _finding_or_failure(partial(_setting_facts, all_commands)),
    }


def _show_report(report: Mapping[str, object]) -> None:
    for section, facts in report.items():
        console.write(section)
        if not isinstance(facts, dict):
            console.write(f"  {facts}")
            continue
        for name, fact in facts.items():
            console.write(f"  {name:<16} {_in_words(fact)}")
        if not facts:
            console.write("  none set")


def _try_adapter(adapter: str, model_args: str) -> dict[str, object]:
    """Ask an adapter one mini question with four frames.

    Returns:
        The frames that reached its model, and its answer.
    """
    from reelbench.registry.sampling import FrameSampling
    from reelbench.scoring import result_files
    from reelbench.tasks.lmms import process
    from reelbench.tasks.score import Options

    with TemporaryDirectory() as folder:
        words = [
            "--model",
            adapter,
            "--model_args",
            model_args,
            "--tasks",
            "rextime_mini",
            "--limit",
            "1",
        ]
        arguments, output = process.with_logging([*words, "--output_path", folder])
        frames = FrameSampling.parse("uniform:4")
        [outcome] = process.run_and_score(
            arguments, output, frames, Options(), stdout=sys.stderr.fileno()
        )
        [sample] = result_files.read_samples(outcome.folder)
    answer = outcome.unanswered or repr(sample.prediction)[:80]
    timestamps = sample.frame_timestamps
    if not timestamps:
        return {"handed over": "no frames", "answer": answer}
    arrived: object = sample.frames_arrived
    if arrived is None:
        arrived = "these"
    elif arrived == "unknown":
        arrived = "not counted there"
    clip_times: object = sample.frame_times_told
    if clip_times is None:
        clip_times = "these"
    seconds = ", ".join(f"{time:.2f}" for time in timestamps)
    return {
        "handed over": f"{len(timestamps)} frames, at {seconds} s",
        "arrived": arrived,
        "times of a clip": clip_times,
        "answer": answer,
    }


def _in_words(fact: object) -> str:
    if isinstance(fact, dict):
        return ", ".join(f"{name} {_in_words(version)}" for name, version in fact.items())
    if fact is None:
        return "not installed"
    return str(fact)


def _finding_or_failure(look: Callable[[], object]) -> object:
    """Return the finding of `look`, or why it failed.

    Nothing broken here may keep the rest from being shown.
    """
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - a broken installation is what this command is for
        return f"failed: {type(error).__name__}: {first_line(error)}"


def _package_version(name: str) -> str | None:
    """Return a package's version, None where it isn't installed. Nothing is imported."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(name).version
    except PackageNotFoundError:
        return None


def _java_version() -> str:
    from reelbench.scoring.java import find_java

    try:
        return find_java()
    except ReelbenchError as error:
        return str(error)


def _decoder_versions() -> str:
    import av

    libraries = ", ".join(
        f"{name} {'.'.join(map(str, version))}" for name, version in av.library_versions.items()
    )
    return f"FFmpeg in av {av.__version__} ({libraries})"


def _folder_facts() -> dict[str, object]:
    from reelbench.base.settings import home
    from reelbench.llm.ask_options import cache_location
    from reelbench.llm.store import is_address
    from reelbench.video.frame_store import FrameStore

    frames = FrameStore().info()
    existing = next(parent for parent in (home(), *home().parents) if parent.exists())
    place = cache_location()
    if is_address(place):
        replies = without_credentials(str(place))
    else:
        file = Path(place)
        size = "none yet"
        if file.is_file():
            size = _gigabytes_text(file.stat().st_size)
        replies = f"{file} ({size})"
    media: list[str] = []
    for path in settings.MEDIA.paths:
        presence = "not there"
        if path.is_dir():
            presence = "here"
        media.append(f"{path} ({presence})")
    frames_size = f"{_gigabytes_text(frames.size_bytes)} of {_gigabytes_text(frames.cap_bytes)}"
    return {
        "home": f"{home()} ({_size_text(home())})",
        "free there": _gigabytes_text(shutil.disk_usage(existing).free),
        "frames": f"{frames.root} ({frames_size})",
        "replies": replies,
        "media": ", ".join(media) or "none set",
    }


def _size_text(folder: Path) -> str:
    total = 0
    for number, path in enumerate(folder.rglob("*")):
        if number == _LOOKED_AT_MOST:
            return f"over {_gigabytes_text(total)}"
        if path.is_file() and not path.is_symlink():
            total += path.stat().st_size
    return _gigabytes_text(total)


def _gigabytes_text(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def _benchmark_facts() -> dict[str, object]:
    from importlib.metadata import entry_points

    from reelbench.registry import discovery
    from reelbench.video import media_roots

    lines: dict[str, object] = {}
    for name, spec in discovery.specs().items():
        data, media = media_roots.presence(spec)
        lines[name] = f"data: {data}; media: {media}"
    registration = "missing: install reelbench again"
    for entry in entry_points(group="lmms_eval.models"):
        if entry.value.startswith("reelbench."):
            registration = "registered"
    lines["lmms-eval entry point"] = registration
    return lines


def _setting_facts(all_commands: defaults.Known) -> dict[str, object]:
    def read() -> str:
        for file in defaults.files():
            defaults.entries(file, all_commands)
        where = " or ".join(map(str, defaults.places()))
        return ", ".join(map(str, defaults.files())) or f"none here; one may be in {where}"

    variables = {setting.name: setting.shown for setting in settings.ALL if setting.is_set}
    return {**variables, defaults.NAME: _finding_or_failure(read)}


# Its parts.


def show_settings(context: typer.Context, *, as_json: Json = False) -> None:
    """Show where each setting comes from: variable, file or default."""
    from reelbench.registry import discovery

    all_settings = [*settings.ALL, *(settings.data(name) for name in discovery.specs())]
    if as_json:
        _write_settings(all_settings, defaults.known_to(context))
        return
    width = max(len(setting.name) for setting in all_settings)
    indent = " " * (width + 4)
    for setting in all_settings:
        console.write(f"{setting.name:<{width}}  {setting.about}")
        value = f"unset: {setting.fallback}"
        if setting.is_set:
            value = f"= {setting.shown}"
        console.write(f"{indent}{value}")
    for default in _file_defaults(defaults.known_to(context)):
        console.write(f"{default.option}\n{indent}= {default.value} ({default.source})")
    existing_files = ", ".join(map(str, defaults.files())) or "none is there"
    places = " and ".join(map(str, defaults.places()))
    console.write(f"Option defaults are read from {places} ({existing_files})")


def _write_settings(all_settings: Sequence[settings.Setting], all_commands: defaults.Known) -> None:
    """Write the settings, the files' defaults and each option's kind as JSON."""
    document: dict[str, object] = {}
    for setting in all_settings:
        value = None
        if not setting.secret:
            value = setting.shown or None
        document[setting.name] = {
            "set": setting.is_set,
            "value": value,
            "default": setting.default or None,
            "about": setting.about,
        }
    for default in _file_defaults(all_commands):
        document[default.option] = {
            "set": default.counts,
            "value": default.value,
            "default": None,
            "about": default.source,
        }
    kinds: dict[str, dict[str, str]] = {}
    for words, command in sorted(all_commands().items()):
        options = [part for part in command.params if part.opts[0].startswith("-")]
        kinds[words] = {option_name(part): str(getattr(part, "kind", Kind.OWN)) for part in options}
    document["options"] = kinds
    console.write_json(document, indent=1)


class _FileDefault(NamedTuple):
    """A line of a `reelbench.toml`: `[table] option`, its value, and the file.

    `counts` is False where the line is left alone.
    """

    option: str
    value: str
    source: str
    counts: bool


def _file_defaults(all_commands: defaults.Known) -> Iterator[_FileDefault]:
    """Yield the entries of each `reelbench.toml`."""
    first_file: dict[str, Path] = {}
    for file in defaults.files():
        for entry in defaults.entries(file, all_commands):
            option = f"[{entry.table}] {entry.option}"
            idle = entry.idle
            if not idle and option in first_file:
                idle = f"{first_file[option]} comes first"
            source = f"from {file}"
            if idle:
                source += f", left alone: {idle}"
            else:
                first_file[option] = file
            value = without_credentials(str(entry.value))
            yield _FileDefault(option, value, source, not idle)


_ENDED_BADLY = {"failed", "stopped", "gone"}
_MINUTE = 60
_HOUR = 3600


def show_status(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file named by --status-file.")],
    *,
    as_json: Json = False,
) -> None:
    """Show a command's progress, from its --status-file.

    Exit status: 0 while it runs and where it is done, 1 where it failed, was stopped, or its
    process is gone.
    """
    status = read_status(file)
    if as_json:
        console.write_json(status)
    else:
        console.write(_status_line(status))
    if status["state"] in _ENDED_BADLY:
        raise typer.Exit(1)


def _status_line(status: Mapping[str, Any]) -> str:
    """Return a command's progress in one line."""
    parts = [f"{status['command']}: {status['state']}"]
    if status.get("what"):
        progress = f"{status['what']}, {status['done']:g}"
        total = status["of"]
        if total:
            percent = 100 * status["done"] / total
            progress += f" of {total:g} ({percent:.0f} %)"
        parts.append(progress)
    if status.get("failed"):
        parts.append(f"{status['failed']} failed")
    if status.get("cost") is not None:
        parts.append(f"${status['cost']:.2f}")
    if status.get("eta") is not None:
        parts.append(f"about {_seconds_text(status['eta'])} left")
    if status.get("error"):
        parts.append(str(status["error"]))
    parts.append(f"updated {status['updated']}")
    return "; ".join(parts)


def _seconds_text(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"
