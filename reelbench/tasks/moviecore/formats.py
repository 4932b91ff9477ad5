"""Read MovieCORE's prediction files.

The authors' evaluator reads `{"<video>.mp4": [{"question", "answer", "pred", "classification",
"enhanced_answer"?}]}` with the references inside (evaluate_moviecore.py at 316f1ff). Any of the
annotation shapes with a `pred` per question is read the same way. Predictions without references
are compared with a references file, or the benchmark's own data.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.temporary_tables import UniqueIds
from reelbench.base.values import is_array, is_object
from reelbench.registry.rows import required_text_of
from reelbench.tasks import submissions
from reelbench.tasks.moviecore import data

EXPECTED = (
    'an object of video -> list of {"question", "answer" (or "enhanced_answer"), "pred", '
    '"classification"}, or a list of {"question_id", "video", "pred"}'
)


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return True where a document is meant to be in this format.

    Then it has lists by video, or some question with a `pred` and a video.
    """
    if is_object(document):
        return any(map(_is_list_or_prediction, document.values()))
    return submissions.is_in_owners_format(document, "pred", "video", "video_id", "video_name")


def _is_list_or_prediction(value: object) -> bool:
    return is_array(value) or (is_object(value) and "pred" in value)


def own_references(path: Path, document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return True where each entry of a file in this format has its reference."""
    for _, entry in data.entries(path, document):
        if "answer" not in entry and "enhanced_answer" not in entry:
            return False
    return True


def read(
    questions: submissions.Questions,
    path: Path,
    document: Any,  # noqa: ANN401 - any JSON value
) -> dict[str, submissions.Prediction]:
    """Read predictions by id. InputError where one occurs twice.

    The authors' shape has no ids, so against other references an entry without one is matched by
    video and question.
    """
    entries = list(data.entries(path, document))
    if not any("pred" in entry for _, entry in entries):
        raise InputError(f"{path}: no 'pred' in it; expected {EXPECTED}")
    reference_ids: set[str] = set()
    by_question: dict[tuple[str, str], str] = {}
    if questions.file != path:
        for reference in questions.references():
            reference_ids.add(reference.id)
            by_question[reference.video, reference.question.strip()] = reference.id
    predictions: dict[str, submissions.Prediction] = {}
    ids = UniqueIds()
    for where, entry in entries:
        text = entry.get("pred")
        if text is None:
            continue
        if not isinstance(text, str):
            raise InputError(
                f"{where}: 'pred' is a {type(text).__name__}, expected the answer's text"
            )
        name: str = entry["id"]
        if not entry["named"] or name not in reference_ids:
            question = str(entry.get("question", "")).strip()
            name = by_question.get((entry["video"], question), name)
        ids.add(name, where)
        text = text.replace("</s>", "")  # as the authors clean it
        predictions[name] = submissions.parse_answer(questions.spec, text)
    return predictions


def read_references(
    path: Path,
    document: Any = None,  # noqa: ANN401 - any JSON value
) -> Iterator[submissions.Reference]:
    """Yield the references of an annotation file, or of its JSON, in any shape."""
    for where, entry in data.entries(path, document):
        facets: dict[str, list[str]] = {}
        if "classification" in entry:
            facets["classification"] = data.labels(entry)
        yield submissions.Reference(
            entry["id"],
            entry["video"],
            {"text": data.reference(entry, where)},
            facets,
            required_text_of(entry, "question", where, data.EXPECTED),
        )
