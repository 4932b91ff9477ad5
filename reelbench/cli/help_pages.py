"""`reelbench help`: a family of options whole, or a command's help."""

from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.cli import console
from reelbench.cli.app import commands_of, shown_option
from reelbench.cli.families import FAMILIES, family_of
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from typer import _click


def show_help(
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="FAMILY|COMMAND", help=f"{', '.join(FAMILIES)}, or a command's words.")
    ] = None,
) -> None:
    """Show a family of options, or a command's help."""
    top = context.find_root()
    words = words or []
    if len(words) == 1 and words[0] in FAMILIES:
        console.write(_page(words[0], top))
        return
    shown = top
    for word in words:
        command = getattr(shown.command, "commands", {}).get(word)
        if command is None:
            raise InputError(
                f"help: no command {' '.join(words)!r}, and no family of options; those are {', '.join(FAMILIES)}"
            )
        shown = command.make_context(word, [], parent=shown, resilient_parsing=True)
    console.write(shown.get_help())
    if not words:
        formatter = top.make_formatter()
        with formatter.section("Families of options, each whole in `reelbench help NAME`"):
            formatter.write_dl([(name, family.about) for name, family in FAMILIES.items()])
        console.write(f"\n{formatter.getvalue().rstrip()}")


def _page(name: str, top: "_click.Context") -> str:
    """Return a family: what it is for, each of its options once, and the commands that take any."""
    family = FAMILIES[name]
    records: dict[str, str] = {}
    takers: list[str] = []
    for words, command in commands_of(top.command):
        context = command.make_context(words, [], parent=top, resilient_parsing=True)
        mine = [part for part in command.params if family_of(part) == name]
        for parameter in mine:
            if record := parameter.get_help_record(context):
                records.setdefault(shown_option(record[0]), record[1])
        takers += [words] if mine else []
    formatter = top.make_formatter()
    formatter.write(f"{name}: {family.about}\n")
    if family.more:
        formatter.write("\n" + "".join(f"  {line}\n" for line in family.more))
    with formatter.section("Options"):
        formatter.write_dl(list(records.items()))
    with formatter.section("Commands that take them"):
        formatter.write_text(", ".join(takers))
    return formatter.getvalue().rstrip()
