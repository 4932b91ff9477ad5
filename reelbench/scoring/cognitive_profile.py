"""CogME: tags that say what understanding a question needs, to break a result down by.

A question is tagged with TARGETs (what is perceived), CONTENTs (what is known of them) and its
highest THINKING (how): up to three, up to three, exactly one. A sub-component's score is its share
of questions answered right, by the choice scorer's column, and weighted by THINKING where the depth
shall count (CogME, Tables 1 to 3, sections "Annotating the Understanding Components" and "Scoring
the Questions and Prediction Results").
"""

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base import files
from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_id, is_object
from reelbench.registry.spec import BenchmarkSpec, Facet

TARGET = (
    "Character",
    "Object",
    "Place",
    "Conversation",
    "Behavior",
    "Event",
    "Emotion",
    "Commonsense",
)
CONTENT = (
    "Identity",
    "Feature",
    "Relationship",
    "Means",
    "Context",
    "Sequence",
    "Causality",
    "Motivation",
)
THINKING = ("Recall", "Grasping", "Reasoning")
COMPONENTS: dict[str, tuple[str, ...]] = {
    "target": TARGET,
    "content": CONTENT,
    "thinking": THINKING,
}
TAGGED = "tagged"
"""The facet that holds every tagged question together, under `ALL`."""

ALL = "all"

FACETS = (
    Facet(
        name="target",
        title="What of the story is asked about (CogME TARGET).",
        labels=TARGET,
        in_rows=False,
    ),
    Facet(
        name="content",
        title="What has to be known of it (CogME CONTENT).",
        labels=CONTENT,
        in_rows=False,
    ),
    Facet(
        name="thinking",
        title="How it has to be thought about (CogME THINKING).",
        labels=THINKING,
        in_rows=False,
    ),
    Facet(name=TAGGED, title="Questions with tags, all together.", labels=(ALL,), in_rows=False),
)
"""What a tags file adds to any benchmark."""

THINKING_WEIGHTS = {"Recall": 1.0, "Grasping": 2.0, "Reasoning": 3.0}
MOST_LABELS = 3
"""Labels that TARGET and CONTENT may each have on one question."""

RARE = 5.0
BAD = 50.0
"""Per cent: a label on fewer questions, with a lower rate, is weak (CogME, on Figure 4)."""


@dataclass(frozen=True)
class Tags:
    """One question's tags."""

    target: tuple[str, ...]
    content: tuple[str, ...]
    thinking: str

    @property
    def facets(self) -> dict[str, list[str]]:
        """The question's labels by facet: `target`, `content` and `thinking`."""
        return {
            "target": list(self.target),
            "content": list(self.content),
            "thinking": [self.thinking],
        }


class TagsFile(dict[str, Tags]):
    """Each question's tags by its id, and the `path` of the file that has them."""

    path: Path


def read_tags(path: Path | str) -> TagsFile:
    """Read tags by question id from JSON Lines.

    A line is `{"qid": 1, "target": ["Character"], "content": ["Identity"], "thinking": "Recall"}`;
    a number as `qid` becomes its text. InputError names the file, the line and the field that is
    wrong, and the label likely meant.
    """
    fields = ("qid", *COMPONENTS)
    wanted = ", ".join(fields)
    tags, lines = TagsFile(), dict[str, int]()
    tags.path = Path(path)
    for number, row in files.read_jsonl(path):
        where = f"{path}, line {number}"
        if not is_object(row):
            raise InputError(
                f"{where}: expected an object with {wanted}, found {_kind(row)}; one object per line"
            )
        for name in row:
            if name not in fields:
                raise InputError(
                    f'{where}: unknown field "{name}"; expected {wanted}{_suggestion(name, fields)}'
                )
        for name in fields:
            if name not in row:
                raise InputError(f'{where}: field "{name}" is missing; expected {wanted}')
        if not is_id(row["qid"]):
            found = _kind(row["qid"])
            raise InputError(
                f'{where}, field "qid": expected a question\'s id (text or whole number), found {found}'
            )
        qid, parsed = str(row["qid"]), tags_of(row, where)
        if qid in tags:
            raise InputError(
                f'{where}, field "qid": {qid!r} has its tags in line {lines[qid]} already; keep one of them'
            )
        tags[qid], lines[qid] = parsed, number
    if not tags:
        raise InputError(f"{path}: no tags in it; expected one JSON object per line")
    return tags


def facets(spec: BenchmarkSpec) -> tuple[Facet, ...]:
    """Return a benchmark's own facets, and those that tags would add."""
    own = {facet.name for facet in spec.facets}
    return (*spec.facets, *(facet for facet in FACETS if facet.name not in own))


def from_tags(spec: BenchmarkSpec) -> set[str]:
    """Return the names of the facets whose labels are not in a benchmark's rows."""
    return {facet.name for facet in facets(spec) if not facet.in_rows and not facet.made_of}


def is_weak(share: float, rate: float) -> bool:
    """Whether a label is rare and answered badly, as CogME finds of four labels; both in per cent."""
    return share < RARE and rate < BAD


def tags_of(row: dict[str, Any], where: str) -> Tags:
    """Return the tags that an object has under `target`, `content` and `thinking`; `where` is for the InputError."""
    for name in COMPONENTS:
        if name not in row:
            raise InputError(
                f'{where}: field "{name}" is missing; expected {", ".join(COMPONENTS)}'
            )
    at, thinking = f'{where}, field "thinking"', row["thinking"]
    target, content = _labels(row, "target", where), _labels(row, "content", where)
    if is_array(thinking):
        raise InputError(
            f"{at}: a list of {len(thinking)} labels; expected exactly one label as text, the highest"
        )
    _check(thinking, THINKING, at)
    return Tags(target, content, thinking)


def _labels(row: dict[str, Any], field: str, where: str) -> tuple[str, ...]:
    at, labels = f'{where}, field "{field}"', row[field]
    if not is_array(labels):
        raise InputError(
            f"{at}: expected a list of up to {MOST_LABELS} labels, found {_kind(labels)}"
        )
    for label in labels:
        _check(label, COMPONENTS[field], at)
    repeated = [label for index, label in enumerate(labels) if label in labels[:index]]
    if repeated:
        raise InputError(f"{at}: {repeated[0]!r} occurs twice")
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"{at}: {len(labels)} labels ({', '.join(labels)}); at most {MOST_LABELS} are allowed"
        )
    return tuple(labels)


def _check(label: Any, labels: tuple[str, ...], at: str) -> None:  # noqa: ANN401 - any JSON value
    if not isinstance(label, str):
        raise InputError(
            f"{at}: expected a label as text, found {_kind(label)}; labels are {', '.join(labels)}"
        )
    if label not in labels:
        raise InputError(
            f"{at}: no label {label!r}; labels are {', '.join(labels)}{_suggestion(label, labels)}"
        )


def _suggestion(word: str, words: tuple[str, ...]) -> str:
    by_lower = {known.lower(): known for known in words}
    close = difflib.get_close_matches(word.strip().lower(), by_lower, n=1)
    return f"; did you mean {by_lower[close[0]]}?" if close else ""


def _kind(value: object) -> str:
    names = {"dict": "an object", "list": "a list", "str": "text", "bool": "true or false"}
    return names.get(type(value).__name__, "null" if value is None else "a number")
