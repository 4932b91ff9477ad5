"""Where rows come from: the Hub, downloads, fetching, readers of files, ownership.

This room imports `video`, `registry` and `base`. It brings a split's data to this machine and reads
it; it never asks a model and never scores.
"""
