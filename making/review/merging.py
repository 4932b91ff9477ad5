"""From the files that people saved to what they said together, whatever they were asked."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from reelbench.making.review import label_studio
from reelbench.making.review.saved import Review, Reviews, merged, parse_review
from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json


class Summary(Protocol):
    """What each kind's module makes of reviews."""

    @property
    def reviews(self) -> Reviews:
        """What it was made of."""
        ...

    def document(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        ...


_MODULES: Mapping[str, str] = {"question-spans": "spans"}


def module_of(kind: str) -> Any:  # noqa: ANN401 - a module
    """Return the module that merges files of this kind: `summarize(reviews)` and, but for ratings, `write`."""
    return import_module(f"reelbench.making.review.{_MODULES.get(kind, kind)}")


def read(paths: Sequence[Path]) -> Reviews:
    """Read files that pages saved, and exports of Label Studio; InputError names what is wrong, and where."""
    files: list[tuple[Path, Review]] = []
    ignored: dict[str, int] = {}
    for path in paths:
        document = read_json(path)
        if label_studio.is_export(document):
            export = label_studio.parse(document, path)
            files += [(path, review) for review in export.reviews]
            for reason, number in export.ignored.items():
                ignored[reason] = ignored.get(reason, 0) + number
        else:
            files.append((path, parse_review(document, path)))
    return merged(files, ignored)


def summarize(paths: Sequence[Path], data: Path | None = None) -> Summary:
    """Merge reviewers' files of one page; `data` is the benchmark's own, where answers must be scored.

    Raises:
        InputError: A file is not a review, or they are of different pages.
    """
    reviews = read(paths)
    module = module_of(reviews.kind)
    return module.summarize(reviews, data) if reviews.kind == "answers" else module.summarize(reviews)


def write(summary: Summary, path: Path, data: Path | None = None) -> str:
    """Write what people agreed on, in the form that their kind has, and return a line that says what was written."""
    kind = summary.reviews.kind
    if kind == "ratings":
        raise InputError("--write: ratings have no rows to write; --json prints them")
    return module_of(kind).write(summary, path, data)
