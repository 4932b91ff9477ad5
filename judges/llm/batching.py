"""Judging by batches: what they have answered is collected first, and what is still to be asked is handed over."""

from collections.abc import Callable, Sequence
from typing import cast

from reelbench.judges.llm.engine import Engine
from reelbench.judges.llm.options import JudgeOptions
from reelbench.judges.llm.panel import engines
from reelbench.judges.llm.prompting import load_prompts
from reelbench.llm.messages import Message
from reelbench.registry.records import Item
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec


def settle(spec: BenchmarkSpec, items: Sequence[Item], options: JudgeOptions, note: Callable[[str], None]) -> None:
    """Collect what batches have answered of these items; with `options.batch` hand over what is still to be asked.

    Where nothing of theirs is in a batch and none is wanted, nothing is sent.

    Raises:
        ReelbenchError: The server does not take the batch, or the cache can't be written.
    """
    prompts = load_prompts(spec, options.prompts)
    for engine in engines(cast("JudgeSpec", spec.judge), prompts, options, note):
        try:
            batches = engine.batches()
            if (under_way := batches.under_way()) and under_way & _wanted(engine, items).keys():
                batches.collect()
            if options.batch and (wanted := _wanted(engine, items)):
                batches.submit(wanted, engine.sampling)
        finally:
            engine.close()


def _wanted(engine: Engine, items: Sequence[Item]) -> dict[bytes, Sequence[Message]]:
    """Return what is to be asked next: key -> messages."""
    return {key: walk.messages for item in items for key, walk in engine.questions(item) if key is not None}
