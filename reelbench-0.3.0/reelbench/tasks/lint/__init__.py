"""The linter of benchmarks' data: a module a rule, questions in and faults out.

No rule knows a benchmark, opens a file or asks a model. `linter` runs them all.
"""
