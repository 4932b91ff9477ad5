"""What this folder's YAML names. Written from the spec by `python -m reelbench.tasks.lmms.codegen`."""

from reelbench.tasks import rextime as benchmark
from reelbench.tasks.lmms.task import LmmsTask

TASK = LmmsTask(benchmark.SPEC)

__getattr__ = TASK.named
