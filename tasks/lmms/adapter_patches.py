"""A subclass of each adapter of lmms-eval's, made when its class is looked up, that answers our tasks as was chosen.

All other requests, other people's and those of a plain run, reach the adapter's own `generate_until` as they were.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from reelbench.registry import discovery, settings
from reelbench.registry.decoding import Candidates
from reelbench.registry.errors import ReelbenchError
from reelbench.tasks.lmms import option_scores, swallowed
from reelbench.tasks.lmms.candidates import Ask, beams
from reelbench.tasks.lmms.logprobs import at_once

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance

log = logging.getLogger("reelbench")

any_adapter = False
"""Whether an adapter was patched in this process; if not, lmms-eval looked it up in a way that is not known here."""


def patched(adapter: type) -> type:
    """Return a subclass of an adapter that answers our tasks as was chosen."""
    global any_adapter  # noqa: PLW0603 - what this process knows
    any_adapter = True
    own: Ask = adapter.generate_until  # type: ignore[attr-defined] - every adapter has it

    def generate_until(self: Any, requests: "list[Instance]") -> list[Any]:  # noqa: ANN401
        return _answers(self, requests, own)

    names = {"generate_until": generate_until, "__module__": adapter.__module__, "__qualname__": adapter.__qualname__}
    return type(adapter.__name__, (adapter,), names)


Way = Callable[[Any, "Instance", Ask], Any]
"""An adapter, one request and the adapter's own `generate_until` -> what lmms-eval gets for the request."""


def _answers(adapter: Any, requests: "Sequence[Instance]", ask: Ask) -> list[Any]:  # noqa: ANN401
    """Return an answer to each request; what goes wrong with one of ours is never taken for an answer."""
    answers: list[Any] = [None] * len(requests)
    groups: defaultdict[str | None, list[int]] = defaultdict(list)  # by the task, of those asked in a way of ours
    theirs: list[int] = []
    ways = [_way(request) for request in requests]
    for number, (request, way) in enumerate(zip(requests, ways, strict=True)):
        if discovery.find_task(request.task_name) is None:
            theirs.append(number)
        else:
            groups[request.task_name if way is not None else None].append(number)

    def fill(numbers: Sequence[int], given: Sequence[Any]) -> None:
        for number, answer in zip(numbers, given, strict=True):
            answers[number] = answer

    def ask_ours(adapter: Any, some: "Sequence[Instance]") -> list[Any]:  # noqa: ANN401
        return swallowed.answers(adapter, some, ask)

    plain = groups.pop(None, [])
    with _one_bar(adapter, ask, sum(map(len, groups.values()))) as step:

        def answer(number: int) -> None:
            way = ways[number]
            assert way is not None  # noqa: S101 - of a group
            answers[number] = way(adapter, requests[number], ask_ours)
            step()

        for task, numbers in list(groups.items()):
            try:
                answer(numbers[0])  # before any other question is asked, and paid for
            except ReelbenchError as error:
                if len(groups) == 1 and not plain and not theirs:
                    raise
                log.error("%s is not asked: %s", task, error)  # noqa: TRY400 - it is one line
                fill(numbers, [swallowed.failed(str(error))] * len(numbers))
                groups.pop(task)
        _spread(answer, [number for numbers in groups.values() for number in numbers[1:]], at_once(adapter))
    if theirs:
        fill(theirs, ask(adapter, [requests[number] for number in theirs]))
    fill(plain, ask_ours(adapter, [requests[number] for number in plain]))
    return answers


def _spread(work: Callable[[int], None], numbers: Sequence[int], workers: int) -> None:
    if workers == 1:  # in this thread: which device is current is a thread's own matter
        for number in numbers:
            work(number)
        return
    with ThreadPoolExecutor(workers) as pool:
        pending = [pool.submit(work, number) for number in numbers]
        try:
            for future in pending:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _way(request: "Instance") -> Way | None:
    """Return the way in which a request is asked that the adapter doesn't answer by itself; None for all others."""
    known = discovery.find_task(request.task_name)
    if known is None:
        return None
    spec, task = known
    if task.options is not None:
        return partial(option_scores.asked, spec=spec, task=task)
    candidates = settings.CANDIDATES.read(Candidates.parse)
    if candidates is not None and candidates.how == "beam":
        return partial(beams, k=candidates.k)
    return None


@contextmanager
def _one_bar(adapter: Any, ask: Ask, total: int) -> Iterator[Callable[[], object]]:  # noqa: ANN401
    """Show one bar for requests that are asked one by one, and none of the adapter's for each; yields its step."""
    if not total:
        yield lambda: None
        return
    from tqdm import tqdm

    theirs = getattr(ask, "__globals__", {})  # where it finds its own `tqdm`
    shown = theirs.get("tqdm")
    with tqdm(total=total, disable=adapter.rank != 0, desc="Asking one by one") as bar:
        if shown is not None:
            theirs["tqdm"] = lambda *args, **kwargs: shown(*args, **{**kwargs, "disable": True})
        try:
            yield lambda: bar.update(1)
        finally:
            if shown is not None:
                theirs["tqdm"] = shown
