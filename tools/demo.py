"""`make demo`: every mini benchmark, with a tiny real model and with a baseline, through real lmms-eval processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tiny_vlm import write

from reelbench.cli import console
from reelbench.judges import results

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "demo_output"
TASKS = "reelbench_mini,dramaqa_cogme_mini"


def main() -> None:
    """Run both models and print one table."""
    shutil.rmtree(OUT, ignore_errors=True)
    checkpoint = OUT / "tiny-vlm"
    if not checkpoint.is_dir():
        write(checkpoint)
    small = "device=cpu,device_map=cpu,max_num_frames=4,min_pixels=3136,max_pixels=12544"
    models = {
        "tiny-vlm": ["--model", "qwen2_5_vl", "--model_args", f"pretrained={checkpoint},{small}"],
        "baseline": ["--model", "reelbench_baseline", "--model_args", "kind=whole_video"],
    }
    for name, arguments in models.items():
        console.note(f"running {TASKS} with {name} …")
        _run(name, [*arguments, "--tasks", TASKS, "--gen_kwargs", "max_new_tokens=8"])
    _show()
    _build()


def _run(name: str, arguments: list[str]) -> None:
    log = OUT / f"{name}.log"
    command = [
        Path(sys.executable).with_name("reelbench"),
        "run",
        "--",
        *arguments,
        "--output_path",
        OUT / f"{name}-run",
    ]
    # qwen_vl_utils prefers a torchcodec that is installed, even one that can't find its FFmpeg libraries.
    environ = os.environ | {"HF_HUB_OFFLINE": "1", "FORCE_QWENVL_VIDEO_READER": "decord"}
    with log.open("w", encoding="utf-8") as file:
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environ, check=False).returncode
    if status:
        console.note(log.read_text(encoding="utf-8")[-4000:])
        sys.exit(f"demo: {name} failed with exit status {status}; the whole log is {log}")


def _show() -> None:
    found = [results.read(path.parent) for path in sorted(OUT.rglob(results.RESULT_FILE))]
    table = console.table("Reelbench on the mini splits", "benchmark", "metric", *(f"#{r}" for r in _models(found)))
    for benchmark in dict.fromkeys(f"{result.benchmark.id} {result.benchmark.split}" for result in found):
        same = {r.model.id: r for r in found if f"{r.benchmark.id} {r.benchmark.split}" == benchmark}
        for metric in next(iter(same.values())).metrics:
            values = [same[model].metrics[metric].value for model in _models(found)]
            table.add_row(benchmark, metric, *("N/A" if value is None else f"{value:.2f}" for value in values))
    console.show(table)
    console.write("N/A: needs a judge; `reelbench score --run demo_output/tiny-vlm-run --judge MODEL` would finish it.")


def _build() -> None:
    """File every scored result in a store and build the leaderboard's page from it."""
    reelbench, store = Path(sys.executable).with_name("reelbench"), OUT / "store"
    for name in ("tiny-vlm-run", "baseline-run"):
        subprocess.run(
            [reelbench, "leaderboard", "add", OUT / name, "--store", store], check=True, stdout=subprocess.DEVNULL
        )
    site = OUT / "site"
    subprocess.run(
        [reelbench, "leaderboard", "build", "--store", store, "--out", site], check=True, stdout=subprocess.DEVNULL
    )
    console.write(f"The leaderboard's page: {site / 'index.html'}")


def _models(found: list[results.Result]) -> list[str]:
    return list(dict.fromkeys(result.model.id for result in found))


if __name__ == "__main__":
    main()
