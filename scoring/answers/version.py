"""The version of the rules by which answers are read; results state it, and the board reads older ones again."""

VERSION = 4
"""Raised by every change that reads any answer otherwise. 1: Reelbench 0.1.0. 2: reasoning, tags, statements, 14
languages. 3: form beats context, every letter alike in either case, every space and dash, 35 languages, one rule for
several windows. 4: a number ends its sentence, a made-up next turn is cut off, "no" before a noun and
an equation's letter are no options, counts, LaTeX's plain forms, long decimals; a `<131>` is no second."""
