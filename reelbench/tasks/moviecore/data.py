"""MovieCORE's annotation files -> rows.

The owners' file layout is known from their code and a sibling project, not from the files
themselves, so all three shapes that these imply are read: an object keyed by question id, an object
keyed by video with a list of questions each, and a list (or JSON Lines) of questions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.files import read_json_or_jsonl
from reelbench.registry.rows import Row, text_of
from reelbench.video.library import has_video_suffix

EXPECTED = "question, answer (or enhanced_answer), video, question_id and, where there are any, classification, caption"


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of one annotation file; every split has the same shape.

    MovieChat's own file beside it, which is of the same videos, brings each video's genre (its
    `class`).
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


def entries(path: Path, document: Any = None) -> Iterator[tuple[str, dict[str, Any]]]:  # noqa: ANN401
    """Yield (where, entry) for every question of a file, whose `document` may be read, in any of the three shapes.

    Each has its `id` and `video`; `named` says whether the id is the file's own, or made of the
    video and the question's place.
    """
    document = read_json_or_jsonl(path) if document is None else document
    ordinals: Counter[str] = Counter()
    for key, value in document.items() if isinstance(document, dict) else [("", document)]:
        several = isinstance(value, list)  # keyed by video, or all of the file
        for number, found in enumerate(value if several else [value], start=1):
            place = (
                f"entry {number}"
                if not key
                else f"{key!r}, question {number}"
                if several
                else repr(key)
            )
            where = f"{path}: {place}"
            if not isinstance(found, dict):
                raise InputError(
                    f"{where} holds a {type(found).__name__}, expected a question with {EXPECTED}"
                )
            entry = found if several else {"question_id": key, **found}
            of_key = (
                key if several else key.rpartition("_")[0] or key
            )  # a question's is "<video>_<n>"
            # The media key of a video's file name: without folder and video suffix.
            named = entry.get("video") or entry.get("video_id") or entry.get("video_name") or of_key
            name = PurePosixPath(str(named))
            video = name.stem if has_video_suffix(name.name) else name.name
            if not video:
                raise InputError(
                    f"{where} names no video; expected {EXPECTED}; found {', '.join(sorted(entry))}"
                )
            ordinals[video] += 1
            own = entry.get("question_id") or entry.get("id")
            yield (
                where,
                {
                    **entry,
                    "video": video,
                    "id": str(own or f"{video}_{ordinals[video]}"),
                    "named": bool(own),
                },
            )


def reference(entry: dict[str, Any], where: str) -> str:
    """Return the reference answer: the last turn of `enhanced_answer` where there is one, else `answer`.

    As the authors' evaluate_moviecore.py takes it (joslefaure/MovieCORE at 316f1ff).
    """
    turns = entry.get("enhanced_answer")
    if not turns:
        return text_of(entry, "answer", where, EXPECTED)
    last = turns[-1] if isinstance(turns, list) else None
    if not isinstance(last, dict) or not isinstance(last.get("content"), str):
        raise InputError(
            f"{where}: enhanced_answer is not a list of turns that end in one with 'content'"
        )
    return last["content"]


def labels(entry: dict[str, Any]) -> list[str]:
    """Return the question's classes: `classification` split at commas; the vocabulary is open."""
    classes = entry.get("classification") or ""
    parts: Iterable[str] = classes if isinstance(classes, list) else str(classes).split(",")
    if not all(isinstance(part, str) for part in parts):
        raise InputError(
            f"the question {entry['id']!r:.80}: its classification is {classes!r:.80}, expected texts"
        )
    stripped = [part.strip() for part in parts]
    return stripped if any(stripped) else []
