"""What this folder's YAML names. Written from the spec by `python -m reelbench.tasks.lmms.codegen`."""

from reelbench.tasks.dramaqa_cogme import SPEC
from reelbench.tasks.lmms.task import LmmsTask

TASK = LmmsTask(SPEC)
__getattr__ = TASK.named
