"""`parity.json` beside a benchmark: its owners' scorer and ours on the same answers."""

from collections.abc import Mapping
from typing import Any

from reelbench.base.files import read_json
from reelbench.base.values import is_object
from reelbench.registry.spec import BenchmarkSpec

FILE = "parity.json"


def parity(spec: BenchmarkSpec) -> str | None:
    """Return the comparison in a sentence; None where there is none."""
    if not (spec.file or spec.package):
        return None
    path = spec.folder / FILE
    if not path.is_file():
        return None
    document: Any = read_json(path)
    if not is_object(document):
        return None
    titles = {metric.name: metric.title for metric in spec.metrics}
    return sentence(document, titles)


def sentence(document: dict[str, Any], titles: Mapping[str, str]) -> str:
    """Return the content of a `parity.json` as a sentence.

    It has the scorer and its commit, the answers, and the numbers by their `titles`.
    """
    numbers: dict[str, dict[str, float]] = document["numbers"]
    are_equal = not any(number["difference"] for number in numbers.values())
    number_texts: list[str] = []
    for name, number in numbers.items():
        text = f"{titles.get(name, name)} = {number['theirs']:.4g}"
        if not are_equal:
            text += f" and {number['ours']:.4g}"
        number_texts.append(text)
    commit = document["commit"][:12]
    scorer = f"{document['scorer']} of {document['repository']} at {commit}"
    result = "the same numbers as ours" if are_equal else "other numbers than ours"
    answers = f"on {document['n']:,} answers ({document['answers']})"
    text = f"The owners' scorer ({scorer}) gives {result} {answers}: {'; '.join(number_texts)}"
    if not are_equal:
        text += " (theirs and ours)"
    text += "."
    if document.get("note"):
        text += f" The difference: {document['note']}."
    return text
