"""MovieCORE: open questions on films that ask for System-2 thinking, judged on five dimensions."""

from reelbench.tasks.declarations import of_package

SPEC = of_package(__name__, __file__)
