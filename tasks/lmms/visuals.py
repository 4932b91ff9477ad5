"""What a model is shown of a row's video: the frames that were asked for, made ready before the model is asked.

lmms-eval throws a whole run away when a task's function raises while a model is being asked, and its response cache
knows a question by its prompt. So frames are decoded when the prompt is written, which is before any model runs, for
the questions that `--limit` and the rank leave. A video that gives no frames makes its questions unscored
(`media_unreadable`): the prompt then says so, and an answer to it is never taken for one to the video.
"""

import logging
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.registry.errors import ReelbenchError, first_line
from reelbench.registry.frames.sampling import FrameSampling, time_mark
from reelbench.registry.frames.stored import Sound, note_use
from reelbench.registry.languages import seconds_word
from reelbench.registry.media.library import Library
from reelbench.registry.media.subtitles import Cue, written
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Audio
from reelbench.registry.rows import Row
from reelbench.tasks.lmms import adapters

if TYPE_CHECKING:
    from PIL.Image import Image

log = logging.getLogger("reelbench")

NOT_SHOWN = "(The video can't be shown.)"
"""Ends the prompt of a question whose video can't be shown."""


def sampling(kwargs: Mapping[str, Any] | None = None) -> FrameSampling:
    """Return the sampling asked for: `REELBENCH_FRAMES`, else `frames` in the YAML's kwargs, else `native`."""
    if (chosen := FrameSampling.from_environment()) is not None:
        return chosen
    spec = (kwargs or {}).get("frames")
    return FrameSampling.parse(str(spec)) if spec else FrameSampling()


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown for one row: a `video`, `images`, or neither.

    `timestamps` are those of the frames (s), or None where the model samples by itself; the last `padding` of them
    are repeats. `problem` says why nothing can be shown. `audio` is what became of the video's sound; None where the
    video itself is handed over, and nobody knows whether its sound is listened to. `timed`: each picture goes with the
    time when it is on screen. `subtitles` are those of the frames' time; None where none are asked for.
    """

    video: Path | None = None
    images: tuple[Path, ...] = ()
    timestamps: tuple[float, ...] | None = None
    padding: int = 0
    problem: str | None = None
    audio: Sound | None = None
    timed: bool = False
    subtitles: tuple[Cue, ...] | None = None

    @property
    def lines(self) -> int | None:
        """How many lines of subtitles go before the question; None where none are asked for."""
        return None if self.subtitles is None else len(self.subtitles)

    def said(self, language: str) -> str:
        """Return the subtitles as they stand before the question, in a language's words; empty where there are none."""
        return written(self.subtitles or (), language)

    def still_there(self) -> bool:
        """Whether its files are on the disk; where they are the frame store's, it is noted that they are in use."""
        first = self.video or next(iter(self.images), None)
        if first is not None:
            note_use(first.parent)
        return first is None or first.exists()

    def marks(self, language: str) -> list[str]:
        """Return what is written before each picture, in a language: its time, or nothing where it goes without."""
        word = seconds_word(language)
        times = self.timestamps or () if self.timed else ()
        return [time_mark(at, word) for at in times] or [""] * len(self.images)

    def content(self, *, as_data: bool = False, language: str = "en") -> list[dict[str, str]]:
        """Return the items of a chat message; with `as_data` a video is a data URL, for a server to read."""
        if self.video is not None:
            return [{"type": "video", "url": _data_url(self.video) if as_data else str(self.video)}]
        items = []
        for mark, image in zip(self.marks(language), self.images, strict=True):
            items += [{"type": "text", "text": mark}] if mark else []
            items.append({"type": "image", "url": str(image)})
        return items

    def visuals(self) -> "list[str | Image]":
        """Return the visuals of a simple model: a path to a video, or opened pictures."""
        if self.video is not None:
            return [str(self.video)]
        from PIL import Image

        visuals: list[str | Image.Image] = []
        for path in self.images:
            with Image.open(path) as image:
                visuals.append(image.convert("RGB"))
        return visuals


def _data_url(video: Path) -> str:
    # Not the path: the server may be on another machine, and one on this machine reads no files unless it was told to.
    media_type = guess_type(video.name)[0] or "video/mp4"
    return f"data:{media_type};base64,{b64encode(video.read_bytes()).decode('ascii')}"


def sound(sampling: FrameSampling, heard: Iterable[Sound | None]) -> Audio:
    """Return what became of the sound of all videos that were shown, as the record says it."""
    if sampling.kind in {"none", "native"}:
        return "none" if sampling.kind == "none" else "unknown"
    became = set(heard)
    telling_first: tuple[Sound, ...] = ("kept", "dropped", "none")
    for what in telling_first:
        if what in became:
            return what
    return "unknown"


class Frames:
    """What the rows of one benchmark are shown as; each row's frames are looked up once for a sampling."""

    def __init__(self) -> None:
        self._asked: defaultdict[str, set[FrameSampling]] = defaultdict(set)
        self._shown_rows: dict[tuple[str, str], dict[tuple[FrameSampling, bool], Shown]] = defaultdict(dict)

    def forget(self, split: str) -> None:
        """Start anew: the split's task is being loaded."""
        self._asked[split].clear()
        for key in [key for key in self._shown_rows if key[0] == split]:
            del self._shown_rows[key]

    def prepared(self, library: Library, row: Row, kwargs: Mapping[str, Any] | None) -> Shown | None:
        """Have a row's frames ready and return them; None where there is nothing to make ready.

        InputError where the sampling is not one: this runs when the task is loaded, so a wrong spec ends the run there.
        """
        wanted = sampling(kwargs)
        self._asked[row["split"]].add(wanted)
        if wanted.kind == "none" or not adapters.sees(adapters.running):
            return self._resolved(library, row, wanted) if wanted.kind == "none" and wanted.subs == "file" else None
        ready = wanted.decodes or library.in_pictures or wanted.subs == "file"
        return self._resolved(library, row, wanted) if ready else None

    def shown(self, library: Library, row: Row, kwargs: Mapping[str, Any] | None) -> Shown:
        """Return what a row is shown as, ready for the model; never raises for what is wrong with its video."""
        shown = self._resolved(library, row, sampling(kwargs))
        if shown.problem is None and not shown.still_there():  # hours may lie between the prompts and the model
            self._shown_rows[row["split"], row["id"]].clear()
            shown = self._resolved(library, row, sampling(kwargs))
        return shown

    def refuse(self, library: Library, row: Row, why: str) -> None:
        """Note that a row can't be shown as it was asked for; its question is then unscored."""
        known = self._shown_rows[row["split"], row["id"]]
        if not any(shown.problem for shown in known.values()):
            log.warning("%s: %s is not shown (%s): %s", library.spec.id, row["id"], Reason.MEDIA_UNREADABLE, why)
        self._shown_rows[row["split"], row["id"]] = dict.fromkeys(known, Shown(problem=why))

    def recorded(self, library: Library, row: Row) -> Shown:
        """Return what a row was shown as; nothing is known where two samplings were asked for."""
        wanted = self._asked[row["split"]]
        if len(wanted) == 1 and adapters.sees(adapters.running):
            (only,) = wanted
            if only.kind == "none" or only.decodes or only.subs == "file":
                return self._resolved(library, row, only)
        known = self._shown_rows[row["split"], row["id"]].values()
        return Shown(problem=next((shown.problem for shown in known if shown.problem), None))

    def _resolved(self, library: Library, row: Row, wanted: FrameSampling) -> Shown:
        if wanted.decodes and adapters.images(adapters.running):
            wanted = replace(wanted, form="images")
        # Images are taken one by one: only a clip is read in pairs.
        even = wanted.form == "clip" and adapters.pairs(adapters.running)
        known = self._shown_rows[row["split"], row["id"]]
        if (wanted, even) not in known:
            try:
                known[wanted, even] = show(library, row, wanted, even=even)
            except Exception as error:  # noqa: BLE001 - lmms-eval throws the whole run away for one video
                why = (
                    str(error) if isinstance(error, ReelbenchError) else f"{type(error).__name__}: {first_line(error)}"
                )
                log.warning("%s: %s is not shown (%s): %s", library.spec.id, row["id"], Reason.MEDIA_UNREADABLE, why)
                known[wanted, even] = Shown(problem=why)
        return known[wanted, even]


def show(library: Library, row: Row, wanted: FrameSampling, *, even: bool = False) -> Shown:
    """Return what a row is shown as under a sampling; with `even`, a clip of an even number of frames.

    Raises:
        ReelbenchError: Its video is not here, or can't be read.
    """
    cues = library.cues(row, wanted)
    said = None if cues is None else tuple(cues)
    if wanted.kind == "none":
        return Shown(timestamps=(), audio="none", subtitles=said)
    if wanted.kind == "native":
        video = library.clip(row)
        if video is None:
            raise ReelbenchError(f"the video {row['video']!r} is not here any more")
        return Shown(video=video, subtitles=said)
    stored = library.frames(row, wanted, even=even)
    if stored is None:
        raise ReelbenchError(f"the video {row['video']!r} is not here any more")
    if library.in_pictures:
        _check_pictures(stored.images)
    return Shown(
        video=stored.path,
        images=stored.images,
        timestamps=stored.timestamps,
        padding=stored.padding,
        audio=stored.audio,
        timed=wanted.times == "text",
        subtitles=said,
    )


def _check_pictures(paths: tuple[Path, ...]) -> None:
    """Open the owners' own pictures, which the store passes on as they are: an adapter would fail on a broken one."""
    from PIL import Image

    for path in paths:
        try:
            with Image.open(path) as image:
                image.load()
        except OSError as error:
            raise ReelbenchError(f"{path}: is not a picture that can be read ({error})") from None
