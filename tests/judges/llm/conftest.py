from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reelbench.judges.llm import JudgeItem, JudgeOptions
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.moviecore import SPEC as MOVIECORE

KEY = "sk-test-7f3a9c51d2"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "REELBENCH_JUDGE",
        "REELBENCH_JUDGE_URL",
        "REELBENCH_JUDGE_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def moviecore() -> BenchmarkSpec:
    return MOVIECORE


@pytest.fixture
def curve() -> BenchmarkSpec:
    """One question, 0 to 2: what matters of CURVE here."""
    judge = MOVIECORE.judge.model_copy(update={"criteria": ("score",), "low": 0, "high": 2, "official_prompts": None})
    return MOVIECORE.model_copy(update={"id": "curve", "judge": judge})


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
