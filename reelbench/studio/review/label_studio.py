"""To Label Studio and back, for teams that have its server.

Tasks and configuration go out, its JSON export comes in. Its video timeline counts frames from 1,
whole ones, the last of a range included (HumanSignal/label-studio at 025bce5, TimelineRegion.js),
so a range from frame s to frame e is the time from (s - 1) / fps to e / fps.
"""

import math
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple
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
_ROUNDING = 1e-6
"""Frames this close to an edge stand on it."""

_CONFIG = """<View>
 <Header value="$question"/>
 <Text name="answer" value="$answer"/>
 <Video name="video" value="$video" frameRate="$fps" timelineHeight="120"/>
 <TimelineLabels name="span" toName="video">{labels}</TimelineLabels>
 <Choices name="verdict" toName="video" choice="single">\
<Choice value="ok"/><Choice value="bad"/></Choices>
 <TextArea name="comment" toName="video" placeholder="{hint}"/>
</View>
"""


CONFIG = "config.xml"
TASKS = "tasks.json"
_EXPORTED = (
    "; export the project whole as JSON (not JSON-MIN or CSV), of the tasks that Reelbench wrote "
    "(--as label-studio)"
)


# --- out
# -------------------------------------------------------------------------------------------------


class WrittenTasks(NamedTuple):
    """The number of tasks, and the videos that are not here.

    Their rate is the default.
    """

    tasks: int
    missing: list[str]


class _Video(NamedTuple):
    """A video's address, and its frames per second."""

    address: str
    fps: float


def write(content: Content, folder: Path, media_url: str, data: Path | None = None) -> WrittenTasks:
    """Write `CONFIG` and `TASKS` of spans or question spans to `folder`, made if needed.

    `media_url` stands before a video's path: an address, or `/data/local-files/?d=` and a folder.
    """
    if content.kind not in KINDS:
        names = " or ".join(kind.name for kind in KINDS)
        raise InputError(f"--as label-studio takes --ask {names}; for the others use a review page")
    library = Library(content.spec, content.split, data)
    videos: dict[str, _Video] = {}
    missing: list[str] = []
    for video, row in content.rows.items():
        path = pages.find_video(library, row)
        if path is None:
            missing.append(video)
        address = media_url + quote(library.path_below_root(row, path))
        videos[video] = _Video(address, _rate_of(path))
    page = pages.fingerprint(content)
    tasks: list[dict[str, Any]] = []
    for place in content.places:
        tasks += [
            _label_studio_task(content, page, item, videos[place.video]) for item in place.items
        ]
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / CONFIG, _labelling_config(content))
    write_json(folder / TASKS, tasks)
    return WrittenTasks(len(tasks), missing)


def _rate_of(path: Path | None) -> float:
    if path is not None:
        with suppress(MediaError):
            return pages.read_rate(path).fps or FPS
    return FPS


def _labelling_config(content: Content) -> str:
    labels = ["question", "answer"] if content.kind is QUESTION_SPANS else ["answer"]
    return _CONFIG.format(
        labels="".join(f'<Label value="{label}"/>' for label in labels),
        hint=escape(content.kind.advice[1], {'"': "&quot;"}),
    )


def _label_studio_task(content: Content, page: str, item: Item, video: _Video) -> dict[str, Any]:
    texts: dict[str, str] = {}
    for show in item["shows"]:
        if show["type"] == "text":
            subject = show["heading"].split(" ")[0].lower()
            texts[subject] = show["text"]
    data = {
        "id": item["id"],
        "video": video.address,
        "fps": video.fps,
        "question": texts["question"],
        "answer": texts["answer"],
        "page": page,
        "ask": content.kind.name,
        "benchmark": content.spec.id,
        "split": content.split,
        "key": item["about"]["video"],
    }
    task: dict[str, Any] = {"data": data}
    span = item["about"].get("answer_span")
    if span:
        data["answer_span"] = span
        result = [region("answer", span, video.fps)]
        task["predictions"] = [{"model_version": "published", "score": 1.0, "result": result}]
    return task


def region(label: str, span: tuple[float, float] | list[float], fps: float) -> dict[str, Any]:
    """Return a span in seconds as a region: the frames that it touches."""
    start = math.floor(span[0] * fps + _ROUNDING) + 1
    end = math.ceil(span[1] * fps - _ROUNDING)
    ranges = [{"start": start, "end": max(start, end)}]
    return {
        "id": label,
        "from_name": "span",
        "to_name": "video",
        "type": "timelinelabels",
        "value": {"ranges": ranges, "timelinelabels": [label]},
    }


# --- an export
# -------------------------------------------------------------------------------------------------


def _column_name(value: object) -> str:
    if not is_id(value):
        raise ValueError("expected a text or a whole number")
    return str(value)


def _in_order(end: float, info: ValidationInfo) -> float:
    if end < info.data.get("start", end):
        raise ValueError("expected an end that is not before the start")
    return end


def _with_zone(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _name_of_user(user: Any) -> Any:  # noqa: ANN401 - as the export has it
    if is_object(user):
        return user.get("email") or user.get("id")
    return user


_Id = Annotated[Any, AfterValidator(_column_name)]
_When = Annotated[datetime, AfterValidator(_with_zone)]
_Frame = Annotated[int, Field(strict=True, ge=1)]
_Seconds = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class _Frames(BaseModel):
    start: _Frame
    end: Annotated[_Frame, AfterValidator(_in_order)]


class _Value(BaseModel):
    """A region, a verdict or a comment.

    A region is of a video (in frames) or of the audio template (in seconds).
    """

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
    completed_by: Annotated[_Id, BeforeValidator(_name_of_user)]
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


class Export(NamedTuple):
    """A review for each annotator, and reason -> results that were left out."""

    reviews: list[Review]
    ignored: Counter[str]


class _Annotated(NamedTuple):
    """An annotation of a task, and its marks."""

    annotation: _Annotation
    marks: Marks


def parse(document: list[Any], path: Path) -> Export:
    """Read an export (its format JSON, not JSON-MIN).

    Cancelled annotations and regions without a range are left out and counted.

    Raises:
        InputError: It is no such export, or a task, an annotation or a range is wrong. The line
            names which.
    """
    ignored: Counter[str] = Counter()
    items: dict[str, dict[str, Any]] = {}
    latest: dict[str, dict[str, _Annotated]] = {}
    first: _Data | None = None
    for number, entry in enumerate(document, start=1):
        where = f"{path}, task {number}"
        task = record_of(_Task, entry, where, _EXPORTED)
        data = task.data
        first = first or data
        if data.id in items:
            raise InputError(
                f"{where}, field data.id: {data.id!r} occurs twice; export each task once"
            )
        if data.page != first.page:
            raise InputError(
                f"{where}, field data.page: is from a different page than task 1; summarize each "
                "page separately"
            )
        items[data.id] = {"video": data.key or data.video or data.id}
        if data.answer_span:
            items[data.id]["answer_span"] = data.answer_span
        for annotation in task.annotations:
            if annotation.was_cancelled:
                ignored["cancelled"] += 1
                continue
            marks = _annotation_marks(annotation, data, where, ignored)
            if marks:
                by_task = latest.setdefault(annotation.completed_by, {})
                earlier = by_task.get(data.id)
                if earlier is None or annotation.created_at >= earlier.annotation.created_at:
                    by_task[data.id] = _Annotated(annotation, marks)
    if first is None or not latest:
        raise InputError(f"{path}: no task in it is annotated; export the project when some are")
    shared = {
        "kind": KIND,
        "schema_version": 1,
        "ask": _kind_of(first, latest),
        "page": first.page,
        "benchmark": first.benchmark or "",
        "split": first.split or "",
        "total": len(document),
        "items": items,
    }
    reviews: list[Review] = []
    for reviewer, by_task in latest.items():
        own_fields = _fields_of_reviewer(by_task, shared["ask"])
        fields = {**shared, "reviewer": reviewer, **own_fields}
        reviews.append(record_of(Review, fields, str(path)))
    return Export(reviews, ignored)


def _kind_of(first: _Data, latest: Mapping[str, Mapping[str, _Annotated]]) -> str:
    """Return the kind of the tasks.

    It is question spans where the tasks say so, or any was marked.
    """
    if first.ask == QUESTION_SPANS.name:
        return QUESTION_SPANS.name
    for by_task in latest.values():
        if any("question" in annotated.marks for annotated in by_task.values()):
            return QUESTION_SPANS.name
    return SPANS.name


def _fields_of_reviewer(by_task: Mapping[str, _Annotated], kind: str) -> dict[str, Any]:
    """Return an annotator's own fields of a review."""
    # An answer's span beside a question's is not the span that was asked for: the question's is
    # compared with it.
    our_names = {"answer": "span"}
    if kind == QUESTION_SPANS.name:
        our_names = {"question": "span", "answer": "answer_span"}
    our_names |= {"verdict": "verdict", "note": "note"}
    seconds: dict[str, float] = {}
    marks: dict[str, Marks] = {}
    times_saved: list[datetime] = []
    for task, (annotation, task_marks) in by_task.items():
        seconds[task] = annotation.lead_time or 0.0
        times_saved.append(annotation.created_at)
        our_marks: Marks = {}
        for mark, value in task_marks.items():
            if mark in our_names:
                our_marks[our_names[mark]] = value
        marks[task] = our_marks
    return {
        "saved": max(times_saved),
        "seconds": seconds,
        "marks": marks,
    }


def _annotation_marks(
    annotation: _Annotation, data: _Data, where: str, ignored: Counter[str]
) -> Marks:
    """Return `answer` and `question` (spans in seconds), `verdict` and `note`, if any."""
    marks: Marks = {}
    for result in annotation.result:
        value = result.value
        if value.choices:
            marks["verdict"] = value.choices[0]
        if value.text is not None:
            marks["note"] = value.text if isinstance(value.text, str) else " ".join(value.text)
        if not value.label:
            continue
        span = _span_of(value, data, where)
        if span is None:
            ignored["without_range"] += 1
            continue
        # One span was asked for: of several regions it is what they cover together.
        label = value.label[0]
        start, end = marks.get(label, span)
        marks[label] = [min(start, span[0]), max(end, span[1])]
    return marks


def _span_of(value: _Value, data: _Data, where: str) -> list[float] | None:
    """Return a region's span in seconds.

    None where it has no range.
    """
    if value.ranges:
        if data.fps is None:
            raise InputError(
                f"{where}, field data.fps: expected the video's frames per second, found none"
            )
        frames = value.ranges[0]
        return [(frames.start - 1) / data.fps, frames.end / data.fps]
    if value.start is None or value.end is None:
        return None
    return [value.start, value.end]
