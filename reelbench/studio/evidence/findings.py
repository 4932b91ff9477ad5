"""A tagger's findings on each node of an evidence graph, and the label that follows from them (CURVE, section 5.2).

The tagger answers plain questions about a node (`Finding`); the rules of the paper's prompt
(supplement, Fig. 6) are applied here. Where they leave something open: evidence found in part is
not found, for a node is atomic; a time that is off while the content is right, and for which no
cause is named, is Temporal Localization.

Fig. 6 has two readings, and both are on record. The label is of the *first cause*: the tagger goes
through the causes in order and stops at the first that fits the model's first mistake. The label
*by order* is of the earliest of all causes that it says apply; it favours early ones (Fig. 9's
wrong name is a matter of knowledge, too, and not called so).

A reply in the paper's own shape (Fig. 7) is read as well; there the tagger states the status
itself. That shape has no place for the model's time or whether it matters, so ±5 s is the tagger's
word there, unless a prompt asks for both.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from reelbench.base.values import is_array, is_object
from reelbench.studio.data_files import studio_data
from reelbench.studio.evidence.graphs import (
    NOT_APPLICABLE,
    Graph,
    Node,
    read_windows,
    seconds_apart,
)

Label = Literal[
    "Temporal Localization",
    "Spatial Grounding",
    "Attribute Misidentification",
    "Spurious Object/Event",
    "Knowledge-Dependent Issue",
    "Reasoning",
]
LABELS: tuple[Label, ...] = get_args(Label)
"""The taxonomy (supplement, Tab. 8)."""

Cause = Literal["planning", "knowledge", "temporal", "spatial", "attribute", "spurious", "logic"]
_CAUSES: dict[Cause, dict[str, Any]] = studio_data("evidence/causes.yaml")
LABEL_OF: dict[Cause, Label] = {cause: about["label"] for cause, about in _CAUSES.items()}
"""Cause -> label, in the order of Fig. 6."""

SubCause = Literal["planning", "logic"]
_SUB_CAUSE: dict[Cause, SubCause] = {"planning": "planning", "logic": "logic"}

TOLERANCE = 5.0
"""Seconds that a critical time may be off (Fig. 6)."""
_NAMES: dict[str, Cause] = {
    name: cause for cause, about in _CAUSES.items() for name in about["names"]
}
_CHECKS: dict[str, Cause] = {
    check: cause for cause, about in _CAUSES.items() for check in about["checks"]
}


def _by_any_name(value: object) -> object:
    return _NAMES.get(value.casefold(), value) if isinstance(value, str) else value


def _is_a_time(value: str) -> str:
    if read_windows(value) is None:
        raise ValueError("is not m:ss, h:mm:ss, a range of these, or N/A")
    return value


_Named = Annotated[Cause, BeforeValidator(_by_any_name)]


class OtherPath(BaseModel):
    """Another way to the answer than the graph's, as a tagger sees it."""

    model_config = ConfigDict(frozen=True)

    new_evidence: bool
    productive: bool
    contradicts: bool


class Finding(BaseModel):
    """What a tagger says of one node; keys that are not asked for are passed over."""

    model_config = ConfigDict(frozen=True)

    id: str
    found: Literal["yes", "partial", "no"]
    """Whether the model's words hold the node's evidence."""
    other_path: OtherPath | None = None
    time_critical: bool = False
    """Whether the answer depends on the node's time."""
    model_time: Annotated[str, AfterValidator(_is_a_time)] = NOT_APPLICABLE
    """The time that the model names for it."""
    cause: _Named | None = None
    """The first cause that fits the model's first mistake, where something is wrong."""
    causes: Annotated[
        tuple[_Named, ...], BeforeValidator(lambda one: [one] if isinstance(one, str) else one)
    ] = ()
    """All causes that apply."""
    why: str = ""


class NodeVerdict(BaseModel):
    """What one vote says of a node whose parents are known; a wrong one has a label.

    From `found` on it is as the tagger said, for whoever would decide again; None where it didn't
    say.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: Literal["right", "wrong", "divergent"]
    label: Label | None = None
    sub_cause: SubCause | None = None
    """Of a Reasoning error."""
    by_order: Label | None = None
    """The label by the other reading, of the earliest cause; None where that isn't known."""
    found: Literal["yes", "partial", "no"] | None = None
    time_critical: bool | None = None
    model_time: str | None = None
    why: str | None = None


def decide(finding: Finding, node: Node) -> NodeVerdict:
    """Judge a node whose parents are known (Fig. 6, rules 2 and 3, and the causes); ValueError where one is lacking."""
    kept: dict[str, Any] = {
        "found": finding.found,
        "time_critical": finding.time_critical,
        "model_time": None
        if finding.model_time.strip().upper() in ("", NOT_APPLICABLE)
        else finding.model_time,
        "why": finding.why.strip() or None,
    }
    other = finding.other_path
    if other is not None and other.new_evidence and other.productive and not other.contradicts:
        return NodeVerdict(status="divergent", **kept)
    causes: set[Cause] = {*finding.causes, *([finding.cause] if finding.cause else [])}
    if finding.found == "yes":
        off = seconds_off(finding.model_time, node)
        if not finding.time_critical or off is None or off <= TOLERANCE:
            return NodeVerdict(status="right", **kept)
        if not causes:
            causes.add("temporal")
    if not causes:
        raise ValueError(
            f"found is {finding.found}, so cause (or causes) names one of {', '.join(LABEL_OF)}"
        )
    earliest = min(causes, key=list(LABEL_OF).index)
    # A reply without a first cause, which a prompt of the user's may ask for, has the one reading
    # only.
    cause = finding.cause or earliest
    kept |= {
        "label": LABEL_OF[cause],
        "sub_cause": _SUB_CAUSE.get(cause),
        "by_order": LABEL_OF[earliest],
    }
    return NodeVerdict(status="wrong", **kept)


def seconds_off(model_time: str | None, node: Node) -> float | None:
    """Return by how many seconds a stated time misses the nearest of a node's; None where either has no time."""
    pairs = list(product(read_windows(model_time or NOT_APPLICABLE) or (), node.windows))
    return min(seconds_apart(*pair) for pair in pairs) if pairs else None


def read_findings(
    value: object, graph: Graph, asked: Sequence[str]
) -> tuple[dict[str, NodeVerdict], list[str]]:
    """Read a tagger's decoded reply -> (node id -> verdict, what is wrong, a line each).

    It is `{"nodes": [finding, ...]}`, or the paper's `{"solution_graph": {id: {"outputs": {...}}}}`
    (Fig. 7), where a node that is `undetermined` has no verdict. Nodes that are `asked` it must
    judge, others it may.
    """
    if is_object(value) and is_object(value.get("solution_graph")):
        return _read_solution(value["solution_graph"], graph, asked)
    entries = value.get("nodes") if is_object(value) else None
    if not is_array(entries):
        return {}, ['the reply is not {"nodes": [...]}']
    verdicts: dict[str, NodeVerdict] = {}
    problems: list[str] = []
    for number, entry in enumerate(entries, start=1):
        name = (
            f"node {entry['id']!r}"
            if is_object(entry) and "id" in entry
            else f"node number {number}"
        )
        try:
            finding = Finding.model_validate(entry)
            if finding.id not in graph.by_id:
                problems.append(f"{name}: is not in the graph")
            elif finding.id in verdicts:
                problems.append(f"{name}: is there twice")
            else:
                verdicts[finding.id] = decide(finding, graph.by_id[finding.id])
        except ValidationError as error:
            problems += [
                f"{name}: {'.'.join(map(str, one['loc']))} {one['msg']}" for one in error.errors()
            ]
        except ValueError as error:
            problems.append(f"{name}: {error}")
    if not problems:
        problems = [f"node {key!r}: is missing" for key in asked if key not in verdicts]
    return verdicts, problems


def read_cue(value: object) -> str | None:
    """Return the cue that a reply in the paper's shape brings for the next attempt; None where it has none."""
    cue = value.get("next_attempt_cue") if is_object(value) else None
    return cue.strip() or None if isinstance(cue, str) else None


def _read_solution(
    entries: Mapping[str, Any], graph: Graph, asked: Sequence[str]
) -> tuple[dict[str, NodeVerdict], list[str]]:
    verdicts: dict[str, NodeVerdict] = {}
    problems = [f"node {key!r}: is not in the graph" for key in entries if key not in graph.by_id]
    for key in graph.order:
        entry = entries.get(key)
        outputs = entry.get("outputs", entry) if is_object(entry) else None
        if is_object(outputs):
            try:
                if (verdict := _stated_verdict(outputs)) is not None:
                    verdicts[key] = verdict
            except ValueError as error:
                problems.append(f"node {key!r}: {error}")
        elif key in asked or key in entries:
            problems.append(f"node {key!r}: is missing, or has no outputs")
    return verdicts, problems


def _stated_verdict(outputs: Mapping[str, Any]) -> NodeVerdict | None:
    """Return a node's verdict as the paper's tagger states it; None where it calls the node undetermined."""
    retrieved, why = outputs.get("evidence_retrieved"), outputs.get("justification")
    critical, time = outputs.get("time_critical"), outputs.get("model_time")
    kept: dict[str, Any] = {
        "found": retrieved if retrieved in ("yes", "partial", "no") else None,
        "time_critical": critical if isinstance(critical, bool) else None,
        "model_time": time if isinstance(time, str) and read_windows(time) else None,
        "why": why.strip()
        if isinstance(why, str) and why.strip() not in ("", NOT_APPLICABLE)
        else None,
    }
    status = outputs.get("status")
    if status == "undetermined":
        return None
    if (divergent := outputs.get("divergence") is True) or status == "right":
        return NodeVerdict(status="divergent" if divergent else "right", **kept)
    if status != "wrong":
        raise ValueError(f"status is {status!r:.40}, not right, wrong or undetermined")
    reason = str(outputs.get("missing_evidence_reason") or "").strip()
    if reason.casefold() == "reasoning":  # one label for two causes: which of them isn't said
        return NodeVerdict(status="wrong", label="Reasoning", **kept)
    cause = (_CHECKS | _NAMES).get(reason.casefold())
    if cause is None:
        raise ValueError(
            f"missing_evidence_reason is {reason!r:.40}, not among {', '.join(LABELS)}"
        )
    return NodeVerdict(
        status="wrong", label=LABEL_OF[cause], sub_cause=_SUB_CAUSE.get(cause), **kept
    )
