"""What the table says, in a sentence or two: who leads, by how much, and which places can't be told apart."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.registry.units import UNITS
from reelbench.stats.power import ALPHA

Text = list[str]
"""Words and names of models in turn, words first: a name keeps its own writing direction."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NAMED = 3
"""Models that share the first place by name; of more their number."""


def of_board(board: Board) -> Text:
    """Return the headline over the groups that stand for their benchmarks and were run, or are all there is."""
    groups = [group for group in board.main.values() if _ranked(board, group)]
    ran = [group for group in groups if any(row.stored for row in _ranked(board, group))]
    return _headline(board, ran or groups)


def of_group(board: Board, group: RankingGroup) -> Text:
    """Return the headline of one table."""
    return _headline(board, [group] if _ranked(board, group) else [], alone=True)


def _headline(board: Board, groups: Sequence[RankingGroup], *, alone: bool = False) -> Text:
    if not groups:
        return ["Nothing is ranked yet."]
    text = _Parts()
    by_leaders: dict[tuple[str, ...], list[RankingGroup]] = defaultdict(list)
    for group in groups:
        rows = _ranked(board, group)
        leaders = [board.names[row.model] for row in rows if board.ranks[row.key] == 1]
        by_leaders[tuple(dict.fromkeys(leaders))].append(group)
    for place, (leaders, led) in enumerate(sorted(by_leaders.items(), key=lambda item: -len(item[1]))):
        text.words("; " if place else "")
        if len(leaders) > _NAMED:
            text.words(f"{_number(len(leaders))} models share the first place".capitalize())
        else:
            text.names(leaders)
            only = all(len(_ranked(board, group)) == 1 for group in led)
            leads = " is the only ranked model" if only else " leads"
            text.words(leads if len(leaders) == 1 else " share the first place")
        text.words("" if alone else f" on {_where(board, led, groups)}")
        if len(leaders) == 1:
            margins = [(group, _margin(board, group)) for group in led]
            told = [
                margin if len(led) == 1 else f"{margin} on {_title(board, group)}"
                for group, margin in margins
                if margin
            ]
            text.words(f", ahead of the next by {_joined(told)}" if told else "")
    text.words(".")
    shared: dict[str, list[RankingGroup]] = defaultdict(list)
    for group in groups:
        for first, last in _shared(board, group)[: None if alone else 1]:
            shared[f"{first}–{last}"].append(group)
    clauses = [f"{places}{'' if alone else f' on {_titles(board, of)}'}" for places, of in shared.items()]
    if clauses:
        text.words(f" Places {_joined(clauses)} can’t be told apart.")
    return text.parts


def _where(board: Board, led: Sequence[RankingGroup], groups: Sequence[RankingGroup]) -> str:
    if len(led) < len(groups) or len(led) == 1:
        return _titles(board, led)
    return "both benchmarks" if len(led) == 2 else f"all {_number(len(led))} benchmarks"  # noqa: PLR2004


def _ranked(board: Board, group: RankingGroup) -> list[BoardEntry]:
    return [row for row in board.entries if row.group == group and row.key in board.ranks]


def _margin(board: Board, group: RankingGroup) -> str:
    """By how much the first is ahead of the next rank's first, with the interval where both were run; or nothing."""
    rows = _ranked(board, group)
    behind = [row for row in rows if board.ranks[row.key] > 1]
    if not behind:
        return ""
    spec = board.spec(group)
    unit = UNITS[spec.primary.unit]
    ours, theirs = (metric_value(row.metrics, spec.primary.name) for row in (rows[0], behind[0]))
    assert ours is not None and theirs is not None  # noqa: PT018, S101 - ranked rows have a value
    pair = board.noise[group].pair(rows[0].key, behind[0].key)
    by = ours - theirs if pair is None else pair.by
    points = "points" if unit.high == 100 else f"of {unit.high:g} points"  # noqa: PLR2004 - per cent
    if not round(by, unit.digits):
        return ""
    if pair is None or pair.ci95 is None:
        return f"{by:.{unit.digits}f} {points}"
    low, high = pair.ci95
    noise = "" if pair.p is None or pair.p <= ALPHA else ", which may be noise"
    return f"{by:.{unit.digits}f} {points} (95 %: {low:.{unit.digits}f} to {high:.{unit.digits}f}{noise})".replace(
        "-", "−"
    )


def _shared(board: Board, group: RankingGroup) -> list[tuple[int, int]]:
    """The places that rows share below the first: of each rank with several rows, the first and the last place."""
    ranks = [board.ranks[row.key] for row in _ranked(board, group)]
    runs = [(rank, sum(1 for _ in same)) for rank, same in groupby(sorted(ranks))]
    return [(rank, rank + n - 1) for rank, n in runs if n > 1 and rank > 1]


def _title(board: Board, group: RankingGroup) -> str:
    return board.specs[group.benchmark].title.partition(" (")[0]


def _titles(board: Board, groups: Sequence[RankingGroup]) -> str:
    return _joined([_title(board, group) for group in groups])


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


class _Parts:
    """Words and names in turn."""

    def __init__(self) -> None:
        self.parts: Text = [""]

    def words(self, text: str) -> None:
        self.parts[-1] += text

    def names(self, names: Sequence[str]) -> None:
        for place, name in enumerate(names):
            if place:
                self.words(" and " if place == len(names) - 1 else ", ")
            self.parts += [name, ""]
