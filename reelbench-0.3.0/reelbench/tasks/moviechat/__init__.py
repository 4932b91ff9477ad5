"""MovieChat-1k, global mode: questions on what is plainly seen in MovieCORE's own films.

It is the System-1 side of MovieCORE's Table 5.
"""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
