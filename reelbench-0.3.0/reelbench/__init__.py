"""Reelbench: one hub for evaluating video-language models on story and culture.

    import reelbench

    rows = reelbench.load("rextime", "mini")
    scored = reelbench.score("rextime", "predictions.csv", split="mini")
    scored.metrics["accuracy"].value

What is listed in `__all__` is the Python face, loaded when it is first used. All else is private by
convention and may change with any version, except what `docs/api.md` lists for the packages of
other benchmarks.
"""

from typing import TYPE_CHECKING

from reelbench.base.lazy import names_of as _names_of

if TYPE_CHECKING:
    from reelbench.api import (
        Scored,
        ask,
        benchmarks,
        compare,
        evaluate,
        open_result,
        results,
        score,
    )
    from reelbench.base.errors import DataUnavailableError, InputError, MediaError, ReelbenchError
    from reelbench.data.loading import load
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.scoring.answers import read_option, read_span
    from reelbench.tasks.answer_reader import ReaderOptions

__version__ = "0.3.0"  # said here; CITATION.cff and CHANGELOG.md repeat it

__all__ = [
    "DataUnavailableError",
    "InputError",
    "JudgeOptions",
    "MediaError",
    "ReaderOptions",
    "ReelbenchError",
    "Scored",
    "__version__",
    "ask",
    "benchmarks",
    "compare",
    "evaluate",
    "load",
    "open_result",
    "read_option",
    "read_span",
    "results",
    "score",
]

__getattr__ = _names_of(
    __name__,
    {
        "reelbench.api": (
            "Scored",
            "ask",
            "benchmarks",
            "compare",
            "evaluate",
            "open_result",
            "results",
            "score",
        ),
        "reelbench.judges.judge_options": ("JudgeOptions",),
        "reelbench.data.loading": ("load",),
        "reelbench.base.errors": (
            "DataUnavailableError",
            "InputError",
            "MediaError",
            "ReelbenchError",
        ),
        "reelbench.scoring.answers": ("read_option", "read_span"),
        "reelbench.tasks.answer_reader": ("ReaderOptions",),
    },
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
