"""LLM judging: ask a model how good an answer is, keep every reply, and never lose, repeat or invent a score.

options = JudgeOptions(model="gpt-6-luna", api_key=...)  # judges.judge_options
run = judge_items(spec, items, options)  # judges.judge_run
for verdict in run:
    print(verdict.id, verdict.scores, verdict.reasons)
run.record
"""
