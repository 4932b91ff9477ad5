"""Rows: where they come from, how any table becomes them, and whose they are.

This room imports `video`, `registry` and `base`. It brings a split's annotations and videos to this
machine, and reads and writes the Hub. It never asks a model and never scores.
"""

from reelbench.base.python_guesses import refuse_calls

refuse_calls(__name__, "reelbench.load(name) returns the rows of a benchmark")
