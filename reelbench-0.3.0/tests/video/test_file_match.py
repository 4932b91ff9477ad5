"""One rule says which file a row's video is: for `new`, `check` and runs alike."""

import json
import shutil
import unicodedata
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.data import declared_check
from reelbench.registry import discovery
from reelbench.tasks.benchmark_folder import NewBenchmark, make
from reelbench.video.file_match import SeveralFilesError
from reelbench.video.library import Library
from tests.video import clips

MAC = unicodedata.normalize("NFD", "Küche_03.mp4")
PC = unicodedata.normalize("NFC", "Küche_03.mp4")


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    path = tmp_path_factory.mktemp("film") / "film.mp4"
    return clips.encode(path, codec="libx264", gop=4, ticks=clips.constant(8))


@pytest.fixture
def table(tmp_path, monkeypatch, film):
    """Write files of videos and a table of questions on them; return the benchmark that is made."""
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))

    def write(files, videos):
        for name in files:
            path = tmp_path / "videos" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(film, path)
        rows = [
            {
                "id": number,
                "video_path": video,
                "question": f"What is the thing in picture {number}?",
                "options": ["a cat", "a dog", "a cow"],
                "answer": "ABC"[number % 3],
            }
            for number, video in enumerate(videos)
        ]
        file = tmp_path / "rows.json"
        file.write_text(json.dumps(rows), encoding="utf-8")
        request = NewBenchmark(
            "films", file, media=tmp_path / "videos", columns={"video": "video_path"}
        )
        return make(request, tmp_path / "films")

    return write


@pytest.mark.parametrize(
    ("files", "video", "found"),
    [
        (["clip.mp4"], "clip.mp4", "clip.mp4"),
        (["clip.mp4"], "clip", "clip.mp4"),
        (["clip.mp4"], "./clip.mp4", "clip.mp4"),
        (["clip.MP4"], "clip.mp4", "clip.MP4"),
        (["clip.mp4"], "clip.avi", "clip.mp4"),
        ([MAC], PC, MAC),
        ([PC], MAC, PC),
        ([MAC], f"C:\\Filme\\{PC}", MAC),
        (["clip.mp4"], "videos/clip.mp4", "clip.mp4"),
        (["clip.mp4"], "../videos/clip.mp4", "clip.mp4"),
        (["clip.mp4"], "/home/somebody/bench/videos/clip.mp4", "clip.mp4"),
        (["clip.mp4"], "https://films.example/a/clip.mp4?download=1#t=3", "clip.mp4"),
        (["Part: one.mp4"], "Part: one.mp4", "Part: one.mp4"),
        (["b/clip.mp4", "c/clip.mp4"], "a/b/clip.mp4", "b/clip.mp4"),
        (["b/clip.mp4", "c/clip.mp4"], "c/clip", "c/clip.mp4"),
        (["in/deep.mp4"], "deep.mp4", "in/deep.mp4"),
        (["in/b/deep.mp4", "in/c/deep.mp4"], "c/deep.mp4", "in/c/deep.mp4"),
        (["in/deep.mp4"], "/home/somebody/deep.mp4", "in/deep.mp4"),
        (["clip.mp4", "clip.webm"], "clip.webm", "clip.webm"),
    ],
)
def test_what_new_finds_check_and_runs_find(files, video, found, table, tmp_path):
    made = table(files, [video])
    discovery.open_file(tmp_path / "films")
    library = Library(made.spec, "test")
    assert library.find({"video": video}) == tmp_path / "videos" / found
    assert library.missing([{"id": "0", "video": video}]) == []
    (split,) = declared_check.check(made.spec)
    assert split.problems == []
    assert list(split.videos) == [tmp_path / "videos" / found]


def test_a_path_of_somebody_s_machine_is_said_by_new_and_by_check(table, tmp_path):
    video = "/home/somebody/bench/clip.mp4"
    made = table(["clip.mp4"], [video])
    discovery.open_file(tmp_path / "films")
    (split,) = declared_check.check(made.spec)
    said = f"1 video by the end of their path ({video!r} is clip.mp4)"
    assert said in made.guess.why["video"]
    assert any(said in note for note in split.notes)
    assert '"{name}"' in (tmp_path / "films" / "benchmark.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("files", "videos", "said"),
    [
        (["clip.mp4", "clip.mkv"], ["clip"], "'clip' may be clip.mkv, clip.mp4"),
        (["clip.mp4", "clip.mkv"], ["clip.avi"], "'clip.avi' may be clip.mkv, clip.mp4"),
        (["a/clip.mp4", "b/clip.mp4"], ["clip.mp4"], "'clip.mp4' may be a/clip.mp4, b/clip.mp4"),
        (
            ["clip.mp4"],
            ["a/clip.mp4", "b/clip.mp4"],
            "would be 2 videos: 'a/clip.mp4', 'b/clip.mp4'",
        ),
        (["clip.mp4"], ["clip.mp4", "clip.avi"], "would be 2 videos: 'clip.mp4', 'clip.avi'"),
    ],
)
def test_several_that_fit_are_refused_and_nothing_is_written(files, videos, said, table, tmp_path):
    with pytest.raises(InputError) as caught:
        table(files, videos)
    assert said in str(caught.value)
    assert not (tmp_path / "films").exists()


def test_a_run_leaves_out_the_questions_whose_video_may_be_another(monkeypatch, tmp_path, film):
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REELBENCH_MEDIA", str(tmp_path))
    for name in ("one.mp4", "two.mp4", "two.mkv"):
        shutil.copy(film, tmp_path / name)
    library = Library(discovery.find("moviecore"), "test")
    videos = ["one.mp4", "a/one.mp4", "two", "two.mkv", "One"]
    missing = library.missing([{"id": video, "video": video} for video in videos])
    faults = {row.id: row.broken or row.hint for row in missing}
    shared = f"one.mp4 in {tmp_path} would be 2 videos: 'one.mp4', 'a/one.mp4'"
    assert faults.pop("two").startswith("'two' may be two.mkv, two.mp4")
    assert faults == {
        "one.mp4": shared,
        "a/one.mp4": shared,
        "One": "; 'one.mp4' is there, which differs in case",
    }
    with pytest.raises(SeveralFilesError):
        library.find({"video": "two"})


@pytest.mark.parametrize("video", ["..", "/", "a\0.mp4", "C:\\"])
def test_no_file_s_name_is_refused(video):
    with pytest.raises(InputError, match="is not a file's name"):
        Library(discovery.find("moviecore"), "test").find({"video": video})


def test_no_path_leads_out_of_the_folders_that_are_searched(monkeypatch, tmp_path, film):
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REELBENCH_MEDIA", str(tmp_path / "in"))
    (tmp_path / "in").mkdir()
    shutil.copy(film, tmp_path / "secret.mp4")
    library = Library(discovery.find("moviecore"), "test")
    for video in ("../secret.mp4", "in/../../secret.mp4", str(tmp_path / "secret.mp4")):
        assert library.find({"video": video}) is None


def test_names_have_a_case_where_the_file_system_has_one(monkeypatch, tmp_path, film):
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REELBENCH_MEDIA", str(tmp_path))
    path = Path(shutil.copy(film, tmp_path / "clip.mp4"))
    found = Library(discovery.find("moviecore"), "test").find({"video": "CLIP.mp4"})
    assert found == (path if (tmp_path / "CLIP.mp4").exists() else None)
