"""A store of frames as it grows: `frames info` and `frames clear` of a folder whose videos are all stored.

    python -m perf.store [--videos 1000 10000]

The videos are one small clip with other bytes at its end, so each has an entry of its own; the
first is stored by `frames extract`, the others' entries are copies of it under their keys.
Processor seconds, all processes.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from perf.measure import run
from reelbench.registry.sampling import FrameSampling
from reelbench.video.frame_store import FrameStore, _fingerprint
from reelbench.video.mini_clips import draw_clip
from reelbench.video.stored_frames import RECORD

FRAMES = "uniform:8"


def filled(folder: Path, number: int, home: Path) -> None:
    """Write so many videos, and an entry of each in the store of `home`."""
    folder.mkdir()
    draw_clip(folder / "video0.mp4", "0", 4)
    clip = (folder / "video0.mp4").read_bytes()
    reelbench = (sys.executable, "-m", "reelbench")
    run((*reelbench, "frames", "extract", folder / "video0.mp4", "--frames", FRAMES), home)
    store = FrameStore(home / "frames")
    [first] = store.find_all(folder / "video0.mp4", [FrameSampling.parse(FRAMES)])
    assert first.path is not None  # noqa: S101
    record, stored = json.loads((first.path.parent / RECORD).read_text()), first.path.read_bytes()
    for other in range(1, number):
        video = folder / f"video{other}.mp4"
        video.write_bytes(clip + b"\0\0\0\x10free" + other.to_bytes(8, "big"))
        entry = store._entry_folder(_fingerprint(video), FrameSampling.parse(FRAMES))  # noqa: SLF001
        entry.mkdir(parents=True)
        (entry / f"{entry.name}.mp4").write_bytes(stored)
        (entry / RECORD).write_text(json.dumps(record | {"path": f"{entry.name}.mp4"}))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--videos", type=int, nargs="+", default=[1000, 10_000])
    asked = parser.parse_args()
    print(
        f"{'videos':>8} {'info FOLDER':>12} {'info':>8} {'clear FOLDER':>13}   load "
        f"{os.getloadavg()[0]:.1f}"
    )
    for number in asked.videos:
        with tempfile.TemporaryDirectory() as name:
            folder, home = Path(name, "videos"), Path(name, "home")
            filled(folder, number, home)
            reelbench = (sys.executable, "-m", "reelbench", "frames")
            info = run((*reelbench, "info", folder), home)
            whole = run((*reelbench, "info"), home)
            clear = run((*reelbench, "clear", folder), home)
            print(
                f"{number:8} {info.cpu:10.1f} s {whole.cpu:6.1f} s {clear.cpu:11.1f} s", flush=True
            )


if __name__ == "__main__":
    main()
