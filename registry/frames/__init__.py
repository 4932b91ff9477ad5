"""Frame sampling: which frames of a video a model is shown, decoded once and delivered to any model.

`sampling` says which frames, `index` lists what a file holds, `decoder` fetches exactly those frames, `clip` writes
them down, and `store` keeps them so that all questions, ranks, models and retries share one decode.
"""
