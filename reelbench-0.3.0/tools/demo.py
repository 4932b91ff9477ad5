"""`make demo`: the mini benchmarks measured, a data set made, errors taken apart, and the pages of all that.

Everything is real but for two things, which it says: the model's weights are random, and what
language models would say in the second half is written by hand (`demo_models`).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from reelbench.base.files import read_json, read_jsonl, write_jsonl, write_text
from reelbench.registry import discovery
from reelbench.registry.records import Result
from reelbench.scoring import result_files
from reelbench.terminal import console
from tests.servers.judge import JudgeServer
from tools import demo_models

ROOT = Path(__file__).resolve().parent.parent
REELBENCH = Path(sys.executable).with_name("reelbench")
TASKS = "moviecore_mini,moviechat_mini,curve_mini,rextime_mini,dramaqa_cogme_mini"
SMALL = "device=cpu,device_map=cpu,max_num_frames=4,min_pixels=3136,max_pixels=12544"
MODELS = {
    "baseline": "reelbench_baseline --model_args kind=whole_video",
    "tiny-vlm": f"qwen2_5_vl --model_args pretrained={{}},{SMALL}",
}


def main(out: Path) -> None:
    """Run the models in one process while the rest is made beside it, then say what came of it all."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    console.note(
        "Two models answer the mini benchmarks, a dozen questions of ours each: a Qwen2.5-VL of 1 "
        "MB whose weights are "
        "random, and a baseline that says A and the whole video. One to two minutes on an idle "
        "machine …"
    )
    log = out / "runs.log"
    with log.open("wb") as file:
        command = [sys.executable, "-m", "tools.demo", "--runs", out]
        runs = subprocess.Popen(command, cwd=ROOT, stdout=file, stderr=subprocess.STDOUT)
    try:
        with JudgeServer(demo_models.reply) as server:
            _make(out, server.url)
            _diagnose(out, server.url)
        if status := runs.wait():
            console.note(log.read_text(encoding="utf-8")[-4000:])
            sys.exit(
                f"demo: the models' runs failed with exit status {status}; the whole log is {log}"
            )
    finally:
        runs.kill()
    _reelbench("leaderboard", "add", out / "runs", "--store", out / "store")
    # Without what others published, of which there is far more: the page is to show what was just
    # run.
    _reelbench(
        "leaderboard", "build", "--store", out / "store", "--out", out / "site", "--no-published"
    )
    _show(out)


def run_models(out: Path) -> None:
    """Run the models one after the other, so that lmms-eval is imported once."""
    from reelbench.tasks.lmms import process
    from reelbench.tasks.lmms.worker import Worker
    from reelbench.tasks.score import Options
    from tools.tiny_vlm import write

    # qwen_vl_utils prefers a torchcodec that is installed, even one that can't find its FFmpeg
    # libraries.
    environ = {"HF_HUB_OFFLINE": "1", "FORCE_QWENVL_VIDEO_READER": "decord"}
    with ThreadPoolExecutor(1) as beside, Worker() as kept:
        checkpoint = beside.submit(write, out / "tiny-vlm")
        for name, model in MODELS.items():
            told = model if name == "baseline" else model.format(checkpoint.result())
            words = [
                "--model",
                *told.split(" "),
                "--tasks",
                TASKS,
                "--gen_kwargs",
                "max_new_tokens=8",
            ]
            arguments, output = process.with_logging(
                [*words, "--output_path", str(out / "runs" / name)]
            )
            options = Options(note=console.note)
            outcomes = process.run_and_score(
                arguments, output, None, options, environ=environ, start=kept
            )
            process.check_all_there(arguments, outcomes)


def _make(out: Path, url: str) -> None:
    captions = out / "captions.json"
    write_text(captions, json.dumps(demo_models.CAPTIONS))
    made = ("--captions", captions, *demo_models.MADE, "--llm-url", url, "--out", out / "made")
    _reelbench("make", "moments", *made, home=out / "home")
    _reelbench("make", "page", out / "made", "--video", "v_kettle", "--out", out / "made.html")


def _diagnose(out: Path, url: str) -> None:
    write_jsonl(out / "answers.jsonl", demo_models.ANSWERS)
    write_jsonl(out / "graphs.jsonl", demo_models.GRAPHS)
    judged = ("--predictions", out / "answers.jsonl", "--judge", "judge", "--judge-url", url)
    _reelbench("score", "curve_mini", *judged, "--output", out / "answers", home=out / "home")
    tagged = ("--graphs", out / "graphs.jsonl", *demo_models.DIAGNOSED, "--llm-url", url)
    _reelbench(
        "diagnose", "errors", out / "answers", *tagged, "--out", out / "errors", home=out / "home"
    )


def _reelbench(*arguments: str | Path, home: Path | None = None) -> None:
    """Run a command; with `home` for replies that no model gave, which are kept apart from the user's."""
    apart = {"REELBENCH_HOME": str(home), "OPENAI_API_KEY": "written-by-hand"} if home else {}
    done = subprocess.run(
        [REELBENCH, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=os.environ | apart,
    )
    if done.returncode:
        sys.exit(f"demo: {' '.join(map(str, arguments))}\n{done.stderr}")


# --- what is said
# ----------------------------------------------------------------------------------------------------


def _show(out: Path) -> None:
    here, reelbench = _short(out), _short(REELBENCH)
    _show_table(out, reelbench)
    _show_chain(out, reelbench)
    _show_diagnosis(out, reelbench)
    console.write(
        f"""
Next, on the same questions:
    {reelbench} run --frames uniform:32 -- --tasks reelbench_mini --model qwen2_5_vl --model_args pretrained=…
    {reelbench} eval rextime_mini --model MODEL --base-url http://localhost:8000/v1   a served model
    docs/index.md has recipes, {reelbench} list shows the benchmarks

Pages, for a browser:
    {here}/site/index.html        the leaderboard, of these two runs
    {here}/made.html              who said what about a question, and what survived
    {here}/errors/report.html     the errors, and each question's graph of evidence"""
    )


def _show_table(out: Path, reelbench: Path) -> None:
    """Show what needs no judge; the rest is one line that says how to judge it."""
    table = console.table("1. Measure", "task", "metric", "unit", *(f"#{name}" for name in MODELS))
    judged: dict[str, None] = {}
    for task, of_model in sorted(_by_task(out).items()):
        first = of_model["baseline"]
        spec = discovery.spec_of(first.benchmark)
        if spec.primary.judged:
            judged[spec.title] = None
            continue
        # A split whose answers are not public has no metrics.
        for metric in (metric for metric in spec.metrics if metric.name in first.metrics):
            values = [of_model[name].metrics[metric.name].value for name in MODELS]
            unit = metric.in_unit
            shown = ("–" if value is None else f"{value:.{unit.digits}f}" for value in values)
            table.add_row(task, metric.name, unit.label, *shown)
    console.show(table)
    console.write(
        "tiny-vlm's weights are random: its numbers are noise, and show that all of it runs.\n"
        f"{', '.join(judged)} rank by a judge, who was not asked:\n"
        f"    {reelbench} score --run {_short(out)}/runs/tiny-vlm --judge MODEL --judge-url "
        "http://localhost:8000/v1"
    )


def _show_chain(out: Path, reelbench: Path) -> None:
    title = "\n2. Make questions from captions (no model was asked: replies by hand)"
    table = console.table(title, "stage", "#in", "#out", "dropped")
    for stage in read_json(out / "made" / "funnel.json")["stages"]:
        dropped = ", ".join(f"{reason} {number}" for reason, number in stage["dropped"].items())
        table.add_row(stage["name"], str(stage["in"]), str(stage["out"]), dropped)
    console.show(table)
    row = read_json(out / "made" / "rextime.json")[0]
    options = "   ".join(
        f"{letter}. {text}" for letter, text in zip("ABCD", row["options"], strict=False)
    )
    console.write(
        f"{row['question']}\n    {options}\n    right: {row['ans']}, seen {row['span'][0]:g} to "
        f"{row['span'][1]:g} s"
    )
    console.write(
        f"    {reelbench} make moments --captions FILE --llm MODEL --llm-url URL --out DIR"
    )


def _show_diagnosis(out: Path, reelbench: Path) -> None:
    console.write(
        "\n3. Diagnose two wrong answers (likewise by hand): which piece of evidence is the first "
        "to be lost?"
    )
    evidence = {
        (graph["id"], node["id"]): node["evidence"]
        for graph in demo_models.GRAPHS
        for node in graph["nodes"]
    }
    said = {answer["id"]: answer["prediction"] for answer in demo_models.ANSWERS}
    for _, line in read_jsonl(out / "errors" / "isolation.jsonl"):
        for node, found in line["nodes"].items():
            if found["status"] == "wrong":
                console.write(
                    f'    "{said[line["id"]]}"\n        {found["label"]}: '
                    f"{evidence[line['id'], node]}"
                )
    console.write(
        f"    {reelbench} diagnose run curve_mini --llm MODEL --judge MODEL --out DIR -- --model "
        "… (lmms-eval's)"
    )


def _by_task(out: Path) -> dict[str, dict[str, Result]]:
    """Return task -> model -> result; a run's scores lie in folders named after their tasks."""
    found: dict[str, dict[str, Result]] = {}
    for name in MODELS:
        for path in (out / "runs" / name).rglob(result_files.RESULT_FILE):
            found.setdefault(path.parent.name, {})[name] = result_files.read(path.parent)
    return found


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "out",
        nargs="?",
        type=Path,
        default=ROOT / "demo_output",
        help="folder; replaced if it is there",
    )
    parser.add_argument(
        "--runs", action="store_true", help="only run the models, into a folder that is there"
    )
    told = parser.parse_args()
    (run_models if told.runs else main)(told.out.absolute())
