"""The main job: a bare lmms-eval on our tasks, with a real tiny VLM, over the wire, simple and chat."""

import base64
import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import av
import pytest

from reelbench import registry
from reelbench.data import loading
from tests import lmms_runs
from tests.servers.judge import Answer, JudgeServer

pytestmark = pytest.mark.lmms

REXTIME = {metric.name for metric in registry.get("rextime").metrics}
OVERLAP = {"bleu4", "cider", "meteor"}


def check(results):
    """Every metric that needs no judge is a number, and every judged one is None."""
    for task, metrics in results.items():
        spec = registry.get(task.removesuffix("_mini"))
        for metric in spec.metrics:
            value = metrics[f"{metric.name},none"]
            if metric.judged:
                assert value is None, (task, metric.name)
            else:
                assert isinstance(value, float), (task, metric.name)
                assert metric.in_unit.low <= value <= metric.in_unit.high


def lmms_eval(*arguments, env=None, cwd=None):
    command = [Path(sys.executable).with_name("lmms-eval"), *map(str, arguments)]
    return subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )


def plant(folder, *names):
    """Write YAML that names code, which leaves a file where it is run, as a stranger's working folder may have it."""
    for name in names:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("doc_to_text: !function planted.text\n")
        path.with_name("planted.py").write_text(
            f"open({str(folder / 'ran')!r}, 'w').close()\ntext = str\n"
        )


def logged(output):
    (path,) = output.rglob("*_results.json")
    return json.loads(path.read_text(encoding="utf-8"))


class TestTheCommand:
    def test_a_real_vlm_decodes_real_clips_and_every_metric_ends_as_it_should(
        self, tiny_vlm, tmp_path
    ):
        out = tmp_path / "out put"
        small = "device=cpu,device_map=cpu,max_num_frames=4,min_pixels=3136,max_pixels=12544"
        tasks = "moviecore_mini,rextime_mini,rextime_test_mini"
        plant(tmp_path, "_rextime.yaml", "_moviecore.yaml", f"{tasks}/any.yaml")
        done = lmms_eval(
            "--tasks", tasks,
            "--model", "qwen2_5_vl", "--model_args", f"pretrained={tiny_vlm},{small}",
            "--gen_kwargs", "max_new_tokens=4", "--log_samples", "--output_path", out,
            cwd=tmp_path, env={"HF_TOKEN": "hf-of-the-user"},
        )  # fmt: skip
        assert not (tmp_path / "ran").exists(), "code of the working folder was run"
        assert "hf-of-the-user" not in done.stdout + done.stderr
        results = logged(out)["results"]
        assert done.returncode == 0, done.stderr
        submission = results.pop("rextime_test_mini")
        check(results)
        assert submission["submission,none"] is None
        table = [
            line.split("|")
            for line in done.stdout.splitlines()
            if line.startswith("|moviecore_mini")
        ]
        shown = {row[4].strip(): row[6].strip() for row in table}
        assert shown["average"] == "N/A"
        assert shown["meteor"] != "N/A"
        (file,) = out.rglob("*submission_rextime_test_mini.jsonl")
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert len(lines) == 6
        assert all(line.keys() == {"qid", "pred_relevant_windows", "ans"} for line in lines)
        assert all(len(line["pred_relevant_windows"][0]) == 2 for line in lines)

    def test_run_fails_when_lmms_eval_failed(self, reelbench, tmp_path):
        # lmms-eval itself exits with 0 where a model can't be set up.
        model = ("--model", "reelbench_baseline", "--model_args", "answer=none")
        done = reelbench(
            "run", "--", "--tasks", "rextime_mini", *model, "--output_path", tmp_path, timeout=1800
        )
        assert done.returncode == 1
        assert (
            done.stderr.strip()
            .splitlines()[-1]
            .startswith("reelbench: lmms-eval ended without results")
        )

    def test_a_task_that_nobody_has_ends_run_before_lmms_eval_starts(self, reelbench, tmp_path):
        done = reelbench(
            "run", "--", "--tasks", "no_such_task", "--model", "dummy", "--output_path", tmp_path
        )
        assert done.returncode == 2
        assert done.stderr.startswith(
            "reelbench: --tasks no_such_task: neither Reelbench nor lmms-eval has such a task"
        )

    def test_run_fails_where_every_request_failed_and_says_what_the_server_said(
        self, monkeypatch, tmp_path
    ):
        def script(call):
            return Answer("A") if call.path.startswith("/v1/") else Answer(status=404)

        with JudgeServer(script) as server:
            url = server.url.removesuffix("/v1")
            monkeypatch.setenv("OPENAI_API_KEY", "x")
            last = lmms_runs.run_here(
                monkeypatch, "run", "--frames", "none", "--", "--tasks", "rextime_mini", "--limit", "2",
                "--model", "openai", "--model_args", f"model=m,base_url={url},max_retries=1",
                "--output_path", tmp_path, status=1,
            )  # fmt: skip
        assert last.startswith(
            "rextime: 2 of 2 answers are missing: the model failed: Error code: 404"
        )
        assert "scripted 404" in last
        assert last.endswith(f"{url} has no path, and most servers have /v1: add it to base_url")

    @pytest.mark.representative
    def test_run_scores_what_was_logged(self, reelbench, tmp_path):
        done = reelbench(
            "run", "--json", "--", "--tasks", "rextime_mini,moviecore_mini", "--model", "reelbench_baseline",
            "--model_args", "kind=whole_video", "--limit", "6", "--output_path", tmp_path, timeout=1800,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        printed = [
            document["benchmark"] for document in json.loads(done.stdout)
        ]  # and nothing else
        assert sorted(printed) == ["moviecore", "rextime"]
        (path,) = tmp_path.rglob("reelbench/rextime_mini/result.json")
        result = json.loads(path.read_text(encoding="utf-8"))
        assert result["model"]["id"] == "reelbench/baseline-whole_video"
        assert result["settings"]["limit"] == 6
        assert result["benchmark"]["source"]["kind"] == "mini"
        # Worked by hand from the six rows: spans of 1, 1/2 and 1/2 of the video, twice; right are
        # A, B, C, D, A, B.
        assert round(result["metrics"]["miou"]["value"], 2) == 66.67
        assert round(result["metrics"]["accuracy"]["value"], 2) == 33.33
        assert "await a judge, and none was named" in done.stderr


@pytest.fixture(scope="module")
def evaluate():
    """Run lmms-eval in this process: it is imported once for all tests, and its tasks are indexed once per model."""
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    managers = {}

    def run(model, model_args, tasks, **options):
        if model not in managers:
            managers[model] = TaskManager(model_name=model)
        with contextlib.redirect_stdout(io.StringIO()):
            return simple_evaluate(
                model=model,
                model_args=model_args,
                tasks=tasks,
                task_manager=managers[model],
                **options,
            )

    return run


class TestFromPython:
    def test_a_simple_model(self, evaluate):
        done = evaluate("dummy", "response=B", ["moviecore_mini", "rextime_mini"])
        check(done["results"])
        rows = loading.load("rextime_mini")
        right = 100 * sum(row["answer"] == "B" for row in rows) / len(rows)
        assert done["results"]["rextime_mini"]["accuracy,none"] == pytest.approx(right)
        assert done["results"]["rextime_mini"]["miou,none"] == 0

    def test_a_model_behind_a_server_is_sent_real_frames_and_the_question(
        self, evaluate, monkeypatch
    ):
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        # Frames of a video that lmms-eval 0.7.3 reads itself may reach the server mixed up
        # (FOOTGUNS); ours can't.
        monkeypatch.setenv("REELBENCH_FRAMES", "uniform:4")
        reply = '{"span": [0, 5], "answer": "A"}'
        with JudgeServer(lambda _: Answer(reply)) as server:
            arguments = f"model=m,base_url={server.url},num_concurrent=2,max_frames_num=4"
            done = evaluate("openai", arguments, ["moviecore_mini", "rextime_mini"], limit=3)
        check(done["results"])
        assert len(server.calls) == 6  # and none to a judge: an OPENAI_API_KEY alone asks none
        for call in server.calls:
            parts = call.body["messages"][-1]["content"]
            images = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
            assert len(images) == 4
            assert len(set(images)) == 4  # the square moves: no frame is another
            for url in images:
                picture = base64.b64decode(url.partition("base64,")[2])
                with av.open(io.BytesIO(picture)) as container:
                    assert next(container.decode(video=0)).width > 0
            assert any(part.get("text", "").strip() for part in parts)

    @pytest.mark.parametrize("kind", ["whole_video", "first_option", "echo", "random"])
    @pytest.mark.parametrize("simple", [False, True], ids=["chat", "simple"])
    def test_the_baseline_is_a_floor_for_both_kinds_of_model(self, kind, simple, evaluate):
        done = evaluate(
            "reelbench_baseline",
            f"kind={kind},seed=1",
            ["moviecore_mini", "rextime_mini"],
            force_simple=simple,
        )
        check(done["results"])
        rextime = done["results"]["rextime_mini"]
        rows = loading.load("rextime_mini")
        share_of_a = 100 * sum(row["answer"] == "A" for row in rows) / len(rows)
        if kind in ("whole_video", "first_option"):
            assert rextime["accuracy,none"] == pytest.approx(share_of_a)
        assert (rextime["miou,none"] > 0) == (kind in ("whole_video", "random"))

    def test_a_seed_repeats_and_another_differs(self, evaluate):
        def answers(seed):
            done = evaluate(
                "reelbench_baseline", f"kind=random,seed={seed}", ["rextime_mini"], log_samples=True
            )
            return [sample["filtered_resps"] for sample in done["samples"]["rextime_mini"]]

        assert answers(1) == answers(1) != answers(2)


class TestTheIndex:
    @pytest.fixture(autouse=True)
    def _registered(self):
        import lmms_eval.models  # noqa: F401 - loads the entry points of models, as each run does first

    @pytest.mark.parametrize(
        "broken",
        [
            "- a\n- list\n",
            "",
            "task: [a, b]\n",
            "task: x\n  bad: [indent",
            "task: !function no.such.thing\n",
        ],
    )
    def test_a_broken_yaml_of_ours_never_breaks_it(self, broken, tmp_path, monkeypatch):
        import shutil

        from lmms_eval.tasks import TaskManager

        from reelbench import lmms_eval_plugin
        from reelbench.registry import discovery

        ours = tmp_path / "rextime_in_a_package_of_its_own"
        shutil.copytree(lmms_eval_plugin.tasks_folder() / "rextime", ours)
        (ours / "broken.yaml").write_text(broken, encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        known = discovery.registry()
        packages = tuple(
            ours.name if name.endswith(".rextime") else name for name in known.packages
        )
        monkeypatch.setattr(discovery, "registry", lambda: replace(known, packages=packages))
        whole = broken.startswith(
            "-"
        )  # lmms-eval's own thousand tasks take seconds to index: once is enough
        manager = TaskManager(include_defaults=whole)
        assert "moviecore_mini" in manager.all_tasks
        assert ("mmmu_val" in manager.all_tasks) == whole

    def test_the_tags_hold_the_tasks_with_open_data(self):
        from lmms_eval.tasks import TaskManager

        manager = TaskManager()
        tags = {
            name: set(manager.task_index[name]["task"]) for name in ("reelbench", "reelbench_mini")
        }
        assert {"moviecore", "rextime", "rextime_test"} <= tags["reelbench"]
        assert {"moviecore_mini", "rextime_mini", "rextime_test_mini"} <= tags["reelbench_mini"]
        assert not {name for name in tags["reelbench"] if name.startswith("dramaqa")}

    def test_lmms_eval_s_own_are_listed_once_in_a_process(self, monkeypatch):
        from lmms_eval import tasks

        first = tasks.TaskManager()
        read = tasks.utils.load_yaml_config

        def ours_alone(yaml_path=None, *how, **named):
            assert "/lmms_eval/tasks/" not in str(yaml_path)
            return read(yaml_path, *how, **named)

        monkeypatch.setattr(tasks.utils, "load_yaml_config", ours_alone)
        second = tasks.TaskManager()
        assert second.task_index == first.task_index
        assert second.task_index["mmmu_val"] is not first.task_index["mmmu_val"]
