"""The diagnosis of wrong answers: a loop that isolates errors in evidence graphs (CURVE, 5).

It may import what measures (judges, tasks, scoring, llm), `studio.evidence` and `reelbench.pages`,
and nothing of the reviews. Hinted answers and their scores never leave its folder.
"""
