"""Sections of a card: what is in the dataset, with statistics and plots; how it is scored, and what is published."""

import json
import re
from contextlib import suppress
from statistics import fmean, median

from reelbench.hub_cards.counts import Distribution, LabelCounts, facet_title
from reelbench.hub_cards.material import Material
from reelbench.pages import plots
from reelbench.pages.markdown import Sources, code, count, inert, lower, plain, table
from reelbench.registry import rows
from reelbench.registry.data.loading import locate
from reelbench.registry.errors import DataUnavailableError
from reelbench.registry.parity import parity
from reelbench.registry.spec import BenchmarkSpec, Corpus, Grouped, Macro, MeanOf, Metric, PublishedResult

PLOTS = "plots"
MOST_LABELS = 20


def schema(material: Material) -> str:
    """Columns with types and units, and a row."""
    spec = material.spec
    made = table(
        ["Column", "Type", "Unit", "What it is"],
        [[f"`{column.name}`", f"`{column.dtype}`", column.unit, column.description] for column in rows.columns(spec)],
    )
    text = f"One row is one question. Empty values are empty strings or lists, never null.\n\n{made}"
    if material.example is None:
        return text
    example = json.dumps(material.example, ensure_ascii=False, indent=2)
    return f"{text}\n\nA row (not of the dataset: written for Reelbench, to show the shape):\n\n{code(example, 'json')}"


def splits(material: Material) -> str:
    """Splits with their sizes, where the counts are from, and the languages."""
    lines = []
    for split in material.splits:
        declared, counted = split.declared, split.counted and split.counted.statistics
        answers = "kept by their makers" if declared.answers_kept else "public"
        if declared.hidden_answers:
            answers = "hidden, scored by the owners' server"
        origin = "counted"
        if not counted:
            origin = "not stated" if declared.rows is None and declared.videos is None else "as published"
            origin += f" ({declared.cite})" if declared.cite else ""
        default = " (default)" if split.name == material.spec.default_split else ""
        sizes = counted or declared
        lines.append([f"`{split.name}`{default}", count(sizes.rows), count(sizes.videos), answers, origin])
    made = table(["Split", "#Questions", "#Videos", "Answers", "Counts"], lines)
    tags = ", ".join(f"`{tag}`" for tag in material.languages)
    known = "counted" if material.languages_counted else "all that the sources name; the data may have fewer"
    languages = f"Languages ({len(material.languages)}, {known}): {tags}."
    if len(material.languages) == 1:
        languages = f"Language: {tags}."
    differences = [
        f"The data has {number:,} {what} in `{split.name}`; published are {published:,} ({split.declared.cite})."
        for split in material.splits
        if split.counted is not None
        for what, number, published in (
            ("questions", split.counted.statistics.rows, split.declared.rows),
            ("videos", split.counted.statistics.videos, split.declared.videos),
        )
        if published is not None and number != published
    ]
    return "\n\n".join([made, *differences, languages])


def statistics(material: Material) -> tuple[str, dict[str, str]]:
    """A table and a plot per quantity and facet: the text, and the plots by path."""
    counted = {split.name: split.counted.statistics for split in material.splits if split.counted}
    if not counted:
        command = f"`reelbench cards render {material.spec.id} --data PATH`"
        return f"Not counted: the data was not at hand when this card was rendered. {command} counts it.", {}
    parts: list[str] = []
    drawn: dict[str, str] = {}

    def add(title: str, note: str, made: str, plot: str | None) -> None:
        picture = ""
        if plot is not None:
            name = re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'s", "s")).strip("-")
            path = f"{PLOTS}/{name}.svg"
            drawn[path] = plot
            picture = f"![{title}, drawn]({path})"
        parts.append("\n\n".join(filter(None, [f"### {title}", note, made, picture])))

    sizes = {
        "questions": {name: float(size.rows) for name, size in counted.items()},
        "videos": {name: float(size.videos) for name, size in counted.items()},
    }
    made = table(
        ["Split", "#Questions", "#With a public answer", "#Videos"],
        [[f"`{name}`", count(size.rows), count(size.answered), count(size.videos)] for name, size in counted.items()],
    )
    add("Questions and videos", "", made, plots.bars("Questions and videos", sizes, counts=True))
    quantities: dict[str, dict[str, Distribution]] = {}
    facets: dict[str, dict[str, LabelCounts]] = {}
    for name, split in counted.items():
        for quantity in split.distributions:
            quantities.setdefault(quantity.title, {})[name] = quantity
        for facet in split.labels:
            facets.setdefault(facet.title, {})[name] = facet
    for title, series in quantities.items():
        values = {name: counts.values for name, counts in series.items()}
        constant = len(set[float]().union(*values.values())) == 1
        plot = None if constant else plots.histogram(title, values, next(iter(series.values())).unit)
        made = table(
            ["Split", "#n", "#Mean", "#Median", "#Least", "#Most", "Unit"],
            [
                [
                    f"`{name}`",
                    f"{len(counts.values):,}",
                    f"{fmean(counts.values):,.1f}",
                    f"{median(counts.values):,.1f}",
                    plain(counts.values[0]),
                    plain(counts.values[-1]),
                    counts.unit,
                ]
                for name, counts in series.items()
            ],
        )
        add(title, "", made, plot)
    for title, by_split in facets.items():
        note, made, shares = _facet(by_split)
        rows = {name: counts.rows for name, counts in by_split.items()}
        add(title, note, made, plots.bars(title, shares, n=rows))
    unheld = [facet for facet in material.spec.facets if not (facet.in_rows or facet.made_of)]
    elsewhere = [facet for facet in unheld if facet_title(facet) not in facets]
    if elsewhere:
        names = ", ".join(f"`{facet.name}`" for facet in elsewhere)
        parts.append(f"Not counted: {names}. These labels are not in the data; a tags file (`--tags`) brings them.")
    return "\n\n".join(parts), drawn


def _facet(by_split: dict[str, LabelCounts]) -> tuple[str, str, dict[str, dict[str, float]]]:
    """Return the note on a facet's labels, their table, and their shares by split."""
    labels = list(dict.fromkeys(label for counts in by_split.values() for label in counts.counts))
    if len(labels) > MOST_LABELS:
        total = {label: sum(counts.counts.get(label, 0) for counts in by_split.values()) for label in labels}
        labels = sorted(labels, key=lambda label: (-total[label], label))
    shown, rest = labels[:MOST_LABELS], labels[MOST_LABELS:]
    heads = [head for name in by_split for head in (f"#`{name}`", "#%")]
    lines = []
    for label in shown:
        numbers = [(counts.counts.get(label, 0), counts.rows) for counts in by_split.values()]
        lines.append([inert(label), *(cell for n, of in numbers for cell in (f"{n:,}", f"{100 * n / of:.1f}"))])
    if rest:
        others = [str(sum(label in counts.counts for label in rest)) for counts in by_split.values()]
        lines.append([f"{len(rest)} more labels", *(cell for other in others for cell in (other + " labels", ""))])
    shares = {
        name: {label: 100 * counts.counts.get(label, 0) / counts.rows for label in shown}
        for name, counts in by_split.items()
    }
    notes = [next(iter(by_split.values())).note, "Questions with the label, and their share of the split's questions."]
    if any(sum(counts.counts.values()) > counts.labelled for counts in by_split.values()):
        notes.append("A question may have several labels.")
    bare = [
        f"{counts.rows - counts.labelled:,} of {counts.rows:,} in `{name}`"
        for name, counts in by_split.items()
        if counts.labelled < counts.rows
    ]
    if bare:
        notes.append(f"Without a label: {', '.join(bare)}.")
    return " ".join(notes), table(["Label", *heads], lines), shares


# --- scores -----------------------------------------------------------------------------------------------------------


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
