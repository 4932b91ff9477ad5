"""`reelbench run --processes N`: accelerate starts lmms-eval, the questions are divided, and the result is one."""

import pytest
from typer.testing import CliRunner

from reelbench.registry.errors import InputError
from reelbench.registry.records import Result
from tests.program import app

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
