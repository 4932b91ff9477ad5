"""What this folder's YAML names. Written from the spec by `python -m reelbench.tasks.lmms.codegen`."""

from reelbench.tasks import timelens as benchmark
from reelbench.tasks.lmms.task import LmmsTask

TASK = LmmsTask(benchmark.SPEC)

process_docs = TASK.process_docs
doc_to_messages = TASK.doc_to_messages
doc_to_visual = TASK.doc_to_visual
doc_to_text = TASK.doc_to_text
doc_to_target = TASK.doc_to_target
process_results = TASK.process_results
aggregate = TASK.aggregate

REELBENCH_TIMELENS_CHARADES = TASK.data["reelbench_timelens_charades"]
REELBENCH_TIMELENS_CHARADES_MINI = TASK.data["reelbench_timelens_charades_mini"]
REELBENCH_TIMELENS_ACTIVITYNET = TASK.data["reelbench_timelens_activitynet"]
REELBENCH_TIMELENS_ACTIVITYNET_MINI = TASK.data["reelbench_timelens_activitynet_mini"]
REELBENCH_TIMELENS_QVHIGHLIGHTS = TASK.data["reelbench_timelens_qvhighlights"]
REELBENCH_TIMELENS_QVHIGHLIGHTS_MINI = TASK.data["reelbench_timelens_qvhighlights_mini"]
