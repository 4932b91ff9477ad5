"""A panel: one judge or several over the same items, each asked for itself, their scores taken together.

Each judge's replies are its own, under the keys that they have without a panel: one that was asked
alone is not asked again. A score is only ever read from a reply of the judge, or is the scale's
minimum for an answer that is all white space; an item's is the mean or the median of the judges',
and only where all of them gave one.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.parsing import parse_score
from reelbench.judges.prompting import PromptSet
from reelbench.judges.verdicts import Verdict, needs_no_judge, panel_scores, score_of_votes
from reelbench.llm.ask_result import UNPARSABLE, AskResult
from reelbench.llm.asker import Asker, RetryCursor
from reelbench.llm.budget import Budget, add_known
from reelbench.llm.messages import Message, reply_key
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord, JudgeReply
from reelbench.registry.spec import JudgeSpec

Place = tuple[str, int]
"""(criterion, vote)"""


class Panel:
    """Judges items on one scale; its askers are to be entered, in the event loop, before `verdict` is asked for."""

    def __init__(
        self,
        scale: JudgeSpec,
        prompts: PromptSet,
        options: JudgeOptions,
        on_note: Callable[[str], None] | None = None,
        budget: Budget | None = None,
    ) -> None:
        """Set up; what the judges may spend is one budget, by default the options'."""
        budget = budget or Budget(options.budget_calls, options.budget_usd)
        self.members = [Member(scale, prompts, judge, on_note, budget) for judge in options.members]
        self.askers = [member.asker for member in self.members]
        self._criteria = scale.criteria
        self._rule = "median" if options.vote_rule == "median" else "mean"

    @property
    def notes(self) -> list[str]:
        """One line for each thing that the user should know (a refusal, a spent budget, a damaged cache)."""
        return [note for asker in self.askers for note in asker.notes]

    @property
    def record(self) -> JudgeRecord:
        """The judges, what answered, and what it took, over all verdicts given so far."""
        records = [member.record() for member in self.members]
        if len(records) == 1:
            return records[0]
        records.sort(key=lambda record: record.requested)
        hosts = sorted({record.url for record in records if record.url})
        more = {
            "requested": ",".join(record.requested for record in records),
            "url": ", ".join(hosts) or None,
            "panel": records,
            "panel_rule": self._rule,
        }
        return records[0].model_copy(update=_sum_records(records) | more)

    def close(self) -> None:
        """Close what was opened to set up; may be called twice."""
        for asker in self.askers:
            asker.close()

    async def verdict(self, item: Item) -> Verdict:
        """Return the judges' verdict on an item: from the cache where it has all of it."""
        asked = list[dict[Place, RetryCursor[int]]]()
        for member in self.members:
            cache = member.asker.cache
            if cache.is_shared:  # all in one request
                shapes = [
                    (member.asker.shape(words), vote) for (_, vote), words in member.messages(item)
                ]
                await cache.look(*(reply_key(shape, vote, 0) for shape, vote in shapes))
            asked.append(await cache.aside(member.places, item))
        places = [
            (member.asker, cursor)
            for member, cursors in zip(self.members, asked, strict=True)
            for cursor in cursors.values()
        ]
        if any(cursor.key is not None for _, cursor in places):
            results = iter(
                await asyncio.gather(*(asker.finish(cursor) for asker, cursor in places))
            )
        else:
            results = iter([asker.count_result(cursor) for asker, cursor in places])
        verdicts = [
            member.verdict(item, {place: next(results) for place in cursors})
            for member, cursors in zip(self.members, asked, strict=True)
        ]
        if len(verdicts) == 1:
            return verdicts[0]
        scores = panel_scores([verdict.scores for verdict in verdicts], self._criteria, self._rule)
        reasons = {
            criterion: reason
            for verdict in reversed(verdicts)
            for criterion, reason in verdict.reasons.items()
            if criterion not in scores
        }
        replies = [
            reply.model_copy(update={"judge": member.options.model})
            for member, verdict in zip(self.members, verdicts, strict=True)
            for reply in verdict.replies
        ]
        return Verdict(item.id, scores, reasons, replies)


class Member:
    """One judge of a panel, or the only one: what it is asked about an item, and how replies become a verdict."""

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
        sampling = {} if self._temperature is None else {"temperature": self._temperature}
        self.asker = Asker(options, sampling, on_note=on_note, budget=budget, notes_end=True)

    def places(self, item: Item) -> dict[Place, RetryCursor[int]]:
        """Return the questions about an item, each vote at its place among the replies that are kept."""
        scale, prompts = self._scale, self._prompts
        read = prompts.read or partial(
            parse_score, low=scale.low, high=scale.high, bare_integer=prompts.bare_integer
        )
        return {
            place: RetryCursor(self.asker, messages, read, vote=place[1], again=prompts.again)
            for place, messages in self.messages(item)
        }

    def messages(self, item: Item) -> Iterator[tuple[Place, Sequence[Message]]]:
        """Yield the questions about an item."""
        if needs_no_judge(item.text):
            return
        for criterion in self._scale.criteria:
            messages = self._prompts.messages(criterion, item)
            yield from (((criterion, vote), messages) for vote in range(self.options.votes))

    def verdict(self, item: Item, votes: Mapping[Place, AskResult[int]]) -> Verdict:
        """Return the verdict that the answers to an item's questions come to."""
        if needs_no_judge(item.text):
            return Verdict(item.id, dict.fromkeys(self._scale.criteria, self._scale.low), {})
        replies = [
            JudgeReply(
                criterion=criterion,
                vote=vote,
                attempt=cached.attempt,
                raw=cached.reply.raw,
                score=cached.value,
                model=cached.reply.returned,
                key=cached.key.hex(),
            )
            for (criterion, vote), result in votes.items()
            for cached in result.replies
        ]
        verdict = Verdict(item.id, {}, {}, replies)
        wanted, rule = self.options.votes, self.options.vote_rule
        for criterion in self._scale.criteria:
            cast = [votes[criterion, vote] for vote in range(wanted)]
            # A reply that can't be read is a vote less; one that is not available leaves the
            # criterion open.
            absent = [vote.reason for vote in cast if vote.reason not in {None, UNPARSABLE}]
            score = score_of_votes(
                [vote.value for vote in cast if vote.value is not None], wanted, rule
            )
            if absent:
                verdict.reasons[criterion] = Reason(f"judge_{absent[-1]}")
            elif score is None:
                verdict.reasons[criterion] = Reason.JUDGE_UNPARSABLE
            else:
                verdict.scores[criterion] = score
        return verdict

    def record(self) -> JudgeRecord:
        """Return the judge's record, over all verdicts given so far."""
        options, tally = self.options, self.asker.tally
        with self.asker.lock:
            return JudgeRecord(
                requested=options.model,
                url=options.host,
                prompt=self._prompts.name,
                prompt_sha256=self._prompts.sha256,
                temperature=self._temperature,
                extra=dict(options.extra) or None,
                votes=options.votes,
                vote_rule="single" if options.votes == 1 else options.vote_rule,
                cost_usd=options.cost_usd(
                    tally.prompt_tokens,
                    tally.completion_tokens,
                    tally.cached_tokens or 0,
                    tally.reasoning_tokens or 0,
                ),
                **tally.record_fields(),
            )


def merge_records(records: Sequence[JudgeRecord]) -> JudgeRecord:
    """Return one record for judges that worked side by side, one in each process of a run."""
    panels = [record.panel for record in records if record.panel]
    panel = (
        {"panel": [merge_records(members) for members in zip(*panels, strict=True)]}
        if panels
        else {}
    )
    return records[0].model_copy(update={**_sum_records(records), **panel})


def _sum_records(records: Sequence[JudgeRecord]) -> dict[str, Any]:
    """Return the sums of several records: replies, tokens and dollars."""
    returned = sum((Counter(record.returned) for record in records), Counter[str]())
    costs = [record.cost_usd for record in records]
    plain = ("calls", "cached", "prompt_tokens", "completion_tokens")
    perhaps = ("reasoning_tokens", "cached_tokens")
    return {
        "returned": dict(sorted(returned.items())),
        "kept_from": min((day for record in records if (day := record.kept_from)), default=None),
        "kept_to": max((day for record in records if (day := record.kept_to)), default=None),
        **{name: sum(getattr(record, name) for record in records) for name in plain},
        **{
            name: reduce(add_known, (getattr(record, name) for record in records), None)
            for name in perhaps
        },
        "cost_usd": None if None in costs else sum(cost for cost in costs if cost is not None),
    }
