"""What a benchmark is and where its data lies: specs, sources, normalised rows, media, frames, records.

`registry.load("rextime", "val")` gives a split's rows, `registry.get("rextime")` its spec, `registry.specs()` all of
them.
"""

from typing import TYPE_CHECKING

from reelbench.registry.lazy import names_of

if TYPE_CHECKING:
    from reelbench.registry.data.loading import load, locate
    from reelbench.registry.discovery import get, specs

__all__ = ["get", "load", "locate", "specs"]

# On demand, so that a module that needs only an error class does not pay for pydantic and the specs.
__getattr__ = names_of(
    __name__, {"reelbench.registry.data.loading": ("load", "locate"), "reelbench.registry.discovery": ("get", "specs")}
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
