"""What an adapter of lmms-eval's is shown of a row's video: the frames asked for, made ready before it is asked.

lmms-eval throws a whole run away when a task's function raises while a model is being asked, so
nothing here does. It writes all prompts before it asks the first question; frames are decoded after
that, beside the asking, those asked for next first (`decoding_ahead`). A video that gives no frames
makes its questions unscored (`media_unreadable`): an answer to one is never taken for one to the
video, nor kept by lmms-eval's response cache, which knows a question by its prompt.
"""

import json
import logging
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from reelbench.base import settings
from reelbench.base.errors import ReelbenchError, first_line
from reelbench.base.files import write_text
from reelbench.registry.reasons import Reason
from reelbench.registry.rows import VIDEOS, Row
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
    """Return the sampling asked for: `REELBENCH_FRAMES`, else `frames` in the YAML's kwargs, else `native`."""
    if (chosen := settings.FRAMES.read(FrameSampling.parse)) is not None:
        return chosen
    spec = (kwargs or {}).get("frames")
    return FrameSampling.parse(str(spec)) if spec else FrameSampling()


def content(shown: Shown, language: str, *, as_data: bool) -> list[dict[str, Any]]:
    """Return the items of a chat message of lmms-eval's; with `as_data` a video is a data URL, for a server to read.

    Not the path then: the server may be on another machine, and one on this machine reads no files
    unless it was told. Pictures are handed over as lmms-eval's own tasks do, opened and not yet
    decoded; an adapter that sends them on gets their paths.
    """
    sent_on = adapters.sends(adapters.running)
    items: list[dict[str, Any]] = []
    for piece in shown.attachments(language):
        if isinstance(piece, str):
            items.append({"type": "text", "text": piece})
        elif piece.kind == "video_url" and as_data:
            items.append({"type": "video", "url": piece.data_url()})
        elif piece.kind == "image_url" and sent_on and isinstance(piece.data, Path):
            items.append({"type": "image", "url": StoredPicture.of(piece)})
        elif piece.kind == "image_url" and isinstance(piece.data, Path):
            from PIL import Image

            image = Image.open(piece.data)
            items.append(
                {"type": "image", "url": image if image.mode == "RGB" else image.convert("RGB")}
            )
        else:
            items.append({"type": piece.kind.removesuffix("_url"), "url": str(piece.data)})
    return items


_SAID = 600  # looks, a minute, after which the log says how far it is; then after two, four, ...

Video = tuple[str, str, str]
"""A benchmark, a split, and one of its videos."""

_shown_by: dict[tuple[str, str], "Frames"] = {}  # a benchmark's split -> what has frames to decode
_asking: "Asking | None" = None


@dataclass(eq=False)
class Asking:
    """How far a process has come with questions: those begun, the videos ready, and what it waits for."""

    questions: int
    videos: AbstractSet[Video]
    ahead: Ahead[Video]
    begun: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    ready: set[Video] = field(default_factory=set[Video])
    waiting: set[int] = field(default_factory=set[int])  # threads that wait for frames
    waits: Waits = field(default_factory=Waits)
    ended: threading.Event = field(default_factory=threading.Event)

    def __str__(self) -> str:
        """Return the videos that are ready, and what was waited for."""
        videos = (
            f"{len(self.ready & self.videos)} of {len(self.videos)} videos ready"
            if self.videos
            else ""
        )
        return ", ".join(filter(None, (videos, str(self.waits))))

    def look(self) -> None:
        """Look what is waited for until the asking ends, and tell of it now and then: in a file, and in the log."""
        folder, number, said, over = settings.PROGRESS.get(), 0, _SAID, False
        while not over:
            over = self.ended.wait(PAUSE_S)
            if not over:
                number += 1
                self.waits["frames" if self.waiting else "the model"] += 1
            if folder and (over or number % 10 == 0):
                told = {"done": len(self.begun), "of": self.questions, "line": str(self)}
                with suppress(OSError):  # whoever wanted to know has ended
                    write_text(Path(folder, f"{os.getpid()}.json"), json.dumps(told))
            if number == said:
                log.warning("%d of %d questions begun, %s", len(self.begun), self.questions, self)
                said *= 2


class Frames:
    """What the rows of one split are shown as; each row's frames are looked up once for a sampling."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._split = library.spec.id, library.split
        self._asked: set[FrameSampling] = set()
        self._shown: defaultdict[str, dict[tuple[FrameSampling, bool], Shown]] = defaultdict(
            dict
        )  # by the row's id
        self._locks: dict[str, threading.Lock] = {}
        _shown_by.pop(self._split, None)

    def prepared(self, row: Row, kwargs: Mapping[str, Any] | None) -> Shown | None:
        """Return the facts of a row's video before its frames are there; None where there is nothing to show.

        InputError where the sampling is not one: this runs when the task is loaded, so a wrong spec
        ends the run there.
        """
        wanted = sampling(kwargs)
        self._asked.add(wanted)
        sees = adapters.of(adapters.running).sees
        if (
            wanted.kind != "none"
            and sees
            and (known := self._shown_before(row, wanted)[0]) is not None
        ):
            return known
        if wanted.kind == "none" or not sees or not (wanted.decodes or self.library.in_pictures):
            said = wanted.subs == "file" and (wanted.kind == "none" or sees)
            return self._resolve(row, wanted) if said else None
        _shown_by[self._split] = self
        try:
            return Shown(subtitles=tuple(self.library.cues(row, wanted) or ()))
        except ReelbenchError:
            return self._resolve(row, wanted)

    def shown(self, row: Row, kwargs: Mapping[str, Any] | None) -> Shown:
        """Return a row's video as shown, ready for the model; never raises for what is wrong with its video."""
        asking = _asking
        if asking is not None:
            asking.ahead.reached((*self._split, row["video"]))
            asking.begun.add((*self._split, row["id"]))
            asking.waiting.add(threading.get_ident())
        try:
            shown = self._resolve(row, sampling(kwargs))
            if (
                shown.problem is None and not shown.still_there()
            ):  # hours may lie between two that ask for it
                self._shown[row["id"]].clear()
                shown = self._resolve(row, sampling(kwargs))
        finally:
            if asking is not None:
                asking.waiting.discard(threading.get_ident())
        return shown

    def make_ready(self, row: Row) -> None:
        """Make a row's frames ready, where it is known which are asked for."""
        if (only := self._only()) is not None:
            self._resolve(row, only)

    def problem(self, row: Row) -> str | None:
        """Return why a row can't be shown, as far as anybody tried."""
        return next(
            (shown.problem for shown in self._shown[row["id"]].values() if shown.problem), None
        )

    def delivered(self) -> str | None:
        """Return the sampling as an adapter was shown it, where it isn't the one asked for; None too where unknown."""
        if (only := self._only()) is None:
            return None
        shown = self._form(only)
        as_ever = adapters.sends(adapters.running) and shown.times == only.times
        return None if as_ever or shown == only else str(shown)

    def refuse(self, row: Row, asked: FrameSampling, why: str) -> None:
        """Note that a row can't be shown as it was asked for; its question is then unscored."""
        known, wanted, even = self._shown_before(row, asked)
        if known is None or known.problem is None:
            known = self._not_shown(row, why)
        self._shown[row["id"]][wanted, even] = known

    def recorded(self, row: Row) -> Shown:
        """Return a row's video as it was shown; nothing is known where two samplings were asked for."""
        only, sees = self._only(), adapters.of(adapters.running).sees
        if (
            only is not None
            and sees
            and (only.kind == "none" or only.decodes or only.subs == "file")
        ):
            return self._resolve(row, only)
        return Shown(problem=self.problem(row))

    def _only(self) -> FrameSampling | None:
        return next(iter(self._asked)) if len(self._asked) == 1 else None

    def _form(self, wanted: FrameSampling) -> FrameSampling:
        """Return a sampling in the form that the adapter takes; several videos are pictures."""
        shown = adapters.adapt(adapters.running, wanted, self.library.spec.row_kind)
        return shown.as_images() if shown.decodes and VIDEOS in self.library.spec.columns else shown

    def _shown_before(
        self, row: Row, wanted: FrameSampling
    ) -> tuple[Shown | None, FrameSampling, bool]:
        """Return a row's video as it was shown before, and the form that the adapter takes: a sampling, even or not."""
        wanted = self._form(wanted)
        # Images are taken one by one: only a clip is read in pairs.
        even = wanted.form == "clip" and adapters.of(adapters.running).even
        return self._shown[row["id"]].get((wanted, even)), wanted, even

    def _resolve(self, row: Row, wanted: FrameSampling) -> Shown:
        with self._locks.setdefault(
            row["video"], threading.Lock()
        ):  # decoded once, whoever comes first
            known, wanted, even = self._shown_before(row, wanted)
            if known is None:
                try:
                    known = show(self.library, row, wanted, even=even)
                except Exception as error:  # noqa: BLE001 - lmms-eval throws the whole run away for one video
                    ours = isinstance(error, ReelbenchError)
                    why = str(error) if ours else f"{type(error).__name__}: {first_line(error)}"
                    known = self._not_shown(row, why)
                self._shown[row["id"]][wanted, even] = known
            if _asking is not None:
                _asking.ready.add((*self._split, row["video"]))
            return known

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
    """Decode the videos of questions, in their order, while the block asks them; say at its end what it waited for."""
    global _asking  # noqa: PLW0603 - what this process does
    work: dict[Video, Callable[[], object]] = {}
    number = 0
    for spec, row in questions:
        number += 1
        if (shown_by := _shown_by.get((spec.id, row["split"]))) is not None:
            work.setdefault(
                (spec.id, row["split"], row["video"]), partial(shown_by.make_ready, row)
            )
    if not number:
        yield
        return
    _asking = asking = Asking(number, work.keys(), Ahead(work))
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
            log.warning("%d questions asked, %s", number, asking)


def problem(spec: BenchmarkSpec, row: Row) -> str | None:
    """Return why a row of a benchmark can't be shown, as far as anybody tried."""
    shown_by = _shown_by.get((spec.id, row["split"]))
    return shown_by.problem(row) if shown_by is not None else None
