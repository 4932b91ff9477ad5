"""MovieChat-1k, global mode: what is plainly seen in MovieCORE's own films; the System-1 side of its Table 5."""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
