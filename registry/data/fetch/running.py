"""Running a plan: its transfers, several at a time, and what came of each."""

import logging
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Protocol

from rich.filesize import decimal

from reelbench.registry.data.fetch.planning import Failure, FetchPlan
from reelbench.registry.data.fetch.transfers import Transfer
from reelbench.registry.errors import DataUnavailableError, ReelbenchError, first_line
from reelbench.registry.files import is_full
from reelbench.registry.media import library as media

WORKERS = 4
log = logging.getLogger("reelbench")


class Progress(Protocol):
    """Told how a run goes on; called from several threads."""

    def advance(self, transferred: int) -> None:
        """Count bytes transferred."""

    def finished(self, what: str) -> None:
        """Count one thing as done, or as failed for good."""


@dataclass(frozen=True)
class FetchReport:
    """What a run did. Failures hold what could not be had and why, in the plan's order where it knew them before."""

    done: tuple[str, ...]
    skipped: tuple[str, ...]
    failed: tuple[Failure, ...]


def run(plan: FetchPlan, progress: Progress | None = None, *, workers: int = WORKERS) -> FetchReport:
    """Transfer what the plan holds, several at a time. A failure is reported, and never stops the rest.

    Raises:
        DataUnavailableError: The disk has less room than the plan is known to need, or another fetch of the benchmark
            is running; nothing has been transferred.
    """
    from filelock import FileLock, Timeout

    root = folder = media.fetched_root(plan.spec)
    while not folder.exists():
        folder = folder.parent
    if plan.size > (free := shutil.disk_usage(folder).free):
        raise DataUnavailableError(
            f"{plan.spec.id}: {decimal(plan.size)} to fetch and {decimal(free)} free in {folder}; "
            "use --limit, or set REELBENCH_HOME to a larger disk"
        )
    if not plan.items:
        return FetchReport((), plan.here, plan.problems)
    path = root / ".fetch.lock"
    root.mkdir(parents=True, exist_ok=True)
    try:
        # Two fetches of one benchmark would write the same partial files.
        lock = FileLock(path, blocking=False).acquire()
    except Timeout:
        raise DataUnavailableError(f"{plan.spec.id}: another fetch is running (it holds {path}); wait for it") from None
    done: list[str] = []
    failed: list[Failure] = list(plan.problems)
    stop = threading.Event()
    with lock, ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            for future in as_completed([pool.submit(_outcomes, item, progress, stop) for item in plan.items]):
                for what, reason in future.result().items():
                    if reason is None:
                        done.append(what)
                    else:
                        failed.append((what, reason))
        finally:
            # On Ctrl-C the pool waits for its threads; each notices the event at its next block of bytes.
            stop.set()
            pool.shutdown(cancel_futures=True)
    return FetchReport(tuple(done), plan.here, tuple(failed))


class _StoppedError(Exception):
    """The user stopped the run."""


def _outcomes(item: Transfer, told: Progress | None, stop: threading.Event) -> dict[str, str | None]:
    """Transfer one item -> each of its names with None, or with the reason why it could not be had."""
    outcomes: dict[str, str | None] = {}

    def advance(transferred: int) -> None:
        if stop.is_set():
            raise _StoppedError
        if told is not None:
            told.advance(transferred)

    def brought() -> Iterator[tuple[str, str | None]]:
        reason_left = "its transfer ended without it; please report this"
        try:
            yield from item.bring(advance)
        except _StoppedError:
            raise
        except Exception as error:  # noqa: BLE001 - one transfer's fault, of whatever kind, must not end the others
            reason_left = _why(error)
        yield from ((what, reason_left) for what in item.names if what not in outcomes)

    for what, reason in brought():
        outcomes[what] = reason
        if told is not None:
            told.finished(what)
    return outcomes


def _why(error: Exception) -> str:
    if isinstance(error, ReelbenchError):
        return str(error)
    if isinstance(error, OSError) and is_full(error):
        return f"the disk is full ({error.filename or 'where videos are kept'}); make room and run the command again"
    if not isinstance(error, OSError):
        log.error("a transfer failed in an unforeseen way", exc_info=error)
    return f"{type(error).__name__}: {first_line(error)}"
