"""Why an answer was wrong: evidence graphs, and the loop that isolates errors in them (CURVE, section 5)."""
