"""`reelbench`: the commands, and what happens when one fails."""

import gc
import os
import sys
import traceback
from errno import EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from typing import cast

from reelbench.base.credentials import known_secrets, without
from reelbench.base.errors import InputError, ReelbenchError, cut_in_the_middle
from reelbench.base.files import LONGEST_NAME
from reelbench.cli.program import FLAGS, assembled
from reelbench.terminal import console, synonyms
from reelbench.terminal.option_groups import before_dashes

_CALLERS = {EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS}
"""Errors of the system that come from a path as the caller gave it."""

_SHOWN_NAME = 80


def main() -> None:
    """Run a command.

    A failure is one line on stderr and its exit status, a traceback only with `--debug`.
    """
    gc.set_threshold(
        100_000, 20, 20
    )  # 700 new objects, as is usual, make it a tenth of a command that begins and ends
    ours = before_dashes(sys.argv[1:])
    flags = [flag for flag in FLAGS if flag in ours]
    arguments = [*flags, *(word for word in ours if word not in FLAGS), *sys.argv[1 + len(ours) :]]
    if "run" not in ours:  # where a model runs, its own library decides
        # numpy's other threads wait for work by turning on the spot: a tenth of a rerun, on every
        # further core.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        for name, value in known_secrets():
            if any(without(word, [value]) != word for word in before_dashes(arguments)):
                raise InputError(
                    f"the command line holds the value of {name}, and results record it; leave "
                    "it out"
                )
        note = console.note_unless(quiet=not {"-q", "--quiet"}.isdisjoint(ours))
        arguments = [*flags, *synonyms.with_our_command(arguments[len(flags) :], note)]
        named = next((word for word in arguments if not word.startswith("-")), None)
        outline = named is None and "_REELBENCH_COMPLETE" not in os.environ
        assembled(named, outline=outline)(arguments, prog_name="reelbench")
    except BrokenPipeError:
        sys.exit(1)
    except (ReelbenchError, ValueError, OSError) as error:
        line, status = _explain(error)
        if line is None:
            raise
        if "--debug" in flags:
            traceback.print_exc()
        console.note(f"reelbench: {line}")
        sys.exit(status)
    finally:
        # The process ends: a last search of all it holds for garbage would take a tenth of a rerun.
        gc.freeze()


def _explain(error: Exception) -> tuple[str | None, int]:
    """What a failure is in one line, and its exit status; None where it is a fault of ours."""
    if isinstance(error, ReelbenchError):
        return str(error), error.exit_code
    if isinstance(error, OSError) and not isinstance(error, ValueError):
        line = error.strerror or str(error)
        if error.errno == ENAMETOOLONG and error.filename:
            name = cut_in_the_middle(os.fsdecode(error.filename), _SHOWN_NAME)
            line = f"{name}: {line}; choose a shorter one ({LONGEST_NAME} bytes at most)"
        elif error.filename:
            line = f"{error.filename}: {line}"
        return line, InputError.exit_code if error.errno in _CALLERS else ReelbenchError.exit_code
    if (
        type(error).__name__ != "ValidationError"
    ):  # pydantic is not imported for the sake of this line
        return None, ReelbenchError.exit_code
    from reelbench.base.base_record import ValidationError, first_wrong_field

    return first_wrong_field(
        cast("ValidationError", error)
    ), InputError.exit_code  # a bound, met by what a user gave
