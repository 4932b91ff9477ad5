"""Video-Holmes: six options on suspense films (Cheng et al. 2025).

An answer takes clues from several scenes.
"""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
