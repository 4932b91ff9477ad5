"""Peak memory of asking with 64 at once and 32 pictures of 720p each: flat in the number of questions.

python -m perf.memory [--questions 64 256] [--frames uniform:32,size=224]
"""

import argparse
import sys
import tempfile
from pathlib import Path

from perf.measure import playing, run
from perf.waiting import FRAMES, write_films, write_questions

FILMS, AT_ONCE = 4, 64
PEAK = """
import atexit, re, runpy, sys
def told(path=sys.argv.pop(1)):
    open(path, "w").write(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
atexit.register(told)
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""
"""Runs a module as a program; its peak, in KiB, goes to a file."""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--frames", default=FRAMES)
    asked = parser.parse_args()
    print(f"{'questions':>10} {'ask':>10} {'lmms-eval openai':>18}   peak MiB")
    for number in asked.questions:
        with tempfile.TemporaryDirectory() as name, playing("judge", 1.0) as url:
            folder = Path(name)
            write_films(folder, FILMS, 20)
            ours = write_questions(folder, FILMS, number // FILMS)
            python, told = (sys.executable, "-c", PEAK), folder / "peak"
            ask = (
                "reelbench",
                "ask",
                ours,
                "--llm",
                "m",
                "--llm-url",
                url,
                "--frames",
                asked.frames,
            )
            model = f"model=n,base_url={url},api_key=none,num_concurrent={AT_ONCE}"
            bare = ("lmms_eval", "--model", "openai", "--model_args", model, "--tasks", "waiting")
            peaks: list[str] = []
            for words in (
                (*ask, "--llm-concurrency", str(AT_ONCE), "--output", folder / "asked"),
                (*bare, "--batch_size", "1", "--output_path", folder / "ran", "--log_samples"),
            ):
                more = {"REELBENCH_MEDIA": str(folder), "HF_HOME": str(folder / "hf")}
                more |= {"REELBENCH_FRAMES": asked.frames, "REELBENCH_BENCHMARKS": str(ours)}
                run((*python, told, *words), folder / "home", more)
                peaks.append(f"{int(told.read_text()) / 1024:.0f}")
        print(f"{number:10} {peaks[0]:>10} {peaks[1]:>18}", flush=True)


if __name__ == "__main__":
    main()
