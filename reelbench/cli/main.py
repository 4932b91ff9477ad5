"""`reelbench`: the commands, and what happens when one fails."""

import gc
import os
import sys
import traceback
from collections.abc import Sequence
from errno import EACCES, EEXIST, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EPERM, EROFS
from typing import NamedTuple, cast

from reelbench.base.credentials import known_secrets
from reelbench.base.errors import InputError, ReelbenchError, cut_in_the_middle
from reelbench.base.files import LONGEST_NAME
from reelbench.base.secret_traces import SecretTraces
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
    our_words = before_dashes(sys.argv[1:])
    _save_time(our_words)
    flags = [flag for flag in FLAGS if flag in our_words]
    words = [word for word in our_words if word not in FLAGS]
    words += sys.argv[1 + len(our_words) :]
    try:
        _check_secrets(before_dashes([*flags, *words]))
        is_quiet = "-q" in our_words or "--quiet" in our_words
        words = synonyms.with_our_command(words, console.note_unless(quiet=is_quiet))
        _run_command([*flags, *words])
    except BrokenPipeError:
        sys.exit(1)
    except (ReelbenchError, ValueError, OSError) as error:
        failure = _failure_of(error)
        if failure is None:
            raise
        if "--debug" in flags:
            traceback.print_exc()
        console.note(f"reelbench: {failure.line}")
        sys.exit(failure.exit_status)
    finally:
        # The process ends: a last search of its memory for garbage would take a tenth of a rerun.
        gc.freeze()


def _save_time(our_words: Sequence[str]) -> None:
    """Set what makes short commands faster."""
    # Python's usual 700 new objects would make garbage collection a tenth of a short command.
    gc.set_threshold(100_000, 20, 20)
    # Where a model runs, its own library decides.
    if "run" not in our_words:
        # numpy's other threads wait for work by turning on the spot: a tenth of a rerun, on every
        # further core.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _run_command(arguments: Sequence[str]) -> None:
    """Run the command that arguments name, with no other one loaded."""
    commands = [word for word in arguments if not word.startswith("-")]
    command = commands[0] if commands else None
    is_completion = "_REELBENCH_COMPLETE" in os.environ
    outline = command is None and not is_completion
    program = assembled(command, outline=outline)
    program(arguments, prog_name="reelbench")


def _check_secrets(arguments: Sequence[str]) -> None:
    """Raise InputError where an argument holds the value of a secret."""
    for name, value in known_secrets():
        if any(map(SecretTraces([value]).are_in, arguments)):
            raise InputError(
                f"the command line contains the value of {name}, and results record it; leave it "
                "out"
            )


class _Failure(NamedTuple):
    line: str
    exit_status: int


def _failure_of(error: Exception) -> _Failure | None:
    """Return a failure's line and exit status. None where it is a fault of ours."""
    if isinstance(error, ReelbenchError):
        return _Failure(str(error), error.exit_code)
    if isinstance(error, OSError) and not isinstance(error, ValueError):
        return _failure_of_system(error)
    # pydantic is not imported for the sake of this line.
    if type(error).__name__ != "ValidationError":
        return None
    from reelbench.base.base_record import ValidationError, first_wrong_field

    # What a user gave is out of a field's bounds.
    line = first_wrong_field(cast("ValidationError", error))
    return _Failure(line, InputError.exit_code)


def _failure_of_system(error: OSError) -> _Failure:
    line = error.strerror or str(error)
    if error.errno == ENAMETOOLONG and error.filename:
        name = cut_in_the_middle(os.fsdecode(error.filename), _SHOWN_NAME)
        line = f"{name}: {line}; choose a shorter one ({LONGEST_NAME} bytes at most)"
    elif error.filename:
        line = f"{error.filename}: {line}"
    if error.errno in _CALLERS:
        return _Failure(line, InputError.exit_code)
    return _Failure(line, ReelbenchError.exit_code)
