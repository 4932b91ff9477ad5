"""Say in a sentence or two what the table shows.

That is who leads, by how much, and who may be first.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from reelbench.base.errors import number_of
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, RankingGroup, metric_value
from reelbench.leaderboard.overall import Overall
from reelbench.registry.metrics import UNITS

_LedGroups = Mapping[tuple[str, ...], Sequence[RankingGroup]]
"""Models that share the first place -> the tables in which they do."""
Text = list[str]
"""Words and names of models in turn, words first: a name keeps its own writing direction."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_MOST_NAMED = 3
"""Models that share the first place by name; of more, their number is said."""
_NAME_MARK = "\0"
"""Stands around each name while the text is made."""
_PAIR = 2
_TIED = "statistically tied for first"


def of_board(board: Board, table: RankingGroup | None = None) -> Text:
    """Return the headline of one table, or of the whole board.

    The whole board is the tables that stand for their benchmarks: those that were run, or all of
    them where none was.
    """
    groups = groups_of_board(board) if table is None else _ranked_table(board, table)
    if not groups:
        return ["Nothing is ranked yet."]
    if not _was_run(board, groups):
        runs = _number_of_runs(board, groups)
        if runs:
            return [f"{_runs_text(runs)} listed here, none of them ranked yet."]
    by_leaders: dict[tuple[str, ...], list[RankingGroup]] = defaultdict(list)
    for group in groups:
        by_leaders[_leaders(board, group)].append(group)
    if len(by_leaders) > 1:
        text = _of_several_leaders(board, by_leaders)
    else:
        [leaders] = by_leaders
        text = _of_leaders(board, leaders, groups, one_table=table is not None)
    text += _note_on_stated_replies(board, by_leaders)
    return text.split(_NAME_MARK)


def better_below(board: Board, model: Overall) -> str:
    """Name a model's better ones below, and where they are better. Empty of none."""
    ranks = {placed.key: placed.rank for placed in board.overall}
    texts: list[str] = []
    for below in model.better_below[:_MOST_NAMED]:
        titles = _titles(board, below.groups)
        texts.append(f"{below.key[0]} (rank {ranks[below.key]}) is better on {titles}")
    unnamed = len(model.better_below) - len(texts)
    if unnamed:
        texts.append(f"{unnamed} more are better where both ran")
    return "; ".join(texts)


def _ranked_table(board: Board, table: RankingGroup) -> list[RankingGroup]:
    return [table] if board.ranked(table) else []


def groups_of_board(board: Board) -> list[RankingGroup]:
    """Return the tables that the board's headline is about.

    They stand for their benchmarks and have ranks. Where somebody ran any, they are those.
    """
    ranked_groups = [group for group in board.main.values() if board.ranked(group)]
    groups_with_ranked_runs = [group for group in ranked_groups if _was_run(board, [group])]
    groups_with_runs = [group for group in ranked_groups if _number_of_runs(board, [group])]
    return groups_with_ranked_runs or groups_with_runs or ranked_groups


def _number_of_runs(board: Board, groups: Sequence[RankingGroup]) -> int:
    """Count the runs that the tables list, ranked or not."""
    runs = 0
    for group in groups:
        runs += sum(row.kind == "run" for row in board.rows[group])
    return runs


def _runs_text(runs: int) -> str:
    verb = "is" if runs == 1 else "are"
    return f"{number_of(runs, 'run')} {verb}"


def _leaders(board: Board, group: RankingGroup) -> tuple[str, ...]:
    """Return the models of a table than which no other model is better.

    Where no pairs are compared, that is those than which none has a higher value.
    """
    ranges = board.noise[group].ranges
    names: list[str] = []
    for row in board.ranked(group):
        best_rank = board.ranks[row.key]
        if row.key in ranges:
            best_rank, _ = ranges[row.key]
        name = board.names[row.model]
        if best_rank == 1 and name not in names:
            names.append(name)
    return tuple(names)


def _note_on_stated_replies(board: Board, by_leaders: _LedGroups) -> str:
    """Return a note where the text rests on replies for which only submitters vouch."""
    groups: list[RankingGroup] = []
    for led_groups in by_leaders.values():
        groups.extend(led_groups)
    stated_groups = [group for group in groups if _rests_on_stated_replies(board, group)]
    if not stated_groups:
        return ""
    if len(stated_groups) == len(groups):
        return " The judge’s replies are as submitters state them."
    titles = _titles(board, stated_groups)
    return f" The judge’s replies on {titles} are as submitters state them."


def _rests_on_stated_replies(board: Board, group: RankingGroup) -> bool:
    stated_parts = [row.facts.get("stated") or "" for row in board.ranked(group)]
    return any("judge replies" in parts for parts in stated_parts)


def _of_leaders(
    board: Board, leaders: Sequence[str], groups: Sequence[RankingGroup], *, one_table: bool
) -> str:
    """Return the text on models that lead one table, or all of several."""
    was_run = _was_run(board, groups)
    text = _who_leads(board, leaders, groups, was_run=was_run)
    if one_table and was_run:
        text += _margin_among_leaders(board, leaders, groups[0])
    if not one_table:
        text += f" on {_benchmarks_text(board, groups)}"
    sizes = [len(board.ranked(group)) for group in groups]
    if not was_run and max(sizes) > 1:
        # So a margin says nothing of the models.
        return f"{text}; frames, prompts and settings differ between papers."
    if len(leaders) > 1:
        return f"{text}."
    margins: list[str] = []
    for group in groups:
        margin = _margin(board, group)
        if margin and len(groups) > 1:
            margin = f"{margin} on {_titles(board, [group])}"
        if margin:
            margins.append(margin)
    if not margins:
        return f"{text}."
    return f"{text}, ahead of the next by {_joined(margins)}."


def _who_leads(
    board: Board, leaders: Sequence[str], groups: Sequence[RankingGroup], *, was_run: bool
) -> str:
    number = len(leaders)
    if number > _MOST_NAMED:
        text = f"{_number_word(number)} models are {_TIED}"
        return text.capitalize()
    names = _marked_names(leaders)
    if number > 1 and was_run:
        return f"{names} are {_TIED}"
    sizes = [len(board.ranked(group)) for group in groups]
    if number == 1 and max(sizes) == 1:
        return f"{names} is the only ranked model"
    if number == 1 and was_run:
        return f"{names} leads"
    if number == 1:
        return f"{names} has the highest published number"
    return f"{names} have the highest published number"


def _margin_among_leaders(board: Board, leaders: Sequence[str], group: RankingGroup) -> str:
    models = [board.names[row.model] for row in board.ranked(group)]
    if len(models) == 1 or models[1] not in leaders:
        return ""
    margin = _margin(board, group)
    if not margin:
        return ""
    first = _marked_names(models[:1])
    second = _marked_names(models[1:2])
    return f"; {first} is ahead of {second} by {margin}"


def _benchmarks_text(board: Board, groups: Sequence[RankingGroup]) -> str:
    if len(groups) == 1:
        return _titles(board, groups)
    if len(groups) == _PAIR:
        return "both benchmarks"
    return f"all {_number_word(len(groups))} benchmarks"


def _of_several_leaders(board: Board, by_leaders: _LedGroups) -> str:
    """Return the text on several benchmarks with several leaders.

    It says on how many of them each model leads or shares the first place.
    """
    groups: list[RankingGroup] = []
    for led_groups in by_leaders.values():
        groups.extend(led_groups)
    number = _number_word(len(groups))
    if not _was_run(board, groups):
        why = "nothing was run here yet"
        if any(row.kind == "run" for row in board.entries):
            why = "what was run here is in other tables"
        return (
            f"Numbers of {number} benchmarks as papers print them, with different frames and "
            f"settings: {why}, so nobody leads."
        )
    texts = [
        _first_overall(board),
        _better_below_the_first(board),
        _first_on_benchmarks(board, by_leaders, number),
    ]
    return "".join(texts)


def _first_overall(board: Board) -> str:
    """Return the sentence on who is first in the overall table. Empty where nobody is."""
    rates: dict[str, str] = {}  # of each model that has a place, its best row's
    first_models: list[str] = []
    for model in board.overall:
        name = model.key[0]
        if model.rank is not None and model.win_rate is not None:
            rates.setdefault(name, f"{100 * model.win_rate:.1f}")
        if model.ranks is not None and model.ranks[0] == 1:
            first_models.append(name)
    if not first_models:
        return ""
    best_models = list(rates)[:1]
    best_rates = list(rates.values())[:2]
    rates_text = " %, the next ".join(best_rates)
    if len(first_models) > _MOST_NAMED:
        sentence = f"{_number_word(len(first_models))} models are {_TIED} overall; "
        best = _marked_names(best_models)
        return f"{sentence.capitalize()}{best} has the highest mean win rate, {rates_text} %. "
    names = _marked_names(first_models)
    if first_models == best_models:
        return f"{names} is first overall: mean win rate {rates_text} %. "
    first_rates = _joined([rates[name] for name in first_models])
    if len(first_models) == 1:
        return f"{names} is {_TIED} overall: mean win rate {first_rates} %. "
    return f"{names} are {_TIED} overall: mean win rates {first_rates} %. "


def _better_below_the_first(board: Board) -> str:
    """Return the sentence on models below the first that are better where both ran."""
    if not board.overall:
        return ""
    number = len(board.overall[0].better_below)
    if not number:
        return ""
    verb = "is" if number == 1 else "are"
    return f"{_number_word(number).capitalize()} below it {verb} better where both ran. "


def _first_on_benchmarks(board: Board, by_leaders: _LedGroups, number: str) -> str:
    """Return the sentence on the models that are first on most benchmarks, of `number`."""
    alone: dict[str, list[RankingGroup]] = defaultdict(list)
    shared: dict[str, list[RankingGroup]] = defaultdict(list)
    for leaders, groups in by_leaders.items():
        firsts = alone if len(leaders) == 1 else shared
        for name in leaders:
            firsts[name].extend(groups)

    def order(name: str) -> tuple[int, int, str]:
        firsts = len(alone[name]) + len(shared[name])
        return -firsts, -len(alone[name]), name

    models = sorted(alone.keys() | shared.keys(), key=order)
    named_models = models[:1]
    if len(models) == _PAIR:
        named_models = models
    parts: list[str] = []
    for name in named_models:
        places = _joined(_places(board, alone[name], shared[name], number))
        parts.append(f"{_marked_names([name])} {places}")
    unnamed = len(models) - len(named_models)
    if unnamed:
        parts.append(f"{_number_word(unnamed)} others are tied for first on some")
    return f"{'; '.join(parts)}."


def _places(
    board: Board, alone: Sequence[RankingGroup], shared: Sequence[RankingGroup], number: str
) -> list[str]:
    """Return in words where a model leads, and where it is tied for first."""
    places: list[str] = []
    if alone:
        places.append(f"leads on {_titles(board, alone)}")
    if len(shared) == 1:
        places.append(f"is {_TIED} on {_titles(board, shared)}")
    elif shared:
        more = "more " if alone else ""
        count = _number_word(len(shared))
        places.append(f"is {_TIED} on {count} {more}of {number} benchmarks")
    return places


def _was_run(board: Board, groups: Sequence[RankingGroup]) -> bool:
    kinds: set[str] = set()
    for group in groups:
        kinds.update(row.kind for row in board.ranked(group))
    return "run" in kinds


def _margin(board: Board, group: RankingGroup) -> str:
    """Return the lead of the first over the next model, in words.

    It is empty where no model is behind, and has the interval where both were run.
    """
    first, *rest = board.ranked(group)
    first_rank = board.ranks[first.key]
    behind = [row for row in rest if board.ranks[row.key] > first_rank]
    if not behind:
        return ""
    second = behind[0]
    primary = board.spec(group).primary
    unit = UNITS[primary.unit]
    pair = board.noise[group].pair(first.key, second.key)
    if pair is None:
        difference = _value(first, primary.name) - _value(second, primary.name)
    else:
        difference = pair.difference
    if not round(difference, unit.digits):
        return ""
    points = "points"
    if unit.high != 100:  # noqa: PLR2004 - per cent
        points = f"of {unit.high:g} points"
    text = f"{difference:.{unit.digits}f} {points}"
    if pair is not None and pair.ci95 is not None:
        low_end, high_end = pair.ci95
        low = _with_minus(f"{low_end:.{unit.digits}f}")
        high = _with_minus(f"{high_end:.{unit.digits}f}")
        text += f" (adjusted 95 %: {low} to {high})"
        if not pair.direction:
            text += ", not told apart"
    return text


def _with_minus(number: str) -> str:
    return number.replace("-", "−")


def _value(row: BoardEntry, metric: str) -> float:
    value = metric_value(row.metrics, metric)
    assert value is not None  # noqa: S101 - ranked rows have a value
    return value


def _titles(board: Board, groups: Sequence[RankingGroup]) -> str:
    titles = [board.specs[group.benchmark].title for group in groups]
    return _joined([title.partition(" (")[0] for title in titles])


def _marked_names(names: Sequence[str]) -> str:
    return _joined([_marked(name) for name in names])


def _marked(name: str) -> str:
    clean_name = name.replace(_NAME_MARK, "")
    return f"{_NAME_MARK}{clean_name}{_NAME_MARK}"


def _joined(parts: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    if len(parts) <= 1:
        return "".join(parts)
    start = ", ".join(parts[:-1])
    return f"{start} and {parts[-1]}"


def _number_word(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
