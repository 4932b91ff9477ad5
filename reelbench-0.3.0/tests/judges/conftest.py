from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.judge_run import judge_items
from reelbench.registry.records import Item
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.curve import SPEC as CURVE
from reelbench.tasks.moviecore import SPEC as MOVIECORE

KEY = "sk-test-7f3a9c51d2"


def judged_item(id_: str, question: str, reference: str, prediction: str) -> Item:
    return Item(
        id=id_, video="film", target={"text": reference}, prediction=prediction, question=question
    )


@pytest.fixture
def home(reelbench_home: Path) -> Path:
    return reelbench_home


@pytest.fixture
def moviecore() -> BenchmarkSpec:
    return MOVIECORE


@pytest.fixture
def curve() -> BenchmarkSpec:
    return CURVE


@pytest.fixture
def options() -> Callable[..., JudgeOptions]:
    def make(url: str, **more: Any) -> JudgeOptions:
        defaults = {"model": "judge-1", "url": url, "api_key": KEY, "backoff": 0.01, "timeout": 5.0}
        return JudgeOptions(**(defaults | more))

    return make


@pytest.fixture
def items() -> Callable[[int], list[Item]]:
    return lambda n: [
        judged_item(f"q{i}", f"Why does she leave? ({i})", f"Because of {i}.", f"I think {i}.")
        for i in range(n)
    ]


ITEM = judged_item("q1", "Why?", "Because.", "Hm.")


def verdicts(
    spec: BenchmarkSpec, items: Any, options: JudgeOptions, **more: Any
) -> tuple[list[Any], Any]:
    run = judge_items(spec, items, options, **more)
    return list(run), run
