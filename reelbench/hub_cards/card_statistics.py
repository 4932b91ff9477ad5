"""The section of a card with what was counted: a table and a plot for each quantity and facet."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from reelbench.hub_cards.card_material import Material
from reelbench.hub_cards.split_counts import (
    Distribution,
    LabelCounts,
    SplitStatistics,
    facet_title,
)
from reelbench.pages import plots
from reelbench.pages.markdown import count, inert, plain, table

PLOTS = "plots"
MOST_LABELS = 20


class StatisticsSection(NamedTuple):
    """The text of the section, and its plots by path."""

    text: str
    plots: dict[str, str]


def statistics(material: Material) -> StatisticsSection:
    """Return a table and a plot for each quantity and facet."""
    splits: dict[str, SplitStatistics] = {}
    for split in material.splits:
        if split.counted:
            splits[split.name] = split.counted.statistics
    if not splits:
        command = f"`reelbench cards render {material.spec.id} --data PATH --out card`"
        text = f"Not counted: the data was missing when this card was made. {command} counts it."
        return StatisticsSection(text, {})
    section = _Section()
    _add_sizes(section, splits)
    quantities: dict[str, dict[str, Distribution]] = {}
    facets: dict[str, dict[str, LabelCounts]] = {}
    for name, split_statistics in splits.items():
        for quantity in split_statistics.distributions:
            quantities.setdefault(quantity.title, {})[name] = quantity
        for facet in split_statistics.labels:
            facets.setdefault(facet.title, {})[name] = facet
    for title, by_split in quantities.items():
        _add_quantity(section, title, by_split)
    for title, counts_by_split in facets.items():
        _add_facet(section, title, counts_by_split)
    uncounted: list[str] = []
    for facet in material.spec.facets:
        is_elsewhere = not facet.in_rows and not facet.made_of
        if is_elsewhere and facet_title(facet) not in facets:
            uncounted.append(f"`{facet.name}`")
    if uncounted:
        section.parts.append(
            f"Not counted: {', '.join(uncounted)}. These labels are not in the data; give a tags "
            "file with `--tags`."
        )
    return StatisticsSection("\n\n".join(section.parts), section.plots)


class _Section:
    """The section while it is made."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.plots: dict[str, str] = {}

    def add(self, title: str, text: str, plot: str | None, note: str = "") -> None:
        """Add a part: its note, its table, and its plot."""
        paragraphs = [f"### {title}"]
        if note:
            paragraphs.append(note)
        if text:
            paragraphs.append(text)
        if plot is not None:
            name = re.sub(r"[^a-z0-9]+", "-", title.lower().replace("'s", "s")).strip("-")
            path = f"{PLOTS}/{name}.svg"
            self.plots[path] = plot
            paragraphs.append(f"![{title}, drawn]({path})")
        self.parts.append("\n\n".join(paragraphs))


def _add_sizes(section: _Section, splits: Mapping[str, SplitStatistics]) -> None:
    lines: list[list[str]] = []
    questions: dict[str, float] = {}
    videos: dict[str, float] = {}
    for name, split in splits.items():
        questions[name] = float(split.rows)
        videos[name] = float(split.videos)
        lines.append(
            [
                f"`{name}`",
                count(split.rows),
                count(split.answered),
                count(split.videos),
            ]
        )
    heads = ["Split", "#Questions", "#With a public answer", "#Videos"]
    text = table(heads, lines)
    series = {"questions": questions, "videos": videos}
    plot = plots.bars("Questions and videos", series, counts=True)
    section.add("Questions and videos", text, plot)


def _add_quantity(section: _Section, title: str, by_split: Mapping[str, Distribution]) -> None:
    lines: list[list[str]] = []
    series: dict[str, Sequence[float]] = {}
    distinct: set[float] = set()
    for name, quantity in by_split.items():
        values = quantity.values
        series[name] = values
        distinct.update(values)
        lines.append(
            [
                f"`{name}`",
                f"{len(values):,}",
                f"{fmean(values):,.1f}",
                f"{median(values):,.1f}",
                plain(values[0]),
                plain(values[-1]),
                quantity.unit,
            ]
        )
    plot: str | None = None
    if len(distinct) > 1:
        unit = next(iter(by_split.values())).unit
        plot = plots.histogram(title, series, unit)
    heads = ["Split", "#n", "#Mean", "#Median", "#Least", "#Most", "Unit"]
    section.add(title, table(heads, lines), plot)


# --- facets
# ----------------------------------------------------------------------------------------------


def _add_facet(section: _Section, title: str, by_split: Mapping[str, LabelCounts]) -> None:
    labels = _labels_in_order(by_split)
    listed_labels = labels[:MOST_LABELS]
    further_labels = labels[MOST_LABELS:]
    shares_by_split: dict[str, dict[str, float]] = {}
    rows_by_split: dict[str, int] = {}
    for split, counts in by_split.items():
        shares: dict[str, float] = {}
        for label in listed_labels:
            shares[label] = _percent_with_label(counts, label)
        shares_by_split[split] = shares
        rows_by_split[split] = counts.rows
    plot = plots.bars(title, shares_by_split, n=rows_by_split)
    text = _facet_table(by_split, listed_labels, further_labels)
    section.add(title, text, plot, _facet_note(by_split))


def _labels_in_order(by_split: Mapping[str, LabelCounts]) -> list[str]:
    """Return a facet's labels in their order; of many the most frequent first."""
    totals: Counter[str] = Counter()
    for facet in by_split.values():
        totals.update(facet.counts)
    if len(totals) <= MOST_LABELS:
        return list(totals)
    return sorted(totals, key=lambda label: (-totals[label], label))


def _percent_with_label(facet: LabelCounts, label: str) -> float:
    """Return the share of questions with a label, in percent."""
    return 100 * facet.counts.get(label, 0) / facet.rows


def _facet_table(
    by_split: Mapping[str, LabelCounts], listed: Sequence[str], rest: Sequence[str]
) -> str:
    heads = ["Label"]
    for name in by_split:
        heads += [f"#`{name}`", "#%"]
    lines: list[list[str]] = []
    for label in listed:
        line = [inert(label)]
        for facet in by_split.values():
            line += [f"{facet.counts.get(label, 0):,}", f"{_percent_with_label(facet, label):.1f}"]
        lines.append(line)
    if rest:
        line = [f"{len(rest)} more labels"]
        for facet in by_split.values():
            in_split = [label for label in rest if label in facet.counts]
            line += [f"{len(in_split)} labels", ""]
        lines.append(line)
    return table(heads, lines)


def _facet_note(by_split: Mapping[str, LabelCounts]) -> str:
    """Return the facet's own note, and which questions have several labels or none."""
    first = next(iter(by_split.values()))
    sentences = [first.note, "Number of questions with the label, and their share of the split."]
    has_several = False
    unlabelled: list[str] = []
    for name, facet in by_split.items():
        if sum(facet.counts.values()) > facet.labelled:
            has_several = True
        if facet.labelled < facet.rows:
            missing = facet.rows - facet.labelled
            unlabelled.append(f"{missing:,} of {facet.rows:,} in `{name}`")
    if has_several:
        sentences.append("A question may have several labels.")
    if unlabelled:
        sentences.append(f"Without a label: {', '.join(unlabelled)}.")
    return " ".join(sentences)
