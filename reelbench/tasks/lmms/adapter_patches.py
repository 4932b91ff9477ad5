"""A subclass of each adapter of lmms-eval's, made when its class is looked up, that answers our tasks as was chosen.

All other requests, other people's and those of a plain run, reach the adapter's own
`generate_until` as they were.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial, partialmethod, wraps
from typing import TYPE_CHECKING, Any

from reelbench.base import settings
from reelbench.base.errors import ReelbenchError
from reelbench.registry import discovery
from reelbench.registry.decoding import Candidates
from reelbench.tasks.lmms import option_scores, swallowed, visuals
from reelbench.tasks.lmms.candidates import Ask, beams, replacing_attribute, row_of
from reelbench.tasks.lmms.logprobs import at_once
from reelbench.video.decode_ahead import by_video

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance

    from reelbench.registry.rows import Row
    from reelbench.registry.spec import BenchmarkSpec

log = logging.getLogger("reelbench")

_QUEUE = "prefix_aware_queue"

any_adapter = False
"""Whether an adapter was patched in this process; if not, lmms-eval looked it up in a way that is not known here."""


def patched_adapter(adapter: type) -> type:
    """Return a subclass of an adapter that answers our tasks as was chosen."""
    global any_adapter  # noqa: PLW0603 - what this process knows
    any_adapter = True
    own: Ask = adapter.generate_until  # type: ignore[attr-defined] - every adapter has it

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807 - an adapter's own
        adapter.__init__(self, *args, **kwargs)
        self.reelbench_chosen = frozenset(kwargs)

    wraps(adapter.__init__)(__init__)
    names = {
        "__init__": __init__,
        "generate_until": partialmethod(_answers, ask=own),
        "__module__": adapter.__module__,
        "__qualname__": adapter.__qualname__,
    }
    return type(adapter.__name__, (adapter,), names)


Way = Callable[[Any, "Instance", Ask], Any]
"""An adapter, one request and the adapter's own `generate_until` -> what lmms-eval gets for the request."""


def _answers(adapter: Any, requests: "Sequence[Instance]", ask: Ask) -> list[Any]:  # noqa: ANN401
    """Return an answer to each request; what goes wrong with one of ours is never taken for an answer."""
    answers: dict[int, Any] = {}
    groups: defaultdict[str | None, list[int]] = defaultdict(
        list
    )  # by the task, of those asked in a way of ours
    theirs: list[int] = []
    ways: dict[int, Way] = {}  # of those that the adapter doesn't answer by itself
    ours: dict[int, tuple[BenchmarkSpec, Row]] = {}
    candidates = settings.CANDIDATES.read(Candidates.parse)
    for number, request in enumerate(requests):
        known = discovery.find_task(request.task_name)
        if known is None:
            theirs.append(number)
            continue
        spec, task = known
        ours[number] = spec, row_of(adapter, request)
        if task.options is not None:
            ways[number] = partial(option_scores.ask_options, spec=spec, task=task)
        elif candidates is not None and candidates.how == "beam":
            ways[number] = partial(beams, k=candidates.k)
    numbers = [*ours]
    order = [numbers[place] for place in by_video([row for _, row in ours.values()])]
    for number in order:
        groups[requests[number].task_name if number in ways else None].append(number)

    ask_ours = partial(swallowed.answers, ask=ask)
    plain = groups.pop(None, [])
    # Its own order (on by default) is by a hash of the prompt, which parts a video's questions; its
    # user may choose it.
    as_it_does = not getattr(adapter, _QUEUE, False) or _QUEUE in adapter.reelbench_chosen
    in_our_order = (
        nullcontext() if as_it_does else replacing_attribute(adapter, _QUEUE, stand_in=False)
    )
    with visuals.decoding_ahead(ours[number] for number in order), in_our_order:
        with _one_bar(adapter, ask, sum(map(len, groups.values()))) as step:

            def answer(number: int) -> None:
                answers[number] = ways[number](adapter, requests[number], ask_ours)
                step()

            for task, numbers in list(groups.items()):
                try:
                    answer(numbers[0])  # before any other question is asked, and paid for
                except ReelbenchError as error:
                    if len(groups) == 1 and not plain and not theirs:
                        raise
                    log.error("%s is not asked: %s", task, error)  # noqa: TRY400 - it is one line
                    answers |= dict.fromkeys(numbers, swallowed.failure_mark(str(error)))
                    groups.pop(task)
            _spread(
                answer,
                [number for numbers in groups.values() for number in numbers[1:]],
                at_once(adapter),
            )
        answers |= zip(
            plain, ask_ours(adapter, [requests[number] for number in plain]), strict=True
        )
    # lmms-eval's response cache keeps no empty answer.
    answers |= {number: "" for number in plain if visuals.problem(*ours[number]) is not None}
    if theirs:
        answers |= zip(theirs, ask(adapter, [requests[number] for number in theirs]), strict=True)
    return [answers[number] for number in range(len(requests))]


def _spread(work: Callable[[int], None], numbers: Sequence[int], workers: int) -> None:
    if workers == 1:  # in this thread: which device is current is a thread's own matter
        for number in numbers:
            work(number)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(work, numbers):  # where one fails, no other is begun
            pass


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
