"""`reelbench presets`: how the owners of model families say that they ask them."""

from typing import Annotated

import typer

from reelbench.cli import console
from reelbench.cli.option_groups import Json


def show_presets(
    named: Annotated[str | None, typer.Argument(metavar="NAME|FILE", help="The preset to show.")] = None,
    *,
    as_json: Json = False,
) -> None:
    """List the presets for --preset of `run` and `ask`.

    With NAME or FILE, show one with the source of each value.

    A preset of your own is a YAML file: `values`, each {value: ..., source: https://...}.
    """
    from reelbench.registry.presets import preset, shipped

    known = shipped() if named is None else {named: preset(named)}
    if as_json:
        console.write_json({name: one.model_dump(mode="json") for name, one in known.items()})
        return
    if named is not None:
        one = known[named]
        table = console.table(one.about or one.name, "value", "is", "source")
        for name, value in one.values.items():
            table.add_row(name, _shown(value.value), value.source)
    else:
        table = console.table("Presets", "name", "what", "values")
        for name, one in known.items():
            values = ", ".join(f"{key} {_shown(value.value)}" for key, value in one.values.items())
            table.add_row(name, one.about or "", values)
    console.show(table)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
