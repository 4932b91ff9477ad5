"""Pages and pictures: the HTML shell of our pages, SVG charts and figures, Markdown for cards.

May import `reelbench.base`, nothing else of ours: it knows no benchmark, no score, no studio.
A chart is described once (`chart.py`); a page's script and `drawing.py` draw that.

Never reads a result, never fetches anything; a plotting library only turns a drawing into PDF. The
same input gives the same bytes, and no text that is passed in can run or load anything in a page.
"""
