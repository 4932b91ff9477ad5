"""The form of a datasheet: its sections, and a text that fills them (Gebru et al., Datasheets for Datasets)."""

from collections.abc import Mapping, Sequence

FILE = "datasheet.md"
LIMITATIONS = "Limitations"
SECTIONS = (
    "Motivation",
    "Composition",
    "Collection",
    "Preprocessing",
    "Uses",
    "Distribution",
    "Maintenance",
)

_ASKS = {
    LIMITATIONS: "what these questions can't tell, and who should not use them",
    "Motivation": "who made the data set, for what, and who paid for it",
    "Composition": "what a row is, how many there are, what is missing, and whether people can be recognised",
    "Collection": "where the videos and the questions are from, who wrote or labelled them, and when",
    "Preprocessing": "what was left out, corrected or converted",
    "Uses": "what it has been used for, and what it should not be used for",
    "Distribution": "how it is passed on, under which licence, and what holds for the videos",
    "Maintenance": "who looks after it, how errors are reported, and whether it will change",
}


def as_text(
    written: Mapping[str, str], *, categories: Sequence[str], creators: Sequence[str]
) -> str:
    """Return a datasheet of written sections; one that nobody has written says what belongs there.

    `categories` are the Hub's task categories, `creators` who made the annotations, in the Hub's
    terms.
    """
    people = ", ".join(creators)
    front = [
        f"task_categories: [{', '.join(categories)}]",
        f"annotations_creators: [{people}]",
        f"language_creators: [{people}]",
        "source_datasets: [original]",
        "tags: []",
    ]
    sections = [
        f"## {name}\n\n{written.get(name) or f'Not written yet: {_ASKS[name]}.'}"
        for name in (LIMITATIONS, *SECTIONS)
    ]
    return "\n".join(["---", *front, "---", "", "\n\n".join(sections), ""])
