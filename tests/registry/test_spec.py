"""A benchmark's spec: what is wrong in one is said when it is made."""

from dataclasses import FrozenInstanceError, replace

import pytest

from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.registry.spec import (
    Column,
    Facet,
    HubFile,
    Macro,
    Mean,
    MeanOf,
    Metric,
    PublishedResult,
    SplitSpec,
    TaskSpec,
)


def metric(**fields):
    return Metric(
        **({"name": "m", "title": "M", "unit": "percent", "aggregate": Mean(column="c")} | fields)
    )


def published(**fields):
    defaults = {
        "model": "m",
        "split": "val",
        "setting": "zero-shot",
        "metrics": {"accuracy": 50},
        "cite": "here",
    }
    return PublishedResult(**(defaults | fields))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: metric(unit="per cent"), "Metric: unit is 'per cent', expected .*percent"),
        (lambda: metric(aggregate="mean"), "Metric: aggregate is 'mean'"),
        (lambda: metric(judged=1), "Metric: judged is 1, expected bool"),
        (
            lambda: TaskSpec(name="t", split="val", tags="reelbench"),
            "TaskSpec: tags is 'reelbench'",
        ),
        (
            lambda: TaskSpec(name="t", split="val", max_new_tokens=True),
            "max_new_tokens is True, expected int",
        ),
        (lambda: TaskSpec(name="t", split="val", only={"facet": 1}), "TaskSpec: only"),
        (lambda: HubFile(repo_id="a/b", filenames=("a", None)), "HubFile: filenames"),
        (lambda: SplitSpec(source={"kind": "hub"}), "SplitSpec: source"),
        (
            lambda: SplitSpec(source=HubFile(repo_id="a/b", filenames=("a",)), rows=1.0),
            "rows is 1.0",
        ),
        (lambda: Column(name="c", dtype="str", description=""), "Column: dtype is 'str'"),
        (lambda: published(setting="zero shot"), "setting is 'zero shot'"),
        (lambda: published(metrics={"accuracy": "50"}), "PublishedResult: metrics"),
        (lambda: published(breakdowns={"locale": {"de": 1.0}}), "PublishedResult: breakdowns"),
    ],
)
def test_a_value_of_another_type_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_an_unknown_field_and_a_change_are_refused():
    with pytest.raises(TypeError, match="colour"):
        metric(colour="red")
    with pytest.raises(FrozenInstanceError):
        metric().name = "n"


def test_whole_numbers_are_floats_and_lists_are_tuples():
    result = published(metrics={"accuracy": 50}, breakdowns={"locale": {"de": {"accuracy": 1}}})
    assert repr(result.metrics) == "{'accuracy': 50.0}"
    assert repr(result.breakdowns) == "{'locale': {'de': {'accuracy': 1.0}}}"
    assert repr(metric(right_from=4).right_from) == "4.0"
    assert TaskSpec(name="t", split="val", tags=["a"]).tags == ("a",)


BY_F = metric(aggregate=Mean(column="c", weight_by="f"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "ReXTime"}, "an id is lower-case"),
        ({"version": 0}, "versions begin at 1"),
        ({"metrics": (metric(), metric())}, "occurs twice"),
        ({"metrics": (metric(aggregate=MeanOf(metrics=("n",))),)}, "the mean of unknown metrics"),
        ({"metrics": (BY_F,)}, "unknown facet 'f'"),
        (
            {
                "facets": (
                    Facet(
                        name="g",
                        title="G",
                        metrics=(metric(aggregate=Mean(column="c", weight_by="f")),),
                    ),
                )
            },
            "'f'",
        ),
        ({"default_split": "dev"}, "default split 'dev'"),
        ({"tasks": (TaskSpec(name="t", split="val", only={"f": "x"}),)}, "picks by unknown facets"),
        ({"tasks": (TaskSpec(name="t", split="dev"),)}, "names an unknown split 'dev'"),
        ({"kinds": ("choice", "llm_judge")}, "go together"),
        (
            {"metrics": (metric(aggregate=Mean(column="corect")),)},
            "'corect', which nothing gives; there are iou, .*correct",
        ),
        (
            {"kinds": ("choice",)},
            "accuracy_at_iou_0.5 is over the column 'correct_at_iou_0.5', which nothing gives",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, message):
    with pytest.raises(InputError, match=f"^[A-Za-z]+: .*{message}"):
        replace(registry.get("rextime"), **changes)


def test_code_lies_in_the_package_unless_said():
    spec = registry.get("rextime")
    assert (spec.reader, spec.formats) == (
        "reelbench.tasks.rextime.data:read",
        "reelbench.tasks.rextime.formats",
    )
    assert replace(spec, reader="elsewhere:read").reader == "elsewhere:read"


def test_a_metric_of_which_one_part_is_no_mean_over_items_has_no_means():
    mean = Mean(column="correct")
    macro = Macro(column="correct", facet="f")
    metrics = (
        metric(name="mean", aggregate=mean),
        metric(name="macro", aggregate=macro),
        metric(name="of_mean", aggregate=MeanOf(metrics=("mean",))),
        metric(name="of_both", aggregate=MeanOf(metrics=("mean", "macro"))),
    )
    facets = (Facet(name="f", title="F"),)
    spec = replace(registry.get("rextime"), metrics=metrics, facets=facets)
    means = {each.name: spec.means_of(each) for each in metrics}
    assert means == {"mean": [mean], "macro": [], "of_mean": [mean], "of_both": []}
