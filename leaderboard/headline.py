"""What the table says, in a sentence or two: who leads, by how much, and which places can't be told apart."""

from collections import defaultdict
from collections.abc import Sequence

from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.registry.units import UNITS

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
    text: Text = [""]

    def words(some: str) -> None:
        text[-1] += some

    by_leaders: dict[tuple[str, ...], list[RankingGroup]] = defaultdict(list)
    for group in groups:
        leaders = [board.names[row.model] for row in _ranked(board, group) if _may_be_first(board, row)]
        by_leaders[tuple(dict.fromkeys(leaders))].append(group)
    for place, (leaders, led) in enumerate(sorted(by_leaders.items(), key=lambda item: -len(item[1]))):
        words("; " if place else "")
        ran = any(row.kind == "run" for group in led for row in _ranked(board, group))
        if len(leaders) > _NAMED:
            words(f"{_number(len(leaders))} models may be first".capitalize())
        else:
            for number, name in enumerate(leaders):
                words("" if not number else " and " if number == len(leaders) - 1 else ", ")
                text.extend((name, ""))
            only = all(len(_ranked(board, group)) == 1 for group in led)
            one = " is the only ranked model" if only else " leads" if ran else " has the highest published number"
            words(one if len(leaders) == 1 else " may be first" if ran else " have the highest published number")
        where = _titles(board, led)
        if 1 < len(led) == len(groups):
            where = "both benchmarks" if len(led) == 2 else f"all {_number(len(led))} benchmarks"  # noqa: PLR2004
        words("" if alone else f" on {where}")
        if len(leaders) == 1:
            margins = [(group, _margin(board, group)) for group in led]
            told = [
                margin if len(led) == 1 else f"{margin} on {_title(board, group)}"
                for group, margin in margins
                if margin
            ]
            words(f", ahead of the next by {_joined(told)}" if told else "")
    words(".")
    shared: dict[str, list[RankingGroup]] = defaultdict(list)
    for group in groups:
        for first, last in _overlaps(board, group)[: None if alone else 1]:
            shared[f"{first} to {last}"].append(group)
    clauses = [f"{places}{'' if alone else f' on {_titles(board, of)}'}" for places, of in shared.items()]
    if clauses:
        words(f" Ranks {_joined(clauses)} overlap.")
    return text


def _may_be_first(board: Board, row: BoardEntry) -> bool:
    """Whether no other model of its table is better; where no pairs are compared, whether none has a higher value."""
    return board.noise[row.group].ranges.get(row.key, (board.ranks[row.key],))[0] == 1


def _ranked(board: Board, group: RankingGroup) -> list[BoardEntry]:
    return [row for row in board.entries if row.group == group and row.key in board.ranks]


def _margin(board: Board, group: RankingGroup) -> str:
    """By how much the first is ahead of the next model, with the interval where both were run; or nothing."""
    first, *others = _ranked(board, group)
    behind = [row for row in others if board.ranks[row.key] > board.ranks[first.key]]
    if not behind:
        return ""
    spec = board.spec(group)
    unit = UNITS[spec.primary.unit]
    ours, theirs = (metric_value(row.metrics, spec.primary.name) for row in (first, behind[0]))
    assert ours is not None and theirs is not None  # noqa: PT018, S101 - ranked rows have a value
    pair = board.noise[group].pair(first.key, behind[0].key)
    by = ours - theirs if pair is None else pair.by
    points = "points" if unit.high == 100 else f"of {unit.high:g} points"  # noqa: PLR2004 - per cent
    if not round(by, unit.digits):
        return ""
    interval = ""
    if pair is not None and pair.ci95 is not None:
        low, high = (f"{end:.{unit.digits}f}".replace("-", "−") for end in pair.ci95)
        interval = f" ({low} to {high}{'' if pair.told else ', which may be noise'})"
    return f"{by:.{unit.digits}f} {points}{interval}"


def _overlaps(board: Board, group: RankingGroup) -> list[tuple[int, int]]:
    """The stretches of ranks in which ranges overlap, but for those that may be first."""
    ranges = board.noise[group].ranges
    rows = [row for row in _ranked(board, group) if row.key in ranges and not _may_be_first(board, row)]
    stretches: list[tuple[int, int, int]] = []
    for best, worst in sorted(ranges[row.key] for row in rows):
        if stretches and best <= stretches[-1][1]:
            first, last, n = stretches.pop()
            stretches.append((first, max(last, worst), n + 1))
        else:
            stretches.append((best, worst, 1))
    return [(first, last) for first, last, n in stretches if n > 1]


def _title(board: Board, group: RankingGroup) -> str:
    return board.specs[group.benchmark].title.partition(" (")[0]


def _titles(board: Board, groups: Sequence[RankingGroup]) -> str:
    return _joined([_title(board, group) for group in groups])


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)
