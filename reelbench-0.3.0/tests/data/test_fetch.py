"""Fetching: planned before it starts, verified, resumable, in parallel, and never stopped by a failure."""

import re
import shutil
from dataclasses import replace
from itertools import groupby

import pytest

from reelbench.base.errors import DataUnavailableError
from reelbench.data import fetch, loading, sources
from reelbench.registry import discovery
from reelbench.registry.spec import BenchmarkSpec, MediaSource
from reelbench.video import library as media
from tests.registry.upstream import MOVIECORE, REXTIME, clip, packed, root, tar_gz, with_media
from tests.servers.hub import HubServer, Token

VIDEOS = "Enxin/MovieChat-1K-test"


@pytest.fixture
def server(server):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    return server


def online(server: HubServer, **changes) -> MediaSource:
    fields = {
        "title": "films",
        "kind": "youtube",
        "location": server.url + "/{video}.mp4",
        "layouts": ("{video}",),
    }
    return MediaSource(**{**fields, **changes})


def left_behind(spec: BenchmarkSpec) -> list[str]:
    return [
        str(path.relative_to(root(spec)))
        for path in root(spec).glob(".incoming/**/*")
        if path.is_file()
    ]


# --- the Hub ---


def test_annotations_and_videos_of_a_hub_hosted_benchmark(server, spec, tmp_path):
    films = {"8": clip(tmp_path, "8"), "AWA-6": clip(tmp_path, "AWA-6")}
    server.add(
        VIDEOS,
        {f"videos/{key}.mp4": data for key, data in films.items()} | {"annotations/8.json": "{}"},
    )

    plan = fetch.plan(spec, "test", media_keys=["8", "8", "AWA-6"])
    total = len(MOVIECORE) + sum(map(len, films.values()))
    assert (plan.size, plan.unknown, len(plan.items)) == (total, 0, 3)
    assert plan.summary() == f"moviecore test: 3 to fetch, {total / 1000:.1f} kB; 0 here already"

    report = fetch.run(plan)

    assert sorted(report.done) == ["8", "AWA-6", "annotations (test.json or annotation/test.json)"]
    assert (report.skipped, report.failed) == ((), ())
    assert sources.present(spec, "test").paths[0].read_text() == MOVIECORE
    library = media.Library(spec, "test")
    assert {key: library.find({"video": key}).read_bytes() for key in films} == films
    assert left_behind(spec) == []


def test_a_second_fetch_transfers_nothing(server, spec, tmp_path):
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})
    fetch.run(fetch.plan(spec, "test", media_keys=["8"]))
    before = len(server.requests) + len(server.cdn.requests)

    report = fetch.run(fetch.plan(spec, "test", media_keys=["8"]))

    assert report.done == ()
    assert report.skipped == ("annotations (test.json or annotation/test.json)", "8")
    assert len(server.requests) + len(server.cdn.requests) == before


def test_the_second_fetch_works_offline(server, spec, tmp_path, monkeypatch):
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})
    fetch.run(fetch.plan(spec, "test", media_keys=["8"]))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    report = fetch.run(fetch.plan(spec, "test", media_keys=["8", "9"]))

    assert report.skipped == ("annotations (test.json or annotation/test.json)", "8")
    ((what, reason),) = report.failed
    assert what == "9 (MovieChat-1K test videos)"
    assert "HF_HUB_OFFLINE is set" in reason


def test_limit_takes_the_first_videos(server, spec, tmp_path):
    server.add(VIDEOS, {f"videos/{key}.mp4": clip(tmp_path, key) for key in ("1", "2", "3")})

    plan = fetch.plan(spec, "test", media_keys=["2", "2", "3", "1"], limit=2)

    assert sorted(what for item in plan.items for what in item.names if what.isdigit()) == [
        "2",
        "3",
    ]


def test_a_missing_video_is_reported_and_the_rest_arrives(server, spec, tmp_path):
    repo = server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path), "videos/9.mkv": clip(tmp_path, "9")})

    report = fetch.run(fetch.plan(spec, "test", media_keys=["8", "9", "gone"]))

    assert {"8", "9"} <= set(report.done)
    assert report.failed == (
        ("gone", f"{server.url}/datasets/{VIDEOS} at {repo.head[:12]} has no videos/gone.mp4"),
    )
    assert (root(spec) / "videos/9.mkv").is_file()


def test_a_video_dropped_in_mid_file_is_continued(server, spec, tmp_path, monkeypatch):
    from huggingface_hub import constants

    film = clip(tmp_path)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 256)
    server.add(VIDEOS, {"videos/8.mp4": film})
    server.cdn.fail("GET .*8.mp4", cut_at=700)

    report = fetch.run(fetch.plan(spec, "test", media_keys=["8"]))

    assert report.failed == ()
    assert (root(spec) / "videos/8.mp4").read_bytes() == film
    assert [request.headers.get("Range") for request in server.cdn.asked("GET")] == [
        None,
        "bytes=512-",
    ]


def test_a_video_with_another_hash_than_stated_is_refused_and_had_next_time(server, spec, tmp_path):
    film = clip(tmp_path)
    server.add(VIDEOS, {"videos/8.mp4": film})
    server.cdn.fail("GET .*8.mp4", corrupt=True)

    report = fetch.run(fetch.plan(spec, "test", media_keys=["8"]))
    ((what, reason),) = report.failed
    assert what == "8"
    assert re.match(r"arrived damaged \(sha256 .* the Hub states", reason)
    assert media.Library(spec, "test").find({"video": "8"}) is None

    assert fetch.run(fetch.plan(spec, "test", media_keys=["8"])).done == ("8",)
    assert (root(spec) / "videos/8.mp4").read_bytes() == film


def test_a_video_that_is_gone_between_plan_and_run_is_only_its_own_failure(server, spec, tmp_path):
    server.add(VIDEOS, {f"videos/{key}.mp4": clip(tmp_path, key) for key in ("1", "2")})
    server.cdn.fail("GET .*1.mp4", times=None, status=404)

    report = fetch.run(fetch.plan(spec, "test", media_keys=["1", "2"]))

    assert "2" in report.done
    ((what, reason),) = report.failed
    assert what == "1"
    assert "answered 404" in reason
    assert "\n" not in reason


def test_videos_stay_at_the_commit_that_was_recorded(server, spec, tmp_path):
    first = clip(tmp_path, "first")
    repo = server.add(VIDEOS, {"videos/1.mp4": first, "videos/2.mp4": first})
    fetch.run(fetch.plan(spec, "test", media_keys=["1"]))
    repo.commit({"videos/2.mp4": clip(tmp_path, "second")}, "other films")

    fetch.run(fetch.plan(spec, "test", media_keys=["2"]))

    assert (root(spec) / "videos/2.mp4").read_bytes() == first


def test_a_gated_repository_is_one_failure_with_the_page_to_visit(
    server, spec, tmp_path, monkeypatch
):
    server.add("MovieCORE/MovieCORE", {"train.json": MOVIECORE})
    gated = server.add("Enxin/MovieChat-1K_train", {"raw_videos/8.mp4": clip(tmp_path)}, gated=True)

    report = fetch.run(fetch.plan(spec, "train", media_keys=["8", "AWA-6"]))
    ((what, reason),) = report.failed
    assert what == "2 videos (MovieChat-1K train videos)"
    assert f"accept its terms at {server.url}/datasets/{gated.id}" in reason

    server.tokens["hf_reader"] = Token("reader", reads={gated.id})
    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    report = fetch.run(fetch.plan(spec, "train", media_keys=["8", "AWA-6"]))
    assert report.done == ("8",)
    assert [what for what, _ in report.failed] == ["AWA-6"]


def test_a_video_broken_upstream_is_set_aside_and_not_fetched_again(server, spec, tmp_path):
    whole = clip(tmp_path)
    server.add(
        VIDEOS,
        {"videos/8.mp4": whole[: len(whole) // 2], "videos/9.mp4": b"", "videos/10.mp4": b"<html>"},
    )

    report = fetch.run(fetch.plan(spec, "test", media_keys=["8", "9", "10"]))
    reasons = dict(report.failed)
    assert set(reasons) == {"8", "9", "10"}
    assert all("broken as upstream has it" in reason for reason in reasons.values())
    assert "the file is empty" in reasons["9"]
    assert media.Library(spec, "test").find({"video": "8"}) is None
    before = len(server.cdn.asked("GET"))

    again = fetch.run(fetch.plan(spec, "test", media_keys=["8", "9", "10"]))
    assert dict(again.failed) == reasons
    assert len(server.cdn.asked("GET")) == before


def test_a_file_that_changed_since_it_was_fetched_is_fetched_again(server, spec, tmp_path):
    film = clip(tmp_path)
    server.add(VIDEOS, {"videos/8.mp4": film})
    fetch.run(fetch.plan(spec, "test", media_keys=["8"]))
    (root(spec) / "videos/8.mp4").write_bytes(film[:100])

    assert fetch.run(fetch.plan(spec, "test", media_keys=["8"])).done == ("8",)
    assert (root(spec) / "videos/8.mp4").read_bytes() == film


@pytest.mark.parametrize("record", ["", "[]", '{"videos/8.mp4": "many"}'])
def test_a_damaged_list_of_what_was_verified_is_made_anew(server, spec, tmp_path, record):
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})
    fetch.run(fetch.plan(spec, "test", media_keys=["8"]))
    (root(spec) / ".verified.json").write_text(record)

    assert fetch.run(fetch.plan(spec, "test", media_keys=["8"])).done == ("8",)
    assert fetch.plan(spec, "test", media_keys=["8"]).items == ()


def test_whole_files_put_there_by_hand_are_recognised_by_their_hash(server, spec, tmp_path):
    film = clip(tmp_path)
    server.add(VIDEOS, {"videos/8.mp4": film})
    (root(spec) / "videos").mkdir(parents=True)
    (root(spec) / "videos/8.mp4").write_bytes(film)

    fetch.run(fetch.plan(spec, "test", media_keys=["8"]))

    assert server.cdn.asked("GET") == []


def test_the_users_media_folder_is_left_alone(server, spec, tmp_path, monkeypatch):
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})
    own = tmp_path / "own" / "videos" / "8.mp4"
    own.parent.mkdir(parents=True)
    own.write_bytes(b"the user's own cut")
    monkeypatch.setenv("REELBENCH_MEDIA", str(tmp_path / "own"))

    report = fetch.run(fetch.plan(spec, "test", media_keys=["8"]))

    assert "8" in report.skipped
    assert own.read_bytes() == b"the user's own cut"


def test_the_users_own_annotations_are_not_fetched(server, spec, tmp_path):
    (tmp_path / "test.json").write_text("{}")

    report = fetch.run(fetch.plan(spec, "test", data=tmp_path))

    assert (report.done, report.skipped) == (
        (),
        ("annotations (test.json or annotation/test.json)",),
    )
    assert not server.requests


def test_annotations_that_cannot_be_had_are_a_failure_and_videos_still_come(server, spec, tmp_path):
    server.repos.pop(("dataset", "MovieCORE/MovieCORE"))
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})

    report = fetch.run(fetch.plan(spec, "test", media_keys=["8"]))

    assert report.done == ("8",)
    ((what, reason),) = report.failed
    assert what.startswith("annotations")
    assert "no such dataset" in reason


def test_refresh_takes_what_main_is_now_and_only_the_videos_that_changed(server, spec, tmp_path):
    old, new = clip(tmp_path, "old"), clip(tmp_path, "new")
    videos = server.add(VIDEOS, {"videos/1.mp4": old, "videos/2.mp4": old})
    fetch.run(fetch.plan(spec, "test", media_keys=["1", "2"]))
    server.repo("MovieCORE/MovieCORE").commit({"test.json": "{}"})
    videos.commit({"videos/2.mp4": new})
    before = len(server.cdn.asked("GET"))

    report = fetch.run(fetch.plan(spec, "test", media_keys=["1", "2"], refresh=True))

    assert report.failed == ()
    assert sources.present(spec, "test").paths[0].read_text() == "{}"
    assert [(root(spec) / f"videos/{key}.mp4").read_bytes() for key in ("1", "2")] == [old, new]
    assert len(server.cdn.asked("GET")) == before + 1


def test_a_media_key_cannot_leave_the_folder(server, spec, tmp_path):
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})

    plan = fetch.plan(spec, "test", media_keys=["../../escaped", "/etc/passwd"])

    assert [what for what, _ in plan.problems] == ["../../escaped", "/etc/passwd"]


def test_a_full_disk_is_seen_before_anything_is_transferred(server, spec, tmp_path, monkeypatch):
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})
    plan = fetch.plan(spec, "test", media_keys=["8"])
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))

    with pytest.raises(
        DataUnavailableError, match=r"1\.0 kB free in .*use --limit, or set REELBENCH_HOME"
    ):
        fetch.run(plan)
    assert server.cdn.asked("GET") == []


def test_two_fetches_of_one_benchmark_do_not_run_at_once(server, spec, tmp_path):
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})
    plan = fetch.plan(spec, "test", media_keys=["8"])
    second, lines = [], ["0/2"]

    def show(done, line):
        del done
        if line == lines[-1]:
            return
        lines.append(line)
        try:
            fetch.run(plan)
        except DataUnavailableError as error:
            second.append(str(error))

    assert fetch.run(plan, show).failed == ()
    assert len(second) == 2
    assert all("another fetch is running" in line for line in second)
    assert fetch.run(plan).failed == ()


@pytest.mark.parametrize("in_archive", [True, False])
def test_progress_is_told_every_byte_and_every_item(server, spec, tmp_path, in_archive):
    films = {f"videos/{key}.mp4": clip(tmp_path, key) for key in ("1", "2")}
    if in_archive:
        spec = with_media(spec, packed(server.put("/films.tar.gz", tar_gz(films))))
    else:
        server.add(VIDEOS, films)
    plan = fetch.plan(spec, "test", media_keys=["1", "2"])

    told = []
    report = fetch.run(plan, lambda done, line: told.append((done, line)), workers=1)

    assert told[-1] == (plan.size, "3/3")
    assert [line for line, _ in groupby(line for _, line in told)] == ["0/3", "1/3", "2/3", "3/3"]
    assert {"1", "2"} < set(report.done)


@pytest.mark.parametrize(("name", "content"), [("moviecore", MOVIECORE), ("rextime", REXTIME)])
def test_from_upstream_to_rows_and_their_videos_then_offline(
    server, tmp_path, monkeypatch, name, content
):
    spec = discovery.get(name)
    source = spec.splits[spec.default_split].source
    server.add(source.repo_id, {source.filenames[0]: content})
    rows = loading.locate(name).read()
    films = {row["video"]: clip(tmp_path, row["video"]) for row in rows}
    packed = {f"videos/{key}.mp4": data for key, data in films.items() if not key.startswith("v_")}
    if name == "moviecore":
        server.add(VIDEOS, packed)
    else:
        places = [
            replace(place, location=server.put("/qvh.tar.gz", tar_gz(packed)))
            if place.kind == "archive"
            else place
            for place in spec.media
        ]
        spec = with_media(spec, *places)

    report = fetch.run(
        fetch.plan(spec, spec.default_split, media_keys=[row["video"] for row in rows])
    )

    assert set(report.done) == {key for key in films if not key.startswith("v_")}
    assert [what for what, _ in report.failed] == [
        f"{key} (ActivityNet videos)" for key in films if key[:2] == "v_"
    ]
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert loading.locate(name).read() == rows
    missing = media.Library(spec, spec.default_split).missing(rows)
    assert [row.video for row in missing] == [key for key in films if key.startswith("v_")]


# --- YouTube ---


def test_a_video_behind_an_address_comes_through_yt_dlp(server, spec, tmp_path):
    film = clip(tmp_path)
    server.put("/-abc_DEF123.mp4", film)
    server.files["/-abc_DEF123.mp4"].headers["Content-Type"] = "video/mp4"
    spec = with_media(spec, online(server))

    plan = fetch.plan(spec, "test", media_keys=["-abc_DEF123", "gone"])
    assert plan.unknown == 2
    report = fetch.run(plan)

    assert "-abc_DEF123" in report.done
    assert (root(spec) / "-abc_DEF123.mp4").read_bytes() == film
    ((what, reason),) = report.failed
    assert what == "gone"
    assert "gone.mp4: ERROR" in reason
    assert "404" in reason


def test_a_folders_own_settings_of_yt_dlp_are_not_read(server, spec, tmp_path, monkeypatch):
    """In a stranger's folder they would run code of his, with the user's keys in its environment."""
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "yt-dlp.conf").write_text(f"--exec before_dl:'env > {tmp_path / 'env'}; true'\n")
    monkeypatch.chdir(clone)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    server.put("/-abc_DEF123.mp4", clip(tmp_path))
    server.files["/-abc_DEF123.mp4"].headers["Content-Type"] = "video/mp4"
    spec = with_media(spec, online(server))
    assert "-abc_DEF123" in fetch.run(fetch.plan(spec, "test", media_keys=["-abc_DEF123"])).done
    assert not (tmp_path / "env").exists()
    (root(spec) / "-abc_DEF123.mp4").unlink()
    (tmp_path / "config").mkdir()
    (clone / "yt-dlp.conf").rename(tmp_path / "config" / "yt-dlp.conf")
    fetch.run(fetch.plan(spec, "test", media_keys=["-abc_DEF123"]))
    assert "PATH=" in (tmp_path / "env").read_text()
    assert "sk-0123456789" not in (tmp_path / "env").read_text()


def test_without_yt_dlp_the_reason_says_how_to_get_it(server, spec, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.executable", "/nowhere/python")

    report = fetch.run(fetch.plan(with_media(spec, online(server)), "test", media_keys=["a", "b"]))

    assert report.failed == (("2 videos (films)", "yt-dlp is not installed: pip install yt-dlp"),)


# --- what only the user can get ---


def test_a_form_says_where_to_ask_and_where_to_put_the_files(server, spec, tmp_path):
    form = MediaSource(
        title="ActivityNet videos",
        kind="form",
        location="https://example.org/form",
        layouts=("anet/{video}",),
        matches="^v_",
        note="It takes a week.",
    )
    server.put("/b.mp4", clip(tmp_path, "b"))
    spec = with_media(spec, form, online(server))

    plan = fetch.plan(spec, "test", media_keys=["v_1", "v_2"])
    ((what, reason),) = plan.problems
    assert what == "2 videos (ActivityNet videos)"
    assert reason.startswith(
        f"ask for them at https://example.org/form, then put them into {root(spec)} or a folder"
    )
    assert reason.endswith("of REELBENCH_MEDIA, as anet/v_1 (It takes a week.)")

    (root(spec) / "anet").mkdir(parents=True)
    (root(spec) / "anet/v_1.mp4").write_bytes(clip(tmp_path, "v_1"))
    again = fetch.plan(spec, "test", media_keys=["v_1", "v_2"])
    assert "v_1" in again.here
    assert [what for what, _ in again.problems] == ["v_2 (ActivityNet videos)"]


def test_a_video_that_no_source_has_is_a_problem(server, spec):
    plan = fetch.plan(with_media(spec, online(server, matches="^yt")), "test", media_keys=["film"])

    assert plan.problems == (("film", "moviecore names no place where this video can be had"),)
