"""What a benchmark is and where its data lies: specs, sources, normalised rows, media, frames, records.

`registry.load("rextime", "val")` gives a split's rows, `registry.get("rextime")` its spec, `registry.specs()` all of
them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reelbench.registry.data.loading import load, locate
    from reelbench.registry.discovery import get, specs

__all__ = ["get", "load", "locate", "specs"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> object:
    # On demand, so that a module that needs only an error class does not pay for pydantic and the specs.
    if name in ("get", "specs"):
        from reelbench.registry import discovery

        return getattr(discovery, name)
    if name in ("load", "locate"):
        from reelbench.registry.data import loading

        return getattr(loading, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
