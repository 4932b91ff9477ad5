"""The questions of a large page: some in each file beside it, loaded when one is looked at.

The page itself has what its list, filters and search of ids and questions need.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.leaderboard.site import packed_block
from reelbench.pages.shell_page import in_script

MOST_SIGNS = 20_000_000
"""Of the questions that a page holds itself."""
FOLDER = "data/parts"
_SIGNS_OF_A_PART = 1_000_000
_SIGNS_OF_A_QUESTION = 110
"""Of a question in the page's list."""
_IN_LIST = ("id", "video", "facets")
_OF_AN_ANSWER = ("state", "reason", "flags", "score", "right", "disagree")

Item = Mapping[str, Any]
"""A question with its answers, as the page has it."""


def written_apart(items: Sequence[Item], folder: Path) -> list[dict[str, Any]] | None:
    """Write the questions of a large page into files of their own.

    Args:
        items: The questions.
        folder: The folder of the page.

    Returns:
        What the page's list has of each, with the number of its `part`. None where the page holds
        the questions itself.
    """
    texts = [in_script(item) for item in items]
    if sum(map(len, texts)) <= MOST_SIGNS:
        return None
    listed: list[dict[str, Any]] = []
    for number, places in enumerate(_parts(texts)):
        joined_texts = ",\n".join(texts[place] for place in places)
        _write_part(folder, number, f"[{joined_texts}]")
        listed += [_listed(items[place]) | {"part": number} for place in places]
    return listed


def _parts(texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the places of the questions of each part."""
    places: list[int] = []
    size = 0
    for place, text in enumerate(texts):
        if places and size + len(text) > _SIGNS_OF_A_PART:
            yield places
            places = []
            size = 0
        places.append(place)
        size += len(text)
    yield places


def _write_part(folder: Path, number: int, text: str) -> None:
    path = folder / FOLDER / f"{number}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    name = json.dumps(f"parts/{number}")
    path.write_text(f"REELBENCH_LOADED({name},{packed_block(text)});\n", encoding="ascii")


def _listed(item: Item) -> dict[str, Any]:
    """Return a question's entry in the page's list."""
    listed = {name: item[name] for name in _IN_LIST}
    if "question" in item:
        listed["question"] = item["question"][:_SIGNS_OF_A_QUESTION]
    answers: list[dict[str, Any] | None] = []
    for answer in item["runs"]:
        if answer is None:
            answers.append(None)
        else:
            answers.append({name: answer[name] for name in _OF_AN_ANSWER if name in answer})
    listed["runs"] = answers
    return listed
