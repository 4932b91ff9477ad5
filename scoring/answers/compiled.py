"""All patterns, compiled: imported by a process that others are copies of, since it takes a while."""

from reelbench.scoring.answers import patterns

patterns.compile_all()
