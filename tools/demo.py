"""`make demo`: every mini benchmark, with a tiny real model and with a baseline, through real lmms-eval processes."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tiny_vlm import write
from transformers.utils.logging import disable_progress_bar

from reelbench.cli import console
from reelbench.judges import results
from reelbench.registry import discovery
from reelbench.registry.records import Result

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "demo_output"
REELBENCH = Path(sys.executable).with_name("reelbench")
TASKS = "reelbench_mini,dramaqa_cogme_mini"
SMALL = "device=cpu,device_map=cpu,max_num_frames=4,min_pixels=3136,max_pixels=12544"
MODELS = {
    "tiny-vlm": f"qwen2_5_vl --model_args pretrained={{}},{SMALL}",
    "baseline": "reelbench_baseline --model_args kind=whole_video",
}


def main() -> None:
    """Run both models at once, file their results, and say what came of it."""
    shutil.rmtree(OUT, ignore_errors=True)
    console.note(
        "Two models answer the mini benchmarks, a dozen questions of ours each: a Qwen2.5-VL of 1 MB whose weights are "
        "random, and a baseline that says A and the whole video. One to three minutes …"
    )
    disable_progress_bar()
    checkpoint = write(OUT / "tiny-vlm")
    running = {name: _start(name, arguments.format(checkpoint)) for name, arguments in MODELS.items()}
    for name, process in running.items():
        if status := process.wait():
            console.note(_log(name).read_text(encoding="utf-8")[-4000:])
            sys.exit(f"demo: {name} failed with exit status {status}; the whole log is {_log(name)}")
    for name in MODELS:
        _reelbench("leaderboard", "add", _run(name), "--store", OUT / "store")
    # Without what others published, of which there is far more: the page is to show what was just run.
    _reelbench("leaderboard", "build", "--store", OUT / "store", "--out", OUT / "site", "--no-published")
    _show()


def _run(name: str) -> Path:
    return OUT / f"{name}-run"


def _log(name: str) -> Path:
    return OUT / f"{name}.log"


def _start(name: str, model: str) -> subprocess.Popen[bytes]:
    told = ["--model", *model.split(" "), "--tasks", TASKS, "--gen_kwargs", "max_new_tokens=8"]
    # qwen_vl_utils prefers a torchcodec that is installed, even one that can't find its FFmpeg libraries.
    environ = os.environ | {"HF_HUB_OFFLINE": "1", "FORCE_QWENVL_VIDEO_READER": "decord"}
    command = [REELBENCH, "run", "--", *told, "--output_path", _run(name)]
    with _log(name).open("wb") as file:
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environ)


def _reelbench(*arguments: str | Path) -> None:
    done = subprocess.run([REELBENCH, *arguments], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"demo: {' '.join(map(str, arguments))}\n{done.stderr}")


def _show() -> None:
    table = console.table("", "task", "metric", "unit", *(f"#{name}" for name in MODELS))
    judged = []
    for task, of_model in sorted(_by_task().items()):
        first = of_model["tiny-vlm"]
        spec = discovery.get(first.benchmark.id)
        judged += [spec.title] if spec.primary.judged else []
        # A split whose answers are not public has no metrics.
        for metric in (metric for metric in spec.metrics if metric.name in first.metrics and not metric.judged):
            values = [of_model[name].metrics[metric.name].value for name in MODELS]
            unit = metric.in_unit
            table.add_row(
                task, metric.name, unit.label, *("–" if v is None else f"{v:.{unit.digits}f}" for v in values)
            )
    console.show(table)
    here, reelbench = _short(OUT), _short(REELBENCH)
    console.write(
        f"""tiny-vlm's weights are random, so its numbers are noise: what you have seen is that all of it runs.

{" and ".join(judged)} rank by an LLM judge, which was not asked. With a server of yours:
    {reelbench} score --run {here}/tiny-vlm-run --judge MODEL --judge-url http://localhost:8000/v1
A model of yours, on the same questions:
    {reelbench} run --frames uniform:32 -- --tasks reelbench_mini --model qwen2_5_vl --model_args pretrained=…

every answer, and what was made of it    {here}/*-run/**/samples.jsonl
the leaderboard's page, of these runs    {here}/site/index.html"""
    )


def _by_task() -> dict[str, dict[str, Result]]:
    """Return task -> model -> result; a run's scores lie in folders named after their tasks."""
    found: dict[str, dict[str, Result]] = defaultdict(dict)
    for name in MODELS:
        for path in _run(name).rglob(results.RESULT_FILE):
            found[path.parent.name][name] = results.read(path.parent)
    return found


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    main()
