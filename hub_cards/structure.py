"""A card on what is in the dataset: its schema, its splits, and its statistics with their plots."""

import json
import re
from statistics import fmean, median

from reelbench.hub_cards.counts import Distribution, LabelCounts, facet_title
from reelbench.hub_cards.material import Material
from reelbench.pages import plots
from reelbench.pages.markdown import code, count, inert, plain, table
from reelbench.registry import rows

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
