"""Evidence graphs and the isolation of errors in them, recomputed from what is on disk (CURVE, section 5)."""
