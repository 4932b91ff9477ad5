"""Upstream in small: files as the owners publish them, and videos, for the tests of sources, fetch and check."""

import io
import json
import tarfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from reelbench.registry.spec import BenchmarkSpec, MediaSource
from reelbench.video import media_roots
from reelbench.video.mini_clips import draw_clip

# The shape of MovieCORE's Hub file: one object, keyed by question id.
MOVIECORE = json.dumps(
    {
        f"{video}_{number}": {
            "question_id": f"{video}_{number}",
            "video": video,
            "question": f"What does the film say of its hero in part {number}?",
            "answer": "He is alone.",
            "classification": "Theme, Character",
            "fps": 10,
        }
        for video in ("8", "AWA-6")
        for number in (1, 2)
    }
)

# The shape of ReXTime's Hub file: an array.
REXTIME = json.dumps(
    [
        {
            "qid": qid,
            "vid": video,
            "duration": 150,
            "question": "what happened before the door was opened?",
            "answer": "From <s0> to <e0>, <option>.",
            "source": source,
            "category": "sequential",
            "options": ["a dog barked", "it rained", "a man sang", "nothing"],
            "span": [0, 28],
            "ans": "A",
        }
        for qid, video, source in (
            ("qvh_val1", "abcdefghijk_510.0_660.0", "qvhighlights_val"),
            ("anet_val1", "v_0123456789a", "ActivityNet_val_2"),
        )
    ]
)


def clip(folder: Path, key: str = "clip", seconds: float = 1.0) -> bytes:
    """Return the bytes of a small mp4 whose picture depends on `key`."""
    path = folder / "made" / f"{key}.mp4"
    path.parent.mkdir(parents=True, exist_ok=True)
    draw_clip(path, key, seconds)
    return path.read_bytes()


def tar_gz(members: Mapping[str, bytes]) -> bytes:
    """Return a tar.gz; a member's name may try to leave the folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def root(spec: BenchmarkSpec) -> Path:
    """Return the folder of fetched videos."""
    return media_roots.fetched_root(spec)


def with_media(spec: BenchmarkSpec, *places: MediaSource) -> BenchmarkSpec:
    """Return the benchmark with other places for its videos."""
    return replace(spec, media=places)


def packed(url: str) -> MediaSource:
    """Return an archive at `url` as a place for videos."""
    return MediaSource(
        title="packed films",
        kind="archive",
        location=url,
        path="videos/{video}.mp4",
        layouts=("videos/{video}",),
    )
