"""The page of one run, or of several of the same benchmark side by side, straight from their folders.

It is for the machine that it is made on: it joins the questions and the frames that a model saw,
which no store takes and nothing publishes.
"""
