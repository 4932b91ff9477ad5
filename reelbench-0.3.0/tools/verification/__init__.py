"""`make verification`: our numbers beside others' on the same input, and what came of it in docs/verification.md."""
