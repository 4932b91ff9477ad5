"""How rows are ranked in a group: `RULES` is the one definition, and what the site prints."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

from reelbench.judges.identity import judge_as_answered
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.pairs import MOST_COMPARED, Noise, compared
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.value_bounds import MOST_UNSCORED
from reelbench.stats.intervals import MIN_CLUSTERS
from reelbench.stats.power import MIN_CLUSTERS as POWER_FROM

RULES = f"""\
**In a table** a model's place is its order by the benchmark's primary metric. Whether one model is better than another
is one test, here, in `compare --store`, in tables and in files: their difference on the questions of both, by
Student's t over the videos with the standard error of a paired bootstrap, its p adjusted by Holm (1979) for all pairs
of models in the table. At 0.05 or less one is better, else the two can't be told apart. An interval beside a
difference is that same test's, at the pair's step in Holm: it excludes 0 exactly where one is better. Under
{MIN_CLUSTERS} videos there is neither.

**A model's range of ranks** runs from 1 and the number of models that are better to the number of models less those
that are worse; with 95 % all ranges of a table hold together (as with Tukey's test in arXiv 1708.02729). A model with
several rows is compared by its best; its other rows have a place by their value, and no range. Published numbers stand
below the runs and in no comparison, for they have no samples; where nobody ran a benchmark they are ordered by their
values. Not ranked, and below all that are, too: floors, human rows, what the Hub's own board states, runs on a part of
what was asked, and rows without the primary metric. Of more than {MOST_COMPARED} models no ranges are given.

**A few items without a score** (at most {100 * MOST_UNSCORED:g} %) don't bar a run: each counts at the scale's lowest,
so leaving out is as answering wrong and never pays. Its value is that lower bound, shown as "≥ 41.2, 3 unscored"; its
interval runs from the lower bound's low end to the high end with each of them at the scale's highest, and its range of
ranks leaves both open. A run with more of them is listed and not ranked. Items whose video was not there are no part
of this: a run without them is ranked among those that lack the same ones.

**Who judged** is the model that the judge's server says answered, whatever was asked for. A result in which one judge
answered under several ids is listed and not ranked. Rows on data of one's own have tables of their own; rows that
don't say whose data it was stand among the owners', marked. **Answers** of a run that an older version read are read
again by today's rules, and the value that the run states is shown beside what they come to.

**Small differences.** Under the smallest difference that a table names, differences are often missed: one of that much
is found four times in five on its videos, with the median noise of its pairs. Of under {POWER_FROM} videos it isn't
said."""


def ranked(
    spec: BenchmarkSpec, entries: Sequence[BoardEntry], models: Mapping[str, Hashable] | None = None
) -> tuple[dict[str, int], Noise]:
    """Return key -> rank within one group, and what its pairs say together; a key that is not there is not ranked.

    Args:
        spec: The benchmark.
        entries: The group's rows.
        models: Key -> the model that the row is of; by default as its name, revision and setting say.
    """
    primary = spec.primary.name
    scores = {
        entry.key: score
        for entry in entries
        if not entry.is_reference
        and entry.unranked is None
        and (score := metric_value(entry.metrics, primary)) is not None
        and not _thin(entry, primary)
    }
    rows = [entry for entry in entries if entry.key in scores]
    runs = [entry for entry in rows if entry.stored is not None]
    of = {row.key: (models or {}).get(row.key, (row.model.casefold(), row.revision, row.setting)) for row in rows}
    best: dict[Hashable, BoardEntry] = {}
    for row in sorted(runs or rows, key=lambda row: (-scores[row.key], row.model, row.key)):
        best.setdefault(of[row.key], row)
    ranks = {
        row.key: 1 + sum(scores[one.key] > scores[row.key] for model, one in best.items() if model != of[row.key])
        for row in runs or rows
    }
    return ranks, compared(spec, list(best.values())) if runs else Noise({}, None)


def over_judges(spec: BenchmarkSpec, entries: Sequence[BoardEntry]) -> dict[str, tuple[int, int]]:
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


def _thin(entry: BoardEntry, primary: str) -> bool:
    """Whether less than half of a run's items are behind its value."""
    items = entry.facts.get("items")
    return items is not None and 2 * entry.metrics[primary].n < items
