"""Iterative error isolation: where in a graph a model went wrong (CURVE, section 5.2).

Pure rules: verdicts on nodes go in, tags and cues for the next attempt come out. The paper leaves
these open (supplement, D.3 and Fig. 7):

- Votes are taken per node, on status and label together. Where no majority agrees the node is
  `undecided`, and is voted on again if there is another round.
- A node is evaluated once all its parents are known: right, given by a cue, or found by the model
  in a later round.
- A settled node keeps its first label, so it has at most one error, whatever later votes say.
- A question ends when every node is evaluated, right or wrong, and also when its answer is right. A
  right answer has no errors (all its nodes are right in Fig. 8 and 9): it is tagged on request
  alone, and never counted.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict

from pydantic import BaseModel, ConfigDict

from reelbench.base.base_record import Count
from reelbench.studio.evidence.findings import LABELS, Label, NodeVerdict, SubCause
from reelbench.studio.evidence.graphs import NOT_APPLICABLE, Graph, Node

Status = Literal["right", "wrong", "divergent", "undetermined", "undecided"]
"""`undetermined`: not evaluated, because of a parent. `undecided`: the votes differ."""
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
"""Node id -> verdict. None for a reply that could not be read."""

_FAILING = ("wrong", "divergent")

ROUNDS = 5
"""Rounds after which a question is left as it is."""
_USUAL_VOTES = 3


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NodeTag(_Frozen):
    """The standing of a node after a round."""

    status: Status
    label: Label | None = None
    """The error's, where it is wrong."""
    sub_cause: SubCause | None = None
    """Of a Reasoning error, where the votes agree on it."""
    by_order: Label | None = None
    """The label by the other reading of Fig. 6 (`findings`), where a majority has it."""
    votes: tuple[NodeVerdict | None, ...] = ()
    """The votes behind the status. None is one that is silent on the node, or unreadable."""
    settled: int | None = None
    """The round that settled it. None while it is undetermined or undecided."""
    later: Literal["recovered", "hint_ignored"] | None = None
    """`recovered`: right in a later round without a cue. `hint_ignored`: wrong again with one."""


class Round(_Frozen):
    """One question in one round: a line of `isolation.jsonl`."""

    id: str
    round: Count
    nodes: dict[str, NodeTag]
    """In topological order."""
    cue: str | None = None
    """All that the next round is told."""
    corrects: str | None = None
    """The node whose evidence the cue newly gives."""
    stop: Stop | None = None
    """The reason why this round is the question's last."""


def nodes_to_tag(graph: Graph, history: Sequence[Round]) -> list[str]:
    """Return the nodes for the tagger: all but those that the model has got right."""
    tags = _tags_before(history)
    keys: list[str] = []
    for key in graph.order:
        if key not in tags or not _is_right_by_now(tags[key]):
            keys.append(key)
    return keys


def next_round(
    graph: Graph,
    history: Sequence[Round],
    votes: Sequence[Vote],
    *,
    answer_right: bool,
    rounds: int = ROUNDS,
    cues: Sequence[str | None] = (),
) -> Round:
    """Return the next round's record: the votes, merged with what earlier rounds settled.

    Args:
        graph: The question's evidence.
        history: The rounds before.
        votes: One for each time that the tagger was asked.
        answer_right: The judge gave this attempt's answer its full score.
        rounds: Rounds after which the question is left.
        cues: The cues that each vote brought for the next attempt, where a tagger writes them (Fig.
            7). Without one the next attempt is told what the graph says.
    """
    readable_votes = sum(vote is not None for vote in votes)
    if readable_votes < _majority_size(len(votes)):
        reason: Stop = "tagger_unparsable"
        if answer_right:
            reason = "answer_right"
        return stopped_round(graph, history, reason)
    cued = {record.corrects for record in history if record.corrects is not None}
    tags = _merge_votes(graph, history, votes, cued)
    state = _State(graph, tags, cued)
    failing = state.first_failing()
    stop: Stop | None = None
    cue = None
    corrects = None
    if answer_right:
        stop = "answer_right"
    elif all(tag.settled is not None for tag in tags.values()):
        stop = "all_evaluated"
    elif failing is not None:
        cue = _written_cue(graph, failing, cues, votes) or _graph_cue(state, failing)
        corrects = failing
    elif history and state.waits_for_votes():
        # The last cue was not taken up: it is told once more.
        cue = history[-1].cue
        corrects = history[-1].corrects
    else:
        # The open nodes lie behind nodes on which the votes differ; or no vote judged them, and
        # nothing was told yet.
        stop = "no_consensus"
    number = len(history) + 1
    if stop is None and number >= rounds:
        stop = "limit"
    if stop is not None:
        return Round(id=graph.id, round=number, nodes=tags, stop=stop)
    return Round(id=graph.id, round=number, nodes=tags, cue=cue, corrects=corrects)


@dataclass(frozen=True, slots=True)
class _State:
    """The tags of a graph's nodes after a round, and the nodes that cues gave."""

    graph: Graph
    tags: Mapping[str, NodeTag]
    cued: Collection[str]

    def is_known(self, key: str) -> bool:
        """Return True where a cue gave the node's evidence, or the model has it."""
        return key in self.cued or _is_right_by_now(self.tags[key])

    def is_open(self, key: str) -> bool:
        """Return True where the model knows all that a node rests on."""
        node = self.graph.by_id[key]
        return all(self.is_known(parent) for parent in node.parents)

    def first_failing(self) -> str | None:
        """Return the first node that is wrong and not known.

        The next attempt is told of it.
        """
        for key in self.graph.order:
            if self.tags[key].status in _FAILING and not self.is_known(key):
                return key
        return None

    def waits_for_votes(self) -> bool:
        """Return True where no vote judged a node that could be evaluated."""
        for key, tag in self.tags.items():
            if tag.status == "undetermined" and self.is_open(key):
                return True
        return False


def stopped_round(graph: Graph, history: Sequence[Round], reason: Stop) -> Round:
    """Return the record of a round without tags.

    The nodes stand as they did.
    """
    tags_before = _tags_before(history)
    tags: dict[str, NodeTag] = {}
    for key in graph.order:
        tag = tags_before.get(key, NodeTag(status="undetermined"))
        if not tag.settled:
            # Votes on an undecided node were counted in the round that took them.
            tag = tag.model_copy(update={"votes": ()})
        tags[key] = tag
    return Round(id=graph.id, round=len(history) + 1, nodes=tags, stop=reason)


def _written_cue(
    graph: Graph, failing: str, cues: Sequence[str | None], votes: Sequence[Vote]
) -> str | None:
    """Return the cue of the first vote that has one and this first failing node."""
    for cue, vote in zip(cues, votes, strict=False):
        if cue and vote and _first_failing_of(graph, vote) == failing:
            return cue
    return None


def _first_failing_of(graph: Graph, vote: Mapping[str, NodeVerdict]) -> str | None:
    for key in graph.order:
        if key in vote and vote[key].status in _FAILING:
            return key
    return None


def _graph_cue(state: _State, failing: str) -> str:
    """Return the graph's cue for a failing node, in English.

    It never tells what went wrong, or a node that was not evaluated.
    """
    nodes = state.graph.by_id
    node = nodes[failing]
    facts = [nodes[key] for key in state.graph.order if state.is_known(key)]
    lines: list[str] = []
    if facts:
        lines.append("Known about this question so far:")
        lines += map(_node_line, facts)
    lines.append("What to work from next:")
    lines.append(_node_line(node))
    if node.parents and state.tags[failing].label == "Reasoning":
        lines.append("It follows from these together:")
        lines += [_node_line(nodes[key]) for key in node.parents]
    return "\n".join(lines)


class LabelCount(TypedDict):
    """The number of errors of a label, and its share of all.

    The share is None without any error.
    """

    n: int
    share: float | None


class RoundCount(TypedDict):
    """The errors that a round found, by label.

    `open` is the number of questions that were asked in it.
    """

    round: int
    labels: dict[str, int]
    open: int


class IsolationReport(TypedDict):
    """Errors, agreement and ends over all questions' rounds.

    `consensus`: the number of votes that agreed -> nodes, each counted in the rounds that voted on
    it. `stops`: reason -> questions.
    """

    rounds: list[RoundCount]
    labels: dict[str, LabelCount]
    consensus: dict[str, int]
    stops: dict[str, int]


def report(records: Iterable[Round]) -> IsolationReport:
    """Count errors, agreement and ends over all questions' rounds.

    Of right answers nothing but the end counts, also where they were tagged.
    """
    asked_in: Counter[int] = Counter()
    stops: Counter[str] = Counter()
    errors_in: Counter[tuple[int, str | None]] = Counter()
    errors: Counter[str | None] = Counter()
    consensus: Counter[int | None] = Counter()
    vote_counts: list[int] = []
    for record in records:
        asked_in[record.round] += 1
        if record.stop is not None:
            stops[record.stop] += 1
        if record.stop == "answer_right":
            continue
        for tag in tags_voted_on(record):
            errors_in[record.round, tag.label] += 1
            errors[tag.label] += 1
            consensus[agreeing_votes(tag)] += 1
            vote_counts.append(len(tag.votes))
    rounds: list[RoundCount] = []
    for number in sorted(asked_in):
        count: RoundCount = {
            "round": number,
            "labels": {label: errors_in[number, label] for label in LABELS},
            "open": asked_in[number],
        }
        rounds.append(count)
    votes = max(vote_counts, default=_USUAL_VOTES)
    agreements: dict[str, int] = {}
    for number in range(votes, _majority_size(votes) - 1, -1):
        agreements[str(number)] = consensus[number]
    agreements["none"] = consensus[None]
    return {
        "rounds": rounds,
        "labels": _label_counts(errors),
        "consensus": agreements,
        "stops": dict(sorted(stops.items())),
    }


def _label_counts(errors: Mapping[str | None, int]) -> dict[str, LabelCount]:
    total = sum(errors[label] for label in LABELS)
    counts: dict[str, LabelCount] = {}
    for label in LABELS:
        share = None
        if total:
            share = errors[label] / total
        counts[label] = {"n": errors[label], "share": share}
    return counts


def tags_voted_on(record: Round) -> list[NodeTag]:
    """Return the tags of the nodes that a round's own votes are about."""
    own_rounds = (record.round, None)
    return [tag for tag in record.nodes.values() if tag.votes and tag.settled in own_rounds]


def agreeing_votes(tag: NodeTag) -> int | None:
    """Return the number of a node's votes that agree on status and label.

    None where no majority does.
    """
    codes = [verdict.code for verdict in tag.votes if verdict is not None]
    majority = _majority_vote(codes, len(tag.votes))
    if majority is None:
        return None
    return majority.times


def _tags_before(history: Sequence[Round]) -> dict[str, NodeTag]:
    if not history:
        return {}
    return history[-1].nodes


def _merge_votes(
    graph: Graph, history: Sequence[Round], votes: Sequence[Vote], cued: Collection[str]
) -> dict[str, NodeTag]:
    tags_before = _tags_before(history)
    number = len(history) + 1
    tags: dict[str, NodeTag] = {}
    state = _State(graph, tags, cued)
    for key in graph.order:
        verdicts = tuple(_verdicts_on(key, votes))
        new_tag = _voted_tag(verdicts, number)
        tag = tags_before.get(key)
        if tag is not None and tag.settled is not None:
            tags[key] = _with_later(tag, new_tag, cued=key in cued)
        elif state.is_open(key) and any(verdicts):
            tags[key] = new_tag
        else:
            tags[key] = NodeTag(status="undetermined")
    return tags


def _verdicts_on(key: str, votes: Iterable[Vote]) -> Iterator[NodeVerdict | None]:
    for vote in votes:
        if vote is None:
            yield None
        else:
            yield vote.get(key)


def _voted_tag(verdicts: tuple[NodeVerdict | None, ...], number: int) -> NodeTag:
    """Return the tag that a majority of the verdicts of round `number` gives a node."""
    read = [verdict for verdict in verdicts if verdict is not None]
    codes = [verdict.code for verdict in read]
    majority = _majority_vote(codes, len(verdicts))
    if majority is None:
        return NodeTag(status="undecided", votes=verdicts)
    status, label = majority.value
    agreeing_verdicts = [verdict for verdict in read if verdict.code == majority.value]
    causes = [verdict.sub_cause for verdict in agreeing_verdicts]
    labels_by_order = [verdict.by_order for verdict in read]
    return NodeTag(
        status=status,
        label=label,
        # Only where more than half of this majority names the same.
        sub_cause=_majority_value(causes, majority.times),
        by_order=_majority_value(labels_by_order, len(verdicts)),
        votes=verdicts,
        settled=number,
    )


def _with_later(tag: NodeTag, new_tag: NodeTag, *, cued: bool) -> NodeTag:
    """Return a settled node's tag, marked with what a later round's votes say of it."""
    if tag.status == "right" or tag.later is not None or new_tag.settled is None:
        return tag
    later = None
    if new_tag.status == "wrong" and cued:
        later = "hint_ignored"
    elif new_tag.status == "right" and not cued:
        later = "recovered"
    return tag.model_copy(update={"later": later})


class _Majority(NamedTuple):
    """The value that a majority of votes has, and how many have it."""

    value: Any
    times: int


def _majority_vote(values: Sequence[object], votes: int) -> _Majority | None:
    """Return the value that a majority of so many votes has."""
    if not values:
        return None
    [(value, times)] = Counter(values).most_common(1)
    if times < _majority_size(votes):
        return None
    return _Majority(value, times)


def _majority_value(values: Sequence[object], votes: int) -> Any:  # noqa: ANN401 - of any type
    majority = _majority_vote(values, votes)
    if majority is None:
        return None
    return majority.value


def _majority_size(votes: int) -> int:
    return votes // 2 + 1


def _is_right_by_now(tag: NodeTag) -> bool:
    return tag.status == "right" or tag.later == "recovered"


def _node_line(node: Node) -> str:
    evidence = " ".join(node.evidence.split())
    if node.timestamp == NOT_APPLICABLE:
        return f"- {evidence}"
    return f"- {evidence} (at {node.timestamp})"
