"""ReXTime's annotation files -> rows.

Two schemas exist for the validation split: the Hub's JSON array (question, options, span, category) and the
evaluator's ground truth in JSON Lines (`relevant_windows`, no options). Both may be given; they are joined by `qid`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_entries
from reelbench.registry.rows import Row, questions_of
from reelbench.registry.values import is_number

HUB_FIELDS = ("qid", "vid", "duration", "question", "options", "ans", "span")
GROUND_TRUTH_FIELDS = ("qid", "vid", "duration", "query", "relevant_windows", "ans")

LETTERS = "ABCD"
"""The options, of which each question has four."""

# The paper and other people's loaders spell the three categories differently.
_CATEGORIES = {
    "cause_effect": "cause-effect",
    "causeeffect": "cause-effect",
    "means_end": "means-to-an-end",
    "means_to_an_end": "means-to-an-end",
    "sequential": "sequential",
}


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of a split.

    On `test` the answers stay hidden whatever the file holds in their place. On `train` a question may have no options;
    its answer is then the sentence alone.
    """
    hidden = split == "test"
    for where, entry in entries(paths):
        options = entry.get("options") or []
        open_form = split == "train" and not options
        if not open_form and (not isinstance(options, list) or not options):
            raise InputError(
                f"{where} has no options; expected the Hub's file with {', '.join(HUB_FIELDS)} (the evaluator's "
                f"rextime_val.jsonl alone has none: put rextime_val.json beside it); found {', '.join(sorted(entry))}"
            )
        yield {
            "id": entry["qid"],
            "video": str(entry["vid"]),
            "question": question(entry, where),
            "language": "en",
            "options": [str(option) for option in options],
            "answer": "" if hidden or open_form else letter(entry, where),
            "span": [] if hidden else windows(entry, where)[0],
            "duration": duration(entry, where),
            "category": category(entry),
            "source": str(entry.get("source") or ""),
            "sentence": "" if hidden else str(entry.get("answer") or ""),
        }


def entries(paths: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (where, entry) for every question, an entry that is in several files merged by `qid`."""
    what = f"a ReXTime question; expected {', '.join(HUB_FIELDS)} or {', '.join(GROUND_TRUTH_FIELDS)}"
    merged: dict[str, tuple[str, dict[str, Any]]] = {}
    for path in paths:
        listed = questions_of(str(path), read_entries(path), "qid", what, lambda entry: entry.get("vid") is not None)
        for where, entry in listed:
            place, known = merged.get(entry["qid"], (where, {}))
            merged[entry["qid"]] = place, {name: value for name, value in entry.items() if value is not None} | known
    yield from merged.values()


def question(entry: dict[str, Any], where: str) -> str:
    """Return the question, which the two schemas call differently."""
    text = entry.get("question") or entry.get("query")
    if not isinstance(text, str):
        raise InputError(f"{where} has no question; found {', '.join(sorted(entry))}")
    return text


def letter(entry: dict[str, Any], where: str) -> str:
    """Return the letter of the right option: one of as many capital letters as there are options."""
    answer = entry.get("ans")
    if not isinstance(answer, str) or not answer:
        raise InputError(f"{where} has no 'ans'; expected the letter of the right option")
    options = entry.get("options")
    letters = LETTERS[: len(options)] if isinstance(options, list) else LETTERS
    if len(answer) != 1 or answer not in letters:
        raise InputError(f"{where}: ans is {answer[:40]!r}, expected the right option's letter, {', '.join(letters)}")
    return answer


def windows(entry: dict[str, Any], where: str) -> list[list[float]]:
    """Return the ground-truth windows, each [start, end] in seconds; the Hub's schema has exactly one, `span`.

    A window that runs backwards is damage, and would be a zero for every model: it is an InputError. The owners' file
    has two without length, on which their evaluator gives nobody a point; these stay.
    """
    given = entry["relevant_windows"] if "relevant_windows" in entry else [entry.get("span")]
    if not isinstance(given, list) or not given:
        raise InputError(f"{where} has no window; expected 'span' or 'relevant_windows'")
    pairs = []
    for window in given:
        if not isinstance(window, list) or len(window) < 2 or not all(is_number(part) for part in window[:2]):  # noqa: PLR2004
            raise InputError(f"{where}: {window!r} is not a window; expected [start, end] in seconds")
        if not 0 <= window[0] <= window[1]:
            raise InputError(f"{where}: the window {window!r} ends before it starts; expected [start, end] in seconds")
        pairs.append([float(window[0]), float(window[1])])
    return pairs


def duration(entry: dict[str, Any], where: str) -> float:
    """Return the video's length in seconds."""
    if not is_number(entry.get("duration")) or entry["duration"] <= 0:
        raise InputError(f"{where} has no 'duration'; expected the video's length in seconds")
    return float(entry["duration"])


def category(entry: dict[str, Any]) -> list[str]:
    """Return the category in the paper's spelling; empty where the file has none."""
    name = entry.get("category")
    if not name:
        return []
    return [_CATEGORIES.get(str(name).strip().lower().replace("-", "_").replace(" ", "_"), str(name))]
