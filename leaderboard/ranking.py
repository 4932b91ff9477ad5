"""How rows are ranked in a group: `rules.md` is the one definition, and what the site prints."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence

from reelbench.judges.identity import judge_as_answered
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.pairs import MOST_COMPARED, Noise, compared
from reelbench.pages.shell_page import page_asset
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.value_bounds import MOST_UNSCORED
from reelbench.stats.intervals import MIN_CLUSTERS
from reelbench.stats.power import MIN_CLUSTERS as POWER_FROM


def rules() -> str:
    """Return the rules of the tables and of the overall table, for a reader."""
    numbers = {"videos": MIN_CLUSTERS, "power_from": POWER_FROM, "most_compared": MOST_COMPARED}
    text = page_asset("rules.md", "leaderboard").rstrip("\n")
    return text.format(**numbers, most_unscored=f"{100 * MOST_UNSCORED:g}")


def ranked(
    spec: BenchmarkSpec,
    entries: Sequence[BoardEntry],
    models: Mapping[str, Hashable] | None = None,
    noise: Noise | None = None,
) -> tuple[dict[str, int], Noise]:
    """Return key -> rank within one group, and what its pairs say together; a key that is not there is not ranked.

    Args:
        spec: The benchmark.
        entries: The group's rows.
        models: Key -> the model that the row is of; by default as its name, revision and setting say.
        noise: What its pairs say, where that is known.
    """
    primary = spec.primary.name
    scores: dict[str, float] = {}
    for entry in entries:
        score = metric_value(entry.metrics, primary)
        if score is None or entry.is_reference or entry.unranked is not None:
            continue
        # A value with less than half of a run's items behind it ranks nobody.
        if 2 * entry.metrics[primary].n >= (entry.facts.get("items") or 0):
            scores[entry.key] = score
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
    return ranks, noise or (compared(spec, list(best.values())) if runs else Noise({}, None))


def over_judges(spec: BenchmarkSpec, entries: Sequence[BoardEntry]) -> dict[str, tuple[int, int]]:
    """Return key -> best and worst rank over the judges of a panel, each judge's scores taken alone.

    Of the runs of one group, so they were judged by the same panel.
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
