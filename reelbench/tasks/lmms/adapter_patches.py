"""Make a subclass of each adapter of lmms-eval's that answers our tasks as was chosen.

It is made when the adapter's class is looked up. All other requests, other people's and
those of a plain run, reach the adapter's own `generate_until` as they were.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
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
"""Whether an adapter was patched in this process.

If not, lmms-eval looked it up in a way that is not known here.
"""


def patched_adapter(adapter: type) -> type:
    """Return a subclass of an adapter that answers our tasks as was chosen."""
    global any_adapter  # noqa: PLW0603 - what this process knows
    any_adapter = True
    ask: Ask = adapter.generate_until  # type: ignore[attr-defined] - every adapter has it

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807 - an adapter's own
        adapter.__init__(self, *args, **kwargs)
        self.reelbench_chosen = frozenset(kwargs)

    wraps(adapter.__init__)(__init__)
    names = {
        "__init__": __init__,
        "generate_until": partialmethod(_answers_in_order, ask=ask),
        "__module__": adapter.__module__,
        "__qualname__": adapter.__qualname__,
    }
    return type(adapter.__name__, (adapter,), names)


Way = Callable[[Any, "Instance", Ask], Any]
"""An adapter, one request and the adapter's own `generate_until` -> lmms-eval's answer to it."""


@dataclass
class _Groups:
    """The requests by how they are answered, each by its place among them.

    Attributes:
        foreign: Those of tasks that aren't ours.
        rows: The benchmarks and rows of ours.
        ways: The ways to answer those of ours that the adapter doesn't answer by itself.
        order: The places of ours, by video.
        plain: Those of ours that the adapter answers by itself, in this order.
        by_task: The others by task, in this order.
    """

    foreign: list[int] = field(default_factory=list)
    rows: "dict[int, tuple[BenchmarkSpec, Row]]" = field(default_factory=dict)
    ways: dict[int, Way] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    plain: list[int] = field(default_factory=list)
    by_task: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))


def _group_requests(adapter: Any, requests: "Sequence[Instance]") -> _Groups:  # noqa: ANN401
    groups = _Groups()
    candidates = settings.CANDIDATES.read(Candidates.parse)
    for place, request in enumerate(requests):
        known_task = discovery.find_task(request.task_name)
        if known_task is None:
            groups.foreign.append(place)
            continue
        spec, task = known_task
        groups.rows[place] = spec, row_of(adapter, request)
        if task.options is not None:
            groups.ways[place] = partial(option_scores.ask_options, spec=spec, task=task)
        elif candidates is not None and candidates.how == "beam":
            groups.ways[place] = partial(beams, k=candidates.k)
    places = list(groups.rows)
    for index in by_video([row for _, row in groups.rows.values()]):
        place = places[index]
        groups.order.append(place)
        if place in groups.ways:
            groups.by_task[requests[place].task_name].append(place)
        else:
            groups.plain.append(place)
    return groups


def _answers_in_order(adapter: Any, requests: "Sequence[Instance]", ask: Ask) -> list[Any]:  # noqa: ANN401
    """Return an answer to each request.

    A failure of one of ours is never taken for an answer.
    """
    groups = _group_requests(adapter, requests)
    rows_in_order = [groups.rows[place] for place in groups.order]
    answers: dict[int, Any] = {}
    with visuals.decoding_ahead(rows_in_order), _in_our_order(adapter):
        answers |= _answers_one_by_one(adapter, requests, ask, groups)
        plain_requests = [requests[place] for place in groups.plain]
        plain_answers = swallowed.answers(adapter, plain_requests, ask=ask)
        answers |= zip(groups.plain, plain_answers, strict=True)
    for place in groups.plain:
        spec, row = groups.rows[place]
        if visuals.problem(spec, row) is not None:
            answers[place] = ""  # lmms-eval's response cache keeps no empty answer
    if groups.foreign:
        foreign_requests = [requests[place] for place in groups.foreign]
        foreign_answers = ask(adapter, foreign_requests)
        answers |= zip(groups.foreign, foreign_answers, strict=True)
    return [answers[place] for place in range(len(requests))]


def _in_our_order(adapter: Any) -> AbstractContextManager[object]:  # noqa: ANN401
    """Switch off an adapter's own order of requests, unless its user chose it.

    It is on by default, and by a hash of the prompt, which parts a video's questions.
    """
    if not getattr(adapter, _QUEUE, False) or _QUEUE in adapter.reelbench_chosen:
        return nullcontext()
    return replacing_attribute(adapter, _QUEUE, stand_in=False)


def _answers_one_by_one(
    adapter: Any,  # noqa: ANN401
    requests: "Sequence[Instance]",
    ask: Ask,
    groups: _Groups,
) -> dict[int, Any]:
    """Return the answers to the requests that are asked in a way of ours."""
    answers: dict[int, Any] = {}
    ask_ours = partial(swallowed.answers, ask=ask)
    total = sum(map(len, groups.by_task.values()))
    with _one_bar(adapter, ask, total) as step:

        def answer(place: int) -> None:
            answers[place] = groups.ways[place](adapter, requests[place], ask_ours)
            step()

        tasks_left = len(groups.by_task)
        remaining: list[int] = []
        for task, places in groups.by_task.items():
            try:
                answer(places[0])  # before any other question is asked, and paid for
            except ReelbenchError as error:
                if tasks_left == 1 and not groups.plain and not groups.foreign:
                    raise
                tasks_left -= 1
                log.error("%s is not asked: %s", task, error)  # noqa: TRY400 - it is one line
                answers |= dict.fromkeys(places, swallowed.failure_mark(str(error)))
            else:
                remaining += places[1:]
        _spread_over_workers(answer, remaining, at_once(adapter))
    return answers


def _spread_over_workers(work: Callable[[int], None], numbers: Sequence[int], workers: int) -> None:
    if workers == 1:  # in this thread: which device is current is a thread's own matter
        for number in numbers:
            work(number)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(work, numbers):  # where one fails, no other is begun
            pass


@contextmanager
def _one_bar(adapter: Any, ask: Ask, total: int) -> Iterator[Callable[[], object]]:  # noqa: ANN401
    """Show one bar for requests that are asked one by one, and yield its step.

    The adapter shows none of its own for each.
    """
    if not total:
        yield lambda: None
        return
    from tqdm import tqdm

    adapter_globals = getattr(ask, "__globals__", {})  # it finds its own `tqdm` in these
    adapter_bar: Any = adapter_globals.get("tqdm")

    def hidden_bar(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return adapter_bar(*args, **{**kwargs, "disable": True})

    with tqdm(total=total, disable=adapter.rank != 0, desc="Asking one by one") as bar:
        if adapter_bar is not None:
            adapter_globals["tqdm"] = hidden_bar
        try:
            yield lambda: bar.update(1)
        finally:
            if adapter_bar is not None:
                adapter_globals["tqdm"] = adapter_bar
