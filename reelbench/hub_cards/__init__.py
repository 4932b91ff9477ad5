"""Dataset cards, `eval.yaml` and the statistics in them, rendered from a benchmark's spec and rows."""
