"""LLM judging: ask a model how good an answer is, keep every reply, and never lose, repeat or invent a score.

options = JudgeOptions(model="gpt-4o-mini-2024-07-18", api_key=...)
run = judge_items(spec, (JudgeItem(id, question, reference, answer) for ...), options)
for verdict in run:
    print(verdict.id, verdict.scores, verdict.reasons)
run.record
"""

from reelbench.judges.llm.engine import (
    JUDGE_BUDGET,
    JUDGE_REFUSED,
    JUDGE_REJECTED,
    JUDGE_UNAVAILABLE,
    JUDGE_UNPARSABLE,
    Tally,
    Verdict,
)
from reelbench.judges.llm.judging import JudgeRun, LiveJudge, judge_items
from reelbench.judges.llm.options import JudgeOptions, default_api_key, default_url
from reelbench.judges.llm.progress import judging_progress
from reelbench.judges.llm.prompting import JudgeItem, PromptSet, load_prompts

__all__ = [
    "JUDGE_BUDGET",
    "JUDGE_REFUSED",
    "JUDGE_REJECTED",
    "JUDGE_UNAVAILABLE",
    "JUDGE_UNPARSABLE",
    "JudgeItem",
    "JudgeOptions",
    "JudgeRun",
    "LiveJudge",
    "PromptSet",
    "Tally",
    "Verdict",
    "default_api_key",
    "default_url",
    "judge_items",
    "judging_progress",
    "load_prompts",
]
