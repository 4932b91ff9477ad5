"""Filling a store by processes and over Ray: the same files, whatever dies on the way."""

import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path

import av
import numpy as np
import pytest
from filelock import FileLock

from reelbench.base.errors import InputError
from reelbench.registry.sampling import FrameSampling
from reelbench.video.clip_writer import write_clip
from reelbench.video.fill_store import fill
from reelbench.video.frame_store import FrameStore
from tests.alarms import PATIENCE_S

SAMPLING = FrameSampling.parse("all")


@pytest.fixture
def videos(clip, tmp_path):
    """Videos that differ in their content's mark only, and one that is none."""
    source = clip("libx264", "mp4").read_bytes()
    made = []
    for number in range(6):
        made.append(tmp_path / f"{number}.mp4")
        made[-1].write_bytes(
            source + b"\0\0\0\x09free" + bytes([number])
        )  # a box that says nothing
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    return made, broken


def files(store: FrameStore) -> dict[str, bytes]:
    return {
        path.relative_to(store.root).as_posix(): path.read_bytes()
        for path in store.root.rglob("*")
        if path.is_file() and ".locks" not in path.parts
    }


def one_process(videos, root) -> FrameStore:
    store = FrameStore(root)
    for video in videos:
        store.get(video, SAMPLING)
    return store


def test_a_pool_leaves_the_files_of_one_process_and_tells_what_failed(videos, tmp_path):
    good, broken = videos
    pooled = FrameStore(tmp_path / "pool")
    filled = list(fill([*good, broken, good[0]], SAMPLING, store=pooled, workers=2))
    assert {one.video for one in filled if one.error is None} == set(good)
    (failed,) = [one for one in filled if one.error is not None]
    assert failed.video == broken
    assert str(broken) in failed.error
    assert files(pooled) == files(one_process(good, tmp_path / "one"))


def test_the_bytes_do_not_depend_on_the_machines_cores(tmp_path):
    # Large enough that x264 would take a thread per core.
    pictures = [
        av.VideoFrame.from_ndarray(np.full((1080, 1280), 128, np.uint8), format="yuv420p")
        for _ in range(2)
    ]
    write_clip(tmp_path / "clip.mp4", pictures, 1.0)
    assert (
        b" threads=1 " in (tmp_path / "clip.mp4").read_bytes()
    )  # x264 writes its settings into the stream


def test_what_is_stored_is_not_decoded_again(videos, tmp_path):
    good, _ = videos
    store = FrameStore(tmp_path / "store")
    list(fill(good[:2], SAMPLING, store=store, workers=2))
    before = {path: path.stat().st_ino for path in store.root.rglob("*.mp4")}
    list(fill(good[:3], SAMPLING, store=store, workers=2))
    after = {path: path.stat().st_ino for path in store.root.rglob("*.mp4")}
    assert len(after) == 3
    assert before.items() <= after.items()


def children(parent: int) -> dict[int, str]:
    """Return the processes below `parent`: id -> command line."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    below, found = {parent}, {}
    while new := {pid for pid, its in parents.items() if its in below} - below:
        below |= new
    for pid in below - {parent}:
        try:
            found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


def killed_in_the_middle(results, is_worker, store, held):
    """Kill a worker that is at work after the first result; return all results and who was killed.

    Until then whoever comes to the video `held` waits for it, so that there is one at work however
    fast they are.
    """
    collected, victims = [], []
    key = FrameStore(store.root.with_name("elsewhere")).get(held, SAMPLING).path.stem
    locks = store.root / ".locks"
    locks.mkdir(parents=True)
    with ExitStack() as waiting:
        waiting.enter_context(FileLock(locks / f"{key}.lock"))
        for filled in results:
            collected.append(filled)
            deadline = time.monotonic() + PATIENCE_S
            while not victims and time.monotonic() < deadline:
                for pid, command in children(os.getpid()).items():
                    if is_worker(command):
                        os.kill(pid, signal.SIGKILL)
                        victims.append(pid)
                        break
            waiting.close()
    return collected, victims


def test_a_pool_outlives_a_worker_that_is_killed(videos, tmp_path):
    good, _ = videos
    store = FrameStore(tmp_path / "pool")
    results = fill(good, SAMPLING, store=store, workers=2)
    filled, victims = killed_in_the_middle(
        results, lambda command: "multiprocessing.spawn" in command, store, good[-1]
    )
    assert victims
    assert sorted(one.video for one in filled if one.error is None) == good
    assert files(store) == files(one_process(good, tmp_path / "one"))


def test_a_video_that_takes_its_process_down_is_a_failure_of_its_own(videos, tmp_path, monkeypatch):
    good, _ = videos
    # The real pools, and a stand-in for a codec's fault: each process that opens the first video
    # ends.
    (tmp_path / "fault").mkdir()
    (tmp_path / "fault" / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "def fault(event, arguments):\n"
        f"    if event == 'open' and str(arguments[0]) == {str(good[0])!r}: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.addaudithook(fault)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "fault"))
    store = FrameStore(tmp_path / "store")
    filled = {one.video: one.error for one in fill(good[:3], SAMPLING, store=store, workers=2)}
    assert "ends the process" in filled[good[0]]
    assert filled[good[1]] is None
    assert filled[good[2]] is None


def start_two_workers(ray):
    for tries_left in (2, 1, 0):
        try:
            ray.init(
                "local",
                num_cpus=2,
                include_dashboard=False,
                log_to_driver=False,
                object_store_memory=10**8,
            )
        except Exception as error:
            # Ray gives its own processes 30 s to start, too little on a machine that is busy with
            # other tests.
            ray.shutdown()
            if "timed out during startup" not in str(error) or not tries_left:
                raise
        else:
            return


@pytest.mark.slow
def test_rays_store_equals_the_one_process_store_though_a_worker_is_killed(
    videos, tmp_path, monkeypatch
):
    pytest.importorskip("ray", reason="Ray is not installed (pip install 'reelbench[ray]')")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    import ray

    good, broken = videos
    start_two_workers(ray)
    try:
        store = FrameStore(tmp_path / "ray")
        results = fill([*good, broken], SAMPLING, engine="ray", store=store)
        filled, victims = killed_in_the_middle(
            results, lambda command: command.startswith("ray::_fill_one"), store, good[-1]
        )
        assert ray.is_initialized()  # a cluster that was there before is left running
    finally:
        ray.shutdown()
    assert victims
    assert sorted(one.video for one in filled if one.error is None) == good
    assert [one.video for one in filled if one.error is not None] == [broken]
    assert files(store) == files(one_process(good, tmp_path / "one"))


def test_an_unknown_engine_is_refused(videos):
    with pytest.raises(InputError, match="pool or ray"):
        fill(videos[0], SAMPLING, engine="spark")


def test_without_ray_the_error_says_what_to_install(videos, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install '\.\[ray\]'"):
        list(fill(videos[0], SAMPLING, engine="ray"))


def test_the_command_lists_failures_at_the_end_and_goes_on(reelbench, videos):
    good, broken = videos
    done = reelbench(
        "frames", "extract", *good[:2], broken, "--frames", "uniform:4", "--workers", 2
    )
    assert done.returncode == 1
    assert "8 frames of 2 videos (uniform:4)" in done.stdout
    assert done.stderr.splitlines()[-1].startswith(f"failed: {broken}")
    again = reelbench("frames", "extract", *good[:2], "--frames", "uniform:4")
    assert again.returncode == 0, again.stderr
