"""The command line: thin.

One module per group of commands, everything heavy imported inside a command.
"""

from reelbench.cli.main import main

__all__ = ["main"]
