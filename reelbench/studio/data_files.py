"""The studio's data beside its code, as YAML: words for people, what papers report of their own data, tables."""

from functools import cache
from importlib import resources
from typing import Any


@cache
def studio_data(path: str) -> Any:  # noqa: ANN401 - what a file holds
    """Return the content of a YAML file, by its path in the studio."""
    import yaml

    return yaml.safe_load(
        resources.files("reelbench.studio").joinpath(path).read_text(encoding="utf-8")
    )


def from_papers(part: str) -> dict[str, Any]:
    """Return what the papers report, to stand beside what is measured here: `profiles`, `ratings` or `diagnosis`."""
    return studio_data("published.yaml")[part]
