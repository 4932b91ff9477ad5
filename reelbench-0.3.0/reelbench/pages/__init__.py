"""Pages and pictures: the HTML shell of our pages, SVG charts and figures, Markdown for cards.

May import `reelbench.base`, nothing else of ours: it knows no benchmark, no score, no studio.
Never reads a result, never fetches anything, never uses a plotting library. The same input gives
the same bytes, and no text that is passed in can run or load anything in a page.
"""
