"""How scoring comes by its judge: in one batch, live inside lmms-eval, or from replies that a run recorded."""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from reelbench.judges.verdicts import Verdict
from reelbench.llm.budget import Tally
from reelbench.registry import settings
from reelbench.registry.errors import ReelbenchError
from reelbench.registry.progress import Bar, Show, no_bar
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord
from reelbench.registry.spec import BenchmarkSpec

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.judges.judge_run import LiveJudge
    from reelbench.llm.budget import Budget

log = logging.getLogger("reelbench")


Judge = Callable[[BenchmarkSpec, Sequence[Item]], tuple[Sequence[Verdict], JudgeRecord]]
"""What judges a benchmark's items: a verdict for each, in their order, and what is recorded of who judged."""


def batch(
    options: "JudgeOptions", note: Callable[[str], None], bar: Bar = no_bar, budget: "Budget | None" = None
) -> Judge:
    """Return a judge that asks about all items in one batch, beside a progress bar; for `budget` see `judge_items`."""

    def judge(spec: BenchmarkSpec, items: Sequence[Item]) -> tuple[list[Verdict], JudgeRecord]:
        from reelbench.judges.judge_run import judge_items

        with bar(f"judging {spec.id}", len(items)) as show:
            run = judge_items(spec, items, options, progress=partial(told, show), on_note=note, budget=budget)
            with closing(run):
                run.settle(items)
                return list(run), run.record

    return judge


def told(show: Show, tally: Tally) -> None:
    """Show how far judging has come."""
    show(tally.items, tally.shown, failed=tally.failed, cost_usd=tally.spent_usd)


def recorded(verdicts: Mapping[str, Verdict], record: JudgeRecord) -> Judge:
    """Return a judge that says again what it said in a run; an item that it never saw is not judged."""

    def judge(spec: BenchmarkSpec, items: Sequence[Item]) -> tuple[list[Verdict], JudgeRecord]:
        del spec
        unseen = {item.id: Verdict(item.id, {}, {"": Reason.JUDGE_UNAVAILABLE}) for item in items}
        return [verdicts.get(item.id, unseen[item.id]) for item in items], record

    return judge


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
        """Return what the judge makes of an item, or None where no judge was named or it can't be set up."""
        if self._spec.judge is None or item.reason is not None or not settings.JUDGE.get():
            return None
        judge = self._started()
        return judge.judge(item) if judge is not None else None

    def record(self) -> JudgeRecord | None:
        """Return the judge's record so far, or None where it was never asked."""
        return self._judge.record() if self._judge is not None else None

    def _started(self) -> "LiveJudge | None":
        with self._lock:
            if not self._tried:
                self._tried = True
                from reelbench.judges.judge_options import JudgeOptions
                from reelbench.judges.judge_run import LiveJudge

                try:
                    options = JudgeOptions.from_environment()
                    if options is not None:
                        self._judge = LiveJudge(self._spec, options)
                except ReelbenchError as error:
                    log.warning("%s: the answers are not judged: %s", self._spec.id, error)
            return self._judge


def merged(records: Iterable[JudgeRecord]) -> JudgeRecord:
    """Return one record for judges that worked side by side, one in each process of a run."""
    from reelbench.judges.panel import summed

    records = list(records)
    panels = [record.panel for record in records if record.panel]
    panel = {"panel": [merged(members) for members in zip(*panels, strict=True)]} if panels else {}
    return records[0].model_copy(update={**summed(records), **panel})
