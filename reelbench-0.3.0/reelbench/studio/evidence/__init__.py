"""Evidence graphs, a tagger's findings on their nodes, isolation of errors (CURVE, section 5).

May import `reelbench.base`, `reelbench.pages` and a text's normal form from `reelbench.scoring`.
Pure rules: it asks no model and writes no file.
"""
