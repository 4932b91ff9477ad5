"""CURVE (MINERVA-Cultural): open questions on long videos from many cultures.

They are asked in the language of each culture.
"""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
