"""A board of a thousand results with one bad row of each kind: it is built, and says which rows it goes without."""

import csv
import shutil

import pytest

from reelbench.base.workers import ALONE
from reelbench.leaderboard import store
from tests.leaderboard.ledgers import refiled
from tests.leaderboard.test_bounds import HUGE, set_in

pytestmark = pytest.mark.slow

ROWS = 1000
IN_RESULT = {
    "counts without end": (("counts", "extra"), HUGE),
    "infinite parameters": (("model", "about", "parameters"), float("inf")),
    "no such day": (("model", "about", "released"), "9999-99-99"),
    "arguments that are no number": (("model", "args", "kwargs"), [{"a": float("nan")}]),
    "a note without end": (("provenance", "note"), "word " * 1_000_000),
    "no metrics": (("metrics",), 5),
}
IN_SAMPLES = {
    "tokens without end": (("tokens",), {"prompt": HUGE, "completion": 1}),
    "seconds that are no number": (("seconds",), float("nan")),
    "a long label": (("facets",), {"category": ["x" * 20_000]}),
}
DAMAGE = {
    "deep": lambda place: (place / "result.json").write_text("[" * 100_000),
    "nothing": lambda place: (place / "result.json").write_text("null"),
    "no text": lambda place: (place / "result.json").write_bytes(b"\xff\xfe"),
    "no result": lambda place: (place / "result.json").unlink(),
    "no samples": lambda place: (place / "samples.jsonl").unlink(),
    "samples that are a folder": lambda place: (
        (place / "samples.jsonl").unlink(),
        (place / "samples.jsonl").mkdir(),
    ),
    "changed samples": lambda place: (place / "samples.jsonl").write_text("{}\n"),
    "a calibration of nobody's": lambda place: (place / "calibration.json").write_text("{}"),
    "a link": lambda place: (
        (place / "samples.jsonl").rename(place.parent.parent.parent / "elsewhere"),
        (place / "samples.jsonl").symlink_to(place.parent.parent.parent / "elsewhere"),
    ),
}


def test_a_board_with_a_bad_row_of_each_kind_is_built_and_says_so(
    rextime_run, tamper, reelbench, tmp_path
):
    run, there = rextime_run(), tmp_path / "store"
    document = (run / "result.json").read_text()
    for number in range(ROWS):
        folder = tmp_path / "runs" / f"{number:04}"
        shutil.copytree(run, folder)
        (folder / "result.json").write_text(document.replace("org/model", f"org/model-{number:04}"))
    added = store.add(tmp_path / "runs", there, workers=ALONE)
    assert [one.outcome for one in added] == ["added"] * ROWS
    places, bad = iter([one.place for one in added]), {}
    for kind, (path, value) in {**IN_RESULT, **IN_SAMPLES}.items():
        bad[kind], change = next(places), set_in(path, value)
        if kind in IN_SAMPLES:
            tamper(bad[kind], samples=lambda lines, change=change: change(lines[0]))
        else:
            tamper(bad[kind], result=change)
        refiled(bad[kind])
    for kind, damage in DAMAGE.items():
        bad[kind] = place = next(places)
        damage(place)
    keys = {place.relative_to(there).as_posix(): kind for kind, place in bad.items()}
    for words in (
        ("build", "--out", tmp_path / "site", "--no-published", "--json"),
        ("tables", "--no-published"),
    ):
        done = reelbench("leaderboard", *words, "--store", there)
        assert done.returncode == 0, done.stderr
        said = {
            line.split(": ")[1]: line
            for line in done.stderr.splitlines()
            if line.startswith("left out: ")
        }
        assert {keys.get(key) for key in said} == set(keys.values())
        assert all(len(line) < 1200 for line in said.values())
    rows = list(
        csv.DictReader(
            (tmp_path / "site" / "downloads" / "rextime.csv").read_text("utf-8-sig").splitlines()
        )
    )
    assert len(rows) == ROWS - len(bad)
