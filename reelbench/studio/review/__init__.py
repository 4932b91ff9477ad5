"""People in the loop: pages on which they rate, mark, tag and answer, and what is made of their marks.

`pages` draws items and writes a page (or one per rater) that works from the disk, `review_kind`
reads what a page saved, `label_studio` goes to that server and back. Each kind of page is an
object, in `ratings`, `spans`, `tags`, `answers` and so on; `kinds` has them by name. Their names
stand here, where the command line has them without loading the kinds.
"""

from enum import StrEnum


class KindName(StrEnum):
    """What `--ask` takes, and what a saved file says of itself."""

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
