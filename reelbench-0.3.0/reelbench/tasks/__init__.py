"""Benchmarks, a folder each, and the code that they share beside them."""
