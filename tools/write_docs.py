"""Write what the documents repeat of the code, and the list of the documents themselves.

`docs/commands.md`, `docs/api.md`, `docs/schemas/`, the README's table of settings, and `docs/llms.txt`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from reelbench.cli.app import commands_of, shown_argument, shown_option
from reelbench.cli.commands import assembled
from reelbench.cli.families import EXAMPLES, FAMILIES, family_of
from reelbench.cli.option_groups import option_of
from reelbench.leaderboard.checks import Check
from reelbench.registry import settings
from reelbench.registry.records import About, Result, Sample
from reelbench.studio.funnel import FunnelRecord
from tools.api_page import api_page

if TYPE_CHECKING:
    from typer import _click

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SCHEMAS = {"result": Result, "sample": Sample, "check": Check, "about": About, "funnel": FunnelRecord}
_START, _END = "<!-- settings -->\n", "<!-- /settings -->\n"


def commands() -> Iterator[tuple[str, TyperCommand]]:
    """Yield each command's words after `reelbench`, and the command, in the order of `--help`."""
    yield from commands_of(typer.main.get_command(assembled()))


def commands_page() -> str:
    """Return `docs/commands.md`: what commands share, then each command with the meaning of each of its options."""
    head = (
        "# Commands\n\nEvery command with the meaning of each of its options; those that several share stand at "
        "the end. Written by `make docs`, as `reelbench COMMAND --help` says it.\n"
    )
    top = typer.main.get_command(assembled()).make_context("reelbench", [], resilient_parsing=True)
    taken: dict[str, dict[str, str]] = {name: {} for name in FAMILIES}
    sections = "".join(_section(words, command, top, taken) for words, command in commands())
    return head + sections + "".join(_family(name, options) for name, options in taken.items())


def readme(text: str) -> str:
    """Return the README with its table of settings as the code has it."""
    before, _, rest = text.partition(_START)
    _, _, after = rest.partition(_END)
    return before + _START + _settings_table() + _END + after


def _section(words: str, command: TyperCommand, top: "_click.Context", taken: dict[str, dict[str, str]]) -> str:
    """Return a command's section; options of a family are put under it in `taken`."""
    context = command.make_context(words, [], parent=top, resilient_parsing=True)
    arguments = [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]
    options = [p for p in command.params if isinstance(p, TyperOption) and p.name != "help"]
    first = (command.help or "").split("\n\n", maxsplit=1)[0].replace("\n", " ").strip()
    lines = [f"\n## reelbench {words} {' '.join(map(shown_argument, arguments))}".rstrip(), f"\n{first}"]
    lines += ["", *(f"    reelbench {words} {example}".rstrip() for example in EXAMPLES.get(words, ()))]
    own: list[str] = []
    shared: dict[str, list[str]] = {}
    for parameter in [*arguments, *options]:
        record = parameter.get_help_record(context)
        if record is None:  # hidden
            continue
        name, meaning = record
        if isinstance(parameter, TyperArgument):
            own.append(_entry(shown_argument(parameter).strip("[]"), meaning))
        elif family := family_of(parameter):
            shared.setdefault(family, []).append(f"`{option_of(parameter)}`")
            taken[family].setdefault(shown_option(name), meaning)
        else:
            own.append(_entry(shown_option(name), meaning))
    own += [f"- [{name}](#{_slug(name)}), {FAMILIES[name].about}: {', '.join(names)}" for name, names in shared.items()]
    return "\n".join([*lines, "", *own] if own else lines) + "\n"


def _family(name: str, options: Mapping[str, str]) -> str:
    """Return the section of options that several commands share."""
    family = FAMILIES[name]
    more = "\n\n".join(
        "\n".join(f"    {line.strip()}" if code else line for line in lines)
        for code, lines in groupby(family.more, key=lambda line: line.startswith("  "))
    )
    head = f"\n## {_heading(name)}\n\n{family.about[0].upper()}{family.about[1:]}.\n"
    return "\n".join([head, *([more, ""] if more else []), *map(_entry, options, options.values())]) + "\n"


def _heading(family: str) -> str:
    return f"Shared options: {family}"


def _slug(family: str) -> str:
    return f"shared-options-{family}"


def _entry(name: str, meaning: str) -> str:
    return f"- `{name}`: {' '.join(meaning.split())}"


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
