"""`reelbench data` as a user runs it: the real Hub client, and a local server that speaks the Hub's protocol."""

import json

import pytest

from reelbench.registry.strata import Strata
from tests.registry.upstream import MOVIECORE, clip
from tests.servers.hub import HubServer


@pytest.fixture
def hub(tmp_path):
    with HubServer() as server:
        server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
        yield server, {**server.env(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}


def test_annotations_and_videos_then_offline(hub, tmp_path, reelbench):
    server, env = hub
    server.add("Enxin/MovieChat-1K-test", {"videos/8.mp4": clip(tmp_path, "8")})
    done = reelbench("data", "fetch", "moviecore", "--media", env=env)
    assert done.returncode == 1  # one of the two videos is not in the repository
    assert "2 to fetch" in done.stderr or "1 to fetch" in done.stderr
    assert "not fetched: " in done.stderr
    assert "AWA-6" in done.stderr

    check = reelbench("data", "check", "moviecore", env=env)
    assert check.returncode == 1
    assert "videos: 1 of 2 here, 1 missing, 0 broken" in check.stdout
    assert "missing: AWA-6" in check.stdout
    assert "has not moved" in check.stdout

    server.repos["dataset", "Enxin/MovieChat-1K-test"].commit(
        {"videos/AWA-6.mp4": clip(tmp_path, "AWA-6", 3)}, "more"
    )
    assert reelbench("data", "fetch", "moviecore", "--media", "--refresh", env=env).returncode == 0
    check = reelbench("data", "check", "moviecore", env={**env, "HF_HUB_OFFLINE": "1"})
    assert check.returncode == 0
    assert "lengths: 2.0 s in the mean, 1.0 to 3.0 s" in check.stdout


def test_videos_of_so_many_questions_of_each_label_are_fetched(hub, tmp_path, reelbench):
    server, env = hub
    server.add(
        "Enxin/MovieChat-1K-test",
        {f"videos/{name}.mp4": clip(tmp_path, name) for name in ("8", "AWA-6")},
    )
    assert reelbench("data", "fetch", "moviecore", env=env).returncode == 0
    wrong = reelbench("data", "fetch", "moviecore", "--media", "--per", "taste=1", env=env)
    assert (wrong.returncode, "moviecore has the fields classification" in wrong.stderr) == (
        2,
        True,
    )
    both = reelbench(
        "data", "fetch", "moviecore", "--media", "--per", "classification=1", "--limit", 1, env=env
    )
    assert "--per and --limit: give one of them" in both.stderr
    assert (
        reelbench(
            "data", "fetch", "moviecore", "--media", "--per", "classification=1", env=env
        ).returncode
        == 0
    )
    labels = {"classification": ["Theme", "Character"]}
    drawn = Strata("classification", 1).draw(
        "moviecore", dict.fromkeys(json.loads(MOVIECORE), labels)
    )
    here = len({name.rpartition("_")[0] for name in drawn})
    assert f"videos: {here} of 2 here" in reelbench("data", "check", "moviecore", env=env).stdout


def test_a_gated_repository_says_which_page_to_visit(hub, reelbench):
    server, env = hub
    server.repos["dataset", "MovieCORE/MovieCORE"].gated = True
    done = reelbench("data", "fetch", "moviecore", env=env)
    assert done.returncode == 1
    assert f"{server.url}/datasets/MovieCORE/MovieCORE" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_network_is_one_line(reelbench, tmp_path):
    env = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
    done = reelbench("data", "fetch", "rextime", env=env)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "rextime" in done.stderr


def test_gated_data_says_what_form_to_fill_in(reelbench):
    done = reelbench("data", "fetch", "dramaqa_cogme")
    assert done.returncode == 1
    assert "https://" in done.stderr
    assert "REELBENCH_DATA_DRAMAQA_COGME" in done.stderr


def test_what_is_fetched_to_a_folder_lies_there(hub, tmp_path, reelbench):
    _, env = hub
    done = reelbench("data", "fetch", "moviecore", "--to", tmp_path / "big", env=env)
    assert (done.returncode, f"export REELBENCH_HOME={tmp_path / 'big'}" in done.stderr) == (
        0,
        True,
    )
    assert (
        "annotations: missing"
        in reelbench("data", "check", "moviecore", env={**env, "HF_HUB_OFFLINE": "1"}).stdout
    )
    there = {**env, "HF_HUB_OFFLINE": "1", "REELBENCH_HOME": str(tmp_path / "big")}
    assert "annotations: missing" not in reelbench("data", "check", "moviecore", env=there).stdout


@pytest.mark.parametrize("command", ["fetch", "check"])
@pytest.mark.parametrize("named", [("rextime_mini",), ("rextime", "--split", "mini")])
def test_what_comes_along_needs_no_fetching(command, named, reelbench):
    done = reelbench("data", command, *named)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("rextime mini: comes with Reelbench")
