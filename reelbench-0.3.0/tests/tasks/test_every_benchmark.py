"""What holds for every benchmark, a new one included: its spec, its YAML, its mini data and its prompt agree."""

import json
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import reelbench
from reelbench import registry
from reelbench.registry import prompts, rows
from reelbench.registry.prompts import prompt_sha256
from reelbench.registry.reasons import Reason
from reelbench.registry.spec import Corpus
from reelbench.registry.splits import is_mini, upstream_split
from reelbench.scoring import aggregation
from reelbench.tasks.lmms import codegen
from reelbench.video import library as media
from tests import lmms_runs
from tests.scoring.answers.test_reading import HOSTILE

SPECS = registry.specs()
TASKS = [(spec, task) for spec in SPECS.values() if not spec.file for task in spec.tasks]
each_benchmark = pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
each_task = pytest.mark.parametrize(("spec", "task"), TASKS, ids=[task.name for _, task in TASKS])


def folder(spec):
    return Path(import_module(spec.package).__path__[0])


class _Loader(yaml.SafeLoader):
    """Reads `!function a.b.c` as the dotted name."""


_Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def read_yaml(path):
    config = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a SafeLoader
    if included := config.pop("include", None):
        config = {**read_yaml(path.parent / included), **config}
    return config


def imported(dotted):
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def mini_splits(spec):
    return [task.split for task in spec.tasks if is_mini(task.split) and not task.only]


@each_benchmark
class TestEveryBenchmark:
    def test_the_spec_says_who_what_and_where(self, spec):
        assert (spec.paper.bibtex if spec.paper else spec.citation).startswith("@")
        assert spec.homepage.startswith("https://")
        assert spec.primary.in_breakdowns
        assert all(metric.in_unit.high is not None for metric in spec.metrics)
        assert (folder(spec) / "README.md").is_file()

    def test_it_has_a_yaml_per_task_and_no_other(self, spec):
        configs = {path.name: read_yaml(path) for path in folder(spec).rglob("*.yaml")}
        tasks = {name: config["task"] for name, config in configs.items() if "task" in config}
        if spec.file:  # its tasks are made when they are asked for, and lmms-eval must not take the file for one
            assert (tasks, configs.keys()) == ({}, {"benchmark.yaml"})
            return
        assert tasks == {f"{task.name}.yaml": task.name for task in spec.tasks}
        declared = {"spec.yaml"}  # or in Python
        assert configs.keys() - tasks.keys() - declared == set()

    def test_its_mini_rows_are_read_by_the_same_reader(self, spec):
        for split in mini_splits(spec):
            dataset = reelbench.load(spec.id, split)
            assert 3 <= len(dataset) <= 40
            assert dataset.features == rows.features(spec)
            assert {row["split"] for row in dataset} == {split}
            assert len(set(dataset["id"])) == len(dataset)

    def test_its_mini_media_are_real_and_made_once(self, spec):
        library = media.Library(spec, "mini")
        row = reelbench.load(spec.id, "mini")[0]
        first = library.find(row)
        assert first is not None
        assert library.find(row) == first

    def test_its_prompt_holds_the_question_and_every_option(self, spec):
        task = lmms_runs.functions(spec)
        for row in reelbench.load(spec.id, "mini"):
            prompt = task.doc_to_text(row)
            assert row["question"] in prompt
            assert all(option in prompt for option in row.get("options", ()))
            assert "{" not in prompt.replace('{"', "")
        assert len(prompt_sha256(spec)) == 64

    def test_its_prompts_name_only_what_rows_have(self, spec):
        prompts.check(spec)

    def test_the_right_answer_gets_the_highest_score_and_silence_the_lowest(self, spec):
        dataset = list(reelbench.load(spec.id, "mini"))
        task = lmms_runs.functions(spec)
        unjudged = [m for m in spec.metrics if not m.judged and not isinstance(m.aggregate, Corpus)]

        def values(answer):
            samples = [aggregation.to_sample(spec, task.item(row, answer(row))) for row in dataset]
            return {
                metric.name: aggregation.metric_value(spec, metric, samples) for metric in unjudged
            }

        def right(row):
            said = {name: row[name] for name in ("answer", "span") if name in row}
            return json.dumps(said) if said.keys() & {"span"} or "options" in row else row["answer"]

        assert values(right) == {metric.name: metric.in_unit.high for metric in unjudged}
        assert values(lambda _: "") == {metric.name: metric.in_unit.low for metric in unjudged}

    def test_no_answer_is_not_a_wrong_answer(self, spec):
        row = reelbench.load(spec.id, "mini")[0]
        task = lmms_runs.functions(spec)
        for marker in (
            "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timeout",
            "[LMMS_EVAL_BUDGET_EXCEEDED]",
        ):
            sample = aggregation.to_sample(spec, task.item(row, marker))
            assert (sample.state, sample.reason, sample.scores) == ("unscored", "model_failed", {})

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
    def test_a_hostile_answer_is_an_answer(self, spec, text):
        row = reelbench.load(spec.id, "mini")[0]
        task = lmms_runs.functions(spec)
        sample = task.process_results(row, [text])[spec.primary.name]["sample"]
        # In a run an opening tag that is never closed says that the run's limit cut the answer off.
        assert sample["reason"] in (
            (Reason.CUT_OFF,) if text == HOSTILE["reasoning"] else (None, "judge_unavailable")
        )

    def test_judged_metrics_without_a_judge_are_none_and_never_zero(self, spec):
        row = reelbench.load(spec.id, "mini")[0]
        task = lmms_runs.functions(spec)
        details = task.process_results(row, ["an answer"])
        for metric in spec.metrics:
            if metric.judged:
                assert "score" not in details[metric.name]
                assert task.aggregate([details[metric.name]]) is None

    def test_a_run_without_a_judge_says_so_once_and_one_that_is_judged_afterwards_does_not(
        self, spec, caplog, monkeypatch
    ):
        task = lmms_runs.functions(spec)
        details = task.process_results(reelbench.load(spec.id, "mini")[0], ["an answer"])
        for environ in ({}, {"REELBENCH_JUDGE": ""}):
            monkeypatch.delenv("REELBENCH_JUDGE", raising=False)
            for name, value in environ.items():
                monkeypatch.setenv(name, value)
            caplog.clear()
            for metric in spec.metrics:
                if not isinstance(metric.aggregate, Corpus):
                    task.aggregate([details[metric.name]])
            assert caplog.text.count("no judge is named") == (spec.primary.judged and not environ)


@each_task
class TestEveryTask:
    def test_its_files_are_what_the_spec_writes(self, spec, task):
        name = f"{task.name}.yaml"
        assert (folder(spec) / name).read_text(encoding="utf-8") == codegen.files_of(spec)[name], (
            "run make tasks"
        )

    def test_lmms_eval_reads_in_its_yaml_what_the_spec_says(self, spec, task):
        config = read_yaml(folder(spec) / f"{task.name}.yaml")
        assert config["task"] == task.name
        assert "include" not in config  # which lmms-eval would look for in the working folder first
        assert config["metadata"] == {"version": spec.version}
        assert config["test_split"] == task.split
        assert config["output_type"] == "generate_until"
        assert config["generation_kwargs"]["until"] == []
        assert config["dataset_kwargs"] == {"load_from_disk": True}
        assert config["cluster_key"] == "video"
        names = [entry["metric"] for entry in config["metric_list"]]
        hidden = spec.splits[upstream_split(spec, task.split)].hidden_answers
        assert names == (["submission"] if hidden else [metric.name for metric in spec.metrics])
        tags = set(config.get("tag", ()))
        if (
            not task.plain
        ):  # cues, or what not every model can give: it never runs with those that all can be asked
            assert not tags
        elif is_mini(task.split):
            assert tags == {"reelbench_mini"}
        else:
            assert ("reelbench" in tags) == (spec.open_data and not task.only)

    def test_every_function_that_its_yaml_names_is_there(self, spec, task):
        config = read_yaml(folder(spec) / f"{task.name}.yaml")
        for key in (
            "doc_to_messages",
            "doc_to_visual",
            "doc_to_text",
            "doc_to_target",
            "process_docs",
            "process_results",
        ):
            assert callable(imported(config[key]))
        assert all(callable(imported(entry["aggregation"])) for entry in config["metric_list"])
        assert imported(config["dataset_path"]).task == task.name
