"""Fuzzing: inputs damaged in all ways, and for each target what must never come of it (`tools/fuzz.py` runs it)."""
