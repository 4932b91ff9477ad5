"""Video-Holmes: six options on suspense films, whose answer takes clues from several scenes (Cheng et al. 2025)."""

from reelbench.tasks.declarations import in_file, published

SPEC = in_file(__name__, __file__, published=published(__file__))
