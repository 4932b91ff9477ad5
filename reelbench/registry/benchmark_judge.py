"""The judge that a `benchmark.yaml` declares, and the metrics over its marks."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from reelbench.registry.benchmark_block import Block
from reelbench.registry.entry_points import benchmark_entries
from reelbench.registry.metrics import Mean, MeanOf, Metric, UnitName
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

_DEFAULT_JUDGE = "curve"
_USER_PROMPT = "user.txt"
_NO_CRITERIA = frozenset({"system", "readme", "notes", "license", "licence", "changelog"})
"""Names of files that are no criterion unless the file names them."""


@dataclass(frozen=True, slots=True)
class DeclaredJudge:
    """A judge, and the metrics over its marks."""

    judge: JudgeSpec
    metrics: tuple[Metric, ...]


def read_judge(block: Block, check_path: Callable[[Block, str, str], Path]) -> DeclaredJudge:
    """Return the judge of a folder of prompts, or of a benchmark of ours.

    Args:
        block: The mapping `judge`.
        check_path: Takes the block, a key and a path, and refuses one outside of the file's folder.
    """
    name = block.text("prompts") or _DEFAULT_JUDGE
    folder = block.path.parent / name
    if not folder.is_dir():
        return _judge_of_benchmark(block, name)
    for file in (folder, *folder.glob("*.txt")):
        check_path(block, "prompts", str(file))
    return _judge_of_folder(block, folder)


def _judge_of_benchmark(block: Block, name: str) -> DeclaredJudge:
    owner = _benchmark_called(name)
    if owner is None or owner.judge is None:
        what = f"judge.prompts is {name!r}, expected moviecore, curve, or a folder of prompts"
        raise block.error(what, "prompts")
    for key in ("scale", "criteria"):
        if key in block.values:
            raise block.error(
                f"judge.{key} goes with a folder of prompts; {name} has its own {key}", key
            )
    package, _, folder = owner.judge.prompts.rpartition(":")
    judge = replace(owner.judge, prompts=f"{package or owner.package}:{folder}")
    return DeclaredJudge(judge, tuple(_metrics_over_any_questions(owner.metrics)))


def _benchmark_called(name: str) -> BenchmarkSpec | None:
    for entry in benchmark_entries().select(name=name):
        spec = entry.load()
        if isinstance(spec, BenchmarkSpec):
            return spec
    return None


def _metrics_over_any_questions(metrics: Iterable[Metric]) -> list[Metric]:
    """Return a benchmark's judged metrics as plain means over any questions.

    These are the mean of each column, and before them the means of these metrics.
    """
    judged_metrics = [metric for metric in metrics if metric.judged]
    metric_of_column: dict[str, Metric] = {}
    for metric in judged_metrics:
        if isinstance(metric.aggregate, Mean):
            metric_of_column.setdefault(metric.aggregate.column, metric)
    means_of_columns = list(metric_of_column.values())
    names = {metric.name for metric in means_of_columns}
    means_of_metrics = [metric for metric in judged_metrics if _is_mean_of(metric, names)]
    return [_plain_metric(metric) for metric in means_of_metrics + means_of_columns]


def _is_mean_of(metric: Metric, names: set[str]) -> bool:
    mean = metric.aggregate
    return isinstance(mean, MeanOf) and names.issuperset(mean.metrics)


def _plain_metric(metric: Metric) -> Metric:
    aggregate = metric.aggregate
    if isinstance(aggregate, Mean):
        aggregate = Mean(column=aggregate.column, scale=aggregate.scale, lowest=aggregate.lowest)
    first_sentence = metric.about.partition(". ")[0].rstrip(".")
    return replace(
        metric,
        title=metric.title.partition(" (")[0],
        aggregate=aggregate,
        in_breakdowns=True,
        cite="",
        about=f"{first_sentence}.",
    )


def _judge_of_folder(block: Block, folder: Path) -> DeclaredJudge:
    criteria = _criteria_of_folder(block, folder)
    low, high = _read_scale(block)
    judge = JudgeSpec(criteria=criteria, low=low, high=high, default_model="", prompts=str(folder))
    return DeclaredJudge(judge, tuple(_metrics_of_criteria(criteria, low, high)))


def _criteria_of_folder(block: Block, folder: Path) -> tuple[str, ...]:
    """Return the criteria that the file names, or the only one that there is."""
    stems = sorted(file.stem for file in folder.glob("*.txt"))
    candidates = [stem for stem in stems if stem != "user"]
    if not candidates or not (folder / _USER_PROMPT).is_file():
        raise block.error(
            f"{folder}: expected user.txt and a <criterion>.txt for each criterion", "prompts"
        )
    named = tuple(dict.fromkeys(block.texts("criteria")))
    for criterion in named:
        if criterion not in candidates:
            raise block.error(
                f"judge.criteria: {criterion!r} has no file in {folder}; there are "
                f"{', '.join(candidates)}",
                "criteria",
            )
    return named or (_only_criterion(block, folder, candidates),)


def _only_criterion(block: Block, folder: Path, candidates: Sequence[str]) -> str:
    """Return the only file's criterion. InputError where the user has to name some."""
    likely = [stem for stem in candidates if _may_be_criterion(stem)]
    if len(candidates) == 1 and likely:
        return likely[0]
    files = ", ".join(f"{stem}.txt" for stem in candidates)
    example = next(iter(likely), "rating")
    raise block.error(
        f"{folder} has {files} besides user.txt, and each criterion costs a call for each answer: "
        f"name the criteria, such as criteria: [{example}]",
        "prompts",
    )


def _may_be_criterion(stem: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9_]*", stem) is not None and stem not in _NO_CRITERIA


def judge_in_words(spec: BenchmarkSpec, judge: JudgeSpec) -> str:
    """Return a line on a judge's prompts, criteria and scale, and on what ranks."""
    package, _, folder = judge.prompts.rpartition(":")
    name = package.rpartition(".")[2] or Path(folder).name
    scale = f"marks from {judge.low} to {judge.high}"
    if _unit_of_criterion(spec, judge.criteria[0]) == "percent":
        scale += f" ({judge.low} is 0 %, {judge.high} is 100 %)"
    else:
        scale += " (points)"
    criteria = ", ".join(judge.criteria)
    return f"judge: prompts {name}, criteria {criteria}, {scale}; {spec.primary.name} ranks"


def _unit_of_criterion(spec: BenchmarkSpec, criterion: str) -> str:
    """Return the unit of the mean of a criterion's marks. Empty where there is none."""
    for metric in spec.metrics:
        if isinstance(metric.aggregate, Mean) and metric.aggregate.column == criterion:
            return metric.unit
    return ""


def _read_scale(block: Block) -> tuple[int, int]:
    """Return the lowest and the highest mark."""
    ends = block.texts("scale")
    are_numbers = all(re.fullmatch(r"\d{1,4}", end) for end in ends)
    if len(ends) == 2 and are_numbers:  # noqa: PLR2004 - two ends
        low, high = map(int, ends)
        if low < high:
            return low, high
    raise block.error("judge.scale is the lowest and the highest mark, such as [0, 5]", "scale")


def _metrics_of_criteria(criteria: Sequence[str], low: int, high: int) -> list[Metric]:
    points: Any = f"points_{low}_{high}"
    unit: UnitName = "percent"
    factor = 100 / (high - low)
    about = f"A judge's marks, {low} to {high}; {low} is 0 % and {high} is 100 %."
    if points in get_args(UnitName):
        unit = points
        factor = 1.0
        about = f"A judge's marks, {low} to {high}."
    metrics = [
        Metric(
            name=criterion,
            title=title_of(criterion),
            unit=unit,
            aggregate=Mean(column=criterion, scale=factor, lowest=float(low)),
            judged=True,
            about=about,
        )
        for criterion in criteria
    ]
    if len(criteria) == 1:
        return metrics
    average = Metric(
        name="average",
        title="Average",
        unit=unit,
        aggregate=MeanOf(metrics=tuple(criteria)),
        judged=True,
        about=f"Mean of the {len(criteria)} criteria that a judge scores.",
    )
    return [average, *metrics]


def title_of(name: str) -> str:
    """Return the title of a metric or a facet that has only a name."""
    return name.replace("_", " ").capitalize()
