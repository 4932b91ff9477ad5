"""Runs of lmms-eval in this process: what tests of ways of asking share."""

import contextlib
import io
import json
import sys

from reelbench.base.files import write_text

SMALL = {"max_new_tokens": 12}


def functions(spec):
    """What lmms-eval is given for a benchmark's tasks."""
    from reelbench.tasks.lmms import codegen
    from reelbench.tasks.lmms.task import LmmsTask

    return LmmsTask(spec) if spec.file else codegen.functions(spec.id)


def evaluate(model, model_args, task, *, limit=2, gen_kwargs=None, **options):
    """Run a task of ours -> what lmms-eval gives back."""
    from lmms_eval.evaluator import simple_evaluate

    given = ",".join(f"{name}={value}" for name, value in (SMALL | (gen_kwargs or {})).items())
    with contextlib.redirect_stdout(io.StringIO()):
        return simple_evaluate(
            model=model,
            model_args=model_args,
            tasks=[task],
            limit=limit,
            log_samples=True,
            gen_kwargs=given,
            **options,
        )


def samples(done):
    """Our samples, as a run logs them."""
    [logged] = done["samples"].values()
    details = [
        next(v for v in line.values() if isinstance(v, dict) and "sample" in v) for line in logged
    ]
    return [detail["sample"] for detail in details]


def texts(done):
    """What the adapter said of each question, in the questions' order."""
    [logged] = done["samples"].values()
    return [line["resps"][0][0].strip() for line in logged]


def written(done, folder):
    """Write a run down as lmms-eval does; returns its folder."""
    [(task, logged)] = done["samples"].items()
    document = {key: done[key] for key in ("results", "configs", "config")}
    write_text(folder / "1_results.json", json.dumps(document, default=str))
    lines = [json.dumps(sample, default=str) + "\n" for sample in logged]
    write_text(folder / f"1_samples_{task}.jsonl", "".join(lines))
    return folder


def command(monkeypatch, arguments, environ):
    """Run lmms-eval's own command line in this process, which has imported it already."""
    from lmms_eval.__main__ import cli_evaluate

    with monkeypatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["lmms-eval", *map(str, arguments)])
        cli_evaluate()


def run_here(monkeypatch, *words, status=0):
    """Run `reelbench`, and lmms-eval where it starts that, in this process -> what it printed, or its one line."""
    from typer.testing import CliRunner

    from reelbench.base.errors import ReelbenchError
    from reelbench.tasks.lmms import process
    from tests.program import app

    monkeypatch.setattr(
        process, "lmms_eval", lambda args, env, *_, **_kw: command(monkeypatch, args, env)
    )
    done = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(
        done.exception, ReelbenchError
    ):  # as `main` ends it: its own status, and one line
        assert (done.exception.exit_code, status) == (status, done.exception.exit_code), (
            done.exception
        )
        return str(done.exception)
    assert done.exit_code == status, (done.output, done.exception)
    return done.output


def worker_here(monkeypatch):
    """Have the runs of a sweep share this process, which has imported lmms-eval, as they share a worker's."""
    import lmms_eval.models  # noqa: F401 - its plugins wrap the same method first, and for good
    from lmms_eval.api.model import lmms

    from reelbench.tasks.lmms.worker import ModelCache, Worker

    monkeypatch.setattr(
        lmms, "create_from_arg_string", lmms.__dict__["create_from_arg_string"]
    )  # as it was, later
    models = ModelCache()
    models.watch()

    def run(self, arguments, environ=None, *_):
        command(monkeypatch, arguments, environ or {})
        self.loads = models.loads

    monkeypatch.setattr(Worker, "__call__", run)


def small(model, tiny_vlm, tmp_path_factory):
    """A tiny model of its own architecture for an adapter -> model_args, frames, options of `evaluate`."""
    from tests import tiny_models

    on_cpu = "device=cpu,device_map=cpu"
    if model == "qwen2_5_vl":
        pixels = "min_pixels=3136,max_pixels=12544,max_num_frames=4"
        return f"pretrained={tiny_vlm},{on_cpu},{pixels}", "uniform:4,size=64", {}
    if model == "llava_hf":  # its class for chats takes no pictures by their paths
        folder = tiny_models.llava(tmp_path_factory.mktemp("llava"))
        return (
            f"pretrained={folder},{on_cpu}",
            "uniform:2,size=64,as=images",
            {"force_simple": True},
        )
    folder = tiny_models.stripe(tmp_path_factory.mktemp("stripe"))
    return f"pretrained={folder},{on_cpu},trust_remote_code=True", "uniform:4,size=64", {}
