"""Read the videos of a discussion, and write its questions in MovieCORE's shape."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import read_json, read_json_or_jsonl
from reelbench.llm.reading import last_dictionary

EXPECTED = (
    '{"video", "metadata": {…}, "qa": [{"question", "answer"}], "context": […]}, or MovieChat\'s '
    "own JSON, a file of it or a folder with one for each video"
)
QUESTION_KEYS = ("questions", "qa", "qa_pairs")
"""Keys under which a reply may have its questions."""
_TECHNICAL = ("frame_length", "fps")
"""Metadata that MovieCORE's own shape has, and that a discussion does not need."""
_NOT_SHOWN = {*_TECHNICAL, "original_fps", "height", "width"}
_QUESTION_FIELDS = {"question", "answer", "question_id", "dataset", "video", "caption"}
_NOT_METADATA = {"info", "global", "breakpoint", "caption", "video"}
"""Fields of MovieChat's annotations of a video that are no metadata.

MovieCORE's authors left the captions out (section 3.1), and so do we.
"""


def _number_in(value: object) -> object:
    """Return the number that an id is, or ends in ("q3"). None of any other."""
    if isinstance(value, str):
        digits = re.search(r"(?<!\d)\d++$", value.strip())
        return int(digits[0]) if digits else None
    return value


class WrittenQuestion(BaseModel):
    """One question as the expert writes it.

    Its `id` is its number, which it keeps from the first turn to the last.
    """

    model_config = ConfigDict(str_strip_whitespace=True)

    id: Annotated[int | None, BeforeValidator(_number_in)] = None
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    short_answer: str = ""
    classification: str = ""


def questions_in(reply: str) -> list[WrittenQuestion | None]:
    """Return the questions that a reply lists, None in the place of a malformed one."""
    document = last_dictionary(reply) or {}
    questions: list[WrittenQuestion | None] = []
    for key in QUESTION_KEYS:
        entries = document.get(key)
        if not isinstance(entries, list):
            continue
        for entry in entries:
            try:
                questions.append(WrittenQuestion.model_validate(entry))
            except ValidationError:
                questions.append(None)
        break
    return questions


class SpokenWord(BaseModel):
    """A role's words in one turn: questions where it wrote any, else text."""

    role: str
    round: int = Field(ge=0)
    text: str = ""
    questions: list[WrittenQuestion] = []


class SimpleQuestion(BaseModel):
    """A simple question, and its answer."""

    question: str = Field(min_length=1)
    answer: str


class DiscussionVideo(BaseModel):
    """The material on a video. `name` is its media key."""

    name: str = Field(alias="video", min_length=1, coerce_numbers_to_str=True)
    metadata: dict[str, Any] = {}
    qa: list[SimpleQuestion] = []
    context: list[Annotated[str, Field(coerce_numbers_to_str=True)]] | None = None
    """Answers to the context questions, in their order. None where they are still to be asked."""
    words: list[SpokenWord] = []
    """The words spoken so far, where a discussion is continued."""

    @property
    def shown_metadata(self) -> dict[str, Any]:
        """The metadata without the technical fields."""
        return {key: value for key, value in self.metadata.items() if key not in _NOT_SHOWN}

    def as_line(self) -> dict[str, Any]:
        """Return the line of a stage's file, all of which people may edit."""
        line = self.model_dump(by_alias=True, exclude={"words"})
        line["words"] = [word.model_dump(exclude_defaults=True) for word in self.words]
        return line


def read_videos(path: Path, questions: int) -> list[DiscussionVideo]:
    """Read the videos to discuss, in the file's order.

    The file has JSON Lines (or a list) of our own shape; MovieChat's annotations (`global` and,
    where there is one, `info`), of one video, a list of them, or a folder with a file for each; or
    MovieChat's questions in one file, an object or a list, grouped here by video.

    Args:
        path: The file or the folder.
        questions: Number of context questions.

    Raises:
        InputError: Names the file, the entry and the field that is wrong.
    """
    entries = _read_folder(path) if path.is_dir() else _read_entries(path)
    videos: dict[str, DiscussionVideo] = {}
    for number, entry in enumerate(_in_our_shape(path, entries), start=1):
        where = f"{path}: entry {number}"
        video = record_of(DiscussionVideo, entry, where, f"; expected {EXPECTED}")
        context = [answer.strip() for answer in video.context or ()]
        if context and (len(context) != questions or not all(context)):
            raise InputError(
                f"{where}, field context: expected {questions} answers, none empty; "
                f"found {len(context)}"
            )
        video.context = context or None
        if video.name in videos:
            raise InputError(
                f"{where}: the video {video.name!r} occurs twice; list each video once"
            )
        videos[video.name] = video
    if not videos:
        raise InputError(f"{path}: no videos in it; expected {EXPECTED}")
    return list(videos.values())


def _read_folder(path: Path) -> list[Any]:
    """Return MovieChat's annotations in a folder, shorter names first."""
    entries: list[Any] = []
    for file in sorted(path.rglob("*.json"), key=lambda file: (len(file.stem), file.stem)):
        entry = read_json(file)
        if not isinstance(entry, dict) or "global" not in entry:
            raise InputError(
                f'{file}: has no "global"; '
                "a folder of videos may hold only MovieChat's annotations"
            )
        # Without `info`, a file is called after its video.
        entries.append({"video": file.stem, **entry})
    return entries


def _read_entries(path: Path) -> list[Any]:
    """Return the entries of one file."""
    document = read_json_or_jsonl(path)
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        return [document]
    if "global" in document:
        return [{"video": path.stem, **document}]
    if "video" in document:
        return [document]
    # An object whose values are the entries. Another value is refused later, as an empty entry.
    entries: list[Any] = []
    for value in document.values():
        entry = value if isinstance(value, dict) else {}
        entries.append(entry)
    return entries


def _in_our_shape(path: Path, entries: Sequence[Any]) -> Iterable[Any]:
    """Return entries of our own shape, whichever shape they have."""
    if any(not isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: holds something that is not an object; expected {EXPECTED}")
    if any("global" in entry for entry in entries):
        return [_from_annotations(entry) for entry in entries]
    if any("question" in entry for entry in entries):
        return _by_video(path, entries)
    return entries


def _from_annotations(entry: dict[str, Any]) -> dict[str, Any]:
    """Return MovieChat's annotations of a video in our own shape."""
    metadata = {key: value for key, value in entry.items() if key not in _NOT_METADATA}
    info = entry.get("info")
    if isinstance(info, dict):
        metadata |= info
    path_in_metadata = metadata.pop("video_path", None)
    video = path_in_metadata or entry.get("video") or ""
    return {
        "video": Path(str(video)).stem,
        "metadata": metadata,
        "qa": entry["global"],
    }


def _by_video(path: Path, entries: Sequence[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Return MovieChat's questions as an entry a video, in order of first mention."""
    videos: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(entries, start=1):
        is_complete = "question" in entry and "answer" in entry and bool(entry.get("video"))
        if not is_complete:
            raise InputError(
                f"{path}: question {number} lacks video, question or answer; expected {EXPECTED}"
            )
        name = str(entry["video"])
        if name not in videos:
            metadata = {key: value for key, value in entry.items() if key not in _QUESTION_FIELDS}
            videos[name] = {"video": name, "metadata": metadata, "qa": []}
        pair = {"question": entry["question"], "answer": entry["answer"]}
        videos[name]["qa"].append(pair)
    return videos.values()


def annotations(
    question_sets: Iterable[tuple[DiscussionVideo, Sequence[WrittenQuestion]]], dataset: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a key and an entry of MovieCORE's own shape for each question.

    A question's key ends in its number, the same in the single pass and in the discussion. The
    caption, on a video's first question, is the answer to the first context question, as the
    authors' captions seem to be.
    """
    for video, questions in question_sets:
        technical = {key: video.metadata[key] for key in _TECHNICAL if key in video.metadata}
        caption = video.context[0] if video.context else ""
        for question in questions:
            name = f"{video.name}_{question.id}"
            entry = {
                "answer": question.answer,
                "short_answer": question.short_answer,
                "question": question.question,
                "question_id": name,
                "dataset": dataset,
                "video": video.name,
                **technical,
                "caption": caption,
                "classification": question.classification,
            }
            yield name, entry
            caption = ""
