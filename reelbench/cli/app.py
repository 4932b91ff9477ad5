"""A Typer whose help is plain text: options under their panels' headings, examples at the end.

Typer's own help is drawn by rich, whose Markdown and tracebacks take 0.25 s to import: more than all of the rest.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from reelbench.cli import console
from reelbench.cli.examples import EXAMPLES
from reelbench.registry.errors import first_line, printable

if TYPE_CHECKING:
    from typer import _click

_WIDTH = 100
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH}

_TYPE = re.compile(r" <(?:list\[)?([^\]> ]+)[^>]*>")
_METAVARS = {"path": "PATH", "Path": "PATH", "int": "N", "float": "X"}

_REPLIES = "nothing is paid for twice"
_RUN = f"decoded frames are kept, and {_REPLIES}; the model's answers are kept only with lmms-eval's --use_cache"
KEPT = {
    **dict.fromkeys(("score", "ask", "profile", "make discussion", "make moments", "make tags"), _REPLIES),
    **dict.fromkeys(("diagnose graphs", "diagnose errors"), _REPLIES),
    **dict.fromkeys(("run", "diagnose run"), _RUN),
    "frames extract": "what the store has is not decoded again",
    "data fetch": "what is here is not fetched again",
}
"""What a command that is stopped leaves for the next time; the others do no long work."""


class App(typer.Typer):
    """A group of commands; without a command it shows its help."""

    def __init__(self, help: str, **options: Any) -> None:  # noqa: A002, ANN401 - as Typer calls it
        given = {"cls": Group, "no_args_is_help": True, "rich_markup_mode": None, "context_settings": SETTINGS}
        super().__init__(help=help, **{**given, **options})

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:  # noqa: ANN401
        """As Typer's, for a command whose help has panels and examples."""
        return super().command(name, **{"cls": Command, **options})


class _Flags:
    """Gives Typer's own flags (`--help`, completion) the default False: for None it would import pydantic, 0.1 s."""

    def get_params(self, ctx: "_click.Context") -> "list[_click.Parameter]":
        parameters = super().get_params(ctx)  # type: ignore[misc] - of the command or group beside it
        for parameter in parameters:
            if parameter.default is None and getattr(parameter, "is_bool_flag", False):
                parameter.default = False
        return parameters


class Group(_Flags, TyperGroup):
    """A group of commands."""


class Command(_Flags, TyperCommand):
    """A command that shows its options by panel, and examples of its use."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - Typer's
        super().__init__(*arguments, **options)
        for parameter in self.params:
            if parameter.param_type_name == "argument" and parameter.metavar is None:
                parameter.metavar = (parameter.name or "").upper()

    def invoke(self, ctx: "_click.Context") -> Any:  # noqa: ANN401 - Typer's
        """Run the command, keep its status file if it has one; on Ctrl-C say whether the same goes on from there."""
        path = ctx.params.get("status_file")
        try:
            if path is None:
                return super().invoke(ctx)
            with _status_kept(path, _words(ctx)):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            if kept := KEPT.get(_words(ctx)):
                console.note(f"stopped; run the same command to resume: {kept}")
            raise

    def format_options(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:
        """Write arguments, options without a panel, and then each panel's."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                argument = parameter.param_type_name == "argument"
                panel = getattr(parameter, "rich_help_panel", None) or ("Arguments" if argument else "Options")
                shown = _TYPE.sub("" if argument else _metavar, record[0])
                panels.setdefault(panel, []).append((shown, record[1]))
        for title, records in panels.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: "_click.Context", formatter: "_click.HelpFormatter") -> None:
        """Write the examples as they are typed, each on a line of its own however long it is."""
        formatter.write_paragraph()
        words = _words(ctx)
        lines = (f"  {f'reelbench {words} {rest}'.strip()}\n" for rest in EXAMPLES.get(words, ()))
        formatter.write("Examples:\n" + "".join(lines))


@contextmanager
def _status_kept(path: Path, command: str) -> Iterator[None]:
    """Keep a command's status file while the block runs."""
    from reelbench.registry.status import StatusFile

    status = console.status = StatusFile(path, command)
    try:
        yield
    except KeyboardInterrupt:
        status.end("stopped")
        raise
    except typer.Exit as ended:
        status.end("failed" if ended.exit_code else "done")
        raise
    except Exception as error:
        status.end("failed", printable(first_line(error)))
        raise
    else:
        status.end("done")
    finally:
        console.status = None


def _metavar(shown: re.Match[str]) -> str:
    return " " + (shown[1] if "|" in shown[1] else _METAVARS.get(shown[1], "TEXT"))


def _words(ctx: "_click.Context") -> str:
    return ctx.command_path.partition(" ")[2]
