"""What this folder's YAML names. Written from the spec by `python -m reelbench.tasks.lmms.codegen`."""

from reelbench.tasks.lmms.task import LmmsTask
from reelbench.tasks.moviechat import SPEC

TASK = LmmsTask(SPEC)
__getattr__ = TASK.named
