"""TimeLens-Bench: queries on three data sets, with spans marked anew (Zhang et al. 2026)."""

from reelbench.tasks.declarations import in_file
from reelbench.tasks.timelens.published import PUBLISHED

SPEC = in_file(__name__, __file__, published=PUBLISHED)
