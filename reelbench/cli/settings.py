"""`reelbench settings`: the environment variables that it reads, what `reelbench.toml` sets, and where from."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from reelbench.cli import console
from reelbench.cli.defaults import Known, entries, files, known_to, places
from reelbench.cli.option_groups import Json, Kind, option_of
from reelbench.registry.credentials import without_credentials

if TYPE_CHECKING:
    from pathlib import Path


def show_settings(context: typer.Context, *, as_json: Json = False) -> None:
    """Show where each setting comes from: variable, file or default."""
    from reelbench.registry import discovery, settings

    declared = [*settings.ALL, *(settings.data(name) for name in discovery.specs())]
    if as_json:
        listed = {
            setting.name: {
                "set": setting.is_set,
                "value": None if setting.secret else setting.shown or None,
                "default": setting.default or None,
                "about": setting.about,
            }
            for setting in declared
        }
        for option, value, source, counts in _of_files(known_to(context)):
            listed[option] = {"set": counts, "value": value, "default": None, "about": source}
        kinds: dict[str, dict[str, str]] = {}
        for words, command in sorted(known_to(context)().items()):
            options = [part for part in command.params if part.opts[0][:1] == "-"]
            kinds[words] = {option_of(part): str(getattr(part, "kind", Kind.OWN)) for part in options}
        console.write_json({**listed, "options": kinds}, indent=1)
        return
    width = max(len(setting.name) for setting in declared)
    for setting in declared:
        console.write(f"{setting.name:<{width}}  {setting.about}")
        console.write(f"{'':<{width}}    " + (f"= {setting.shown}" if setting.is_set else f"unset: {setting.fallback}"))
    for option, value, source, _ in _of_files(known_to(context)):
        console.write(f"{option}\n{'':<{width}}    = {value} ({source})")
    found = ", ".join(map(str, files())) or "none is there"
    console.write(f"Defaults of options are read from {' and '.join(map(str, places()))} ({found})")


def _of_files(known: Known) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the entries of each `reelbench.toml`: `[table] option`, the value, where from, and whether it counts."""
    seen: dict[str, Path] = {}
    for file in files():
        for entry in entries(file, known):
            option = f"[{entry.table}] {entry.option}"
            idle = entry.idle or (f"{seen[option]} comes first" if option in seen else "")
            if not idle:
                seen[option] = file
            source = f"from {file}" + (f", left alone: {idle}" if idle else "")
            yield option, without_credentials(str(entry.value)), source, not idle
