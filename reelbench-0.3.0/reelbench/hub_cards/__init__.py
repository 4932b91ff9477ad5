"""Dataset cards: `README.md`, `eval.yaml` and the statistics in them.

This room stands on the bench. A card is made from a benchmark's spec, its datasheet and its rows.
It is rendered to a folder or pushed to the Hub. It never reads scores or replies.
"""
