"""People in the loop: pages on which they rate, mark and answer, and their merged files.

It may import the diagnosis, the makers of questions beside it, and what measures. No page and no
saved file holds a path of the machine that made it.

`pages` writes the pages, `review_kind` reads saved files, `label_studio` goes to that server and
back. Each kind of page is an object, in `ratings`, `spans`, `tags` and so on. `kinds` has them by
name. The names stand here, so that the command line has them without loading the kinds.
"""

from enum import StrEnum


class KindName(StrEnum):
    """The values of `--ask`, which saved files hold, too."""

    RATINGS = "ratings"
    SPANS = "spans"
    QUESTION_SPANS = "question-spans"
    ANSWERS = "answers"
    TAGS = "tags"
    SCORES = "scores"
    NODES = "nodes"
    PREFERENCE = "preference"
    GRAPHS = "graphs"
    AUDIT = "audit"
    WRITE = "write"
