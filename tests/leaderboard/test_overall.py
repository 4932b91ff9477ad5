"""The overall table on rows made by hand, against hand work."""

import dataclasses
from types import SimpleNamespace

import pytest

from reelbench.base.errors import InputError
from reelbench.leaderboard import aliases, board, overall, site
from reelbench.leaderboard.entries import RankingGroup
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.ranking import Noise, PairedDifference
from reelbench.registry import discovery
from reelbench.registry.records import About
from tests.leaderboard.rows import CURVE, DRAMA, MOVIECORE, REXTIME, entry

OPEN = (REXTIME, CURVE, MOVIECORE)
THREE = {"a": 30.0, "b": 29.0, "c": 21.0}


def stored():
    """What a run's row has, as far as the table looks."""
    return SimpleNamespace(videos=None)


def places(*rows):
    """Model -> its place, in the table's order."""
    return {model.key[0]: model for model in board.ranked_board(discovery.specs(), rows).overall}


def everywhere(scores, groups=OPEN):
    """A row of each model in each group."""
    return [entry(model, score, group=group) for group in groups for model, score in scores.items()]


def test_a_model_with_all_open_benchmarks_is_ranked_by_its_mean_win_rate():
    models = places(
        *(entry(name, score) for name, score in (("a", 30.0), ("b", 20.0), ("c", 10.0))),
        *(
            entry(name, score, group=CURVE)
            for name, score in (("a", 50.0), ("b", 60.0), ("c", 40.0))
        ),
    )
    # ReXTime: a beats 2 of 2, b 1, c none; CURVE: b beats 2, a 1, c none.
    assert {name: (model.rank, model.win_rate) for name, model in models.items()} == {
        "a": (1, 0.75),
        "b": (1, 0.75),
        "c": (3, 0.0),
    }


def test_a_run_that_states_no_setting_is_its_model_s_in_the_only_one_stated():
    rows = [
        entry("m", 50.0, kind="run", setting="reasoning"),
        entry("m", 40.0, kind="run", group=CURVE),
        entry("n", 30.0, kind="run", setting="fine-tuned"),
        entry("n", 20.0, kind="run", group=CURVE),
        entry("o", 30.0, kind="run", setting="reasoning"),
        entry("o", 30.0, kind="run", setting="zero-shot", group=CURVE),
        entry("o", 20.0, kind="run", group=MOVIECORE),
    ]
    keys = overall.model_keys(rows, {name: name for name in "mno"})
    settings = [(row.model, keys[row.key][2]) for row in rows]
    # A fine-tuned run has a table of its own, and of two settings neither is meant.
    assert settings == [
        ("m", "reasoning"),
        ("m", "reasoning"),
        ("n", "fine-tuned"),
        ("n", "zero-shot"),
        ("o", "reasoning"),
        ("o", "zero-shot"),
        ("o", "zero-shot"),
    ]


def test_of_one_benchmark_the_order_is_its_table():
    rows = [entry(name, score, kind="run") for name, score in THREE.items()]
    rows.append(entry("b", 25.0, kind="run", key="b-again", frames="uniform:8"))
    made = board.ranked_board(discovery.specs(), rows)
    of_table = {}
    for row in made.rows[REXTIME]:
        of_table.setdefault(row.model, made.ranks[row.key])
    assert {model.key[0]: model.rank for model in made.overall} == of_table
    assert [model.key[0] for model in made.overall] == ["a", "b", "c"]
    assert of_table == {"a": 1, "b": 2, "c": 3}


def test_a_model_is_placed_from_half_of_the_benchmarks_on_the_others_by_the_same_score():
    rows = [
        *everywhere({"a": 30.0, "b": 20.0, "c": 10.0}),
        entry("two", 25.0),
        entry("two", 25.0, group=CURVE),
    ]
    models = places(*rows, entry("zero", 1.0), entry("one", 90.0))
    # ReXTime: one 5 of 5, a 4, two 3, b 2, c 1, zero none; CURVE: a 3 of 3, two 2, b 1, c 0;
    # MovieCORE: a 2 of 2, b 1.
    assert {name: (model.rank, model.win_rate) for name, model in models.items()} == {
        "a": (1, pytest.approx((4 / 5 + 1 + 1) / 3)),
        "two": (2, pytest.approx((3 / 5 + 2 / 3) / 2)),
        "b": (3, pytest.approx((2 / 5 + 1 / 3 + 1 / 2) / 3)),
        "c": (4, pytest.approx((1 / 5) / 3)),
        "one": (None, 1.0),
        "zero": (None, 0.0),
    }
    assert list(models) == ["a", "two", "b", "c", "one", "zero"]
    assert [(model.covered, model.of) for model in models.values()] == [
        (3, 3),
        (2, 3),
        (3, 3),
        (3, 3),
        (1, 3),
        (1, 3),
    ]


def test_of_runs_a_win_is_a_pair_that_is_told_apart():
    rows = [
        entry(name, value, group=g, kind="run", stored=stored())
        for g in OPEN
        for name, value in THREE.items()
    ]
    noise = {}
    for group in OPEN:
        a, b, c = (row.key for row in rows if row.group == group)
        p_values = {(a, b): 0.5, (a, c): 0.01, (b, c): 0.5}
        noise[group] = Noise(
            {}, None, {pair: PairedDifference(1.0, p) for pair, p in p_values.items()}
        )
    ranks = {row.key: place for row, place in zip(rows, [1, 2, 3] * 3, strict=True)}
    names = {name: name for name in THREE}
    main = {group.benchmark: group for group in OPEN}
    models = overall.overall(rows, ranks, main, discovery.specs(), names, noise=noise)
    # a beats c, and may be as good as b: 3/4; b beats nobody and is beaten by nobody: 1/2.
    found = {model.key[0]: (model.rank, model.win_rate) for model in models}
    assert found == {"a": (1, 0.75), "b": (2, 0.5), "c": (3, 0.25)}


def test_a_model_above_one_that_beats_it_where_both_ran_is_marked():
    scores = {
        REXTIME: {"a": 30.0, "b": 40.0, "c": 50.0, "d": 60.0},
        CURVE: {"a": 30.0, "c": 20.0, "d": 10.0},
        MOVIECORE: {"b": 1.0, "c": 2.0, "d": 3.0},
    }
    rows = [
        entry(name, value, group=group)
        for group, values in scores.items()
        for name, value in values.items()
    ]
    made = board.ranked_board(discovery.specs(), rows)
    # d: 1, 0, 1; c: 2/3, 1/2, 1/2; a: 0, 1; b: 1/3, 0, though on ReXTime it beats a.
    assert [(model.key[0], model.rank) for model in made.overall] == [
        ("d", 1),
        ("c", 2),
        ("a", 3),
        ("b", 4),
    ]
    marked = {model.key[0]: model.better_below for model in made.overall if model.better_below}
    assert list(marked) == ["a"]
    assert [(below.key[0], below.groups) for below in marked["a"]] == [("b", [REXTIME])]
    words = "b (rank 4) is better on ReXTime"
    assert {m["model"]: m.get("below") for m in site.document(made)["overall"]} == {
        "a": words,
        "b": None,
        "c": None,
        "d": None,
    }
    [told] = [m["better_below"] for m in tables.as_document(made)["overall"] if m["model"] == "a"]
    assert [(m["model"], m["rank"], m["better_on"]) for m in told] == [("b", 4, ["rextime"])]


def test_a_setting_that_a_run_does_not_state_is_said_wherever_the_model_stands():
    values = {"a": 30.0, "b": 20.0, "c": 10.0}
    runs = [
        entry(name, value, kind="run", setting="run" if name == "a" else "reasoning")
        for name, value in values.items()
    ]
    made = board.ranked_board(discovery.specs(), runs)
    on_page = {m["model"]: m.get("unstated") for m in site.document(made)["overall"]}
    assert on_page == {"a": "ReXTime", "b": None, "c": None}
    in_json = {m["model"]: m["setting_not_stated_on"] for m in tables.as_document(made)["overall"]}
    assert in_json == {"a": ["rextime"], "b": [], "c": []}
    # Where no run states one, none is told apart by it.
    made = board.ranked_board(
        discovery.specs(), [dataclasses.replace(run, setting="run") for run in runs]
    )
    assert not any("unstated" in m for m in site.document(made)["overall"])


def test_under_three_complete_models_there_is_no_ranking():
    models = places(*everywhere({"a": 30.0, "b": 20.0}), entry("c", 10.0))
    assert [(model.rank, model.win_rate) for model in models.values()] == [(None, None)] * 3
    assert {name: model.covered for name, model in models.items()} == {"a": 3, "b": 3, "c": 1}


def test_equal_scores_share_a_rank_and_a_shared_rank_counts_half():
    models = places(*everywhere({"a": 30.0, "b": 30.0, "c": 10.0, "d": 5.0}, (REXTIME, CURVE)))
    # Of 3 others a and b each beat 2 and tie with 1; c beats 1.
    assert {name: (model.rank, model.win_rate) for name, model in models.items()} == {
        "a": (1, 2.5 / 3),
        "b": (1, 2.5 / 3),
        "c": (3, 1 / 3),
        "d": (4, 0.0),
    }


def test_data_under_an_agreement_does_not_count():
    models = places(
        *everywhere({"a": 30.0, "b": 20.0, "c": 10.0}, (REXTIME, DRAMA)),
        entry("d", 99.0, group=DRAMA),
    )
    assert {name: (model.rank, model.covered, model.of) for name, model in models.items()} == {
        "a": (1, 1, 1),
        "b": (2, 1, 1),
        "c": (3, 1, 1),
        "d": (None, 0, 1),
    }


def test_published_numbers_never_outvote_runs():
    own = dataclasses.replace(CURVE, prompts="reelbench@01234567")
    published = [entry(f"p{i}", 10.0 + i, group=CURVE) for i in range(5)]
    made = board.ranked_board(
        discovery.specs(), [*published, entry("r", 5.0, group=own, kind="run")]
    )
    assert made.main == {"curve": own}
    assert made.groups["curve"] == [own, CURVE]
    newer = dataclasses.replace(CURVE, version=2)
    made = board.ranked_board(
        discovery.specs(), [entry("r", 5.0, group=own, kind="run"), entry("p", 5.0, group=newer)]
    )
    assert made.main == {"curve": newer}
    # A run that is not ranked decides nothing.
    made = board.ranked_board(
        discovery.specs(),
        [*published, entry("r", 5.0, group=own, kind="run", unranked="--limit 8")],
    )
    assert made.main == {"curve": CURVE}


def test_another_way_of_asking_never_moves_a_plain_row():
    plain = everywhere({"a": 30.0, "b": 20.0, "c": 10.0})
    told = [
        entry("b", 90.0, group=dataclasses.replace(group, protocol="label web search"), kind="run")
        for group in OPEN
    ]
    before, after = (
        board.ranked_board(discovery.specs(), plain),
        board.ranked_board(discovery.specs(), [*plain, *told]),
    )
    assert {key: rank for key, rank in after.ranks.items() if key in before.ranks} == before.ranks
    assert after.main == before.main
    assert [(m.key, m.rank, m.win_rate) for m in after.overall] == [
        (m.key, m.rank, m.win_rate) for m in before.overall
    ]


def test_names_of_one_model_are_one_row():
    rows = [
        entry("GPT-5", 30.0, group=CURVE),
        entry("openai/gpt-5", 30.0, group=MOVIECORE, kind="run", revision="2025-08-07"),
        entry("OpenAI/GPT-5", 30.0, kind="run"),
        entry("Org/Model", 20.0),
        entry("org/model", 20.0, group=CURVE),
        entry("ORG/model", 20.0, group=MOVIECORE),
        *everywhere({"c": 10.0}),
    ]
    made = board.ranked_board(discovery.specs(), rows)
    assert [(model.key, model.rank) for model in made.overall] == [
        (("openai/gpt-5", "2025-08-07", "zero-shot"), 1),
        (("Org/Model", None, "zero-shot"), 2),
        (("c", None, "zero-shot"), 3),
    ]


def test_revisions_and_settings_stay_apart():
    rows = [
        entry("m", 30.0, revision="1", kind="run"),
        entry("m", 30.0, group=CURVE, revision="2", kind="run"),
        entry("m", 30.0, group=CURVE, key="other", setting="fine-tuned"),
    ]
    keys = {model.key for model in board.ranked_board(discovery.specs(), rows).overall}
    assert keys == {("m", "1", "zero-shot"), ("m", "2", "zero-shot"), ("m", None, "fine-tuned")}


def test_a_store_says_what_its_own_models_are_called(tmp_path):
    (tmp_path / "aliases.yaml").write_text("lab/model-b: [Model B]\n")
    names = aliases.read(tmp_path).models(["model b", "gpt-5", "x"])
    assert names == {"model b": "lab/model-b", "gpt-5": "openai/gpt-5", "x": "x"}


def test_owners_that_differ_in_case_alone_are_one():
    names = aliases.read().models(["OpenAI/new-model", "Lab/a", "lab/b", "lab/c", "x", "lab"])
    assert names["OpenAI/new-model"] == "openai/new-model"  # as the package spells it
    assert [names[name] for name in ("Lab/a", "lab/b", "x", "lab")] == [
        "Lab/a",
        "Lab/b",
        "x",
        "lab",
    ]  # as the first is


def test_judges_and_organisations_that_differ_in_case_alone_are_one():
    rows = [
        entry(
            name,
            score,
            group=dataclasses.replace(CURVE, judge=judge),
            kind="run",
            about=About(organisation=owner),
        )
        for name, score, judge, owner in (
            ("a", 2.0, "Gemini-2.5", "Lab"),
            ("b", 1.0, "gemini-2.5", "LAB"),
        )
    ]
    made = board.ranked_board(discovery.specs(), rows)
    [group] = made.groups["curve"]
    assert group.judge == "Gemini-2.5"
    assert [made.ranks[row.key] for row in made.entries] == [1, 2]
    assert {row.about.organisation for row in made.entries} == {"Lab"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lab/b: [GPT-5]\n", "'GPT-5' is a name of 'lab/b' and of 'openai/gpt-5'"),
        ("lab/b: GPT-5\n", "expected a list of names"),
        ("lab/b: [5]\n", "expected a list of names"),
        ("a: &x [b]\nc: *x\n", "line 1: the file of names has YAML aliases"),
        ("- a\n", "is a list, expected keys and values"),
    ],
)
def test_a_file_of_names_that_is_wrong_is_told(tmp_path, text, told):
    (tmp_path / "aliases.yaml").write_text(text)
    with pytest.raises(InputError) as error:
        aliases.read(tmp_path)
    assert told in str(error.value)
    assert "aliases.yaml" in str(error.value)


def test_the_mini_data_counts_only_where_nothing_else_was_run():
    mini = RankingGroup("rextime", 1, "mini")
    ran = [entry("a", 30.0, group=mini, kind="run"), entry("b", 20.0, group=mini, kind="run")]
    published = [entry(f"p{i}", 9.0, group=CURVE) for i in range(5)]
    assert board.ranked_board(discovery.specs(), ran).main == {"rextime": mini}
    only_mini = board.ranked_board(discovery.specs(), [*published, *ran])
    assert only_mini.main == {"rextime": mini}
    assert [model.key[0] for model in only_mini.overall][:2] == [
        "a",
        "b",
    ]  # what was run stands first
    beside = board.ranked_board(discovery.specs(), [*published, *ran, entry("c", 9.0, kind="run")])
    assert beside.main == {"curve": CURVE, "rextime": REXTIME}


def test_a_benchmark_that_nobody_ran_keeps_no_run_from_a_rank():
    runs = [
        entry(name, score, group=group, kind="run")
        for group in (REXTIME, CURVE)
        for name, score in (("a", 30.0), ("b", 20.0), ("c", 10.0))
    ]
    models = places(*runs, entry("p", 4.0, group=MOVIECORE))
    found = {name: (model.rank, model.covered, model.of) for name, model in models.items()}
    assert found == {"a": (1, 2, 2), "b": (2, 2, 2), "c": (3, 2, 2), "p": (None, 0, 2)}
