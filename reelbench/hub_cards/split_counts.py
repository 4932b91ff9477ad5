"""The numbers of a card, counted from a split's normalised rows, never typed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    """A facet over a split. A question may have several labels, or none."""

    title: str
    note: str

    counts: dict[str, int]
    """Label -> number of questions that have it."""

    labelled: int
    """Number of questions with a label."""

    rows: int


@dataclass(frozen=True)
class SplitStatistics:
    """All of a split's numbers. Distributions and labels that no row has are left out."""

    rows: int
    videos: int
    answered: int
    languages: tuple[str, ...]
    distributions: tuple[Distribution, ...]
    labels: tuple[LabelCounts, ...] = field(default=())


def of_split(
    spec: BenchmarkSpec, rows: Sequence[Row], labels: Labels | None = None
) -> SplitStatistics:
    """Count a split's normalised rows.

    Lengths of texts are in words (characters where the script has no spaces between words), of
    spans and videos in seconds. A row's answer is measured as the reference text of an open
    question. A question with options has the lengths of all its options.

    Args:
        spec: The benchmark.
        rows: The rows.
        labels: Labels of facets that the rows don't hold.
    """
    answered = [row for row in rows if row.get("answer") or row.get("span")]
    facets = [facet for facet in spec.facets if not facet.made_of]
    label_counts: list[LabelCounts] = []
    for facet in facets:
        counts = _count_labels(facet, rows, labels or {})
        if counts.labelled:
            label_counts.append(counts)
    return SplitStatistics(
        rows=len(rows),
        videos=len({row["video"] for row in rows}),
        answered=len(answered),
        languages=tuple(sorted({row["language"] for row in rows})),
        distributions=_known_distributions(spec, rows),
        labels=tuple(label_counts),
    )


def facet_title(facet: Facet) -> str:
    """Return a facet's heading above its table."""
    return facet.name.replace("_", " ").capitalize()


# --- distributions
# ----------------------------------------------------------------------------------------------


def _known_distributions(spec: BenchmarkSpec, rows: Sequence[Row]) -> tuple[Distribution, ...]:
    """Return the distributions of the quantities that any row has."""
    text_name = "option"
    texts_of = _option_texts
    if spec.row_kind == "open":
        text_name = "answer"
        texts_of = _answer_texts
    question_words: list[int] = []
    question_characters: list[int] = []
    text_words: list[int] = []
    text_characters: list[int] = []
    option_counts: list[int] = []
    span_lengths: list[float] = []
    span_shares: list[float] = []
    video_lengths: dict[str, float] = {}
    for row in rows:
        question = row["question"]
        texts = texts_of(row)
        if language_of(row["language"]) in UNSPACED:
            question_characters.append(_count_characters(question))
            text_characters += map(_count_characters, texts)
        else:
            question_words.append(_count_words(question))
            text_words += map(_count_words, texts)
        if "options" in row:
            option_counts.append(len(row["options"]))
        duration = row.get("duration")
        if duration:
            video_lengths[row["video"]] = duration
        ends = row.get("span")
        if ends:
            span_length = sum(ends[1::2]) - sum(ends[::2])
            span_lengths.append(span_length)
            if duration:
                span_shares.append(100 * span_length / duration)
    questions_per_video = Counter(row["video"] for row in rows).values()
    distributions = (
        _distribution_of("Questions per video", "questions", questions_per_video),
        _distribution_of("Words per question", "words", question_words),
        _distribution_of("Characters per question", "characters", question_characters),
        _distribution_of(f"Words per {text_name}", "words", text_words),
        _distribution_of(f"Characters per {text_name}", "characters", text_characters),
        _distribution_of("Options per question", "options", option_counts),
        _distribution_of("Length of the answer's span", "s", span_lengths),
        _distribution_of("Span, as a share of the video", "%", span_shares),
        _distribution_of("Length of the video", "s", video_lengths.values()),
    )
    return tuple(distribution for distribution in distributions if distribution.values)


def _distribution_of(title: str, unit: str, values: Iterable[float]) -> Distribution:
    ordered = sorted(map(float, values))
    return Distribution(title, unit, tuple(ordered))


def _count_words(text: str) -> int:
    return len(words(text))


def _count_characters(text: str) -> int:
    return len("".join(text.split()))


def _answer_texts(row: Row) -> list[str]:
    answer = row["answer"]
    if not answer:
        return []
    return [answer]


def _option_texts(row: Row) -> list[str]:
    return row.get("options", [])


# --- labels
# ----------------------------------------------------------------------------------------------


def _count_labels(facet: Facet, rows: Sequence[Row], labels: Labels) -> LabelCounts:
    """Count a facet's labels: the declared ones in their order, else the most frequent first."""
    counts = Counter[str]()
    labelled = 0
    for row in rows:
        if facet.in_rows:
            row_labels = row[facet.name]
        else:
            row_labels = labels.get(row["id"], {}).get(facet.name, ())
        if row_labels:
            labelled += 1
        counts.update(set(row_labels))
    order = facet.labels or sorted(counts, key=lambda label: (-counts[label], label))
    ordered_counts = {label: counts[label] for label in order}
    for label in sorted(counts):
        ordered_counts.setdefault(label, counts[label])
    return LabelCounts(
        facet_title(facet),
        facet.title,
        ordered_counts,
        labelled,
        len(rows),
    )
