"""Keep results in a store, rank them, and show the table.

Here live the store, the checks of what is handed in, the ranking, the site, publishing to the Hub,
the exports, and the page that shows single runs.
The board may import base, data, judges, llm, pages, registry, scoring, stats, tasks, terminal and
video. Nothing but `reelbench.cli` and `reelbench.houses` knows of the board.
It never asks a model under test, and never believes a number that it can compute itself.
"""

from reelbench.base.python_guesses import refuse_calls

refuse_calls(__name__, "reelbench.results(store) returns a store as a table")
