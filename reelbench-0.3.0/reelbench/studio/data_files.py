"""Load the studio's data files: words for people, figures that papers report, and tables."""

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
    """Return the figures that the papers report: `profiles`, `ratings` or `diagnosis`."""
    return studio_data("published.yaml")[part]
