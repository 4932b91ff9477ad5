"""MovieCORE's annotation files -> rows.

The owners' file layout is known from their code and a sibling project, not from the files themselves, so all three
shapes that these imply are read: an object keyed by question id, an object keyed by video with a list of questions
each, and a list (or JSON Lines) of questions.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json_or_jsonl
from reelbench.registry.media.library import SUFFIXES
from reelbench.registry.rows import Row, text_of

EXPECTED = "question, answer (or enhanced_answer), video, question_id and, where there are any, classification, caption"


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of one annotation file; every split has the same shape.

    MovieChat's own file beside it, which is of the same videos, brings each video's genre (its `class`).
    """
    del split
    first, *joined = paths
    genres = {entry["video"]: entry.get("class") for path in joined for _, entry in entries(path)}
    for where, entry in entries(first):
        yield {
            "id": entry["id"],
            "video": entry["video"],
            "question": text_of(entry, "question", where, EXPECTED),
            "language": "en",
            "answer": reference(entry, where),
            "classification": labels(entry),
            "caption": str(entry.get("caption") or ""),
            "genre": str(entry.get("class") or genres.get(entry["video"]) or ""),
        }


def entries(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield `entries_of` a file."""
    return entries_of(path, read_json_or_jsonl(path))


def entries_of(path: Path, document: Any) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    """Yield (where, entry) for every question of a file's document in any of the three shapes, with `id` and `video`.

    `named` says whether the id is the file's own, or made of the video and the question's place.
    """
    if not isinstance(document, list | dict):
        raise InputError(f"{path}: holds a {type(document).__name__}, expected an object or a list of questions")
    listed = document if isinstance(document, list) else ()
    entries: list[tuple[str, str | None, Any]]
    entries = [(f"{path}: entry {number}", None, entry) for number, entry in enumerate(listed, start=1)]
    for key, value in document.items() if isinstance(document, dict) else ():
        if isinstance(value, list):  # keyed by video
            entries += [(f"{path}: {key!r}, question {n}", key, entry) for n, entry in enumerate(value, start=1)]
        elif isinstance(value, dict):  # keyed by question id, "<video>_<n>"
            video = value.get("video") or key.rpartition("_")[0] or key
            entries.append((f"{path}: {key!r}", video, {"question_id": key, **value}))
        else:
            raise InputError(
                f"{path}: {key!r} holds a {type(value).__name__}, expected a question with {EXPECTED}, or a video's "
                "list of them"
            )
    ordinals: dict[str, int] = {}
    for where, key, entry in entries:
        if not isinstance(entry, dict):
            raise InputError(f"{where} is a {type(entry).__name__}, expected an object with {EXPECTED}")
        # The media key of a video's file name: without folder and video suffix.
        name = PurePosixPath(str(entry.get("video") or entry.get("video_id") or entry.get("video_name") or key or ""))
        video = name.stem if name.suffix.lower() in SUFFIXES else name.name
        if not video:
            raise InputError(f"{where} names no video; expected {EXPECTED}; found {', '.join(sorted(entry))}")
        ordinals[video] = ordinals.get(video, 0) + 1
        own = entry.get("question_id") or entry.get("id")
        yield where, {**entry, "video": video, "id": str(own or f"{video}_{ordinals[video]}"), "named": bool(own)}


def reference(entry: dict[str, Any], where: str) -> str:
    """Return the reference answer: the last turn of `enhanced_answer` where there is one, else `answer`.

    As the authors' evaluate_moviecore.py takes it (joslefaure/MovieCORE at 316f1ff).
    """
    turns = entry.get("enhanced_answer")
    if not turns:
        return text_of(entry, "answer", where, EXPECTED)
    last = turns[-1] if isinstance(turns, list) else None
    if not isinstance(last, dict) or not isinstance(last.get("content"), str):
        raise InputError(f"{where}: enhanced_answer is not a list of turns that end in one with 'content'")
    return last["content"]


def labels(entry: dict[str, Any]) -> list[str]:
    """Return the question's classes: `classification` split at commas; the vocabulary is open."""
    classes = entry.get("classification") or ""
    parts: Iterable[str] = classes if isinstance(classes, list) else str(classes).split(",")
    if not all(isinstance(part, str) for part in parts):
        raise InputError(f"the question {entry['id']!r:.80}: its classification is {classes!r:.80}, expected texts")
    stripped = [part.strip() for part in parts]
    return stripped if any(stripped) else []
