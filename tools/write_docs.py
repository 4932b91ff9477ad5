"""Write what the documents repeat of the code: `docs/commands.md`, and the README's table of settings."""

from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from reelbench.cli.examples import EXAMPLES
from reelbench.cli.main import app
from reelbench.registry import settings

ROOT = Path(__file__).resolve().parent.parent
_START, _END = "<!-- settings -->\n", "<!-- /settings -->\n"


def commands() -> Iterator[tuple[str, TyperCommand]]:
    """Yield each command's words after `reelbench`, and the command, in the order of `--help`."""
    yield from _commands("", typer.main.get_command(app))


def commands_page() -> str:
    """Return `docs/commands.md`."""
    head = "# Commands\n\nWritten by `make docs`; `reelbench COMMAND --help` explains each one's options.\n"
    return head + "".join(_section(words, command) for words, command in commands())


def readme(text: str) -> str:
    """Return the README with its table of settings as the code has it."""
    before, _, rest = text.partition(_START)
    _, _, after = rest.partition(_END)
    return before + _START + _settings_table() + _END + after


def _commands(words: str, command: object) -> Iterator[tuple[str, TyperCommand]]:
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from _commands(f"{words} {name}".strip(), inner)
    elif isinstance(command, TyperCommand):
        yield words, command


def _section(words: str, command: TyperCommand) -> str:
    arguments = " ".join(_shown(parameter) for parameter in command.params if isinstance(parameter, TyperArgument))
    options = [max(p.opts, key=len) for p in command.params if isinstance(p, TyperOption) and p.name != "help"]
    first = (command.help or "").split("\n\n", maxsplit=1)[0].replace("\n", " ").strip()
    lines = [f"\n## reelbench {words} {arguments}".rstrip(), f"\n{first}"]
    if options:
        lines.append("\n" + " ".join(f"`{option}`" for option in options))
    lines += ["", *(f"    reelbench {words} {example}".rstrip() for example in EXAMPLES.get(words, ()))]
    return "\n".join(lines) + "\n"


def _shown(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").upper() + ("…" if argument.nargs != 1 else "")
    return name if argument.required else f"[{name}]"


def _settings_table() -> str:
    rows = [(setting.name, setting) for setting in settings.ALL]
    rows.append(("REELBENCH_DATA_<NAME>", settings.data("name")))
    lines = [f"| `{name}` | {setting.about} | {setting.fallback} |\n" for name, setting in rows]
    return "".join(["| variable | for | where it is unset |\n|---|---|---|\n", *lines])


def main() -> None:
    """Write both."""
    (ROOT / "docs" / "commands.md").write_text(commands_page(), encoding="utf-8")
    page = ROOT / "README.md"
    page.write_text(readme(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
