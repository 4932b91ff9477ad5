"""The metric that ranks, as the key `primary` of a `benchmark.yaml` declares it."""

from collections.abc import Mapping, Sequence

from reelbench.base.errors import InputError
from reelbench.registry.benchmark_block import Block
from reelbench.registry.metrics import Macro, Mean, Metric

_MOST_FACETS = 2


def primary_first(root: Block, metrics: Sequence[Metric], facets: Sequence[str]) -> list[Metric]:
    """Return the metrics in order, the one that ranks first.

    Args:
        root: The whole file.
        metrics: The metrics of the benchmark's kind.
        facets: Names of its facets.
    """
    if isinstance(root.values.get("primary"), Block):
        return [_macro_metric(root.block("primary"), metrics, facets), *metrics]
    names = [metric.name for metric in metrics]
    primary = root.text("primary") or names[0]
    if primary not in names:
        raise root.error(f"primary is {primary!r}; there are {', '.join(names)}", "primary")
    ranked = sorted(metrics, key=lambda metric: metric.name != primary)
    if ranked[0].in_unit.lower_is_better:
        raise root.error(
            f"primary: {primary} is an error, for which lower is better, and tables rank from the "
            f"highest; use {names[0]}, and {primary} is shown next to it",
            "primary",
        )
    return ranked


def _macro_metric(block: Block, metrics: Sequence[Metric], facets: Sequence[str]) -> Metric:
    """Return the mean over labels of another metric."""
    over = block.texts("macro")
    if not 1 <= len(over) <= _MOST_FACETS:
        raise block.error("primary.macro is a facet, or two: [part, task]", "macro")
    for name in over:
        if name not in facets:
            raise _no_facet(block, name, facets)
    metric = _averaged_metric(block, {metric.name: metric for metric in metrics})
    mean = metric.aggregate
    if metric.in_unit.lower_is_better:
        raise block.error(
            f"primary.of: {metric.name} is an error, and tables rank from the highest", "of"
        )
    if not isinstance(mean, Mean) or mean.weight_by is not None:
        raise block.error(
            f"primary.of: {metric.name} is not a plain mean over questions, so it has no mean over "
            "labels",
            "of",
        )
    within = over[1] if len(over) == _MOST_FACETS else None
    words = " of the mean over ".join(f"`{name}`" for name in over)
    return Metric(
        name=f"{metric.name}_macro",
        title=f"{metric.title}, mean over {over[0]}",
        unit=metric.unit,
        aggregate=Macro(
            column=mean.column,
            facet=over[0],
            scale=mean.scale,
            lowest=mean.lowest,
            within=within,
        ),
        judged=metric.judged,
        about=f"{metric.title} by label: the plain mean over {words}.",
    )


def _no_facet(block: Block, name: str, facets: Sequence[str]) -> InputError:
    listed = ", ".join(facets) or "no facets"
    with_it = ", ".join([*facets, name])
    return block.error(
        f"primary.macro: {name!r} is not a facet; there are {listed}; the key facets: [{with_it}] "
        f"makes it one (of `new`: --set 'facets=[{with_it}]')",
        "macro",
    )


def _averaged_metric(block: Block, metric_by_name: Mapping[str, Metric]) -> Metric:
    """Return the metric that `of` names, by default the first that is a mean."""
    name = block.text("of") or _first_mean(metric_by_name)
    if "right" in metric_by_name and block.text("of") is None:
        raise block.error(
            f"primary.of is missing: there are two kinds of questions, and {name} is for one of "
            "them only; `of: right` is the mean over all",
            "macro",
        )
    if name not in metric_by_name:
        listed = ", ".join(metric_by_name)
        raise block.error(f"primary.of is {name!r}; there are {listed}", "of")
    return metric_by_name[name]


def _first_mean(metric_by_name: Mapping[str, Metric]) -> str:
    for name, metric in metric_by_name.items():
        if isinstance(metric.aggregate, Mean):
            return name
    return ""
