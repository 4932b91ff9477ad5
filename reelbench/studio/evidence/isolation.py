"""Iterative error isolation: where in a graph a model went wrong, and what it is told next (CURVE, section 5.2).

Pure rules: verdicts on nodes go in, tags and cues come out. What the paper leaves open (supplement,
D.3 and Fig. 7):

- Votes are taken per node, on status and label together; where no majority agrees the node is
  `undecided`, and is voted
  on again if there is another round.
- A node is evaluated once all its parents are known: right, given by a cue, or found by the model
  in a later round.
- A settled node keeps its first label, so it has at most one error, whatever later votes say.
- A question ends when every node is evaluated, right or wrong, and also when its answer is right. A
  right answer has no
  errors (all its nodes are right in Fig. 8 and 9): it is tagged on request alone, and never
  counted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from reelbench.base.base_record import Count
from reelbench.studio.evidence.findings import LABELS, Label, NodeVerdict, SubCause
from reelbench.studio.evidence.graphs import NOT_APPLICABLE, Graph, Node

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

Vote = Mapping[str, NodeVerdict] | None
"""Node id -> verdict; None for a reply that could not be read."""

_FAILING = ("wrong", "divergent")

ROUNDS = 5
"""Rounds after which a question is left as it is."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NodeTag(_Frozen):
    """Where a node stands after a round."""

    status: Status
    label: Label | None = None
    """The error's, where it is wrong."""
    sub_cause: SubCause | None = None
    """Of a Reasoning error, where the votes agree on it."""
    by_order: Label | None = None
    """The label by the other reading of Fig. 6 (`findings`), where a majority has it."""
    votes: tuple[NodeVerdict | None, ...] = ()
    """Behind the status; None is a vote that said nothing of the node, or could not be read."""
    settled: int | None = None
    """The round that settled it; None while it is undetermined or undecided."""
    later: Literal["recovered", "hint_ignored"] | None = None
    """`recovered`: a later round got it right without being told; `hint_ignored`: wrong again though told."""


class Round(_Frozen):
    """One question in one round: a line of `isolation.jsonl`."""

    id: str
    round: Count
    nodes: dict[str, NodeTag]
    """In topological order."""
    cue: str | None = None
    """What the next round is told, all of it."""
    corrects: str | None = None
    """The node whose evidence the cue newly gives."""
    stop: Stop | None = None
    """Why this round is the question's last."""


def nodes_to_tag(graph: Graph, history: Sequence[Round]) -> list[str]:
    """Return the nodes that a tagger is asked about after `history`: all but those that the model has got right."""
    tags = history[-1].nodes if history else {}
    return [key for key in graph.order if key not in tags or not _is_found(tags[key])]


def advance(
    graph: Graph,
    history: Sequence[Round],
    votes: Sequence[Vote],
    *,
    answer_right: bool,
    rounds: int = ROUNDS,
    cues: Sequence[str | None] = (),
) -> Round:
    """Merge the votes on one attempt with what earlier rounds settled -> the next round's record.

    `votes` has one for each time that the tagger was asked. `answer_right` says whether the judge
    gave this attempt's answer its full score. `cues` are those that each vote brought for the next
    attempt, where a tagger writes them (Fig. 7); without one the next attempt is told what the
    graph says.
    """
    number = len(history) + 1
    if sum(vote is not None for vote in votes) < _majority(len(votes)):
        return stopped_round(
            graph, history, "answer_right" if answer_right else "tagger_unparsable"
        )
    cued = {record.corrects for record in history if record.corrects is not None}
    tags = _merge_votes(graph, history, votes, cued)
    known = {key for key in graph.order if key in cued or _is_found(tags[key])}
    # What is wrong and not known, the first in topological order: the next attempt is told of it.
    failing = next(
        (key for key in graph.order if tags[key].status in _FAILING and key not in known), None
    )
    stop, told, corrects = None, None, failing
    if answer_right:
        stop = "answer_right"
    elif all(tag.settled is not None for tag in tags.values()):
        stop = "all_evaluated"
    elif failing is not None:
        told = _cue(graph, tags, known, failing, zip(cues, votes, strict=False))
    elif history and any(
        tags[key].status == "undetermined" and _is_known(graph, key, tags, cued) for key in tags
    ):
        told, corrects = (
            history[-1].cue,
            history[-1].corrects,
        )  # it was not taken up: told once more
    else:  # what is open lies behind nodes on which the votes differ, or no vote judged it and nothing was told yet
        stop = "no_consensus"
    if stop is None and number >= rounds:
        stop = "limit"
    if stop is not None:
        told = corrects = None
    return Round(id=graph.id, round=number, nodes=tags, cue=told, corrects=corrects, stop=stop)


def stopped_round(graph: Graph, history: Sequence[Round], reason: Stop) -> Round:
    """Return the record of a round that brought no tags; the nodes stand as they did."""
    before = history[-1].nodes if history else {}
    tags = {key: before.get(key, NodeTag(status="undetermined")) for key in graph.order}
    # Votes on an undecided node were counted in the round that took them.
    tags = {
        key: tag if tag.settled else tag.model_copy(update={"votes": ()})
        for key, tag in tags.items()
    }
    return Round(id=graph.id, round=len(history) + 1, nodes=tags, stop=reason)


def _cue(
    graph: Graph,
    tags: Mapping[str, NodeTag],
    known: Collection[str],
    failing: str,
    written: Iterable[tuple[str | None, Vote]],
) -> str:
    """Return the cue for a failing node, in English: never what went wrong, or a node that was not evaluated.

    It is that of the first vote that has `written` one and for which this is the first failing
    node, else the graph's.
    """
    for cue, vote in written:
        first = next(
            (key for key in graph.order if vote and key in vote and vote[key].status in _FAILING),
            None,
        )
        if cue and first == failing:
            return cue
    facts, node = [key for key in graph.order if key in known], graph.by_id[failing]
    lines = (
        ["Known about this question so far:", *(_node_line(graph.by_id[key]) for key in facts)]
        if facts
        else []
    )
    lines += ["What to work from next:", _node_line(node)]
    if node.parents and tags[failing].label == "Reasoning":
        lines += [
            "It follows from these together:",
            *(_node_line(graph.by_id[key]) for key in node.parents),
        ]
    return "\n".join(lines)


def report(records: Iterable[Round]) -> dict[str, Any]:
    """Count errors, agreement and ends over all questions' rounds.

    `rounds`: by round, `labels` (errors that it found) and `open` (questions that were asked in
    it); `labels`: label -> `n` and `share` of all errors (None without any); `consensus`: how many
    of the votes agreed -> nodes, each counted in the rounds that voted on it; `stops`: reason ->
    questions. Of right answers nothing but the end counts, also where they were tagged.
    """
    records = list(records)
    asked, stops = (
        Counter(record.round for record in records),
        Counter(record.stop for record in records),
    )
    voted = [
        (record.round, tag)
        for record in records
        if record.stop != "answer_right"
        for tag in voted_on(record)
    ]
    found = Counter((number, tag.label) for number, tag in voted)
    errors, consensus = (
        Counter(tag.label for _, tag in voted),
        Counter(agreeing(tag) for _, tag in voted),
    )
    votes = max((len(tag.votes) for _, tag in voted), default=3)
    total = sum(errors[label] for label in LABELS)
    return {
        "rounds": [
            {
                "round": number,
                "labels": {label: found[number, label] for label in LABELS},
                "open": asked[number],
            }
            for number in sorted(asked)
        ],
        "labels": {
            label: {"n": errors[label], "share": errors[label] / total if total else None}
            for label in LABELS
        },
        "consensus": {str(n): consensus[n] for n in range(votes, _majority(votes) - 1, -1)}
        | {"none": consensus[None]},
        "stops": {stop: stops[stop] for stop in sorted(filter(None, stops))},
    }


def voted_on(record: Round) -> list[NodeTag]:
    """Return the tags of the nodes that a round's own votes are about."""
    return [
        tag for tag in record.nodes.values() if tag.votes and tag.settled in (record.round, None)
    ]


def agreeing(tag: NodeTag) -> int | None:
    """Return the number of a node's votes that agree on status and label; None where no majority does."""
    _, times = _majority_vote(
        ((vote.status, vote.label) for vote in tag.votes if vote is not None), len(tag.votes)
    )
    return times


def _merge_votes(
    graph: Graph, history: Sequence[Round], votes: Sequence[Vote], cued: set[str]
) -> dict[str, NodeTag]:
    before, number = history[-1].nodes if history else {}, len(history) + 1
    tags: dict[str, NodeTag] = {}
    for key in graph.order:
        verdicts = tuple(None if vote is None else vote.get(key) for vote in votes)
        read = [verdict for verdict in verdicts if verdict is not None]
        winner, times = _majority_vote(((each.status, each.label) for each in read), len(verdicts))
        voted = NodeTag(status="undecided", votes=verdicts)
        if winner is not None and times is not None:
            status, label = winner
            # A sub-cause only where more than half of this majority names the same.
            cause, _ = _majority_vote(
                (each.sub_cause for each in read if (each.status, each.label) == winner), times
            )
            by_order, _ = _majority_vote((each.by_order for each in read), len(verdicts))
            voted = NodeTag(
                status=status,
                label=label,
                sub_cause=cause,
                by_order=by_order,
                votes=verdicts,
                settled=number,
            )
        tag = before.get(key)
        if tag is not None and tag.settled is not None:
            if tag.status != "right" and tag.later is None and winner is not None:
                later = {
                    ("wrong", True): "hint_ignored",
                    ("right", False): "recovered",
                }  # by whether it was told
                tag = tag.model_copy(update={"later": later.get((voted.status, key in cued))})
            tags[key] = tag
        elif _is_known(graph, key, tags, cued) and read:
            tags[key] = voted
        else:
            tags[key] = NodeTag(status="undetermined")
    return tags


def _is_known(graph: Graph, key: str, tags: Mapping[str, NodeTag], cued: set[str]) -> bool:
    """Whether all that a node rests on is known to the model."""
    return all(parent in cued or _is_found(tags[parent]) for parent in graph.by_id[key].parents)


def _majority_vote(said: Iterable[object], of: int) -> tuple[Any, int | None]:
    """Return what a majority of so many votes says, and how many of them do; twice None where there is none."""
    value, times = next(iter(Counter(said).most_common(1)), (None, 0))
    return (value, times) if times >= _majority(of) else (None, None)


def _majority(votes: int) -> int:
    return votes // 2 + 1


def _is_found(tag: NodeTag) -> bool:
    return tag.status == "right" or tag.later == "recovered"


def _node_line(node: Node) -> str:
    evidence = " ".join(node.evidence.split())
    return (
        f"- {evidence}"
        if node.timestamp == NOT_APPLICABLE
        else f"- {evidence} (at {node.timestamp})"
    )
