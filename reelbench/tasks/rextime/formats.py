"""Read and write ReXTime's submission files.

They are JSON Lines of `{"qid", "pred_relevant_windows": [[start, end]], "ans": "A"}`. Answers only
and windows only are both allowed (README of ReXTime/ReXTime at cb9f484). References are the
evaluator's ground truth in JSON Lines or the Hub's JSON.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.values import is_number
from reelbench.registry.records import Sample, shared_labels
from reelbench.registry.rows import LETTERS, required_text_of
from reelbench.tasks import submissions
from reelbench.tasks.rextime import data

_FOUR = LETTERS[:4]  # each question's options
KEYS = {"pred_relevant_windows": "span", "ans": "answer"}
"""Key of a submission -> key of an answer as it is read."""
EXPECTED = '"qid" with "pred_relevant_windows" ([[start, end]]), "ans" (a letter), or both'


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return True where a document is meant to be in this format.

    Then some entry has a qid with windows or an answer.
    """
    return submissions.is_in_owners_format(document, "qid", *KEYS)


def read_references(path: Path) -> Iterator[submissions.Reference]:
    """Yield the references of ground truth in either of its schemas."""
    for where, entry in data.entries([path]):
        answer = required_text_of(entry, "ans", where, "the letter of the right option")
        # The evaluator's ground truth lists no options: a question has four (supplement,
        # datasheet).
        options = entry.get("options") or []
        if not isinstance(options, list):
            raise InputError(f"{where}: options is {options!r:.80}, expected a list of texts")
        yield submissions.Reference(
            entry["qid"],
            str(entry["vid"]),
            {"answer": answer, "spans": data.windows(entry, where)},
            shared_labels({"category": data.category(entry)}),
            required_text_of(entry, "question", where, data.EXPECTED),
            tuple(map(str, options)) or ("",) * len(_FOUR),
        )


def read(
    questions: submissions.Questions,
    path: Path,
    document: Any,  # noqa: ANN401 - any JSON value
) -> dict[str, submissions.Prediction]:
    """Read predictions by qid. InputError where one occurs twice."""
    del questions
    entries = list(submissions.entries(path, document, "qid", EXPECTED, KEYS.keys().isdisjoint))
    # Whether there are answers, or windows, is a matter of the whole file: a row that lacks what
    # others have got it wrong.
    parsed_names: list[str] = []
    for key, name in KEYS.items():
        keyed_entries = [entry for _, _, entry in entries if key in entry]
        if keyed_entries:
            parsed_names.append(name)
    predictions: dict[str, submissions.Prediction] = {}
    for _, qid, entry in entries:
        reading = reread(entry)
        parsed = {name: reading.get(name) for name in parsed_names}
        flags: tuple[str, ...] = ()
        if None in parsed.values():
            flags = ("parse_failed",)
        raw = {key: entry[key] for key in KEYS if key in entry}
        predictions[qid] = submissions.Prediction(raw, parsed, flags)
    return predictions


def reread(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading of a recorded entry: its first window and its letter.

    Of the window the first two numbers count. Further windows, and columns of scores, are ignored
    (authors' rule).
    """
    parsed: dict[str, Any] = {}
    windows = entry.get("pred_relevant_windows")
    if isinstance(windows, list) and windows:
        parsed["span"] = _span_of(windows[0])
    answer = entry.get("ans")
    if isinstance(answer, str) and answer:
        parsed["answer"] = answer
    return parsed


def _span_of(window: object) -> list[float] | None:
    """Return a window's first two numbers, or None where these are none."""
    if not isinstance(window, list):
        return None
    first_two = window[:2]
    if len(first_two) < 2 or not all(map(is_number, first_two)):  # noqa: PLR2004
        return None
    start, end = first_two
    return [float(start), float(end)]


def check_submission(table: Sequence[Mapping[str, Any]]) -> None:
    """Check a submission against the authors' evaluator (their README, at cb9f484).

    InputError names the line and the field: each question once, one window of two numbers, a letter
    or nothing.
    """
    seen: set[str] = set()
    for number, row in enumerate(table, start=1):
        where = f"the submission's line {number} ({row['qid']})"
        windows = row["pred_relevant_windows"]
        answer = row["ans"]
        if row["qid"] in seen:
            raise InputError(
                f"{where}: this qid occurs twice; the owners' server takes each question once"
            )
        seen.add(row["qid"])
        if len(windows) != 1 or len(windows[0]) != 2 or not all(map(is_number, windows[0])):  # noqa: PLR2004
            raise InputError(
                f"{where}: pred_relevant_windows is {windows!r:.60}, "
                "expected [[start, end]] in seconds"
            )
        if answer not in ("", *_FOUR):
            raise InputError(f"{where}: ans is {answer!r:.40}, expected one of {', '.join(_FOUR)}")


def submission_row(sample: Sample) -> dict[str, Any]:
    """Return a sample as a line of a submission.

    An unread span is [0, 0], on which the authors' evaluator scores 0.
    """
    parsed = sample.parsed or {}
    return {
        "qid": sample.id,
        "pred_relevant_windows": [parsed.get("span") or [0, 0]],
        "ans": parsed.get("answer") or "",
    }
