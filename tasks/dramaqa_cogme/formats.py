"""DramaQA's prediction files.

Predictions are a list of `{"qid", "correct_idx"}`, or an object of these by qid, as the authors' eval_submission.py
reads them (liveseongho/DramaQAChallenge2020 at 446efa5); references are `AnotherMissOhQA_*_set.json`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.registry.errors import InputError
from reelbench.registry.records import Sample
from reelbench.registry.rows import LETTERS, text_of
from reelbench.tasks import submissions
from reelbench.tasks.dramaqa_cogme import data

EXPECTED = '"qid" and "correct_idx" (0 to 4)'
SUBMISSION_SUFFIX = ".json"


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a document is meant to be in this format: some entry has a correct_idx, or some qid a number."""
    if isinstance(document, dict) and "qid" not in document:
        return any(
            "correct_idx" in value if isinstance(value, dict) else isinstance(value, int) for value in document.values()
        )
    entries = document if isinstance(document, list) else [document]
    return any(isinstance(entry, dict) and {"qid", "correct_idx"} <= entry.keys() for entry in entries)


def read_references(path: Path) -> list[submissions.Reference]:
    """Read the owners' question file; InputError where it has no answers."""
    references = [
        submissions.Reference(
            entry["qid"],
            entry["vid"],
            {"answer": data.letter(entry, where)},
            {"difficulty": data.difficulty(entry)},
            text_of(entry, "que", where, data.EXPECTED),
            tuple(data.options(entry, where) if entry.get("answers") is not None else [""] * data.OPTIONS),
        )
        for where, entry in data.entries(path)
    ]
    if not references:
        raise InputError(f"{path}: no questions in it; expected an AnotherMissOhQA_*_set.json")
    return references


def read(questions: submissions.Questions, path: Path, document: Any) -> dict[str, submissions.Prediction]:  # noqa: ANN401
    """Read predictions by qid; InputError where one occurs twice, or the file is for the owners' server alone."""
    if isinstance(document, dict) and "qid" not in document:
        if odd := next((qid for qid, value in document.items() if not isinstance(value, dict | int | None)), None):
            raise InputError(
                f"{path}: {odd!r} holds a {type(document[odd]).__name__}, and others a correct_idx (0 to 4)"
            )
        document = [
            {"qid": qid, **value} if isinstance(value, dict) else {"qid": qid, "correct_idx": value}
            for qid, value in document.items()
        ]
    predictions: dict[str, submissions.Prediction] = {}
    for _, qid, entry in submissions.entries(path, document, "qid", EXPECTED, lambda entry: "correct_idx" not in entry):
        parsed = reread(entry)
        flags = () if parsed["answer"] else ("parse_failed",)
        predictions[qid] = submissions.Prediction({"correct_idx": entry["correct_idx"]}, parsed, flags)
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
