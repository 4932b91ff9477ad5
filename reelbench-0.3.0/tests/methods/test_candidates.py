"""Several answers to each question: pass@k against its definition, mean@k and the majority by hand."""

import json
from itertools import combinations
from statistics import fmean

import pytest
from typer.testing import CliRunner

import reelbench
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.scoring.candidates import majority, pass_at
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

NAME = "dramaqa_cogme_mini"


@pytest.mark.parametrize("candidates", [1, 4, 7])
def test_pass_at_k_is_the_share_of_all_draws_with_a_right_answer(candidates):
    for right in range(candidates + 1):
        answers = [True] * right + [False] * (candidates - right)
        for k in range(1, candidates + 1):
            drawn = [any(chosen) for chosen in combinations(answers, k)]
            assert pass_at(k, candidates, right) == pytest.approx(fmean(drawn), abs=1e-12)


def test_pass_at_1_of_chens_setting():
    assert pass_at(1, 200, 30) == pytest.approx(0.15)
    assert pass_at(100, 200, 1) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("letters", "index"),
    [
        ("ABB", 1),
        ("ABBA", 0),
        ("C", 0),
        (["A", None, None], 0),
        ([None, "B", "A", "A"], 2),
        ([None, None], None),
    ],
)
def test_the_majority(letters, index):
    assert majority(list(letters)) == index


@pytest.fixture
def candidates(tmp_path):
    """Write candidates as letters right or wrong, by a pattern for each question -> the file."""

    def write(*patterns):
        rows = list(reelbench.load("dramaqa_cogme", "mini"))
        lines = []
        for row, pattern in zip(rows, patterns, strict=False):
            wrong = [letter for letter in "ABCDE" if letter != row["answer"]]
            given = [f"({row['answer'] if sign == '+' else wrong[int(sign)]})" for sign in pattern]
            lines.append(json.dumps({"id": row["id"], "candidates": given}))
        path = tmp_path / "candidates.jsonl"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def told(path, *options):
    words = [
        "compare",
        "candidates",
        "--candidates",
        str(path),
        "--benchmark",
        NAME,
        "--model",
        "org/m",
        *map(str, options),
    ]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_figures_of_four_questions_by_hand(candidates):
    # Right: 2 of 4, 0, 4, 1. pass@1 = 7/16; pass@2 = (5/6 + 0 + 1 + 1/2) / 4; pass@4 = 3/4. Mean =
    # 7/16. Majority of 4: wrong "0" twice comes first -> wrong; wrong; right; "1" twice -> wrong.
    # Of the first 3: + twice.
    path = candidates("0+0+", "0123", "++++", "1+01")
    document = json.loads(told(path, "--json", "--k", "1,2,4"))
    assert (document["benchmark"], document["model"], document["questions"]) == (
        "dramaqa_cogme",
        "org/m",
        4,
    )
    by_k = {entry["k"]: entry for entry in document["k"]}
    assert by_k[1]["pass"]["value"] == pytest.approx(100 * 7 / 16)
    assert by_k[2]["pass"]["value"] == pytest.approx(100 * (5 / 6 + 0 + 1 + 1 / 2) / 4)
    assert by_k[4]["pass"]["value"] == pytest.approx(75)
    assert [entry["pass"]["n"] for entry in document["k"]] == [4, 4, 4]
    assert [entry["mean"]["value"] for entry in document["k"]] == pytest.approx([100 * 7 / 16] * 3)
    assert [by_k[k]["majority"]["value"] for k in (1, 4)] == [pytest.approx(25), pytest.approx(25)]
    assert "pass@k" in told(path)


def test_a_question_with_fewer_candidates_is_left_out_of_pass_at_k(candidates):
    document = json.loads(told(candidates("+0", "0", "00"), "--json"))
    assert [(entry["k"], entry["pass"]["n"]) for entry in document["k"]] == [(1, 3), (2, 2)]
    assert [entry["pass"]["value"] for entry in document["k"]] == [
        pytest.approx(100 / 6),
        pytest.approx(50),
    ]


def test_open_answers_are_judged_and_a_run_needs_no_options(tmp_path):
    path = tmp_path / "candidates.jsonl"
    row = next(iter(reelbench.load("curve", "mini")))
    path.write_text(
        json.dumps({"id": row["id"], "candidates": ["xyzzy", "bad", "xyzzy"]}) + "\n",
        encoding="utf-8",
    )
    words = [
        "compare",
        "candidates",
        "--candidates",
        str(path),
        "--benchmark",
        "curve_mini",
        "--json",
    ]
    with pytest.raises(InputError, match="open answers need --judge"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    with JudgeServer(
        lambda call: Answer("2" if "xyzzy" in json.dumps(call.body) else "0")
    ) as server:
        judged = ["--judge", "j", "--judge-url", server.url]
        done = CliRunner().invoke(app, [*words, *judged], catch_exceptions=False)
        server.script(lambda _: Answer(status=401))
        with pytest.raises(ReelbenchError, match="the judge gave no score"):
            CliRunner().invoke(
                app,
                [*words, "--judge", "other", *judged[2:], "--judge-timeout", "1"],
                catch_exceptions=False,
            )
    document = json.loads(done.stdout.splitlines()[-1])
    assert document["k"][0]["mean"]["value"] == pytest.approx(100 * 2 / 3)
    assert document["k"][1]["pass"]["value"] == pytest.approx(
        100
    )  # of any two of the three one is good
    assert document["k"][0]["majority"] is None


def test_more_than_there_are_is_a_line(candidates):
    with pytest.raises(InputError, match="--k 5: no question has so many candidates; there are 2"):
        told(candidates("+0"), "--k", 5)
