"""Scorers by kind of answer, and the numbers that are made of their scores.

A module here belongs to a kind of answer or to a statistic, never to one dataset.
It may import the sub-packages of lower layers: judges, llm, stats, data, video, registry, base.
It never asks a model and never shows a page.
"""
