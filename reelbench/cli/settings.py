"""`reelbench settings`: the environment variables that it reads, what `reelbench.toml` sets, and where from."""

from collections.abc import Iterator
from pathlib import Path

from reelbench.cli import console
from reelbench.cli.defaults import NAME, entries, files, none_here
from reelbench.cli.option_groups import Json
from reelbench.registry.credentials import without_credentials


def show_settings(*, as_json: Json = False) -> None:
    """List the environment variables: their values here, or defaults."""
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
        for file, option, value in _of_files():
            listed[option] = {"set": True, "value": value, "default": None, "about": f"from {file}"}
        console.write_json(listed, indent=1)
        return
    width = max(len(setting.name) for setting in declared)
    for setting in declared:
        console.write(f"{setting.name:<{width}}  {setting.about}")
        console.write(f"{'':<{width}}    " + (f"= {setting.shown}" if setting.is_set else f"unset: {setting.fallback}"))
    for file, option, value in _of_files():
        console.write(f"{option}\n{'':<{width}}    = {value} (from {file})")
    if not files():
        console.write(f"{NAME}: {none_here()}")


def _of_files() -> Iterator[tuple[Path, str, str]]:
    """Yield each `reelbench.toml`'s defaults: the file, `[table] option`, and the value."""
    for file in files():
        for table, option, value in entries(file):
            yield file, f"[{table}] {option}", without_credentials(str(value))
