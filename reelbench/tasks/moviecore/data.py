"""Read the rows of MovieCORE's annotation files.

The owners' file layout is known from their code and a sibling project, not from the files
themselves, so all three shapes that these imply are read: an object keyed by question id, an object
keyed by video with a list of questions each, and a list (or JSON Lines) of questions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.files import read_json_or_jsonl
from reelbench.registry.rows import Row, required_text_of
from reelbench.video.media_roots import has_video_suffix

EXPECTED = (
    "question, answer (or enhanced_answer), video, question_id and, where there are any, "
    "classification, caption"
)


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of one annotation file. Every split has the same shape.

    MovieChat's own file beside it, which is of the same videos, brings each video's genre (its
    `class`).
    """
    del split
    first, *genre_files = paths
    genres: dict[str, Any] = {}
    for path in genre_files:
        for _, entry in entries(path):
            genres[entry["video"]] = entry.get("class")
    for where, entry in entries(first):
        yield {
            "id": entry["id"],
            "video": entry["video"],
            "question": required_text_of(entry, "question", where, EXPECTED),
            "language": "en",
            "answer": reference(entry, where),
            "classification": labels(entry),
            "caption": str(entry.get("caption") or ""),
            "genre": str(entry.get("class") or genres.get(entry["video"]) or ""),
        }


def entries(path: Path, document: Any = None) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    """Yield (where, entry) for every question of a file in any of the three shapes.

    `document` is the file's content, where it is read already. Each entry has its `id` and `video`.
    `named` is True where the id is the file's own, and False where it is made of the video and the
    question's place.
    """
    document = read_json_or_jsonl(path) if document is None else document
    ordinals: Counter[str] = Counter()
    for where, entry, video_of_key in _placed_entries(path, document):
        video = _video_of(entry, video_of_key)
        if not video:
            raise InputError(
                f"{where} names no video; expected {EXPECTED}; found {', '.join(sorted(entry))}"
            )
        ordinals[video] += 1
        file_id = entry.get("question_id") or entry.get("id")
        fields = {
            "video": video,
            "id": str(file_id or f"{video}_{ordinals[video]}"),
            "named": bool(file_id),
        }
        yield where, entry | fields


class _Placed(NamedTuple):
    """An entry with its place, and the video that its key names."""

    where: str
    entry: dict[str, Any]
    video_of_key: str


def _placed_entries(path: Path, document: Any) -> Iterator[_Placed]:  # noqa: ANN401
    """Yield the entries of any of the three shapes."""
    if not isinstance(document, dict):
        document = {"": document}
    for key, value in document.items():
        if isinstance(value, list):  # keyed by video, or all of the file
            for number, entry in enumerate(value, start=1):
                where = f"{path}: entry {number}"
                if key:
                    where = f"{path}: {key!r}, question {number}"
                yield _Placed(where, _checked_entry(entry, where), key)
        else:
            where = f"{path}: {key!r}" if key else f"{path}: entry 1"
            entry = {"question_id": key, **_checked_entry(value, where)}
            # A question's key is "<video>_<n>".
            yield _Placed(where, entry, key.rpartition("_")[0] or key)


def _checked_entry(entry: Any, where: str) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(entry, dict):
        raise InputError(
            f"{where} holds a {type(entry).__name__}, expected a question with {EXPECTED}"
        )
    return entry


def _video_of(entry: Mapping[str, Any], video_of_key: str) -> str:
    """Return the media key: a video's file name without folder and video suffix."""
    file = entry.get("video") or entry.get("video_id") or entry.get("video_name") or video_of_key
    path = PurePosixPath(str(file))
    return path.stem if has_video_suffix(path.name) else path.name


def reference(entry: dict[str, Any], where: str) -> str:
    """Return the reference answer.

    It is the last turn of `enhanced_answer` where there is one, else `answer`, as the authors'
    evaluate_moviecore.py takes it (joslefaure/MovieCORE at 316f1ff).
    """
    turns = entry.get("enhanced_answer")
    if not turns:
        return required_text_of(entry, "answer", where, EXPECTED)
    last = turns[-1] if isinstance(turns, list) else None
    if not isinstance(last, dict) or not isinstance(last.get("content"), str):
        raise InputError(
            f"{where}: enhanced_answer is not a list of turns that end in one with 'content'"
        )
    return last["content"]


def labels(entry: dict[str, Any]) -> list[str]:
    """Return the question's classes: `classification` split at commas.

    The vocabulary is open.
    """
    classes = entry.get("classification") or ""
    parts: Iterable[str] = str(classes).split(",")
    if isinstance(classes, list):
        parts = classes
    if not all(isinstance(part, str) for part in parts):
        raise InputError(
            f"the question {entry['id']!r:.80}: its classification is {classes!r:.80}, "
            "expected texts"
        )
    stripped = [part.strip() for part in parts]
    return stripped if any(stripped) else []
