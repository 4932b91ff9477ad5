"""The most that is taken of what others write: one table, held to before anything is computed of it."""

from reelbench.registry.errors import InputError

DEPTH = 100  # lists and objects in each other, of any JSON
TEXT = 1_000_000  # characters of any text of a record
NAME = 1000  # characters of what a page or a table shows in one line: an id, a media key, a label, a judge
TITLE = 300  # characters of a declared title
NOTE = 10_000  # characters of a note
DECLARATION, DECLARED_TEXT = 200_000, 5_000  # characters of a benchmark that a result declares, and of one text of it
ENTRIES = 200  # entries of a record's list of software, of arguments, of what was sent
LABELS = 300  # labels of one facet
ITEMS = 200_000  # items of a result
PARTS = 100  # metrics, facets, tasks, columns or splits of a declaration, each
WORKERS, CONCURRENCY = 256, 4_096  # processes at once, and calls at once of one model
RESULT_BYTES, SAMPLES_BYTES, SUBMITTED_BYTES = 20_000_000, 2_000_000_000, 200_000_000
"""Size of a `result.json`, of its samples, and of all files of one pull request."""
SETTINGS_BYTES = 4_000_000
"""Size of a `benchmark.yaml`, a `reelbench.toml` or another YAML file."""


def hold(what: str, number: int, most: int) -> None:
    """Raise InputError where there is more of something than is taken; the line has both figures."""
    if number > most:
        raise InputError(f"{what}: {number:,}, and at most {most:,} are taken")
