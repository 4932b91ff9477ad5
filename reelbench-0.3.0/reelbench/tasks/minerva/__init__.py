"""MINERVA: five options on long videos (Nagrani et al. 2025).

Its rows have the steps that lead to the answer.
"""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
