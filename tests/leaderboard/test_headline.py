"""What the table says in words, and the overall ranges of ranks, against hand work."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

from reelbench.leaderboard import board, headline, overall, site
from reelbench.leaderboard.ranking import Noise, PairedDifference
from reelbench.registry import discovery
from tests.leaderboard.rows import CURVE, MOVIECORE, REXTIME, entry


def made(*rows):
    return board.ranked_board(discovery.specs(), rows)


def said(*rows):
    return headline.of_board(made(*rows))


def compared(*rows, pairs=()):
    """A board on which each of `pairs` (key, key) is told apart, ranges as they follow."""
    found = made(*rows)
    for group in {row.group for row in rows}:
        keys = [row.key for row in found.entries if row.group == group]
        told = {
            pair: PairedDifference(10.0, 0.01, (4.0, 16.0))
            for pair in pairs
            if set(pair) <= set(keys)
        }
        other = [pair for pair in combinations(keys, 2) if pair not in told]
        told |= {pair: PairedDifference(10.0, 0.2, (-1.0, 21.0)) for pair in other}
        ranges = {
            key: (
                1 + sum(pair.direction and key == b for (_, b), pair in told.items()),
                len(keys) - sum(pair.direction and key == a for (a, _), pair in told.items()),
            )
            for key in keys
        }
        found.noise[group] = Noise(ranges, None, told, 20)
    return found


def test_who_leads_by_how_much():
    rows = [
        entry(name, score, kind="run")
        for name, score in (("a", 30.0), ("b", 20.0), ("c", 19.0), ("d", 2.0))
    ]
    a, b, c, d = (row.key for row in rows)
    found = compared(*rows, pairs=[(a, b), (a, c), (a, d), (b, d)])
    leads = " leads on ReXTime, ahead of the next by 10.0 points (adjusted 95 %: 4.0 to 16.0)."
    assert headline.of_board(found) == ["", "a", leads]


def test_of_several_benchmarks_who_may_be_first_overall_and_on_which_the_best_one_leads():
    groups, scores = (REXTIME, CURVE, MOVIECORE), (("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0))
    rows = [
        entry(name, score, group=group, kind="run") for group in groups for name, score in scores
    ]
    told = [
        (x.key, y.key)
        for x, y in combinations(rows, 2)
        if y.model == "d" or (x.model, x.group) == ("a", REXTIME)
    ]
    found = compared(*rows, pairs=told)
    best = " leads on ReXTime and is statistically tied for first on two more of three benchmarks; two others are tied for first on some."
    assert headline.of_board(found) == ["", "a", best]
    places = {"a": (1, 3), "b": (1, 3), "c": (1, 3), "d": (4, 4)}
    found.overall[:] = [replace(one, ranks=places[one.key[0]]) for one in found.overall]
    # By their values alone (nothing is stored), a beats all three others, b two, c one.
    may = " are statistically tied for first overall: mean win rates 100.0, 66.7 and 33.3 %. "
    assert headline.of_board(found) == ["", "a", ", ", "b", " and ", "c", may, "a", best]
    alone = [replace(one, ranks=(1, 1) if one.key[0] == "a" else (2, 4)) for one in found.overall]
    first = " is first overall: mean win rate 100.0 %, the next 66.7 %. "
    assert headline.of_board(replace(found, overall=alone)) == ["", "a", first, "a", best]
    found.overall[:] = [replace(one, ranks=(1, 4)) for one in found.overall]
    highest = " has the highest mean win rate, 100.0 %, the next 66.7 %. "
    assert headline.of_board(found) == [
        "Four models are statistically tied for first overall; ",
        "a",
        highest,
        "a",
        best,
    ]
    found = compared(
        *(rows := [row for row in rows if row.group != MOVIECORE and row.model in "ab"]),
        pairs=told[:1],
    )
    found.overall[:] = []
    both = " leads on ReXTime and is statistically tied for first on CURVE"
    assert headline.of_board(found) == [
        "",
        "a",
        f"{both}; ",
        "b",
        " is statistically tied for first on CURVE.",
    ]


def test_whoever_is_not_beaten_may_be_first():
    rows = [
        entry(name, score, kind="run") for name, score in (("a", 30.0), ("b", 20.0), ("c", 19.0))
    ]
    a, _, c = (row.key for row in rows)
    found = compared(*rows, pairs=[(a, c)])
    ahead = [
        "a",
        " is ahead of ",
        "b",
        " by 10.0 points (adjusted 95 %: −1.0 to 21.0), not told apart.",
    ]
    assert headline.of_board(found, REXTIME) == [
        "",
        "a",
        " and ",
        "b",
        " are statistically tied for first; ",
        *ahead,
    ]
    assert headline.of_board(found) == [
        "",
        "a",
        " and ",
        "b",
        " are statistically tied for first on ReXTime.",
    ]
    rows.append(entry("d", 18.0, kind="run"))
    assert headline.of_board(compared(*rows), REXTIME) == [
        "Four models are statistically tied for first; ",
        *ahead,
    ]


def test_what_papers_print_leads_nobody():
    assert said(entry("a", 0.0)) == ["", "a", " is the only ranked model on ReXTime."]
    rows = [entry("a", 4.5, group=MOVIECORE), entry("a", 30.0), entry("b", 20.0)]
    differ = "; frames, prompts and settings differ between papers."  # so no margin is stated
    assert said(*rows)[2] == f" has the highest published number on both benchmarks{differ}"
    rows = [entry("a", 30.0), entry("b", 30.0)]
    assert said(*rows) == [
        "",
        "a",
        " and ",
        "b",
        f" have the highest published number on ReXTime{differ}",
    ]


def test_nothing_ranked_is_said_so():
    assert said(entry("a", 30.0, kind="run", unranked="--limit 5")) == ["Nothing is ranked yet."]


def test_a_margin_has_its_interval_and_owns_up_to_noise():
    run = entry("a", 30.0, kind="run"), entry("b", 20.0, kind="run")
    found = made(*run)
    pair = {(run[1].key, run[0].key): PairedDifference(-10.0, 0.2, (-21.0, 1.0))}
    found.noise[REXTIME] = Noise({}, None, pair, 20)
    assert headline.of_board(found, REXTIME) == [
        "",
        "a",
        " leads, ahead of the next by 10.0 points (adjusted 95 %: −1.0 to 21.0), not told apart.",
    ]


def test_overall_ranges_follow_from_the_pairs_that_are_surely_told_apart():
    rows = [
        entry(name, score, group=group, kind="run", stored=SimpleNamespace())
        for group in (REXTIME, CURVE)
        for name, score in (("a", 30.0), ("b", 20.0), ("c", 10.0))
    ]

    def ranges(p):
        noise = {}
        for group in (REXTIME, CURVE):
            of = {row.model: row.key for row in rows if row.group == group}
            chances = {("a", "b"): p, ("a", "c"): p, ("b", "c"): 0.5}
            pairs = {
                (of[x], of[y]): PairedDifference(0.25, chance, None, chance)
                for (x, y), chance in chances.items()
            }
            noise[group] = Noise(dict.fromkeys(of.values(), (1, 3)), None, pairs)
        ranks = {row.key: place for row, place in zip(rows, [1, 2, 3] * 2, strict=True)}
        groups = {"rextime": REXTIME, "curve": CURVE}
        names = {name: name for name in "abc"}
        models = overall.overall(rows, ranks, groups, discovery.specs(), names, noise=noise)
        return {model.key[0]: model.ranks for model in models}

    # Six pairs on two benchmarks: the smallest p counts six times (Holm), and 0.05 / 6 is 0.0083.
    # a is surely above both everywhere (1 to 1), b and c only surely under a.
    assert ranges(0.008) == {"a": (1, 1), "b": (2, 3), "c": (2, 3)}
    assert ranges(0.009) == {"a": (1, 3), "b": (1, 3), "c": (1, 3)}


def test_differences_of_a_table_are_in_its_order_either_way_round():
    run = entry("a", 30.0, kind="run"), entry("b", 20.0, kind="run")
    found = made(*run, entry("p", 10.0))
    pair = {(run[1].key, run[0].key): PairedDifference(-10.0, 0.01, (-12.0, -7.0))}
    found.noise[REXTIME] = Noise({}, None, pair, 20)
    differences = site.pairs(found, REXTIME)
    assert differences["cells"] == [[10.0, 0.01, 7.0, 12.0], None, None]
    assert differences["rows"] == [site.file_name(row.key) for row in found.entries]


def test_runs_of_which_none_is_ranked_are_counted_and_published_numbers_lead_nobody():
    rows = [
        entry("paper", 20.0),
        entry("a", 60.0, kind="run", unranked="300 of 921 items"),
        entry("b", 50.0, kind="run", unranked="300 of 921 items"),
        entry("quoted", 3.0, group=MOVIECORE),
    ]
    found = made(*rows)
    text = ["2 runs are listed here, none of them ranked yet."]
    assert headline.of_board(found) == text
    assert headline.of_board(found, REXTIME) == text
