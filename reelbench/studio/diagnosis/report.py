"""The figures of a diagnosis: errors by label, round and locale (CURVE, section 5.2).

A picture of the errors stands beside them. The page is made by `page`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, get_args

import numpy as np

from reelbench.base.files import read_json, write_json, write_text
from reelbench.pages.plots import bars
from reelbench.stats.intervals import mean_over_clusters
from reelbench.studio.diagnosis.attempts import JUDGE
from reelbench.studio.diagnosis.folder import Attempt, Folder, ReasonedQuestion, Spent, Step
from reelbench.studio.evidence import isolation
from reelbench.studio.evidence.findings import LABELS, PERCEPTION, Label, seconds_off
from reelbench.studio.evidence.graphs import Graph
from reelbench.studio.evidence.isolation import NodeTag, Status, Stop

REPORT = "report.json"
PICTURE = "errors.svg"

_RIGHT: Stop = "answer_right"
_SETTLED = ("all_evaluated", _RIGHT)


# --- the shape of the report
# -------------------------------------------------------------------------------------------------

_Interval = tuple[float, float] | None


class Share(TypedDict):
    """Errors with a label, their share of all, and its interval over videos.

    Share and interval are None without any error.
    """

    n: int
    share: float | None
    ci95: _Interval


class Rate(TypedDict):
    """Questions, and the share of them that was right at first."""

    n: int
    right: float | None
    ci95: _Interval


class SkillRate(Rate):
    """A skill's questions.

    `labels`: the errors in them, over their number.
    """

    labels: dict[str, float]


class LabelsByOrder(TypedDict):
    """The errors by the other reading of Fig. 6.

    `changed` have another label by it.
    """

    n: int
    changed: int
    labels: dict[str, Share]


class QuestionCounts(TypedDict):
    """Questions that were asked, right at first, not judged, and that entered the loop."""

    asked: int
    right: int
    unjudged: int
    entered: int


class LocaleRound(TypedDict):
    """The errors of a locale that a round found, by label."""

    round: int
    labels: dict[str, int]


class LocaleFigures(TypedDict):
    """A locale's questions (`n`) and the errors in them."""

    n: int
    labels: dict[str, Share]
    perception: Share
    rounds: list[LocaleRound]


class LaterErrors(TypedDict):
    """Errors that later rounds found, beside the first round's and all.

    `reasoning` of them are of that label. A share over nothing is None.
    """

    n: int
    of_first: float | None
    of_all: float | None
    reasoning: int


class SettledQuestions(TypedDict):
    """Questions whose end is known after a round."""

    round: int
    n: int
    share: float


class Times(TypedDict):
    """Differences of stated times, where the evidence was found and its time is critical.

    `compared` votes have both times. `beyond`: seconds -> votes that are off by more (a label rests
    on 5, Fig. 6).
    """

    compared: int
    beyond: dict[str, int]


class Sizes(TypedDict):
    """Right answers by the graph's number of nodes and by its depth, in bins (`3–4`)."""

    nodes: dict[str, Rate]
    depth: dict[str, Rate]


class RightAnswers(TypedDict):
    """The tagger's verdicts on right answers, on the nodes that were open."""

    n: int
    without_error: int
    nodes: dict[str, int]
    labels: dict[str, int]


class Usage(TypedDict):
    """The replies and tokens of a role's model in all rounds."""

    model: str
    returned: dict[str, int]
    replies: int
    prompt_tokens: int
    completion_tokens: int


class Figures(TypedDict):
    """A diagnosis' figures, as `report.json` has them.

    Counts are whole. Shares are from 0 to 1 with 95 % intervals over videos, which are None where
    there are fewer than ten videos. Verdicts on right answers, which are asked for on request,
    count in `right_answers` alone.
    """

    rounds: list[isolation.RoundCount]
    labels: dict[str, Share]
    consensus: dict[str, int]
    stops: dict[str, int]
    labels_by_order: LabelsByOrder
    perception: Share
    questions: QuestionCounts
    locales: dict[str, LocaleFigures]
    later: LaterErrors
    settled: list[SettledQuestions]
    consensus_by_round: dict[str, dict[str, dict[str, int]]]
    """Round -> locale -> nodes with a `majority` and with `none` (Tab. 9)."""
    nodes: dict[str, float | None]
    """Status -> nodes. `hint_ignored`, `recovered`, `divergent_share` of those evaluated."""
    times: Times
    sizes: Sizes | None
    """None unless all judged answers have a graph: of lost questions alone there is no share."""
    skills: dict[str, SkillRate]
    right_answers: RightAnswers | None
    """None where the tagger was asked of none."""
    models: dict[str, Usage]
    judge: Any
    """The judge's record, as the first run wrote it."""


# --- figures
# -------------------------------------------------------------------------------------------------


class _Error(NamedTuple):
    """An error: its question, its label by either reading, and the round that found it."""

    question: ReasonedQuestion
    label: Label
    by_order: Label | None
    round: int


class _Answer(NamedTuple):
    """A question, and whether its first answer is right."""

    question: ReasonedQuestion
    right: bool


def figures(folder: Folder) -> Figures:
    """Compute a diagnosis' figures.

    Raises:
        InputError: The folder has no diagnosis, or something in it is wrong.
    """
    folder.settings()
    attempts = list(folder.answers(1).values())
    steps = folder.steps()
    answers = _judged_answers(folder, attempts)
    right_ids = {attempt.id for attempt in attempts if attempt.right is True}
    lost_steps = [step for step in steps if step.question.id not in right_ids]
    records = [step.record for step in lost_steps]
    wrong_steps = [step for step in lost_steps if step.record.stop != _RIGHT]
    right_steps = [step for step in steps if step.record.stop == _RIGHT]
    last_by_question = {step.question.id: step for step in wrong_steps}
    last_steps = list(last_by_question.values())
    errors = _errors_in_last_steps(last_steps)
    isolation_report = isolation.report(records)
    return {
        "rounds": isolation_report["rounds"],
        "labels": _share_by_label(errors),
        "consensus": isolation_report["consensus"],
        "stops": isolation_report["stops"],
        "labels_by_order": _labels_by_order(errors),
        "perception": _share_with_labels(errors, PERCEPTION),
        "questions": {
            "asked": len(attempts),
            "right": len(right_ids),
            "unjudged": sum(attempt.right is None for attempt in attempts),
            "entered": len(last_steps),
        },
        "locales": _figures_by_locale(errors, last_steps),
        "later": _errors_in_later_rounds(errors),
        "settled": _settled_questions_by_round(records, len(last_steps)),
        "consensus_by_round": _count_majorities_by_round(wrong_steps),
        "nodes": _count_node_statuses(last_steps),
        "times": _time_differences(wrong_steps),
        "sizes": _by_size(answers, folder.graphs),
        "skills": _by_skill(answers, errors),
        "right_answers": _right_answers(right_steps),
        "models": _sum_usage(folder.spent()),
        "judge": _first_judge(folder),
    }


def write(folder: Folder) -> dict[str, Any]:
    """Write `report.json` and the picture of the errors.

    Return the report. The picture has the errors found up to each round (as Fig. 3).
    """
    report = figures(folder)
    write_json(folder.path / REPORT, report)
    model = folder.settings().get("model")
    write_text(folder.path / PICTURE, _errors_by_round(report["rounds"], model))
    return {**report}


def _errors_by_round(rounds: Sequence[isolation.RoundCount], model: str | None) -> str:
    total: Counter[str] = Counter()
    series: dict[str, dict[str, float]] = {}
    for count in rounds:
        total.update(count["labels"])
        series[f"up to round {count['round']}"] = {label: total[label] for label in LABELS}
    of_model = ""
    if model:
        of_model = f" of {model}"
    title = f"Errors{of_model} found up to each round (n = {total.total()})"
    return bars(title, series or {"": {}}, counts=True)


def _judged_answers(folder: Folder, attempts: Sequence[Attempt]) -> list[_Answer]:
    questions = {question.id: question for question in folder.questions}
    answers: list[_Answer] = []
    for attempt in attempts:
        question = questions.get(attempt.id)
        if question is not None and attempt.right is not None:
            answers.append(_Answer(question, attempt.right))
    return answers


def _first_judge(folder: Folder) -> Any:  # noqa: ANN401 - as the file has it
    paths = sorted(folder.path.glob(f"rounds/1/run-*/{JUDGE}"))
    if not paths:
        return None
    return read_json(paths[0])


# --- errors
# -------------------------------------------------------------------------------------------------


def _errors_in_last_steps(last_steps: Iterable[Step]) -> list[_Error]:
    errors: list[_Error] = []
    for step in last_steps:
        for tag in step.record.nodes.values():
            if tag.label is None or tag.settled is None:
                continue
            error = _Error(step.question, tag.label, tag.by_order, tag.settled)
            errors.append(error)
    return errors


def _share_by_label(errors: Sequence[_Error]) -> dict[str, Share]:
    return {label: _share_with_labels(errors, frozenset({label})) for label in LABELS}


def _labels_by_order(errors: Sequence[_Error]) -> LabelsByOrder:
    errors_by_order: list[_Error] = []
    changed = 0
    for error in errors:
        if error.by_order is not None:
            errors_by_order.append(error._replace(label=error.by_order))
            if error.by_order != error.label:
                changed += 1
    return {
        "n": len(errors_by_order),
        "changed": changed,
        "labels": _share_by_label(errors_by_order),
    }


def _share_with_labels(errors: Sequence[_Error], labels: frozenset[Label]) -> Share:
    """Count the errors with one of the labels."""
    if not errors:
        return {"n": 0, "share": None, "ci95": None}
    has_label = [error.label in labels for error in errors]
    videos = [error.question.cluster for error in errors]
    values = np.array(has_label, dtype=float)
    estimate = mean_over_clusters(values, videos, bounds=(0, 1))
    return {
        "n": sum(has_label),
        "share": estimate.value,
        "ci95": estimate.ci95,
    }


def _figures_by_locale(
    errors: Sequence[_Error], last_steps: Iterable[Step]
) -> dict[str, LocaleFigures]:
    questions = Counter(step.question.group for step in last_steps)
    rounds = sorted({error.round for error in errors})
    locales: dict[str, LocaleFigures] = {}
    for locale in sorted(questions):
        locale_errors = [error for error in errors if error.question.group == locale]
        locales[locale] = {
            "n": questions[locale],
            "labels": _share_by_label(locale_errors),
            "perception": _share_with_labels(locale_errors, PERCEPTION),
            "rounds": _locale_rounds(locale_errors, rounds),
        }
    return locales


def _locale_rounds(errors: Iterable[_Error], rounds: Iterable[int]) -> list[LocaleRound]:
    counts = Counter((error.round, error.label) for error in errors)
    locale_rounds: list[LocaleRound] = []
    for round_number in rounds:
        labels: dict[str, int] = {}
        for label in LABELS:
            labels[label] = counts[round_number, label]
        locale_rounds.append({"round": round_number, "labels": labels})
    return locale_rounds


def _share_or_none(count: int, total: int) -> float | None:
    if not total:
        return None
    return count / total


def _errors_in_later_rounds(errors: Sequence[_Error]) -> LaterErrors:
    later_errors = [error for error in errors if error.round > 1]
    later = len(later_errors)
    first = len(errors) - later
    return {
        "n": later,
        "of_first": _share_or_none(later, first),
        "of_all": _share_or_none(later, len(errors)),
        "reasoning": sum(error.label == "Reasoning" for error in later_errors),
    }


# --- questions and nodes
# -------------------------------------------------------------------------------------------------


def _settled_questions_by_round(
    records: Sequence[isolation.Round], questions: int
) -> list[SettledQuestions]:
    ends = [record.round for record in records if record.stop in _SETTLED]
    settled: list[SettledQuestions] = []
    for number in sorted({record.round for record in records}):
        ended = sum(end <= number for end in ends)
        settled.append({"round": number, "n": ended, "share": ended / questions})
    return settled


def _count_tags_by_status(tags: Iterable[NodeTag]) -> dict[str, int]:
    counts = Counter(tag.status for tag in tags)
    return {status: counts[status] for status in get_args(Status)}


def _count_node_statuses(last_steps: Iterable[Step]) -> dict[str, float | None]:
    tags: list[NodeTag] = []
    for step in last_steps:
        tags += step.record.nodes.values()
    statuses = _count_tags_by_status(tags)
    later = Counter(tag.later for tag in tags)
    evaluated = sum(tag.settled is not None for tag in tags)
    return {
        **statuses,
        "hint_ignored": later["hint_ignored"],
        "recovered": later["recovered"],
        "divergent_share": _share_or_none(statuses["divergent"], evaluated),
    }


def _count_majorities_by_round(steps: Iterable[Step]) -> dict[str, dict[str, dict[str, int]]]:
    counts: dict[int, dict[str, dict[str, int]]] = {}
    for step in steps:
        round_counts = counts.setdefault(step.record.round, {})
        locale_counts = round_counts.setdefault(step.question.group, {"majority": 0, "none": 0})
        for tag in isolation.tags_voted_on(step.record):
            outcome = "majority"
            if isolation.agreeing_votes(tag) is None:
                outcome = "none"
            locale_counts[outcome] += 1
    in_order: dict[str, dict[str, dict[str, int]]] = {}
    for number, round_counts in sorted(counts.items()):
        in_order[str(number)] = dict(sorted(round_counts.items()))
    return in_order


_TOLERANCES = (2, 5, 10, 30)
"""Seconds that a stated time may be off."""


def _time_differences(steps: Iterable[Step]) -> Times:
    differences: list[float] = []
    for step in steps:
        for key, tag in step.record.nodes.items():
            if tag.settled not in (step.record.round, None):
                continue
            for verdict in tag.votes:
                if verdict is None or verdict.found != "yes" or not verdict.time_critical:
                    continue
                seconds = seconds_off(verdict.model_time, step.graph.by_id[key])
                if seconds is not None:
                    differences.append(seconds)
    beyond: dict[str, int] = {}
    for limit in _TOLERANCES:
        beyond[f"{limit:g}"] = sum(seconds > limit for seconds in differences)
    return {"compared": len(differences), "beyond": beyond}


def _right_answers(steps: Iterable[Step]) -> RightAnswers | None:
    tags: list[NodeTag] = []
    answers = 0
    without_error = 0
    for step in steps:
        answer_tags = step.settled_tags.values()
        if answer_tags:
            tags += answer_tags
            answers += 1
            without_error += not any(tag.label for tag in answer_tags)
    if not answers:
        return None
    labels = Counter(tag.label for tag in tags)
    return {
        "n": answers,
        "without_error": without_error,
        "nodes": _count_tags_by_status(tags),
        "labels": {label: labels[label] for label in LABELS},
    }


def _sum_usage(rounds: Iterable[Mapping[str, Spent]]) -> dict[str, Usage]:
    """Add up the models' usage, by role."""
    models: dict[str, Usage] = {}
    for spent_by_role in rounds:
        for role, spent in spent_by_role.items():
            usage = models.get(role)
            if usage is None:
                usage = Usage(
                    model=spent.model,
                    returned={},
                    replies=0,
                    prompt_tokens=0,
                    completion_tokens=0,
                )
            models[role] = _with_spent(usage, spent)
    return models


def _with_spent(usage: Usage, spent: Spent) -> Usage:
    returned = Counter(usage["returned"]) + Counter(spent.returned)
    return {
        "model": usage["model"],
        "returned": dict(sorted(returned.items())),
        "replies": usage["replies"] + spent.replies,
        "prompt_tokens": usage["prompt_tokens"] + spent.prompt_tokens,
        "completion_tokens": usage["completion_tokens"] + spent.completion_tokens,
    }


# --- right answers by size and skill
# -------------------------------------------------------------------------------------------------

_NODE_BINS = {"1–2": 2, "3–4": 4, "5–6": 6, "7–9": 9, "10 and more": math.inf}
_DEPTH_BINS = {"0": 0, "1": 1, "2": 2, "3–4": 4, "5 and more": math.inf}


def _by_size(answers: Sequence[_Answer], graphs: Mapping[str, Graph]) -> Sizes | None:
    if not answers or not all(answer.question.id in graphs for answer in answers):
        return None
    nodes: list[int] = []
    depths: list[int] = []
    for answer in answers:
        graph = graphs[answer.question.id]
        nodes.append(len(graph.nodes))
        depths.append(max(graph.depths.values()))
    return {
        "nodes": _rates_in_bins(answers, nodes, _NODE_BINS),
        "depth": _rates_in_bins(answers, depths, _DEPTH_BINS),
    }


def _rates_in_bins(
    answers: Iterable[_Answer], sizes: Iterable[int], bins: Mapping[str, float]
) -> dict[str, Rate]:
    """Return the rate in each bin that has answers.

    A bin's number is the most that it takes.
    """
    answers_in: dict[str, list[_Answer]] = {label: [] for label in bins}
    for answer, size in zip(answers, sizes, strict=True):
        label = next(label for label, most in bins.items() if size <= most)
        answers_in[label].append(answer)
    rates: dict[str, Rate] = {}
    for label, bin_answers in answers_in.items():
        if bin_answers:
            rates[label] = _share_right(bin_answers)
    return rates


def _by_skill(answers: Iterable[_Answer], errors: Iterable[_Error]) -> dict[str, SkillRate]:
    answers_by_skill: dict[str, list[_Answer]] = {}
    for answer in answers:
        for skill in answer.question.skills:
            answers_by_skill.setdefault(skill, []).append(answer)
    error_counts: Counter[tuple[str, Label]] = Counter()
    for error in errors:
        for skill in error.question.skills:
            error_counts[skill, error.label] += 1
    rates: dict[str, SkillRate] = {}
    for skill, skill_answers in sorted(answers_by_skill.items()):
        labels: dict[str, float] = {}
        for label in LABELS:
            labels[label] = error_counts[skill, label] / len(skill_answers)
        rates[skill] = {**_share_right(skill_answers), "labels": labels}
    return rates


def _share_right(answers: Sequence[_Answer]) -> Rate:
    videos = [answer.question.cluster for answer in answers]
    right = np.array([answer.right for answer in answers], dtype=float)
    share = mean_over_clusters(right, videos, bounds=(0, 1))
    return {"n": len(answers), "right": share.value, "ci95": share.ci95}
