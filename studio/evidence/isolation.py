"""Iterative error isolation: where in a graph a model went wrong, and what it is told next (CURVE, section 5.2).

Pure rules: verdicts on nodes go in, tags and cues come out. What the paper leaves open (supplement, D.3 and Fig. 7):

- Votes are taken per node, on status and label together; where no majority agrees the node is `undecided`, and is voted
  on again if there is another round.
- A node is evaluated once all its parents are known: right, given by a cue, or found by the model in a later round.
- A settled node keeps its first label, so it has at most one error, whatever later votes say.
- A question ends when every node is evaluated, right or wrong, and also when its answer is right. A right answer has no
  errors (all its nodes are right in Fig. 8 and 9): it is tagged on request alone, and never counted.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from reelbench.registry.base_record import Count
from reelbench.studio.evidence.findings import LABELS, Label, NodeVerdict, SubCause
from reelbench.studio.evidence.graphs import Graph, Node
from reelbench.studio.evidence.timestamps import NOT_APPLICABLE

Status = Literal["right", "wrong", "divergent", "undetermined", "undecided"]
"""`undetermined`: not evaluated, because of a parent; `undecided`: evaluated, but the votes differ."""
Stop = Literal[
    "all_evaluated",
    "answer_right",
    "limit",
    "no_consensus",
    "tagger_unparsable",
    "tagger_unavailable",
    "graph_invalid",
    "model_failed",
    "media_missing",
    "unjudged",
]

_FAILING = ("wrong", "divergent")

ROUNDS = 5
"""Rounds after which a question is left as it is."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NodeTag(_Frozen):
    """Where a node stands after a round.

    Attributes:
        status: See `Status`.
        label: The error's, where it is wrong.
        sub_cause: Of a Reasoning error, where the votes agree on it.
        by_order: The label by the other reading of Fig. 6 (`findings`), where a majority has it.
        votes: Behind the status; None is a vote that said nothing of the node, or could not be read.
        settled: The round that settled it; None while it is undetermined or undecided.
        later: `recovered`: a later round got it right without being told; `hint_ignored`: wrong again though told.
    """

    status: Status
    label: Label | None = None
    sub_cause: SubCause | None = None
    by_order: Label | None = None
    votes: tuple[NodeVerdict | None, ...] = ()
    settled: int | None = None
    later: Literal["recovered", "hint_ignored"] | None = None


class Round(_Frozen):
    """One question in one round: a line of `isolation.jsonl`.

    Attributes:
        id: The question's.
        round: From 1.
        nodes: Node id -> its tag after this round, in topological order.
        cue: What the next round is told, all of it; None where there is none.
        corrects: The node whose evidence the cue newly gives.
        stop: Why this round is the question's last, or None.
    """

    id: str
    round: Count
    nodes: dict[str, NodeTag]
    cue: str | None = None
    corrects: str | None = None
    stop: Stop | None = None


class Cue(_Frozen):
    """What the next attempt is told: never what went wrong, never a node that could not be evaluated.

    Attributes:
        facts: Nodes that are known by now, in topological order.
        correction: The first failing node.
        premises: For an error of reasoning, the nodes that it follows from.
    """

    facts: tuple[Node, ...]
    correction: Node
    premises: tuple[Node, ...] = ()

    @property
    def text(self) -> str:
        """The cue in English."""
        lines = ["Known about this question so far:"] if self.facts else []
        lines += [f"- {_stated(node)}" for node in self.facts]
        lines += ["What to work from next:", f"- {_stated(self.correction)}"]
        if self.premises:
            lines += ["It follows from these together:", *(f"- {_stated(node)}" for node in self.premises)]
        return "\n".join(lines)


def to_judge(graph: Graph, history: Sequence[Round]) -> list[str]:
    """Return the nodes that a tagger is asked about after `history`: all but those that the model has got right."""
    tags = history[-1].nodes if history else {}
    return [key for key in graph.order if key not in tags or not _is_found(tags[key])]


def advance(
    graph: Graph,
    history: Sequence[Round],
    votes: Sequence[Mapping[str, NodeVerdict] | None],
    *,
    answer_right: bool,
    rounds: int = ROUNDS,
    cues: Sequence[str | None] = (),
) -> Round:
    """Merge the votes on one attempt with what earlier rounds settled -> the next round's record.

    Args:
        graph: The question's graph.
        history: The question's rounds so far, none of which stopped it.
        votes: One per time that the tagger was asked, node id -> verdict; None for a reply that could not be read.
        answer_right: Whether the judge gave this attempt's answer its full score.
        rounds: Most rounds that are run.
        cues: The cue that each vote brought for the next attempt, where a tagger writes them (Fig. 7); without one the
            next attempt is told what the graph says.
    """
    number = len(history) + 1
    if sum(vote is not None for vote in votes) < _majority(len(votes)):
        return stopped(graph, history, "answer_right" if answer_right else "tagger_unparsable")
    cued = {record.corrects for record in history if record.corrects is not None}
    tags = _merged(graph, history, votes, cued)
    if answer_right:
        return Round(id=graph.id, round=number, nodes=tags, stop="answer_right")
    if all(tag.settled is not None for tag in tags.values()):
        return Round(id=graph.id, round=number, nodes=tags, stop="all_evaluated")
    cue = next_cue(graph, tags, cued)
    if cue is not None:
        told, corrects = _chosen(cues, votes, graph, cue.correction.id) or cue.text, cue.correction.id
    elif history and any(tags[key].status == "undetermined" and _is_known(graph, key, tags, cued) for key in tags):
        told, corrects = history[-1].cue, history[-1].corrects  # it was not taken up: told once more
    else:  # what is open lies behind nodes on which the votes differ, or no vote judged it and nothing was told yet
        return Round(id=graph.id, round=number, nodes=tags, stop="no_consensus")
    if number >= rounds:
        return Round(id=graph.id, round=number, nodes=tags, stop="limit")
    return Round(id=graph.id, round=number, nodes=tags, cue=told, corrects=corrects)


def stopped(graph: Graph, history: Sequence[Round], reason: Stop) -> Round:
    """Return the record of a round that brought no tags; the nodes stand as they did."""
    before = history[-1].nodes if history else {}
    tags = {key: before.get(key, NodeTag(status="undetermined")) for key in graph.order}
    # Votes on an undecided node were counted in the round that took them.
    tags = {key: tag if tag.settled else tag.model_copy(update={"votes": ()}) for key, tag in tags.items()}
    return Round(id=graph.id, round=len(history) + 1, nodes=tags, stop=reason)


def next_cue(graph: Graph, tags: Mapping[str, NodeTag], cued: Iterable[str]) -> Cue | None:
    """Return the next cue: all that is known, and the first failing node in topological order that is not.

    Args:
        graph: The question's graph.
        tags: Every node's tag.
        cued: Nodes that earlier cues gave.
    """
    cued = set(cued)
    known = {key for key in graph.order if key in cued or _is_found(tags[key])}
    failing = [key for key in graph.order if tags[key].status in _FAILING and key not in known]
    if not failing:
        return None
    node = graph.by_id[failing[0]]
    premises = node.parents if tags[node.id].label == "Reasoning" else ()
    return Cue(
        facts=tuple(graph.by_id[key] for key in graph.order if key in known),
        correction=node,
        premises=tuple(graph.by_id[key] for key in premises),
    )


def report(records: Iterable[Round]) -> dict[str, Any]:
    """Count errors, agreement and ends over all questions' rounds.

    Returns:
        `rounds`: by round, `labels` (errors that it found) and `open` (questions that were asked in it); `labels`:
        label -> `n` and `share` of all errors (None without any); `consensus`: how many of the votes agreed -> nodes,
        each counted in the rounds that voted on it; `stops`: reason -> questions. Of right answers nothing but the end
        counts, also where they were tagged.
    """
    by_round: dict[int, list[Round]] = {}
    for record in records:
        by_round.setdefault(record.round, []).append(record)
    lines: list[dict[str, Any]] = []
    errors, consensus, stops = Counter[str](), Counter[int | None](), Counter[str]()
    votes = 0
    for number in sorted(by_round):
        labels = Counter[str]()
        for record in by_round[number]:
            stops.update([record.stop] if record.stop else [])
            for tag in () if record.stop == "answer_right" else voted_on(record):
                labels.update([tag.label] if tag.label else [])
                consensus[agreeing(tag)] += 1
                votes = max(votes, len(tag.votes))
        errors += labels
        lines.append(
            {"round": number, "labels": {label: labels[label] for label in LABELS}, "open": len(by_round[number])}
        )
    votes = votes or 3
    total = errors.total()
    return {
        "rounds": lines,
        "labels": {label: {"n": errors[label], "share": errors[label] / total if total else None} for label in LABELS},
        "consensus": {str(n): consensus[n] for n in range(votes, _majority(votes) - 1, -1)} | {"none": consensus[None]},
        "stops": dict(sorted(stops.items())),
    }


def voted_on(record: Round) -> list[NodeTag]:
    """Return the tags of the nodes that a round's own votes are about."""
    return [tag for tag in record.nodes.values() if tag.votes and tag.settled in (record.round, None)]


def agreeing(tag: NodeTag) -> int | None:
    """Return the number of a node's votes that agree on status and label; None where no majority does."""
    return _agreeing(tag.votes)


def _merged(
    graph: Graph, history: Sequence[Round], votes: Sequence[Mapping[str, NodeVerdict] | None], cued: set[str]
) -> dict[str, NodeTag]:
    before = history[-1].nodes if history else {}
    tags: dict[str, NodeTag] = {}
    for key in graph.order:
        verdicts = tuple(None if vote is None else vote.get(key) for vote in votes)
        if key in before and before[key].settled is not None:
            tags[key] = _after(before[key], _elected(verdicts), told=key in cued)
        elif _is_known(graph, key, tags, cued) and any(verdicts):
            tags[key] = _tag(verdicts, len(history) + 1)
        else:
            tags[key] = NodeTag(status="undetermined")
    return tags


def _is_known(graph: Graph, key: str, tags: Mapping[str, NodeTag], cued: set[str]) -> bool:
    """Whether all that a node rests on is known to the model."""
    return all(parent in cued or _is_found(tags[parent]) for parent in graph.by_id[key].parents)


def _chosen(
    cues: Sequence[str | None], votes: Sequence[Mapping[str, NodeVerdict] | None], graph: Graph, first: str
) -> str | None:
    """Return the cue of the first vote for which `first` is the first failing node, and so what its cue is of."""
    for cue, vote in zip(cues, votes, strict=False):
        failing = (key for key in graph.order if vote and key in vote and vote[key].status in _FAILING)
        if cue and next(failing, None) == first:
            return cue
    return None


def _tag(verdicts: tuple[NodeVerdict | None, ...], number: int) -> NodeTag:
    verdict = _elected(verdicts)
    if verdict is None:
        return NodeTag(status="undecided", votes=verdicts)
    readings: Counter[Label | None] = Counter(each.by_order for each in verdicts if each is not None)
    by_order, times = readings.most_common(1)[0]
    return NodeTag(
        status=verdict.status,
        label=verdict.label,
        sub_cause=verdict.sub_cause,
        by_order=by_order if times >= _majority(len(verdicts)) else None,
        votes=verdicts,
        settled=number,
    )


def _after(tag: NodeTag, verdict: NodeVerdict | None, *, told: bool) -> NodeTag:
    if tag.status == "right" or tag.later is not None or verdict is None:
        return tag
    if told:
        return tag.model_copy(update={"later": "hint_ignored"}) if verdict.status == "wrong" else tag
    return tag.model_copy(update={"later": "recovered"}) if verdict.status == "right" else tag


def _elected(verdicts: Sequence[NodeVerdict | None]) -> NodeVerdict | None:
    """Return the majority's verdict; its sub-cause only where more than half of that majority names the same."""
    agreeing = _agreeing(verdicts)
    if agreeing is None:
        return None
    (status, label), _ = _counted(verdicts).most_common(1)[0]
    causes: Counter[SubCause | None] = Counter(
        verdict.sub_cause for verdict in verdicts if verdict and _kind(verdict) == (status, label)
    )
    cause, times = causes.most_common(1)[0]
    return NodeVerdict(status=status, label=label, sub_cause=cause if times >= _majority(agreeing) else None)


def _agreeing(verdicts: Sequence[NodeVerdict | None]) -> int | None:
    """Return the number of votes that agree, where they are a majority of all that were asked for."""
    most = max(_counted(verdicts).values(), default=0)
    return most if most >= _majority(len(verdicts)) else None


def _counted(verdicts: Sequence[NodeVerdict | None]) -> Counter[Any]:
    return Counter(_kind(verdict) for verdict in verdicts if verdict is not None)


def _kind(verdict: NodeVerdict) -> tuple[str, str | None]:
    return verdict.status, verdict.label


def _majority(votes: int) -> int:
    return votes // 2 + 1


def _is_found(tag: NodeTag) -> bool:
    return tag.status == "right" or tag.later == "recovered"


def _stated(node: Node) -> str:
    evidence = " ".join(node.evidence.split())
    return evidence if node.timestamp == NOT_APPLICABLE else f"{evidence} (at {node.timestamp})"
