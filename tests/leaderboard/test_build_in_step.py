"""A build writes what changed: nothing where nothing did, and no other row's files for one more row."""

# pyright: reportArgumentType=false

import json
import os
import shutil
from contextlib import contextmanager

import pytest

from perf.leaderboard import make as make_results
from reelbench.base import settings
from reelbench.base.workers import Workers
from reelbench.leaderboard import ranking, row_life, site, site_build, store
from reelbench.leaderboard.site_state import BuildOptions
from tests.leaderboard.packed import unpacked

ITEMS = 921
"""All of ReXTime's: rows of fewer are not ranked, and not compared."""


def _files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _states(folder):
    """Return of each file what a rewritten one has otherwise."""
    states = {}
    for path in folder.rglob("*"):
        if path.is_file():
            status = path.stat()
            states[path.relative_to(folder).as_posix()] = (status.st_ino, status.st_mtime_ns)
    return states


def _build(place, out, **options):
    said = []
    summary = site_build.build_changed(place, out, BuildOptions(**options), note=said.append)
    return summary, f"{out}: nothing changed since it was built" in said


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three results."""
    folder = tmp_path_factory.mktemp("made")
    make_results(folder, 3, ITEMS)
    return folder


@pytest.fixture
def board(tmp_path, made):
    """Three results that are made, of which two are in the store, and the site of these."""
    shutil.copytree(made, tmp_path / "results")
    for number in range(2):
        store.add(tmp_path / "results" / f"{number:05}", tmp_path / "store")
    _build(tmp_path / "store", tmp_path / "site")
    return tmp_path


def test_where_nothing_changed_no_file_is_written(board):
    before = _states(board / "site")
    folder = (board / "site").stat().st_ino
    summary, is_unchanged = _build(board / "store", board / "site")
    assert is_unchanged
    assert summary.runs == 2
    assert _states(board / "site") == before
    assert (board / "site").stat().st_ino == folder


def test_a_build_shows_how_much_of_each_part_is_done_of_how_much(board):
    shown = []

    @contextmanager
    def bar(title, total):
        yield lambda done, line: shown.append((title, done, total, line))

    site.build(board / "store", board / "all", workers=Workers(1, bar=bar), published=False)
    ends = {title: (done, total) for title, done, total, _ in shown}
    assert ends == {"reading results": (2, 2), "comparing tables": (1, 1), "writing runs": (2, 2)}
    assert all(line.endswith("/s") for *_, line in shown)


def test_one_more_row_touches_no_other_row_s_files(board, monkeypatch):
    before = _states(board / "site")
    store.add(board / "results" / "00002", board / "store")
    _, is_unchanged = _build(board / "store", board / "site")
    assert not is_unchanged
    after = _states(board / "site")
    for path, state in before.items():
        if path.startswith("data/runs/") or path.endswith((".js", ".css")):
            is_table = path == "data/board.js" or path.startswith("data/pairs/")
            assert (after[path] == state) is not is_table, path
    assert (
        len([path for path in after if path.startswith("data/runs/") and path not in before]) == 1
    )
    monkeypatch.setenv("REELBENCH_HOME", str(board / "another_home"))
    site.build(board / "store", board / "fresh")
    assert _files(board / "site") == _files(board / "fresh")


def test_one_more_row_reads_its_own_samples_and_no_others(board, monkeypatch):
    read_keys = []
    score_columns = ranking.score_columns

    def noted(stored):
        read_keys.append(stored.key)
        return score_columns(stored)

    monkeypatch.setattr(ranking, "score_columns", noted)
    [added] = store.add(board / "results" / "00002", board / "store")
    _build(board / "store", board / "site")
    assert added.place is not None
    assert read_keys == [added.place.relative_to(board / "store").as_posix()]


def test_a_model_that_was_renamed_has_its_new_name_in_its_run_s_file(board, monkeypatch):
    row_life.rename("org/model-00000", "org/renamed", board / "store")
    _build(board / "store", board / "site")
    monkeypatch.setenv("REELBENCH_HOME", str(board / "another_home"))
    site.build(board / "store", board / "fresh")
    assert _files(board / "site") == _files(board / "fresh")


@pytest.mark.parametrize("name", ["result.json", "samples.jsonl"])
def test_a_store_s_file_of_another_time_is_hashed_again(board, name):
    [stored, _] = store.read(board / "store")
    path = stored.folder / name
    data = path.read_bytes()
    path.write_bytes(data + b"\n")
    summary, _ = _build(board / "store", board / "site")
    assert list(summary.left_out) == [stored.key]
    path.write_bytes(data)
    summary, _ = _build(board / "store", board / "site")
    assert not summary.left_out


def test_a_store_s_file_that_got_its_old_time_back_is_hashed_again(board):
    stored = store.read(board / "store")[0]
    path = stored.folder / "samples.jsonl"
    data = path.read_bytes()
    status = path.stat()
    path.write_bytes(data[:-2] + b" \n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    summary, is_unchanged = _build(board / "store", board / "site")
    assert not is_unchanged
    assert list(summary.left_out) == [stored.key]


@pytest.mark.parametrize("change", ["cut off", "one bit", "no archive", "gone"])
def test_a_broken_file_of_kept_tests_is_made_again(board, change):
    [kept] = (settings.home() / "tables").iterdir()
    data = kept.read_bytes()
    broken = {
        "cut off": data[: len(data) // 2],
        "one bit": data[:2000] + bytes([data[2000] ^ 1]) + data[2001:],
        "no archive": b"nothing",
        "gone": None,
    }[change]
    kept.unlink()
    if broken is not None:
        kept.write_bytes(broken)
    before = _files(board / "site")
    site.build(board / "store", board / "fresh")
    assert _files(board / "fresh") == before
    assert kept.stat().st_size == len(data)


def test_samples_are_packed_in_their_run_s_file_and_long_ones_apart(board, monkeypatch):
    runs = (board / "site" / "data" / "runs").iterdir()
    whole = [samples for path in runs if (samples := unpacked(path.read_text()))]
    assert [len(samples) for samples in whole] == [ITEMS, ITEMS]
    filed = {path.read_text() for path in (board / "store").rglob("samples.jsonl")}
    as_filed = [[json.loads(line) for line in text.splitlines()] for text in filed]
    assert sorted(whole, key=str) == sorted(as_filed, key=str)
    monkeypatch.setattr(site, "OWN_FILE_FROM", 1000)
    site.build(board / "store", board / "long")
    apart = (board / "long" / "data" / "samples").iterdir()
    assert sorted((unpacked(path.read_text()) for path in apart), key=str) == sorted(whole, key=str)


def test_samples_are_left_out_and_come_back(board):
    whole = _files(board / "site")
    _, is_unchanged = _build(board / "store", board / "site", samples=False)
    assert not is_unchanged
    without = _files(board / "site")
    assert without.keys() == whole.keys()
    texts = [text.decode() for path, text in without.items() if path.startswith("data/runs/")]
    assert not any(unpacked(text) for text in texts)
    assert sum("This page was made without samples." in text for text in texts) == 2
    # Numbers are those of a page with samples.
    assert without["data/board.js"] == whole["data/board.js"]
    _build(board / "store", board / "site")
    assert _files(board / "site") == whole


@pytest.mark.parametrize("change", ["edited", "deleted", "added", "kept size"])
def test_a_site_that_somebody_changed_is_built_again(board, change):
    before = _files(board / "site")
    runs = sorted((board / "site" / "data" / "runs").iterdir())
    path = next(path for path in runs if unpacked(path.read_text()))
    text = path.read_text()
    if change == "edited":
        path.write_text("nothing")
    elif change == "deleted":
        path.unlink()
    elif change == "added":
        (path.parent / "more.js").write_text("")
    else:
        path.write_text(text.replace("A", "B"))
        os.utime(path, ns=(0, 0))
    _, is_unchanged = _build(board / "store", board / "site")
    assert not is_unchanged
    assert _files(board / "site") == before


def test_other_options_another_row_and_another_machine_are_changes(board, monkeypatch):
    whole = _files(board / "site")
    _, is_unchanged = _build(board / "store", board / "site", published=False)
    assert not is_unchanged
    assert _files(board / "site") != whole
    _build(board / "store", board / "site")
    monkeypatch.setenv("REELBENCH_HOME", str(board / "another_home"))
    _, is_unchanged = _build(board / "store", board / "site")
    assert not is_unchanged
    assert _files(board / "site") == whole
    keys = [result.key for result in store.read(board / "store")]
    row_life.remove(keys[:1], board / "store", "a mistake")
    summary, is_unchanged = _build(board / "store", board / "site")
    assert not is_unchanged
    assert summary.runs == 1


def test_a_benchmark_that_was_edited_is_a_change(board, monkeypatch):
    folder = board / "benchmarks"
    folder.mkdir()
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(folder))
    _build(board / "store", board / "site")
    assert _build(board / "store", board / "site")[1]
    (folder / "notes.txt").write_text("something")
    assert not _build(board / "store", board / "site")[1]


def test_a_store_that_was_tampered_with_is_read_again_and_never_remembered(board):
    [stored, _] = store.read(board / "store")
    path = stored.folder / "result.json"
    document = json.loads(path.read_text())
    document["model"]["id"] = "org/better"
    path.write_text(json.dumps(document))
    for _ in range(2):
        summary, is_unchanged = _build(board / "store", board / "site")
        assert not is_unchanged
        assert list(summary.left_out) == [stored.key]


def _grown_row_by_row(folder, results):
    """Return the files of a site that was built after each result was added."""
    make_results(folder / "results", results, ITEMS)
    for number in range(results):
        store.add(folder / "results" / f"{number:05}", folder / "grown")
        _build(folder / "grown", folder / "grown_site")
    return _files(folder / "grown_site")


def _built_at_once(folder, workers):
    place = folder / f"store{workers}"
    store.add(folder / "results", place, workers=Workers(workers))
    site.build(place, folder / f"site{workers}", workers=Workers(workers))
    return _files(folder / f"site{workers}")


def test_a_site_has_the_same_bytes_at_once_and_row_by_row(tmp_path):
    grown = _grown_row_by_row(tmp_path, 3)
    assert _built_at_once(tmp_path, 1) == grown


@pytest.mark.slow
def test_a_site_of_twenty_rows_has_the_same_bytes_by_one_process_by_two_and_row_by_row(tmp_path):
    grown = _grown_row_by_row(tmp_path, 20)
    assert _built_at_once(tmp_path, 1) == grown
    assert _built_at_once(tmp_path, 2) == grown
