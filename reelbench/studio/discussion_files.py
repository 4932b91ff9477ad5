"""What a discussion starts from and what comes of it, as files."""

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
    '{"video", "metadata": {…}, "qa": [{"question", "answer"}], "context": […]}, or MovieChat\'s own JSON, a file of '
    "it or a folder with one for each video"
)
_TECHNICAL = ("frame_length", "fps")
"""What of a video's metadata goes into MovieCORE's own shape, and is no matter for a discussion."""
QUESTION_KEYS = ("questions", "qa", "qa_pairs")
"""Under which a reply may have its questions."""
_NOT_SHOWN = {*_TECHNICAL, "original_fps", "height", "width"}
_OF_THE_QUESTION = {"question", "answer", "question_id", "dataset", "video", "caption"}
_NO_METADATA = {"info", "global", "breakpoint", "caption", "video"}
"""Of MovieChat's annotations of a video; its captions are left out as MovieCORE's authors left them (section 3.1)."""


def _number(value: object) -> object:
    """Return the number that an id is, or ends in ("q3"); None of any other."""
    if isinstance(value, str):
        digits = re.search(r"\d+$", value.strip())
        return int(digits[0]) if digits else None
    return value


class WrittenQuestion(BaseModel):
    """One question as the expert writes it; its `id` is its number, which it keeps from the first turn to the last."""

    model_config = ConfigDict(str_strip_whitespace=True)

    id: Annotated[int | None, BeforeValidator(_number)] = None
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    short_answer: str = ""
    classification: str = ""


def questions_in(reply: str) -> list[WrittenQuestion | None]:
    """Return the questions that a reply lists, None in the place of what isn't one."""
    whole = last_dictionary(reply) or {}
    questions: list[WrittenQuestion | None] = []
    for entry in next(
        (whole[key] for key in QUESTION_KEYS if isinstance(whole.get(key), list)), []
    ):
        try:
            questions.append(WrittenQuestion.model_validate(entry))
        except ValidationError:
            questions.append(None)
    return questions


class SpokenWord(BaseModel):
    """What a role said in one turn: questions where it wrote any, else text."""

    role: str
    round: int = Field(ge=0)
    text: str = ""
    questions: list[WrittenQuestion] = []


class SimpleQuestion(BaseModel):
    """A simple question, and its answer."""

    question: str = Field(min_length=1)
    answer: str


class DiscussionVideo(BaseModel):
    """What is known of a video before anybody thinks about it; `name` is its media key."""

    name: str = Field(alias="video", min_length=1, coerce_numbers_to_str=True)
    metadata: dict[str, Any] = {}
    qa: list[SimpleQuestion] = []
    context: list[Annotated[str, Field(coerce_numbers_to_str=True)]] | None = None
    """Answers to the context questions, in their order; None where they are still to be asked."""
    words: list[SpokenWord] = []
    """What was said so far, where a discussion goes on."""

    @property
    def shown_metadata(self) -> dict[str, Any]:
        """The metadata without what only a file's maker needs."""
        return {key: value for key, value in self.metadata.items() if key not in _NOT_SHOWN}

    def as_line(self) -> dict[str, Any]:
        """Return it as a file to go on from has it: people may edit all of it."""
        words = [word.model_dump(exclude_defaults=True) for word in self.words]
        return {**self.model_dump(by_alias=True, exclude={"words"}), "words": words}


def read_videos(path: Path, questions: int) -> list[DiscussionVideo]:
    """Read the videos to discuss, in the file's order; `questions` is how many context questions there are.

    The file has JSON Lines (or a list) of our own shape; MovieChat's annotations (`global` and,
    where there is one, `info`), of one video, a list of them, or a folder with a file for each; or
    its questions in one file, an object or a list, grouped here by video. InputError names the
    file, the entry and the field that is wrong.
    """
    if path.is_dir():
        document = []
        for file in sorted(path.rglob("*.json"), key=lambda file: (len(file.stem), file.stem)):
            entry = read_json(file)
            if not isinstance(entry, dict) or "global" not in entry:
                raise InputError(
                    f'{file}: has no "global"; a folder of videos holds MovieChat\'s annotations and no others'
                )
            document.append(
                {"video": file.stem, **entry}
            )  # without `info` a file is called after its video
    else:
        document = read_json_or_jsonl(path)
    if isinstance(document, dict) and "global" in document:
        document = {"video": path.stem, **document}
    if isinstance(document, dict) and not {"video", "global"} & document.keys():
        document = [value if isinstance(value, dict) else {} for value in document.values()]
    entries = document if isinstance(document, list) else [document]
    videos: dict[str, DiscussionVideo] = {}
    for number, given in enumerate(_by_video(path, entries), start=1):
        where = f"{path}: entry {number}"
        video = record_of(DiscussionVideo, given, where, f"; expected {EXPECTED}")
        video.context = context = [answer.strip() for answer in video.context or ()] or None
        if context is not None and (len(context) != questions or not all(context)):
            raise InputError(
                f"{where}, field context: expected {questions} answers, none empty; found {len(context)}"
            )
        if video.name in videos:
            raise InputError(
                f"{where}: the video {video.name!r} occurs twice; the file must have each video once"
            )
        videos[video.name] = video
    if not videos:
        raise InputError(f"{path}: no videos in it; expected {EXPECTED}")
    return list(videos.values())


def _by_video(path: Path, entries: Sequence[Any]) -> Iterable[Any]:
    """Return entries of our own shape; MovieChat's questions become one entry a video, in order of first mention."""
    if any(not isinstance(entry, dict) for entry in entries):
        raise InputError(f"{path}: holds something that is not an object; expected {EXPECTED}")
    if any("global" in entry for entry in entries):
        read = []
        for entry in entries:
            info = entry["info"] if isinstance(entry.get("info"), dict) else {}
            about = {
                **{key: value for key, value in entry.items() if key not in _NO_METADATA},
                **info,
            }
            name = Path(str(about.pop("video_path", None) or entry.get("video") or "")).stem
            read.append({"video": name, "metadata": about, "qa": entry["global"]})
        return read
    if not any("question" in entry for entry in entries):
        return entries
    videos: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(entries, start=1):
        if "question" not in entry or "answer" not in entry or not entry.get("video"):
            raise InputError(
                f"{path}: question {number} lacks video, question or answer; expected {EXPECTED}"
            )
        metadata = {key: value for key, value in entry.items() if key not in _OF_THE_QUESTION}
        name = str(entry["video"])
        video = videos.setdefault(name, {"video": name, "metadata": metadata, "qa": []})
        video["qa"].append({"question": entry["question"], "answer": entry["answer"]})
    return videos.values()


def annotations(
    made: Iterable[tuple[DiscussionVideo, Sequence[WrittenQuestion]]], dataset: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, entry) of MovieCORE's own shape for each video and its questions.

    A question's key ends in its number, the same in the single pass and in the discussion. The
    caption, on a video's first question, is the answer to the first context question, as the
    authors' captions seem to be.
    """
    for video, questions in made:
        technical = {key: video.metadata[key] for key in _TECHNICAL if key in video.metadata}
        for place, question in enumerate(questions):
            name = f"{video.name}_{question.id}"
            yield (
                name,
                {
                    "answer": question.answer,
                    "short_answer": question.short_answer,
                    "question": question.question,
                    "question_id": name,
                    "dataset": dataset,
                    "video": video.name,
                    **technical,
                    "caption": video.context[0] if place == 0 and video.context else "",
                    "classification": question.classification,
                },
            )
