"""The form of a datasheet (Gebru et al., Datasheets for Datasets): its sections and its text."""

from collections.abc import Mapping, Sequence

FILE = "datasheet.md"
LIMITATIONS = "Limitations"

_QUESTIONS = {
    LIMITATIONS: "what these questions can't measure, and who should not use them",
    "Motivation": "who made the dataset, for what purpose, and who paid for it",
    "Composition": "what a row is, how many there are, what is missing, and whether people can "
    "be identified",
    "Collection": "where the videos and the questions are from, who wrote or labelled them, and "
    "when",
    "Preprocessing": "what was left out, corrected or converted",
    "Uses": "what it has been used for, and what it should not be used for",
    "Distribution": "how it is distributed, under which licence, and what applies to the videos",
    "Maintenance": "who maintains it, how errors are reported, and whether it will change",
}
"""Section -> what belongs in it."""

SECTIONS = tuple(name for name in _QUESTIONS if name != LIMITATIONS)


def as_text(
    written: Mapping[str, str], *, categories: Sequence[str], creators: Sequence[str]
) -> str:
    """Return a datasheet. A section that nobody has written says what belongs there.

    Args:
        written: Section -> its text.
        categories: The Hub's task categories.
        creators: Who made the annotations, in the Hub's terms.
    """
    people = ", ".join(creators)
    sections: list[str] = []
    for name, question in _QUESTIONS.items():
        text = written.get(name) or f"Not written yet: {question}."
        sections.append(f"## {name}\n\n{text}")
    lines = [
        "---",
        f"task_categories: [{', '.join(categories)}]",
        f"annotations_creators: [{people}]",
        f"language_creators: [{people}]",
        "source_datasets: [original]",
        "tags: []",
        "---",
        "",
        "\n\n".join(sections),
        "",
    ]
    return "\n".join(lines)
