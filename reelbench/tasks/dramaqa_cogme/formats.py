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
    """Whether a document is meant to be in this format: some entry has a correct_idx, or some qid a number."""
    bare = document.values() if isinstance(document, dict) and "qid" not in document else ()
    return submissions.in_format(document, "qid", "correct_idx") or any(
        isinstance(value, int) for value in bare
    )


def read(
    questions: submissions.Questions, path: Path, document: Any
) -> dict[str, submissions.Prediction]:  # noqa: ANN401
    """Read predictions by qid; InputError where one occurs twice, or the file is for the owners' server alone."""
    if isinstance(document, dict) and "qid" not in document:
        if odd := next(
            (qid for qid, value in document.items() if not isinstance(value, dict | int | None)),
            None,
        ):
            raise InputError(
                f"{path}: {odd!r} holds a {type(document[odd]).__name__}, and others a correct_idx (0 to 4)"
            )
        document = [
            {"qid": qid, **value} if isinstance(value, dict) else {"qid": qid, "correct_idx": value}
            for qid, value in document.items()
        ]
    predictions: dict[str, submissions.Prediction] = {}
    for _, qid, entry in submissions.entries(
        path, document, "qid", EXPECTED, lambda entry: "correct_idx" not in entry
    ):
        parsed = reread(entry)
        flags = () if parsed["answer"] else ("parse_failed",)
        predictions[qid] = submissions.Prediction(
            {"correct_idx": entry["correct_idx"]}, parsed, flags
        )
    if questions.hidden:
        split = f"{questions.spec.id}: the answers of {questions.split!r}"
        raise InputError(f"{split} are hidden; submit the file to the owners' server")
    return predictions


def reread(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading of a recorded entry: the letter of its index, None where that is none."""
    return {"answer": data.option_letter(entry.get("correct_idx"))}


def submission_row(sample: Sample) -> dict[str, Any]:
    """Return a sample as an entry of a submission; an answer that names no option becomes -1, which is never right."""
    answer = (sample.parsed or {}).get("answer")
    qid: int | str = int(sample.id) if sample.id.isdecimal() else sample.id
    return {"qid": qid, "correct_idx": LETTERS.index(answer) if answer else -1}
