"""`make parity`: others' benchmarks as a `benchmark.yaml`, and their owners' scorer beside ours on the same answers.

Nothing of theirs is in this repository: `--material` names clones, or they are made; what came of
it is `parity.json` beside each file.
"""
