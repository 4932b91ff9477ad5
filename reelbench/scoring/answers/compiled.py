"""Compile all patterns, which takes a while.

A process imports this before others are made as its copies.
"""

from reelbench.scoring.answers import patterns

for name, texts in patterns.pattern_texts().items():
    if "@" not in texts[0]:  # of a part with numbered groups
        patterns.patterns_of(name)
