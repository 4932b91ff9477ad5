"""LLM judging: ask a model how good an answer is, keep every reply, and never lose, repeat or invent a score.

options = JudgeOptions(model="gpt-6-luna", api_key=...)
run = judge_items(spec, items, options)
for verdict in run:
    print(verdict.id, verdict.scores, verdict.reasons)
run.record

What is named here is loaded when it is first used: who only reads a verdict needs no panel.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions, default_api_key, default_url
    from reelbench.judges.judge_run import JudgeRun, LiveJudge, judge_items
    from reelbench.judges.prompting import PromptSet, load_prompts
    from reelbench.judges.verdicts import (
        JUDGE_BUDGET,
        JUDGE_REFUSED,
        JUDGE_REJECTED,
        JUDGE_UNAVAILABLE,
        JUDGE_UNPARSABLE,
        Verdict,
    )

__all__ = [
    "JUDGE_BUDGET",
    "JUDGE_REFUSED",
    "JUDGE_REJECTED",
    "JUDGE_UNAVAILABLE",
    "JUDGE_UNPARSABLE",
    "JudgeOptions",
    "JudgeRun",
    "LiveJudge",
    "PromptSet",
    "Verdict",
    "default_api_key",
    "default_url",
    "judge_items",
    "load_prompts",
]

_MODULES = {
    "judge_options": ("JudgeOptions", "default_api_key", "default_url"),
    "judge_run": ("JudgeRun", "LiveJudge", "judge_items"),
    "prompting": ("PromptSet", "load_prompts"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'verdicts')}"), name)
    return value
