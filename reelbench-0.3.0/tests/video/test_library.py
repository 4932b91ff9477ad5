"""A video is found by every suffix that a video has, and can be decoded; `new` knows the same suffixes."""

import pytest
from PIL import Image

from reelbench.registry import discovery
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.column_guess import guess
from reelbench.video.library import Library
from reelbench.video.row_frames import frames_of_row
from tests.video import clips

SUFFIXES = (".mp4", ".MP4", ".mkv", ".webm", ".mov", ".avi", ".m4v", ".flv", ".ts", ".gif")
CODECS = {".webm": "libvpx-vp9", ".avi": "mpeg4"}
FRAMES = 8


def film(path):
    """Write a film of eight frames into the container that the suffix names; an .m4v is an .mp4 of that name."""
    suffix = path.suffix.lower()
    if suffix == ".gif":
        first, *others = (
            Image.fromarray(clips.picture(number).to_ndarray(format="rgb24"))
            for number in range(FRAMES)
        )
        first.save(path, save_all=True, append_images=others, duration=40)
        return
    made = path.with_name("made.mp4") if suffix == ".m4v" else path
    clips.encode(
        made, codec=CODECS.get(suffix, "libx264"), gop=4, ticks=clips.constant(FRAMES)
    ).rename(path)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".AVI", ".M4V"])
def test_a_video_of_each_suffix_is_found_and_decoded(tmp_path, monkeypatch, suffix):
    monkeypatch.setenv("REELBENCH_MEDIA", str(tmp_path / "films"))
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))
    (tmp_path / "films").mkdir()
    path = tmp_path / "films" / f"film{suffix}"
    film(path)
    library = Library(discovery.find("moviecore"), "test")
    for named in {path.name, *(["film"] if suffix in SUFFIXES else [])}:
        assert library.find({"video": named}) == path
    shown = frames_of_row(library, {"video": path.name}, FrameSampling.parse("uniform:4,as=images"))
    assert (shown.given, any("damaged" in note for note in shown.notes)) == (4, False)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".AVI", ".M4V"])
def test_a_column_of_each_suffix_is_the_videos(suffix):
    rows = [
        {"n": n, "words": f"What is in the picture {n}?", "which": f"{n}{suffix}", "said": "a cat"}
        for n in range(4)
    ]
    assert guess(rows).columns["video"] == "which"
