"""The clips of the mini splits: long enough for whatever an adapter asks for, and as long as their rows say."""

import pytest

import reelbench
from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.video.decoder import VideoFile
from reelbench.video.library import Library
from reelbench.video.row_frames import clip_of_row

ASKED = 64
"""Frames of lmms-eval 0.7.3's `async_openai` by default (`nframes`), the most of those that fail on a shorter video."""


@pytest.mark.parametrize("name", sorted(discovery.specs()))
def test_every_mini_video_has_the_frames_that_adapters_ask_for_by_default(name):
    rows = reelbench.load(name, "mini")
    library = Library(registry.get(name), "mini")
    for row in {row["video"]: row for row in rows}.values():
        video = VideoFile(clip_of_row(library, row)).info
        assert video.frames >= ASKED
        if "duration" in row:
            assert video.timeline.duration == pytest.approx(row["duration"], abs=0.05)
        if row.get("span"):
            assert 0 <= row["span"][0] <= row["span"][1] <= video.timeline.duration + 0.05


@pytest.mark.parametrize(
    "video", ["/{}/out/x", "../../../out/x", "a/../../../../out/x", "..\\..\\x", "a\0b", "\ud800"]
)
@pytest.mark.parametrize("name", ["rextime", "dramaqa_cogme"])
def test_a_video_that_a_file_names_stays_inside_its_folder(name, video, tmp_path, reelbench_home):
    spec, video = discovery.get(name), video.replace("{}", str(tmp_path))
    (row, *_) = reelbench.load(name, "mini")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="not a file's name"):
        Library(spec, "mini").find({**row, "video": video, "images": [video], "shots": [video]})
    assert sorted(path for path in tmp_path.rglob("*") if reelbench_home not in path.parents) == [
        path for path in before if reelbench_home not in path.parents
    ]
