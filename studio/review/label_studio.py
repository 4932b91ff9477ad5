"""To Label Studio and back, for teams that have its server: tasks and configuration out, its JSON export in.

Its video timeline counts frames from 1, whole ones, the last of a range included (HumanSignal/label-studio at 025bce5,
TimelineRegion.js), so a range from frame s to frame e is the time from (s - 1) / fps to e / fps.
"""

import math
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape

from reelbench.registry.errors import InputError, MediaError
from reelbench.registry.files import write_json, write_text
from reelbench.registry.media.library import Library
from reelbench.registry.values import is_id, is_number, is_whole
from reelbench.studio.review import KindName, pages
from reelbench.studio.review.review_items import Item
from reelbench.studio.review.review_kind import KIND, Content, Marks, Review
from reelbench.studio.review.spans import QUESTION_SPANS, SPANS

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


def write(content: Content, folder: Path, media_url: str, data: Path | None = None) -> tuple[int, list[str]]:
    """Write `CONFIG` and `TASKS` of spans or question spans to `folder`, made if needed.

    `media_url` stands before a video's path: an address, or `/data/local-files/?d=` and a folder. Returns the number of
    tasks, and the videos that are not here: their rate is Label Studio's default.
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
                fps = pages.read_clock(path).fps
        known[video] = pages.path_in_library(library, row, path), fps or FPS
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
    texts = {show["heading"].split(" ")[0].lower(): show["text"] for show in item["shows"] if show["type"] == "text"}
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
        task["predictions"] = [{"model_version": "published", "score": 1.0, "result": [region("answer", span, fps)]}]
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


@dataclass(slots=True)
class _Task:
    where: str
    data: dict[str, Any]
    ignored: Counter[str]

    @property
    def fps(self) -> float:
        fps = self.data.get("fps")
        try:
            rate = float(fps) if not isinstance(fps, bool) else math.nan  # type: ignore[arg-type]
        except (TypeError, ValueError):
            rate = math.nan
        if not (math.isfinite(rate) and rate > 0):
            raise InputError(f"{self.where}, field data.fps: expected the video's frames per second, found {fps!r:.40}")
        return rate


def parse(document: list[Any], path: Path) -> tuple[list[Review], Counter[str]]:
    """Read an export (its format JSON, not JSON-MIN) -> a review for each annotator, and reason -> results left out.

    Cancelled annotations and timeline results without a range are left out and counted.

    Raises:
        InputError: It is no such export, or a task, an annotation or a range is wrong; the line names which.
    """
    if not document:
        raise InputError(f"{path}: no tasks in it; export the project once something is annotated")
    ignored: Counter[str] = Counter()
    people: dict[str, dict[str, tuple[str, Marks]]] = {}
    about: dict[str, dict[str, Any]] = {}
    spent: dict[str, dict[str, float]] = {}
    pages: dict[str, int] = {}
    first: dict[str, Any] | None = None
    asked_question = False
    for number, entry in enumerate(document, start=1):
        task = _task_of(entry, f"{path}, task {number}", ignored)
        identifier = str(task.data["id"])
        if identifier in about:
            raise InputError(f"{task.where}, field data.id: {identifier!r} occurs twice; export each task once")
        pages.setdefault(str(task.data.get("page", "")), number)
        if len(pages) > 1:
            raise InputError(f"{task.where}, field data.page: is of another page than task 1; summarize each by itself")
        first = first or task.data
        about[identifier] = {"video": str(task.data.get("key") or task.data.get("video") or identifier)}
        if task.data.get("answer_span"):
            about[identifier]["answer_span"] = task.data["answer_span"]
        for place, annotation in enumerate(entry["annotations"], start=1):
            where = f"{task.where}, annotation {place}"
            if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
                raise InputError(f"{where}, field result: expected a list of results; is the export whole?")
            if annotation.get("was_cancelled"):
                ignored["cancelled"] += 1
                continue
            marks = _marks(annotation["result"], task, where)
            asked_question |= "question" in marks
            by = annotation.get("completed_by")
            name = by.get("email") or by.get("id") if isinstance(by, dict) else by
            if not is_id(name):
                raise InputError(
                    f"{where}, field completed_by: expected the annotator's number or e-mail, found {by!r:.60}"
                )
            who, made = str(name), str(annotation.get("created_at") or "")
            theirs = people.setdefault(who, {})
            if marks and (identifier not in theirs or made >= theirs[identifier][0]):
                theirs[identifier] = made, marks
                spent.setdefault(who, {})[identifier] = float(annotation.get("lead_time") or 0)
    if first is None or not any(people.values()):
        raise InputError(f"{path}: nobody annotated a task in it; export the project once somebody did")
    asks_question = first.get("ask") == KindName.QUESTION_SPANS or asked_question
    kind = KindName.QUESTION_SPANS if asks_question else KindName.SPANS
    reviews = [
        Review(
            kind=KIND,
            schema_version=1,
            ask=kind,
            page=next(iter(pages)),
            benchmark=str(first.get("benchmark") or ""),
            split=str(first.get("split") or ""),
            reviewer=who,
            saved=_when(annotated.values()),
            total=len(document),
            seconds=spent.get(who, {}),
            items=about,
            marks={name: _of_kind(marks, kind) for name, (_, marks) in annotated.items()},
        )
        for who, annotated in people.items()
        if annotated
    ]
    return reviews, ignored


def _task_of(entry: object, where: str, ignored: Counter[str]) -> _Task:
    if not isinstance(entry, dict) or not isinstance(entry.get("annotations"), list):
        raise InputError(f'{where}, field "annotations": is missing; export the project as JSON (not JSON-MIN or CSV)')
    data = entry.get("data")
    if not isinstance(data, dict) or not is_id(data.get("id")):
        raise InputError(
            f"{where}, field data.id: is missing; the tasks must be those of `reelbench review page --as label-studio`"
        )
    return _Task(where, data, ignored)


def _marks(results: list[Any], task: _Task, where: str) -> dict[str, Any]:
    """Return `answer` and `question` (spans in seconds), `verdict` and `note`, as far as they were given."""
    marks: dict[str, Any] = {}
    for number, result in enumerate(results, start=1):
        at = f"{where}, result {number}"
        if not isinstance(result, dict) or not isinstance(result.get("value"), dict):
            raise InputError(f"{at}, field value: expected an object; is the export whole?")
        value, kind = result["value"], result.get("type")
        if kind in ("timelinelabels", "labels") and (span := _span(value, kind, task, at)) is not None:
            labels = value.get(kind)
            if labels not in (["answer"], ["question"]):
                raise InputError(f'{at}, its label: expected ["answer"] or ["question"], found {labels!r:.60}')
            # One span was asked for: of several regions it is what they cover together.
            known = marks.get(labels[0], span)
            marks[labels[0]] = [min(known[0], span[0]), max(known[1], span[1])]
        elif kind == "choices":
            choices = value.get("choices")
            if choices not in (["ok"], ["bad"]):
                raise InputError(f'{at}, field value.choices: expected ["ok"] or ["bad"], found {choices!r:.60}')
            marks["verdict"] = choices[0]
        elif kind == "textarea":
            text = value.get("text")
            marks["note"] = " ".join(map(str, text)) if isinstance(text, list) else str(text or "")
    return marks


def _span(value: dict[str, Any], kind: str, task: _Task, at: str) -> list[float] | None:
    """Return a region in seconds, as the audio template's are; None of a timeline's without a range of frames."""
    if kind == "labels":
        start, end = value.get("start"), value.get("end")
        if not (is_number(start) and is_number(end) and 0 <= start <= end):
            raise InputError(
                f"{at}, field value: expected start and end in seconds, found {start!r:.20} and {end!r:.20}"
            )
        return [float(start), float(end)]
    ranges = value.get("ranges")
    if not ranges:
        task.ignored["without_range"] += 1
        return None
    known = ranges[0] if isinstance(ranges, list) and len(ranges) == 1 else None
    start, end = (known.get("start"), known.get("end")) if isinstance(known, dict) else (None, None)
    if not (is_whole(start) and is_whole(end) and 1 <= start <= end):
        raise InputError(f"{at}, field value.ranges: expected one range of frames from 1 up, found {ranges!r:.60}")
    return [(start - 1) / task.fps, end / task.fps]


def _of_kind(marks: dict[str, Any], kind: KindName) -> Marks:
    """Name the span that was asked for; an answer's span beside a question's is what that one is held against."""
    wanted = "question" if kind is KindName.QUESTION_SPANS else "answer"
    named = {name: marks[name] for name in ("verdict", "note") if name in marks}
    if kind is KindName.QUESTION_SPANS and "answer" in marks:
        named["answer_span"] = marks["answer"]
    return {**named, "span": marks[wanted]} if wanted in marks else named


def _when(annotated: Any) -> datetime:  # noqa: ANN401 - the values of a dict
    times = []
    for made, _ in annotated:
        try:
            when = datetime.fromisoformat(made)
        except ValueError:
            continue
        times.append(when if when.tzinfo else when.replace(tzinfo=UTC))
    return max(times, default=datetime.fromtimestamp(0, UTC))
