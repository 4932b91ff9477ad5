"""What this folder's YAML names. Written from the spec by `python -m reelbench.tasks.lmms.codegen`."""

from reelbench.tasks import video_holmes as benchmark
from reelbench.tasks.lmms.task import LmmsTask

TASK = LmmsTask(benchmark.SPEC)

process_docs = TASK.process_docs
doc_to_messages = TASK.doc_to_messages
doc_to_visual = TASK.doc_to_visual
doc_to_text = TASK.doc_to_text
doc_to_target = TASK.doc_to_target
process_results = TASK.process_results
aggregate = TASK.aggregate

REELBENCH_VIDEO_HOLMES = TASK.data["reelbench_video_holmes"]
REELBENCH_VIDEO_HOLMES_MINI = TASK.data["reelbench_video_holmes_mini"]
