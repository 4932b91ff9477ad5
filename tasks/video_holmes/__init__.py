"""Video-Holmes: six options on suspense films, whose answer takes clues from several scenes (Cheng et al. 2025)."""

from reelbench.tasks.declarations import in_file
from reelbench.tasks.video_holmes.published import PUBLISHED

SPEC = in_file(__name__, __file__, published=PUBLISHED)
