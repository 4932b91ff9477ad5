"""The bridge to lmms-eval: the functions of a task, what a model is shown, the process, and reading what it left."""
