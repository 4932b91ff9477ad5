"""LLM judging: ask a model how good an answer is, keep every reply, and never lose, repeat or invent a score.

options = JudgeOptions(model="gpt-6-luna", api_key=...)
run = judge_items(spec, items, options)
for verdict in run:
    print(verdict.id, verdict.scores, verdict.reasons)
run.record

What is named here is loaded when it is first used: who only reads a verdict needs no panel.
"""

from typing import TYPE_CHECKING

from reelbench.registry.lazy import names_of

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

__getattr__ = names_of(
    __name__,
    {
        "reelbench.judges.judge_options": ("JudgeOptions", "default_api_key", "default_url"),
        "reelbench.judges.judge_run": ("JudgeRun", "LiveJudge", "judge_items"),
        "reelbench.judges.prompting": ("PromptSet", "load_prompts"),
        "reelbench.judges.verdicts": (
            *("JUDGE_BUDGET", "JUDGE_REFUSED", "JUDGE_REJECTED", "JUDGE_UNAVAILABLE", "JUDGE_UNPARSABLE"),
            "Verdict",
        ),
    },
)
