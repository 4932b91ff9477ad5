"""How rows are ranked in a group: `RULES` is the one definition, and what the site prints."""

from collections import defaultdict
from collections.abc import Iterable

from reelbench.judges.identity import judge_as_answered
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.pairs import MOST_COMPARED, Noise, Pairs
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.value_bounds import MOST_UNSCORED
from reelbench.stats.power import MIN_CLUSTERS

RULES = f"""\
**In a group** rows are sorted by the benchmark's primary metric. A rank is shared by the best row and all rows after it
that can't be told from it; the first row that can be told from it begins the next rank, and so on. That a rank is
anchored at its best row settles that "not different" is not transitive, and each row is compared once. Two runs are
told apart by a paired bootstrap over the videos both were asked about: their difference is real if Student's t for so
many videos, with the bootstrap's standard error, gives it a p of at most 0.05. A published number has no samples: it is
told from a run if it lies outside the run's 95 % interval, and from another published number if the two differ. Not
ranked, and below all that are: floors, human rows, what the Hub's own board states, runs on a part of what was asked,
and rows without the primary metric.

**A few items without a score** (at most {100 * MOST_UNSCORED:g} %) don't bar a run: each counts at the scale's lowest,
so leaving out is as answering wrong and never pays. Its value is that lower bound, shown as "≥ 41.2, 3 unscored"; its
interval runs from the lower bound's low end to the high end with each of them at the scale's highest, and its range of
ranks leaves both open. A run with more of them is listed and not ranked. Items whose video was not there are no part of
this: a run without them is ranked among those that lack the same ones.

**Who judged** is the model that the judge's server says answered, whatever was asked for. A result in which one judge
answered under several ids is listed and not ranked. Rows on data of one's own have tables of their own; rows that don't
say whose data it was stand among the owners', marked. **Answers** of a run that an older version read are read again by
today's rules, and the value that the run states is shown beside what they come to.

**A run's range of ranks** is what the data don't rule out when all comparisons count at once: every pair of rows is
tested, the p values are adjusted for their number (Holm 1979), and a run's best rank is one below the rows that are
better even so, its worst one above those that are worse; with 95 % all ranges hold together (as with Tukey's test in
arXiv 1708.02729). A published number is taken as exact, and has no range of its own. Of more than {MOST_COMPARED}
ranked rows no ranges are given. **The smallest difference that a table can tell** is what two of its runs would have to
differ by to be told apart four times in five, with the median noise of its pairs; of under {MIN_CLUSTERS} videos it
isn't said."""


def rank_group(spec: BenchmarkSpec, entries: Iterable[BoardEntry]) -> dict[str, int]:
    """Return key -> rank within one group; a key that is not there is not ranked."""
    return ranked(spec, entries)[0]


def ranked(spec: BenchmarkSpec, entries: Iterable[BoardEntry]) -> tuple[dict[str, int], Noise]:
    """Return the ranks within one group, and what its pairs say together."""
    entries, pairs = list(entries), Pairs(spec)
    ranks = _ranks(spec, entries, pairs)
    return ranks, pairs.together(entries, ranks)


def over_judges(spec: BenchmarkSpec, entries: Iterable[BoardEntry]) -> dict[str, tuple[int, int]]:
    """Return key -> best and worst rank over the judges of a panel, each judge's scores taken alone.

    Of the runs of one group, so they were judged by the same panel; by the primary metric's value, equal ones alike.
    """
    by_judge: dict[str, dict[str, float]] = defaultdict(dict)
    for entry in entries:
        record = entry.stored.result.judge if entry.stored else None
        for member in record.panel or () if record and entry.unranked is None else ():
            score = metric_value(member.metrics or {}, spec.primary.name)
            if score is not None:
                by_judge[judge_as_answered(member)][entry.key] = score
    ranks: dict[str, list[int]] = defaultdict(list)
    for values in by_judge.values():
        for key, own in values.items():
            ranks[key].append(1 + sum(other > own for other in values.values()))
    return {key: (min(places), max(places)) for key, places in ranks.items()}


def _ranks(spec: BenchmarkSpec, entries: Iterable[BoardEntry], pairs: Pairs) -> dict[str, int]:
    primary = spec.primary.name
    eligible = [
        (score, entry)
        for entry in entries
        if not entry.is_reference
        and entry.unranked is None
        and (score := metric_value(entry.metrics, primary)) is not None
        and not _thin(entry, primary)
    ]
    eligible.sort(key=lambda pair: (-pair[0], pair[1].model, pair[1].key))
    ranks: dict[str, int] = {}
    leader: BoardEntry | None = None
    rank = 0
    for place, (_, entry) in enumerate(eligible, start=1):
        if leader is None or pairs.differ(leader, entry):
            leader, rank = entry, place
        ranks[entry.key] = rank
    return ranks


def _thin(entry: BoardEntry, primary: str) -> bool:
    """Whether less than half of a run's items are behind its value."""
    items = entry.facts.get("items")
    return items is not None and 2 * entry.metrics[primary].n < items
