"""`reelbench`: the commands, and what happens when one fails."""

import gc
import os
import sys
import traceback
from errno import EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from typing import cast

from reelbench.cli import console
from reelbench.cli.commands import FLAGS, assembled
from reelbench.cli.option_groups import before_dashes
from reelbench.registry.credentials import refuse_known
from reelbench.registry.errors import InputError, ReelbenchError, cut_in_the_middle
from reelbench.registry.files import LONGEST_NAME

_CALLERS = {EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS}
"""Errors of the system that come from a path as the caller gave it."""

_SHOWN_NAME = 80


def _flags_first(arguments: list[str]) -> list[str]:
    """Return the arguments with `--debug` and `--verbose` before the command, wherever they stood before a `--`."""
    ours = before_dashes(arguments)
    flags = [flag for flag in FLAGS if flag in ours]
    return [*flags, *(word for word in ours if word not in FLAGS), *arguments[len(ours) :]]


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
    debug = "--debug" in arguments[: len(FLAGS)]
    try:
        refuse_known(before_dashes(arguments))
        named = next((word for word in arguments if not word.startswith("-")), None)
        assembled(named)(arguments)
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
