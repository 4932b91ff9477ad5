"""A progress bar for asking: items, calls a second, time left, dollars; on a terminal only."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reelbench.llm.asker import Tally


@contextmanager
def asking_progress(total: int, title: str) -> Iterator[Callable[[Tally], None] | None]:
    """Show a bar on standard error while the block runs; yield what to pass as `progress`, None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}"),
    )
    started = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, said="")

        def show(tally: Tally) -> None:
            rate = tally.calls / max(time.monotonic() - started, 1e-6)
            cost = "" if tally.spent_usd is None else f", ${tally.spent_usd:.2f}"
            bar.update(task, completed=tally.items, said=f"{tally.calls} calls, {rate:.1f}/s{cost}")

        yield show
