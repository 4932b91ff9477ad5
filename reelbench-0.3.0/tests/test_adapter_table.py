"""What `make adapters` says of an adapter is what reached its model, and what the record says of it."""

import json
import os
import subprocess
import sys
from importlib.metadata import distribution
from types import SimpleNamespace

import numpy as np
import pytest

from tests.video import clips
from tools import adapters as tool
from tools import tiny_families

ASKED = (0, 3, 6, 9)
"""Frames of a clip of 9 a second, 3 a second of them."""


def sample(**said):
    plain = {"frame_timestamps": [n / 9 for n in ASKED], "frame_padding": 0, "frames_arrived": None}
    return SimpleNamespace(
        **{**plain, "frame_times_told": None, "reason": None, "state": "scored", **said}
    )


@pytest.mark.parametrize(
    ("spy", "said", "cell"),
    [
        (tool.Spy(clips=[ASKED]), {}, "exact"),
        (tool.Spy(pictures=[*ASKED]), {}, "exact"),
        (tool.Spy(clips=[ASKED, ASKED]), {}, "exact"),  # a processor that was asked twice
        (tool.Spy(clips=[(0, 3, 6, 6)]), {}, "4 of 4 frames, **the record says otherwise**"),
        (tool.Spy(clips=[(0, 6)]), {}, "2 of 4 frames, **the record says otherwise**"),
        (tool.Spy(clips=[(0, 6)]), {"frames_arrived": 2}, "2 of 4 frames, the record says so"),
        (
            tool.Spy(clips=[(0, 6)]),
            {"frames_arrived": "unknown"},
            "2 of 4 frames, the record says so",
        ),
        (tool.Spy(), {"reason": "model_failed"}, "fails, unscored: 1 model_failed"),
        (tool.Spy(clips=[ASKED], told=[(0.17, 0.83)]), {}, "exact, times right"),
        (tool.Spy(clips=[ASKED], told=[(0.2, 1.5)]), {}, "exact, **times off by 0.7 s**"),
        (
            tool.Spy(clips=[ASKED], told=[(0.67,)]),
            {},
            "exact, times right",
        ),  # the seconds of a step of two frames
    ],
)
def test_what_arrived_is_held_against_the_record(spy, said, cell):
    assert tool.cell(spy, [sample(**said)], "clip") == cell


def test_a_failure_that_is_scored_is_wrong():
    assert (
        tool.cell(tool.Spy(), [sample(reason="model_failed", state="unscored")], "failure")
        == "unscored"
    )
    assert tool.cell(tool.Spy(), [sample()], "failure") == "**1 of 1 scored**"


@pytest.mark.parametrize("layout", ["as it is", "channels first", "from 0 to 1"])
def test_a_number_is_read_in_any_layout(layout):
    picture = clips.picture(1234).to_ndarray(format="rgb24")
    if layout == "channels first":
        picture = picture.transpose(2, 0, 1)
    assert (
        tool.number_in(picture.astype(np.float32) / 255 if layout == "from 0 to 1" else picture)
        == 1234
    )


def test_only_what_was_right_and_is_no_more_ends_with_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "SEEN", tmp_path / "seen.json")
    monkeypatch.setattr(tool, "PAGE", tmp_path / "page.md")
    tool.PAGE.write_text(f"before\n{tool.BEGIN}old\n{tool.END}after\n", encoding="utf-8")
    assert tool._write("gemma3", {"clip": {"plain": "exact, **times off by 0.2 s**"}}) == []
    assert tool._write("gemma3", {"clip": {"plain": "exact, times right"}}) == []
    worse = tool._write("gemma3", {"clip": {"plain": "2 of 4 frames, the record says so"}})
    assert worse == [
        "gemma3, clip, plain: 2 of 4 frames, the record says so, and was: exact, times right"
    ]
    assert tool._write("openai", {"none": {"plain": "nothing"}}) == []
    seen = json.loads(tool.SEEN.read_text(encoding="utf-8"))
    assert [*seen["adapters"]] == ["gemma3", "openai"]  # what was not run stays
    page = tool.PAGE.read_text(encoding="utf-8")
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "| `gemma3` | pictures |" in page
    assert "old" not in page


@pytest.mark.parametrize(
    "patch",
    sorted((tool.ROOT / "docs" / "upstream" / "patches").iterdir()),
    ids=lambda file: file.stem,
)
def test_a_patch_for_upstream_applies(patch):
    package, seen = (
        ("qwen_vl_utils", "0.0.14")
        if patch.stem.startswith("qwen_vl_utils")
        else ("lmms_eval", "0.7.3")
    )
    installed = distribution(package)
    if installed.version != seen:
        pytest.skip(f"{package} {installed.version} is here")
    command = ["git", "apply", "--check", patch]
    subprocess.run(
        command,
        cwd=installed.locate_file(""),
        env={**os.environ, "GIT_DIR": "/dev/null"},
        check=True,
    )


@pytest.mark.lmms
@pytest.mark.slow
def test_a_tiny_model_is_shown_exactly_the_frames_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("REELBENCH_HOME", str(tool.numbered_clips(tmp_path / "home")))
    model = tiny_families.FAMILIES["gemma3"](tmp_path / "model")
    assert tool.tried("gemma3", "pictures", "plain", model, tmp_path) == "exact"


@pytest.mark.lmms
@pytest.mark.slow
def test_doctor_tries_an_adapter_on_one_question(tiny_vlm, tmp_path, monkeypatch):
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))
    words = ["doctor", "--adapter", "qwen2_5_vl", "--json", "--"]
    words.append(
        f"pretrained={tiny_vlm},device=cpu,device_map=cpu,min_pixels=3136,max_pixels=12544"
    )
    done = subprocess.run(
        [sys.executable, "-m", "reelbench", *words],
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    tried = json.loads(done.stdout)["tried on one question"]
    assert tried["handed over"].startswith("4 frames, at 0.00, ")
    assert tried["arrived"] == "these"
    assert tried["times of a clip"] == "these"
    assert tried["answer"]
