"""Declarations: benchmarks and their metrics, rows, records, reasons, frame specs and presets.

`registry.get("rextime")` gives a benchmark's spec, `registry.specs()` all of them.

This room imports `base` alone. It reads declarations and checks values by them. It never fetches,
decodes or scores.
"""

from typing import TYPE_CHECKING

from reelbench.base.lazy import names_of

if TYPE_CHECKING:
    from reelbench.registry.discovery import get, specs

__all__ = ["get", "specs"]

# On demand, so that a module that needs only an error class does not pay for the specs.
__getattr__ = names_of(__name__, {"reelbench.registry.discovery": ("get", "specs")})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
