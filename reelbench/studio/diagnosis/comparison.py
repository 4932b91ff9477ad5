"""Two diagnoses compared: two taggers of the same answers, or two models (supplement, D.3)."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.intervals import cluster_sums
from reelbench.stats.paired import difference_of_means
from reelbench.studio.diagnosis.folder import Folder, Step
from reelbench.studio.evidence.findings import LABELS, PERCEPTION, Label
from reelbench.studio.evidence.isolation import NodeTag, Stop

_RIGHT: Stop = "answer_right"


_Code = tuple[str, str | None]
"""Status and label of a node."""


class Agreement(TypedDict):
    """The agreement of two diagnoses on the nodes that both evaluated.

    `same` is the share on which both have the same status and label, `kappa` is Cohen's (None where
    it is undefined).
    """

    nodes: int
    same: float | None
    kappa: float | None


class ShareDifference(TypedDict):
    """A label's share of the errors of `a` and `b`.

    `difference` is a minus b.
    """

    a: float
    b: float
    difference: float
    ci95: tuple[float, float] | None


class Differences(TypedDict):
    """The questions that both got wrong, and the differences of their errors by label.

    `shares` has `perception`, too. It is None where either has no error.
    """

    questions: int
    shares: dict[str, ShareDifference] | None


class _LostQuestion(NamedTuple):
    """A question's last wrong round, and the tags that count, by node."""

    step: Step
    tags: dict[str, NodeTag]

    @property
    def labels(self) -> list[Label]:
        return [tag.label for tag in self.tags.values() if tag.label]


class _Pair(NamedTuple):
    """A question that both diagnoses lost."""

    first: _LostQuestion
    second: _LostQuestion


def agreement(first: Folder, second: Folder, number: int | None = None) -> Agreement:
    """Return the agreement of two diagnoses on nodes of the same graphs.

    They are of the questions that both got wrong, and of round `number` alone or of all rounds.
    """
    code_numbers: dict[_Code, int] = {}
    first_codes: list[int] = []
    second_codes: list[int] = []
    same = 0
    for pair in _both_lost(first, second, number):
        if pair.first.step.graph != pair.second.step.graph:
            continue
        for node, first_tag in pair.first.tags.items():
            second_tag = pair.second.tags.get(node)
            if second_tag is None:
                continue
            first_code = _code_number(first_tag, code_numbers)
            second_code = _code_number(second_tag, code_numbers)
            first_codes.append(first_code)
            second_codes.append(second_code)
            if first_code == second_code:
                same += 1
    nodes = len(first_codes)
    if not nodes:
        return {"nodes": 0, "same": None, "kappa": None}
    return {
        "nodes": nodes,
        "same": same / nodes,
        "kappa": cohen_kappa(first_codes, second_codes),
    }


def _code_number(tag: NodeTag, numbers: dict[_Code, int]) -> int:
    """Return the number of a tag's status and label, a new one if need be."""
    code = (tag.status, tag.label)
    return numbers.setdefault(code, len(numbers))


def differences(first: Folder, second: Folder, number: int | None = None) -> Differences:
    """Return the differences of the shares of errors, paired over videos.

    They are in the questions that both got wrong. The arguments are those of `agreement`.
    """
    pairs = _both_lost(first, second, number)
    first_has_errors = any(pair.first.labels for pair in pairs)
    second_has_errors = any(pair.second.labels for pair in pairs)
    shares: dict[str, ShareDifference] | None = None
    if first_has_errors and second_has_errors:
        shares = {label: _share_difference(pairs, {label}) for label in LABELS}
        shares["perception"] = _share_difference(pairs, PERCEPTION)
    return {"questions": len(pairs), "shares": shares}


def _share_difference(pairs: Sequence[_Pair], labels: Collection[Label]) -> ShareDifference:
    videos = [pair.first.step.question.cluster for pair in pairs]
    rows: list[list[int]] = []
    for pair in pairs:
        row: list[int] = []
        for question in pair:
            errors = question.labels
            row.append(sum(label in labels for label in errors))
            row.append(len(errors))
        rows.append(row)
    sums = cluster_sums(np.array(rows, dtype=float), videos)
    means = difference_of_means(sums, bounds=(0, 1))
    ci95 = None
    if means.test is not None:
        ci95 = means.test.interval()
    return {
        "a": means.a,
        "b": means.b,
        "difference": means.a - means.b,
        "ci95": ci95,
    }


def _both_lost(first: Folder, second: Folder, number: int | None) -> list[_Pair]:
    """Return the questions that neither diagnosis has right at first, by id."""
    first_lost = _lost_questions_by_id(first, number)
    second_lost = _lost_questions_by_id(second, number)
    both = sorted(first_lost.keys() & second_lost.keys())
    return [_Pair(first_lost[key], second_lost[key]) for key in both]


def _lost_questions_by_id(folder: Folder, number: int | None) -> dict[str, _LostQuestion]:
    """Return the lost questions by id.

    The tags of round `number` count. None for all rounds.
    """
    first_answers = folder.answers(1).values()
    right_ids = {attempt.id for attempt in first_answers if attempt.right is True}
    questions: dict[str, _LostQuestion] = {}
    for step in folder.steps():
        if step.record.stop == _RIGHT or step.question.id in right_ids:
            continue
        tags: dict[str, NodeTag] = {}
        for node, tag in step.record.nodes.items():
            is_in_round = number in (None, tag.settled)
            if tag.settled is not None and is_in_round:
                tags[node] = tag
        questions[step.question.id] = _LostQuestion(step, tags)
    return questions
