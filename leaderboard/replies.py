"""Holding judged scores to the judge's raw replies, by the rules of the judge's record.

The replies themselves are as whoever submits the result states them: no server signs what it says. What can be held to
them is held: each reply reads as recorded, comes in the order in which replies are asked for, and, where the question
is at hand, has the key of the messages that asked for it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from reelbench.judges import scoring
from reelbench.judges.llm.parsing import parse_score
from reelbench.judges.llm.verdicts import JUDGE_UNPARSABLE, counted, needs_no_judge, takes_bare_integer
from reelbench.leaderboard.differences import of_columns
from reelbench.llm.messages import reply_key, request_shape
from reelbench.registry.records import Item, JudgeRecord, JudgeReply, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec

if TYPE_CHECKING:
    from reelbench.judges.llm.prompting import PromptSet

_PREFIX = 8  # hex digits by which a group names its prompt set
_SHA256 = 64


def of_record(spec: BenchmarkSpec, record: JudgeRecord | None) -> Iterator[str]:
    """Yield what of a judge's record can't be: a judge where none is asked, prompts under another set's name."""
    if record is None:
        return
    if spec.judge is None:
        yield f"judge is {record.requested!r}, and {spec.id} has nothing to judge"
        return
    digest = record.prompt_sha256
    if len(digest) != _SHA256 or not set(digest) <= set("0123456789abcdef"):
        yield f"judge.prompt_sha256 is {digest[:80]!r}, which is not a sha256"
        return
    if record.votes < 1 or (record.votes == 1) != (record.vote_rule == "single"):
        yield f"judge.votes is {record.votes} with vote_rule {record.vote_rule}"
    if record.prompt == "official" and spec.judge.official_prompts is None:
        yield f"judge.prompt is official, and {spec.id}'s owners publish none"
    pinned = _pinned(spec, record)
    if pinned and pinned != digest and (record.prompt == "official" or pinned[:_PREFIX] == digest[:_PREFIX]):
        yield f"judge.prompt_sha256 is {digest}, the {record.prompt} prompts have {pinned}"


def _pinned(spec: BenchmarkSpec, record: JudgeRecord) -> str | None:
    """The hash of the prompt set that a record names, where it is known."""
    if record.prompt == "official" and spec.judge and spec.judge.official_prompts:
        return spec.judge.official_prompts.sha256
    prompts = _own_prompts(spec, record)
    return prompts.sha256 if prompts else None


def _own_prompts(spec: BenchmarkSpec, record: JudgeRecord) -> "PromptSet | None":
    if record.prompt != "reelbench":
        return None
    from reelbench.judges.llm import load_prompts

    return load_prompts(spec, "reelbench")


class Replies:
    """What the judge's raw replies come to."""

    def __init__(self, spec: BenchmarkSpec, record: JudgeRecord | None, rows_here: Mapping[str, Row] | None) -> None:
        self._judge = spec.judge
        self._record = record
        self._rows = rows_here or {}
        self._prompts: PromptSet | None = None
        if spec.judge is not None and record is not None and self._rows:
            prompts = _own_prompts(spec, record)
            # Replies to an older text of our prompts can't be held to the present one; they are a group of their own.
            if prompts is not None and prompts.sha256 == record.prompt_sha256:
                self._prompts = prompts

    def problems(self, sample: Sample) -> Iterator[str]:
        """Yield what of the item's judged scores does not follow from its replies."""
        where = f"item {sample.id!r}"
        judge, record = self._judge, self._record
        if judge is None or record is None:
            if sample.judge_replies or (judge and any(name in sample.scores for name in judge.criteria)):
                yield f"{where}: judged, but result.json names no judge"
            return
        stated = {name: sample.scores[name] for name in judge.criteria if name in sample.scores}
        if sample.reason in scoring.UNANSWERED:
            if stated or sample.judge_replies:
                yield f"{where}: judged, though it is unscored ({sample.reason})"
            return
        yield from self._out_of_place(judge, record, sample)
        for reply in sample.judge_replies:
            if reply.score != (read := self._parsed(judge, record, reply)):
                yield (
                    f"{where}: the judge's reply on {reply.criterion} is recorded as {reply.score}, "
                    f"its text reads {read}"
                )
        if sample.reason == JUDGE_UNPARSABLE and all(reply.score is not None for reply in sample.judge_replies):
            yield f"{where}: unscored ({sample.reason}), but it has no reply that can't be read"
        expected = self._scores(judge, record, sample, stated)
        yield from of_columns(where, stated, expected)
        if (len(expected) == len(judge.criteria)) != (sample.state == "scored"):
            yield f"{where}: state is {sample.state}, but {len(expected)} of {len(judge.criteria)} criteria are judged"
        yield from self._keys(judge, record, sample)

    def _out_of_place(self, judge: JudgeSpec, record: JudgeRecord, sample: Sample) -> Iterator[str]:
        """Asking ends at the first reply that reads: what follows one, or was not asked for, was put in."""
        where = f"item {sample.id!r}"
        attempts: dict[tuple[str, int], list[JudgeReply]] = defaultdict(list)
        for reply in sample.judge_replies:
            if reply.criterion not in judge.criteria:
                yield f"{where}: a reply on {reply.criterion!r}, which is not a criterion"
            elif not 0 <= reply.vote < record.votes:
                yield f"{where}: a reply for vote {reply.vote} on {reply.criterion}, of {record.votes} votes"
            else:
                attempts[reply.criterion, reply.vote].append(reply)
        for (criterion, vote), replies in attempts.items():
            replies.sort(key=lambda reply: reply.attempt)
            in_order = [reply.attempt for reply in replies] == list(range(len(replies)))
            if not in_order or any(reply.score is not None for reply in replies[:-1]):
                yield f"{where}: of its replies on {criterion}, vote {vote}, some are missing or were put in"

    def _scores(
        self, judge: JudgeSpec, record: JudgeRecord, sample: Sample, stated: Mapping[str, float]
    ) -> dict[str, float]:
        if needs_no_judge(sample.text):
            return dict.fromkeys(judge.criteria, float(judge.low))
        votes: dict[str, list[int]] = {name: [] for name in judge.criteria}
        for reply in sample.judge_replies:
            if reply.score is not None and reply.criterion in votes:
                votes[reply.criterion].append(reply.score)
        scores = {}
        for name, cast in votes.items():
            # Where a vote could not be had at all, its criterion stays open whatever the others say.
            left_open = name not in stated and sample.state == "unscored" and len(cast) < record.votes
            score = None if left_open else counted(cast, record.votes, record.vote_rule)
            if score is not None:
                scores[name] = float(score)
        return scores

    def _parsed(self, judge: JudgeSpec, record: JudgeRecord, reply: JudgeReply) -> int | None:
        return parse_score(reply.raw, judge.low, judge.high, bare_integer=takes_bare_integer(record.prompt, judge))

    def _keys(self, judge: JudgeSpec, record: JudgeRecord, sample: Sample) -> Iterator[str]:
        """A reply's key is made from the messages that asked for it, so another item's reply shows."""
        row = self._rows.get(sample.id)
        if self._prompts is None or row is None:
            return
        asked = Item.of(sample, row["question"], None)
        sampling = {} if record.temperature is None else {"temperature": record.temperature}
        sampling |= record.extra or {}
        for reply in sample.judge_replies:
            if reply.criterion not in judge.criteria:
                continue
            messages = self._prompts.messages(reply.criterion, asked)
            key = reply_key(request_shape(record.requested, messages, sampling), reply.vote, reply.attempt)
            if key.hex() != reply.key:
                yield (
                    f"item {sample.id!r}: the judge's reply on {reply.criterion} was given to another question or "
                    "answer (its key does not fit)"
                )
