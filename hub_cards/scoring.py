"""A card on how the benchmark is scored, and what others published."""

from contextlib import suppress

from reelbench.hub_cards.material import Material
from reelbench.pages.markdown import Sources, lower, table
from reelbench.registry.data.loading import locate
from reelbench.registry.errors import DataUnavailableError
from reelbench.registry.parity import parity
from reelbench.registry.spec import BenchmarkSpec, Corpus, Grouped, Macro, MeanOf, Metric, PublishedResult


def scoring(material: Material) -> str:
    """Metrics with units, the judge, facets, and what becomes of items that can't be scored."""
    spec = material.spec
    sources = Sources()
    made = table(
        ["Metric", "Name", "Unit", "From", "#Source"],
        [
            [
                f"`{metric.name}`" + (" (primary)" if metric is spec.primary else ""),
                metric.title,
                metric.in_unit.label,
                _how(metric) + of,
                sources.number(metric.cite),
            ]
            for metric, of in _metrics(spec)
        ],
    )
    parts = [
        f"Comparability version {spec.version}: results with another version are not comparable. Higher is better.",
        made,
        sources.listed(),
    ]
    if spec.judge:
        judge = spec.judge
        asked = (
            f"the {len(judge.criteria)} criteria {', '.join(judge.criteria)}, one call each"
            if len(judge.criteria) > 1
            else "one call per answer"
        )
        parts.append(
            f"A judge model gives whole points from {judge.low} to {judge.high}: {asked}. The authors' judge is "
            f"`{judge.default_model}`. A result records the judge that answered and its prompts; results of different "
            "judges or prompts are not comparable."
        )
    if spec.facets:
        parts.append(
            "Broken down by " + "; ".join(f"`{facet.name}` ({lower(facet.title)})" for facet in spec.facets) + "."
        )
    parts.append(parity(spec) or "")
    for split in spec.splits if spec.mapping and spec.mapping.skip else ():
        with suppress(DataUnavailableError):
            lost, rows = locate(spec.id, split, fetch=False).left_out
            parts += [f"{lost:,} of {rows:,} rows of `{split}` can't be read and are left out."] if lost else []
    parts.append(
        "An answer that doesn't parse counts as wrong. An item that could not be scored (its video is missing, the "
        "judge didn't answer) is left out of the means and reported as unscored. Intervals, where a metric has one, "
        "are 95 % bootstraps over videos, since questions share a video."
    )
    return "\n\n".join(filter(None, parts))


def _metrics(spec: BenchmarkSpec) -> list[tuple[Metric, str]]:
    """Return the metrics, then those that facets have of their own, with what they are given for."""
    own: list[Metric] = []
    for facet in spec.facets:
        own.extend(metric for metric in facet.metrics if metric not in own)
    given = [
        (metric, ", ".join(f"`{facet.name}`" for facet in spec.facets if metric in facet.metrics)) for metric in own
    ]
    return [
        *((metric, "") for metric in spec.metrics),
        *((metric, f", for each label of {of}") for metric, of in given),
    ]


def _how(metric: Metric) -> str:
    how = metric.aggregate
    if isinstance(how, MeanOf):
        return "mean of " + ", ".join(f"`{name}`" for name in how.metrics)
    if isinstance(how, Corpus):
        return "all answers at once"
    scale = "" if how.scale == 1 else f", times {how.scale:g}"
    if isinstance(how, Grouped):
        return f"mean over groups of what their rule makes of `{how.column}`{scale}"
    if isinstance(how, Macro):
        return f"mean over `{how.facet}` of the means of `{how.column}`{scale}"
    weight = f", a question counting once for each label of `{how.weight_by}`" if how.weight_by else ""
    if weight and how.weights:
        weight = f", weighted by `{how.weight_by}` ({', '.join(f'{k} {v:g}' for k, v in how.weights.items())})"
    return f"mean of `{how.column}` over questions{weight}{scale}"


def results(material: Material) -> str:
    """Published numbers, a table for each split, subset and judge, and where they stand."""
    spec = material.spec
    if not spec.published:
        return "None are recorded."
    sources = Sources()
    groups: dict[str, list[PublishedResult]] = {}
    for row in spec.published:
        parts = (f"`{row.split}`", row.subset, row.unranked and f"{row.unranked} (not ranked)")
        judge = f", judged by {row.judge}" if row.judge else ""
        groups.setdefault(", ".join(filter(None, parts)) + judge, []).append(row)
    declared = [metric.name for metric, _ in _metrics(spec)]
    tables: list[str] = []
    for title, group in groups.items():
        given = {name for row in group for name in row.metrics}
        names = [name for name in declared if name in given] + sorted(given - set(declared))
        # A source's table has one precision: what it printed as 4.00 is not to stand as 4, nor 42.2 as 42.20.
        decimals: dict[tuple[str, str], int] = {}
        for row in group:
            for name, value in row.metrics.items():
                decimals[row.cite, name] = max(decimals.get((row.cite, name), 0), len(f"{value:g}".partition(".")[2]))
        lines = []
        for row in group:
            numbers = (
                f"{row.metrics[name]:.{decimals[row.cite, name]}f}" if name in row.metrics else "–" for name in names
            )
            cited = row.cite + ("" if row.verified == "V" else " (from a third party, not seen in the source)")
            source = sources.number(f"{cited}. {row.note}" if row.note else cited)
            model = f"{row.model} ({row.label})" if row.label else row.model
            lines.append([model, row.setting, *numbers, row.frames or "", source])
        heads = ["Model", "Setting", *(f"#`{name}`" for name in names), "Frames", "#Source"]
        tables.append(f"**{title}**\n\n{table(heads, lines)}")
    told = "As published, not run for this card. Compare only within a table and a setting."
    return "\n\n".join([told, *tables, sources.listed()])
