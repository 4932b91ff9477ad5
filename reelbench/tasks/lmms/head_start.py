"""Decode the videos that are asked for first while lmms-eval starts, which takes it 10 to 25 s.

    python -P -m reelbench.tasks.lmms.head_start ARGUMENTS

is the process that `begin` starts, with lmms-eval's arguments. It is a process of its own because
each thread of lmms-eval's would wait for what is being imported. It reports nothing: a video that
can't be decoded is found again, and reported, when it is asked for.
"""

import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from multiprocessing import parent_process
from typing import TYPE_CHECKING, NamedTuple

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


class _TaskRow(NamedTuple):
    """A row that a task asks, and the videos of its split."""

    task: str
    library: Library
    row: "Row"


def begin(arguments: Sequence[str]) -> None:
    """Start the process, where frames are asked for.

    Of several processes of lmms-eval's on a machine the first alone starts it.
    """
    is_first = os.environ.get("LOCAL_RANK", "0") == "0" and parent_process() is None
    if not is_first or _begun or not settings.FRAMES.is_set:
        return
    if not option_value(arguments, "--tasks"):
        return
    # Without memory for it, say, the first question waits for its video.
    with suppress(OSError):
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-P", "-m", __name__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _begun.append(process)


def first_videos(arguments: Sequence[str]) -> dict[tuple[str, str], Callable[[], object]]:
    """Return the work on the videos that are asked for first, by task and video.

    They are those of lmms-eval's arguments. Each function makes a video's frames
    ready. There are as many as are decoded ahead of any question. Only data and clips that are here
    are looked at: others are left to lmms-eval. Where it leaves questions out (no translation, no
    cue, answered before), some may not be needed.
    """
    sampling = visuals.sampling()
    model = option_value(arguments, "--model")
    adapter = adapters.adapter_named(model)
    if not sampling.decodes or not adapter.sees:
        return {}
    model_arguments = (option_value(arguments, "--model_args") or "").lower()
    adapters.passes_video = f"{adapters.PASS_VIDEO}=true" in model_arguments
    is_chat = "chat" in adapters.kinds(model) and "--force_simple" not in arguments
    task_rows = list(_asked_rows(arguments))
    rows = [task_row.row for task_row in task_rows]
    work: dict[tuple[str, str], Callable[[], object]] = {}
    for place in by_video(rows):
        task, library, row = task_rows[place]
        form = adapters.adapt(model, sampling, library.spec.row_kind, chat=is_chat)
        has_even_clips = form.form == "clip" and adapter.even
        show_row = partial(show, library, row, form, even=has_even_clips)
        work.setdefault((task, row["video"]), show_row)
    most_videos = WINDOW * usable_cores()
    return dict(islice(work.items(), most_videos))


def _asked_rows(arguments: Sequence[str]) -> Iterator[_TaskRow]:
    """Yield the rows that lmms-eval's arguments ask for."""
    limit = float(option_value(arguments, "--limit") or 0)
    offset = int(float(option_value(arguments, "--offset") or 0))
    chosen_ids = settings.IDS.read(QuestionIds.read)
    for task in sorted(wanted_tasks([*arguments])):
        located = locate(task, fetch=False)
        library = Library(located.spec, located.split, make=False)
        rows = located.rows
        if chosen_ids is not None:
            rows = [row for row in rows if row["id"] in chosen_ids.ids]
        count = _number_of_rows(limit, len(rows))
        for row in rows[offset : offset + count]:
            yield _TaskRow(task, library, row)


def _number_of_rows(limit: float, all_rows: int) -> int:
    """Return the number of rows under lmms-eval's limit.

    A limit below 1 is a share of the rows, and 0 or less is none.
    """
    if limit <= 0:
        return all_rows
    if limit < 1:
        return math.ceil(limit * all_rows)
    return int(limit)


if __name__ == "__main__":
    # Nothing comes on stdin: it ends when lmms-eval, which holds the other end, does.
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    videos = first_videos(sys.argv[1:])
    with Ahead(videos) as ahead:
        for video in videos:
            ready = ahead.reached(video)
            if ready is not None:
                ready.result()
