"""The most that is taken of what others write: one table, checked before anything is computed."""

from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_object

DEPTH = 100  # lists and objects in each other, of any JSON
TEXT = 1_000_000  # characters of any text of a record, of a cell, of a question as it is sent
NAME = 1000  # characters of one shown line: an id, a media key, a label, a judge
TITLE = 300  # characters of a declared title
NOTE = 10_000  # characters of a note
LINE = 20_000_000  # characters of a line of JSON Lines
DECLARATION = 200_000  # characters of a benchmark that a result declares
DECLARED_TEXT = 5_000  # characters of one text of such a declaration
ENTRIES = 200  # entries of a record's software or arguments, or of a list in a `benchmark.yaml`
LABELS = 300  # labels of one facet
ALL_LABELS = 1_000  # labels of all facets
VALUES = 5_000  # metrics of a result, with each of them by each label
LABEL_TEXTS = 50_000  # characters of all labels together
PART = (
    60_000  # extent of a line of a ledger, or of a part of a `result.json` that isn't of its items
)
SCORE = 1e9  # size of a score or a metric: its square is still a number
ITEMS = 200_000  # items of a result
OF_ITEM = 50_000  # frames, candidates or replies of one item, each
PARTS = 100  # metrics, facets, tasks, columns or splits of a declaration, each
COLUMNS = 10_000  # columns of a table
GRAPH = 1_000  # nodes and edges of one question's evidence, together
FRAMES_GIVEN = 10_000  # numbers of frames, each with how many items of a result had so many
PICTURES = 100  # pictures beside one row's video
PICTURE_PIXELS = 89_000_000  # pixels of a picture of others: from a little more on, Pillow warns
WORKERS = 256  # processes at once
CONCURRENCY = 4_096  # calls at once of one model
FILE_BYTES = 100_000_000  # of any file for which nothing else is said
DATA_BYTES = 2_000_000_000  # of a file of rows, answers or predictions
RESULT_BYTES = 20_000_000  # of a `result.json` or a `calibration.json`
SAMPLES_BYTES = 2_000_000_000  # of a result's samples
LEDGER_BYTES = 500_000_000  # of a store's ledger
PREDICTIONS_BYTES = 50_000_000  # of a hidden test's `submission.jsonl`
PREDICTION = 20_000  # characters of one prediction in it
SUBMITTED_BYTES = 200_000_000  # of all files of one pull request
UNSTATED_BYTES = 20_000_000_000  # of a download of which the server doesn't say how long it is
SETTINGS_BYTES = 4_000_000  # of a `benchmark.yaml`, or another YAML file
BESIDE_BYTES = 1_000_000  # of a `parity.json` or a `datasheet.md`
TOML_BYTES = 64_000  # of a `reelbench.toml`
TOML_LINE = 2_000  # characters of its line: a key of many parts costs the square of their number


def extent(value: object) -> int:
    """Return the characters of a JSON value's names and texts, plus its entries."""
    if is_object(value):
        return sum(1 + len(str(name)) + extent(part) for name, part in value.items())
    if is_array(value):
        return sum(1 + extent(part) for part in value)
    if isinstance(value, str):
        return len(value)
    return 0


def hold(what: str, number: int, most: int) -> None:
    """Raise InputError, with both figures, where a number is larger than the most."""
    if number > most:
        raise InputError(f"{what}: {number:,}, and at most {most:,} are taken")
