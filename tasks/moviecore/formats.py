"""MovieCORE's prediction files.

The authors' evaluator reads `{"<video>.mp4": [{"question", "answer", "pred", "classification", "enhanced_answer"?}]}`
with the references inside (evaluate_moviecore.py at 316f1ff). Any of the annotation shapes with a `pred` per question
is read the same way; predictions without references are compared with a references file, or the benchmark's own data.
"""

from pathlib import Path
from typing import Any

from reelbench.registry.errors import InputError
from reelbench.registry.files import sha256_of
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks import submissions
from reelbench.tasks.moviecore import data

EXPECTED = (
    'an object of video -> list of {"question", "answer" (or "enhanced_answer"), "pred", "classification"}, or a list '
    'of {"question_id", "video", "pred"}'
)


def official(document: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a document is meant to be in this format: lists by video, or some question with a `pred` and a video."""
    if isinstance(document, dict):
        listed = [entry for value in document.values() for entry in (value if isinstance(value, list) else [value])]
        return any(isinstance(value, list) for value in document.values()) or any(
            isinstance(entry, dict) and "pred" in entry for entry in listed
        )
    named = {"video", "video_id", "video_name"}
    return isinstance(document, list) and any(
        isinstance(entry, dict) and "pred" in entry and bool(named & entry.keys()) for entry in document
    )


def read(spec: BenchmarkSpec, inputs: submissions.Inputs) -> submissions.PredictionSet:
    """Read a prediction file and hold it against its references: the file's own, another's, or the benchmark's."""
    path = inputs.predictions
    entries = list(data.entries(path))
    if not any("pred" in entry for _, entry in entries):
        raise InputError(f"{path}: no 'pred' in it; expected {EXPECTED}")
    if inputs.references is None and all("answer" in e or "enhanced_answer" in e for _, e in entries):
        references = [_reference(where, entry) for where, entry in entries]
        source = submissions.file_source(spec, path, sha256_of(path))
        named, split = _by_id(spec, entries), inputs.split or spec.default_split
    else:
        references, source, split = submissions.references_of(spec, inputs, read_references)
        named = _by_id(spec, entries, references)
    return submissions.join(named, references, source, path=path, split=split)


def read_references(path: Path) -> list[submissions.Reference]:
    """Read an annotation file in any of its shapes."""
    references = [_reference(where, entry) for where, entry in data.entries(path)]
    if not references:
        raise InputError(f"{path}: no questions in it")
    return references


def _reference(where: str, entry: dict[str, Any]) -> submissions.Reference:
    return submissions.Reference(
        entry["id"],
        entry["video"],
        {"text": data.reference(entry, where)},
        {"classification": data.labels(entry)} if "classification" in entry else {},
        data.text(entry, "question", where),
    )


def _by_id(
    spec: BenchmarkSpec,
    entries: list[tuple[str, dict[str, Any]]],
    references: list[submissions.Reference] | None = None,
) -> dict[str, submissions.Prediction]:
    """Return the predictions by id; InputError where one occurs twice.

    The authors' shape has no ids, so against other references an entry without one is matched by video and question.
    """
    by_question: dict[tuple[str, str], str] = {(r.video, r.question.strip()): r.id for r in references or ()}
    known = {r.id for r in references or ()}
    predictions: dict[str, submissions.Prediction] = {}
    ids = submissions.UniqueIds()
    for where, entry in entries:
        if "pred" not in entry or entry["pred"] is None:
            continue
        if not isinstance(entry["pred"], str):
            raise InputError(f"{where}: 'pred' is a {type(entry['pred']).__name__}, expected the answer's text")
        name: str = entry["id"]
        if references is not None and not (entry["named"] and name in known):
            name = by_question.get((entry["video"], str(entry.get("question", "")).strip()), name)
        ids.add(name, where)
        text = entry["pred"].replace("</s>", "")  # as the authors clean it
        predictions[name] = submissions.answered(spec, text)
    return predictions
