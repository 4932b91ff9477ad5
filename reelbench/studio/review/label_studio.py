"""To Label Studio and back, for teams that have its server: tasks and configuration out, its JSON export in.

Its video timeline counts frames from 1, whole ones, the last of a range included
(HumanSignal/label-studio at 025bce5, TimelineRegion.js), so a range from frame s to frame e is the
time from (s - 1) / fps to e / fps.
"""

import math
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import quote
from xml.sax.saxutils import escape

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
)

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError, MediaError
from reelbench.base.files import write_json, write_text
from reelbench.base.values import is_id, is_object
from reelbench.studio.review import pages
from reelbench.studio.review.review_items import Item
from reelbench.studio.review.review_kind import KIND, Content, Marks, Review
from reelbench.studio.review.spans import QUESTION_SPANS, SPANS
from reelbench.video.library import Library

FPS = 24.0
"""Label Studio's own default, where a video's rate isn't known."""
KINDS = (SPANS, QUESTION_SPANS)

_CONFIG = """<View>
 <Header value="$question"/>
 <Text name="answer" value="$answer"/>
 <Video name="video" value="$video" frameRate="$fps" timelineHeight="120"/>
 <TimelineLabels name="span" toName="video">{labels}</TimelineLabels>
 <Choices name="verdict" toName="video" choice="single"><Choice value="ok"/><Choice value="bad"/></Choices>
 <TextArea name="comment" toName="video" placeholder="{hint}"/>
</View>
"""


CONFIG, TASKS = "config.xml", "tasks.json"
_EXPORTED = "; export the project whole as JSON (not JSON-MIN or CSV), of the tasks that we wrote (--as label-studio)"


def write(
    content: Content, folder: Path, media_url: str, data: Path | None = None
) -> tuple[int, list[str]]:
    """Write `CONFIG` and `TASKS` of spans or question spans to `folder`, made if needed.

    `media_url` stands before a video's path: an address, or `/data/local-files/?d=` and a folder.
    Returns the number of tasks, and the videos that are not here: their rate is Label Studio's
    default.
    """
    if content.kind not in KINDS:
        raise InputError(
            f"--as label-studio: takes --ask {' or '.join(kind.name for kind in KINDS)}; for all else use our own page"
        )
    library = Library(content.spec, content.split, data)
    page = pages.fingerprint(content)
    known: dict[str, tuple[str, float]] = {}  # path under the videos' root, and rate
    missing: list[str] = []
    for video, row in content.rows.items():
        path, fps = pages.find_video(library, row), None
        if path is None:
            missing.append(video)
        else:
            with suppress(MediaError):
                fps, _ = pages.read_rate(path)
        known[video] = library.path_below_root(row, path), fps or FPS
    tasks = [
        _task(content, page, item, media_url + quote(known[place.video][0]), known[place.video][1])
        for place in content.places
        for item in place.items
    ]
    labels = ["question", "answer"] if content.kind is QUESTION_SPANS else ["answer"]
    text = _CONFIG.format(
        labels="".join(f'<Label value="{label}"/>' for label in labels),
        hint=escape(content.kind.advice[1], {'"': "&quot;"}),
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / CONFIG, text)
    write_json(folder / TASKS, tasks)
    return len(tasks), missing


def _task(content: Content, page: str, item: Item, video: str, fps: float) -> dict[str, Any]:
    texts = {
        show["heading"].split(" ")[0].lower(): show["text"]
        for show in item["shows"]
        if show["type"] == "text"
    }
    data = {
        "id": item["id"],
        "video": video,
        "fps": fps,
        "question": texts["question"],
        "answer": texts["answer"],
        "page": page,
        "ask": content.kind.name,
        "benchmark": content.spec.id,
        "split": content.split,
        "key": item["about"]["video"],
    }
    task: dict[str, Any] = {"data": data}
    if span := item["about"].get("answer_span"):
        data["answer_span"] = span
        task["predictions"] = [
            {"model_version": "published", "score": 1.0, "result": [region("answer", span, fps)]}
        ]
    return task


def region(label: str, span: tuple[float, float] | list[float], fps: float) -> dict[str, Any]:
    """Return a span in seconds as a region: the frames that it touches."""
    start = math.floor(span[0] * fps + 1e-6) + 1
    ranges = [{"start": start, "end": max(start, math.ceil(span[1] * fps - 1e-6))}]
    return {
        "id": label,
        "from_name": "span",
        "to_name": "video",
        "type": "timelinelabels",
        "value": {"ranges": ranges, "timelinelabels": [label]},
    }


def _column_name(value: object) -> str:
    if not is_id(value):
        raise ValueError("expected a text or a whole number")
    return str(value)


def _in_order(end: float, info: ValidationInfo) -> float:
    if end < info.data.get("start", end):
        raise ValueError("expected an end that is not before the start")
    return end


_Id = Annotated[Any, AfterValidator(_column_name)]
_When = Annotated[datetime, AfterValidator(lambda at: at if at.tzinfo else at.replace(tzinfo=UTC))]
_Frame = Annotated[int, Field(strict=True, ge=1)]
_Seconds = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class _Frames(BaseModel):
    start: _Frame
    end: Annotated[_Frame, AfterValidator(_in_order)]


class _Value(BaseModel):
    """What is given: a region of a video (in frames) or of the audio template (in seconds), a verdict or a comment."""

    label: tuple[Literal["answer", "question"]] | None = Field(
        default=None, validation_alias=AliasChoices("timelinelabels", "labels")
    )
    ranges: Annotated[list[_Frames], Field(max_length=1)] | None = None
    start: _Seconds | None = None
    end: Annotated[_Seconds, AfterValidator(_in_order)] | None = None
    choices: tuple[Literal["ok", "bad"]] | None = None
    text: list[str] | str | None = None


class _Result(BaseModel):
    value: _Value


class _Annotation(BaseModel):
    result: list[_Result]
    completed_by: Annotated[
        _Id, BeforeValidator(lambda by: by.get("email") or by.get("id") if is_object(by) else by)
    ]
    was_cancelled: bool | None = None
    created_at: _When = datetime.fromtimestamp(0, UTC)
    lead_time: float | None = None


class _Data(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: _Id
    fps: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None
    page: str = ""
    ask: str | None = None
    benchmark: str | None = None
    split: str | None = None
    key: str | None = None
    video: str | None = None
    answer_span: tuple[_Seconds, _Seconds] | None = None


class _Task(BaseModel):
    data: _Data
    annotations: list[_Annotation]


def parse(document: list[Any], path: Path) -> tuple[list[Review], Counter[str]]:
    """Read an export (its format JSON, not JSON-MIN) -> a review for each annotator, and reason -> results left out.

    Cancelled annotations and regions without a range are left out and counted.

    Raises:
        InputError: It is no such export, or a task, an annotation or a range is wrong; the line
            names which.
    """
    ignored: Counter[str] = Counter()
    about: dict[str, dict[str, Any]] = {}
    latest: dict[tuple[str, str], tuple[_Annotation, Marks]] = {}  # by annotator and task
    first: _Data | None = None
    for number, entry in enumerate(document, start=1):
        where = f"{path}, task {number}"
        task = record_of(_Task, entry, where, _EXPORTED)
        data = task.data
        if data.id in about:
            raise InputError(
                f"{where}, field data.id: {data.id!r} occurs twice; export each task once"
            )
        first = first or data
        if data.page != first.page:
            raise InputError(
                f"{where}, field data.page: is of another page than task 1; summarize each by itself"
            )
        about[data.id] = {"video": data.key or data.video or data.id}
        if data.answer_span:
            about[data.id]["answer_span"] = data.answer_span
        for annotation in task.annotations:
            if annotation.was_cancelled:
                ignored["cancelled"] += 1
            elif marks := _marks(annotation, data, where, ignored):
                key = annotation.completed_by, data.id
                if key not in latest or annotation.created_at >= latest[key][0].created_at:
                    latest[key] = annotation, marks
    if first is None or not latest:
        raise InputError(
            f"{path}: nobody annotated a task in it; export the project once somebody did"
        )
    of_questions = first.ask == QUESTION_SPANS.name or any(
        "question" in marks for _, marks in latest.values()
    )
    kind = QUESTION_SPANS.name if of_questions else SPANS.name
    # The span that was asked for; an answer's span beside a question's is what that one is held
    # against.
    names = {"question": "span", "answer": "answer_span"} if of_questions else {"answer": "span"}
    names |= {"verdict": "verdict", "note": "note"}
    reviews = []
    for who in dict.fromkeys(who for who, _ in latest):
        theirs = {name: given for (by, name), given in latest.items() if by == who}
        said: dict[str, Any] = {
            "kind": KIND,
            "schema_version": 1,
            "ask": kind,
            "page": first.page,
            "benchmark": first.benchmark or "",
            "split": first.split or "",
            "reviewer": who,
            "saved": max(annotation.created_at for annotation, _ in theirs.values()),
            "total": len(document),
            "seconds": {
                name: annotation.lead_time or 0.0 for name, (annotation, _) in theirs.items()
            },
            "items": about,
            "marks": {
                name: {names[mark]: value for mark, value in marks.items() if mark in names}
                for name, (_, marks) in theirs.items()
            },
        }
        reviews.append(record_of(Review, said, str(path)))
    return reviews, ignored


def _marks(annotation: _Annotation, data: _Data, where: str, ignored: Counter[str]) -> Marks:
    """Return `answer` and `question` (spans in seconds), `verdict` and `note`, as far as they were given."""
    marks: Marks = {}
    for value in (result.value for result in annotation.result):
        if value.choices:
            marks["verdict"] = value.choices[0]
        if value.text is not None:
            marks["note"] = value.text if isinstance(value.text, str) else " ".join(value.text)
        if not value.label:
            continue
        if value.ranges:
            if data.fps is None:
                raise InputError(
                    f"{where}, field data.fps: expected the video's frames per second, found none"
                )
            span = [(value.ranges[0].start - 1) / data.fps, value.ranges[0].end / data.fps]
        elif value.start is not None and value.end is not None:
            span = [value.start, value.end]
        else:
            ignored["without_range"] += 1
            continue
        # One span was asked for: of several regions it is what they cover together.
        known = marks.get(value.label[0], span)
        marks[value.label[0]] = [min(known[0], span[0]), max(known[1], span[1])]
    return marks
