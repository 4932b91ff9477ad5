"""CURVE (MINERVA-Cultural): open questions on long videos from many cultures, asked in the language of each."""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
