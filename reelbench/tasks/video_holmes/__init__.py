"""Video-Holmes: six options on suspense films, whose answer takes clues from several scenes (Cheng et al. 2025)."""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
