"""TimeLens-Bench: queries on three data sets, with spans marked anew (Zhang et al. 2026)."""

from reelbench.tasks.declarations import of_package

# TimeLens models, zero-shot in the published rows, are trained on TimeLens-100K, whose videos are
# none of these.
SPEC = of_package(__name__, __file__)
