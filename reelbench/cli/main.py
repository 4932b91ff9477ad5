"""`reelbench`: the commands, and what happens when one fails."""

import gc
import logging
import os
import sys
import traceback
from errno import EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from types import MappingProxyType
from typing import Annotated, cast

import typer

from reelbench import __version__
from reelbench.cli import (
    ace,
    anchors,
    ask,
    cache,
    calibrate,
    candidates,
    cards,
    compare,
    console,
    data,
    diagnose,
    doctor,
    frames,
    help_pages,
    info,
    judging,
    leaderboard,
    listing,
    make,
    new,
    power,
    presets,
    profile,
    review,
    run,
    score,
    settings,
    shortcuts,
    status,
    view,
)
from reelbench.cli.app import App, Group
from reelbench.cli.option_groups import before_dashes
from reelbench.registry.errors import InputError, ReelbenchError, cut_in_the_middle
from reelbench.registry.files import LONGEST_NAME

_CALLERS = {EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS}
"""Errors of the system that come from a path as the caller gave it."""

_SHOWN_NAME = 80

_FLAGS = ("--debug", "--verbose")
"""Options of `reelbench` itself that may also stand behind the command."""


class _Commands(Group):
    """All of them, by what one wants to do."""

    sections = MappingProxyType(
        {
            "Measure": ("run", "ask", "score"),
            "Look": ("view", "compare", "candidates", "shortcuts", "power", "profile"),
            "Compare and publish": ("judge", "leaderboard", "cards"),
            "Make": ("new", "check", "make", "ace"),
            "People": ("review",),
            "Diagnose": ("diagnose",),
            "Manage": (
                *("list", "info", "data", "frames", "cache"),
                *("path", "presets", "settings", "status", "doctor", "help"),
            ),
        }
    )


app = App(
    "Evaluate video-language models on story and culture: tasks for lmms-eval, scores, a leaderboard, cards.",
    name="reelbench",
    cls=_Commands,
    pretty_exceptions_enable=False,
)
app.command("list")(listing.list_benchmarks)
app.command("path")(listing.path)
app.command("info")(info.info)
app.command("settings")(settings.show_settings)
app.command("presets")(presets.show_presets)
app.command("status")(status.show_status)
app.command("doctor")(doctor.doctor)
app.command("new")(new.new)
app.command("check")(new.check)
app.command("help")(help_pages.show_help)
app.command("score")(score.score)
app.command("ask")(ask.ask)
app.command("ace")(ace.ace)
app.command("candidates")(candidates.show_candidates)
app.command("compare")(compare.compare)
app.command("shortcuts")(shortcuts.show_shortcuts)
app.command("view")(view.view)
app.command("profile")(profile.profile)
app.add_typer(data.app, name="data")
app.add_typer(make.app, name="make")
app.add_typer(diagnose.app, name="diagnose")
app.add_typer(review.app, name="review")
compare.app.command("calibrate")(calibrate.calibrate)
compare.app.command("anchors")(anchors.anchors)
compare.app.command("presets")(judging.presets)
app.add_typer(compare.app, name="judge")
app.add_typer(frames.app, name="frames")
app.add_typer(cache.app, name="cache")
app.command("power")(power.power)
app.add_typer(cards.app, name="cards")
app.add_typer(leaderboard.app, name="leaderboard")
app.command(
    "run",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    options_metavar="[OPTIONS] -- LMMS_EVAL_ARGUMENTS",
)(run.run)


def _version(value: bool) -> None:
    if value:
        console.write(__version__)
        raise typer.Exit


@app.callback()
def _options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log what is decoded, and how long it takes.")] = False,
    version: Annotated[  # noqa: ARG001 - handled by its callback
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    logging.basicConfig(
        level=logging.INFO if debug or verbose else logging.WARNING, format="%(message)s", stream=sys.stderr
    )


def _flags_first(arguments: list[str]) -> list[str]:
    """Return the arguments with `--debug` and `--verbose` before the command, wherever they stood before a `--`."""
    ours = before_dashes(arguments)
    flags = [flag for flag in _FLAGS if flag in ours]
    return [*flags, *(word for word in ours if word not in _FLAGS), *arguments[len(ours) :]]


def _trace(debug: bool) -> None:
    """Print where the error that is being handled came from; the line and the status stay what they are."""
    if debug:
        traceback.print_exc()


def _of_the_system(error: OSError) -> str:
    if error.errno == ENAMETOOLONG and error.filename:
        name = cut_in_the_middle(os.fsdecode(error.filename), _SHOWN_NAME)
        return f"{name}: {error.strerror}; choose a shorter one ({LONGEST_NAME} bytes at most)"
    return f"{error.filename}: {error.strerror or error}" if error.filename else error.strerror or str(error)


def main() -> None:
    """Run a command; a failure is one line on stderr and its exit status, a traceback only with `--debug`."""
    gc.set_threshold(100_000, 20, 20)  # 700 new objects, as is usual, make it a tenth of a command that begins and ends
    arguments = _flags_first(sys.argv[1:])
    if "run" not in before_dashes(arguments):  # where a model runs, its own library decides
        # numpy's other threads wait for work by turning on the spot: a tenth of a rerun, on every further core.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    debug = "--debug" in arguments[: len(_FLAGS)]
    try:
        app.part_for(arguments)(arguments)
    except ReelbenchError as error:
        _trace(debug)
        console.note(f"reelbench: {error}")
        sys.exit(error.exit_code)
    except ValueError as error:
        if type(error).__name__ != "ValidationError":  # pydantic is not imported for the sake of this line
            raise
        _trace(debug)
        from reelbench.registry.base_record import ValidationError, first_wrong_field

        wrong = cast("ValidationError", error)
        console.note(f"reelbench: {first_wrong_field(wrong)}")  # a record's bounds, met by what a user gave
        sys.exit(InputError.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        _trace(debug)
        console.note(f"reelbench: {_of_the_system(error)}")
        sys.exit(InputError.exit_code if error.errno in _CALLERS else ReelbenchError.exit_code)
    finally:
        gc.freeze()  # the process ends: a last search of all it holds for garbage would take a tenth of a rerun
