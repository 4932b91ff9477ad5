"""DramaQA's prediction files.

Predictions are a list of `{"qid", "correct_idx"}`, or an object of these by qid, as the authors'
eval_submission.py reads them (liveseongho/DramaQAChallenge2020 at 446efa5).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.registry.records import Sample
from reelbench.registry.rows import LETTERS
from reelbench.tasks import submissions
from reelbench.tasks.dramaqa_cogme import data

EXPECTED = '"qid" and "correct_idx" (0 to 4)'
SUBMISSION_SUFFIX = ".json"


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return True where a document is meant to be in this format.

    Then some entry has a correct_idx, or some qid a number.
    """
    if submissions.is_in_owners_format(document, "qid", "correct_idx"):
        return True
    if not isinstance(document, dict) or "qid" in document:
        return False
    return any(isinstance(value, int) for value in document.values())


def read(
    questions: submissions.Questions,
    path: Path,
    document: Any,  # noqa: ANN401 - any JSON value
) -> dict[str, submissions.Prediction]:
    """Read predictions by qid.

    Raises:
        InputError: One is wrong or occurs twice, or only the owners' server can score the file.
    """
    if isinstance(document, dict) and "qid" not in document:
        document = _entries_by_qid(path, document)
    predictions: dict[str, submissions.Prediction] = {}
    for _, qid, entry in submissions.entries(path, document, "qid", EXPECTED, _lacks_index):
        parsed = reread(entry)
        flags = () if parsed["answer"] else ("parse_failed",)
        index = {"correct_idx": entry["correct_idx"]}
        predictions[qid] = submissions.Prediction(index, parsed, flags)
    if questions.hidden:
        split = f"{questions.spec.id}: the answers of {questions.split!r}"
        raise InputError(f"{split} are hidden; submit the file to the owners' server")
    return predictions


def _lacks_index(entry: Mapping[str, Any]) -> bool:
    return "correct_idx" not in entry


def _entries_by_qid(path: Path, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of an object by qid, as a list of them is."""
    entries: list[dict[str, Any]] = []
    for qid, value in document.items():
        if isinstance(value, dict):
            entries.append({"qid": qid, **value})
        elif value is None or isinstance(value, int):
            entries.append({"qid": qid, "correct_idx": value})
        else:
            raise InputError(
                f"{path}: {qid!r} holds a {type(value).__name__}, and others a correct_idx (0 to 4)"
            )
    return entries


def reread(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading of a recorded entry: the letter of its index, or None."""
    return {"answer": data.option_letter(entry.get("correct_idx"))}


def submission_row(sample: Sample) -> dict[str, Any]:
    """Return a sample as an entry of a submission.

    An answer that names no option becomes -1, which is never right.
    """
    parsed = sample.parsed or {}
    letter = parsed.get("answer")
    index = LETTERS.index(letter) if letter else -1
    qid: int | str = sample.id
    if sample.id.isdecimal():
        qid = int(sample.id)
    return {"qid": qid, "correct_idx": index}
