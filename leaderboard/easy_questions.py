"""A group's questions that need no watching, and what its runs score on the others."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from reelbench.leaderboard.against_data import is_left_out
from reelbench.leaderboard.entries import BoardEntry, RankingGroup
from reelbench.leaderboard.standing import ranked_samples
from reelbench.scoring import aggregation
from reelbench.scoring.shortcuts import Shortcuts, column_of, shortcuts
from reelbench.scoring.value_bounds import with_unscored_at


def shortcuts_of_groups(rows: Sequence[BoardEntry]) -> dict[RankingGroup, Shortcuts]:
    """Return the shortcuts that each group's own runs without frames, or with one, show; most groups have none."""
    shown_little: dict[RankingGroup, list[BoardEntry]] = defaultdict(list)
    for row in rows:
        if row.kind == "run" and row.unranked is None and row.stored and column_of(row.stored.result.settings):
            shown_little[row.group].append(row)
    return {
        group: shortcuts(
            next(row.stored.spec for row in runs if row.stored is not None),
            ((row.stored.result.settings, ranked_samples(row.stored)) for row in runs if row.stored is not None),
        )
        for group, runs in shown_little.items()
    }


def scores_without(rows: Sequence[BoardEntry], easy: Mapping[RankingGroup, Shortcuts]) -> dict[str, float]:
    """Return key of a run -> its primary metric on the questions that are no shortcut in its group.

    As everywhere on the board, an item without a score is at the scale's lowest. Runs that show too little themselves
    are not here: on these questions they are low by construction.
    """
    left_out = {group: found.questions() for group, found in easy.items()}
    scores: dict[str, float] = {}
    for row in rows:
        if row.group not in left_out or row.stored is None or column_of(row.stored.result.settings) is not None:
            continue
        spec = row.stored.spec
        kept = [
            sample
            for sample in ranked_samples(row.stored)
            if sample.id not in left_out[row.group] and (sample.state == "scored" or is_left_out(sample))
        ]
        score = aggregation.metric_value(spec, spec.primary, with_unscored_at("lowest", spec, spec.primary, kept))
        if score is not None:
            scores[row.key] = score
    return scores
