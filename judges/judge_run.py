"""The two ways to judge: a whole run in one batch, and item by item from a host's worker threads."""

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from threading import Semaphore
from types import TracebackType
from typing import Self, cast

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.panel import Panel
from reelbench.judges.prompting import PromptSet, load_prompts
from reelbench.judges.verdicts import Verdict
from reelbench.llm.budget import Budget, Tally
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

WINDOW = 2048
"""Items held at once in a batch: bounds memory, and lets work go on behind one slow reply."""
_AHEAD = 2
"""Items asked about at once, for each call in flight: preparing more of them would keep the calls waiting."""

_SLICE = 0.2  # seconds: the progress bar moves while one slow reply is waited for

_log = logging.getLogger("reelbench.judges")


class JudgeRun(Iterator[Verdict]):
    """Verdicts in the order of the items, whatever the order of the replies; at most `WINDOW` are held."""

    def __init__(
        self,
        scale: JudgeSpec,
        prompts: PromptSet,
        items: Iterable[Item],
        options: JudgeOptions,
        *,
        progress: Callable[[Tally], None] | None = None,
        on_note: Callable[[str], None] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Set up, on a scale that need not be a benchmark's; the other arguments are those of `judge_items`."""
        self._panel = Panel(scale, prompts, options, on_note, budget)
        self._progress = progress
        self._room = Semaphore(_AHEAD * self._panel.ahead * options.concurrency)
        self._verdicts = self._judged(items)

    def __next__(self) -> Verdict:
        return next(self._verdicts)

    @property
    def record(self) -> JudgeRecord:
        """The judge, what answered, and what it took, over the verdicts given so far."""
        return self._panel.record()

    @property
    def notes(self) -> list[str]:
        """One line for each thing that the user should know (a refusal, a spent budget, a damaged cache)."""
        return self._panel.notes

    @property
    def tally(self) -> Tally:
        """Live counts, this run's calls and dollars among them."""
        return self._panel.tally

    def settle(self, items: Sequence[Item]) -> None:
        """Collect and hand over what goes by batches, before the first verdict is asked for (see `Member.settle`)."""
        self._panel.settle(items)

    def close(self) -> None:
        """End judging early; replies that arrived are kept."""
        self._verdicts.close()
        self._panel.close()

    def _judged(self, items: Iterable[Item]) -> Generator[Verdict]:
        waiting: deque[Verdict | Future[Verdict]] = deque()
        with closing(self._panel):
            for item in self._panel.read_ahead(items):
                waiting.append(self._started(item))
                while waiting and (len(waiting) >= WINDOW or _ready(waiting[0])):
                    yield self._next(waiting)
            while waiting:
                yield self._next(waiting)

    def _started(self, item: Item) -> Verdict | Future[Verdict]:
        started = self._panel.start(item)
        if isinstance(started, Future):
            while not self._room.acquire(timeout=_SLICE):
                self._tell()
            started.add_done_callback(lambda _: self._room.release())
        return started

    def _next(self, waiting: deque[Verdict | Future[Verdict]]) -> Verdict:
        head = waiting.popleft()
        if isinstance(head, Verdict):
            verdict = head
        else:
            while True:
                try:
                    verdict = head.result(timeout=_SLICE if self._progress else None)
                    break
                except TimeoutError:
                    if head.done():
                        raise
                    self._tell()
        self._tell()
        return verdict

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(self._panel.tally)


def judge_items(
    spec: BenchmarkSpec,
    items: Iterable[Item],
    options: JudgeOptions,
    *,
    progress: Callable[[Tally], None] | None = None,
    on_note: Callable[[str], None] | None = None,
    budget: Budget | None = None,
) -> JudgeRun:
    """Judge items in one batch.

    Args:
        spec: The benchmark; its `judge` names criteria and scale.
        items: The answers; consumed as judging goes on.
        options: The judge.
        progress: Called often, from the caller's thread, with the live counts.
        on_note: Called with each line that the user should know, as it arises and perhaps from another thread; by
            default it is logged.
        budget: What this and other runs may spend together; by default the options' own.

    Returns:
        An iterator of verdicts in the order of `items`. Its `record` is whole once it is used up.

    Raises:
        InputError: The benchmark is not judged, the prompts are not there, or an option makes no sense.
        ReelbenchError: The cache can't be written (while iterating, too); what it holds is kept.
    """
    prompts = load_prompts(spec, options.prompts)  # refuses a spec without a judge
    return JudgeRun(
        cast("JudgeSpec", spec.judge), prompts, items, options, progress=progress, on_note=on_note, budget=budget
    )


class LiveJudge:
    """Judges one item at a time, for a host's worker threads; `judge` blocks and never raises.

    All threads share one event loop, one cache and one limit on calls in flight.
    """

    def __init__(self, spec: BenchmarkSpec, options: JudgeOptions) -> None:
        """Raises InputError or ReelbenchError where the judge can't be set up at all."""
        prompts = load_prompts(spec, options.prompts)  # refuses a spec without a judge
        scale = cast("JudgeSpec", spec.judge)
        self._criteria = scale.criteria
        self._panel = Panel(scale, prompts, options)
        self._told = False

    def judge(self, item: Item) -> Verdict:
        """Return the item's verdict; whatever goes wrong leaves it unscored, and is logged once."""
        try:
            started = self._panel.start(item)
            return started if isinstance(started, Verdict) else started.result()
        except Exception as error:  # noqa: BLE001 - an error here would cost the host its whole run
            if not self._told:
                self._told = True
                _log.error("%s", self._panel.options.redact(" ".join(str(error).split()) or repr(error)))
            return Verdict(item.id, {}, dict.fromkeys(self._criteria, Reason.JUDGE_UNAVAILABLE))

    @property
    def notes(self) -> list[str]:
        """One line for each thing that the user should know."""
        return self._panel.notes

    def record(self) -> JudgeRecord:
        """Return the judge's record, over all verdicts given so far."""
        return self._panel.record()

    def close(self) -> None:
        """End judging; replies that arrived are kept."""
        self._panel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _ready(started: Verdict | Future[Verdict]) -> bool:
    return isinstance(started, Verdict) or started.done()
