"""What the table says, in a sentence or two: who leads, by how much, and who may be first."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import RankingGroup, metric_value
from reelbench.registry.metrics import UNITS

Text = list[str]
"""Words and names of models in turn, words first: a name keeps its own writing direction."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NAMED = 3
"""Models that share the first place by name; of more their number."""
_NAME = "\0"
"""Stands around each name while the text is made."""


def of_board(board: Board, table: RankingGroup | None = None) -> Text:
    """Return the headline over the tables that stand for their benchmarks and were run, else all of them; or of one."""
    groups = [
        group
        for group in (board.main.values() if table is None else [table])
        if board.ranked(group)
    ]
    if table is None:
        groups = [
            group for group in groups if any(row.stored for row in board.ranked(group))
        ] or groups
    if not groups:
        return ["Nothing is ranked yet."]
    by_leaders: dict[tuple[str, ...], list[RankingGroup]] = defaultdict(list)
    for group in groups:
        # No other model of the table is better; where no pairs are compared, none has a higher
        # value.
        best = {key: ends[0] for key, ends in board.noise[group].ranges.items()}
        first = [row for row in board.ranked(group) if best.get(row.key, board.ranks[row.key]) == 1]
        by_leaders[tuple(dict.fromkeys(board.names[row.model] for row in first))].append(group)
    alone = table is not None
    said = (
        _in_short(board, by_leaders)
        if len(by_leaders) > 1
        else _of_leaders(board, *by_leaders.items(), alone=alone)
    )
    # What of it rests on a judge's replies that only those who handed them in vouch for.
    led = [group for led in by_leaders.values() for group in led]
    stated = [
        group
        for group in led
        if any("judge replies" in (row.facts.get("stated") or "") for row in board.ranked(group))
    ]
    where = "" if len(stated) == len(led) else f" on {_titles(board, stated)}"
    said += f" The judge’s replies{where} are as submitters state them." if stated else ""
    return said.split(_NAME)


def _of_leaders(
    board: Board, of: tuple[tuple[str, ...], Sequence[RankingGroup]], *, alone: bool
) -> str:
    """Who leads one table, or is among those that may lead several, and by how much."""
    leaders, led = of
    ran = _was_run(board, led)
    if len(leaders) > _NAMED:
        text = f"{_number(len(leaders))} models may be first".capitalize()
    elif len(leaders) > 1:
        text = _names(leaders) + (" may be first" if ran else " have the highest published number")
    else:
        only = all(len(board.ranked(group)) == 1 for group in led)
        text = _names(leaders)
        text += (
            " is the only ranked model"
            if only
            else " leads"
            if ran
            else " has the highest published number"
        )
    first, *others = (board.names[row.model] for row in board.ranked(led[0]))
    if alone and ran and others and others[0] in leaders and (margin := _margin(board, led[0])):
        text += f"; {_names([first])} is ahead of {_names(others[:1])} by {margin}"
    if not alone:
        many = "both" if len(led) == 2 else f"all {_number(len(led))}"  # noqa: PLR2004
        text += f" on {f'{many} benchmarks' if len(led) > 1 else _titles(board, led)}"
    if not ran and any(len(board.ranked(group)) > 1 for group in led):
        return f"{text}; frames, prompts and settings differ between papers."  # so a margin says nothing of the models
    margins = [
        (group, margin) for group in led if len(leaders) == 1 and (margin := _margin(board, group))
    ]
    told = [
        margin if len(led) == 1 else f"{margin} on {_titles(board, [group])}"
        for group, margin in margins
    ]
    return f"{text}, ahead of the next by {_joined(told)}." if told else f"{text}."


def _in_short(board: Board, by_leaders: Mapping[tuple[str, ...], Sequence[RankingGroup]]) -> str:
    """Of several benchmarks with several leaders: on how many each model leads or shares the first place."""
    n = sum(map(len, by_leaders.values()))
    if not _was_run(board, [group for led in by_leaders.values() for group in led]):
        return (
            f"Numbers of {_number(n)} benchmarks as papers print them, with different frames and settings: "
            "nothing was run here yet, so nobody leads."
        )
    rates: dict[str, str] = {}  # of each model that has a place its best row's
    for model in board.overall:
        if model.rank is not None and model.win_rate is not None:
            rates.setdefault(model.key[0], f"{100 * model.win_rate:.1f}")
    firsts, text = (
        [model.key[0] for model in board.overall if model.ranks and model.ranks[0] == 1],
        "",
    )
    best, behind = list(rates)[:1], f"{' %, the next '.join(list(rates.values())[:2])} %. "
    if len(firsts) > _NAMED:
        text = f"{_number(len(firsts))} models may be first overall; ".capitalize()
        text += f"{_names(best)} has the highest mean win rate, {behind}"
    elif firsts and firsts == best:
        text = f"{_names(firsts)} is first overall: mean win rate {behind}"
    elif firsts:
        own = _joined([rates[name] for name in firsts])
        text = f"{_names(firsts)} may be first overall: mean win rates {own} %. "
    alone, shared = (
        defaultdict[str, list[RankingGroup]](list),
        defaultdict[str, list[RankingGroup]](list),
    )
    for leaders, led in by_leaders.items():
        for name in leaders:
            (alone if len(leaders) == 1 else shared)[name] += led
    best = sorted(
        alone | shared, key=lambda name: (-len(alone[name] + shared[name]), -len(alone[name]), name)
    )
    named = best if len(best) == 2 else best[:1]  # noqa: PLR2004
    parts = []
    for name in named:
        more = "more " if alone[name] else ""
        ways = [f"leads on {_titles(board, alone[name])}"] * bool(alone[name])
        many = f"{_number(len(shared[name]))} {more}of {_number(n)} benchmarks"
        where = _titles(board, shared[name]) if len(shared[name]) == 1 else many
        ways += [f"may be first on {where}"] * bool(shared[name])
        parts.append(f"{_names([name])} {_joined(ways)}")
    if others := best[len(named) :]:
        parts.append(f"{_number(len(others))} others may be first on some")
    return f"{text}{'; '.join(parts)}."


def _was_run(board: Board, groups: Sequence[RankingGroup]) -> bool:
    return any(row.kind == "run" for group in groups for row in board.ranked(group))


def _margin(board: Board, group: RankingGroup) -> str:
    """By how much the first is ahead of the next model, with the interval where both were run; or nothing."""
    first, *others = board.ranked(group)
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
        interval = (
            f" (adjusted 95 %: {low} to {high}){'' if pair.direction else ', not told apart'}"
        )
    return f"{by:.{unit.digits}f} {points}{interval}"


def _titles(board: Board, groups: Sequence[RankingGroup]) -> str:
    return _joined([board.specs[group.benchmark].title.partition(" (")[0] for group in groups])


def _names(names: Sequence[str]) -> str:
    return _joined([f"{_NAME}{name.replace(_NAME, '')}{_NAME}" for name in names])


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _number(n: int) -> str:
    return _NUMBERS[n] if n < len(_NUMBERS) else str(n)
