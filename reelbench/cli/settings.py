"""`reelbench settings`: the environment variables that it reads, and what they are here."""

import json

from reelbench.cli import console
from reelbench.cli.option_groups import Json


def show_settings(*, as_json: Json = False) -> None:
    """List the environment variables that Reelbench reads: each one's value here, or what holds without it."""
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
        console.write(json.dumps(listed, ensure_ascii=False, indent=1))
        return
    width = max(len(setting.name) for setting in declared)
    for setting in declared:
        console.write(f"{setting.name:<{width}}  {setting.about}")
        console.write(f"{'':<{width}}    " + (f"= {setting.shown}" if setting.is_set else f"unset: {setting.fallback}"))
