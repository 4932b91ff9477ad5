"""Make data sets of questions on videos, and examine them.

Here live the chains that make questions with language models, with their gates and pages, the
profile of a data set, the diagnosis of a model's answers, reviews by people, and ACE.
The studio may import base, data, judges, llm, methods, pages, registry, scoring, stats, tasks,
terminal and video. Nothing but `reelbench.cli` and `reelbench.houses` knows of the studio.
The studio never runs the model under test, and never changes how a benchmark scores it.
"""
