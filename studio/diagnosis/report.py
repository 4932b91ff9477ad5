"""What a diagnosis comes to: errors by label, round and locale, and how the loop ended (CURVE, section 5.2).

And two diagnoses held against each other: two taggers of the same answers, or two models (supplement, D.3). All of it
stands on one static page, with every question's graph round by round: its data are JSON, and it needs no server.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

from reelbench.pages.plots import bars
from reelbench.pages.shell_page import in_script, page_asset, page_head, shell_page
from reelbench.registry import discovery
from reelbench.registry.errors import MediaError
from reelbench.registry.files import address, read_json, write_json, write_text
from reelbench.registry.media.library import Library
from reelbench.stats.agreement import cohen_kappa
from reelbench.stats.intervals import cluster_sums, difference_of_means, mean_over_clusters
from reelbench.studio.diagnosis.attempts import JUDGE
from reelbench.studio.diagnosis.folder import Attempt, Folder, ReasonedQuestion, Spent
from reelbench.studio.evidence import isolation
from reelbench.studio.evidence.findings import LABELS, Label, seconds_off
from reelbench.studio.evidence.graphs import Graph
from reelbench.studio.evidence.isolation import NodeTag, Round, Status, Stop

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

    What a tagger says of right answers, which it is asked on request, counts in `right_answers` alone.

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
    tagged_right = [record for record in every if record.stop == "answer_right"]
    wrong = [record for record in records if record.stop != "answer_right"]
    last = {record.id: record for record in wrong}
    errors = [
        _Error(questions[record.id], tag.label, tag.by_order, tag.settled)
        for record in last.values()
        for tag in record.nodes.values()
        if tag.label is not None and tag.settled is not None
    ]
    by_order = [replace(error, label=error.by_order) for error in errors if error.by_order is not None]
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
            "unjudged": sum(attempt.right is None for attempt in attempts.values()),
            "entered": len(last),
        },
        "locales": _locales(errors, last.values(), questions),
        "later": {
            "n": len(later),
            "of_first": len(later) / first if first else None,
            "of_all": len(later) / len(errors) if errors else None,
            "reasoning": sum(error.label == _REASONING for error in later),
        },
        "settled": settled,
        "consensus_by_round": _consensus(wrong, questions),
        "nodes": _nodes(last.values()),
        "times": _times(wrong, graphs),
        "sizes": by_size(attempts.values(), questions, graphs),
        "skills": by_skill(attempts.values(), questions, ((error.question.id, error.label) for error in errors)),
        "right_answers": _right_answers(tagged_right),
        "models": _summed(folder.spent()),
        "judge": read_json(judges[0]) if judges else None,
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


def _labels(errors: Sequence[_Error]) -> dict[str, dict[str, Any]]:
    return {label: _share(errors, frozenset({label})) for label in LABELS}


def _share(errors: Sequence[_Error], labels: frozenset[Label]) -> dict[str, Any]:
    """Return the number of errors with one of the labels, their share of all, and its interval."""
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
                {
                    "round": number,
                    "labels": {
                        label: sum((error.round, error.label) == (number, label) for error in mine) for label in LABELS
                    },
                }
                for number in rounds
            ],
        }
    return locales


# --- questions and nodes --------------------------------------------------------------------------------------------


def _nodes(ends: Iterable[Round]) -> dict[str, Any]:
    tags: list[NodeTag] = [tag for record in ends for tag in record.nodes.values()]
    statuses, later = Counter(tag.status for tag in tags), Counter(tag.later for tag in tags)
    evaluated = sum(tag.settled is not None for tag in tags)
    return {
        **{status: statuses[status] for status in get_args(Status)},
        "hint_ignored": later["hint_ignored"],
        "recovered": later["recovered"],
        "divergent_share": statuses["divergent"] / evaluated if evaluated else None,
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
    """Return the differences of stated times where the evidence was found and its time is critical.

    `compared` counts votes on such nodes where both have a time, `beyond` how many of them are off by more than so many
    seconds (a label rests on 5, Fig. 6).
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
    """Return the tagger's verdicts on right answers, on the nodes that were open; None where it was asked of none."""
    by_answer = [
        tags for record in records if (tags := [tag for tag in record.nodes.values() if tag.settled == record.round])
    ]
    if not by_answer:
        return None
    tags = [tag for tags in by_answer for tag in tags]
    statuses = Counter(tag.status for tag in tags)
    return {
        "n": len(by_answer),
        "without_error": sum(not any(tag.label for tag in tags) for tags in by_answer),
        "nodes": {status: statuses[status] for status in get_args(Status)},
        "labels": {label: sum(tag.label == label for tag in tags) for label in LABELS},
    }


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


_NODES = {"1–2": 2, "3–4": 4, "5–6": 6, "7–9": 9, "10 and more": math.inf}
_DEPTHS = {"0": 0, "1": 1, "2": 2, "3–4": 4, "5 and more": math.inf}


def by_size(
    attempts: Iterable[Attempt], questions: Mapping[str, ReasonedQuestion], graphs: Mapping[str, Graph]
) -> dict[str, Any] | None:
    """Return the share of right answers by number of nodes and by depth (edges of the longest path).

    `nodes` and `depth`: bin (`3–4`) -> `n`, `right` (a share, 0 to 1) and `ci95` over videos. None unless all judged
    answers have a graph, the right ones too: those of lost questions alone have no share to tell.
    """
    judged = [attempt for attempt in attempts if attempt.right is not None]
    if not judged or not all(attempt.id in graphs and attempt.id in questions for attempt in judged):
        return None
    sizes: dict[str, tuple[dict[str, float], Callable[[Graph], int]]] = {
        "nodes": (_NODES, lambda graph: len(graph.nodes)),
        "depth": (_DEPTHS, lambda graph: max(graph.depths.values())),
    }
    rates: dict[str, Any] = {}
    for name, (bins, size) in sizes.items():
        groups: dict[str, list[Attempt]] = {label: [] for label in bins}
        for attempt in judged:
            fits = next(label for label, most in bins.items() if size(graphs[attempt.id]) <= most)
            groups[fits].append(attempt)
        rates[name] = {label: _rate(members, questions) for label, members in groups.items() if members}
    return rates


def by_skill(
    attempts: Iterable[Attempt], questions: Mapping[str, ReasonedQuestion], errors: Iterable[tuple[str, Label]]
) -> dict[str, Any]:
    """Return skill -> `n`, `right`, `ci95`, and `labels`: errors (question, label) in its questions, over these.

    First answers to other questions than these are left out.
    """
    asked: dict[str, list[Attempt]] = {}
    for attempt in attempts:
        if attempt.right is not None and attempt.id in questions:
            for skill in questions[attempt.id].skills:
                asked.setdefault(skill, []).append(attempt)
    counts = Counter((skill, label) for question, label in errors for skill in questions[question].skills)
    return {
        skill: _rate(asked[skill], questions)
        | {"labels": {label: counts[skill, label] / len(asked[skill]) for label in LABELS}}
        for skill in sorted(asked)
    }


def _rate(attempts: Sequence[Attempt], questions: Mapping[str, ReasonedQuestion]) -> dict[str, Any]:
    right = np.array([float(attempt.right is True) for attempt in attempts])
    share = mean_over_clusters(right, [questions[attempt.id].cluster for attempt in attempts], bounds=(0, 1))
    return {"n": len(attempts), "right": share.value, "ci95": share.ci95}


def agreement(first: Folder, second: Folder, number: int | None = None) -> dict[str, Any]:
    """Return the agreement of two diagnoses on nodes of the same graphs, in the questions that both lost.

    Of round `number` alone, or of all rounds: `nodes` that both evaluated, the share on which both have the same status
    and label (`same`), and Cohen's `kappa` (None where it is undefined).
    """
    lost, shared = _both_lost(first, second)
    graphs = [first.graphs, second.graphs]
    kinds: dict[tuple[str, str | None], int] = {}
    pairs: list[tuple[float, float]] = []
    for key in shared:
        if graphs[0].get(key) != graphs[1].get(key):
            continue
        for node, tag in lost[0][key].nodes.items():
            both = (tag, lost[1][key].nodes[node])
            if all(_counts(each, number) for each in both):
                codes = [kinds.setdefault((each.status, each.label), len(kinds)) for each in both]
                pairs.append((codes[0], codes[1]))
    return {
        "nodes": len(pairs),
        "same": sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        "kappa": cohen_kappa([a for a, _ in pairs], [b for _, b in pairs]) if pairs else None,
    }


def differences(first: Folder, second: Folder, number: int | None = None) -> dict[str, Any]:
    """Return the differences of the shares of errors in the questions that both lost; arguments as of `agreement`.

    `questions` counts them; `shares`: label, and `perception` -> its share of `a`'s errors in them and of `b`'s, their
    `difference` (a minus b) and its `ci95`, paired over videos; None where either has no error.
    """
    lost, shared = _both_lost(first, second)
    clusters = {question.id: question.cluster for question in first.questions}
    errors = [
        {key: [tag.label for tag in ends[key].nodes.values() if tag.label and _counts(tag, number)] for key in shared}
        for ends in lost
    ]
    if not all(any(found.values()) for found in errors):
        return {"questions": len(shared), "shares": None}
    shares: dict[str, Any] = {}
    for name, labels in {**{label: {label} for label in LABELS}, "perception": PERCEPTION}.items():
        columns = [
            [float(count) for found in errors for count in (sum(e in labels for e in found[key]), len(found[key]))]
            for key in shared
        ]
        sums = cluster_sums(np.array(columns), [clusters.get(key, key) for key in shared])
        a, b, test = difference_of_means(sums)
        shares[name] = {"a": a, "b": b, "difference": a - b, "ci95": test and test.interval()}
    return {"questions": len(shared), "shares": shares}


def _both_lost(first: Folder, second: Folder) -> tuple[list[dict[str, Round]], list[str]]:
    """Return the last wrong round of each question that was not right at first, by diagnosis, and those of both."""
    lost: list[dict[str, Round]] = []
    for folder in (first, second):
        right = {key for key, attempt in folder.answers(1).items() if attempt.right is True}
        wrong = (record for record in folder.rounds() if record.stop != "answer_right")
        lost.append({record.id: record for record in wrong if record.id not in right})
    return lost, sorted(lost[0].keys() & lost[1].keys())


def _counts(tag: NodeTag, number: int | None) -> bool:
    return tag.settled is not None and number in (None, tag.settled)


# --- the page ---------------------------------------------------------------------------------------------------------

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
        graphs, records, cues = folder.graphs, folder.rounds(), dict[str, str | None]()
        attempts = {number: folder.answers(number) for number in {record.round for record in records}}
        rounds: dict[str, list[dict[str, Any]]] = {}
        for record in records:
            attempt = attempts[record.round].get(record.id, Attempt(id=record.id))
            graph = graphs.get(record.id)
            rounds.setdefault(record.id, []).append(
                {
                    **record.model_dump(include={"round", "stop"}),
                    "cue": cues.get(record.id),
                    **attempt.model_dump(include={"answer", "output", "right"}),
                    "nodes": [_node(graph, key, record.nodes.get(key)) for key in graph.order] if graph else [],
                }
            )
            cues[record.id] = record.cue
        for question in folder.questions:
            if question.id not in rounds:
                continue
            if question.id not in shown:
                path = None  # the video's, where it is here
                if library is not None and question.video:
                    with suppress(MediaError, KeyError):
                        path = library.clip({"id": question.id, "video": question.video})
                shown[question.id] = {
                    **question.model_dump(include={"id", "language", "question", "answer", "steps"}),
                    "locale": question.group,
                    "video": None if path is None else address(path, out),
                    "diagnoses": [None] * len(folders),
                }
            shown[question.id]["diagnoses"][place] = rounds[question.id]
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


def _node(graph: Graph, key: str, tag: NodeTag | None) -> dict[str, Any]:
    node = graph.by_id[key]
    about = {
        "id": key,
        "evidence": node.evidence,
        "time": node.timestamp,
        "seconds": node.windows[0][0] if node.windows else None,
        "parents": node.parents,
        "depth": graph.depths[key],
    }
    if tag is None:
        return about
    return about | {
        "status": tag.status,
        "label": tag.label,
        "sub_cause": tag.sub_cause,
        "settled": tag.settled,
        "why": next((vote.why for vote in tag.votes if vote and vote.why and vote.label == tag.label), None),
        "later": _LATER.get(tag.later or ""),
    }
