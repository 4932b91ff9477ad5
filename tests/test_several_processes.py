"""One run by several processes, in batches, and by lmms-eval alone: the same answers, and one result."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from reelbench.registry.errors import InputError
from reelbench.registry.files import read_jsonl
from reelbench.registry.records import Result
from reelbench.tasks.lmms import process
from tests.program import app
from tools import adapters as tool

pytestmark = pytest.mark.lmms
RUN = ("--tasks", "rextime_mini", "--model", "reelbench_baseline", "--model_args", "kind=random,seed=3")


def test_two_processes_leave_the_result_of_one(reelbench, tmp_path):
    results, samples = [], []
    for number in (1, 2):
        output = tmp_path / str(number)
        done = reelbench("run", "--processes", number, "--", *RUN, "--output_path", output)
        assert done.returncode == 0, done.stderr
        if number == 2:
            assert "Running on rank 1" in done.stdout + done.stderr
        folder = output / "reelbench" / "rextime_mini"
        samples.append((folder / "samples.jsonl").read_bytes())
        results.append(Result.model_validate_json((folder / "result.json").read_text()))
    assert samples[0] == samples[1]
    assert results[0].metrics == results[1].metrics
    assert results[0].counts == results[1].counts


def test_a_sweep_of_several_processes_is_refused():
    with pytest.raises(InputError, match="--processes is for one run"):
        CliRunner().invoke(
            app, ["run", "--processes", "2", "--frames-sweep", "0,8", "--", *RUN], catch_exceptions=False
        )


FRAMES = "fps:3,size=64"
"""More frames of one clip than of another, so that a batch holds clips of two lengths."""


def answers_of(folder):
    """What a run's record says, but how long each answer took and how the model was to be asked."""
    result = Result.model_validate_json((folder / "result.json").read_text())
    samples = [
        {name: value for name, value in line.items() if name != "seconds"}
        for _, line in read_jsonl(folder / "samples.jsonl")
    ]
    return (
        samples,
        result.metrics,
        result.counts,
        result.settings,
        result.benchmark,
        result.model.model_copy(update={"args": {}}),
    )


@pytest.fixture(scope="module")
def by_run(tiny_vlm, tmp_path_factory):
    """A home of numbered clips, lmms-eval's arguments, and the answers by `run`."""
    work = tmp_path_factory.mktemp("by_run")
    home = tool.numbered_clips(work / "home")
    words = ["--tasks", "rextime_mini", "--model", "qwen2_5_vl", "--limit", "8", "--gen_kwargs", "max_new_tokens=8"]
    words += ["--log_samples", "--model_args", tool.PIXELS.format(model=tiny_vlm)]
    environ = {**os.environ, "REELBENCH_HOME": str(home)}
    return environ, words, answers_of(reelbench_run(environ, words, work / "out"))


def reelbench_run(environ, words, output, *options):
    command = [
        sys.executable,
        "-m",
        "reelbench",
        "run",
        "--frames",
        FRAMES,
        *options,
        "--",
        *words,
        "--output_path",
        str(output),
    ]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(output.rglob("reelbench/rextime_mini"))


@pytest.mark.parametrize("way", ["run, batch 2", "run, 2 processes", "bare", "bare, 2 processes"])
def test_answers_and_records_are_those_of_one_process(by_run, way, tmp_path):
    environ, words, expected = by_run
    if way.startswith("run"):
        options = ["--processes", "2"] if way.endswith("processes") else []
        batch = ["--batch_size", "2"] if way.endswith("batch 2") else []
        assert answers_of(reelbench_run(environ, [*words, *batch], tmp_path, *options)) == expected
        return
    several = [*process._ACCELERATE, "--num_processes", "2", "-m"] if way.endswith("processes") else []
    words = [*words[:-1], f"{words[-1]},max_num_frames=100000"]  # as the documents say
    command = [sys.executable, "-m", *several, "lmms_eval", *words, "--output_path", str(tmp_path)]
    subprocess.run(command, env=environ | {"REELBENCH_FRAMES": FRAMES}, check=True, capture_output=True)
    scored = [sys.executable, "-m", "reelbench", "score", "--run", str(tmp_path)]
    subprocess.run(scored, env=environ, check=True, capture_output=True)
    assert answers_of(next(tmp_path.rglob("reelbench/rextime_mini"))) == expected
