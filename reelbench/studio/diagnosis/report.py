"""What a diagnosis comes to: errors by label, round and locale, and how the loop ended (CURVE, section 5.2).

And two diagnoses held against each other: two taggers of the same answers, or two models
(supplement, D.3). All of it stands on one static page, with every question's graph round by round:
its data are JSON, and it needs no server.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from reelbench.base.errors import MediaError
from reelbench.base.files import address, read_json, write_json, write_text
from reelbench.pages.plots import bars
from reelbench.pages.shell_page import in_script, page_asset, page_head, shell_page
from reelbench.registry import discovery
from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.intervals import cluster_sums, difference_of_means, mean_over_clusters
from reelbench.studio.diagnosis.attempts import JUDGE
from reelbench.studio.diagnosis.folder import Folder, ReasonedQuestion, Spent, Step
from reelbench.studio.evidence import isolation
from reelbench.studio.evidence.findings import LABELS, Label, seconds_off
from reelbench.studio.evidence.graphs import Graph
from reelbench.studio.evidence.isolation import NodeTag, Status, Stop
from reelbench.video.library import Library

REPORT, PICTURE = "report.json", "errors.svg"
PERCEPTION: frozenset[Label] = frozenset(
    {
        "Temporal Localization",
        "Spatial Grounding",
        "Attribute Misidentification",
        "Spurious Object/Event",
    }
)
"""The labels that are cultural visual perception; the others are knowledge and reasoning."""

_TOLERANCES = (2, 5, 10, 30)  # seconds
_RIGHT: Stop = "answer_right"
_SETTLED = ("all_evaluated", _RIGHT)


class _Error(NamedTuple):
    """An error: where it is, what it is by either reading, and the round that found it."""

    question: ReasonedQuestion
    label: Label
    by_order: Label | None
    round: int


_Answer = tuple[ReasonedQuestion, bool]
"""A question, and whether its first answer is right."""


def figures(folder: Folder) -> dict[str, Any]:
    """Compute a diagnosis' figures; counts are whole, shares from 0 to 1 with 95 % intervals over videos.

    What a tagger says of right answers, which it is asked on request, counts in `right_answers`
    alone.

    Returns:
        What `isolation.report` says, `ci95` beside each label's share (None where errors are on
        fewer than ten videos), and: `labels_by_order` (the same by the other reading of Fig. 6),
        `questions` (asked, right at first, unjudged, entered), `perception`, `locales` (locale ->
        `n` questions, `labels`, `perception`, `rounds`), `later` (errors that later rounds found:
        `n`, beside the first round's, of all, and how many are of reasoning), `settled` (by round,
        questions whose end is known), `consensus_by_round` (Tab. 9: round -> locale -> nodes with
        and without a majority), `nodes` (status -> n; `hint_ignored`, `recovered`,
        `divergent_share` of those evaluated), `times`, `sizes`, `skills`, `right_answers`, `models`
        and `judge`.

    Raises:
        InputError: The folder has no diagnosis, or something in it is wrong.
    """
    folder.settings()
    attempts, every = list(folder.answers(1).values()), folder.steps()
    questions = {question.id: question for question in folder.questions}
    known = [attempt for attempt in attempts if attempt.id in questions]
    answers = [
        (questions[attempt.id], attempt.right) for attempt in known if attempt.right is not None
    ]
    right = {attempt.id for attempt in attempts if attempt.right is True}
    steps = [step for step in every if step.question.id not in right]
    records = [step.record for step in steps]
    wrong = [step for step in steps if step.record.stop != _RIGHT]
    last = {step.question.id: step for step in wrong}.values()
    errors = [
        _Error(step.question, tag.label, tag.by_order, tag.settled)
        for step in last
        for tag in step.record.nodes.values()
        if tag.label is not None and tag.settled is not None
    ]
    by_order = [
        error._replace(label=error.by_order) for error in errors if error.by_order is not None
    ]
    judges = sorted(folder.path.glob(f"rounds/1/run-*/{JUDGE}"))  # as the first run recorded it
    settled: list[dict[str, Any]] = []
    for number in sorted({record.round for record in records}):
        ended = sum(record.round <= number and record.stop in _SETTLED for record in records)
        settled.append({"round": number, "n": ended, "share": ended / len(last)})
    later = [error for error in errors if error.round > 1]
    first = len(errors) - len(later)
    return {
        **isolation.report(records),
        "labels": _labels(errors),
        "labels_by_order": {
            "n": len(by_order),
            "changed": sum(error.by_order not in (None, error.label) for error in errors),
            "labels": _labels(by_order),
        },
        "perception": _share(errors, PERCEPTION),
        "questions": {
            "asked": len(attempts),
            "right": len(right),
            "unjudged": sum(attempt.right is None for attempt in attempts),
            "entered": len(last),
        },
        "locales": _locales(errors, Counter(step.question.group for step in last)),
        "later": {
            "n": len(later),
            "of_first": len(later) / first if first else None,
            "of_all": len(later) / len(errors) if errors else None,
            "reasoning": sum(error.label == "Reasoning" for error in later),
        },
        "settled": settled,
        "consensus_by_round": _consensus(wrong),
        "nodes": _nodes(tag for step in last for tag in step.record.nodes.values()),
        "times": _times(wrong),
        "sizes": _by_size(answers, folder.graphs),
        "skills": _by_skill(answers, errors),
        "right_answers": _right_answers([step for step in every if step.record.stop == _RIGHT]),
        "models": _sum_usage(folder.spent()),
        "judge": read_json(judges[0]) if judges else None,
    }


def write(folder: Folder) -> dict[str, Any]:
    """Write `report.json` and return what is in it; beside it the errors found up to each round (as Fig. 3), drawn."""
    report, model = figures(folder), folder.settings().get("model")
    write_json(folder.path / REPORT, report)
    total = Counter[str]()
    series: dict[str, dict[str, float]] = {}
    for line in report["rounds"]:
        total += Counter(line["labels"])
        series[f"up to round {line['round']}"] = {label: total[label] for label in LABELS}
    of_model = f" of {model}" if model else ""
    title = f"Errors{of_model} by the round that they are found up to (n = {total.total()})"
    write_text(folder.path / PICTURE, bars(title, series or {"": {}}, counts=True))
    return report


# --- errors
# ---------------------------------------------------------------------------------------------------------


def _labels(errors: Sequence[_Error]) -> dict[str, dict[str, Any]]:
    return {label: _share(errors, frozenset({label})) for label in LABELS}


def _share(errors: Sequence[_Error], labels: frozenset[Label]) -> dict[str, Any]:
    """Return the number of errors with one of the labels, their share of all, and its interval."""
    if not errors:
        return {"n": 0, "share": None, "ci95": None}
    rate = _rate([(error.question, error.label in labels) for error in errors])
    return {
        "n": sum(error.label in labels for error in errors),
        "share": rate["right"],
        "ci95": rate["ci95"],
    }


def _locales(errors: Sequence[_Error], asked: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    found = Counter((error.question.group, error.round, error.label) for error in errors)
    rounds = sorted({error.round for error in errors})
    locales = {}
    for locale in sorted(asked):
        mine = [error for error in errors if error.question.group == locale]
        locales[locale] = {
            "n": asked[locale],
            "labels": _labels(mine),
            "perception": _share(mine, PERCEPTION),
            "rounds": [
                {
                    "round": number,
                    "labels": {label: found[locale, number, label] for label in LABELS},
                }
                for number in rounds
            ],
        }
    return locales


# --- questions and nodes
# --------------------------------------------------------------------------------------------


def _statuses(tags: Iterable[NodeTag]) -> dict[str, int]:
    counted = Counter(tag.status for tag in tags)
    return {status: counted[status] for status in get_args(Status)}


def _nodes(of: Iterable[NodeTag]) -> dict[str, Any]:
    tags = list(of)
    statuses, later = _statuses(tags), Counter(tag.later for tag in tags)
    evaluated = sum(tag.settled is not None for tag in tags)
    return {
        **statuses,
        **{outcome: later[outcome] for outcome in ("hint_ignored", "recovered")},
        "divergent_share": statuses["divergent"] / evaluated if evaluated else None,
    }


def _consensus(steps: Iterable[Step]) -> dict[str, dict[str, dict[str, int]]]:
    """Return round -> locale -> nodes on which a majority of the votes agrees, and on which none does (Tab. 9)."""
    counts: dict[int, dict[str, dict[str, int]]] = {}
    for step in steps:
        of_round = counts.setdefault(step.record.round, {})
        locale = of_round.setdefault(step.question.group, {"majority": 0, "none": 0})
        for tag in isolation.voted_on(step.record):
            locale["none" if isolation.agreeing(tag) is None else "majority"] += 1
    return {
        str(number): dict(sorted(locales.items())) for number, locales in sorted(counts.items())
    }


def _times(steps: Iterable[Step]) -> dict[str, Any]:
    """Return the differences of stated times where the evidence was found and its time is critical.

    `compared` counts votes on such nodes where both have a time, `beyond` how many of them are off
    by more than so many seconds (a label rests on 5, Fig. 6).
    """
    off = [
        seconds
        for step in steps
        for key, tag in step.record.nodes.items()
        if tag.settled in (step.record.round, None)
        for vote in tag.votes
        if vote is not None
        and vote.found == "yes"
        and vote.time_critical
        and (seconds := seconds_off(vote.model_time, step.graph.by_id[key])) is not None
    ]
    return {
        "compared": len(off),
        "beyond": {f"{limit:g}": sum(each > limit for each in off) for limit in _TOLERANCES},
    }


def _right_answers(steps: Iterable[Step]) -> dict[str, Any] | None:
    """Return the tagger's verdicts on right answers, on the nodes that were open; None where it was asked of none."""
    by_answer = [list(step.settled_tags.values()) for step in steps if step.settled_tags]
    if not by_answer:
        return None
    tags = [tag for tags in by_answer for tag in tags]
    labels = Counter(tag.label for tag in tags)
    return {
        "n": len(by_answer),
        "without_error": sum(not any(tag.label for tag in tags) for tags in by_answer),
        "nodes": _statuses(tags),
        "labels": {label: labels[label] for label in LABELS},
    }


def _sum_usage(rounds: Iterable[Mapping[str, Spent]]) -> dict[str, Any]:
    """Add up what asking came to, by role."""
    models: dict[str, dict[str, Any]] = {}
    for role, spent in (pair for by_role in rounds for pair in by_role.items()):
        there = models.setdefault(role, {"model": spent.model, "returned": Counter[str]()})
        there["returned"] += Counter(spent.returned)
        for name in ("replies", "prompt_tokens", "completion_tokens"):
            there[name] = there.get(name, 0) + getattr(spent, name)
    return {
        role: counts | {"returned": dict(sorted(counts["returned"].items()))}
        for role, counts in models.items()
    }


_NODES = {"1–2": 2, "3–4": 4, "5–6": 6, "7–9": 9, "10 and more": math.inf}
_DEPTHS = {"0": 0, "1": 1, "2": 2, "3–4": 4, "5 and more": math.inf}


def _by_size(answers: Sequence[_Answer], graphs: Mapping[str, Graph]) -> dict[str, Any] | None:
    """Return the share of right answers by number of nodes and by depth (edges of the longest path).

    `nodes` and `depth`: bin (`3–4`) -> `n`, `right` (a share, 0 to 1) and `ci95` over videos. None
    unless all judged answers have a graph, the right ones too: those of lost questions alone have
    no share to tell.
    """
    if not answers or not all(question.id in graphs for question, _ in answers):
        return None
    sizes: dict[str, tuple[dict[str, float], Callable[[Graph], int]]] = {
        "nodes": (_NODES, lambda graph: len(graph.nodes)),
        "depth": (_DEPTHS, lambda graph: max(graph.depths.values())),
    }
    rates: dict[str, Any] = {}
    for name, (bins, size) in sizes.items():
        groups: dict[str, list[_Answer]] = {label: [] for label in bins}
        for question, right in answers:
            fits = next(label for label, most in bins.items() if size(graphs[question.id]) <= most)
            groups[fits].append((question, right))
        rates[name] = {label: _rate(members) for label, members in groups.items() if members}
    return rates


def _by_skill(answers: Iterable[_Answer], errors: Iterable[_Error]) -> dict[str, Any]:
    """Return skill -> `n`, `right`, `ci95`, and `labels`: errors in its questions, over these."""
    asked: dict[str, list[_Answer]] = {}
    for question, right in answers:
        for skill in question.skills:
            asked.setdefault(skill, []).append((question, right))
    counts = Counter((skill, error.label) for error in errors for skill in error.question.skills)
    return {
        skill: _rate(of) | {"labels": {label: counts[skill, label] / len(of) for label in LABELS}}
        for skill, of in sorted(asked.items())
    }


def _rate(answers: Sequence[_Answer]) -> dict[str, Any]:
    videos = [question.cluster for question, _ in answers]
    share = mean_over_clusters(
        np.array([right for _, right in answers], dtype=float), videos, bounds=(0, 1)
    )
    return {"n": len(answers), "right": share.value, "ci95": share.ci95}


# --- two diagnoses
# --------------------------------------------------------------------------------------------------


def agreement(first: Folder, second: Folder, number: int | None = None) -> dict[str, Any]:
    """Return the agreement of two diagnoses on nodes of the same graphs, in the questions that both lost.

    Of round `number` alone, or of all rounds: `nodes` that both evaluated, the share on which both
    have the same status and label (`same`), and Cohen's `kappa` (None where it is undefined).
    """
    kinds: dict[tuple[str, str | None], int] = {}
    pairs: list[tuple[int, ...]] = []
    for (one, tags), (other, others) in _both_lost(first, second, number):
        if one.graph == other.graph:
            both = [(tag, others[node]) for node, tag in tags.items() if node in others]
            pairs += [
                tuple(kinds.setdefault((tag.status, tag.label), len(kinds)) for tag in pair)
                for pair in both
            ]
    return {
        "nodes": len(pairs),
        "same": sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        "kappa": cohen_kappa(*zip(*pairs, strict=True)) if pairs else None,
    }


def differences(first: Folder, second: Folder, number: int | None = None) -> dict[str, Any]:
    """Return the differences of the shares of errors in the questions that both lost; arguments as of `agreement`.

    `questions` counts them; `shares`: label, and `perception` -> its share of `a`'s errors in them
    and of `b`'s, their `difference` (a minus b) and its `ci95`, paired over videos; None where
    either has no error.
    """
    shared = _both_lost(first, second, number)
    errors = [
        [[tag.label for tag in tags.values() if tag.label] for _, tags in pair] for pair in shared
    ]
    if not all(any(found) for found in zip(*errors, strict=True)) or not errors:
        return {"questions": len(shared), "shares": None}
    clusters = [one.question.cluster for (one, _), _ in shared]
    shares: dict[str, Any] = {}
    for name, labels in {**{label: {label} for label in LABELS}, "perception": PERCEPTION}.items():
        columns = [
            [
                float(count)
                for found in pair
                for count in (sum(e in labels for e in found), len(found))
            ]
            for pair in errors
        ]
        a, b, test = difference_of_means(cluster_sums(np.array(columns), clusters))
        shares[name] = {"a": a, "b": b, "difference": a - b, "ci95": test and test.interval()}
    return {"questions": len(shared), "shares": shares}


_Lost = tuple[Step, dict[str, NodeTag]]
"""A question's last wrong round, and the tags that count, by node: those that `number` settled, or any round."""


def _both_lost(first: Folder, second: Folder, number: int | None) -> list[tuple[_Lost, _Lost]]:
    """Return what both diagnoses have of each question that neither has right at first, by its id."""
    lost: list[dict[str, _Lost]] = []
    for folder in (first, second):
        right = {key for key, attempt in folder.answers(1).items() if attempt.right is True}
        wrong = [step for step in folder.steps() if step.record.stop != _RIGHT]
        lost.append({})
        for step in [step for step in wrong if step.question.id not in right]:
            settled = {
                node: tag for node, tag in step.record.nodes.items() if tag.settled is not None
            }
            counted = {node: tag for node, tag in settled.items() if number in (None, tag.settled)}
            lost[-1][step.question.id] = step, counted
    return [(lost[0][key], lost[1][key]) for key in sorted(lost[0].keys() & lost[1].keys())]


# --- the page
# ---------------------------------------------------------------------------------------------------------

PAGE = "report.html"
_LINKS = (
    ("#questions", "Questions"),
    ("#errors", "Errors"),
    ("#locales", "Locales"),
    ("#rates", "Skills"),
    ("#ends", "How it ended"),
)
_ROOM = "studio.diagnosis"
_LATER = {"hint_ignored": "wrong again though told", "recovered": "found later without being told"}


def write_page(folders: Sequence[Folder], figures: Sequence[dict[str, Any]], out: Path) -> None:
    """Write the page of one diagnosis, or of several side by side, each with its `report.figures`."""
    settings = [folder.settings() for folder in folders]
    names = [str(each.get("benchmark")) for each in settings]
    first = discovery.specs().get(names[0])
    shown: dict[str, dict[str, Any]] = {}
    for place, folder in enumerate(folders):
        spec = discovery.specs().get(names[place])
        library = spec and Library(spec, str(settings[place].get("split") or spec.default_split))
        for step in folder.steps():
            question, graph = step.question, step.graph
            if question.id not in shown:
                path = None  # the video's, where it is here
                if library is not None and question.video:
                    with suppress(MediaError, KeyError):
                        path = library.clip({"id": question.id, "video": question.video})
                shown[question.id] = {
                    **question.model_dump(
                        include={"id", "language", "question", "answer", "steps"}
                    ),
                    "locale": question.group,
                    "video": None if path is None else address(path, out),
                    "diagnoses": [None] * len(folders),
                }
            nodes = list[dict[str, Any]]()
            for key in graph.order:
                node, tag = graph.by_id[key], step.record.nodes.get(key)
                about = {
                    **node.model_dump(include={"id", "evidence"}),
                    "time": node.timestamp,
                    "seconds": node.windows[0][0] if node.windows else None,
                    "parents": node.parents,
                    "depth": graph.depths[key],
                }
                if tag is not None:
                    about |= tag.model_dump(include={"status", "label", "sub_cause", "settled"})
                    why = (
                        vote.why
                        for vote in tag.votes
                        if vote and vote.why and vote.label == tag.label
                    )
                    about |= {"why": next(why, None), "later": _LATER.get(tag.later or "")}
                nodes.append(about)
            record = step.record.model_dump(include={"round", "stop"}) | {"cue": step.cue}
            said = step.attempt.model_dump(include={"answer", "output", "right"})
            diagnoses = shown[question.id]["diagnoses"]
            diagnoses[place] = [*(diagnoses[place] or []), {**record, **said, "nodes": nodes}]
    data = {
        "diagnoses": [
            {"name": folder.path.absolute().name, "settings": setting, "figures": each}
            for folder, setting, each in zip(folders, settings, figures, strict=True)
        ],
        "benchmark": first.title if first else names[0],
        "labels": LABELS,
        "stops": get_args(Stop),
        "questions": list(shown.values()),
    }
    page = shell_page(
        "Where answers went wrong",
        page_asset("page.html", _ROOM),
        style=page_asset("page.css", _ROOM),
        script=page_asset("plots.js") + page_asset("page.js", _ROOM),
        data=in_script(data),
        head=page_head(_LINKS),
    )
    write_text(out, page)
