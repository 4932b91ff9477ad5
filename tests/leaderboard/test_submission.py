"""What people read of a submission: verdict, recomputed numbers, the nearest rows of its table, what is missing."""

import json
import re
import shutil

import pytest
from markdown_it import MarkdownIt

from reelbench.base.bounded import Bounds
from reelbench.leaderboard import (
    board_state,
    changed_files,
    row_life,
    store,
    submission,
    submission_page,
)
from reelbench.leaderboard.submission import Report
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.leaderboard.ledgers import refiled
from tests.scored import score_files


def report_of(*folders, against=None):
    return Report(submission.read(store.check(*folders), against))


def rendered(text):
    return MarkdownIt("commonmark").enable("table").render(text)


@pytest.fixture
def board(rextime_run, tmp_path):
    """Make a store of three runs, with 8, 5 and 2 of the 12 questions right."""
    for right in (8, 5, 2):
        store.add(
            rextime_run(f"of-{right}", model=f"org/right-{right}", right=right), tmp_path / "store"
        )
    return tmp_path / "store"


def test_a_result_that_holds_stands_beside_the_nearest_rows_of_its_table(rextime_run, board):
    [found] = report_of(rextime_run("mine", model="me/mine", right=6), against=board).submissions
    assert (found.verdict, found.why) == ("holds", "")
    near = {row.place: (row.model, row.paired.difference, row.paired.n) for row in found.near}
    # Accuracy at IoU 0.5 is the share of questions whose letter and window are right: 6 of 12
    # against 8, 5 and 2.
    assert near == {
        "best": ("org/right-8", pytest.approx(-100 / 6), 12),
        "below": ("org/right-5", pytest.approx(100 / 12), 12),
    }
    assert found.rank is not None
    assert found.rank[1] == 4
    text = submission_page.markdown(Report((found,)))
    assert "1 of 1 result is valid" in text
    page = rendered(text)
    assert re.search(
        r"<strong>accuracy_at_iou_0.5</strong></td>\s*<td>%</td>\s*<td[^>]*>50.00</td>\s*<td[^>]*>50.00",
        page,
    )
    assert re.search(
        r"<code>org/right-5</code></td>\s*<td>next below</td>\s*<td[^>]*>41.67</td>\s*<td[^>]*>\+8.33",
        page,
    )


def test_the_next_row_above_is_not_always_the_best(rextime_run, board):
    [found] = report_of(rextime_run("low", right=3), against=board).submissions
    assert [(row.place, row.model) for row in found.near] == [
        ("best", "org/right-8"),
        ("above", "org/right-5"),
        ("below", "org/right-2"),
    ]


def test_without_a_store_nothing_is_said_of_ranks(rextime_run):
    [found] = report_of(rextime_run()).submissions
    assert (found.rank, found.near) == (None, ())
    assert (found.as_json()["rank"], found.as_json()["ranked"]) == (None, None)
    assert "rank 1" not in submission_page.markdown(Report((found,)))


def test_what_is_missing_is_said(moviecore_run):
    [judged] = report_of(moviecore_run()).submissions
    assert any("judge's replies are as stated" in line for line in judged.missing)
    assert any("4 videos: no intervals" in line for line in judged.missing)
    assert any("nothing is stated about the model" in line for line in judged.missing)


def test_a_result_with_holes_holds_and_is_not_ranked(rextime_run, board, tmp_path):
    path = rextime_run("whole").parent / "submission.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:5]))
    score_files(
        "rextime", Inputs(path, split="mini"), tmp_path / "part", Options(), model="org/part"
    )
    [part] = report_of(tmp_path / "part", against=board).submissions
    assert (part.verdict, part.rank) == ("partial", None)
    assert all(row.paired.n == 5 for row in part.near)
    assert "5 of 12 items scored (7 prediction_missing)" in submission_page.markdown(
        Report((part,))
    )


@pytest.mark.usefixtures("few_videos")
def test_where_videos_suffice_the_difference_has_an_interval(rextime_run, board):
    [found] = report_of(rextime_run("mine", right=6), against=board).submissions
    assert all(
        low < row.paired.difference < high for row in found.near for low, high in [row.paired.ci95]
    )
    assert "95 % interval" in submission_page.markdown(Report((found,)))


def test_the_row_that_would_be_replaced_is_named(rextime_run, board):
    [found] = report_of(
        rextime_run("again", model="org/right-5", right=6), against=board
    ).submissions
    assert [(row.place, row.model) for row in found.near] == [
        ("replaced", "org/right-5"),
        ("best", "org/right-8"),
        ("below", "org/right-2"),
    ]


def test_a_changed_metric_is_refused_beside_what_the_samples_give(rextime_run, tamper):
    def higher(found):
        found["metrics"]["accuracy_at_iou_0.5"]["value"] = 91.25

    [found] = report_of(tamper(rextime_run(), result=higher)).submissions
    assert found.verdict == "refused"
    stated, again = found.metrics["accuracy_at_iou_0.5"]
    assert (stated.value, again.value) == (91.25, 50.0)
    text = submission_page.markdown(Report((found,)))
    assert "91.25 | 50.00" in text
    assert "0 of 1 result is valid" in text


def test_numbers_of_samples_that_were_edited_are_not_called_recomputed(rextime_run, tamper):
    def better(lines):
        lines[-1]["scores"] = dict.fromkeys(lines[-1]["scores"], 1.0)

    [found] = report_of(tamper(rextime_run(), samples=better)).submissions
    assert found.verdict == "refused"
    assert all(again is None for _, again in found.metrics.values())


@pytest.mark.parametrize("text", ["{", "[" * 100_000, "[]", '{"model": {"id": 1}}', "\0"])
def test_what_can_t_be_read_is_refused_and_the_others_are_not(rextime_run, tmp_path, text):
    rextime_run("good")
    bad = rextime_run("bad")
    (bad / "result.json").write_text(text)
    empty = tmp_path / "nothing"
    empty.mkdir()
    found = report_of(tmp_path / "good", bad, empty)
    assert sorted(one.verdict for one in found.submissions) == ["holds", "refused", "refused"]
    assert not found.holds
    text = submission_page.markdown(found)
    assert text.index("refused") < text.index(": valid")


@pytest.mark.usefixtures("few_videos")
def test_a_row_whose_samples_can_t_be_read_costs_no_submission_its_neighbours(
    rextime_run, board, tamper
):
    [place] = board.glob("org__right-5/*/rextime/*")
    # As an earlier version may have let it in: the files fit each other, and one label is longer
    # than a label may be.
    tamper(place, samples=lambda lines: lines[0]["facets"].update(kind=["x" * 20_000]))
    refiled(place)
    skipped = {}
    mine = store.check(rextime_run("mine", right=6))
    [submitted] = submission.read(mine, board, left_out=skipped.__setitem__)
    assert (submitted.verdict, submitted.rank[1]) == ("holds", 3)
    assert [(row.place, row.model) for row in submitted.near] == [
        ("best", "org/right-8"),
        ("below", "org/right-2"),
    ]
    assert [*skipped] == [place.relative_to(board).as_posix()]


HOSTILE = (
    "x` **y** ](http://evil.example)|<img src=https://evil.example/x onerror=alert(1)>`` "
    "@everyone #1 www.evil.example\n# h"
)


def test_hostile_names_are_shown_and_do_nothing(rextime_run, tamper):
    def renamed(found):
        found["model"]["id"] = HOSTILE
        found["benchmark"]["split"] = "mini"

    page = rendered(submission_page.markdown(report_of(tamper(rextime_run(), result=renamed))))
    assert "@everyone" in page
    outside = re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)
    assert not re.search(r"<a |<img|@|evil|<h1|#1", outside)


def test_hostile_words_in_what_is_to_know_do_nothing(rextime_run, board):
    [key] = [key for key in board_state.read(board).rows if key.startswith("org__right-5/")]
    row_life.remove([key], board, HOSTILE.replace("\n", " "))
    report = report_of(rextime_run("mine", model="me/mine", right=5), against=board)
    page = rendered(submission_page.markdown(report))
    assert "@everyone" in page
    outside = re.sub(r"<code>.*?</code>", "", page, flags=re.DOTALL)
    assert not re.search(r"<a |<img|@|evil|<h1|#1", outside)
    assert "<li>no revision of the model</li>" in page


def test_hostile_cells_stay_in_their_cell():
    page = rendered(
        f"| a | b |\n|---|---|\n| {submission_page.verbatim(HOSTILE).replace('|', chr(92) + '|')} | 2 |\n"
    )
    assert page.count("<td>") == 2
    assert "<a " not in page


def test_a_comment_is_never_longer_than_a_comment_can_be(rextime_run):
    folder = rextime_run("run", model="m" * 200)
    [one] = report_of(folder).submissions
    text = submission_page.markdown(Report((one,) * 400, ("p" * 5000,) * 400))
    assert len(text) <= submission_page.LONGEST
    assert re.search(r"\d+ more results", text)
    assert "and 380 more" in text


def test_the_command_writes_the_text_and_json_and_fails_where_one_is_refused(
    reelbench, rextime_run, board, tamper, tmp_path
):
    good = rextime_run("good", right=6)
    done = reelbench(
        "leaderboard", "check", good, "--store", board, "--markdown", tmp_path / "page.md", "--json"
    )
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)["results"]
    assert (found["verdict"], found["rank"], found["ranked"]) == ("holds", 2, 4)
    assert re.fullmatch(r"org__model/unknown/rextime/[0-9a-f]{12}", found["key"])
    assert (
        found["metrics"]["accuracy"]["recomputed"] == found["metrics"]["accuracy"]["stated"] == 50.0
    )
    assert found["near"][0]["paired"]["videos"] == 4
    assert "org/right-8" in (tmp_path / "page.md").read_text()
    bad = tamper(rextime_run("bad"), samples=lambda lines: lines[1:], rehash=False)
    done = reelbench("leaderboard", "check", good, bad, "--markdown", tmp_path / "page.md")
    assert done.returncode == 2
    assert "refused 1 of 2" in done.stderr
    assert "1 of 2 results are valid" in (tmp_path / "page.md").read_text()


def test_a_change_is_refused_with_its_results_and_its_reasons_counted_apart(
    rextime_run, reelbench, tmp_path
):
    base = tmp_path / "base"
    store.add(rextime_run("one", model="org/one", right=8), base / "results")
    offered = tmp_path / "offered"
    shutil.copytree(base, offered)
    for name in ("settings.yaml", "aliases.yaml"):
        (offered / "results" / name).write_text("judges: [mine]\n")
    done = reelbench("leaderboard", "check", offered, "--base", base, "--account", "eve")
    assert done.returncode == 2
    assert "refused, of 0 results that it changes, for 2 reasons: results/aliases.yaml" in (
        done.stderr
    )
    assert "refused: results/settings.yaml: not a file of a result" in done.stderr


@pytest.fixture
def changed(rextime_run, tmp_path):
    """A results dataset, and a copy with one result more."""
    base = tmp_path / "base"
    store.add(rextime_run("one", model="org/one", right=8), base / "results")
    offered = tmp_path / "offered"
    shutil.copytree(base, offered)
    [added] = store.add(rextime_run("two", model="eve/two", right=5), tmp_path / "theirs")
    key = added.place.relative_to(tmp_path / "theirs")
    shutil.copytree(added.place, offered / "results" / key)
    return base, offered


def test_a_check_that_takes_too_long_is_ended_and_says_nothing_of_the_result(changed, monkeypatch):
    base, offered = changed
    assert changed_files.checked(offered, base, "eve").refusals == ()
    monkeypatch.setattr(changed_files, "BOUNDS", Bounds(seconds=0.001))
    outcome = changed_files.checked(offered, base, "eve")
    assert (outcome.number, outcome.markdown) == (0, "")
    assert outcome.ended is not None


def test_more_bytes_than_are_taken_are_refused_before_they_are_read(changed, monkeypatch):
    base, offered = changed
    for samples in (offered / "results" / "eve__two").rglob("samples.jsonl"):
        samples.write_bytes(b"[" * 4_000_000)
    monkeypatch.setattr(changed_files, "LARGEST", 3_000_000)
    report = changed_files.report(
        changed_files.between(base, offered), offered, base / "results", account="eve"
    )
    assert list(report.submissions) == []
    assert report.problems == ("more than 3 MB: too much to be checked here",)
