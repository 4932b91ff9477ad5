"""Questions that need no watching: on the board, and left out of a comparison."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from reelbench.leaderboard import board, columns, site, store
from reelbench.leaderboard.entries import run_entry
from tests.program import app


@pytest.fixture
def shown(rextime_run, tamper):
    """A run of twelve questions, the first `right` of them right, with a setting of frames."""

    def run(name, frames, right, **more):
        return tamper(
            rextime_run(name, right=right, **more),
            result=lambda r: r["settings"].update(frames=frames),
        )

    return run


def test_a_board_leaves_out_what_needs_no_watching(shown, tamper, tmp_path):
    part = shown(
        "part", "none", 4, first=4, model="org/part"
    )  # not ranked, so it says nothing of a question
    for folder in (
        tamper(
            part,
            result=lambda r: (
                r["settings"].update(limit=4),
                r["benchmark"].pop("questions_sha256"),
            ),
        ),
        shown("seeing", "uniform:8", 9),
        shown("blind", "none", 3),
        shown("single", "uniform:1", 4),
        shown("other", "uniform:8", 6, model="org/other"),
    ):
        store.add(folder, tmp_path / "store")
    made = board.make(tmp_path / "store", published=False)
    beside = {
        (row.model, row.frames): columns.plain_row(made, row)["without_shortcuts"]
        for row in made.entries
    }
    # Four of twelve are left out: of the other eight 9 - 4 and 6 - 4 are right.
    assert beside == {
        ("org/model", "uniform:8"): pytest.approx(100 * 5 / 8),
        ("org/other", "uniform:8"): pytest.approx(100 * 2 / 8),
        ("org/model", "none"): None,
        ("org/part", "none"): None,
        ("org/model", "uniform:1"): None,
    }
    # Those that were shown nothing are reference points, below no model and above none.
    places = {(row.model, row.frames): made.ranks.get(row.key) for row in made.entries}
    assert places == {
        ("org/model", "uniform:8"): 1,
        ("org/other", "uniform:8"): 2,
        ("org/model", "uniform:1"): 2,  # one other model is better
        ("org/model", "none"): None,
        ("org/part", "none"): None,
    }
    overall = {model.key[0]: model.rank for model in made.overall}
    assert overall == {"org/model": 1, "org/other": 2}
    [group] = site.document(made)["groups"]
    assert group["shortcuts"] == {
        "blind": {"runs": 1, "v": [25.0]},  # of four videos, so without an interval
        "single frame": {"runs": 1, "v": [33.33333]},
    }


def test_a_run_on_text_alone_is_ranked_without_frames(shown, tmp_path):
    store.add(shown("text", "none", 3), tmp_path / "store")
    (entry,) = board.make(tmp_path / "store", published=False).entries
    assert entry.kind == "blind"
    of_text = replace(entry.stored.spec, media=())
    assert run_entry(replace(entry.stored, benchmark=of_text)).kind == "run"


def test_a_comparison_leaves_them_out_and_a_file_names_them(shown, tmp_path):
    a, b, blind = shown("a", "uniform:8", 9), shown("b", "uniform:8", 6), shown("blind", "none", 3)
    call = CliRunner().invoke
    done = call(
        app,
        ["compare", str(a), str(b), "--without-shortcuts", str(blind), "--json"],
        catch_exceptions=False,
    )
    metric = json.loads(done.stdout)["metrics"]["accuracy_at_iou_0.5"]
    assert (metric["n"], metric["a"], metric["b"]) == (
        9,
        pytest.approx(100 * 6 / 9),
        pytest.approx(100 * 3 / 9),
    )
    assert "3 of 12 items left out" in done.stderr
    done = call(
        app, ["compare", "shortcuts", str(tmp_path), "--write", str(tmp_path / "q.jsonl"), "--json"]
    )
    assert json.loads(done.stdout)["rextime"]["blind"] == {
        "runs": 1,
        "questions": 12,
        "value": 0.25,
        "ci95": None,
    }
    lines = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    assert sum(line["blind"]["shortcut"] for line in lines) == 3
    done = call(app, ["compare", "shortcuts", str(a)])
    assert done.exit_code != 0
    assert "--frames none" in str(done.exception)
