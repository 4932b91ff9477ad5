"""What the papers report of their own data and diagnoses (`published.yaml`), to stand beside what is measured here."""

from functools import cache
from importlib import resources
from typing import Any


@cache
def published(part: str) -> dict[str, Any]:
    """Return one part of the file: `profiles`, `ratings` or `diagnosis`."""
    import yaml

    return yaml.safe_load((resources.files("reelbench.studio") / "published.yaml").read_text(encoding="utf-8"))[part]
