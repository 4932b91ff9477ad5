"""Read the rows of MovieChat's annotation file.

Its shapes are those of MovieCORE's, without captions and classes of questions.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from reelbench.registry.rows import Row
from reelbench.tasks.moviecore import data


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of the annotation file."""
    columns = ("id", "video", "question", "language", "answer", "genre")
    for row in data.read(paths, split):
        yield {name: row[name] for name in columns}
