"""Write what the documents repeat of the code, and the list of the documents themselves.

`docs/commands.md`, `docs/api.md`, `docs/schemas/`, the tables of settings and providers, the keys
of a `benchmark.yaml` in the recipe, and `docs/llms.txt`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from reelbench.base import settings
from reelbench.cli.commands import COMMANDS
from reelbench.cli.program import assembled
from reelbench.leaderboard import ledger
from reelbench.llm.model_names import PROVIDERS
from reelbench.registry.benchmark_keys import FORMS, KEYS, REQUIRED, Key
from reelbench.registry.records import About, Result, Sample
from reelbench.studio.funnel import FunnelRecord
from reelbench.terminal.app import commands_of, shown_argument, shown_option
from reelbench.terminal.families import FAMILIES, family_of
from reelbench.terminal.option_groups import option_name
from tools.api_page import api_page

if TYPE_CHECKING:
    from typer import _click

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SCHEMAS = {
    "result": Result,
    "sample": Sample,
    "ledger": ledger.Line,
    "about": About,
    "funnel": FunnelRecord,
}
RECIPE = DOCS / "recipes" / "add_benchmark.md"
_KEYS_START, _KEYS_END = "<!-- keys -->\n", "<!-- /keys -->\n"
_START, _END = "<!-- settings -->\n", "<!-- /settings -->\n"
_CONTENTS_START, _CONTENTS_END = "<!-- contents -->\n", "<!-- /contents -->\n"


def commands() -> Iterator[tuple[str, TyperCommand]]:
    """Yield each command's words after `reelbench`, and the command, in the order of `--help`."""
    yield from commands_of(typer.main.get_command(assembled()))


def commands_page() -> str:
    """Return `docs/commands.md`: what commands share, then each command with the meaning of each of its options."""
    head = (
        "# Commands\n\nAll commands, with the meaning of each option. Options that several "
        "commands share are at the "
        "end. `make docs` writes this page from `reelbench COMMAND --help`.\n\n"
        f"{_CONTENTS_START}{_CONTENTS_END}"
    )
    top = typer.main.get_command(assembled()).make_context("reelbench", [], resilient_parsing=True)
    taken: dict[str, dict[str, str]] = {name: {} for name in FAMILIES}
    sections = "".join(_section(words, command, top, taken) for words, command in commands())
    return head + sections + "".join(_family(name, options) for name, options in taken.items())


def _with(page: Path, start: str, table: str, end: str) -> str:
    """Return a page with what stands between two marks as the code has it."""
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    return before + start + table + end + rest.partition(end)[2]


def with_contents(text: str) -> str:
    """Return a page with links to its sections between the two marks, if it has them."""
    before, mark, rest = text.partition(_CONTENTS_START)
    if not mark:
        return text
    after = rest.partition(_CONTENTS_END)[2]
    without_code = re.sub(r"^```.*?^```", "", after, flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^## (.+)$", without_code, re.MULTILINE)
    links = " · ".join(f"[{title}](#{_anchor(title)})" for title in titles)
    return f"{before}{mark}On this page: {links}\n{_CONTENTS_END}{after}"


def _anchor(title: str) -> str:
    """Return a heading's anchor, as GitHub and MyST make it."""
    kept = re.sub(r"[^\w\- ]", "", title.lower())
    return kept.replace(" ", "-")


def _section(
    words: str, command: TyperCommand, top: "_click.Context", taken: dict[str, dict[str, str]]
) -> str:
    """Return a command's section; options of a family are put under it in `taken`."""
    context = command.make_context(words, [], parent=top, resilient_parsing=True)
    arguments = [parameter for parameter in command.params if isinstance(parameter, TyperArgument)]
    options = [p for p in command.params if isinstance(p, TyperOption) and p.name != "help"]
    paragraphs = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    first = "\n\n".join(part for part in paragraphs if part)
    lines = [
        f"\n## reelbench {words} {' '.join(map(shown_argument, arguments))}".rstrip(),
        f"\n{first}",
    ]
    lines += [
        "",
        *(f"    reelbench {words} {example}".rstrip() for example in COMMANDS[words].examples),
    ]
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
            shared.setdefault(family, []).append(f"`{option_name(parameter)}`")
            taken[family].setdefault(shown_option(name), meaning)
        else:
            own.append(_entry(shown_option(name), meaning))
    own += [
        f"- [{name}](#{_slug(name)}), {FAMILIES[name].about}: {', '.join(names)}"
        for name, names in shared.items()
    ]
    return "\n".join([*lines, "", *own] if own else lines) + "\n"


def _family(name: str, options: Mapping[str, str]) -> str:
    """Return the section of options that several commands share."""
    family = FAMILIES[name]
    more = "\n\n".join(
        "\n".join(f"    {line.strip()}" if code else line for line in lines)
        for code, lines in groupby(family.more, key=lambda line: line.startswith("  "))
    )
    head = f"\n## {_heading(name)}\n\n{family.about[0].upper()}{family.about[1:]}.\n"
    return (
        "\n".join([head, *([more, ""] if more else []), *map(_entry, options, options.values())])
        + "\n"
    )


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
    return "".join(["| variable | meaning | if it is not set |\n|---|---|---|\n", *lines])


def _providers_table() -> str:
    rows = "".join(
        f"| `{name}/` | [{one.title}]({one.source}) | `{one.url}` | "
        f"`{one.key}`{' (if it needs one)' * one.own} "
        f"| [{', '.join(one.takes)}]({one.media or one.source})"
        f"{f', at most {one.most_images} pictures' if one.most_images else ''} |\n"
        for name, one in PROVIDERS.items()
    )
    return (
        "| prefix | provider | address | key | accepts, in addition to text "
        f"|\n|---|---|---|---|---|\n{rows}"
    )


def schema(name: str) -> str:
    """Return the JSON schema of a record, as `docs/schemas/NAME.json` has it."""
    return (
        json.dumps(SCHEMAS[name].model_json_schema(), indent=1, sort_keys=True, ensure_ascii=False)
        + "\n"
    )


def keys_table() -> str:
    """Return the keys of a `benchmark.yaml`, a row each."""

    def row(path: str, key: Key) -> str:
        words = f" ({', '.join(f'`{word}`' for word in key.words)})" if key.form == "choice" else ""
        return f"| `{path}`{words} | {key.about} | `{key.example}` |\n"

    return "".join(
        [
            "| key | meaning | example |\n|---|---|---|\n",
            *(row(path, key) for path, key in KEYS.items()),
        ]
    )


def parity_page() -> str:
    """Return `docs/parity.md`: owners' scorers beside ours, as `make parity` found them."""
    paths = [
        *(ROOT / "tools" / "parity").glob("*/parity.json"),
        *(ROOT / "reelbench" / "tasks" / "gallery").glob("*/parity.json"),
    ]
    paths.sort(key=lambda path: path.parent.name)
    found = [json.loads(path.read_text("utf-8")) for path in paths]
    lines = [
        "# Parity",
        "",
        (
            "Each of these benchmarks is declared in one file (the gallery, or `tools/parity`). We scored one set of "
            "answers with its"
        ),
        (
            "owners' code and with ours (`make parity`). We generated the answers called *made*. "
            "`make docs` writes it."
        ),
        "",
        "| benchmark | metric | theirs | ours | difference | n |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for one in found:
        for metric, each in one["numbers"].items():
            numbers = " | ".join(f"{each[name]:g}" for name in ("theirs", "ours", "difference"))
            lines.append(f"| {one['benchmark']} | {metric} | {numbers} | {one['n']:,} |")
    lines.append("")
    for one in found:
        note = f" Explained: {one['note']}." if one.get("note") else ""
        of = (
            f"`{one['scorer']}` of {one['repository']}, {one['commit'][:12]}; answers: "
            f"{one['answers']}."
        )
        lines.append(f"- **{one['benchmark']}** (`{one['command']}`): {of}{note}")
    return "\n".join(lines) + "\n"


def benchmark_schema() -> str:
    """Return the JSON schema of a `benchmark.yaml`, for editors: what a key may hold; a reader checks all the rest."""
    texts = {"type": ["string", "number", "boolean"]}
    forms: dict[str, dict[str, Any]] = {
        **{form: texts | {"pattern": f"^{pattern}$"} for form, (pattern, _) in FORMS.items()},
        "text": texts,
        "whole": {"type": "integer"},
        "texts": {"anyOf": [texts, {"type": "array", "items": texts}]},
        "mapping": {"type": "object"},
        "text_or_mapping": texts,
        "kind": {"anyOf": [{"enum": list(KEYS["kind"].words)}, {"type": "object"}]},
    }

    def of(path: str) -> dict[str, Any]:
        key = KEYS[path]
        told: dict[str, Any] = {"description": key.about, "examples": [key.example]}
        if path == "splits":
            return told | {"type": "object", "additionalProperties": within("splits.*.")}
        if path == "group.rule":
            return told | {"type": ["string", "object"]}
        if path.endswith(".source"):
            return told | within("source.")
        words = [word == "true" if word in ("true", "false") else word for word in key.words]
        own = {"enum": words} if key.form == "choice" else forms[key.form]
        has_keys = any(other.startswith(f"{path}.") for other in KEYS)
        if has_keys and key.form == "text_or_mapping":
            return told | {"anyOf": [own, within(f"{path}.")]}
        return told | (within(f"{path}.") if has_keys else own)

    def within(start: str) -> dict[str, Any]:
        names = [path.removeprefix(start) for path in KEYS if path.startswith(start)]
        parts = {name: of(f"{start}{name}") for name in names if "." not in name}
        return {"type": ["object", "null"], "additionalProperties": False, "properties": parts}

    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "benchmark.yaml"}
    whole |= within("") | {"type": "object", "required": list(REQUIRED)}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


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
    yield DOCS / "commands.md", with_contents(commands_page())
    yield DOCS / "api.md", with_contents(api_page())
    for name in SCHEMAS:
        yield DOCS / "schemas" / f"{name}.json", schema(name)
    yield DOCS / "schemas" / "benchmark.json", benchmark_schema()
    yield DOCS / "parity.md", parity_page()
    page = DOCS / "settings.md"
    yield page, _with(page, _START, _settings_table(), _END)
    page = DOCS / "keys.md"
    yield page, _with(page, "<!-- providers -->\n", _providers_table(), "<!-- /providers -->\n")
    yield RECIPE, with_contents(_with(RECIPE, _KEYS_START, keys_table(), _KEYS_END))
    for page in (DOCS / "verification.md", DOCS / "recipes" / "hidden_test.md"):
        yield page, with_contents(page.read_text(encoding="utf-8"))


def main() -> None:
    """Write them all; the list comes last, as it reads the others."""
    for path, text in written():
        path.write_text(text, encoding="utf-8")
    (DOCS / "llms.txt").write_text(llms_txt(), encoding="utf-8")


if __name__ == "__main__":
    main()
