"""A chain's files as its page reads them: held to their shapes first, as somebody may have edited them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from reelbench.registry.base_record import first_wrong_field
from reelbench.registry.errors import InputError
from reelbench.registry.files import Decoder, read_json
from reelbench.studio.funnel import StageRecord

_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]


class _Url(BaseModel):
    url: str


class _Part(BaseModel):
    type: str
    text: str | None = None
    image_url: _Url | None = None
    video_url: _Url | None = None


class _Message(BaseModel):
    role: str
    content: str | list[_Part]


class _Tokens(BaseModel):
    prompt: int
    completion: int


class _Line(BaseModel):
    role: str
    video: str
    round: int | None = None
    attempt: int
    read: bool
    model: str | None
    messages: list[_Message] = Field(min_length=1)
    reply: str | None
    tokens: _Tokens


class _Made(BaseModel):
    question: str
    answer: str
    short_answer: str | None = None
    classification: str | None = None
    category: str | None = None
    options: list[str] | None = None
    ans: str | None = None
    duration: _Seconds | None = None
    span: tuple[_Seconds, _Seconds] | None = None
    question_span: tuple[_Seconds, _Seconds] | None = None


class _Discussed(_Made):
    question_id: str


_Number = Annotated[float, Field(allow_inf_nan=False)]


class _Measure(BaseModel):
    single_pass: _Number | None
    discussion: _Number | None
    difference: _Number | None
    ci95: tuple[_Number, _Number] | None


class _WinRate(BaseModel):
    value: _Number
    ci95: tuple[_Number, _Number] | None
    videos: int
    same_in_both_orders: _Number


class _Comparison(BaseModel):
    measures: dict[str, _Measure]
    win_rate: _WinRate | None


class _Funnel(BaseModel):
    stages: list[StageRecord]


def trace_lines(path: Path, video: str | None) -> Iterator[dict[str, Any]]:
    """Yield the lines of one video, by default the first one; the file, which may be long, is read line by line.

    Raises:
        InputError: There is no such file, or a line is none of a chain's trace.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror}); give the folder that a chain wrote") from None
    decoder = Decoder(path)
    with file:
        for number, text in enumerate(file, start=1):
            try:
                line = decoder.decode(text.decode("utf-8"), number)
                name = line["video"]
            except (ValueError, LookupError, TypeError):
                raise InputError(f"{path}, line {number}: not a line of a chain's trace; is the file whole?") from None
            video = name if video is None else video
            if name == video:
                yield _held(_Line, line, f"{path}, line {number}")


def made_questions(path: Path, video: str) -> Iterator[dict[str, Any]]:
    """Yield the questions on a video; none where there is no such file. InputError where one isn't whole."""
    if not path.is_file():
        return
    document = read_json(path)
    if not isinstance(document, dict | list):
        raise InputError(f"{path}: not a chain's questions, but {type(document).__name__}")
    for place, entry in document.items() if isinstance(document, dict) else enumerate(document, start=1):
        if not isinstance(entry, dict):
            raise InputError(f"{path}, entry {place}: not a question, but {type(entry).__name__}")
        if video in (entry.get("video"), entry.get("vid")):
            yield _held(_Made if "vid" in entry else _Discussed, entry, f"{path}, entry {place}")


def funnel_stages(path: Path) -> list[dict[str, Any]]:
    """Return the stages of a `funnel.json`; InputError where it is none."""
    document = read_json(path)
    return _held(_Funnel, document, str(path))["stages"]


def comparison(path: Path) -> dict[str, Any] | None:
    """Return what a `comparison.json` says; None where there is no such file, InputError where it is none."""
    return _held(_Comparison, read_json(path), str(path)) if path.is_file() else None


def _held(shape: type[BaseModel], value: Any, where: str) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a value as it is; InputError where it lacks what its kind has."""
    try:
        shape.model_validate(value)
    except ValidationError as error:
        raise InputError(f"{where}, {first_wrong_field(error)}") from None
    return value
