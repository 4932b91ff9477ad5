"""How scoring comes by its judge: many items at once, one by one inside a host's threads, or from a run's record."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack
from types import TracebackType
from typing import Self, cast

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.panel import Panel
from reelbench.judges.prompting import PromptSet, load_prompts
from reelbench.judges.verdicts import Judge, Judged, Verdict
from reelbench.llm import loop
from reelbench.llm.budget import Budget
from reelbench.llm.runner import Runner
from reelbench.registry import settings
from reelbench.registry.errors import ReelbenchError
from reelbench.registry.progress import Bar, Show, no_bar, no_show
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

_log = logging.getLogger("reelbench.judges")


class JudgeRun:
    """Items judged many at once; iterating gives their verdicts, in the order of the items."""

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
        panel = Panel(scale, prompts, options, on_note, budget)
        self.verdicts = loop.run(Runner(panel.askers, show).results(items, panel.verdict))
        self.record = panel.record
        """The judge, what answered, and what it took."""
        self.tally = panel.tally
        """Counts, this run's calls and dollars among them."""
        self.notes = panel.notes
        """One line for each thing that the user should know (a refusal, a spent budget, a damaged cache)."""

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
    """Judge many items.

    Args:
        spec: The benchmark; its `judge` names criteria and scale.
        items: The answers; consumed as judging goes on.
        options: The judge.
        show: Called whenever an item is done, from another thread, with how many are.
        on_note: Called with each line that the user should know, as it arises and perhaps from another thread; by
            default it is logged.
        budget: What this and other runs may spend together; by default the options' own.

    Raises:
        InputError: The benchmark is not judged, the prompts are not there, or an option makes no sense.
        ReelbenchError: The cache can't be written; what it holds is kept.
    """
    prompts = load_prompts(spec, options.prompts)  # refuses a spec without a judge
    return JudgeRun(cast("JudgeSpec", spec.judge), prompts, items, options, show=show, on_note=on_note, budget=budget)


def judge_of(
    options: JudgeOptions, note: Callable[[str], None], bar: Bar = no_bar, budget: Budget | None = None
) -> Judge:
    """Return a judge that asks about all items, many at once, beside a progress bar; for `budget` see `judge_items`."""

    def judge(spec: BenchmarkSpec, items: Iterable[Item]) -> Judged:
        prompts = load_prompts(spec, options.prompts)  # refuses a spec without a judge
        answered = [item for item in items if item.reason is None]
        with bar(f"judging {spec.id}", len(answered)) as show:
            panel = Panel(cast("JudgeSpec", spec.judge), prompts, options, note, budget)
            verdicts = loop.run(Runner(panel.askers, show).results(answered, panel.verdict))
            return {verdict.id: verdict for verdict in verdicts}, panel.record

    return judge


class LiveJudge:
    """Judges one item at a time, for a host's worker threads; `judge` blocks and never raises."""

    def __init__(self, spec: BenchmarkSpec, options: JudgeOptions) -> None:
        """Raises InputError or ReelbenchError where the judge can't be set up at all."""
        prompts = load_prompts(spec, options.prompts)  # refuses a spec without a judge
        self._scale, self._options = cast("JudgeSpec", spec.judge), options
        self._panel = Panel(self._scale, prompts, options)
        self._lock = threading.Lock()
        self._held, self._asked = ExitStack(), AsyncExitStack()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = self._told = False

    def judge(self, item: Item) -> Verdict:
        """Return the item's verdict; whatever goes wrong leaves it unscored, and is logged once."""
        try:
            return asyncio.run_coroutine_threadsafe(self._panel.verdict(item), self._entered()).result()
        except Exception as error:  # noqa: BLE001 - an error here would cost the host its whole run
            if not self._told:
                self._told = True
                _log.error("%s", self._options.redact(" ".join(str(error).split()) or repr(error)))
            return Verdict(item.id, {}, dict.fromkeys(self._scale.criteria, Reason.JUDGE_UNAVAILABLE))

    @property
    def notes(self) -> list[str]:
        """One line for each thing that the user should know."""
        return self._panel.notes

    def record(self) -> JudgeRecord:
        """Return the judge's record, over all verdicts given so far."""
        return self._panel.record

    def close(self) -> None:
        """End judging; replies that arrived are kept."""
        with self._lock:
            self._closed = True
            running, self._loop = self._loop, None
        if running is not None:
            asyncio.run_coroutine_threadsafe(self._asked.aclose(), running).result()
            self._held.close()
        self._panel.close()

    def _entered(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise ReelbenchError("the judge is closed")
            if self._loop is None:
                self._loop = self._held.enter_context(loop.asking())
                for asker in self._panel.askers:
                    entering = self._asked.enter_async_context(asker)
                    asyncio.run_coroutine_threadsafe(entering, self._loop).result()
            return self._loop

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Live:
    """The judge that `REELBENCH_JUDGE` names, asked item by item from lmms-eval's worker threads; it never raises.

    Nothing is asked unless that variable is set: an `OPENAI_API_KEY` may belong to the model under test.
    """

    def __init__(self, spec: BenchmarkSpec) -> None:
        self._spec = spec
        self._lock = threading.Lock()
        self._judge: LiveJudge | None = None
        self._tried = False

    def judge(self, item: Item) -> Verdict | None:
        """Return the judge's verdict on an item, or None where no judge was named or it can't be set up."""
        if self._spec.judge is None or item.reason is not None or not settings.JUDGE.get():
            return None
        with self._lock:
            if not self._tried:
                self._tried = True
                try:
                    options = JudgeOptions.from_environment()
                    self._judge = LiveJudge(self._spec, options) if options is not None else None
                except ReelbenchError as error:
                    _log.warning("%s: the answers are not judged: %s", self._spec.id, error)
        return self._judge.judge(item) if self._judge is not None else None

    def record(self) -> JudgeRecord | None:
        """Return the judge's record so far, or None where it was never asked."""
        return self._judge.record() if self._judge is not None else None
