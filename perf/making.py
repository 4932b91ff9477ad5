"""`reelbench make discussion` on 170 videos, against a server on this machine that plays all roles.

    python -m perf.making                            170 made-up videos of three questions each
    python -m perf.making MOVIECHAT_TEST.json        MovieChat's own questions

Each video has its context given, so a video takes five calls, one after the other. The server is a process of its own
and counts its calls; each run is a fresh process. The ideal is calls times delay by calls in flight.
"""

import argparse
import json
import resource
import sys
import tempfile
from pathlib import Path

from perf.measure import Run, cold_and_cached, run
from tests.servers.roles import DISCUSSION

DELAY, CONCURRENCY, VIDEOS = 0.2, 32, 170
SENTENCE = "The keeper walks down to the harbour because the lamp has gone out and a boat is late. "


def written(path: Path, moviechat: Path | None) -> int:
    """Write the videos to discuss, as JSON Lines with context; return how many there are."""
    if moviechat is None:
        pairs = [{"question": f"What is in place {n}?", "answer": "A lamp."} for n in range(3)]
        videos = {f"film{n}": (pairs, {"genre": "drama"}) for n in range(VIDEOS)}
    else:
        from reelbench.making.discussion_files import read_videos

        videos = {video.name: (list(video.qa), dict(video.metadata)) for video in read_videos(moviechat, 8)}
    with path.open("w", encoding="utf-8") as file:
        for name, (pairs, metadata) in videos.items():
            context = [f"{SENTENCE * 6}This is answer {place} on {name}." for place in range(8)]
            file.write(json.dumps({"video": name, "metadata": metadata, "qa": pairs, "context": context}) + "\n")
    return len(videos)


def command(videos: Path, out: Path, home: Path, url: str) -> Run:
    """Run the command once, in a process of its own."""
    models = [part for role in DISCUSSION for part in ("--llm", f"{role}={role}")]
    where = ["--llm-url", url, "--llm-concurrency", str(CONCURRENCY)]
    make = [Path(sys.executable).with_name("reelbench"), "make", "discussion", "--videos", videos, "--out", out]
    return run([*make, *where, *models], home)


def main() -> None:
    """Measure a cold run and one from the cache."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("moviechat", nargs="?", type=Path, help="MovieChat's questions, as one JSON file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        count = written(base / "videos.jsonl", given.moviechat)
        print(f"{count} videos")
        cold_and_cached(
            "roles",
            DELAY,
            CONCURRENCY,
            lambda url: command(base / "videos.jsonl", base / "out", base / "home", url),
        )
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        stages = json.loads((base / "out" / "funnel.json").read_text())["stages"]
        made = json.loads((base / "out" / "annotations.json").read_text())
    lost = sum(stage["in"] - stage["out"] - sum(stage["dropped"].values()) for stage in stages)
    print(f"  {len(made)} questions made; {peak:.0f} MiB at most; the funnel is off by {lost}")


if __name__ == "__main__":
    main()
