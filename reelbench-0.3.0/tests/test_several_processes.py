"""One run by several processes, in batches, and by lmms-eval alone: the same answers, and one result."""

import os
import subprocess
import sys
from unittest import mock

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from reelbench.base.files import read_jsonl
from reelbench.registry.records import Result
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.lmms import process
from reelbench.tasks.lmms.run_logs import logged_tasks
from reelbench.tasks.score import Options
from reelbench.tasks.score_runs import score_logged
from tests.program import app
from tools import adapters as tool

pytestmark = pytest.mark.lmms


def test_a_sweep_of_several_processes_is_refused():
    with pytest.raises(InputError, match="--processes is for one run"):
        CliRunner().invoke(
            app,
            [
                "run",
                "--processes",
                "2",
                "--frames-sweep",
                "0,8",
                "--",
                "--tasks",
                "rextime_mini",
                "--model",
                "dummy",
            ],
            catch_exceptions=False,
        )


SAMPLING = FrameSampling.parse("fps:3,size=64")
"""More frames of one clip than of another, so that a batch holds clips of two lengths."""


def answers_of(folder):
    """What a run's record says, but how long each answer took and how the model was to be asked."""
    result = Result.model_validate_json((folder / "result.json").read_text())
    lines = [line for _, line in read_jsonl(folder / "samples.jsonl")]
    samples = [{name: value for name, value in line.items() if name != "seconds"} for line in lines]
    model = result.model.model_copy(update={"args": {}})
    return samples, result.metrics, result.counts, result.settings, result.benchmark, model


def by_run(words, output):
    process.run_and_score(
        [*words, "--output_path", str(output)], output, SAMPLING, Options(), start=tool.here
    )
    return answers_of(next(output.rglob("reelbench/rextime_mini")))


def bare(words, output, *, processes=1):
    words = [
        *words[:-1],
        f"{words[-1]},max_num_frames=100000",
        "--output_path",
        str(output),
    ]  # as is said by `run`
    if processes == 1:
        tool.here(words, {"REELBENCH_FRAMES": str(SAMPLING)})
    else:
        command = [
            sys.executable,
            "-m",
            *process._ACCELERATE,
            "--num_processes",
            str(processes),
            "-m",
            "lmms_eval",
        ]
        subprocess.run(
            [*command, *words], env={**os.environ, "REELBENCH_FRAMES": str(SAMPLING)}, check=True
        )
    [logged] = logged_tasks(output)
    score_logged(logged, output / "scores", Options())
    return answers_of(output / "scores")


@pytest.fixture(scope="module")
def asked(tiny_vlm, tmp_path_factory):
    """lmms-eval's arguments, on numbered clips of two lengths, and what they give by `run`, alone in one process."""
    work = tmp_path_factory.mktemp("asked")
    words = [
        "--tasks",
        "rextime_mini",
        "--model",
        "qwen2_5_vl",
        "--limit",
        "8",
        "--gen_kwargs",
        "max_new_tokens=8",
    ]
    words += ["--log_samples", "--model_args", tool.PIXELS.format(model=tiny_vlm)]
    home = {"REELBENCH_HOME": str(tool.numbered_clips(work / "home"))}
    with mock.patch.dict(os.environ, home), mock.patch.object(sys, "argv", []):
        yield home["REELBENCH_HOME"], words, by_run(words, work / "out")


@pytest.mark.parametrize("way", ["run, batch 2", "bare", "run, 2 processes", "bare, 2 processes"])
def test_answers_and_records_are_those_of_one_process(asked, way, tmp_path, monkeypatch, reelbench):
    home, words, expected = asked
    monkeypatch.setenv("REELBENCH_HOME", home)  # each test has one of its own
    match way:
        case "run, batch 2":
            assert by_run(["--batch_size", "2", *words], tmp_path) == expected
        case "bare":
            assert bare(words, tmp_path) == expected
        case "run, 2 processes":
            asked_for = ("run", "--processes", "2", "--frames", str(SAMPLING), "--")
            done = reelbench(*asked_for, *words, "--output_path", tmp_path)
            assert done.returncode == 0, done.stderr
            assert "Running on rank 1" in done.stdout + done.stderr
            assert answers_of(next(tmp_path.rglob("reelbench/rextime_mini"))) == expected
        case _:
            assert bare(words, tmp_path, processes=2) == expected
    assert len({sample["prediction"] for sample in expected[0]}) > 1
