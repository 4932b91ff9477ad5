"""Holding judged scores to the judge's raw replies, by the rules of the judge's record.

The replies themselves are as whoever submits the result states them: no server signs what it says.
What can be held to them is held: each reply reads as recorded, comes in the order in which replies
are asked for, and, where the question is at hand, has the key of the messages that asked for it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reelbench.judges.identity import single_judges
from reelbench.judges.parsing import parse_score
from reelbench.judges.verdicts import is_judged, scores_of, takes_bare_integer
from reelbench.leaderboard.mismatches import metric_mismatches, score_mismatches
from reelbench.llm.messages import reply_key, request_shape
from reelbench.registry.reasons import UNANSWERED, Reason
from reelbench.registry.records import JudgeRecord, JudgeReply, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec
from reelbench.scoring import panel_agreement

if TYPE_CHECKING:
    from reelbench.judges.prompting import PromptSet

_PREFIX = 8  # hex digits by which a group names its prompt set
_SHA256 = 64


def record_problems(spec: BenchmarkSpec, record: JudgeRecord | None) -> Iterator[str]:
    """Yield the impossible parts of a judge's record: a judge where none is asked, prompts under another set's name."""
    if record is None:
        return
    if spec.judge is None:
        yield f"judge is {record.requested!r}, and {spec.id} has nothing to judge"
        return
    digest = record.prompt_sha256
    if len(digest) != _SHA256 or not set(digest) <= set("0123456789abcdef"):
        yield f"judge.prompt_sha256 is {digest[:80]!r}, which is not a sha256"
        return
    official, names = (
        record.prompt == "official",
        [member.requested for member in record.panel or ()],
    )
    prompts = spec.judge.official_prompts if official else own_prompts(spec, record)
    pinned = (prompts and prompts.sha256) or digest
    single = record.votes == 1
    several = 1 < len(names) == len(set(names)) and ",".join(sorted(names)) == record.requested
    panel = ", ".join(names) or "empty"
    wrong = {
        f"judge.requested is {record.requested!r}, its panel is {panel}": record.panel is not None
        and not several,
        "judge.panel_rule is not stated": record.panel is not None and record.panel_rule is None,
        f"judge.votes is {record.votes} with vote_rule {record.vote_rule}": record.votes < 1
        or single != (record.vote_rule == "single"),
        f"judge.prompt is official, and {spec.id}'s owners publish none": official
        and prompts is None,
        f"judge.prompt_sha256 is {digest}, the {record.prompt} prompts have {pinned}": pinned
        != digest
        and (official or pinned[:_PREFIX] == digest[:_PREFIX]),
    }
    yield from (line for line, applies in wrong.items() if applies)
    for member in record.panel or ():
        for name in ("prompt", "prompt_sha256", "votes", "vote_rule"):
            if getattr(member, name) != getattr(record, name):
                yield f"judge.panel: {member.requested} has {name} {getattr(member, name)!r}, the panel another"


def panel_problems(
    spec: BenchmarkSpec, record: JudgeRecord | None, samples: Sequence[Sample]
) -> Iterator[str]:
    """Yield the statements of a panel's record that its samples don't bear out: agreement, numbers by each judge."""
    again = panel_agreement.with_agreement(spec, samples, record)
    if record is None or again is None or not record.panel or not again.panel:
        return
    stated, expected = (
        {name: v for name, v in (r.agreement or {}).items() if v is not None}
        for r in (record, again)
    )
    yield from (f"judge.agreement: {line}" for line in score_mismatches(stated, expected))
    for member, anew in zip(record.panel, again.panel, strict=True):
        yield from metric_mismatches(
            f"judge.panel.{member.requested}.metrics", member.metrics or {}, anew.metrics or {}
        )


def own_prompts(spec: BenchmarkSpec, record: JudgeRecord | None) -> "PromptSet | None":
    """Return our prompts, where a judge was asked with them, in whatever text."""
    if record is None or record.prompt != "reelbench":
        return None
    from reelbench.judges.prompting import load_prompts

    return load_prompts(spec, "reelbench")


def problems(
    judge: JudgeSpec | None,
    record: JudgeRecord | None,
    sample: Sample,
    prompts: "PromptSet | None",
    row: Row | None,
) -> Iterator[str]:
    """Yield the item's judged scores that do not follow from its replies; `prompts` are those that are today's."""
    if judge is not None and not is_judged(sample):
        if sample.judge_replies:
            yield "judged, though it has options"
        return
    if judge is None or record is None:
        if sample.judge_replies or (
            judge and any(name in sample.scores for name in judge.criteria)
        ):
            yield "judged, but result.json names no judge"
        return
    stated = {name: sample.scores[name] for name in judge.criteria if name in sample.scores}
    if sample.reason in UNANSWERED:
        if stated or sample.judge_replies:
            yield f"judged, though it is unscored ({sample.reason})"
        return
    yield from _out_of_place(judge, record, sample)
    bare = takes_bare_integer(record.prompt, judge)
    for reply in sample.judge_replies:
        if reply.score != (
            read := parse_score(reply.raw, judge.low, judge.high, bare_integer=bare)
        ):
            yield f"the judge's reply on {reply.criterion} is recorded as {reply.score}, its text reads {read}"
    if sample.reason == Reason.JUDGE_UNPARSABLE and all(
        reply.score is not None for reply in sample.judge_replies
    ):
        yield f"unscored ({sample.reason}), but it has no reply that can't be read"
    expected = scores_of(judge, record, sample)
    yield from score_mismatches(stated, expected)
    if (len(expected) == len(judge.criteria)) != (sample.state == "scored"):
        yield f"state is {sample.state}, but {len(expected)} of {len(judge.criteria)} criteria are judged"
    if prompts is not None and row is not None:
        asked = sample.item(row["question"], None)
        yield from _keys(
            judge, record, sample, {name: prompts.messages(name, asked) for name in judge.criteria}
        )


def _keys(
    judge: JudgeSpec, record: JudgeRecord, sample: Sample, messages: Mapping[str, Any]
) -> Iterator[str]:
    """A reply's key is made from the messages that asked for it, so another item's reply shows."""
    members = {member.requested: member for member in record.panel or ()}
    for reply in (reply for reply in sample.judge_replies if reply.criterion in judge.criteria):
        member = members.get(reply.judge or "", record)
        sampling = {} if member.temperature is None else {"temperature": member.temperature}
        shape = request_shape(
            member.requested, messages[reply.criterion], sampling | (member.extra or {})
        )
        if reply_key(shape, reply.vote, reply.attempt).hex() != reply.key:
            yield (
                f"the judge's reply on {reply.criterion} was given to another question or answer (its key does not fit)"
            )


def _out_of_place(judge: JudgeSpec, record: JudgeRecord, sample: Sample) -> Iterator[str]:
    """Asking ends at the first reply that reads: what follows one, or was not asked for, was put in."""
    attempts: dict[tuple[str | None, str, int], list[JudgeReply]] = defaultdict(list)
    returned = {
        member.requested if record.panel else None: member.returned
        for member in single_judges(record)
    }
    for reply in sample.judge_replies:
        if reply.model is not None and reply.model not in returned.get(reply.judge, {}):
            yield f"a reply of the model {reply.model!r}, which judge.returned doesn't list"
        if reply.judge not in returned:
            yield f"a reply of {reply.judge!r}, which is not a judge of its panel"
        elif reply.criterion not in judge.criteria:
            yield f"a reply on {reply.criterion!r}, which is not a criterion"
        elif not 0 <= reply.vote < record.votes:
            yield f"a reply for vote {reply.vote} on {reply.criterion}, of {record.votes} votes"
        else:
            attempts[reply.judge, reply.criterion, reply.vote].append(reply)
    for (_, criterion, vote), replies in attempts.items():
        replies.sort(key=lambda reply: reply.attempt)
        in_order = [reply.attempt for reply in replies] == list(range(len(replies)))
        if not in_order or any(reply.score is not None for reply in replies[:-1]):
            yield f"of its replies on {criterion}, vote {vote}, some are missing or were put in"
