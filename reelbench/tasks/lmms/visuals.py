"""Show an adapter of lmms-eval's the frames asked for, made ready before it is asked.

lmms-eval throws a whole run away when a task's function raises while a model is being asked, so
nothing here does. It writes all prompts before it asks the first question. Frames are decoded after
that, beside the asking, those asked for next first (`decoding_ahead`). A video that gives no frames
makes its questions unscored (`media_unreadable`): an answer to one is never taken for one to the
video, nor kept by lmms-eval's response cache, which knows a question by its prompt.
"""

import json
import logging
import os
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base import settings
from reelbench.base.errors import ReelbenchError, failure_in_a_line
from reelbench.base.files import write_text
from reelbench.base.picture_files import open_rgb
from reelbench.registry.reasons import Reason
from reelbench.registry.row_columns import PICTURES, VIDEOS
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.lmms import adapters
from reelbench.tasks.lmms.arrivals import StoredPicture
from reelbench.video.decode_ahead import PAUSE_S, Ahead, Waits
from reelbench.video.library import Library
from reelbench.video.shown_media import Shown, show

log = logging.getLogger("reelbench")

NOT_SHOWN = "(The video can't be shown.)"
"""Ends the prompt of a question whose video can't be shown."""


def sampling(kwargs: Mapping[str, Any] | None = None) -> FrameSampling:
    """Return the sampling asked for.

    It is that of `REELBENCH_FRAMES`, else `frames` in the YAML's kwargs, else `native`.
    """
    chosen = settings.FRAMES.read(FrameSampling.parse)
    if chosen is not None:
        return chosen
    spec = (kwargs or {}).get("frames")
    return FrameSampling.parse(str(spec)) if spec else FrameSampling()


def content(view: Shown, language: str, *, as_data: bool) -> list[dict[str, Any]]:
    """Return the items of a chat message of lmms-eval's.

    With `as_data` a video is a data URL, for a server to read. Not the path then: the server may be
    on another machine, and one on this machine reads no files unless it was told. Pictures are
    handed over as lmms-eval's own tasks do, opened and not yet decoded. An adapter that sends them
    on gets their paths.
    """
    sent_on = adapters.sends_pictures(adapters.running)
    items: list[dict[str, Any]] = []
    for piece in view.attachments(language):
        if isinstance(piece, str):
            items.append({"type": "text", "text": piece})
        elif piece.kind == "video_url" and as_data:
            items.append({"type": "video", "url": piece.data_url()})
        elif piece.kind == "image_url" and isinstance(piece.data, Path):
            url = StoredPicture.of(piece) if sent_on else open_rgb(piece.data)
            items.append({"type": "image", "url": url})
        else:
            kind = piece.kind.removesuffix("_url")
            items.append({"type": kind, "url": str(piece.data)})
    return items


_FIRST_NOTE = (
    600  # looks, a minute, after which the log says how far it is; then after two, four, ...
)
_LOOKS_A_REPORT = 10

Video = tuple[str, str, str]
"""A benchmark, a split, and one of its videos."""

_frames_by_split: dict[tuple[str, str], "Frames"] = {}  # those that have frames to decode
_asking: "Asking | None" = None


@dataclass(eq=False)
class Asking:
    """The progress of a process with its questions.

    It has the questions that are begun, the videos that are ready, and the threads that wait for
    frames.
    """

    questions: int
    videos: AbstractSet[Video]
    ahead: Ahead[Video]
    begun: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    ready: set[Video] = field(default_factory=set[Video])
    waiting: set[int] = field(default_factory=set[int])
    waits: Waits = field(default_factory=Waits)
    ended: threading.Event = field(default_factory=threading.Event)

    def __str__(self) -> str:
        """Return the videos that are ready, and what was waited for."""
        parts: list[str] = []
        if self.videos:
            ready = len(self.ready & self.videos)
            parts.append(f"{ready} of {len(self.videos)} videos ready")
        waits = str(self.waits)
        if waits:
            parts.append(waits)
        return ", ".join(parts)

    def look(self) -> None:
        """Look what is waited for until the asking ends.

        Report it now and then: in a file, and in the log.
        """
        looks = 0
        next_note = _FIRST_NOTE
        while not self.ended.wait(PAUSE_S):
            looks += 1
            self.waits["frames" if self.waiting else "the model"] += 1
            if looks % _LOOKS_A_REPORT == 0:
                self._report()
            if looks == next_note:
                log.warning("%d of %d questions begun, %s", len(self.begun), self.questions, self)
                next_note *= 2
        self._report()

    def _report(self) -> None:
        folder = settings.PROGRESS.get()
        if folder:
            progress = {"done": len(self.begun), "of": self.questions, "line": str(self)}
            with suppress(OSError):  # whoever wanted to know has ended
                write_text(Path(folder, f"{os.getpid()}.json"), json.dumps(progress))


class _Form(NamedTuple):
    """The form that an adapter takes. `even` where a clip is of pairs of frames."""

    sampling: FrameSampling
    even: bool


class Frames:
    """The videos of one split's rows as they are shown.

    Each row's frames are looked up once for a sampling.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._split = library.spec.id, library.split
        self._samplings: set[FrameSampling] = set()
        self._views: dict[str, dict[_Form, Shown]] = {}  # by the row's id
        self._locks: dict[str, threading.Lock] = {}
        _frames_by_split.pop(self._split, None)

    def prepared(self, row: Row, kwargs: Mapping[str, Any] | None) -> Shown | None:
        """Return the facts of a row's video before its frames are there.

        None where there is nothing to show.

        Raises:
            InputError: The sampling is not one. As this runs when the task is loaded, a wrong spec
                ends the run there.
        """
        asked_sampling = sampling(kwargs)
        self._samplings.add(asked_sampling)
        sees = adapters.adapter_named(adapters.running).sees
        is_none = asked_sampling.kind == "none"
        if sees and not is_none:
            shown_before = self._views_of(row).get(self._sampling_for_adapter(asked_sampling))
            if shown_before is not None:
                return shown_before
        has_frames = asked_sampling.decodes or self.library.in_pictures
        if is_none or not sees or not has_frames:
            has_subtitles = asked_sampling.subs == "file" and (is_none or sees)
            return self._shown_video(row, asked_sampling) if has_subtitles else None
        _frames_by_split[self._split] = self
        try:
            return Shown(subtitles=tuple(self.library.cues(row, asked_sampling) or ()))
        except ReelbenchError:
            return self._shown_video(row, asked_sampling)

    def view(self, row: Row, kwargs: Mapping[str, Any] | None) -> Shown:
        """Return a row's video as shown, ready for the model.

        It never raises for a fault of its video.
        """
        asking = _asking
        if asking is not None:
            asking.ahead.reached((*self._split, row["video"]))
            asking.begun.add((*self._split, row["id"]))
            asking.waiting.add(threading.get_ident())
        try:
            view = self._shown_video(row, sampling(kwargs))
            # Hours may lie between two that ask for it.
            if view.problem is None and not view.files_exist():
                self._views_of(row).clear()
                view = self._shown_video(row, sampling(kwargs))
        finally:
            if asking is not None:
                asking.waiting.discard(threading.get_ident())
        return view

    def make_ready(self, row: Row) -> None:
        """Make a row's frames ready, where it is known which are asked for."""
        only = self._only_sampling()
        if only is not None:
            self._shown_video(row, only)

    def problem(self, row: Row) -> str | None:
        """Return why a row can't be shown, as far as anybody tried."""
        for view in self._views_of(row).values():
            if view.problem:
                return view.problem
        return None

    def delivered(self) -> str | None:
        """Return the sampling as an adapter got it, where it isn't the one asked for.

        None too where it is not known.
        """
        only = self._only_sampling()
        if only is None:
            return None
        form = self._sampling_for_adapter(only).sampling
        is_usual = adapters.sends_pictures(adapters.running) and form.times == only.times
        return None if is_usual or form == only else str(form)

    def refuse(self, row: Row, asked_sampling: FrameSampling, why: str) -> None:
        """Note that a row can't be shown as asked. Its question is then unscored."""
        views = self._views_of(row)
        form = self._sampling_for_adapter(asked_sampling)
        view = views.get(form)
        if view is None or view.problem is None:
            views[form] = self._not_shown(row, why)

    def recorded(self, row: Row) -> Shown:
        """Return a row's video as it was shown.

        Nothing is known where two samplings were asked for.
        """
        only = self._only_sampling()
        if only is not None and adapters.adapter_named(adapters.running).sees:
            is_known = only.kind == "none" or only.decodes or only.subs == "file"
            if is_known:
                return self._shown_video(row, only)
        return Shown(problem=self.problem(row))

    def _views_of(self, row: Row) -> dict[_Form, Shown]:
        """Return a row's video as it was shown, by form."""
        return self._views.setdefault(row["id"], {})

    def _only_sampling(self) -> FrameSampling | None:
        return next(iter(self._samplings)) if len(self._samplings) == 1 else None

    def _sampling_for_adapter(self, asked_sampling: FrameSampling) -> _Form:
        """Return a sampling in the form that the adapter takes.

        Several videos, and a video with pictures beside it, are pictures.
        """
        spec = self.library.spec
        adapter = adapters.adapter_named(adapters.running)
        form = adapters.adapt(adapters.running, asked_sampling, spec.row_kind)
        if form.decodes and {VIDEOS, PICTURES} & set(spec.columns):
            form = form.as_images()
        # Images are taken one by one: only a clip is read in pairs.
        even = form.form == "clip" and adapter.even
        return _Form(form, even)

    def _shown_video(self, row: Row, asked_sampling: FrameSampling) -> Shown:
        """Return a row's video as shown. It is decoded once, whoever comes first."""
        with self._locks.setdefault(row["video"], threading.Lock()):
            views = self._views_of(row)
            form = self._sampling_for_adapter(asked_sampling)
            if form not in views:
                views[form] = self._decode_video(row, form)
            view = views[form]
            if _asking is not None:
                _asking.ready.add((*self._split, row["video"]))
            return view

    def _decode_video(self, row: Row, form: _Form) -> Shown:
        try:
            return show(self.library, row, form.sampling, even=form.even)
        except Exception as error:  # noqa: BLE001 - lmms-eval throws the whole run away for one video
            return self._not_shown(row, failure_in_a_line(error))

    def _not_shown(self, row: Row, why: str) -> Shown:
        log.warning(
            "%s: %s is not shown (%s): %s",
            self.library.spec.id,
            row["id"],
            Reason.MEDIA_UNREADABLE,
            why,
        )
        return Shown(problem=why)


@contextmanager
def decoding_ahead(questions: Iterable[tuple[BenchmarkSpec, Row]]) -> Generator[None]:
    """Decode the videos of questions, in their order, while the block asks them.

    At its end the log says what it waited for.
    """
    global _asking  # noqa: PLW0603 - what this process does
    work: dict[Video, Callable[[], object]] = {}
    count = 0
    for spec, row in questions:
        count += 1
        frames = _frames_by_split.get((spec.id, row["split"]))
        if frames is not None:
            video = (spec.id, row["split"], row["video"])
            work.setdefault(video, partial(frames.make_ready, row))
    if not count:
        yield
        return
    asking = Asking(count, work.keys(), Ahead(work))
    _asking = asking
    looking = threading.Thread(target=asking.look, name="reelbench-waits", daemon=True)
    looking.start()
    try:
        with asking.ahead:
            yield
    finally:
        _asking = None
        asking.ended.set()
        looking.join()
        if asking.waits.worth_saying():
            log.warning("%d questions asked, %s", count, asking)


def problem(spec: BenchmarkSpec, row: Row) -> str | None:
    """Return why a row of a benchmark can't be shown, as far as anybody tried."""
    frames = _frames_by_split.get((spec.id, row["split"]))
    return None if frames is None else frames.problem(row)
