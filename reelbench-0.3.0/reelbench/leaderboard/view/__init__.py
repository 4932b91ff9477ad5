"""Show one run on a page, or several of the same benchmark side by side.

The page is for the machine that it is made on. It joins the questions, and the frames that a model
saw, which no store takes and nothing publishes.
"""
