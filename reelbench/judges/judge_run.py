"""Ways to judge: many items at once, or one by one inside a host's threads."""

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.progress import Bar, Show, no_bar, no_show
from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.panel import Panel
from reelbench.judges.prompting import PromptSet, load_prompts
from reelbench.judges.verdicts import Judge, Judged, Verdict, is_judged
from reelbench.llm import loop
from reelbench.llm.budget import Budget
from reelbench.llm.runner import Runner, causes_shown
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

if TYPE_CHECKING:
    from reelbench.llm.pacing import Cause

_log = logging.getLogger("reelbench.judges")


class JudgeRun(Panel):
    """A panel that has judged items, many at once.

    Iterating gives their verdicts, in the order of the items.
    """

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
        """Judge on a scale, which need not be a benchmark's. See `judge_items`."""
        super().__init__(scale, prompts, options, on_note, budget)
        runner = Runner(self.askers, show)
        judging = runner.shared_results(list(items), self.verdict, attrgetter("video"))
        self.verdicts = loop.run(judging)

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
    """Judge many answers to a benchmark's questions.

    Args:
        spec: The benchmark.
        items: The items, each with an answer.
        options: The judge's options.
        show: Called whenever an item is done, from another thread.
        on_note: Called with each line that the user should know, as it arises and perhaps from
            another thread; by default it is logged.
        budget: By default the options' own. It may be shared with other runs.

    Raises:
        InputError: The benchmark is not judged, or the prompts are not there.
    """
    prompts = load_prompts(spec, options.prompts)
    return JudgeRun(
        _judge_declaration(spec), prompts, items, options, show=show, on_note=on_note, budget=budget
    )


def _judge_declaration(spec: BenchmarkSpec) -> JudgeSpec:
    if spec.judge is None:  # which `load_prompts` refuses before
        raise InputError(f"{spec.id}: has no judged metric; leave --judge out")
    return spec.judge


def judge_of(
    options: JudgeOptions,
    note: Callable[[str], None],
    bar: Bar = no_bar,
    budget: Budget | None = None,
) -> Judge:
    """Return a judge that asks about all items, many at once, beside a progress bar.

    For `budget` see `judge_items`.
    """

    def judge(spec: BenchmarkSpec, items: Iterable[Item]) -> Judged:
        answered = [item for item in items if item.reason is None and is_judged(item)]
        title = f"judging {spec.id}"
        with bar(title, len(answered)) as show:
            run = judge_items(spec, answered, options, show=show, on_note=note, budget=budget)
        _note_causes(run, options, note)
        verdicts = {verdict.id: verdict for verdict in run}
        return verdicts, run.record

    return judge


def _note_causes(run: JudgeRun, options: JudgeOptions, note: Callable[[str], None]) -> None:
    """Note why the judge's server gave no reply to some items, and what to do."""
    causes: Counter[Cause] = Counter()
    for verdict in run:
        if verdict.reason == Reason.JUDGE_UNAVAILABLE and verdict.cause is not None:
            causes[verdict.cause] += 1
    if not causes:
        return
    line = f"{causes.total()} judge_unavailable: {causes_shown(causes)}"
    if any(cause.is_timeout for cause in causes):
        line += f"; {options.advice_on_timeouts}"
    note(line)


@dataclass(eq=False, repr=False)
class LiveJudge:
    """Judges one item at a time, for a host's worker threads (lmms-eval's).

    The judge is that of `options`, else the one that `REELBENCH_JUDGE` names, set up when the first
    answer comes. Nothing is asked where neither is there: an `OPENAI_API_KEY` may belong to the
    model under test.
    """

    spec: BenchmarkSpec
    options: JudgeOptions | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _panel: Panel | None = field(default=None, init=False)
    _loop_context: ExitStack = field(default_factory=ExitStack, init=False)
    _asker_contexts: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    _closed: bool = field(default=False, init=False)
    _set_up: bool = field(default=False, init=False)
    _logged: bool = field(default=False, init=False)

    def judge(self, item: Item) -> Verdict | None:
        """Return the verdict on an item. This blocks and never raises.

        None where it has no answer, or no judge was named or can be set up. Whatever goes wrong
        once the judge is set up leaves the item unscored, and is logged once.
        """
        scale = self.spec.judge
        if scale is None or item.reason is not None or not is_judged(item):
            return None
        if self.options is None and not settings.JUDGE.get():
            return None
        panel = self._panel_once()
        if panel is None or self.options is None:
            return None
        try:
            running_loop = self._running_loop(panel)
            return asyncio.run_coroutine_threadsafe(panel.verdict(item), running_loop).result()
        except Exception as error:  # noqa: BLE001 - an error here would cost the host its whole run
            if not self._logged:
                self._logged = True
                line = " ".join(str(error).split()) or repr(error)
                _log.error("%s", self.options.redact(line))
            return Verdict(item.id, {}, dict.fromkeys(scale.criteria, Reason.JUDGE_UNAVAILABLE))

    def _panel_once(self) -> Panel | None:
        """Return the panel, set up on the first call. None where it can't be."""
        with self._lock:
            if not self._set_up:
                self._set_up = True
                try:
                    self._panel = self._new_panel()
                except ReelbenchError as error:
                    _log.warning("%s: the answers are not judged: %s", self.spec.id, error)
            return self._panel

    def _new_panel(self) -> Panel | None:
        self.options = self.options or JudgeOptions.from_environment()
        if self.options is None or self.spec.judge is None:
            return None
        prompts = load_prompts(self.spec, self.options.prompts)
        return Panel(self.spec.judge, prompts, self.options)

    def _running_loop(self, panel: Panel) -> asyncio.AbstractEventLoop:
        """Return the loop in which a panel's askers are entered.

        Where one can't be, the next item tries anew.
        """
        with self._lock:
            if self._closed or panel is not self._panel:
                raise ReelbenchError("the judge is closed")
            if self._loop is None:
                running_loop = self._loop_context.enter_context(loop.asking())
                try:
                    for asker in panel.askers:
                        entering = self._asker_contexts.enter_async_context(asker)
                        asyncio.run_coroutine_threadsafe(entering, running_loop).result()
                except BaseException:
                    self._leave(running_loop, panel)
                    self._panel = None
                    self._set_up = False
                    raise
                self._loop = running_loop
            return self._loop

    def _leave(self, running_loop: asyncio.AbstractEventLoop, panel: Panel) -> None:
        asyncio.run_coroutine_threadsafe(self._asker_contexts.aclose(), running_loop).result()
        self._loop_context.close()
        panel.close()

    def record(self) -> JudgeRecord | None:
        """Return the judge's record, over all verdicts so far. None where it was never asked."""
        return self._panel.record if self._panel is not None else None

    def close(self) -> None:
        """End judging. Replies that arrived are kept."""
        with self._lock:
            self._closed = True
            running_loop = self._loop
            self._loop = None
        if self._panel is None:
            return
        if running_loop is None:
            self._panel.close()
        else:
            self._leave(running_loop, self._panel)
