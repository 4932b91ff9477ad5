"""What a card says in numbers: counted from a split's normalised rows, never typed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reelbench.base.languages import UNSPACED, language_of, words
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, Facet

Labels = Mapping[str, Mapping[str, Sequence[str]]]
"""Labels that rows don't have (CogME's tags): question id -> facet -> labels."""


@dataclass(frozen=True)
class Distribution:
    """One quantity over a split: its values, in `unit`, sorted."""

    title: str
    unit: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class LabelCounts:
    """A facet over a split: label -> questions that have it; a question may have several labels, or none."""

    title: str
    note: str
    counts: dict[str, int]
    labelled: int
    rows: int


@dataclass(frozen=True)
class SplitStatistics:
    """All of a split's numbers. Distributions and labels are left out where no row has any."""

    rows: int
    videos: int
    answered: int
    languages: tuple[str, ...]
    distributions: tuple[Distribution, ...]
    labels: tuple[LabelCounts, ...] = field(default=())


def of_split(
    spec: BenchmarkSpec, rows: Sequence[Row], labels: Labels | None = None
) -> SplitStatistics:
    """Count a split's normalised rows; `labels` are of facets that these don't hold.

    Lengths of texts are in words (characters where the script has no spaces between words), of
    spans and videos in seconds. A row's answer is measured as the reference text of an open
    question; a question with options has the lengths of all its options.
    """
    spaced = [row for row in rows if language_of(row["language"]) not in UNSPACED]
    unspaced = [row for row in rows if language_of(row["language"]) in UNSPACED]
    what = "answer" if spec.row_kind == "open" else "option"

    def texts(row: Row) -> list[str]:
        return [row["answer"]] * bool(row["answer"]) if what == "answer" else row.get("options", [])

    per_video = Counter(row["video"] for row in rows)
    durations = {row["video"]: row["duration"] for row in rows if row.get("duration")}
    spans = [row for row in rows if row.get("span")]
    lengths = [sum(row["span"][1::2]) - sum(row["span"][::2]) for row in spans]
    quantities = {
        ("Questions per video", "questions"): list(per_video.values()),
        ("Words per question", "words"): [len(words(row["question"])) for row in spaced],
        ("Characters per question", "characters"): [
            len("".join(row["question"].split())) for row in unspaced
        ],
        (f"Words per {what}", "words"): [len(words(text)) for row in spaced for text in texts(row)],
        (f"Characters per {what}", "characters"): [
            len("".join(text.split())) for row in unspaced for text in texts(row)
        ],
        ("Options per question", "options"): [
            len(row["options"]) for row in rows if "options" in row
        ],
        ("Length of the answer's span", "s"): lengths,
        ("Share of the video that the span takes", "%"): [
            100 * length / row["duration"]
            for row, length in zip(spans, lengths, strict=True)
            if row.get("duration")
        ],
        ("Length of the video", "s"): list(durations.values()),
    }
    kept = labels or {}
    by_facet: list[LabelCounts] = []
    for facet in (facet for facet in spec.facets if not facet.made_of):
        of_rows = [
            set(row[facet.name] if facet.in_rows else kept.get(row["id"], {}).get(facet.name, ()))
            for row in rows
        ]
        counts = Counter(label for names in of_rows for label in names)
        order = facet.labels or sorted(counts, key=lambda label: (-counts[label], label))
        known = {label: counts[label] for label in order}
        unknown = {label: count for label, count in sorted(counts.items()) if label not in known}
        labelled = sum(map(bool, of_rows))
        by_facet.append(
            LabelCounts(facet_title(facet), facet.title, {**known, **unknown}, labelled, len(rows))
        )
    return SplitStatistics(
        rows=len(rows),
        videos=len({row["video"] for row in rows}),
        answered=sum(bool(row.get("answer") or row.get("span")) for row in rows),
        languages=tuple(sorted({row["language"] for row in rows})),
        distributions=tuple(
            Distribution(title, unit, tuple(sorted(map(float, values))))
            for (title, unit), values in quantities.items()
            if values
        ),
        labels=tuple(counted for counted in by_facet if counted.labelled),
    )


def facet_title(facet: Facet) -> str:
    """Return a facet's heading above its table."""
    return facet.name.replace("_", " ").capitalize()
