"""One judge of a panel, or the only one: what it is asked about an item, and how its replies become a verdict.

A score is only ever read from a reply of the judge, or is the scale's minimum for an answer that is all white space.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from reelbench.judges.judge_options import JudgeOptions
from reelbench.judges.parsing import parse_score
from reelbench.judges.prompting import PromptSet
from reelbench.judges.verdicts import Verdict, needs_no_judge, score_of_votes
from reelbench.llm.asker import Asker
from reelbench.llm.batches import Batches
from reelbench.llm.budget import Budget
from reelbench.llm.messages import Message
from reelbench.llm.retry_cursor import UNPARSABLE, AskResult, CachedReply, RetryCursor
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, JudgeRecord, JudgeReply
from reelbench.registry.spec import JudgeSpec

Place = tuple[str, int]
"""(criterion, vote)"""


class Member:
    """Judges items on one scale by one model; `asker` asks it."""

    def __init__(
        self,
        scale: JudgeSpec,
        prompts: PromptSet,
        options: JudgeOptions,
        on_note: Callable[[str], None] | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.options = options
        self._prompts = prompts
        self._scale = scale
        temperature = prompts.temperature if options.temperature == "auto" else options.temperature
        self._temperature = None if temperature == "none" else temperature
        sampling = {} if self._temperature is None else {"temperature": self._temperature}
        self.asker = Asker(options, sampling, on_note=on_note, budget=budget, notes_shutdown=True)

    def questions(self, item: Item) -> dict[Place, RetryCursor[int]]:
        """Return what is asked about an item, each vote at its place among the replies that are kept."""
        read, again = self._prompts.read or self._read, self._prompts.again
        return {
            place: self.asker.cursor(messages, read, vote=place[1], again=again)
            for place, messages in self._messages(item)
        }

    def read_ahead(self, items: Iterable[Item]) -> None:
        """Read what a server of replies has of items, in one request."""
        if self.asker.cache.store.is_remote:
            asked = (question for item in items for question in self._messages(item))
            self.asker.read_ahead([(messages, vote) for (_, vote), messages in asked])

    def _messages(self, item: Item) -> Iterator[tuple[Place, Sequence[Message]]]:
        """Yield what is asked about an item: place, messages."""
        if needs_no_judge(item.text):
            return
        for criterion in self._scale.criteria:
            messages = self._prompts.messages(criterion, item)
            yield from (((criterion, vote), messages) for vote in range(self.options.votes))

    def batches(self) -> Batches:
        """Return the judge's batches."""
        return Batches(self.options, self.asker.cache, self.asker.note)

    def settle(self, items: Sequence[Item]) -> None:
        """Collect what batches have answered of these items; with `options.batch` hand over what is still to be asked.

        Where nothing of theirs is in a batch and none is wanted, nothing is sent.

        Raises:
            ReelbenchError: The server does not take the batch, or the cache can't be written.
        """
        batches = self.batches()
        if (under_way := batches.under_way()) and under_way & self._wanted(items).keys():
            batches.collect()
        if self.options.batch and (wanted := self._wanted(items)):
            batches.submit(wanted, self.asker.sampling)

    def verdict(self, item: Item, votes: Mapping[Place, AskResult[int]]) -> Verdict:
        """Return what the answers to an item's questions come to."""
        if needs_no_judge(item.text):
            return Verdict(item.id, dict.fromkeys(self._scale.criteria, self._scale.low), {})
        replies = [_record_of(place, cached) for place, result in votes.items() for cached in result.replies]
        verdict = Verdict(item.id, {}, {}, replies)
        wanted, rule = self.options.votes, self.options.vote_rule
        for criterion in self._scale.criteria:
            cast = [votes[criterion, vote] for vote in range(wanted)]
            # A reply that can't be read is a vote less; one that is not available leaves the criterion open.
            absent = [vote.reason for vote in cast if vote.reason not in {None, UNPARSABLE}]
            score = score_of_votes([vote.value for vote in cast if vote.value is not None], wanted, rule)
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
                returned=dict(sorted(tally.returned.items())),
                url=options.host,
                prompt=self._prompts.name,
                prompt_sha256=self._prompts.sha256,
                temperature=self._temperature,
                extra=dict(options.extra) or None,
                votes=options.votes,
                vote_rule="single" if options.votes == 1 else options.vote_rule,
                calls=tally.calls,
                cached=max(0, tally.replies - tally.calls),
                prompt_tokens=tally.prompt_tokens,
                completion_tokens=tally.completion_tokens,
                reasoning_tokens=tally.reasoning_tokens,
                cached_tokens=tally.cached_tokens,
                cost_usd=options.cost_usd(
                    tally.prompt_tokens, tally.completion_tokens, tally.cached_tokens or 0, tally.reasoning_tokens or 0
                ),
            )

    def _wanted(self, items: Iterable[Item]) -> dict[bytes, Sequence[Message]]:
        """Return what is to be asked next: key -> messages."""
        cursors = (cursor for item in items for cursor in self.questions(item).values())
        return {cursor.key: cursor.messages for cursor in cursors if cursor.key is not None}

    def _read(self, text: str) -> int | None:
        return parse_score(text, self._scale.low, self._scale.high, bare_integer=self._prompts.bare_integer)


def members(
    scale: JudgeSpec,
    prompts: PromptSet,
    options: JudgeOptions,
    on_note: Callable[[str], None] | None = None,
    budget: Budget | None = None,
) -> list[Member]:
    """Return each judge that `options` name; what they may spend is one budget, by default the options'."""
    budget = budget or Budget(options.budget_calls, options.budget_usd)
    return [Member(scale, prompts, judge, on_note, budget) for judge in options.members]


def _record_of(place: Place, cached: CachedReply) -> JudgeReply:
    return JudgeReply(
        criterion=place[0],
        vote=place[1],
        attempt=cached.attempt,
        raw=cached.reply.raw,
        score=cached.value,
        model=cached.reply.returned,
        key=cached.key.hex(),
    )
