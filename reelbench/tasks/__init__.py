"""Benchmarks, a folder each, and the code that they share beside them."""

from reelbench.base.python_guesses import refuse_calls

refuse_calls(__name__, "reelbench.benchmarks() lists all benchmarks and their tasks")
