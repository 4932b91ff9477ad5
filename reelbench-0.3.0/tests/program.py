"""The whole command line, for tests that call it in their own process."""

from reelbench.cli.program import assembled

app = assembled()
