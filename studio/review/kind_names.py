"""The names of the kinds of pages; alone in a module, so that the command line has them without loading the kinds."""

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
