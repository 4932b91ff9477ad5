"""MovieCORE's prediction files.

The authors' evaluator reads `{"<video>.mp4": [{"question", "answer", "pred", "classification",
"enhanced_answer"?}]}` with the references inside (evaluate_moviecore.py at 316f1ff). Any of the
annotation shapes with a `pred` per question is read the same way; predictions without references
are compared with a references file, or the benchmark's own data.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_object
from reelbench.registry.rows import text_of
from reelbench.tasks import submissions
from reelbench.tasks.moviecore import data

EXPECTED = (
    'an object of video -> list of {"question", "answer" (or "enhanced_answer"), "pred", "classification"}, or a list '
    'of {"question_id", "video", "pred"}'
)


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a document is meant to be in this format: lists by video, or some question with a `pred` and a video."""
    if is_object(document):
        return any(
            "pred" in value if is_object(value) else is_array(value) for value in document.values()
        )
    return submissions.in_format(document, "pred", "video", "video_id", "video_name")


def own_references(path: Path, document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether each entry of a file in this format has its reference."""
    return all(
        "answer" in entry or "enhanced_answer" in entry for _, entry in data.entries(path, document)
    )


def read(
    questions: submissions.Questions, path: Path, document: Any
) -> dict[str, submissions.Prediction]:  # noqa: ANN401
    """Read predictions by id; InputError where one occurs twice.

    The authors' shape has no ids, so against other references an entry without one is matched by
    video and question.
    """
    entries = list(data.entries(path, document))
    if not any("pred" in entry for _, entry in entries):
        raise InputError(f"{path}: no 'pred' in it; expected {EXPECTED}")
    references = questions.references() if questions.file != path else ()
    by_question = {(one.video, one.question.strip()): one.id for one in references}
    known = {one.id for one in references}
    predictions: dict[str, submissions.Prediction] = {}
    ids = submissions.UniqueIds()
    for where, entry in entries:
        if "pred" not in entry or entry["pred"] is None:
            continue
        if not isinstance(entry["pred"], str):
            raise InputError(
                f"{where}: 'pred' is a {type(entry['pred']).__name__}, expected the answer's text"
            )
        name: str = entry["id"]
        if not (entry["named"] and name in known):
            name = by_question.get((entry["video"], str(entry.get("question", "")).strip()), name)
        ids.add(name, where)
        text = entry["pred"].replace("</s>", "")  # as the authors clean it
        predictions[name] = submissions.answered(questions.spec, text)
    return predictions


def read_references(path: Path) -> Iterator[submissions.Reference]:
    """Yield the references of an annotation file in any of its shapes."""
    for where, entry in data.entries(path):
        yield submissions.Reference(
            entry["id"],
            entry["video"],
            {"text": data.reference(entry, where)},
            {"classification": data.labels(entry)} if "classification" in entry else {},
            text_of(entry, "question", where, data.EXPECTED),
        )
