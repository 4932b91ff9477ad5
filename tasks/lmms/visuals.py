"""What an adapter of lmms-eval's is shown of a row's video: the frames asked for, made ready before it is asked.

lmms-eval throws a whole run away when a task's function raises while a model is being asked, and its response cache
knows a question by its prompt. So frames are decoded when the prompt is written, which is before any model runs, for
the questions that `--limit` and the rank leave. A video that gives no frames makes its questions unscored
(`media_unreadable`): the prompt then says so, and an answer to it is never taken for one to the video.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.registry import settings
from reelbench.registry.errors import InputError, ReelbenchError, first_line
from reelbench.registry.frames.sampling import FrameSampling
from reelbench.registry.frames.shown import Shown, show
from reelbench.registry.media.library import Library
from reelbench.registry.reasons import Reason
from reelbench.registry.rows import Row
from reelbench.tasks.lmms import adapters
from reelbench.tasks.lmms.arrivals import StoredPicture

log = logging.getLogger("reelbench")

NOT_SHOWN = "(The video can't be shown.)"
"""Ends the prompt of a question whose video can't be shown."""


NO_TIMES = "times=text needs a chat adapter, and this one takes pictures alone"


def check_times(wanted: FrameSampling) -> None:
    """Raise InputError where the adapter that runs can't be told a picture's time, before it is asked anything."""
    if wanted.times == "text" and adapters.running is not None and adapters.task_type == "simple":
        raise InputError(f"frames {wanted}: {NO_TIMES}")


def sampling(kwargs: Mapping[str, Any] | None = None) -> FrameSampling:
    """Return the sampling asked for: `REELBENCH_FRAMES`, else `frames` in the YAML's kwargs, else `native`."""
    if (chosen := settings.FRAMES.read(FrameSampling.parse)) is not None:
        return chosen
    spec = (kwargs or {}).get("frames")
    return FrameSampling.parse(str(spec)) if spec else FrameSampling()


def content(shown: Shown, language: str, *, as_data: bool) -> list[dict[str, Any]]:
    """Return the items of a chat message of lmms-eval's; with `as_data` a video is a data URL, for a server to read.

    Not the path then: the server may be on another machine, and one on this machine reads no files unless it was told.
    Pictures are handed over as lmms-eval's own tasks do, opened and not yet decoded; an adapter that sends them on gets
    their paths.
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
            items.append({"type": "image", "url": image if image.mode == "RGB" else image.convert("RGB")})
        else:
            items.append({"type": piece.kind.removesuffix("_url"), "url": str(piece.data)})
    return items


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
        """Return a row's video as shown, ready for the model; never raises for what is wrong with its video."""
        shown = self._resolved(library, row, sampling(kwargs))
        if shown.problem is None and not shown.still_there():  # hours may lie between the prompts and the model
            self._shown_rows[row["split"], row["id"]].clear()
            shown = self._resolved(library, row, sampling(kwargs))
        return shown

    def delivered(self, library: Library) -> str | None:
        """Return the sampling as an adapter was shown it, where it isn't the one asked for; None too where unknown."""
        asked = self._asked[library.split]
        if len(asked) != 1:
            return None
        (only,) = asked
        shown = adapters.delivered(adapters.running, only, library.spec.row_kind)
        as_ever = adapters.sends(adapters.running) and shown.times == only.times
        return None if as_ever or shown == only else str(shown)

    def refuse(self, library: Library, row: Row, why: str) -> None:
        """Note that a row can't be shown as it was asked for; its question is then unscored."""
        known = self._shown_rows[row["split"], row["id"]]
        if not any(shown.problem for shown in known.values()):
            log.warning("%s: %s is not shown (%s): %s", library.spec.id, row["id"], Reason.MEDIA_UNREADABLE, why)
        self._shown_rows[row["split"], row["id"]] = dict.fromkeys(known, Shown(problem=why))

    def recorded(self, library: Library, row: Row) -> Shown:
        """Return a row's video as it was shown; nothing is known where two samplings were asked for."""
        wanted = self._asked[row["split"]]
        if len(wanted) == 1 and adapters.sees(adapters.running):
            (only,) = wanted
            if only.kind == "none" or only.decodes or only.subs == "file":
                return self._resolved(library, row, only)
        known = self._shown_rows[row["split"], row["id"]].values()
        return Shown(problem=next((shown.problem for shown in known if shown.problem), None))

    def _resolved(self, library: Library, row: Row, wanted: FrameSampling) -> Shown:
        wanted = adapters.delivered(adapters.running, wanted, library.spec.row_kind)
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
