from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reelbench.judges.llm import JudgeItem, JudgeOptions
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.curve import SPEC as CURVE
from reelbench.tasks.moviecore import SPEC as MOVIECORE

KEY = "sk-test-7f3a9c51d2"


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
        given = {"model": "judge-1", "url": url, "api_key": KEY, "backoff": 0.01, "timeout": 5.0}
        return JudgeOptions(**(given | more))

    return make


@pytest.fixture
def items() -> Callable[[int], list[JudgeItem]]:
    return lambda n: [
        JudgeItem(f"q{i}", f"Why does she leave? ({i})", f"Because of {i}.", f"I think {i}.") for i in range(n)
    ]
