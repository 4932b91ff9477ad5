"""The sections of a card on how answers are scored, and on published results."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from reelbench.base.errors import DataUnavailableError
from reelbench.data.loading import locate
from reelbench.pages.markdown import Sources, inert, lower, table
from reelbench.registry import spec as specs
from reelbench.registry.parity import parity
from reelbench.registry.spec import BenchmarkSpec, Metric, PublishedResult


def scoring(spec: BenchmarkSpec) -> dict[str, object]:
    """Return the metrics, the judge, the facets, and the rows that can't be scored."""
    sources = Sources()
    lines: list[list[str]] = []
    for metric, scope in _all_metrics(spec):
        name = f"`{metric.name}`"
        if metric is spec.primary:
            name += " (primary)"
        origin = _metric_origin(metric) + scope
        source = sources.number(metric.cite)
        lines.append([name, metric.title, metric.in_unit.label, origin, source])
    judge = spec.judge
    judge_calls = "one call per answer"
    if judge and len(judge.criteria) > 1:
        criteria = ", ".join(judge.criteria)
        judge_calls = f"the {len(judge.criteria)} criteria {criteria}, one call each"
    facets = [f"`{facet.name}` ({lower(facet.title)})" for facet in spec.facets]
    return {
        "version": spec.version,
        "metrics": table(["Metric", "Name", "Unit", "From", "#Source"], lines),
        "metric_sources": sources.source_list() or None,
        "judge": judge and judge.default_model,
        "judge_low": judge and judge.low,
        "judge_high": judge and judge.high,
        "judge_asked": judge_calls,
        "facets": "; ".join(facets) or None,
        "parity": inert(parity(spec) or "") or None,
        "unreadable": _unreadable_rows_note(spec),
    }


def _unreadable_rows_note(spec: BenchmarkSpec) -> str | None:
    """Return the numbers of rows that can't be read, where these are left out."""
    if not spec.mapping or not spec.mapping.skip:
        return None
    paragraphs: list[str] = []
    for split in spec.splits:
        with suppress(DataUnavailableError):
            unreadable, all_rows = locate(spec.id, split, fetch=False).left_out
            if unreadable:
                paragraphs.append(
                    f"{unreadable:,} of {all_rows:,} rows of `{split}` can't be read and are left "
                    "out."
                )
    return "\n\n".join(paragraphs) or None


class _ScopedMetric(NamedTuple):
    """A metric, and for which labels it is given."""

    metric: Metric
    scope: str = ""


def _all_metrics(spec: BenchmarkSpec) -> list[_ScopedMetric]:
    """Return the metrics, then those that facets have of their own."""
    metrics = [_ScopedMetric(metric) for metric in spec.metrics]
    facet_metrics: list[Metric] = []
    for facet in spec.facets:
        facet_metrics += [metric for metric in facet.metrics if metric not in facet_metrics]
    for metric in facet_metrics:
        facets = [f"`{facet.name}`" for facet in spec.facets if metric in facet.metrics]
        names = ", ".join(facets)
        metrics.append(_ScopedMetric(metric, f", for each label of {names}"))
    return metrics


def _metric_origin(metric: Metric) -> str:
    """Say from what a metric is computed."""
    how = metric.aggregate
    if isinstance(how, specs.MeanOf):
        names = [f"`{name}`" for name in how.metrics]
        return "mean of " + ", ".join(names)
    if isinstance(how, specs.Corpus):
        return "all answers at once"
    scale = ""
    if how.scale != 1:
        scale = f", times {how.scale:g}"
    if isinstance(how, specs.Mean | specs.Macro) and how.lowest:
        scale = f" less {how.lowest:g}{scale}"
    if isinstance(how, specs.Grouped):
        return f"mean over groups of `{how.column}`, combined by each group's rule{scale}"
    if isinstance(how, specs.Macro):
        within = ""
        if how.within:
            within = f" (each over `{how.within}`)"
        return f"mean over `{how.facet}`{within} of the means of `{how.column}`{scale}"
    weight = ""
    if how.weight_by and how.weights:
        weights = [f"{label} {value:g}" for label, value in how.weights.items()]
        listed = ", ".join(weights)
        weight = f", weighted by `{how.weight_by}` ({listed})"
    elif how.weight_by:
        weight = f"; a question counts once for each label of `{how.weight_by}`"
    return f"mean of `{how.column}` over questions{weight}{scale}"


# --- published results
# ----------------------------------------------------------------------------------------------


def results(spec: BenchmarkSpec) -> str:
    """Return the published numbers, a table for each split, subset and judge."""
    if not spec.published:
        return "None recorded."
    sources = Sources()
    groups: dict[str, list[PublishedResult]] = {}
    for result in spec.published:
        groups.setdefault(_group_title(result), []).append(result)
    declared = [metric.name for metric, _ in _all_metrics(spec)]
    parts = [
        "As published, not run for this card. Compare numbers only within one table and setting."
    ]
    for title, group in groups.items():
        parts.append(f"**{title}**\n\n{_results_table(group, declared, sources)}")
    parts.append(sources.source_list())
    return "\n\n".join(parts)


def _group_title(result: PublishedResult) -> str:
    title = f"`{result.split}`"
    if result.subset:
        title += f", {result.subset}"
    if result.unranked:
        title += f", {result.unranked} (not ranked)"
    if result.judge:
        title += f", judged by {result.judge}"
    return title


def _results_table(group: list[PublishedResult], declared: list[str], sources: Sources) -> str:
    """Return the table of some results, with the declared metrics first."""
    names_in_group: set[str] = set()
    for result in group:
        names_in_group.update(result.metrics)
    names = [name for name in declared if name in names_in_group]
    names += sorted(names_in_group - set(declared))
    decimals = _decimals_of_metrics(group)
    lines: list[list[str]] = []
    for result in group:
        model = result.model
        if result.label:
            model += f" ({result.label})"
        citation = _cite_result(result)
        line = [
            model,
            result.setting,
            *_result_cells(result, names, decimals),
            result.frames or "",
            sources.number(citation),
        ]
        lines.append(line)
    metric_heads = [f"#`{name}`" for name in names]
    heads = ["Model", "Setting", *metric_heads, "Frames", "#Source"]
    return table(heads, lines)


_Decimals = Mapping[tuple[str, str], int]
"""Source and metric -> the decimals that it was printed with."""


def _result_cells(result: PublishedResult, names: list[str], decimals: _Decimals) -> list[str]:
    """Return a result's numbers, with a dash where it has none."""
    numbers: list[str] = []
    for name in names:
        number = "–"
        if name in result.metrics:
            digits = decimals[result.cite, name]
            value = result.metrics[name]
            number = f"{value:.{digits}f}"
        numbers.append(number)
    return numbers


def _decimals_of_metrics(group: list[PublishedResult]) -> _Decimals:
    """Return the decimals of each source's metrics.

    A source's table has one precision: what it printed as 4.00 is not to stand as 4, nor 42.2 as
    42.20.
    """
    decimals: Counter[tuple[str, str]] = Counter()
    for result in group:
        for name, value in result.metrics.items():
            _, _, digits = f"{value:g}".partition(".")
            key = (result.cite, name)
            decimals[key] = max(decimals[key], len(digits))
    return decimals


def _cite_result(result: PublishedResult) -> str:
    citation = result.cite
    if result.verified != "V":
        citation += " (from a third party, not seen in the source)"
    if result.note:
        citation += f". {result.note}"
    return citation
