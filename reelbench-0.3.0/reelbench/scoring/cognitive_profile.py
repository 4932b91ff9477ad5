"""CogME: tags of the understanding that a question needs, to break a result down by.

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
    """Each question's tags by its id, and the `path` of their file."""

    path: Path


def read_tags(path: Path | str) -> TagsFile:
    """Read tags by question id from JSON Lines.

    A line is `{"qid": 1, "target": ["Character"], "content": ["Identity"], "thinking": "Recall"}`;
    a number as `qid` becomes its text.

    Raises:
        InputError: The message names the file, the line and the field that is wrong, and the label
            that was probably intended.
    """
    tags = TagsFile()
    tags.path = Path(path)
    lines: dict[str, int] = {}
    for number, row in files.read_jsonl(path):
        where = f"{path}, line {number}"
        question = _question_id(row, where)
        question_tags = tags_of(row, where)
        if question in tags:
            raise InputError(
                f'{where}, field "qid": {question!r} has its tags in line {lines[question]} '
                "already; keep one of them"
            )
        tags[question] = question_tags
        lines[question] = number
    if not tags:
        raise InputError(f"{path}: no tags in it; expected one JSON object per line")
    return tags


def _question_id(row: Any, where: str) -> str:  # noqa: ANN401 - any JSON value
    """Return the question's id of a line. InputError where the line has other fields."""
    fields = ("qid", *COMPONENTS)
    expected = ", ".join(fields)
    if not is_object(row):
        raise InputError(
            f"{where}: expected an object with {expected}, found {_kind(row)}; one object per line"
        )
    for name in row:
        if name not in fields:
            raise InputError(
                f'{where}: unknown field "{name}"; expected {expected}{_suggestion(name, fields)}'
            )
    for name in fields:
        if name not in row:
            raise InputError(f'{where}: field "{name}" is missing; expected {expected}')
    if not is_id(row["qid"]):
        raise InputError(
            f'{where}, field "qid": expected a question\'s id (text or whole number), '
            f"found {_kind(row['qid'])}"
        )
    return str(row["qid"])


def facets(spec: BenchmarkSpec) -> tuple[Facet, ...]:
    """Return a benchmark's own facets, and those that tags would add."""
    declared_names = {facet.name for facet in spec.facets}
    tag_facets = [facet for facet in FACETS if facet.name not in declared_names]
    return (*spec.facets, *tag_facets)


def from_tags(spec: BenchmarkSpec) -> set[str]:
    """Return the names of the facets whose labels are not in a benchmark's rows."""
    return {facet.name for facet in facets(spec) if not facet.in_rows and not facet.made_of}


def is_weak(share: float, rate: float) -> bool:
    """Return True where a label is rare and answered badly, both in per cent.

    CogME finds this of four labels.
    """
    return share < RARE and rate < BAD


def tags_of(row: dict[str, Any], where: str) -> Tags:
    """Return the tags that an object has under `target`, `content` and `thinking`.

    Args:
        row: The object.
        where: Its place, for the message of an InputError.
    """
    for name in COMPONENTS:
        if name not in row:
            expected = ", ".join(COMPONENTS)
            raise InputError(f'{where}: field "{name}" is missing; expected {expected}')
    target = _labels(row, "target", where)
    content = _labels(row, "content", where)
    thinking = row["thinking"]
    field = f'{where}, field "thinking"'
    if is_array(thinking):
        raise InputError(
            f"{field}: a list of {len(thinking)} labels; "
            "expected exactly one label as text, the highest"
        )
    _check(thinking, THINKING, field)
    return Tags(target, content, thinking)


def _labels(row: dict[str, Any], name: str, where: str) -> tuple[str, ...]:
    """Return a component's labels. InputError where they are not allowed."""
    field = f'{where}, field "{name}"'
    labels = row[name]
    if not is_array(labels):
        raise InputError(
            f"{field}: expected a list of up to {MOST_LABELS} labels, found {_kind(labels)}"
        )
    for label in labels:
        _check(label, COMPONENTS[name], field)
    for place, label in enumerate(labels):
        if label in labels[:place]:
            raise InputError(f"{field}: {label!r} occurs twice")
    if len(labels) > MOST_LABELS:
        raise InputError(
            f"{field}: {len(labels)} labels ({', '.join(labels)}); "
            f"at most {MOST_LABELS} are allowed"
        )
    return tuple(labels)


def _check(label: Any, labels: tuple[str, ...], field: str) -> None:  # noqa: ANN401 - any JSON value
    """Raise an InputError where a value is not one of a component's labels."""
    allowed = ", ".join(labels)
    if not isinstance(label, str):
        raise InputError(
            f"{field}: expected a label as text, found {_kind(label)}; labels are {allowed}"
        )
    if label not in labels:
        raise InputError(
            f"{field}: no label {label!r}; labels are {allowed}{_suggestion(label, labels)}"
        )


def _suggestion(word: str, words: tuple[str, ...]) -> str:
    """Return a question with the most similar of the allowed words, if one is similar."""
    by_lower_case = {allowed.lower(): allowed for allowed in words}
    similar = difflib.get_close_matches(word.strip().lower(), by_lower_case, n=1)
    if not similar:
        return ""
    return f"; did you mean {by_lower_case[similar[0]]}?"


def _kind(value: object) -> str:
    """Name the kind of a JSON value."""
    if value is None:
        return "null"
    names = {"dict": "an object", "list": "a list", "str": "text", "bool": "true or false"}
    return names.get(type(value).__name__, "a number")
