"""How scoring comes by its judge: many items at once, one by one inside a host's threads, or from a run's record."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from typing import cast

from reelbench.base import settings
from reelbench.base.errors import ReelbenchError
from reelbench.base.progress import Bar, Show, no_bar, no_show
from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.panel import Panel
from reelbench.judges.prompting import PromptSet, load_prompts
from reelbench.judges.verdicts import Judge, Judged, Verdict, is_judged
from reelbench.llm import loop
from reelbench.llm.budget import Budget
from reelbench.llm.runner import Runner
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

_log = logging.getLogger("reelbench.judges")


class JudgeRun(Panel):
    """A panel that has judged items, many at once; iterating gives their verdicts, in the order of the items."""

    def __init__(
        self,
        scale: JudgeSpec,
        prompts: PromptSet,
        items: Iterable[Item],
        options: JudgeOptions,
        *,
        show: Show = no_show,
        on_note: Callable[[str], None] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Judge, on a scale that need not be a benchmark's; the other arguments are those of `judge_items`."""
        super().__init__(scale, prompts, options, on_note, budget)
        self.verdicts = loop.run(Runner(self.askers, show).results(items, self.verdict))

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)


def judge_items(
    spec: BenchmarkSpec,
    items: Iterable[Item],
    options: JudgeOptions,
    *,
    show: Show = no_show,
    on_note: Callable[[str], None] | None = None,
    budget: Budget | None = None,
) -> JudgeRun:
    """Judge many answers to a benchmark's questions; InputError where it is not judged, or the prompts are not there.

    `show` is called whenever an item is done, from another thread; `on_note` with each line that
    the user should know, as it arises and perhaps from another thread: by default it is logged. The
    budget, by default the options' own, may be shared with other runs.
    """
    prompts = load_prompts(spec, options.prompts)  # refuses a spec without a judge
    return JudgeRun(
        cast("JudgeSpec", spec.judge),
        prompts,
        items,
        options,
        show=show,
        on_note=on_note,
        budget=budget,
    )


def judge_of(
    options: JudgeOptions,
    note: Callable[[str], None],
    bar: Bar = no_bar,
    budget: Budget | None = None,
) -> Judge:
    """Return a judge that asks about all items, many at once, beside a progress bar; for `budget` see `judge_items`."""

    def judge(spec: BenchmarkSpec, items: Iterable[Item]) -> Judged:
        answered = [item for item in items if item.reason is None and is_judged(item)]
        with bar(f"judging {spec.id}", len(answered)) as show:
            scale, prompts = cast("JudgeSpec", spec.judge), load_prompts(spec, options.prompts)
            run = JudgeRun(
                scale, prompts, answered, options, show=show, on_note=note, budget=budget
            )
        return {verdict.id: verdict for verdict in run}, run.record

    return judge


@dataclass(eq=False, repr=False)
class LiveJudge:
    """Judges one item at a time, for a host's worker threads (lmms-eval's): `judge` blocks and never raises.

    The judge is that of `options`, else the one that `REELBENCH_JUDGE` names, set up when the first
    answer comes. Nothing is asked where neither is there: an `OPENAI_API_KEY` may belong to the
    model under test.
    """

    spec: BenchmarkSpec
    options: JudgeOptions | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _panel: Panel | None = field(default=None, init=False)
    _held: ExitStack = field(default_factory=ExitStack, init=False)
    _asked: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    _closed: bool = field(default=False, init=False)
    _tried: bool = field(default=False, init=False)
    _told: bool = field(default=False, init=False)

    def judge(self, item: Item) -> Verdict | None:
        """Return the verdict on an item; None where it has no answer, or no judge was named or can be set up.

        Whatever goes wrong once it is set up leaves the item unscored, and is logged once.
        """
        scale = self.spec.judge
        named = self.options or settings.JUDGE.get()
        if scale is None or item.reason is not None or not named or not is_judged(item):
            return None
        with self._lock:
            if not self._tried:
                self._tried = True
                try:
                    self.options = self.options or JudgeOptions.from_environment()
                    if self.options is not None:
                        prompts = load_prompts(self.spec, self.options.prompts)
                        self._panel = Panel(scale, prompts, self.options)
                except ReelbenchError as error:
                    _log.warning("%s: the answers are not judged: %s", self.spec.id, error)
            panel = self._panel
        if panel is None or self.options is None:
            return None
        try:
            running = self._running_loop(panel)
            return asyncio.run_coroutine_threadsafe(panel.verdict(item), running).result()
        except Exception as error:  # noqa: BLE001 - an error here would cost the host its whole run
            if not self._told:
                self._told = True
                _log.error("%s", self.options.redact(" ".join(str(error).split()) or repr(error)))
            return Verdict(item.id, {}, dict.fromkeys(scale.criteria, Reason.JUDGE_UNAVAILABLE))

    def _running_loop(self, panel: Panel) -> asyncio.AbstractEventLoop:
        """Return the loop in which a panel's askers are entered; where one can't be, the next item tries anew."""
        with self._lock:
            if self._closed or panel is not self._panel:
                raise ReelbenchError("the judge is closed")
            if self._loop is None:
                running = self._held.enter_context(loop.asking())
                try:
                    for asker in panel.askers:
                        entering = self._asked.enter_async_context(asker)
                        asyncio.run_coroutine_threadsafe(entering, running).result()
                except BaseException:
                    self._leave(running, panel)
                    self._panel, self._tried = None, False
                    raise
                self._loop = running
            return self._loop

    def _leave(self, running: asyncio.AbstractEventLoop, panel: Panel) -> None:
        asyncio.run_coroutine_threadsafe(self._asked.aclose(), running).result()
        self._held.close()
        panel.close()

    def record(self) -> JudgeRecord | None:
        """Return the judge's record, over all verdicts given so far; None where it was never asked."""
        return self._panel.record if self._panel is not None else None

    def close(self) -> None:
        """End judging; replies that arrived are kept."""
        with self._lock:
            self._closed = True
            running, self._loop = self._loop, None
        if running is not None and self._panel is not None:
            self._leave(running, self._panel)
        elif self._panel is not None:
            self._panel.close()
