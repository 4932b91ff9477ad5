"""The bridge to lmms-eval.

It has the functions of a task, the videos as a model gets them, the process, and a reader of its
logs.
"""
