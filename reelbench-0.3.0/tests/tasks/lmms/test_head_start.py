"""The videos that lmms-eval asks for first, decoded while it starts: which, and in which form."""

import json
import subprocess
import sys
from contextlib import suppress

import pytest

from reelbench.base.errors import MediaError
from reelbench.registry import discovery
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.lmms.head_start import first_videos
from reelbench.video.frame_store import FrameStore
from tests.alarms import PATIENCE_S
from tests.video import clips

FILMS, FRAMES = 3, "uniform:4,size=64"


@pytest.fixture
def films(tmp_path, reelbench, monkeypatch):
    """A benchmark of six questions that go round three films."""
    media = tmp_path / "films"
    media.mkdir()
    for number in range(FILMS):
        clips.encode(
            media / f"film{number}.mp4",
            codec="libx264",
            gop=12,
            ticks=clips.constant(40, 8),
            first=number,
        )
    rows = [
        {"id": f"q{n}", "video": f"film{n % FILMS}", "question": "Is it?", "answer": "Yes."}
        for n in range(6)
    ]
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    done = reelbench(
        "new", "rounds", "--from", tmp_path / "rows.jsonl", "--media", media, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("REELBENCH_MEDIA", str(media))
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(tmp_path / "rounds"))
    monkeypatch.setenv("REELBENCH_FRAMES", FRAMES)
    discovery.open_file(tmp_path / "rounds")
    return media


def decode_first(*arguments):
    for decode in first_videos(["--tasks", "rounds", *arguments]).values():
        with suppress(MediaError):
            decode()


def stored(films, spec):
    sampling = FrameSampling.parse(spec)
    return [
        n for n in range(FILMS) if FrameStore().find(films / f"film{n}.mp4", sampling) is not None
    ]


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ((), [0, 1, 2]),
        (("--limit", "2"), [0, 1]),
        (("--limit=1", "--offset", "1"), [1]),
        (("--limit", "0.3"), [0, 1]),  # 1.8 of six
        (("--limit", "-1"), [0, 1, 2]),
    ],
)
def test_they_are_those_of_the_questions_asked_for(films, arguments, first):
    decode_first("--model", "openai", *arguments)
    assert stored(films, f"{FRAMES},as=images") == first
    assert stored(films, f"{FRAMES},as=clip") == []


def test_only_those_of_the_questions_that_are_named(films, tmp_path, monkeypatch):
    (tmp_path / "ids.txt").write_text("q4\n", encoding="utf-8")
    monkeypatch.setenv("REELBENCH_IDS", str(tmp_path / "ids.txt"))
    decode_first("--model", "openai")
    assert stored(films, f"{FRAMES},as=images") == [1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--model", "qwen2_5_vl"),
        ("--model", "openai", "--model_args", "model=m,pass_video_url=True"),
    ],
)
def test_an_adapter_that_takes_clips_gets_clips(films, arguments):
    decode_first(*arguments, "--limit", "1")
    assert stored(films, f"{FRAMES},as=clip") == [0]
    assert stored(films, f"{FRAMES},as=images") == []


def test_a_video_that_can_not_be_decoded_keeps_none_from_it(films):
    (films / "film0.mp4").write_bytes(b"no film at all")
    decode_first("--model", "openai", "--limit", "2")
    assert stored(films, f"{FRAMES},as=images") == [1]


def test_nothing_is_decoded_for_a_model_that_looks_at_nothing(films):
    decode_first("--model", "reelbench_baseline")
    assert stored(films, f"{FRAMES},as=images") == stored(films, f"{FRAMES},as=clip") == []


def test_the_process_ends_once_lmms_eval_has(films):
    command = [
        sys.executable,
        "-P",
        "-m",
        "reelbench.tasks.lmms.head_start",
        "--tasks",
        "rounds",
        "--model",
        "openai",
    ]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        assert process.wait(PATIENCE_S) == 0
    assert stored(films, f"{FRAMES},as=images") == []
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.wait(PATIENCE_S) == 0
    assert stored(films, f"{FRAMES},as=images") == [0, 1, 2]
