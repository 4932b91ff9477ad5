"""`parity.json` beside a benchmark: its owners' scorer and ours on the same answers."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from reelbench.base import bounds
from reelbench.base.base_record import Count, Name, Record, record_of
from reelbench.base.containment import contained
from reelbench.base.errors import printable
from reelbench.base.files import read_json
from reelbench.registry.spec import BenchmarkSpec

FILE = "parity.json"

Text = Annotated[str, Field(max_length=bounds.DECLARED_TEXT)]
Value = Annotated[float, Field(ge=-bounds.SCORE, le=bounds.SCORE)]


class ParityNumber(Record):
    """One metric as the owners' scorer and ours compute it."""

    owners_value: Value = Field(alias="theirs")
    our_value: Value = Field(alias="ours")
    difference: Value


class Parity(Record):
    """The content of a `parity.json`."""

    benchmark: Name
    repository: Name
    commit: Name
    scorer: Name
    answers: Text = Field(description="The answers that were scored, in words.")
    n: Count = Field(description="Number of these answers.")
    numbers: dict[Name, ParityNumber] = Field(max_length=bounds.PARTS)
    command: Name = Field(description="The command that compares them.")
    note: Text = Field("", description="The reason for a difference.")


def parity(spec: BenchmarkSpec) -> str | None:
    """Return the comparison in a sentence. None where there is none.

    Raises:
        InputError: The file is not of that form, too large, or a link that leads out.
    """
    if not (spec.file or spec.package):
        return None
    path = spec.folder / FILE
    if spec.file:
        path = contained(spec.folder, path)
    if not path.exists():
        return None
    document = read_json(path, most=bounds.BESIDE_BYTES)
    titles = {metric.name: metric.title for metric in spec.metrics}
    return sentence(record_of(Parity, document, str(path), mark=": "), titles)


def sentence(comparison: Parity, titles: Mapping[str, str]) -> str:
    """Return a comparison as a sentence in one line, without control characters.

    It has the scorer and its commit, the answers, and the numbers by their `titles`.
    """
    numbers = comparison.numbers
    are_equal = not any(number.difference for number in numbers.values())
    number_texts: list[str] = []
    for name, number in numbers.items():
        text = f"{titles.get(name, name)} = {number.owners_value:.4g}"
        if not are_equal:
            text += f" and {number.our_value:.4g}"
        number_texts.append(text)
    commit = comparison.commit[:12]
    scorer = f"{comparison.scorer} of {comparison.repository} at {commit}"
    result = "the same numbers as ours" if are_equal else "different numbers from ours"
    answers = f"on {comparison.n:,} answers ({comparison.answers})"
    text = f"The owners' scorer ({scorer}) gives {result} {answers}: {'; '.join(number_texts)}"
    if not are_equal:
        text += " (theirs and ours)"
    text += "."
    if comparison.note:
        text += f" The difference: {comparison.note}."
    return " ".join(printable(text).split())
