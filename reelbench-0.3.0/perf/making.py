"""`reelbench make discussion` on 170 videos, against a server on this machine that plays all roles.

    python -m perf.making                            170 made-up videos of three questions each
    python -m perf.making MOVIECHAT_TEST.json        MovieChat's own questions
    python -m perf.making --against BUILT --runs 9   in turn with another commit: what `make wheel` wrote to its `built`

Each video has its context given, so a video takes six calls, one after the other. The server is a
process of its own and counts its calls; each run is a fresh process. The ideal is calls times delay
by calls in flight.
"""

import argparse
import filecmp
import json
import os
import resource
import sys
import tempfile
from pathlib import Path

from perf.measure import Run, cold_and_cached, counted, of_commit, playing, report, run
from tests.servers.roles import DISCUSSION

DELAY, CONCURRENCY, VIDEOS = 0.2, 32, 170
SENTENCE = "The keeper walks down to the harbour because the lamp has gone out and a boat is late. "


def written(path: Path, moviechat: Path | None, number: int = VIDEOS) -> int:
    """Write the videos to discuss, as JSON Lines with context; return how many there are."""
    if moviechat is None:
        pairs = [{"question": f"What is in place {n}?", "answer": "A lamp."} for n in range(3)]
        videos = {f"film{n}": (pairs, {"genre": "drama"}) for n in range(number)}
    else:
        from reelbench.studio.discussion_files import read_videos

        videos = {
            video.name: (list(video.qa), dict(video.metadata))
            for video in read_videos(moviechat, 8)
        }
    with path.open("w", encoding="utf-8") as file:
        for name, (pairs, metadata) in videos.items():
            context = [f"{SENTENCE * 6}This is answer {place} on {name}." for place in range(8)]
            file.write(
                json.dumps({"video": name, "metadata": metadata, "qa": pairs, "context": context})
                + "\n"
            )
    return len(videos)


def command(videos: Path, out: Path, home: Path, url: str, built: Path | None = None) -> Run:
    """Run the command once, in a process of its own; `built` is the folder of another commit."""
    models = [part for role in DISCUSSION for part in ("--llm", f"{role}={role}")]
    where = ["--llm-url", url, "--llm-concurrency", str(CONCURRENCY)]
    make = [
        Path(sys.executable).with_name("reelbench"),
        "make",
        "discussion",
        "--videos",
        videos,
        "--out",
        out,
    ]
    return run([*make, *where, *models], home, of_commit(built))


def against(base: Path, built: Path, runs: int) -> None:
    """Run another commit and this one in turn, cold and from the cache, and print both and their ratios."""
    cpu: dict[str, dict[str, list[float]]] = {"cold": {}, "from the cache": {}}
    wall: dict[str, list[float]] = {}
    with playing("roles", 0.0) as url:
        for turn in range(runs + 1):  # the first is not counted: modules are compiled
            for name, version in (("before", built), ("now", None)):
                home, out = base / f"home_{name}_{turn}", base / name / "made"
                cold, cached = (
                    command(base / "videos.jsonl", out, home, url, version) for _ in range(2)
                )
                if turn:
                    cpu["cold"].setdefault(name, []).append(cold.cpu)
                    cpu["from the cache"].setdefault(name, []).append(cached.cpu)
                    wall.setdefault(name, []).append(cached.seconds)
        calls = counted(url)["calls"] // (2 * (runs + 1))
    for title, seconds in cpu.items():
        report(f"{title}, seconds of the processor", seconds, "before")
    report("from the cache, seconds by the clock", wall, "before")
    ms = {name: [1e3 * value / calls for value in values] for name, values in cpu["cold"].items()}
    more = {name: [1e3 * (a - b) / calls for a, b in zip(values, cpu["from the cache"][name], strict=True)]
            for name, values in cpu["cold"].items()}  # fmt: skip
    report(
        f"{calls} calls, of the processor a call, the process's start and the files included",
        ms,
        "before",
        "ms",
    )
    report("of these, what a call costs beyond one that is in the cache", more, "before", "ms")
    same = sorted(file.name for file in (base / "now" / "made").iterdir())
    differ = filecmp.cmpfiles(base / "before" / "made", base / "now" / "made", same, shallow=False)
    print(
        f"load {os.getloadavg()[0]:.1f}; files that are the same: {', '.join(differ[0])}; others: "
        f"{differ[1:]}"
    )


def main() -> None:
    """Measure a cold run and one from the cache."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "moviechat", nargs="?", type=Path, help="MovieChat's questions, as one JSON file"
    )
    parser.add_argument("--videos", type=int, default=VIDEOS, help="how many made-up videos")
    parser.add_argument(
        "--against",
        metavar="BUILT",
        type=Path,
        help="another commit's `built`, to run in turn with",
    )
    parser.add_argument("--runs", type=int, default=5, help="of each, against another commit")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        count = written(base / "videos.jsonl", given.moviechat, given.videos)
        print(f"{count} videos")
        if given.against is not None:
            against(base, given.against.absolute(), given.runs)
            return
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
