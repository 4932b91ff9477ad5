"""Asking a language model: what is paid for once is never paid for again.

The cache of replies, the client, pacing, budgets and the strict reading of JSON live here.
A module here may import the sub-package base, and data for pictures and clips.
It never knows a benchmark, a prompt's subject or what a reply is for.
"""
