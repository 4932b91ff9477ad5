"""A folder that holds one result below it stands for that result, wherever a result is named."""

import json

import pytest

import reelbench as package
from reelbench.data import loading


@pytest.fixture
def out(reelbench, tmp_path):
    """A folder as `ask` leaves it: the result is in a folder of its benchmark's name."""
    rows = loading.load("rextime_mini")
    lines = [{"id": row["id"], "prediction": "A [1, 2]"} for row in rows]
    (tmp_path / "p.json").write_text(json.dumps(lines), encoding="utf-8")
    place = tmp_path / "out" / "rextime_mini"
    done = reelbench(
        "score",
        "rextime_mini",
        "--predictions",
        tmp_path / "p.json",
        "--output",
        place,
        "--no-overlap",
    )
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "OUT", "OUT"), ""),
        (("view", "OUT", "--out", "PAGE"), ""),
        (
            ("score", "rextime_mini", "--predictions", "P", "--only", "cut_off", "--from", "OUT"),
            "questions is cut_off",
        ),
        (
            ("profile", "moviecore_mini", "--result", "OUT"),
            "a result on rextime, not on moviecore_mini",
        ),
        (("diagnose", "errors", "OUT", "--llm", "m", "--out", "PAGE"), "rextime"),
        (("judge", "calibrate", "OUT", "P"), "rextime"),
    ],
)
def test_every_command_takes_it(arguments, said, out, reelbench):
    places = {"OUT": out, "PAGE": out.with_name("page"), "P": out.with_name("p.json")}
    done = reelbench(*(places.get(word, word) for word in arguments))
    assert (done.returncode == 0) == (not said), done.stderr
    assert said in done.stderr
    assert "result.json" not in done.stderr


def test_python_takes_it(out):
    assert package.open_result(out).counts.items == 12
    assert package.compare(out, out).both == 12


def test_a_benchmark_below_a_folder_that_is_the_result_is_told(out, reelbench, tmp_path):
    alone = tmp_path / "alone"
    place = ("--predictions", tmp_path / "p.json", "--output", alone, "--no-overlap")
    assert reelbench("score", "rextime_mini", *place).returncode == 0
    done = reelbench("compare", out, alone / "rextime_mini")
    assert done.returncode == 2
    line = f"{alone / 'rextime_mini'}: no such folder; the result is in {alone} itself"
    assert line in done.stderr


def test_a_folder_of_several_is_not_guessed_among(out, reelbench, tmp_path):
    place = ("--predictions", tmp_path / "p.json", "--output", out / "again", "--no-overlap")
    assert reelbench("score", "rextime_mini", *place).returncode == 0
    done = reelbench("profile", "rextime_mini", "--result", out)
    assert f"{out}: has 2 results, {out / 'again'} the first; name one of them" in done.stderr


def test_as_a_run_of_lmms_eval_it_is_refused_with_what_judges_it(out, reelbench):
    done = reelbench("score", "--run", out, "--judge", "judge-2")
    assert done.returncode == 2
    assert f"{out}: has a result of `ask` or `score`, and no lmms-eval run" in done.stderr
    assert "give the command that made it --judge MODEL" in done.stderr
