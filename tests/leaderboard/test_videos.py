"""Videos that vanish: what a result records of them, and runs that lack different ones on those that all had.

ReXTime's mini data has four videos with three questions each: mini1 to mini3 on the first square,
mini4 to mini6 on the second, mini7 to mini9 on the tide, mini10 to mini12 on the kite. Of each run
the first so many answers are right.
"""

import hashlib
import json
import shutil

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from reelbench.base.settings import kept_tables
from reelbench.leaderboard import board, kept_values, store
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.store_columns import FOLDER
from tests.leaderboard.test_tampering import forge
from tests.program import app

SQUARE, TIDE, KITE = (
    ("mini1", "mini2", "mini3"),
    ("mini7", "mini8", "mini9"),
    ("mini10", "mini11", "mini12"),
)


def without(ids):
    def edit(lines):
        for line in lines:
            if line["id"] in ids:
                gone = {"prediction": None, "parsed": None, "target": {}, "facets": {}, "flags": []}
                line.update(state="unscored", reason="media_missing", scores={}, **gone)

    return edit


@pytest.fixture
def runs(rextime_run, tmp_path):
    """Nine right with all videos, seven without the first square, five without the kite; filed."""
    folders = {}
    for model, right, gone in (("whole", 9, ()), ("squareless", 7, SQUARE), ("kiteless", 5, KITE)):
        folders[model] = rextime_run(model, model=f"org/{model}", right=right)
        forge(folders[model], without(gone))
        [added] = store.add(folders[model], tmp_path / "store")
        assert added.outcome == "added", added.why
    return folders


def accuracies(made, part):
    """Model -> accuracy, of the rows whose table is of such a part of the split."""
    return {
        row.model.removeprefix("org/"): round(row.metrics["accuracy"].value, 2)
        for row in made.entries
        if part in (row.group.subset or "all of it")
    }


@pytest.mark.usefixtures("runs")
def test_three_runs_on_the_videos_that_all_had(tmp_path):
    keys = [one.key for one in store.read(tmp_path / "store")]
    made = board.make(tmp_path / "store", published=False, common=keys)
    # The second square and the tide: mini4 to mini9. Nine right are all six, seven are four, five
    # are two.
    assert accuracies(made, "the 2 videos that all 3 runs had @") == {
        "whole": 100.0,
        "squareless": 66.67,
        "kiteless": 33.33,
    }
    # Each alone, as before: 9 of 12; mini4 to mini7 of 9; mini1 to mini5 of 9.
    assert accuracies(made, "all of it") == {"whole": 75.0}
    assert accuracies(made, "media of 9 of 12 items") == {"squareless": 44.44, "kiteless": 55.56}
    videos = {(row.model, row.facts["items"]): row.facts["videos"] for row in made.entries}
    assert videos["org/squareless", 12] == videos["org/kiteless", 12] == "3 of 4"
    assert videos["org/whole", 12] is videos["org/squareless", 6] is None
    assert "org/kiteless (3 of 4 videos)" in tables.tables(made, "markdown")
    [common] = {row.group for row in made.entries if "that all" in (row.group.subset or "")}
    assert not common.plain  # it never counts overall
    assert [row.model for row in made.entries if row.group == common] == [
        "org/whole",
        "org/squareless",
        "org/kiteless",
    ]
    assert all(row.key in made.ranks for row in made.entries)


@pytest.mark.usefixtures("runs", "few_videos")
def test_values_on_common_videos_are_computed_once_and_are_those_of_the_samples(
    tmp_path, monkeypatch
):
    place = tmp_path / "store"
    keys = [one.key for one in store.read(place)]
    computed_keys = []
    compute = kept_values.standing

    def noted(stored):
        computed_keys.append(stored.key)
        return compute(stored)

    def rows():
        computed_keys.clear()
        made = board.make(place, published=False, common=keys)
        pairs = [dict(noise.pairs) for noise in made.noise.values()]
        return made.entries, made.ranks, pairs

    monkeypatch.setattr(kept_values, "standing", noted)
    first = rows()
    assert len(computed_keys) == 3
    assert rows() == first
    assert not computed_keys
    [kept] = kept_tables().glob("*.json")
    kept.write_bytes(kept.read_bytes()[:100])
    assert rows() == first
    assert len(computed_keys) == 3
    kept.unlink()
    shutil.rmtree(place / FOLDER)
    (place / FOLDER).write_text("no folder can be made here")
    assert rows() == first
    assert len(computed_keys) == 3


@pytest.mark.usefixtures("runs")
def test_a_run_with_under_nine_tenths_of_the_videos_decides_for_nobody(tmp_path):
    made = board.make(tmp_path / "store", published=False)  # three of four videos are fewer
    assert accuracies(made, "that all") == {}


@pytest.mark.usefixtures("runs")
def test_chosen_runs_only(rextime_run, tmp_path):
    keys = [
        one.key for one in store.read(tmp_path / "store") if one.result.model.id != "org/kiteless"
    ]
    made = board.make(tmp_path / "store", published=False, common=keys)
    # All but the first square, nine questions: six of them right, and four.
    assert accuracies(made, "the 3 videos that all 2 runs had @") == {
        "whole": 66.67,
        "squareless": 44.44,
    }
    # Two of one table, which lack nothing, are set side by side if they are chosen; one alone never
    # is.
    store.add(rextime_run("again", model="org/again", right=3), tmp_path / "store")
    whole = {one.result.model.id: one.key for one in store.read(tmp_path / "store")}
    made = board.make(
        tmp_path / "store", published=False, common=[whole["org/whole"], whole["org/again"]]
    )
    assert accuracies(made, "the 4 videos that all 2 runs had @") == {"whole": 75.0, "again": 25.0}
    made = board.make(tmp_path / "store", published=False, common=[whole["org/whole"]])
    assert accuracies(made, "that all") == {}
    with pytest.raises(InputError, match="--common: no run has the key 'org'"):
        board.make(tmp_path / "store", common=["org"])


def test_compare_says_which_videos_it_is_on(runs):
    def compare(*words):
        done = CliRunner().invoke(app, ["compare", *map(str, words)], catch_exceptions=False)
        assert done.exit_code == 0
        return done

    document = json.loads(compare(runs["whole"], runs["squareless"], "--json").stdout)
    assert document["videos"] == {"a": 4, "b": 3, "common": 3}
    assert (document["metrics"]["accuracy"]["n"], document["metrics"]["accuracy"]["videos"]) == (
        9,
        3,
    )
    words = (runs["whole"], runs["squareless"], "--videos-of", runs["kiteless"])
    document = json.loads(compare(*words, "--json").stdout)
    assert document["videos"] == {"a": 4, "b": 3, "common": 2}
    accuracy = document["metrics"]["accuracy"]
    assert (accuracy["n"], accuracy["a"], accuracy["b"]) == (6, 100, pytest.approx(100 * 4 / 6))
    assert "a had 4 videos, b 3; compared on the 2 that all had" in compare(*words).stderr


def test_a_result_records_which_videos_it_had(runs):
    media = json.loads((runs["kiteless"] / "result.json").read_text())["media"]
    had = ["tide_0.0_12.0", "v_square00001", "v_square00002"]
    assert media == {
        "sha256": hashlib.sha256("\n".join(had).encode()).hexdigest(),
        "of": 4,
        "videos": had,
    }
    forge(runs["whole"], result=lambda stated: stated["media"]["videos"].pop())
    [one] = store.check(runs["whole"])
    assert "media is 3 of 4 videos @" in one.why
    assert "the samples say 4 of 4" in one.why
