"""The kinds of benchmark that a `benchmark.yaml` can declare, their scoring and their metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from reelbench.registry.benchmark_block import Block
from reelbench.registry.metrics import Grouped, Mean, Metric, UnitName
from reelbench.registry.row_columns import ASKED, MOST_OPTIONS, OPTION_COUNT
from reelbench.registry.scoring_kinds import SCORING_KINDS, Kind
from reelbench.registry.spec import JudgeSpec, RowMapping

FileKind = Literal["choice", "span", "grounded_choice", "open", "exact"]
DeclaredKind = Literal["choice", "span", "grounded_choice", "open", "exact", "mixed"]
RowKind = Literal["open", "grounded_choice", "choice", "span", "mixed"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A change of the scoring by a word of `answers`, `windows`, `overlap`, `numbers` or `chance`.

    Attributes:
        kinds: Kinds of scoring in place of the kind's own.
        more_kinds: Further kinds of scoring.
        metrics: Metrics in place of the kind's own.
        first_metrics: Metrics before the kind's own.
        last_metrics: Metrics after them.
    """

    kinds: tuple[Kind, ...] = ()
    more_kinds: tuple[Kind, ...] = ()
    metrics: tuple[str, ...] = ()
    first_metrics: tuple[str, ...] = ()
    last_metrics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KindDefinition:
    """The form of a kind of benchmark.

    Attributes:
        kinds: Its kinds of scoring.
        metrics: Its metrics, by their names in `METRICS`.
        rows: The kind of its rows.
        prompt: Name of its prompt file; of mixed rows without options it is that of `exact`.
        variants: Word of one of these keys -> what it changes.
    """

    kinds: tuple[Kind, ...]
    metrics: tuple[str, ...]
    rows: RowKind
    prompt: str
    variants: Mapping[str, Variant] = field(default_factory=dict[str, Variant])


_RANKED = Variant(more_kinds=("ranked_spans",), last_metrics=("map", "map_at_0.5", "map_at_0.75"))
_F1 = Variant(
    more_kinds=("f1_spans",),
    first_metrics=("f1", "f1_at_0.1", "f1_at_0.3", "f1_at_0.5", "f1_at_0.7"),
)
_MATCHED = Variant(
    kinds=("union_spans",),
    more_kinds=("matched_spans",),
    metrics=("etf1", "count_right", "tf1_at_0.3", "tf1_at_0.5", "tf1_at_0.7", "miou"),
)
_UNCHANGED = Variant()

KIND_DEFINITIONS: Mapping[DeclaredKind, KindDefinition] = {
    "choice": KindDefinition(
        kinds=("choice",),
        metrics=("accuracy",),
        rows="choice",
        prompt="choice",
        variants={
            "any": Variant(kinds=("any_choice",)),
            "all": Variant(kinds=("all_choices",)),
            "adjusted": Variant(more_kinds=("above_chance",), first_metrics=("above_chance",)),
        },
    ),
    "span": KindDefinition(
        kinds=("moment",),
        metrics=("miou", "recall_at_0.3", "recall_at_0.5", "recall_at_0.7"),
        rows="span",
        prompt="span",
        variants={
            "best": _UNCHANGED,
            "union": Variant(kinds=("union_spans",)),
            "ranked": _RANKED,
            "f1": _F1,
            "matched": _MATCHED,
            "iou": _UNCHANGED,
            "iop": Variant(
                more_kinds=("covered",), first_metrics=("miop", "iop_at_0.3", "iop_at_0.5")
            ),
        },
    ),
    "grounded_choice": KindDefinition(
        kinds=("temporal_span", "choice"),
        metrics=("accuracy_at_iou_0.5", "accuracy", "miou", "recall_at_0.3", "recall_at_0.5"),
        rows="grounded_choice",
        prompt="grounded_choice",
        variants={
            "best": _UNCHANGED,
            "union": Variant(kinds=("union_spans", "choice")),
            "ranked": _RANKED,
            "iou": _UNCHANGED,
            "iop": Variant(
                more_kinds=("covered",),
                first_metrics=(
                    "accuracy_at_iop_0.5",
                    "accuracy",
                    "miop",
                    "iop_at_0.3",
                    "iop_at_0.5",
                ),
            ),
        },
    ),
    "mixed": KindDefinition(
        kinds=("mixed",),
        metrics=("accuracy", "exact_match", "right"),
        rows="mixed",
        prompt="choice",
        variants={
            "any": _UNCHANGED,
            "mra": Variant(
                kinds=("mixed_relative_accuracy",), metrics=("accuracy", "mra", "right")
            ),
            "within_one": Variant(
                kinds=("mixed_off_by_one",), metrics=("accuracy", "within_one", "right")
            ),
        },
    ),
    "exact": KindDefinition(
        kinds=("exact_match",),
        metrics=("exact_match",),
        rows="open",
        prompt="exact",
        variants={
            "any": _UNCHANGED,
            "mra": Variant(more_kinds=("relative_accuracy",), first_metrics=("mra",)),
            "within_one": Variant(more_kinds=("off_by_one",), first_metrics=("within_one",)),
            "mae": Variant(
                kinds=("off_by_one", "number_error"),
                metrics=("within_one", "number_right", "mae", "relative_mae"),
            ),
        },
    ),
    "open": KindDefinition(
        kinds=("llm_judge", "exact_match"),
        metrics=("exact_match",),
        rows="open",
        prompt="open",
        variants={"any": _UNCHANGED},
    ),
}


class MetricDefinition(NamedTuple):
    """A metric's title, its column, its description and its unit."""

    title: str
    column: str
    about: str
    unit: UnitName = "percent"


METRICS: Mapping[str, MetricDefinition] = {
    "group_accuracy": MetricDefinition(
        "Group accuracy", "", "Groups of questions that are scored together, each by its rule."
    ),
    "right": MetricDefinition(
        "Right",
        "correct",
        "Questions with the right option or, if they have no options, the right words.",
    ),
    "mra": MetricDefinition(
        "MRA",
        "mra",
        "Mean relative accuracy of numbers: the share of ten tolerances, 50 to 5 %, that the "
        "number meets.",
    ),
    "within_one": MetricDefinition(
        "Off by one at most", "within_one", "Numbers that are right or off by one."
    ),
    "number_right": MetricDefinition("Right numbers", "number_right", "Numbers that are right."),
    "mae": MetricDefinition(
        "Mean absolute error",
        "error",
        "Mean distance from the right number. An answer without a number counts as 0.",
        "error",
    ),
    "relative_mae": MetricDefinition(
        "Relative error",
        "relative_error",
        "The same, each error divided by its right number and 0.1.",
        "error",
    ),
    "above_chance": MetricDefinition(
        "Accuracy above chance",
        "above_chance",
        "(right - expected by guessing) / (all - expected by guessing); 0 is chance.",
        "above_chance",
    ),
    "etf1": MetricDefinition(
        "Effective F1",
        "etf1",
        "F1 of windows matched one to one, averaged over IoU 0.3, 0.5 and 0.7; 0 if their number "
        "is wrong.",
    ),
    "count_right": MetricDefinition(
        "Number of windows", "count_right", "Answers with the right number of windows."
    ),
    "tf1_at_0.3": MetricDefinition("F1, IoU ≥ 0.3", "tf1_at_0.3", "F1 of matched windows at 0.3."),
    "tf1_at_0.5": MetricDefinition("F1, IoU ≥ 0.5", "tf1_at_0.5", "F1 of matched windows at 0.5."),
    "tf1_at_0.7": MetricDefinition("F1, IoU ≥ 0.7", "tf1_at_0.7", "F1 of matched windows at 0.7."),
    "f1": MetricDefinition(
        "F1", "f1", "F1 of the answered windows, averaged over IoU 0.1, 0.3, 0.5 and 0.7."
    ),
    "f1_at_0.1": MetricDefinition(
        "F1, IoU ≥ 0.1", "f1_at_0.1", "F1 of the answered windows at 0.1."
    ),
    "f1_at_0.3": MetricDefinition(
        "F1, IoU ≥ 0.3", "f1_at_0.3", "F1 of the answered windows at 0.3."
    ),
    "f1_at_0.5": MetricDefinition(
        "F1, IoU ≥ 0.5", "f1_at_0.5", "F1 of the answered windows at 0.5."
    ),
    "f1_at_0.7": MetricDefinition(
        "F1, IoU ≥ 0.7", "f1_at_0.7", "F1 of the answered windows at 0.7."
    ),
    "map": MetricDefinition(
        "mAP", "map", "Mean average precision of the answered windows, over IoU 0.5 to 0.95."
    ),
    "map_at_0.5": MetricDefinition(
        "mAP, IoU ≥ 0.5", "map_at_0.5", "Average precision of the answered windows at IoU 0.5."
    ),
    "map_at_0.75": MetricDefinition(
        "mAP, IoU ≥ 0.75", "map_at_0.75", "Average precision of the answered windows at IoU 0.75."
    ),
    "accuracy_at_iop_0.5": MetricDefinition(
        "Accuracy at IoP ≥ 0.5",
        "correct_at_iop_0.5",
        "The option is right, and at least half of the answered span is inside the right one.",
    ),
    "miop": MetricDefinition(
        "mIoP",
        "iop",
        "The share of the answered span that is inside the right one, averaged over questions.",
    ),
    "iop_at_0.3": MetricDefinition(
        "IoP ≥ 0.3",
        "iop_at_0.3",
        "Questions with at least 30 % of the answered span inside the right one.",
    ),
    "iop_at_0.5": MetricDefinition(
        "IoP ≥ 0.5",
        "iop_at_0.5",
        "Questions with at least half of the answered span inside the right one.",
    ),
    "accuracy": MetricDefinition("Accuracy", "correct", "Questions with the right option."),
    "accuracy_at_iou_0.5": MetricDefinition(
        "Accuracy at IoU ≥ 0.5",
        "correct_at_iou_0.5",
        "The option is right, and the spans share half or more of what they cover together.",
    ),
    "exact_match": MetricDefinition(
        "Exact match",
        "exact_match",
        "Answers equal to the reference, ignoring case and punctuation.",
    ),
    "miou": MetricDefinition(
        "mIoU",
        "iou",
        "What the true and the predicted span share of what they cover together, averaged over "
        "questions.",
    ),
    "recall_at_0.3": MetricDefinition(
        "Recall@1, IoU ≥ 0.3",
        "recall_at_0.3",
        "Questions whose spans share 30 % or more of what they cover together.",
    ),
    "recall_at_0.5": MetricDefinition(
        "Recall@1, IoU ≥ 0.5",
        "recall_at_0.5",
        "Questions whose spans share 50 % or more of what they cover together.",
    ),
    "recall_at_0.7": MetricDefinition(
        "Recall@1, IoU ≥ 0.7",
        "recall_at_0.7",
        "Questions whose spans share 70 % or more of what they cover together.",
    ),
}
_UNION_NOTE = " All windows of the answer and all right ones are merged before (`windows: union`)."


@dataclass(frozen=True, slots=True)
class RowKinds:
    """The kind of a file's rows, or the kinds where they are not alike.

    Attributes:
        kind: The benchmark's kind. `mixed` for rows of two kinds.
        by_value: Of mixed rows, value of `column` (name of a split without one) -> kind.
        column: Of mixed rows, the column that names the kind.
        in_words: Of mixed rows, the kind beside `choice`: `exact` or `open`.
    """

    kind: DeclaredKind
    by_value: Mapping[str, str] = field(default_factory=dict[str, str])
    column: str = ""
    in_words: str = ""

    @property
    def definition(self) -> KindDefinition:
        """The form of the kind."""
        return KIND_DEFINITIONS[self.kind]

    @property
    def is_mixed(self) -> bool:
        """True where the rows are of two kinds."""
        return self.kind == "mixed"

    @property
    def takes_judge(self) -> bool:
        """True where a judge marks answers."""
        return "open" in (self.kind, self.in_words)


def read_row_kinds(root: Block) -> RowKinds:
    """Read the key `kind`."""
    if not isinstance(root.values["kind"], Block):
        return RowKinds(kind=root.required_text("kind"))  # type: ignore[arg-type] - a word of KEYS
    block = root.block("kind")
    names_splits = isinstance(block.values.get("split"), Block)
    if names_splits:
        column = ""
        values = block.block("split")
        by_value = {name: values.required_text(name) for name in values.values}
    else:
        column = block.text("column") or ""
        values = block
        names = [name for name in values.values if name != "column"]
        by_value = {name: values.required_text(name) for name in names}
    if not by_value or not (names_splits or column):
        forms = "`{column: NAME, VALUE: KIND, …}` or `{split: {SPLIT: KIND, …}}`"
        raise root.error(f"kind: expected {forms}", "kind")
    in_words = next((kind for kind in by_value.values() if kind != "choice"), "exact")
    for name, kind in by_value.items():
        is_allowed = kind == "choice" or (kind == in_words and kind in ("exact", "open"))
        if not is_allowed:
            what = "rows of several kinds are choice and exact, or choice and open"
            raise values.error(f"kind.{name} is {kind!r}: {what}", name)
    return RowKinds("mixed", by_value, column, in_words)


@dataclass(frozen=True, slots=True)
class Scoring:
    """The kinds of scoring of a benchmark, and its metrics."""

    kinds: tuple[Kind, ...]
    metrics: list[Metric]


def read_scoring(
    root: Block,
    row_kinds: RowKinds,
    mapping: RowMapping,
    judge: JudgeSpec | None,
    judged_metrics: Sequence[Metric],
) -> Scoring:
    """Return the scoring that a file declares.

    Args:
        root: The whole file.
        row_kinds: The kinds of its rows.
        mapping: The mapping of its rows.
        judge: Its judge.
        judged_metrics: The metrics over the judge's marks.
    """
    kinds = list(row_kinds.definition.kinds)
    names = list(row_kinds.definition.metrics)
    words = {
        "answers": mapping.answers,
        "windows": root.text("windows"),
        "overlap": root.text("overlap"),
        "numbers": root.text("numbers"),
        "chance": root.text("chance"),
    }
    for key, word in words.items():
        if word is None:
            continue
        variant = row_kinds.definition.variants.get(word)
        if variant is None:
            raise root.error(f"{key}: {word}: a {row_kinds.kind} benchmark does not take it", key)
        if variant.kinds:
            kinds = list(variant.kinds)
        kinds += variant.more_kinds
        if variant.metrics:
            names = list(variant.metrics)
        names = [*variant.first_metrics, *names, *variant.last_metrics]
    if {"union_spans", "covered"} <= set(kinds):
        raise root.error("overlap: iop takes one window; leave out `windows: union`", "overlap")
    if words["chance"] is not None and (words["answers"] or mapping.group is not None):
        raise root.error(
            "chance: needs one right option for each question, and no `group`",
            "chance",
        )
    if row_kinds.takes_judge and words["numbers"] is not None:
        raise root.error("numbers: a judge scores words; use `exact` instead of `open`", "numbers")
    if row_kinds.is_mixed and judge is not None:
        kinds: list[Kind] = ["choice", "llm_judge"]
        metrics = _mixed_judged_metrics(row_kinds, judge, judged_metrics)
    elif row_kinds.is_mixed:
        metrics = [_mixed_metric(name, row_kinds) for name in names]
    else:
        unjudged_metrics = [_plain_metric(name, kinds) for name in dict.fromkeys(names)]
        metrics = [*judged_metrics, *unjudged_metrics]
    if mapping.group is not None:
        metrics.insert(0, _group_metric(root, row_kinds, mapping, metrics))
    return Scoring(tuple(kinds), metrics)


def _plain_metric(name: str, kinds: Sequence[Kind]) -> Metric:
    definition = METRICS[name]
    about = definition.about
    is_of_all_windows = definition.column in SCORING_KINDS["union_spans"].columns
    if "union_spans" in kinds and is_of_all_windows:
        about += _UNION_NOTE
    scale = 1 if definition.unit == "error" else 100
    mean = Mean(column=definition.column, scale=scale)
    if definition.unit == "above_chance":
        mean = replace(mean, weight_by=OPTION_COUNT, weights=_chance_weights())
    return Metric(
        name=name, title=definition.title, unit=definition.unit, aggregate=mean, about=about
    )


def _chance_weights() -> dict[str, float]:
    """Return the weights of questions by their options: what guessing leaves to be won."""
    return {str(options): 1 - 1 / options for options in range(1, MOST_OPTIONS + 1)}


_KIND_OF_METRIC = {
    "accuracy": "choice",
    "exact_match": "exact",
    "mra": "exact",
    "within_one": "exact",
}
"""Of mixed rows, metric -> the kind of the rows that it is of."""


def _mixed_metric(name: str, row_kinds: RowKinds) -> Metric:
    definition = METRICS[name]
    mean = Mean(column="correct", scale=100)
    metric = Metric(
        name=name, title=definition.title, unit="percent", aggregate=mean, about=definition.about
    )
    kind_of_metric = _KIND_OF_METRIC.get(name)
    if kind_of_metric is None:
        return metric
    return _over_one_kind(metric, kind_of_metric, row_kinds)


def _mixed_judged_metrics(
    row_kinds: RowKinds, judge: JudgeSpec, judged_metrics: Sequence[Metric]
) -> list[Metric]:
    """Return the metrics of both kinds.

    There is one over all items only where the judge says right or wrong.
    """
    accuracy = _mixed_metric("accuracy", row_kinds)
    of_open_rows = [_over_one_kind(metric, "open", row_kinds) for metric in judged_metrics]
    if any(metric.name == "accuracy" for metric in of_open_rows):  # as MovieCORE's judge has it
        accuracy = replace(accuracy, name="option_accuracy", title="Accuracy of options")
    metrics = [accuracy, *of_open_rows]
    if "correct" in judge.criteria:
        metrics.append(replace(_mixed_metric("right", row_kinds), judged=True))
    return metrics


def _over_one_kind(metric: Metric, kind: str, row_kinds: RowKinds) -> Metric:
    """Return a metric over the items of one kind alone, in a benchmark of two."""
    mean = metric.aggregate
    if not isinstance(mean, Mean):
        return metric
    weights = {"choice": 0.0, row_kinds.in_words: 0.0, kind: 1.0}
    return replace(metric, aggregate=replace(mean, weight_by=ASKED.name, weights=weights))


def _group_metric(
    root: Block, row_kinds: RowKinds, mapping: RowMapping, metrics: Sequence[Metric]
) -> Metric:
    unjudged_metrics = [metric for metric in metrics if not metric.judged]
    mean = unjudged_metrics[0].aggregate
    if mapping.group is None or row_kinds.kind == "open" or not isinstance(mean, Mean):
        raise root.error("group: answers that a judge scores can't be grouped", "group")
    column = "recall_at_0.5" if row_kinds.kind == "span" else mean.column
    definition = METRICS["group_accuracy"]
    rules = ", ".join(dict.fromkeys(mapping.group.rules.values()))
    return Metric(
        name="group_accuracy",
        title=definition.title,
        unit="percent",
        aggregate=Grouped(column=column, scale=100),
        about=f"{definition.about} By `{column}`: {rules}.",
    )
