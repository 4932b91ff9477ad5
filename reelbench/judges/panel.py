"""A panel: one judge or several over the same items, each asked for itself.

Each judge's replies are its own, under the keys that they have without a panel: one that was asked
alone is not asked again. A score is only ever read from a reply of the judge, or is the scale's
minimum for an answer that is all white space. An item's score is the mean or the median of the
judges', and only where all of them gave one.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Literal

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.parsing import parse_score
from reelbench.judges.prompting import PromptSet
from reelbench.judges.reasks import score_again
from reelbench.judges.turn_tokens import opens_a_turn
from reelbench.judges.verdicts import Verdict, needs_no_judge, panel_scores, score_of_votes
from reelbench.llm.ask_result import UNPARSABLE, Again, AskResult
from reelbench.llm.asker import Asker, RetryCursor
from reelbench.llm.budget import Budget, add_known
from reelbench.llm.messages import Message, reply_key
from reelbench.llm.pacing import Cause
from reelbench.llm.structured import FIELD, Structured, score_schema, with_schema
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord, JudgeReply
from reelbench.registry.spec import JudgeSpec

Place = tuple[str, int]
"""(criterion, vote)"""

Cursors = dict[Place, RetryCursor[int]]
"""The questions of one judge about an item."""


class Panel:
    """Judges items on one scale.

    Its askers are to be entered, in the event loop, before `verdict` is asked for.
    """

    def __init__(
        self,
        scale: JudgeSpec,
        prompts: PromptSet,
        options: JudgeOptions,
        on_note: Callable[[str], None] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Set up. The judges spend one budget, by default the options'."""
        budget = budget or Budget(options.budget_calls, options.budget_usd)
        self.members = [Member(scale, prompts, judge, on_note, budget) for judge in options.members]
        self.askers = [member.asker for member in self.members]
        self._criteria = scale.criteria
        self._rule = "median" if options.vote_rule == "median" else "mean"

    @property
    def notes(self) -> list[str]:
        """Lines that the user should know: a refusal, a spent budget, a damaged cache."""
        notes: list[str] = []
        for asker in self.askers:
            notes += asker.notes
        return notes

    @property
    def record(self) -> JudgeRecord:
        """The record of the judges, over all verdicts so far."""
        records = [member.record() for member in self.members]
        if len(records) == 1:
            return records[0]
        records.sort(key=lambda record: record.requested)
        hosts = sorted({record.url for record in records if record.url})
        fields = _sum_records(records)
        fields["requested"] = ",".join(record.requested for record in records)
        fields["url"] = ", ".join(hosts) or None
        fields["renamed"] = None
        fields["panel"] = records
        fields["panel_rule"] = self._rule
        return records[0].model_copy(update=fields)

    def close(self) -> None:
        """Close what was opened to set up. May be called twice."""
        for asker in self.askers:
            asker.close()

    async def verdict(self, item: Item) -> Verdict:
        """Return the judges' verdict on an item, from the cache where it has all."""
        cursors_by_member = [await member.look_up(item) for member in self.members]
        needs_call = any(_needs_call(cursors) for cursors in cursors_by_member)
        finishing: list[Any] = []
        verdicts: list[Verdict] = []
        if needs_call:
            for member, cursors in zip(self.members, cursors_by_member, strict=True):
                finishing.append(member.finish(item, cursors))
            verdicts += await asyncio.gather(*finishing)
        else:
            for member, cursors in zip(self.members, cursors_by_member, strict=True):
                verdicts.append(member.verdict_of_kept(item, cursors))
        if len(verdicts) == 1:
            return verdicts[0]
        return self._joint_verdict(item, verdicts)

    def _joint_verdict(self, item: Item, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the verdict that follows from the judges' own ones."""
        scores = panel_scores([verdict.scores for verdict in verdicts], self._criteria, self._rule)
        reasons: dict[str, Reason] = {}
        for verdict in reversed(verdicts):  # the first judge's reason stands
            reasons |= verdict.reasons
        for criterion in scores:
            reasons.pop(criterion, None)
        replies: list[JudgeReply] = []
        for member, verdict in zip(self.members, verdicts, strict=True):
            judge = {"judge": member.options.filed_name}
            replies += [reply.model_copy(update=judge) for reply in verdict.replies]
        return Verdict(item.id, scores, reasons, replies, _first_cause(verdicts))


def _first_cause(outcomes: Iterable[Verdict | AskResult[int]]) -> Cause | None:
    """Return the first cause of a lack of replies. None where none is lacking."""
    causes = [outcome.cause for outcome in outcomes if outcome.cause is not None]
    return next(iter(causes), None)


def _needs_call(cursors: Cursors) -> bool:
    return any(cursor.key is not None for cursor in cursors.values())


class Member:
    """One judge of a panel, or the only one."""

    def __init__(
        self,
        scale: JudgeSpec,
        prompts: PromptSet,
        options: JudgeOptions,
        on_note: Callable[[str], None] | None,
        budget: Budget,
    ) -> None:
        self.options = options
        self._prompts = prompts
        self._scale = scale
        temperature = prompts.temperature if options.temperature == "auto" else options.temperature
        self._temperature = None if temperature == "none" else temperature
        sampling: dict[str, Any] = {}
        if self._temperature is not None:
            sampling["temperature"] = self._temperature
        self._structured: Structured = options.structured or prompts.structured
        self._schema = score_schema(scale.low, scale.high)
        self._again = self._maker_of_reasks()
        if self._structured == "always" and FIELD not in options.extra:
            sampling = with_schema(sampling, self._schema)
        self.asker = Asker(options, sampling, on_note=on_note, budget=budget, notes_shutdown=True)

    def places(self, item: Item) -> Cursors:
        """Return the questions about an item, each vote at its place among the kept replies."""
        read = self._prompts.read or partial(
            parse_score,
            low=self._scale.low,
            high=self._scale.high,
            bare_integer=self._prompts.bare_integer,
            answer=item.text,
        )
        schema = None
        if self._structured == "retry":
            schema = self._schema
        cursors: Cursors = {}
        for (criterion, vote), messages in self.messages(item):
            cursor = RetryCursor(
                self.asker, messages, read, vote=vote, again=self._again, schema=schema
            )
            cursors[criterion, vote] = cursor
        return cursors

    def _maker_of_reasks(self) -> Again | None:
        """Return the maker of a re-ask's messages. None where they are the same."""
        if self._structured == "never" and self._prompts.structured == "never":
            return None
        return self._prompts.again or score_again(self._scale)

    def messages(self, item: Item) -> Iterator[tuple[Place, Sequence[Message]]]:
        """Yield the questions about an item."""
        if needs_no_judge(item.text):
            return
        for criterion in self._scale.criteria:
            messages = self._prompts.messages(criterion, item)
            for vote in range(self.options.votes):
                yield (criterion, vote), messages

    async def look_up(self, item: Item) -> Cursors:
        """Return `places`, from a shared cache in one request."""
        cache = self.asker.cache
        if cache.is_shared:
            keys: list[bytes] = []
            for (_, vote), messages in self.messages(item):
                keys.append(reply_key(self.asker.shape(messages), vote, 0))
            await cache.read_ahead(*keys)
        return await cache.run_off_loop(self.places, item)

    async def finish(self, item: Item, cursors: Cursors) -> Verdict:
        """Ask what is not kept, and return the verdict."""
        results = await asyncio.gather(*map(self.asker.finish, cursors.values()))
        return self.verdict(item, dict(zip(cursors, results, strict=True)))

    def verdict_of_kept(self, item: Item, cursors: Cursors) -> Verdict:
        """Return the verdict of replies that are all kept."""
        results = map(self.asker.count_result, cursors.values())
        return self.verdict(item, dict(zip(cursors, results, strict=True)))

    def verdict(self, item: Item, votes: Mapping[Place, AskResult[int]]) -> Verdict:
        """Return the verdict that follows from the answers to an item's questions."""
        if needs_no_judge(item.text):
            lowest_scores: dict[str, float] = dict.fromkeys(self._scale.criteria, self._scale.low)
            return Verdict(item.id, lowest_scores, {})
        replies: list[JudgeReply] = []
        for (criterion, vote), result in votes.items():
            replies += self._replies_of(item, criterion, vote, result)
        verdict = Verdict(item.id, {}, {}, replies, _first_cause(votes.values()))
        for criterion in self._scale.criteria:
            results = [votes[criterion, vote] for vote in range(self.options.votes)]
            score = self._score_of(results)
            if isinstance(score, Reason):
                verdict.reasons[criterion] = score
            else:
                verdict.scores[criterion] = score
        return verdict

    def _replies_of(
        self, item: Item, criterion: str, vote: int, result: AskResult[int]
    ) -> list[JudgeReply]:
        """Return the replies to one question, as samples have them."""
        replies: list[JudgeReply] = []
        for cached in result.replies:
            returned = cached.reply.returned
            if returned is not None:
                returned = self.options.filed_id(returned)
            reply = JudgeReply(
                criterion=criterion,
                vote=vote,
                attempt=cached.attempt,
                raw=cached.reply.raw,
                score=cached.value,
                model=returned,
                key=cached.key.hex(),
                turn_tokens=opens_a_turn(item.text),
                by_schema=cached.by_schema,
            )
            replies.append(reply)
        return replies

    def _score_of(self, results: Sequence[AskResult[int]]) -> float | Reason:
        """Return the score of a criterion's votes, or the reason why there is none."""
        # A reply that can't be read is a vote less; one that is not available leaves the criterion
        # open.
        reasons = [result.reason for result in results]
        unavailable = [reason for reason in reasons if reason not in {None, UNPARSABLE}]
        if unavailable:
            return Reason(f"judge_{unavailable[-1]}")
        votes = [result.value for result in results if result.value is not None]
        score = score_of_votes(votes, self.options.votes, self.options.vote_rule)
        if score is None:
            if any(result.is_cut_off for result in results):
                return Reason.JUDGE_CUT_OFF
            return Reason.JUDGE_UNPARSABLE
        return score

    def record(self) -> JudgeRecord:
        """Return the judge's record, over all verdicts so far."""
        options = self.options
        tally = self.asker.tally
        is_renamed = options.filed_name != options.model
        vote_rule = "single" if options.votes == 1 else options.vote_rule
        temperature = self._temperature
        if "temperature" not in self.asker.sent_sampling:
            temperature = None
        with self.asker.lock:
            structured: Literal["always"] | None = None
            if self._structured == "always":
                structured = "always"
            return JudgeRecord(
                requested=options.filed_name,
                renamed=is_renamed or None,
                url=options.host,
                prompt=self._prompts.name,
                prompt_sha256=self._prompts.sha256,
                temperature=temperature,
                extra=dict(options.extra) or None,
                structured=structured,
                votes=options.votes,
                vote_rule=vote_rule,
                cost_usd=self.asker.cost_usd,
                **tally.record_fields(),
            )


def merge_records(records: Sequence[JudgeRecord]) -> JudgeRecord:
    """Return one record for judges that worked in the processes of one run."""
    fields = _sum_records(records)
    panels = [record.panel for record in records if record.panel]
    if panels:
        fields["panel"] = [merge_records(members) for members in zip(*panels, strict=True)]
    return records[0].model_copy(update=fields)


def _sum_records(records: Sequence[JudgeRecord]) -> dict[str, Any]:
    """Return the sums of several records: replies, tokens and dollars."""
    returned: Counter[str] = Counter()
    for record in records:
        returned.update(record.returned)
    first_days = [record.kept_from for record in records if record.kept_from]
    last_days = [record.kept_to for record in records if record.kept_to]
    costs = [record.cost_usd for record in records if record.cost_usd is not None]
    total_cost = None
    if len(costs) == len(records):  # without one judge's cost that of all is unknown
        total_cost = sum(costs)
    fields: dict[str, Any] = {
        "returned": dict(sorted(returned.items())),
        "kept_from": min(first_days, default=None),
        "kept_to": max(last_days, default=None),
        "cost_usd": total_cost,
    }
    for name in ("calls", "cached", "prompt_tokens", "completion_tokens"):
        fields[name] = sum(getattr(record, name) for record in records)
    for name in ("reasoning_tokens", "cached_tokens"):
        counts = [getattr(record, name) for record in records]
        fields[name] = reduce(add_known, counts, None)
    return fields
