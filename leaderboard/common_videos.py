"""Runs that lack different videos, scored on the videos that all of them had: tables beside the others."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from reelbench.leaderboard.entries import BoardEntry, run_entry
from reelbench.leaderboard.standing import ranked_samples
from reelbench.registry.errors import InputError
from reelbench.scoring.videos import videos_had


def on_common_videos(rows: Sequence[BoardEntry], chosen: Sequence[str] = ()) -> Iterator[BoardEntry]:
    """Yield the rows of a benchmark's runs once more, on the videos that all runs of a table had.

    A table is here one in which runs differ in nothing but the videos they had. Where all had the same, nothing is
    yielded.

    Args:
        rows: A benchmark's rows.
        chosen: Keys of the runs to take; by default all that are ranked.
    """
    tables: dict[object, list[BoardEntry]] = defaultdict(list)
    for row in rows:
        if row.stored is not None and (row.key in chosen if chosen else row.unranked is None):
            tables[replace(row.group, subset=row.stored.check.subset)].append(row)
    for members in tables.values():
        # Rows of one group lack the very same items.
        if len({row.group for row in members}) > 1 or (chosen and len(members) > 1):
            yield from _restricted(members)


def check_chosen(rows: Iterable[BoardEntry], chosen: Sequence[str]) -> None:
    """Raise InputError where a key is not a run's."""
    there = {row.key for row in rows if row.stored is not None}
    if strangers := [key for key in chosen if key not in there]:
        raise InputError(f"--common: no run has the key {strangers[0]!r}; `reelbench leaderboard list` shows them")


def _restricted(rows: Sequence[BoardEntry]) -> Iterator[BoardEntry]:
    had = [videos_had(ranked_samples(row.stored)) for row in rows if row.stored is not None]
    common = frozenset(set.intersection(*had))
    if not common:
        return
    digest = hashlib.sha256("\n".join(sorted(common)).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    part = f"the {len(common)} videos that all {len(rows)} runs had @{digest}"
    for row in rows:
        if row.stored is None:
            continue
        subset = ", ".join(filter(None, (row.stored.check.subset, part)))
        check = row.stored.check.model_copy(update={"subset": subset})
        yield run_entry(replace(row.stored, key=f"{row.key}#{digest}", check=check, videos=common))
