"""LLM judges: they mark open answers, and every reply is kept.

This room holds judges, panels, prompts, the reading of replies and the rules from votes to scores.
It imports `base`, `registry`, `llm` and, to fetch owners' prompts, `data`. It computes no metric,
and it never guesses a score that a reply does not plainly state.
"""

from reelbench.base.python_guesses import refuse_calls

refuse_calls(__name__, "judge='MODEL' or judge=reelbench.JudgeOptions(…) names a judge")
