"""`reelbench doctor`: what is installed, kept and set on this machine, and how far a command has come.

Its parts are `doctor settings` and `doctor status`.
"""

import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

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
    as_json: Json = False,
) -> None:
    """Show versions, tools and folders, for a bug report; or one adapter, tried on a mini question.

    It asks no network and fetches nothing; whatever it finds, its status is 0.
    """
    if model_args and adapter is None:
        raise InputError(f"{model_args[0]}: arguments of a model need --adapter NAME")
    report: dict[str, object] = {}
    if adapter is not None:
        from reelbench.tasks.lmms import adapters

        report[adapter] = adapters.row(adapter)
        if model_args:
            report["tried on one question"] = _attempt(
                partial(_try_adapter, adapter, ",".join(model_args))
            )
    report = report or {
        "reelbench": {
            "version": __version__,
            "installed at": str(Path(__file__).resolve().parent.parent),
            "python": f"{platform.python_version()} ({sys.executable})",
            "system": platform.platform(),
            "cores": os.cpu_count(),
        },
        "packages": {name: _version(name) for name in _PACKAGES},
        "extras": {
            extra: {name: _version(name) for name in names}
            for extra, names in _PACKAGES_OF_EXTRA.items()
        },
        "tools": {"java": _attempt(_java), "decoder": _attempt(_decoder)},
        "folders": _attempt(_folders),
        "benchmarks": _attempt(_benchmarks),
        "settings": _attempt(partial(_settings, defaults.known_to(context))),
    }
    if as_json:
        console.write_json(report, indent=1)
        return
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
    """Ask an adapter one mini question with four frames, and return what reached its model and what it said."""
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
    given, arrived = sample.frame_timestamps, sample.frames_arrived
    answer = {"answer": outcome.unanswered or repr(sample.prediction)[:80]}
    if not given:
        return {"handed over": "no frames", **answer}
    return {
        "handed over": f"{len(given)} frames, at {', '.join(f'{time:.2f}' for time in given)} s",
        "arrived": "these"
        if arrived is None
        else "nobody counts them there"
        if arrived == "unknown"
        else arrived,
        "times of a clip": "these" if sample.frame_times_told is None else sample.frame_times_told,
        **answer,
    }


def _in_words(fact: object) -> str:
    if isinstance(fact, dict):
        return ", ".join(f"{name} {_in_words(version)}" for name, version in fact.items())
    return "not installed" if fact is None else str(fact)


def _attempt(look: Callable[[], object]) -> object:
    """Return the finding of `look`, or why it failed: nothing broken here may keep the rest from being shown."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - a broken installation is what this command is for
        return f"failed: {type(error).__name__}: {first_line(error)}"


def _version(name: str) -> str | None:
    """Return a package's version, None where it isn't installed; nothing is imported."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(name).version
    except PackageNotFoundError:
        return None


def _java() -> str:
    from reelbench.scoring.java import find_java

    try:
        return find_java()
    except ReelbenchError as error:
        return str(error)


def _decoder() -> str:
    import av

    libraries = ", ".join(
        f"{name} {'.'.join(map(str, version))}" for name, version in av.library_versions.items()
    )
    return f"FFmpeg in av {av.__version__} ({libraries})"


def _folders() -> dict[str, object]:
    from reelbench.base.settings import home
    from reelbench.llm.ask_options import cache_place
    from reelbench.llm.store import is_address
    from reelbench.video.frame_store import FrameStore

    frames = FrameStore().info()
    existing = next(parent for parent in (home(), *home().parents) if parent.exists())
    place = cache_place()
    if is_address(place):
        replies = without_credentials(str(place))
    else:
        file = Path(place)
        replies = f"{file} ({_gigabytes(file.stat().st_size) if file.is_file() else 'none yet'})"
    return {
        "home": f"{home()} ({_size_text(home())})",
        "free there": _gigabytes(shutil.disk_usage(existing).free),
        "frames": f"{frames.root} ({_gigabytes(frames.size_bytes)} of {_gigabytes(frames.cap_bytes)})",
        "replies": replies,
        "media": ", ".join(
            f"{path} ({'here' if path.is_dir() else 'not there'})" for path in settings.MEDIA.paths
        )
        or "none set",
    }


def _size_text(folder: Path) -> str:
    total = 0
    for number, path in enumerate(folder.rglob("*")):
        if number == _LOOKED_AT_MOST:
            return f"over {_gigabytes(total)}"
        if path.is_file() and not path.is_symlink():
            total += path.stat().st_size
    return _gigabytes(total)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def _benchmarks() -> dict[str, object]:
    from importlib.metadata import entry_points

    from reelbench.registry import discovery
    from reelbench.video import media_roots

    here = {name: media_roots.presence(spec) for name, spec in discovery.specs().items()}
    lines: dict[str, object] = {
        name: f"data: {data}; media: {media}" for name, (data, media) in here.items()
    }
    ours = {
        entry.name
        for entry in entry_points(group="lmms_eval.models")
        if entry.value.startswith("reelbench.")
    }
    return {
        **lines,
        "lmms-eval entry point": "registered" if ours else "missing: install reelbench again",
    }


def _settings(known: defaults.Known) -> dict[str, object]:
    def read() -> str:
        for file in defaults.files():
            defaults.entries(file, known)
        where = " or ".join(map(str, defaults.places()))
        return ", ".join(map(str, defaults.files())) or f"none here; one may stand in {where}"

    variables = {setting.name: setting.shown for setting in settings.ALL if setting.is_set}
    return {**variables, defaults.NAME: _attempt(read)}


# --- its parts
# --------------------------------------------------------------------------------------------------------


def show_settings(context: typer.Context, *, as_json: Json = False) -> None:
    """Show where each setting comes from: variable, file or default."""
    from reelbench.registry import discovery

    declared = [*settings.ALL, *(settings.data(name) for name in discovery.specs())]
    if as_json:
        listed = {
            setting.name: {
                "set": setting.is_set,
                "value": None if setting.secret else setting.shown or None,
                "default": setting.default or None,
                "about": setting.about,
            }
            for setting in declared
        }
        for option, value, source, counts in _of_files(defaults.known_to(context)):
            listed[option] = {"set": counts, "value": value, "default": None, "about": source}
        kinds: dict[str, dict[str, str]] = {}
        for words, command in sorted(defaults.known_to(context)().items()):
            options = [part for part in command.params if part.opts[0][:1] == "-"]
            kinds[words] = {
                option_name(part): str(getattr(part, "kind", Kind.OWN)) for part in options
            }
        console.write_json({**listed, "options": kinds}, indent=1)
        return
    width = max(len(setting.name) for setting in declared)
    for setting in declared:
        console.write(f"{setting.name:<{width}}  {setting.about}")
        console.write(
            f"{'':<{width}}    "
            + (f"= {setting.shown}" if setting.is_set else f"unset: {setting.fallback}")
        )
    for option, value, source, _ in _of_files(defaults.known_to(context)):
        console.write(f"{option}\n{'':<{width}}    = {value} ({source})")
    found = ", ".join(map(str, defaults.files())) or "none is there"
    console.write(
        f"Defaults of options are read from {' and '.join(map(str, defaults.places()))} ({found})"
    )


def _of_files(known: defaults.Known) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the entries of each `reelbench.toml`: `[table] option`, the value, where from, and whether it counts."""
    seen: dict[str, Path] = {}
    for file in defaults.files():
        for entry in defaults.entries(file, known):
            option = f"[{entry.table}] {entry.option}"
            idle = entry.idle or (f"{seen[option]} comes first" if option in seen else "")
            if not idle:
                seen[option] = file
            source = f"from {file}" + (f", left alone: {idle}" if idle else "")
            yield option, without_credentials(str(entry.value)), source, not idle


_ENDED_BADLY = {"failed", "stopped", "gone"}
_MINUTE, _HOUR = 60, 3600


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
        line = json.dumps(status, ensure_ascii=False)
    else:
        done, of = status["done"], status["of"]
        parts = [f"{status['command']}: {status['state']}"]
        if status.get("what"):
            share = f" of {of:g} ({100 * done / of:.0f} %)" if of else ""
            parts.append(f"{status['what']}, {done:g}{share}")
        parts += [f"{status['failed']} failed"] if status.get("failed") else []
        parts += [f"${status['cost']:.2f}"] if status.get("cost") is not None else []
        if (eta := status.get("eta")) is not None:
            minutes = f"{eta / _MINUTE:.0f} min" if eta < _HOUR else f"{eta / _HOUR:.1f} h"
            parts.append(f"about {f'{eta:.0f} s' if eta < _MINUTE else minutes} left")
        parts += [str(status["error"])] if status.get("error") else []
        line = "; ".join([*parts, f"updated {status['updated']}"])
    console.write(line)
    if status["state"] in _ENDED_BADLY:
        raise typer.Exit(1)
