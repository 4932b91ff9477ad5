"""The functions that this folder's YAML names."""

from reelbench.tasks import curve as benchmark
from reelbench.tasks.lmms import LmmsTask

TASK = LmmsTask(benchmark.SPEC, benchmark.DATA)

doc_to_text = TASK.doc_to_text
doc_to_visual = TASK.doc_to_visual
doc_to_messages = TASK.doc_to_messages
doc_to_target = TASK.doc_to_target
process_docs = TASK.process_docs
process_results = TASK.process_results
aggregate = TASK.aggregate
