"""Write what the documents repeat of the code, and the list of the documents themselves.

`docs/commands.md`, `docs/api.md`, `docs/schemas/`, the README's table of settings, and `docs/llms.txt`.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from reelbench.cli.app import commands_of
from reelbench.cli.examples import EXAMPLES
from reelbench.cli.main import app
from reelbench.cli.option_groups import option_of
from reelbench.leaderboard.checks import Check
from reelbench.making.funnel import FunnelRecord
from reelbench.registry import settings
from reelbench.registry.records import About, Result, Sample
from tools.api_page import api_page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SCHEMAS = {"result": Result, "sample": Sample, "check": Check, "about": About, "funnel": FunnelRecord}
_START, _END = "<!-- settings -->\n", "<!-- /settings -->\n"


def commands() -> Iterator[tuple[str, TyperCommand]]:
    """Yield each command's words after `reelbench`, and the command, in the order of `--help`."""
    yield from commands_of(typer.main.get_command(app))


def commands_page() -> str:
    """Return `docs/commands.md`."""
    head = "# Commands\n\nWritten by `make docs`; `reelbench COMMAND --help` explains each one's options.\n"
    return head + "".join(_section(words, command) for words, command in commands())


def readme(text: str) -> str:
    """Return the README with its table of settings as the code has it."""
    before, _, rest = text.partition(_START)
    _, _, after = rest.partition(_END)
    return before + _START + _settings_table() + _END + after


def _section(words: str, command: TyperCommand) -> str:
    arguments = " ".join(_shown(parameter) for parameter in command.params if isinstance(parameter, TyperArgument))
    options = [option_of(p) for p in command.params if isinstance(p, TyperOption) and p.name != "help"]
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


def schema(name: str) -> str:
    """Return the JSON schema of a record, as `docs/schemas/NAME.json` has it."""
    return json.dumps(SCHEMAS[name].model_json_schema(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def llms_txt() -> str:
    """Return `docs/llms.txt`: what Reelbench is, and every page with its first sentence, in the order of the index."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    about = " ".join(index.split("\n\n")[1].split())
    lines = ["# Reelbench", "", f"> {about}"]
    for tree in re.findall(r"```{toctree}\n(.*?)```", index, re.DOTALL):
        options, _, pages = tree.partition("\n\n")
        lines += ["", f"## {options.partition(':caption: ')[2].splitlines()[0]}", ""]
        lines += [_listed(page) for page in pages.split()]
    return "\n".join(lines) + "\n"


def _listed(page: str) -> str:
    title, first, *_ = (DOCS / f"{page}.md").read_text(encoding="utf-8").split("\n\n")
    sentence = re.split(r"(?<=\.)\s", " ".join(first.split()))[0].rstrip(".:").replace("*", "")
    return f"- [{title.removeprefix('# ')}]({page}.md): {sentence}"


def written() -> Iterator[tuple[Path, str]]:
    """Yield every file that is written, with what it must hold."""
    yield DOCS / "commands.md", commands_page()
    yield DOCS / "api.md", api_page()
    for name in SCHEMAS:
        yield DOCS / "schemas" / f"{name}.json", schema(name)
    page = ROOT / "README.md"
    yield page, readme(page.read_text(encoding="utf-8"))


def main() -> None:
    """Write them all; the list comes last, as it reads the others."""
    for path, text in written():
        path.write_text(text, encoding="utf-8")
    (DOCS / "llms.txt").write_text(llms_txt(), encoding="utf-8")


if __name__ == "__main__":
    main()
