"""Results as models' pages on the Hub show them, read by the Hub's own client."""

import functools
import shutil

import pytest
import yaml

from reelbench.leaderboard import store
from reelbench.leaderboard.exports import hub_results
from tests.leaderboard.exports.conftest import moviecore_result, rextime_result
from tests.servers.hub import HubServer

export = functools.partial(hub_results.export, board_of=lambda _: [])


def test_eval_results_are_entries_that_the_hub_reads(stored, tmp_path):
    from huggingface_hub import parse_eval_result_entries

    done = {one.key.split("/")[2]: one for one in export(store.read(stored), tmp_path / "out")}
    (path,) = done["rextime"].files
    assert path.parent == tmp_path / "out" / "org__model" / ".eval_results"
    (entry,) = parse_eval_result_entries(yaml.safe_load(path.read_text()))
    # Half of the questions have the right letter and window: 50 per cent.
    assert entry.dataset_id == "ReXTime/ReXTime"
    assert entry.task_id == "rextime"
    assert entry.value == 50.0
    assert "Accuracy at IoU" in entry.notes
    assert "95% interval" in entry.notes


def test_a_result_with_unscored_items_would_stand_beside_whole_ones_and_is_left_out(
    stored, tmp_path
):
    done = {one.key.split("/")[2]: one for one in export(store.read(stored), tmp_path / "out")}
    assert done["moviecore"].files == ()
    assert "(1 judge_unparsable)" in done["moviecore"].why


def test_eval_results_say_who_judged(as_real, tmp_path):  # noqa: ARG001 - for what it sets up
    moviecore_result(tmp_path / "results", unparsable=0)
    store.add(tmp_path / "results", tmp_path / "store")
    [done] = export(store.read(tmp_path / "store"), tmp_path / "out")
    (entry,) = yaml.safe_load(done.files[0].read_text())
    assert entry["value"] == 4.0
    assert "12 of 12 items scored" in entry["notes"]
    assert "judge judge-0001, prompts reelbench" in entry["notes"]


@pytest.mark.usefixtures("as_real")
def test_what_the_hub_has_no_place_for_is_left_out_and_said(rextime_run, tmp_path):
    rextime_result(tmp_path / "results" / "local", model="my-checkpoint")
    shutil.copytree(rextime_run(), tmp_path / "results" / "mini")
    store.add(tmp_path / "results", tmp_path / "store")
    done = list(export(store.read(tmp_path / "store"), tmp_path / "out"))
    assert not any(one.files for one in done)
    whys = "\n".join(one.why for one in done)
    assert "'my-checkpoint' is not a model repository" in whys
    assert "mini data" in whys


@pytest.mark.usefixtures("as_real")
def test_a_run_that_was_shown_no_video_is_not_put_where_the_hub_would_rank_it(tamper, tmp_path):
    folder = rextime_result(tmp_path / "results")
    tamper(folder, result=lambda result: result["settings"].update(frames="none"))
    store.add(folder, tmp_path / "store")
    [done] = export(store.read(tmp_path / "store"), tmp_path / "out")
    assert done.files == ()
    assert done.why == "the Hub would rank it, and it is a reference point, shown no video"


def test_a_result_points_only_to_a_board_that_exists(stored, tmp_path, monkeypatch):
    with HubServer() as server:
        server.use(monkeypatch, tmp_path / "hf")
        server.add("ReXTime/ReXTime", {"README.md": ""})
        done = {
            one.key.split("/")[2]: one
            for one in hub_results.export(store.read(stored), tmp_path / "out")
        }
        assert done["rextime"].why.startswith("ReXTime/ReXTime has no leaderboard on the Hub")
        server.boards["ReXTime/ReXTime"] = []
        done = {
            one.key.split("/")[2]: one
            for one in hub_results.export(store.read(stored), tmp_path / "out")
        }
        assert len(done["rextime"].files) == 1
