"""A run that was shown no video is a reference point, and every way out of a board says so."""

import csv
import io
import json

import pyarrow.parquet
import pytest

from reelbench.leaderboard import board, publish, site, store, submission
from reelbench.leaderboard.exports import figures, tables
from reelbench.registry import discovery
from tests.leaderboard.rows import REXTIME, entry
from tests.leaderboard.test_site_of_runs import written

WHY = "a reference point, shown no video"


@pytest.fixture
def blind_and_seeing(rextime_run, tamper, tmp_path):
    """A store with a run of eight frames, and one without any that has more right."""

    def shown(frames):
        return lambda result: result["settings"].update(frames=frames)

    for frames, right in (("uniform:8", 6), ("none", 9)):
        folder = rextime_run(f"run-{right}", right=right)
        store.add(tamper(folder, result=shown(frames)), tmp_path / "store")
    return tmp_path / "store"


def drawn():
    """A board with a ranked row, a row of a paper, and one that was shown no video."""
    rows = [
        entry("org/seeing", 50.0, kind="run", ci95=(45.0, 55.0)),
        entry("org/blind", 60.0, kind="blind", setting="run", ci95=(55.0, 65.0)),
        entry("floor", 20.0, kind="baseline", setting="floor"),
    ]
    return board.ranked_board(discovery.specs(), rows)


def test_tables_for_papers_and_terminals_say_it_and_set_it_apart():
    latex = tables.tables(drawn(), "latex", benchmark="rextime")
    lines = latex.splitlines()
    seeing, blind = (
        next(i for i, x in enumerate(lines) if f"& {m}" in x) for m in ("seeing", "blind")
    )
    assert seeing < lines.index(r"\midrule", seeing) < blind
    assert r"blind$^{a}$" in lines[blind]
    assert r"\textbf" not in lines[blind]
    assert rf"$^{{a}}$~not ranked: {WHY}" in latex
    text = tables.tables(drawn(), "text", benchmark="rextime")
    assert f"[1] not ranked: {WHY}" in text
    assert "blind [1]" in text
    markdown = tables.tables(drawn(), "markdown", benchmark="rextime")
    assert f"org/blind (not ranked: {WHY})" in markdown
    assert "floor (floor) (not ranked: a reference point, answered by a rule)" in markdown


def test_files_say_it(tmp_path):
    made = drawn()
    lines = {
        row["model"]: row for row in csv.DictReader(io.StringIO(tables.as_csv(made, "rextime")))
    }
    assert (lines["org/blind"]["rank"], lines["org/blind"]["partial"]) == ("", WHY)
    assert (lines["org/seeing"]["rank"], lines["org/seeing"]["partial"]) == ("1", "")
    rows = {row["model"]: row for row in tables.as_document(made)["rows"]}
    assert (rows["org/blind"]["source"], rows["org/blind"]["partial"]) == ("blind", WHY)
    publish.write_parquet(made, tmp_path / "results.parquet")
    records = pyarrow.parquet.read_table(tmp_path / "results.parquet").to_pylist()
    assert {row["model"]: row["partial"] for row in records}["org/blind"] == WHY


@pytest.mark.parametrize("width", ["column", "page"])
def test_a_figure_leaves_it_out_and_says_so(width):
    chart = figures.described(drawn(), REXTIME, width)
    assert chart.across[0].texts == ("seeing",)
    assert chart.about.endswith("Left out: 1 run shown no video.")


def test_a_figure_says_what_a_hollow_mark_is():
    rows = [
        entry("org/a", 50.0, kind="run"),
        entry("org/b", 40.0, kind="run", unranked="5 of 921 items"),
    ]
    made = board.ranked_board(discovery.specs(), rows)
    assert "Hollow: not ranked." in figures.described(made, REXTIME, "column").about
    assert "Hollow" not in figures.described(drawn(), REXTIME, "column").about


def test_a_figure_explains_whiskers_only_where_it_draws_some():
    rows = [entry("org/a", 50.0, kind="run")]
    made = board.ranked_board(discovery.specs(), rows)
    assert "Whiskers" not in figures.described(made, REXTIME, "column").about
    assert "Whiskers" in figures.described(drawn(), REXTIME, "column").about


def test_the_commands_say_it(blind_and_seeing, reelbench, tmp_path):
    words = ("--store", blind_and_seeing)
    done = reelbench("leaderboard", "list", *words)
    assert [WHY in line for line in done.stdout.splitlines()[1::2]].count(True) == 1
    done = reelbench(
        "leaderboard", "build", *words, "--out", tmp_path / "site", "--no-published", "--json"
    )
    assert f"not ranked, {WHY}: 1 run" in done.stderr.splitlines()
    assert json.loads(done.stdout)["reference_points"] == {WHY: 1}
    again = reelbench("leaderboard", "build", *words, "--out", tmp_path / "site", "--no-published")
    assert f"not ranked, {WHY}: 1 run" in again.stderr.splitlines()


def test_the_report_on_what_is_handed_in_says_it(blind_and_seeing):
    stored = store.read(blind_and_seeing)
    [blind] = [one for one in stored if one.result.settings.frames == "none"]
    [handed_in] = submission.read(store.check(blind.folder), blind_and_seeing)
    assert (handed_in.verdict, handed_in.why, handed_in.rank) == ("partial", WHY, None)


@pytest.mark.browser
def test_the_pages_say_it(page_of, tmp_path):
    rows = [
        entry("org/model", 50.0, kind="run", ci95=(45.0, 55.0), frames="uniform:8"),
        entry("org/model", 60.0, kind="blind", setting="run", frames="none", key="blind"),
        entry("org/other", 40.0, kind="run", ci95=(35.0, 45.0)),
    ]
    folder = written(tmp_path / "site", rows)
    with page_of(folder, "#/rextime") as page:
        assert (
            page.locator(".trust li")
            .first.inner_text()
            .startswith("2 runs and 1 without the video")
        )
        card = page.locator(".refs li")
        assert "Without the video" in card.inner_text()
    with page_of(folder, "#/model/org%2Fmodel") as page:
        page.wait_for_selector(".summary tr")
        places = page.locator(".summary tbody tr td:nth-of-type(2)").all_inner_texts()
        assert [f"not ranked: {WHY}" in place for place in places].count(True) == 1
        assert page.locator(".entry .badge", has_text=f"not ranked: {WHY}").count() == 1


def test_the_page_has_the_kinds_of_the_one_table():
    kinds = site.document(drawn())["kinds"]
    apart = {kind for kind, words in kinds.items() if words["reference"]}
    assert apart == {"blind", "community", "baseline", "human"}
