"""MINERVA: five options on long videos, with the steps that lead to the answer (Nagrani et al. 2025)."""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
