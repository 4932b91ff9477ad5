"""The videos that are asked for first, decoded while lmms-eval starts, which takes it 10 to 25 seconds.

    python -P -m reelbench.tasks.lmms.head_start ARGUMENTS

is what `begin` starts, with lmms-eval's arguments: a process of its own, because each thread of
lmms-eval's would wait for what is being imported. It says nothing: what can't be decoded is found
again, and said, when it is asked for.
"""

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from multiprocessing import parent_process
from typing import TYPE_CHECKING

from reelbench.base import settings
from reelbench.base.workers import usable_cores
from reelbench.data.loading import locate
from reelbench.registry.question_files import QuestionIds
from reelbench.tasks.lmms import adapters, visuals
from reelbench.tasks.lmms.process import option_value, wanted_tasks
from reelbench.video.decode_ahead import WINDOW, Ahead, by_video
from reelbench.video.library import Library
from reelbench.video.shown_media import show

if TYPE_CHECKING:
    from reelbench.registry.rows import Row

_begun: list["subprocess.Popen[bytes]"] = []


def begin(arguments: Sequence[str]) -> None:
    """Start the process, where frames are asked for: of several of lmms-eval's on a machine, beside the first alone."""
    first = os.environ.get("LOCAL_RANK", "0") == "0" and parent_process() is None
    if first and not _begun and settings.FRAMES.is_set and option_value(arguments, "--tasks"):
        command, none = [sys.executable, "-P", "-m", __name__, *arguments], subprocess.DEVNULL
        with suppress(
            OSError
        ):  # no memory for it, say: then the first question waits for its video
            _begun.append(
                subprocess.Popen(command, stdin=subprocess.PIPE, stdout=none, stderr=none)
            )  # noqa: S603


def first_videos(arguments: Sequence[str]) -> dict[tuple[str, str], Callable[[], object]]:
    """Return what makes ready the frames of the videos that lmms-eval's arguments ask for first, by task and video.

    As many as are decoded ahead of any question. Only data and clips that are here are looked at:
    others are left to lmms-eval. Where it leaves questions out (no translation, no cue, answered
    before), some may not be needed.
    """
    asked, model = visuals.sampling(), option_value(arguments, "--model")
    if not (asked.decodes and adapters.of(model).sees):
        return {}
    adapters.passes_video = (
        f"{adapters.PASS_VIDEO}=true" in (option_value(arguments, "--model_args") or "").lower()
    )
    chat = "chat" in adapters.kinds(model) and "--force_simple" not in arguments
    limit, offset = (float(option_value(arguments, name) or 0) for name in ("--limit", "--offset"))
    named = settings.IDS.read(QuestionIds.read)
    chosen: list[tuple[str, Library, Row]] = []
    for task in sorted(wanted_tasks([*arguments])):
        located = locate(task, fetch=False)
        library = Library(located.spec, located.split, make=False)
        rows = [row for row in located.rows if named is None or row["id"] in named.ids]
        most = math.ceil(limit * len(rows)) if limit < 1 else int(limit)
        chosen += [
            (task, library, row) for row in rows[int(offset) :][: most if limit > 0 else None]
        ]
    work: dict[tuple[str, str], Callable[[], object]] = {}
    for task, library, row in (chosen[place] for place in by_video([row for *_, row in chosen])):
        shown = adapters.adapt(model, asked, library.spec.row_kind, chat=chat)
        even = shown.form == "clip" and adapters.of(model).even
        work.setdefault((task, row["video"]), partial(show, library, row, shown, even=even))
    return dict(islice(work.items(), WINDOW * usable_cores()))


if __name__ == "__main__":
    # Nothing comes on stdin: it ends when lmms-eval, which holds the other end, does.
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    videos = first_videos(sys.argv[1:])
    with Ahead(videos) as ahead:
        for ready in filter(None, map(ahead.reached, videos)):
            ready.result()
