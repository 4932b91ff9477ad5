"""What a benchmark is, and what this machine has: both answer offline, without data, and end with 0."""

import json
from importlib.metadata import metadata

import pytest
from typer.testing import CliRunner

from reelbench import registry
from tests.program import app


def run(*arguments, env=None):
    done = CliRunner().invoke(app, list(arguments), env=env, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("name", sorted(registry.specs()))
def test_info_says_what_a_benchmark_asks(name):
    spec = registry.specs()[name]
    facts = json.loads(run("info", name, "--json"))
    assert facts["splits"].keys() == spec.splits.keys()
    assert next(iter(facts["metrics"])) == spec.primary.name
    assert facts["licence"] == spec.license
    shown = run("info", name)
    assert facts["question"].splitlines()[0] in shown
    assert all(task in shown for task in facts["tasks"])


def test_a_task_is_its_benchmark():
    assert json.loads(run("info", "rextime_test", "--json"))["default_split"] == "test"


def test_doctor_knows_versions_folders_and_settings_without_their_secrets(tmp_path):
    secrets = {
        "OPENAI_API_KEY": "sk-very-secret",
        "REELBENCH_JUDGE_URL": "http://ada:pass-word@judge.example/v1?key=hush#frag",
    }
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "judge.sqlite").write_bytes(b"x" * 30_000_000)
    env = {
        **secrets,
        "REELBENCH_HOME": str(tmp_path / "home"),
        "REELBENCH_MEDIA": f"{tmp_path}:/no/such",
    }
    printed = run("doctor", "--json", env=env)
    report = json.loads(printed)
    assert not any(
        secret in printed for secret in ("sk-very-secret", "pass-word", "ada", "hush", "frag")
    )
    assert report["settings"]["REELBENCH_JUDGE_URL"] == "http://***@judge.example/v1?***#***"
    assert report["folders"]["replies"] == f"{tmp_path / 'home' / 'judge.sqlite'} (0.03 GB)"
    assert report["folders"]["media"] == f"{tmp_path} (here), /no/such (not there)"
    assert report["packages"]["numpy"]
    assert sorted(report["extras"]) == sorted(metadata("reelbench").get_all("Provides-Extra"))
    assert report["extras"]["lmms-eval"]["lmms-eval"]
    assert "FFmpeg" in report["tools"]["decoder"]


def test_doctor_shows_what_an_adapter_is_given():
    report = json.loads(run("doctor", "--adapter", "qwen3_vl", "--json"))
    assert report.keys() == {"qwen3_vl"}
    assert report["qwen3_vl"]["is shown"] == "a clip"
    assert report["qwen3_vl"]["arguments added"] == "fps=1000000,max_num_frames=4"
    assert report["qwen3_vl"]["clip"].startswith("exact")  # read back by `make adapters`
    text = run("doctor", "--adapter", "nobody_knows")
    assert "pictures; this adapter is untested" in text
    assert "as=clip hands over a clip" in text


def test_doctor_says_where_replies_are_kept_without_a_password():
    env = {"REELBENCH_CACHE": "postgresql://ada:pass-word@db.example/replies"}
    printed = run("doctor", "--json", env=env)
    assert json.loads(printed)["folders"]["replies"] == "postgresql://***@db.example/replies"
    assert "pass-word" not in printed


def test_doctor_goes_on_over_what_is_broken(tmp_path):
    (tmp_path / "home").write_text("a file where a folder should be", encoding="utf-8")
    text = run(
        "doctor", env={"REELBENCH_HOME": str(tmp_path / "home"), "REELBENCH_FRAMES_CAP_GB": "much"}
    )
    assert "failed: " in text
    assert "rextime" in text
