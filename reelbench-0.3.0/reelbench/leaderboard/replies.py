"""Check judged scores against the judge's raw replies, by the rules of the judge's record.

The replies themselves are as whoever submits the result states them: no server signs what it says.
What can be checked is: each reply reads as recorded, comes in the order in which replies are asked
for, and, where the question is at hand, has the key of the messages that asked for it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reelbench.judges.identity import single_judges
from reelbench.judges.parsing import parse_score
from reelbench.judges.reasks import PossibleRequests
from reelbench.judges.verdicts import is_judged, scores_of, takes_bare_integer
from reelbench.leaderboard.mismatches import metric_mismatches, score_mismatches
from reelbench.registry.reasons import UNANSWERED, UNREAD_BY_JUDGE
from reelbench.registry.records import JudgeRecord, JudgeReply, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec
from reelbench.scoring import panel_agreement

if TYPE_CHECKING:
    from reelbench.judges.prompting import PromptSet

_Question = tuple[str | None, str, int]
"""What a judge is asked once: the judge, the criterion and the vote."""
_PREFIX = 8  # hex digits by which a group names its prompt set
_SHA256 = 64
_HEX_DIGITS = set("0123456789abcdef")


# --- the judge's record ---------------------------------------------------------------------------


def record_problems(spec: BenchmarkSpec, record: JudgeRecord | None) -> Iterator[str]:
    """Yield the impossible parts of a judge's record.

    As a judge where none is asked, or prompts under another set's name.
    """
    if record is None:
        return
    if spec.judge is None:
        yield f"judge is {record.requested!r}, and {spec.id} has nothing to judge"
        return
    digest = record.prompt_sha256
    if len(digest) != _SHA256 or not _HEX_DIGITS.issuperset(digest):
        yield f"judge.prompt_sha256 is {digest[:80]!r}, which is not a sha256"
        return
    if record.panel is not None:
        yield from _panel_faults(record, record.panel)
    is_single = record.votes == 1
    if record.votes < 1 or is_single != (record.vote_rule == "single"):
        yield f"judge.votes is {record.votes} with vote_rule {record.vote_rule}"
    yield from _prompt_faults(spec, spec.judge, record)
    for member in record.panel or ():
        for name in ("prompt", "prompt_sha256", "votes", "vote_rule"):
            value = getattr(member, name)
            if value != getattr(record, name):
                yield f"judge.panel: {member.requested} has {name} {value!r}, the panel another"


def _panel_faults(record: JudgeRecord, panel: Sequence[JudgeRecord]) -> Iterator[str]:
    names = [member.requested for member in panel]
    are_several = 1 < len(names) == len(set(names))
    if not are_several or ",".join(sorted(names)) != record.requested:
        names_text = ", ".join(names) or "empty"
        yield f"judge.requested is {record.requested!r}, its panel is {names_text}"
    if record.panel_rule is None:
        yield "judge.panel_rule is not stated"


def _prompt_faults(spec: BenchmarkSpec, judge: JudgeSpec, record: JudgeRecord) -> Iterator[str]:
    digest = record.prompt_sha256
    is_official = record.prompt == "official"
    prompts = judge.official_prompts if is_official else own_prompts(spec, record)
    if prompts is None:
        if is_official:
            yield f"judge.prompt is official, and {spec.id}'s owners publish none"
        return
    pinned = prompts.sha256
    if pinned is None or pinned == digest:
        return
    if is_official or pinned[:_PREFIX] == digest[:_PREFIX]:
        yield f"judge.prompt_sha256 is {digest}, the {record.prompt} prompts have {pinned}"


def panel_problems(
    spec: BenchmarkSpec, record: JudgeRecord | None, samples: Sequence[Sample]
) -> Iterator[str]:
    """Yield the differences of a panel's record from its samples.

    They are in how the marks came about, the judges' agreement, and the numbers by each judge.
    """
    recomputed = panel_agreement.with_agreement(spec, samples, record)
    if record is None or recomputed is None:
        return
    yield from _marks_faults(record, recomputed)
    if not record.panel or not recomputed.panel:
        return
    for line in score_mismatches(_agreement(record), _agreement(recomputed)):
        yield f"judge.agreement: {line}"
    for before, after in zip(record.panel, recomputed.panel, strict=True):
        place = f"judge.panel.{before.requested}.metrics"
        yield from metric_mismatches(place, before.metrics or {}, after.metrics or {})


def _marks_faults(record: JudgeRecord, recomputed: JudgeRecord) -> Iterator[str]:
    """Yield the judges whose marks came about otherwise than is recorded.

    Records of before count none, and have no mark by a schema.
    """
    pairs = zip(single_judges(record), single_judges(recomputed), strict=True)
    for before, after in pairs:
        has_schema = after.marks is not None and after.marks.by_schema > 0
        if before.marks != after.marks and (has_schema or before.marks is not None):
            yield f"judge.marks of {before.requested} are others than its replies have"


def _agreement(record: JudgeRecord) -> dict[str, float]:
    agreement = record.agreement or {}
    return {name: value for name, value in agreement.items() if value is not None}


def own_prompts(spec: BenchmarkSpec, record: JudgeRecord | None) -> "PromptSet | None":
    """Return our prompts, where a judge was asked with them, in whatever text."""
    if record is None or record.prompt != "reelbench":
        return None
    from reelbench.judges.prompting import load_prompts

    return load_prompts(spec, "reelbench")


# --- an item's replies ----------------------------------------------------------------------------


def problems(
    judge: JudgeSpec | None,
    record: JudgeRecord | None,
    sample: Sample,
    prompts: "PromptSet | None",
    row: Row | None,
) -> Iterator[str]:
    """Yield the item's judged scores that do not follow from its replies.

    Args:
        judge: How the benchmark is judged. None where it is not.
        record: Who judged, and how.
        sample: The item.
        prompts: The prompts, where the record's are today's.
        row: The benchmark's row, where it is on this machine.
    """
    if judge is None:
        if sample.judge_replies:
            yield "judged, but result.json names no judge"
        return
    if not is_judged(sample):
        if sample.judge_replies:
            yield "judged, though it has options"
        return
    judged_scores = {name: sample.scores[name] for name in judge.criteria if name in sample.scores}
    if record is None:
        if sample.judge_replies or judged_scores:
            yield "judged, but result.json names no judge"
        return
    if sample.reason in UNANSWERED:
        if sample.judge_replies or judged_scores:
            yield f"judged, though it is unscored ({sample.reason})"
        return
    yield from _order_faults(judge, record, sample)
    yield from _reading_faults(judge, record, sample)
    expected_scores = scores_of(judge, record, sample)
    yield from score_mismatches(judged_scores, expected_scores)
    judged_criteria = len(expected_scores)
    criteria = len(judge.criteria)
    if (judged_criteria == criteria) != (sample.state == "scored"):
        yield f"state is {sample.state}, but {judged_criteria} of {criteria} criteria are judged"
    if prompts is not None and row is not None:
        item = sample.item(row["question"], None)
        messages = {name: prompts.messages(name, item) for name in judge.criteria}
        yield from _key_faults(judge, record, sample, messages)


def _reading_faults(judge: JudgeSpec, record: JudgeRecord, sample: Sample) -> Iterator[str]:
    """Yield the replies whose text reads otherwise than is recorded."""
    bare_integer = takes_bare_integer(record.prompt, judge)
    for reply in sample.judge_replies:
        score = parse_score(
            reply.raw, judge.low, judge.high, bare_integer=bare_integer, answer=sample.text
        )
        if reply.score != score:
            yield (
                f"the judge's reply on {reply.criterion} is recorded as {reply.score}, "
                f"its text reads {score}"
            )
    is_unread = any(reply.score is None for reply in sample.judge_replies)
    if sample.reason in UNREAD_BY_JUDGE and not is_unread:
        yield f"unscored ({sample.reason}), but it has no reply that can't be read"


def _key_faults(
    judge: JudgeSpec, record: JudgeRecord, sample: Sample, messages: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the replies whose key does not fit.

    A key is made from the messages that asked for the reply, so another item's reply shows. It is
    made of the name that was sent, too, which isn't known of a renamed judge.
    """
    members = {member.requested: member for member in record.panel or ()}
    for question, replies in _questions(sample).items():
        judge_name, criterion, _ = question
        member = members.get(judge_name or "", record)
        if member.renamed or criterion not in judge.criteria:
            continue
        sampling: dict[str, Any] = {}
        if member.temperature is not None:
            sampling["temperature"] = member.temperature
        sampling |= member.extra or {}
        requests = PossibleRequests(
            judge,
            member.requested,
            messages[criterion],
            sampling,
            structured=member.structured == "always",
        )
        for reply in replies:
            if not requests.advance(reply):
                yield (
                    f"the judge's reply on {criterion} was given to another question or answer "
                    "(its key does not fit)"
                )


def _questions(sample: Sample) -> dict[_Question, list[JudgeReply]]:
    """Return the replies to each question, in order of attempt."""
    replies_by_question: dict[_Question, list[JudgeReply]] = defaultdict(list)
    for reply in sorted(sample.judge_replies, key=lambda reply: reply.attempt):
        replies_by_question[reply.judge, reply.criterion, reply.vote].append(reply)
    return replies_by_question


def _order_faults(judge: JudgeSpec, record: JudgeRecord, sample: Sample) -> Iterator[str]:
    """Yield the replies that were not asked for.

    Asking ends at the first reply that reads: what follows it was put in.
    """
    returned_models: dict[str | None, Mapping[str, int]] = {}
    for member in single_judges(record):
        name = member.requested if record.panel else None
        returned_models[name] = member.returned
    attempts: dict[_Question, list[JudgeReply]] = defaultdict(list)
    for reply in sample.judge_replies:
        if reply.model is not None and reply.model not in returned_models.get(reply.judge, {}):
            yield f"a reply of the model {reply.model!r}, which judge.returned doesn't list"
        if reply.judge not in returned_models:
            yield f"a reply of {reply.judge!r}, which is not a judge of its panel"
        elif reply.criterion not in judge.criteria:
            yield f"a reply on {reply.criterion!r}, which is not a criterion"
        elif not 0 <= reply.vote < record.votes:
            yield f"a reply for vote {reply.vote} on {reply.criterion}, of {record.votes} votes"
        else:
            attempts[reply.judge, reply.criterion, reply.vote].append(reply)
    for (_, criterion, vote), replies in attempts.items():
        replies.sort(key=lambda reply: reply.attempt)
        numbers = [reply.attempt for reply in replies]
        was_read_before_last = any(reply.score is not None for reply in replies[:-1])
        if was_read_before_last or numbers != list(range(len(replies))):
            yield f"of its replies on {criterion}, vote {vote}, some are missing or were put in"
