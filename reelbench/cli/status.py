"""`reelbench status`: how far a command with `--status-file` has come, seen from outside."""

import json
from pathlib import Path
from typing import Annotated

import typer

from reelbench.cli import console
from reelbench.cli.option_groups import Json
from reelbench.registry.status import read_status

_ENDED_BADLY = {"failed", "stopped", "gone"}
_MINUTE, _HOUR = 60, 3600


def show_status(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file named by --status-file.")],
    *,
    as_json: Json = False,
) -> None:
    """Show a command's progress, from its --status-file.

    Exit status: 0 while it runs and where it is done, 1 where it failed, was stopped, or its process is gone.
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
