"""The most that is taken of what others write: one table, held to before anything is computed of it."""

from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_object

DEPTH = 100  # lists and objects in each other, of any JSON
TEXT = 1_000_000  # characters of any text of a record, of a cell, of a question as it is sent
NAME = 1000  # characters of what a page or a table shows in one line: an id, a media key, a label, a judge
TITLE = 300  # characters of a declared title
NOTE = 10_000  # characters of a note
LINE = 20_000_000  # characters of a line of JSON Lines
DECLARATION, DECLARED_TEXT = (
    200_000,
    5_000,
)  # characters of a benchmark that a result declares, and of one text of it
ENTRIES = 200  # entries of a record's list of software, of arguments, of what was sent; of a list in a `benchmark.yaml`
LABELS, ALL_LABELS, LABEL_TEXTS = (
    300,
    1_000,
    50_000,
)  # labels of one facet, of all, and characters of all together
PART = 60_000  # extent of one part of a `result.json` that doesn't grow with its items, or of a `check.json`
SCORE = 1e9  # size of a score or a metric: its square is still a number
ITEMS, OF_ITEM = 200_000, 50_000  # items of a result; frames, candidates or replies of one, each
PARTS = 100  # metrics, facets, tasks, columns or splits of a declaration, each
COLUMNS = 10_000  # columns of a table
GRAPH = 1_000  # nodes and edges of one question's evidence, together
FRAMES_GIVEN = 10_000  # numbers of frames, each with how many items of a result had so many
WORKERS, CONCURRENCY = 256, 4_096  # processes at once, and calls at once of one model
RESULT_BYTES, SAMPLES_BYTES, SUBMITTED_BYTES = 20_000_000, 2_000_000_000, 200_000_000
"""Size of a `result.json`, of its samples, and of all files of one pull request."""
UNSTATED_BYTES = 20_000_000_000  # of a download of which the server doesn't say how long it is
SETTINGS_BYTES = 4_000_000
"""Size of a `benchmark.yaml` or another YAML file."""
TOML_BYTES, TOML_LINE = 64_000, 2_000
"""Size of a `reelbench.toml`, and characters of a line of it: a key of many parts costs the square of their number."""


def extent(value: object) -> int:
    """Return the number of characters of all names and texts of a JSON value, with one more for each entry."""
    if is_object(value):
        return sum(1 + len(str(name)) + extent(part) for name, part in value.items())
    if is_array(value):
        return sum(1 + extent(part) for part in value)
    return len(value) if isinstance(value, str) else 0


def hold(what: str, number: int, most: int) -> None:
    """Raise InputError where there is more of something than is taken; the line has both figures."""
    if number > most:
        raise InputError(f"{what}: {number:,}, and at most {most:,} are taken")
