"""Read the rows of ReXTime's annotation files.

Two schemas exist for the validation split: the Hub's JSON array (question, options, span, category)
and the evaluator's ground truth in JSON Lines (`relevant_windows`, no options). Both may be given.
They are joined by `qid`.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.values import is_number
from reelbench.data.video_windows import read_windows
from reelbench.registry.rows import Row, read_owners_questions, required_text_of

_HUB = "qid, vid, duration, question, options, ans, span"
EXPECTED = f"{_HUB} or qid, vid, duration, query, relevant_windows, ans"

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

    On `test` the answers stay hidden whatever the file holds in their place. On `train` a question
    may have no options. Its answer is then the sentence alone.
    """
    hidden = split == "test"
    for where, entry in entries(paths):
        options = entry.get("options") or []
        open_form = split == "train" and not options
        if not open_form and (not isinstance(options, list) or not options):
            raise InputError(
                f"{where} has no options; expected the Hub's file with {_HUB} (the evaluator's "
                "rextime_val.jsonl alone has none: put rextime_val.json beside it); "
                f"found {', '.join(sorted(entry))}"
            )
        question = required_text_of(entry, "question", where, EXPECTED)
        answer = ""
        if not hidden and not open_form:
            answer = required_text_of(entry, "ans", where, "the letter of the right option")
        span = [] if hidden else windows(entry, where)[0]
        sentence = "" if hidden else str(entry.get("answer") or "")
        if not is_number(entry.get("duration")) or entry["duration"] <= 0:
            raise InputError(f"{where} has no 'duration'; expected the video's length in seconds")
        yield {
            "id": entry["qid"],
            "video": str(entry["vid"]),
            "question": question,
            "language": "en",
            "options": [str(option) for option in options],
            "answer": answer,
            "span": span,
            "duration": float(entry["duration"]),
            "category": category(entry),
            "source": str(entry.get("source") or ""),
            "sentence": sentence,
        }


def entries(paths: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (where, entry) for every question.

    An entry that is in several files is merged by `qid`. The first file's fields win.
    """
    what = f"a ReXTime question; expected {EXPECTED}"
    places: dict[str, str] = {}
    fields_by_id: dict[str, dict[str, Any]] = {}
    for path in paths:
        for where, entry in read_owners_questions(path, "qid", what, _has_video):
            question_id = entry["qid"]
            places.setdefault(question_id, where)
            # The fields of an earlier file have precedence.
            fields = fields_by_id.setdefault(question_id, {})
            for name, value in entry.items():
                if value is not None:
                    fields.setdefault(name, value)
            if "query" in fields:
                fields.setdefault("question", fields["query"])
    for question_id, fields in fields_by_id.items():
        yield places[question_id], fields


def _has_video(entry: Mapping[str, Any]) -> bool:
    return entry.get("vid") is not None


def windows(entry: dict[str, Any], where: str) -> list[list[float]]:
    """Return the ground-truth windows, each [start, end] in seconds.

    The Hub's schema has exactly one, `span`. A window that runs backwards is damage, and would be a
    zero for every model: it is an InputError. The owners' file has two without length, on which
    their evaluator gives nobody a point. These stay.
    """
    value = entry.get("relevant_windows", entry.get("span"))
    if not value:
        raise InputError(f"{where} has no window; expected 'span' or 'relevant_windows'")
    times: list[float] = []
    for time in read_windows(value, f"{where}: the window"):
        times.append(max(0.0, time))
    starts = times[::2]
    ends = times[1::2]
    return [[start, end] for start, end in zip(starts, ends, strict=True)]


def category(entry: dict[str, Any]) -> list[str]:
    """Return the category in the paper's spelling. Empty where the file has none."""
    name = entry.get("category")
    if not name:
        return []
    plain = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    return [_CATEGORIES.get(plain, str(name))]
