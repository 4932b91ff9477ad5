"""A tagger's findings on each node of an evidence graph, and its label (CURVE, section 5.2).

The tagger answers plain questions about a node (`Finding`). The rules of the paper's prompt
(supplement, Fig. 6) are applied here. The rules leave two things open. Evidence found in part is
not found, for a node is atomic. A time that is off while the content is right, and for which no
cause is named, is Temporal Localization.

Fig. 6 has two readings, and both are on record. The label is of the *first cause*: the tagger goes
through the causes in order and stops at the first that fits the model's first mistake. The label
*by order* is of the earliest of all causes that apply by the tagger's word. It favours early ones
(Fig. 9's wrong name is a matter of knowledge, too, and not called so).

A reply in the paper's own shape (Fig. 7) is read as well. There the tagger states the status
itself. That shape has no place for the model's time or whether it matters, so ±5 s is the tagger's
word there, unless a prompt asks for both.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, get_args

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
PERCEPTION: frozenset[Label] = frozenset(
    {
        "Temporal Localization",
        "Spatial Grounding",
        "Attribute Misidentification",
        "Spurious Object/Event",
    }
)
"""The labels of cultural visual perception. The others are of knowledge and reasoning."""

Cause = Literal["planning", "knowledge", "temporal", "spatial", "attribute", "spurious", "logic"]


class _CauseAbout(TypedDict):
    """The label of a cause, and its names in replies of both shapes."""

    label: Label
    names: list[str]
    checks: list[str]


_CAUSES: dict[Cause, _CauseAbout] = studio_data("evidence/causes.yaml")
LABEL_OF: dict[Cause, Label] = {cause: about["label"] for cause, about in _CAUSES.items()}
"""Cause -> label, in the order of Fig. 6."""

SubCause = Literal["planning", "logic"]
_SUB_CAUSE: dict[Cause, SubCause] = {"planning": "planning", "logic": "logic"}

TOLERANCE = 5.0
"""Seconds that a critical time may be off (Fig. 6)."""
_NAMES: dict[str, Cause] = {}
_CHECKS: dict[str, Cause] = {}
for _cause, _about in _CAUSES.items():
    _NAMES |= dict.fromkeys(_about["names"], _cause)
    _CHECKS |= dict.fromkeys(_about["checks"], _cause)


def _by_any_name(value: object) -> object:
    if not isinstance(value, str):
        return value
    return _NAMES.get(value.casefold(), value)


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


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
    """A tagger's answers about one node.

    Keys that are not asked for are passed over.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    found: Literal["yes", "partial", "no"]
    """How much of the node's evidence the model's words have."""
    other_path: OtherPath | None = None
    time_critical: bool = False
    """True where the answer depends on the node's time."""
    model_time: Annotated[str, AfterValidator(_is_a_time)] = NOT_APPLICABLE
    """The time that the model names for it."""
    cause: _Named | None = None
    """The first cause that fits the model's first mistake, where something is wrong."""
    causes: Annotated[tuple[_Named, ...], BeforeValidator(_as_list)] = ()
    """All causes that apply."""
    why: str = ""

    @property
    def all_causes(self) -> set[Cause]:
        """All causes that apply, the first one included."""
        causes = set(self.causes)
        if self.cause:
            causes.add(self.cause)
        return causes


class NodeVerdict(BaseModel):
    """One vote's verdict on a node whose parents are known.

    A wrong node has a label. From `found` on it is the tagger's word, so that anyone can decide
    again. None where the tagger is silent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: Literal["right", "wrong", "divergent"]
    label: Label | None = None
    sub_cause: SubCause | None = None
    """Of a Reasoning error."""
    by_order: Label | None = None
    """The label by the other reading, of the earliest cause. None where it is unknown."""
    found: Literal["yes", "partial", "no"] | None = None
    time_critical: bool | None = None
    model_time: str | None = None
    why: str | None = None

    @property
    def code(self) -> tuple[str, Label | None]:
        """Status and label, on which votes agree or differ."""
        return self.status, self.label


def verdict_on_node(finding: Finding, node: Node) -> NodeVerdict:
    """Judge a node whose parents are known.

    By Fig. 6, rules 2 and 3, and the causes.

    Raises:
        ValueError: The finding lacks a cause.
    """
    no_time = finding.model_time.strip().upper() in ("", NOT_APPLICABLE)
    findings: dict[str, Any] = {
        "found": finding.found,
        "time_critical": finding.time_critical,
        "model_time": None if no_time else finding.model_time,
        "why": finding.why.strip() or None,
    }
    path = finding.other_path
    if path is not None and path.new_evidence and path.productive and not path.contradicts:
        return NodeVerdict(status="divergent", **findings)
    causes = finding.all_causes
    if finding.found == "yes":
        if not _is_at_wrong_time(finding, node):
            return NodeVerdict(status="right", **findings)
        causes = causes or {"temporal"}
    if not causes:
        names = ", ".join(LABEL_OF)
        raise ValueError(f"found is {finding.found}, so cause (or causes) names one of {names}")
    earliest_cause = min(causes, key=list(LABEL_OF).index)
    # A reply without a first cause, which a prompt of the user's may ask for, has one reading only.
    cause = finding.cause or earliest_cause
    return NodeVerdict(
        status="wrong",
        label=LABEL_OF[cause],
        sub_cause=_SUB_CAUSE.get(cause),
        by_order=LABEL_OF[earliest_cause],
        **findings,
    )


def _is_at_wrong_time(finding: Finding, node: Node) -> bool:
    seconds = seconds_off(finding.model_time, node)
    return finding.time_critical and seconds is not None and seconds > TOLERANCE


def seconds_off(model_time: str | None, node: Node) -> float | None:
    """Return the seconds between a stated time and the nearest of a node's.

    None where either has no time.
    """
    model_windows = read_windows(model_time or NOT_APPLICABLE) or ()
    gaps = [seconds_apart(*pair) for pair in product(model_windows, node.windows)]
    return min(gaps, default=None)


class ReadFindings(NamedTuple):
    """The verdicts of a reply by node id, and its problems, one line each."""

    verdicts: dict[str, NodeVerdict]
    problems: list[str]


def read_findings(value: object, graph: Graph, asked_nodes: Sequence[str]) -> ReadFindings:
    """Read a tagger's decoded reply.

    It is `{"nodes": [finding, ...]}`, or the paper's `{"solution_graph": {id: {"outputs": {...}}}}`
    (Fig. 7), where a node that is `undetermined` has no verdict. It must judge the nodes in
    `asked`, and may judge all.
    """
    if is_object(value) and is_object(value.get("solution_graph")):
        return _read_solution(value["solution_graph"], graph, asked_nodes)
    entries = value.get("nodes") if is_object(value) else None
    if not is_array(entries):
        return ReadFindings({}, ['the reply is not {"nodes": [...]}'])
    verdicts: dict[str, NodeVerdict] = {}
    problems: list[str] = []
    for number, entry in enumerate(entries, start=1):
        name = f"node number {number}"
        if is_object(entry) and "id" in entry:
            name = f"node {entry['id']!r}"
        try:
            finding = Finding.model_validate(entry)
            if finding.id not in graph.by_id:
                problems.append(f"{name}: is not in the graph")
            elif finding.id in verdicts:
                problems.append(f"{name}: is there twice")
            else:
                verdicts[finding.id] = verdict_on_node(finding, graph.by_id[finding.id])
        except ValidationError as error:
            problems += [f"{name}: {problem}" for problem in _invalid_fields(error)]
        except ValueError as error:
            problems.append(f"{name}: {error}")
    if not problems:
        problems = [f"node {key!r}: is missing" for key in asked_nodes if key not in verdicts]
    return ReadFindings(verdicts, problems)


def _invalid_fields(error: ValidationError) -> Iterator[str]:
    for detail in error.errors():
        field = ".".join(map(str, detail["loc"]))
        yield f"{field} {detail['msg']}"


def read_cue(value: object) -> str | None:
    """Return the next attempt's cue from a reply in the paper's shape.

    None without one.
    """
    cue = value.get("next_attempt_cue") if is_object(value) else None
    if not isinstance(cue, str):
        return None
    return cue.strip() or None


def _read_solution(
    entries: Mapping[str, Any], graph: Graph, asked_nodes: Sequence[str]
) -> ReadFindings:
    verdicts: dict[str, NodeVerdict] = {}
    problems = [f"node {key!r}: is not in the graph" for key in entries if key not in graph.by_id]
    for key in graph.order:
        entry = entries.get(key)
        outputs = entry.get("outputs", entry) if is_object(entry) else None
        if is_object(outputs):
            try:
                verdict = _stated_verdict(outputs)
            except ValueError as error:
                problems.append(f"node {key!r}: {error}")
                continue
            if verdict is not None:
                verdicts[key] = verdict
        elif key in asked_nodes or key in entries:
            problems.append(f"node {key!r}: is missing, or has no outputs")
    return ReadFindings(verdicts, problems)


def _stated_verdict(outputs: Mapping[str, Any]) -> NodeVerdict | None:
    """Return a node's verdict as the paper's tagger states it.

    None where it calls the node undetermined.

    Raises:
        ValueError: The status or the error's name is none of the paper's.
    """
    status = outputs.get("status")
    if status == "undetermined":
        return None
    findings = _stated_findings(outputs)
    if outputs.get("divergence") is True:
        return NodeVerdict(status="divergent", **findings)
    if status == "right":
        return NodeVerdict(status="right", **findings)
    if status != "wrong":
        raise ValueError(f"status is {status!r:.40}, not right, wrong or undetermined")
    reason = str(outputs.get("missing_evidence_reason") or "").strip()
    # One label for two causes: the reply doesn't tell which.
    if reason.casefold() == "reasoning":
        return NodeVerdict(status="wrong", label="Reasoning", **findings)
    causes_by_name = _CHECKS | _NAMES
    cause = causes_by_name.get(reason.casefold())
    if cause is None:
        names = ", ".join(LABELS)
        raise ValueError(f"missing_evidence_reason is {reason!r:.40}, not among {names}")
    sub_cause = _SUB_CAUSE.get(cause)
    return NodeVerdict(status="wrong", label=LABEL_OF[cause], sub_cause=sub_cause, **findings)


def _stated_findings(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a verdict that are the tagger's word."""
    findings: dict[str, Any] = dict.fromkeys(("found", "time_critical", "model_time", "why"))
    retrieved = outputs.get("evidence_retrieved")
    if retrieved in ("yes", "partial", "no"):
        findings["found"] = retrieved
    critical = outputs.get("time_critical")
    if isinstance(critical, bool):
        findings["time_critical"] = critical
    time = outputs.get("model_time")
    if isinstance(time, str) and read_windows(time):
        findings["model_time"] = time
    why = outputs.get("justification")
    if isinstance(why, str) and why.strip() not in ("", NOT_APPLICABLE):
        findings["why"] = why.strip()
    return findings
