"""`data check`: what is here, missing and broken, and whether upstream has moved; it fetches nothing."""

from dataclasses import replace

import pytest

from reelbench.data import fetch, split_check
from reelbench.registry.spec import HubFile, LocalFile, MediaSource, SplitSpec, UrlFile
from reelbench.video import media_roots
from tests.registry.upstream import MOVIECORE, clip, tar_gz
from tests.servers.hub import HubServer
from tests.video.test_playable import film, sound

VIDEOS = "Enxin/MovieChat-1K-test"


def test_nothing_here_says_how_to_get_it_and_fetches_nothing(server, spec):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})

    report = split_check.check(spec, "test", media_keys=["8", "8", "9"])

    assert report.annotations is None
    assert report.problem == "not here; run `reelbench data fetch moviecore --split test`"
    assert (report.here, report.missing, report.broken) == ((), ("8", "9"), ())
    assert report.looked_in[0] == media_roots.fetched_root(spec)
    assert not report.complete
    assert report.upstream == ()
    assert not server.requests


def test_everything_here_and_whole(server, spec, tmp_path):
    annotations = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    videos = server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})
    fetch.run(fetch.plan(spec, "test", media_keys=["8"]))

    report = split_check.check(spec, "test", media_keys=["8"])

    assert report.annotations.revision == annotations.head
    assert (report.here, report.missing, report.broken) == (("8",), (), ())
    assert report.complete
    assert report.upstream == (
        split_check.Upstream(
            "MovieCORE/MovieCORE", annotations.head, annotations.head, moved=False
        ),
        split_check.Upstream(VIDEOS, videos.head, videos.head, moved=False),
    )


@pytest.mark.usefixtures("server")
def test_what_is_broken_is_named_with_what_is_wrong(spec, tmp_path, monkeypatch):
    folder = tmp_path / "own" / "videos"
    folder.mkdir(parents=True)
    monkeypatch.setenv("REELBENCH_MEDIA", str(tmp_path / "own"))
    (folder / "empty.mp4").touch()
    sound(folder / "sound.mp4")
    whole = film(tmp_path / "a.mp4", options={"movflags": "faststart"}).read_bytes()
    (folder / "cut.mp4").write_bytes(whole[: len(whole) // 2])
    (folder / "page.mp4").write_bytes(b"<html>not found</html>")
    (folder / "good.mp4").write_bytes(whole)

    report = split_check.check(
        spec, "test", media_keys=["empty", "sound", "cut", "page", "good", "gone"]
    )

    assert (report.here, report.missing) == (("good",), ("gone",))
    broken = {key: (path, reason) for key, path, reason in report.broken}
    assert broken["empty"] == (folder / "empty.mp4", "the file is empty")
    assert broken["sound"] == (folder / "sound.mp4", "has no video stream (only sound)")
    assert broken["cut"] == (folder / "cut.mp4", "cut off: its end is not there")
    assert broken["page"][1].startswith("is not a video that can be read")


def test_a_fetched_video_that_lost_bytes_is_broken_though_it_plays(server, spec, tmp_path):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    other = clip(tmp_path, "another film", seconds=2)
    server.add(VIDEOS, {"videos/8.mp4": clip(tmp_path)})
    fetch.run(fetch.plan(spec, "test", media_keys=["8"]))
    path = media_roots.fetched_root(spec) / "videos/8.mp4"
    before = path.stat().st_size
    path.write_bytes(other)

    report = split_check.check(spec, "test", media_keys=["8"])

    assert report.broken == (("8", path, f"{len(other)} bytes, and {before} when it was fetched"),)


def test_a_moved_branch_is_told_and_the_recorded_commit_stays(server, spec):
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    used = repo.head
    fetch.run(fetch.plan(spec, "test"))
    now = repo.commit({"test.json": "{}"}, "corrections")

    report = split_check.check(spec, "test")

    assert report.upstream == (split_check.Upstream("MovieCORE/MovieCORE", used, now, moved=True),)
    assert report.annotations.revision == used
    assert report.complete


def test_a_pinned_commit_is_compared_too(server, spec):
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    pinned = repo.head
    source = HubFile(repo_id=repo.id, filenames=("test.json",), revision=pinned)
    spec = replace(spec, splits={"test": SplitSpec(source=source)}, media=())
    now = repo.commit({"README.md": "# new"})

    assert split_check.check(spec, "test").upstream == (
        split_check.Upstream(repo.id, pinned, now, moved=True),
    )


@pytest.mark.parametrize("gone", ["offline", "unreachable"])
def test_an_upstream_that_cannot_be_asked_is_unknown_not_unchanged(server, spec, monkeypatch, gone):
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    fetch.run(fetch.plan(spec, "test"))
    if gone == "offline":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    else:
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    (state,) = split_check.check(spec, "test").upstream

    assert (state.used, state.now, state.moved) == (repo.head, None, None)
    assert ("HF_HUB_OFFLINE is set" if gone == "offline" else "could not be reached") in state.note


@pytest.mark.parametrize("marks", ["etag", "date", "size"])
def test_a_url_that_changed_is_told_by_its_best_mark(server, spec, marks):
    options = {"etag": "" if marks == "etag" else None, "date": marks == "date"}
    source = UrlFile(url=server.put("/curve.json", b"[1]", **options))
    spec = replace(spec, splits={"test": SplitSpec(source=source)}, media=())
    fetch.run(fetch.plan(spec, "test"))
    (state,) = split_check.check(spec, "test").upstream
    assert state.moved is False

    server.put("/curve.json", b"[1, 2]", **options)
    (state,) = split_check.check(spec, "test").upstream
    assert state.moved is True
    assert state.used != state.now


def test_a_url_offline_is_unknown(server, spec, monkeypatch):
    source = UrlFile(url=server.put("/curve.json", b"[1]"))
    spec = replace(spec, splits={"test": SplitSpec(source=source)}, media=())
    fetch.run(fetch.plan(spec, "test"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    (state,) = split_check.check(spec, "test").upstream

    assert (state.moved, state.note) == (None, "not asked, because HF_HUB_OFFLINE is set")


def test_an_archive_of_videos_is_compared_too(server: HubServer, spec, tmp_path):
    url = server.put("/films.tar.gz", tar_gz({"a.mp4": clip(tmp_path)}))
    place = MediaSource(
        title="films", kind="archive", location=url, path="{video}.mp4", layouts=("{video}",)
    )
    spec = replace(spec, media=(place,))
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    fetch.run(fetch.plan(spec, "test", media_keys=["a"]))
    server.put("/films.tar.gz", b"another")

    states = {
        state.what: state.moved
        for state in split_check.check(spec, "test", media_keys=["a"]).upstream
    }

    assert states == {"MovieCORE/MovieCORE": False, url: True}


def test_the_users_own_annotations_have_no_upstream(server, spec, tmp_path):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    fetch.run(fetch.plan(spec, "test"))
    (tmp_path / "test.json").write_text("{}")

    report = split_check.check(spec, "test", tmp_path)

    assert report.annotations.kind == "local"
    assert report.upstream == ()


def test_agreement_gated_data_says_which_form_to_fill_in(server, spec):
    source = LocalFile(filenames=("set.json",), form_url="https://example.org/form")
    spec = replace(spec, splits={"test": SplitSpec(source=source)}, open_data=False, media=())

    report = split_check.check(spec, "test")

    assert report.problem.startswith(
        "MovieCORE's data is under an agreement and is never fetched: ask for it at https:"
    )
    assert not server.requests


@pytest.mark.usefixtures("server")
def test_a_folder_of_the_user_s_that_is_not_there_is_told_once(spec, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("REELBENCH_MEDIA", f"{tmp_path}:{tmp_path / 'nowhere'}")
    split_check.check(spec, "test", media_keys=["8"])
    split_check.check(spec, "test", media_keys=["8"])
    said = [line for line in caplog.messages if "REELBENCH_MEDIA" in line]
    assert said == [
        f"REELBENCH_MEDIA={tmp_path / 'nowhere'}: no such folder, so no video is looked for there"
    ]
