"""The runs of a table that are compared, and the tests of all their pairs.

Runs on the same items are tested at once. Their scores and tests are kept in `REELBENCH_HOME`, by
what they follow from, so that one more row costs its own tests alone.
"""

import hashlib
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from reelbench.base.files import sha256_of_names, written_aside
from reelbench.base.settings import kept_tables
from reelbench.leaderboard.code_state import code_state, digest_of
from reelbench.leaderboard.entries import BoardEntry
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.comparison import AtBothEnds
from reelbench.stats.all_pairs import CommonItems, PairedTests, Scores, all_tests
from reelbench.stats.intervals import Places
from reelbench.stats.ratios import Resampled


@dataclass(frozen=True, slots=True)
class Shape:
    """The items and resamples that runs share which are tested at once.

    Attributes:
        items: The hash of the items' ids.
        drawn: The hash of the resamples that are not empty.
        common: The numbers of items and videos, and the scale.
    """

    items: str
    drawn: str
    common: CommonItems


@dataclass(frozen=True, slots=True)
class Stack:
    """Runs on the same items, in arrays with a row a run.

    Attributes:
        contents: The hash of all that a run's scores follow from. Empty where it isn't kept (runs).
        shape: What they share.
        lowest: Their scores with unscored items at the scale's lowest.
        highest: The same at its highest. The same object where every item of all runs is scored.
        tests: The tests of all their pairs.
    """

    contents: tuple[str, ...]
    shape: Shape
    lowest: Scores
    highest: Scores
    tests: PairedTests

    def at(self, places: Places) -> "Stack":
        """Return some of the runs."""
        lowest = self.lowest.at(places)
        highest = lowest
        if self.highest is not self.lowest:
            highest = self.highest.at(places)
        contents = tuple(self.contents[place] for place in places.tolist())
        return Stack(contents, self.shape, lowest, highest, self.tests.at(places))


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """A table's runs.

    Attributes:
        keys: Their rows' keys.
        stack: Those on the commonest items. None without any.
        places: Key -> the run's place in the stack.
        alone: Key -> a run that is not in the stack.
    """

    keys: list[str]
    stack: Stack | None = None
    places: Mapping[str, int] = field(default_factory=dict[str, int])
    alone: Mapping[str, AtBothEnds] = field(default_factory=dict[str, AtBothEnds])

    @property
    def videos(self) -> int:
        """The most videos that a run is of."""
        videos = [run.lowest.clusters for run in self.alone.values()]
        if self.stack is not None:
            videos.append(self.stack.shape.common.clusters)
        return max(videos, default=0)


def compared_runs(
    spec: BenchmarkSpec, rows: Sequence[BoardEntry], resampled: Callable[[BoardEntry], AtBothEnds]
) -> ComparedRuns:
    """Return the runs of some rows of one table.

    Args:
        spec: The benchmark.
        rows: The rows.
        resampled: Returns a row's main metric at both ends of its unscored items.
    """
    path = _path_of(rows)
    metrics = repr(spec.metrics)
    contents = [_content_of(metrics, row) for row in rows]
    stored_stack = None if path is None else _read(path)
    runs = _Runs(rows, contents, stored_stack, resampled)
    shapes = runs.shapes()
    if stored_stack is not None and 2 * shapes[stored_stack.shape] < len(rows):
        runs.load_stored()
        shapes = runs.shapes()
    if not shapes:
        return ComparedRuns([row.key for row in rows], alone=runs.loaded)
    [(shape, _)] = shapes.most_common(1)
    stack = runs.stack(shape)
    stored_contents: Sequence[str] = ()
    if stored_stack is not None:
        stored_contents = stored_stack.contents
    if path is not None and not set(stack.contents) <= {*stored_contents, ""}:
        with suppress(OSError):  # it is a cache: the table needs no room on a disk
            _write(path, stack)
    return runs.compared(stack)


class _Runs:
    """The runs of rows: those that are kept, and those that were loaded now."""

    def __init__(
        self,
        rows: Sequence[BoardEntry],
        contents: Sequence[str],
        stored_stack: Stack | None,
        resampled: Callable[[BoardEntry], AtBothEnds],
    ) -> None:
        self._rows = {row.key: row for row in rows}
        self._content_of = dict(zip(self._rows, contents, strict=True))
        self._resampled = resampled
        self._stored = stored_stack
        self._stored_places: dict[str, int] = {}
        if stored_stack is not None:
            place_of = {content: place for place, content in enumerate(stored_stack.contents)}
            for key, content in self._content_of.items():
                if content in place_of:
                    self._stored_places[key] = place_of[content]
        self.loaded: dict[str, AtBothEnds] = {}
        self._shapes: dict[str, Shape | None] = {}
        self._load()

    def _load(self) -> None:
        """Load the runs that are neither kept nor loaded yet."""
        for key, row in self._rows.items():
            if key not in self._stored_places and key not in self.loaded:
                self.loaded[key] = self._resampled(row)
                self._shapes[key] = _shape_of(self.loaded[key])

    def load_stored(self) -> None:
        """Load the runs that are kept too, and go on without those."""
        self._stored = None
        self._stored_places = {}
        self._load()
        self.loaded = {key: self.loaded[key] for key in self._rows}

    def shapes(self) -> Counter[Shape]:
        """Count the runs of each shape.

        What can't be tested with others at once has none.
        """
        shapes: Counter[Shape] = Counter()
        for shape in self._shapes.values():
            if shape is not None:
                shapes[shape] += 1
        if self._stored is not None:
            shapes[self._stored.shape] += len(self._stored_places)
        return shapes

    def compared(self, stack: Stack) -> ComparedRuns:
        """Return the runs, with those of a stack's shape in it."""
        new = self._of_shape(stack.shape)
        alone = {key: run for key, run in self.loaded.items() if key not in new}
        places: dict[str, int] = {}
        for key in (*self._stored_places, *new):
            places[key] = len(places)
        return ComparedRuns(list(self._rows), stack, places, alone)

    def stack(self, shape: Shape) -> Stack:
        """Return the runs of one shape.

        Those that are kept come first, and after them the new ones.
        """
        new = self._of_shape(shape)
        first_runs = None
        if self._stored is not None:
            places = list(self._stored_places.values())
            first_runs = self._stored.at(np.array(places, dtype=np.intp))
        if not new and first_runs is not None:
            return first_runs
        lowest = Scores.of([run.lowest for run in new.values()])
        highest = lowest
        if any(run.lowest is not run.highest for run in new.values()):
            highest = Scores.of([run.highest for run in new.values()])
        contents = tuple(self._content_of[key] for key in new)
        if first_runs is None:
            tests = all_tests(lowest, highest, shape.common)
            return Stack(contents, shape, lowest, highest, tests)
        all_lowest = first_runs.lowest.followed_by(lowest)
        all_highest = all_lowest
        if first_runs.highest is not first_runs.lowest or highest is not lowest:
            all_highest = first_runs.highest.followed_by(highest)
        tests = all_tests(all_lowest, all_highest, shape.common, first_runs.tests)
        return Stack(first_runs.contents + contents, shape, all_lowest, all_highest, tests)

    def _of_shape(self, shape: Shape) -> dict[str, AtBothEnds]:
        return {key: run for key, run in self.loaded.items() if self._shapes[key] == shape}


def _shape_of(run: AtBothEnds) -> Shape | None:
    """Return a run's shape. None where it can't be tested with others at once."""
    lowest = run.lowest
    highest = run.highest
    if not _has_parts(lowest) or not _has_parts(highest):
        return None
    assert lowest.draws is not None  # noqa: S101 - it has parts
    assert highest.draws is not None  # noqa: S101
    is_drawn = ~np.isnan(lowest.draws)
    has_same_items = (lowest.n, lowest.clusters) == (highest.n, highest.clusters)
    if not has_same_items or not np.array_equal(is_drawn, ~np.isnan(highest.draws)):
        return None
    drawn = hashlib.sha256(is_drawn.tobytes()).hexdigest()
    return Shape(run.items, drawn, CommonItems(lowest.n, lowest.clusters, lowest.bounds))


def _has_parts(run: Resampled) -> bool:
    return run.value is not None and run.draws is not None and run.parts is not None


# --- kept stacks ----------------------------------------------------------------------------------


def _path_of(rows: Sequence[BoardEntry]) -> Path | None:
    """Return the file that keeps a table's stack. None where nothing can be kept."""
    for row in rows:
        if row.stored is not None and row.stored.columns is not None:
            group = row.group
            if row.stored.videos is not None:  # which are among what a run's scores follow from
                group = replace(group, subset="common videos")
            folder = str(row.stored.columns.path.parent.resolve())
            return kept_tables() / f"{digest_of([folder, group.id])[:16]}.npz"
    return None


def _content_of(metrics: str, row: BoardEntry) -> str:
    """Return the hash of all that a run's scores follow from, its benchmark's metrics too.

    It is empty where they can't be kept. They can be where samples have columns: what is secret has
    none, nor has what another version read and can't be read again here.
    """
    stored = row.stored
    assert stored is not None  # noqa: S101 - runs only
    columns: list[str] = []
    for run in stored.each:
        if run.columns is None:
            return ""
        columns.append(run.columns.sha256)
    videos = ""
    if stored.videos is not None:
        videos = sha256_of_names(stored.videos)
    return digest_of([row.key, columns, videos, metrics, code_state()])


def _read(path: Path) -> Stack | None:
    """Return the stack that is kept. None where there is none, or a broken one."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return _stack_in(arrays)
    except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile):
        return None


def _stack_in(arrays: Mapping[str, Any]) -> Stack:
    n, clusters, low, high = arrays["common"].tolist()
    items, drawn = arrays["shape"].tolist()
    lowest = _scores_in(arrays, "lowest")
    highest = lowest
    if "highest values" in arrays:
        highest = _scores_in(arrays, "highest")
    return Stack(
        contents=tuple(arrays["contents"].tolist()),
        shape=Shape(items, drawn, CommonItems(int(n), int(clusters), (low, high))),
        lowest=lowest,
        highest=highest,
        tests=PairedTests(*(arrays[f"tests {each.name}"] for each in fields(PairedTests))),
    )


def _scores_in(arrays: Mapping[str, Any], end: str) -> Scores:
    return Scores(*(arrays[f"{end} {each.name}"] for each in fields(Scores)))


def _write(path: Path, stack: Stack) -> None:
    """Write the runs of a stack that can be kept."""
    places = np.flatnonzero(np.array(stack.contents) != "")
    if len(places) < len(stack.contents):
        stack = stack.at(places)
    if not stack.contents:
        return
    common = stack.shape.common
    arrays: dict[str, Any] = {
        "contents": np.array(stack.contents),
        "shape": np.array([stack.shape.items, stack.shape.drawn]),
        "common": np.array([common.n, common.clusters, *common.bounds]),
    }
    for each in fields(Scores):
        arrays[f"lowest {each.name}"] = getattr(stack.lowest, each.name)
        if stack.highest is not stack.lowest:
            arrays[f"highest {each.name}"] = getattr(stack.highest, each.name)
    for each in fields(PairedTests):
        arrays[f"tests {each.name}"] = getattr(stack.tests, each.name)
    with written_aside(path) as aside, aside.open("wb") as file:
        np.savez(file, **arrays)
