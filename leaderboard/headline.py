"""What the table says, in a sentence or two: who leads, by how much, and who may be first."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    text = _Parts()
    by_leaders: dict[tuple[str, ...], list[RankingGroup]] = defaultdict(list)
    for group in groups:
        leaders = [board.names[row.model] for row in _ranked(board, group) if _may_be_first(board, row)]
        by_leaders[tuple(dict.fromkeys(leaders))].append(group)
    if len(by_leaders) > 1:
        return _in_short(board, by_leaders)
    for place, (leaders, led) in enumerate(sorted(by_leaders.items(), key=lambda item: -len(item[1]))):
        text.words("; " if place else "")
        ran = _was_run(board, led)
        if len(leaders) > _NAMED:
            text.words(f"{_number(len(leaders))} models may be first".capitalize())
        else:
            text.names(leaders)
            only = all(len(_ranked(board, group)) == 1 for group in led)
            one = " is the only ranked model" if only else " leads" if ran else " has the highest published number"
            text.words(one if len(leaders) == 1 else " may be first" if ran else " have the highest published number")
        first, *others = _ranked(board, led[0])
        if alone and ran and others and board.names[others[0].model] in leaders and (margin := _margin(board, led[0])):
            text.words("; ")
            text.names([board.names[first.model]])
            text.words(" is ahead of ")
            text.names([board.names[others[0].model]])
            text.words(f" by {margin}")
        where = _titles(board, led)
        if 1 < len(led) == len(groups):
            where = "both benchmarks" if len(led) == 2 else f"all {_number(len(led))} benchmarks"  # noqa: PLR2004
        text.words("" if alone else f" on {where}")
        if len(leaders) == 1 and ran:  # papers' numbers differ in more than the model
            margins = [(group, _margin(board, group)) for group in led]
            told = [
                margin if len(led) == 1 else f"{margin} on {_title(board, group)}"
                for group, margin in margins
                if margin
            ]
            text.words(f", ahead of the next by {_joined(told)}" if told else "")
    if not _was_run(board, groups) and any(len(_ranked(board, group)) > 1 for group in groups):
        text.words("; frames, prompts and settings differ between papers")
    text.words(f".{_as_stated(board, groups)}")
    return text.parts


def _in_short(board: Board, by_leaders: Mapping[tuple[str, ...], Sequence[RankingGroup]]) -> Text:
    """Of several benchmarks with several leaders: on how many each model leads or shares the first place."""
    text, n = _Parts(), sum(map(len, by_leaders.values()))
    if not _was_run(board, [group for led in by_leaders.values() for group in led]):
        text.words(f"Numbers of {_number(n)} benchmarks as papers print them, with different frames and settings: ")
        text.words("nothing was run here yet, so nobody leads.")
        return text.parts
    placed = [model for model in board.overall if model.rank is not None]
    firsts = [model for model in placed if model.ranks and model.ranks[0] == 1]
    rates = [f"{100 * (model.win_rate or 0):.1f}" for model in placed]
    if len(firsts) > _NAMED:
        text.words(f"{_number(len(firsts))} models may be first overall; ".capitalize())
        text.names([placed[0].key[0]])
        text.words(f" has the highest mean win rate, {rates[0]} %, the next {rates[1]} %. ")
    elif firsts:
        text.names([model.key[0] for model in firsts])
        if firsts == placed[:1]:
            text.words(f" is first overall: mean win rate {rates[0]} %, the next {rates[1]} %. ")
        else:
            own = [rate for model, rate in zip(placed, rates, strict=True) if model in firsts]
            text.words(f" may be first overall: mean win rates {_joined(own)} %. ")
    alone, shared = defaultdict[str, list[RankingGroup]](list), defaultdict[str, list[RankingGroup]](list)
    for leaders, led in by_leaders.items():
        for name in leaders:
            if len(leaders) == 1:
                alone[name] += led
            else:
                shared[name] += led
    best = sorted(alone | shared, key=lambda name: (-len(alone[name] + shared[name]), -len(alone[name]), name))
    named = best if len(best) == 2 else best[:1]  # noqa: PLR2004
    for place, name in enumerate(named):
        more = "more " if alone[name] else ""
        ways = [f"leads on {_titles(board, alone[name])}"] * bool(alone[name])
        many = f"{_number(len(shared[name]))} {more}of {_number(n)} benchmarks"
        where = _titles(board, shared[name]) if len(shared[name]) == 1 else many
        ways += [f"may be first on {where}"] * bool(shared[name])
        text.words("; " if place else "")
        text.names([name])
        text.words(f" {_joined(ways)}")
    if others := best[len(named) :]:
        text.words(f"; {_number(len(others))} others may be first on some")
    text.words(f".{_as_stated(board, [group for led in by_leaders.values() for group in led])}")
    return text.parts


def _as_stated(board: Board, groups: Sequence[RankingGroup]) -> str:
    """What of it rests on a judge's replies that only those who handed them in vouch for."""
    stated = [
        group
        for group in groups
        if any("judge replies" in (row.facts.get("stated") or "") for row in _ranked(board, group))
    ]
    where = "" if len(stated) == len(groups) else f" on {_titles(board, stated)}"
    return f" The judge’s replies{where} are as submitters state them." if stated else ""


def _may_be_first(board: Board, row: BoardEntry) -> bool:
    """Whether no other model of its table is better; where no pairs are compared, whether none has a higher value."""
    return board.noise[row.group].ranges.get(row.key, (board.ranks[row.key],))[0] == 1


def _was_run(board: Board, groups: Sequence[RankingGroup]) -> bool:
    return any(row.kind == "run" for group in groups for row in _ranked(board, group))


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
        interval = f" (adjusted 95 %: {low} to {high}){'' if pair.told else ', not told apart'}"
    return f"{by:.{unit.digits}f} {points}{interval}"


def _title(board: Board, group: RankingGroup) -> str:
    return board.specs[group.benchmark].title.partition(" (")[0]


def _titles(board: Board, groups: Sequence[RankingGroup]) -> str:
    return _joined([_title(board, group) for group in groups])


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)


@dataclass(slots=True)
class _Parts:
    """Words and names in turn."""

    parts: Text = field(default_factory=lambda: [""])

    def words(self, text: str) -> None:
        self.parts[-1] += text

    def names(self, names: Sequence[str]) -> None:
        for place, name in enumerate(names):
            if place:
                self.words(" and " if place == len(names) - 1 else ", ")
            self.parts += [name, ""]
