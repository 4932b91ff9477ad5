"""What a diagnosis comes to: errors by label, round and locale, and how the loop ended (CURVE, section 5.2)."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from reelbench.pages.plots import bars
from reelbench.registry.files import read_json, write_json, write_text
from reelbench.stats.intervals import mean_over_clusters
from reelbench.studio.diagnosis.answer_rates import by_size, by_skill
from reelbench.studio.diagnosis.attempts import JUDGE
from reelbench.studio.diagnosis.folder import Folder
from reelbench.studio.diagnosis.models import Spent
from reelbench.studio.diagnosis.questions import ReasonedQuestion
from reelbench.studio.diagnosis.tagging import Attempt
from reelbench.studio.evidence import isolation
from reelbench.studio.evidence.findings import LABELS, Label, seconds_off
from reelbench.studio.evidence.graphs import Graph
from reelbench.studio.evidence.isolation import NodeTag, Round, Status

REPORT, PICTURE = "report.json", "errors.svg"
PERCEPTION: frozenset[Label] = frozenset(
    {"Temporal Localization", "Spatial Grounding", "Attribute Misidentification", "Spurious Object/Event"}
)
"""The labels that are cultural visual perception; the others are knowledge and reasoning."""

_TOLERANCES = (2, 5, 10, 30)  # seconds
_SETTLED = ("all_evaluated", "answer_right")
_DIVERGENT, _REASONING = "divergent", "Reasoning"


@dataclass(frozen=True, slots=True)
class _Error:
    """An error: where it is, what it is by either reading, and the round that found it."""

    question: ReasonedQuestion
    label: Label
    by_order: Label | None
    round: int


def figures(folder: Folder) -> dict[str, Any]:
    """Compute a diagnosis' figures; counts are whole, shares from 0 to 1 with 95 % intervals over videos.

    Answers that were right at first, which are tagged on request, count in `right_answers` and `sizes` alone.

    Returns:
        What `isolation.report` says, `ci95` beside each label's share (None where errors are on fewer than
        ten videos), and: `labels_by_order` (the same by the other reading of Fig. 6), `questions` (asked, right at
        first, unjudged, entered), `perception`, `locales` (locale -> `n` questions, `labels`, `perception`, `rounds`),
        `later` (errors that later rounds found: `n`, beside the first round's, of all, and how many are of reasoning),
        `settled` (by round, questions whose end is known), `consensus_by_round` (Tab. 9: round -> locale -> nodes with
        and without a majority), `nodes` (status -> n; `hint_ignored`, `recovered`, `divergent_share` of those
        evaluated), `times`, `sizes`, `skills`, `right_answers`, `models` and `judge`.

    Raises:
        InputError: The folder has no diagnosis, or something in it is wrong.
    """
    folder.settings()
    attempts = folder.answers(1)
    questions = {question.id: question for question in folder.questions}
    graphs = folder.graphs
    right = {attempt.id for attempt in attempts.values() if attempt.right is True}
    every = folder.rounds()
    records = [record for record in every if record.id not in right]
    last = {record.id: record for record in records}
    errors = list(_errors(last.values(), questions))
    base = isolation.report(records)
    return {
        **base,
        "labels": _labels(errors),
        "labels_by_order": _by_order(errors),
        "perception": _share(errors, PERCEPTION),
        "questions": _questions(attempts.values(), len(last)),
        "locales": _locales(errors, last.values(), questions),
        "later": _later(errors),
        "settled": _settled(records, len(last)),
        "consensus_by_round": _consensus(records, questions),
        "nodes": _nodes(last.values()),
        "times": _times(records, graphs),
        "sizes": by_size(attempts.values(), questions, graphs),
        "skills": by_skill(attempts.values(), questions, ((error.question.id, error.label) for error in errors)),
        "right_answers": _right_answers([record for record in every if record.id in right]),
        "models": _summed(folder.spent()),
        "judge": _judge(folder),
    }


def write(folder: Folder) -> dict[str, Any]:
    """Write `report.json` and return what is in it."""
    report = figures(folder)
    write_json(folder.path / REPORT, report)
    write_text(folder.path / PICTURE, picture(report, folder.settings().get("model")))
    return report


def picture(report: Mapping[str, Any], model: str | None) -> str:
    """Draw the errors that were found up to each round, by label (as the supplement's Fig. 3), as SVG."""
    total = Counter[str]()
    series: dict[str, dict[str, float]] = {}
    for line in report["rounds"]:
        total += Counter(line["labels"])
        series[f"up to round {line['round']}"] = {label: total[label] for label in LABELS}
    of_model = f" of {model}" if model else ""
    title = f"Errors{of_model} by the round that they are found up to (n = {total.total()})"
    return bars(title, series or {"": {}}, counts=True)


# --- errors ---------------------------------------------------------------------------------------------------------


def _errors(ends: Iterable[Round], questions: dict[str, ReasonedQuestion]) -> Iterator[_Error]:
    for record in ends:
        for tag in record.nodes.values():
            if tag.label is not None and tag.settled is not None:
                yield _Error(questions[record.id], tag.label, tag.by_order, tag.settled)


def _labels(errors: Sequence[_Error]) -> dict[str, dict[str, Any]]:
    return {label: _share(errors, frozenset({label})) for label in LABELS}


def _by_order(errors: Sequence[_Error]) -> dict[str, Any]:
    """Return the labels of the errors that a majority labels by order, and how many they are."""
    labelled = [replace(error, label=error.by_order) for error in errors if error.by_order is not None]
    changed = sum(error.by_order not in (None, error.label) for error in errors)
    return {"n": len(labelled), "changed": changed, "labels": _labels(labelled)}


def _share(errors: Sequence[_Error], labels: frozenset[Label]) -> dict[str, Any]:
    """Return how many errors have one of the labels, their share of all, and its interval."""
    if not errors:
        return {"n": 0, "share": None, "ci95": None}
    of_them = np.array([float(error.label in labels) for error in errors])
    share = mean_over_clusters(of_them, [error.question.cluster for error in errors], bounds=(0, 1))
    return {"n": int(of_them.sum()), "share": share.value, "ci95": share.ci95}


def _locales(
    errors: Sequence[_Error], ends: Iterable[Round], questions: dict[str, ReasonedQuestion]
) -> dict[str, dict[str, Any]]:
    asked = Counter(questions[record.id].group for record in ends)
    rounds = sorted({error.round for error in errors})
    locales = {}
    for locale in sorted(asked):
        mine = [error for error in errors if error.question.group == locale]
        locales[locale] = {
            "n": asked[locale],
            "labels": _labels(mine),
            "perception": _share(mine, PERCEPTION),
            "rounds": [
                {"round": number, "labels": _counted(error for error in mine if error.round == number)}
                for number in rounds
            ],
        }
    return locales


def _counted(errors: Iterable[_Error]) -> dict[str, int]:
    counts = Counter(error.label for error in errors)
    return {label: counts[label] for label in LABELS}


def _later(errors: Sequence[_Error]) -> dict[str, Any]:
    later = [error for error in errors if error.round > 1]
    first = len(errors) - len(later)
    return {
        "n": len(later),
        "of_first": len(later) / first if first else None,
        "of_all": len(later) / len(errors) if errors else None,
        "reasoning": sum(error.label == _REASONING for error in later),
    }


# --- questions and nodes --------------------------------------------------------------------------------------------


def _questions(attempts: Collection[Attempt], entered: int) -> dict[str, int]:
    return {
        "asked": len(attempts),
        "right": sum(attempt.right is True for attempt in attempts),
        "unjudged": sum(attempt.right is None for attempt in attempts),
        "entered": entered,
    }


def _settled(records: Sequence[Round], entered: int) -> list[dict[str, Any]]:
    settled, lines = 0, []
    for number in sorted({record.round for record in records}):
        settled += sum(record.round == number and record.stop in _SETTLED for record in records)
        lines.append({"round": number, "n": settled, "share": settled / entered})
    return lines


def _nodes(ends: Iterable[Round]) -> dict[str, Any]:
    tags: list[NodeTag] = [tag for record in ends for tag in record.nodes.values()]
    statuses = Counter(tag.status for tag in tags)
    evaluated = sum(tag.settled is not None for tag in tags)
    return {
        **{status: statuses[status] for status in get_args(Status)},
        "hint_ignored": sum(tag.later == "hint_ignored" for tag in tags),
        "recovered": sum(tag.later == "recovered" for tag in tags),
        "divergent_share": statuses[_DIVERGENT] / evaluated if evaluated else None,
    }


def _consensus(records: Iterable[Round], questions: dict[str, ReasonedQuestion]) -> dict[str, Any]:
    """Return round -> locale -> nodes on which a majority of the votes agrees, and on which none does (Tab. 9)."""
    counts: dict[int, dict[str, Counter[str]]] = {}
    for record in records:
        locale = counts.setdefault(record.round, {}).setdefault(questions[record.id].group, Counter())
        locale.update("none" if isolation.agreeing(tag) is None else "majority" for tag in isolation.voted_on(record))
    return {
        str(number): {
            locale: {kind: counted[kind] for kind in ("majority", "none")} for locale, counted in sorted(of.items())
        }
        for number, of in sorted(counts.items())
    }


def _times(records: Iterable[Round], graphs: Mapping[str, Graph]) -> dict[str, Any]:
    """Return how far stated times are off where the evidence was found and its time is critical.

    Returns:
        `compared`: votes on such nodes where both have a time; `beyond`: seconds -> how many of them are off by more
        (a label rests on 5, Fig. 6).
    """
    off = [
        seconds
        for record in records
        for key, tag in record.nodes.items()
        if tag.votes and tag.settled in (record.round, None)
        for vote in tag.votes
        if vote is not None
        and vote.found == "yes"
        and vote.time_critical
        and (seconds := seconds_off(vote.model_time, graphs[record.id].by_id[key])) is not None
    ]
    return {"compared": len(off), "beyond": {f"{limit:g}": sum(each > limit for each in off) for limit in _TOLERANCES}}


def _right_answers(records: Sequence[Round]) -> dict[str, Any] | None:
    """Return what the tagger says of answers that were right at first; None where it was not asked about any."""
    if not records:
        return None
    tags = [tag for record in records for tag in record.nodes.values()]
    statuses = Counter(tag.status for tag in tags)
    return {
        "n": len(records),
        "without_error": sum(not any(tag.label for tag in record.nodes.values()) for record in records),
        "nodes": {status: statuses[status] for status in get_args(Status)},
        "labels": {label: sum(tag.label == label for tag in tags) for label in LABELS},
    }


# --- who was asked --------------------------------------------------------------------------------------------------


def _summed(rounds: Iterable[Spent]) -> dict[str, Any]:
    """Add up what asking came to, by role."""
    models: dict[str, dict[str, Any]] = {}
    for spent in rounds:
        for role, counts in spent.items():
            there = models.setdefault(role, {"model": counts["model"], "returned": {}})
            for name in ("replies", "prompt_tokens", "completion_tokens"):
                there[name] = there.get(name, 0) + counts[name]
            there["returned"] = dict(sorted((Counter(there["returned"]) + Counter(counts["returned"])).items()))
    return models


def _judge(folder: Folder) -> dict[str, Any] | None:
    """Return who judged the answers, as the first run recorded it."""
    paths = sorted(folder.path.glob(f"rounds/1/run-*/{JUDGE}"))
    return read_json(paths[0]) if paths else None
