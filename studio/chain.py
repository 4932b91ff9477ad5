"""A chain of questions to language models: the one way to run it.

A chain is a plain async function over one item. It asks through `Chain.ask`, which reads every reply, asks again with
the error where a reply does not read, and drops the item with a reason where that does not help. An item has one call
in flight at a time, and as many items are under way as calls may be in flight.

There is no state to keep: every reply is in the cache of `reelbench.llm` the moment it arrives, so a chain that was
killed and is run again replays what it has and asks for the rest. The same items and replies give the same results in
the same order.
"""

import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from pydantic import ValidationError

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Budget, Tally
from reelbench.llm.messages import Message, estimated_tokens, on_record
from reelbench.llm.retry_cursor import PENDING, UNPARSABLE, AskResult
from reelbench.llm.runner import Runner, pending_shown
from reelbench.registry.base_record import Record, first_wrong_field
from reelbench.registry.errors import InputError, PendingError
from reelbench.registry.files import open_aside, read_json, sha256_of, write_json, write_jsonl, write_text
from reelbench.registry.progress import Show, no_show
from reelbench.scoring.answers import past_reasoning
from reelbench.studio.chain_prompts import ChainPrompts
from reelbench.studio.funnel import DroppedError, Funnel, FunnelRecord, joined, to_svg

T = TypeVar("T")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(slots=True)
class ChainCase(Generic[ItemT]):
    """One item on its way through a chain, and what was asked for it so far (lines of `trace.jsonl`)."""

    item: ItemT
    lines: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ChainSetup:
    """Whom a chain asks, and where its results go.

    Attributes:
        models: Role -> model.
        out: Where results are written; None for a plan: nothing is asked or written.
        budget: What may be spent by all roles together.
        on_note: Called with each line that the user should know.
        show: Called as items are done.
    """

    models: Mapping[str, AskOptions]
    out: Path | None
    budget: Budget | None = None
    on_note: Callable[[str], None] = lambda _: None
    show: Show = no_show


class Chain:
    """Asks for a chain: one asker for each model, a budget for all, and the funnel's account of it.

    In a plan a reply that is not in the cache is counted and stood in for. Within `async with`, `trace` has what was
    asked for the items that are done.
    """

    trace: "TraceFile"

    def __init__(
        self,
        setup: ChainSetup,
        prompts: ChainPrompts,
        funnel: Funnel,
        sampling: Mapping[str, Mapping[str, object]] | None = None,
        *,
        start_after: str | None = None,
    ) -> None:
        """Set up, without sending anything.

        Args:
            setup: Whom to ask, and where results go.
            prompts: What is asked.
            funnel: The stages of this run.
            sampling: Role -> what goes with each of its questions.
            start_after: The stage after which an earlier run was stopped, whose account this one's goes on from.
        """
        self.prompts = prompts
        self.funnel = funnel
        self.planning = setup.out is None
        self._out = setup.out
        self._earlier = None if setup.out is None or start_after is None else EarlierStages.read(setup.out, start_after)
        self.use = {role: Tally() for role in setup.models}
        """What each role's replies came to, whenever they were paid."""
        self._planned = {role: Tally() for role in setup.models}
        self.note = setup.on_note
        self._show = setup.show
        self._askers: dict[str, Asker] = {}
        for role, options in setup.models.items():
            sent = {**(sampling or {}).get(role, {}), **options.extra}
            like = (known for known in self._askers.values() if (known.options, known.sampling) == (options, sent))
            self._askers[role] = next(like, None) or Asker(
                options, sent, budget=setup.budget, on_note=setup.on_note, tells=True
            )
        self._concurrency = max((options.concurrency for options in setup.models.values()), default=1)
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.trace = self._open.enter_context(closing(TraceFile()))
        for asker in self._distinct():
            await self._open.enter_async_context(asker)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def ask(
        self,
        case: ChainCase[Any],
        role: str,
        messages: Sequence[Message],
        read: Callable[[str], T],
        *,
        stand_in: str,
        rest: Callable[[str], T | None] | None = None,
        vote: int = 0,
        **about: object,
    ) -> T:
        """Ask a role one question about an item.

        Args:
            case: The item.
            role: Who is asked.
            messages: The question.
            read: What a reply's text says; UnreadableError where it can't be used.
            stand_in: A reply such as the role might give: what a plan counts and goes on with.
            rest: What can be kept of the last reply where none reads; None for nothing.
            vote: Number of the reply among several wanted for one question.
            about: What the trace says of the question, beside role, model, messages, reply and tokens.

        Raises:
            DroppedError: Nothing was answered; the reason is the asker's (`unavailable`, `unparsable`, …).
            PendingError: The question is in a batch.
            ReelbenchError: The cache can't be written.
        """
        asker, sent = self._askers[role], [messages]

        def again(before: Sequence[Message], reply: str | None, error: str) -> Sequence[Message]:
            sent.append(self.prompts.again(before, reply, error))
            return sent[-1]

        if self.planning:
            cursor = asker.cursor(messages, past_reasoning(read), vote=vote, again=again)
            if cursor.key is not None:
                self._plan(role, messages, stand_in)
                return read(stand_in)
            asked = cursor.result()
        else:
            asked = await asker.ask(messages, past_reasoning(read), vote=vote, again=again)
        self._record(case, role, asked, sent, {**about, "vote": vote})
        if asked.value is not None:
            return asked.value
        if asked.reason == PENDING:
            raise PendingError(pending_shown(1))
        kept = rest(asked.replies[-1].reply.raw or "") if rest is not None and asked.reason == UNPARSABLE else None
        if kept is None:
            raise DroppedError(asked.reason or UNPARSABLE)
        return kept

    async def run(
        self, items: Iterable[ItemT], work: Callable[[ChainCase[ItemT]], Awaitable[ResultT]], *, shown: bool = True
    ) -> AsyncIterator[tuple[ChainCase[ItemT], ResultT | None]]:
        """Yield each item with what `work` made of it, None where it was dropped, in the order of the items.

        `shown` says whether the items count for the user's progress bar.

        Raises:
            PendingError: Items wait for replies in a batch, so nothing that follows from them can be done yet.
        """
        pending = 0

        async def worked(case: ChainCase[ItemT]) -> ResultT | None:
            nonlocal pending
            try:
                return await work(case)
            except DroppedError:
                return None
            except PendingError:
                pending += 1
                return None

        runner = Runner(self._askers.values(), self._show if shown else no_show, at_once=self._concurrency)
        async for case, result in runner.run(map(ChainCase, items), worked):
            self.trace.add(case.lines)
            case.lines.clear()
            yield case, result
        if pending:
            raise PendingError(pending_shown(pending))

    # --- the account -------------------------------------------------------------------------------------------------

    @property
    def calls(self) -> int:
        """Replies that this run asked for and got; in a plan, those it would ask for."""
        return sum(asker.tally.calls for asker in self._distinct())

    def cost_usd(self) -> float | None:
        """Return what all replies behind the results cost, whenever they were paid; in a plan, what is to be asked.

        None without prices.
        """
        costs = [
            self._askers[role].options.cost_usd(use.prompt_tokens, use.completion_tokens)
            for role, use in (self._planned if self.planning else self.use).items()
        ]
        if self._earlier is not None and self._earlier.funnel.models:
            costs.append(self._earlier.funnel.cost_usd)
        return None if None in costs or not costs else sum(filter(None, costs))

    def write(
        self,
        thresholds: Mapping[str, object],
        settings: Mapping[str, object],
        *,
        until: str | None = None,
        lines: Iterable[dict[str, Any]] = (),
        **more: object,
    ) -> dict[str, Any]:
        """Write what was asked (`trace.jsonl`) and what it came to (`funnel.json`, `funnel.svg`); return the latter.

        Args:
            thresholds: Where what is kept was parted from the rest.
            settings: How it was made.
            until: The stage that the chain is stopped after.
            lines: Of that stage's file.
            more: Other fields of the funnel.
        """
        assert self._out is not None  # noqa: S101 - a plan writes nothing
        funnel = self.account(thresholds, settings, **more)
        document = funnel.model_dump(mode="json", by_alias=True)
        self.trace.save(self._out / "trace.jsonl", None if self._earlier is None else self._earlier.trace)
        if until is not None:
            save_stage(self._out, until, lines, funnel, self._out / "trace.jsonl")
        write_json(self._out / "funnel.json", document)
        write_text(self._out / "funnel.svg", to_svg(document["stages"]))
        return document

    def account(self, thresholds: Mapping[str, object], settings: Mapping[str, object], **more: object) -> FunnelRecord:
        """Return what `funnel.json` says, `more` of its fields included.

        `calls` are this run's, `cached` the replies that were there; tokens, models and cost are those of all replies
        behind the results, whenever they were paid, those of earlier stages too.
        """
        replies = sum(use.replies for use in self.use.values())
        document = {
            "stages": self.funnel.document(),
            "calls": self.calls,
            "cached": max(0, replies - self.calls),
            "tokens": {
                "prompt": sum(use.prompt_tokens for use in self.use.values()),
                "completion": sum(use.completion_tokens for use in self.use.values()),
            },
            "models": {
                role: {
                    "asked": self._askers[role].options.model,
                    "returned": dict(sorted(use.returned.items())),
                    "sampling": self._askers[role].sampling or None,
                }
                for role, use in self.use.items()
            },
            "thresholds": dict(thresholds),
            "settings": dict(settings),
            "prompts": dict(sorted(self.prompts.sha256.items())),
            "cost_usd": self.cost_usd(),
            **more,
        }
        own = FunnelRecord.model_validate(document)
        return own if self._earlier is None else joined(self._earlier.funnel, own)

    def plan(self) -> dict[str, Any]:
        """Return what a run would ask for, where everything that is asked comes through."""
        planned = {role: use for role, use in self._planned.items() if use.replies}
        return {
            "stages": self.funnel.document(),
            "calls": self.calls,
            "cached": sum(use.replies for use in self.use.values()),
            "calls_by_role": {role: use.replies for role, use in planned.items()},
            "tokens": {
                "prompt": sum(use.prompt_tokens for use in planned.values()),
                "completion": sum(use.completion_tokens for use in planned.values()),
            },
            "cost_usd": self.cost_usd(),
        }

    # --- inside ------------------------------------------------------------------------------------------------------

    def _distinct(self) -> list[Asker]:
        return list({id(asker): asker for asker in self._askers.values()}.values())

    def _plan(self, role: str, messages: Sequence[Message], stand_in: str) -> None:
        use, asker = self._planned[role], self._askers[role]
        prompt, completion = estimated_tokens(messages), estimated_tokens([{"content": stand_in}])
        use.replies += 1
        use.prompt_tokens += prompt
        use.completion_tokens += completion
        asker.tally.calls += 1
        if asker.tally.spent_usd is not None:
            asker.tally.spent_usd += asker.options.cost_usd(prompt, completion) or 0.0

    def _record(
        self,
        case: ChainCase[Any],
        role: str,
        asked: AskResult[Any],
        sent: Sequence[Sequence[Message]],
        about: Mapping[str, object],
    ) -> None:
        use, sampling = self.use[role], self._askers[role].sampling
        for kept, messages in zip(asked.replies, sent, strict=False):
            reply = kept.reply
            use.add(reply)
            case.lines.append(
                {
                    "role": role,
                    **about,
                    "attempt": kept.attempt,
                    "read": kept.value is not None,
                    "model": reply.returned,
                    "messages": on_record(messages),
                    **({"sampling": sampling} if sampling else {}),
                    "reply": reply.raw,
                    "tokens": {"prompt": reply.prompt_tokens, "completion": reply.completion_tokens},
                    "key": kept.key.hex(),
                }
            )


class TraceFile:
    """The lines of `trace.jsonl`, written to a file without a name until the chain is done: they may be many."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+b")  # noqa: SIM115 - its owner closes it
        self.close = self._file.close

    def add(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Append lines."""
        self._file.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)

    def save(self, path: Path, earlier: Path | None = None) -> None:
        """Write all lines to `path`, in one step, behind those of an earlier file."""
        self._file.seek(0)
        with open_aside(path, "wb") as file:
            if earlier is not None:
                with earlier.open("rb") as before:
                    shutil.copyfileobj(before, file)
            shutil.copyfileobj(self._file, file)


class _Account(Record):
    """What a stage's file took: its sha256 as it was written, and the funnel up to there."""

    file_sha256: str
    funnel: FunnelRecord


@dataclass(frozen=True, slots=True)
class EarlierStages:
    """What a chain came to before it was stopped: its funnel, and the file of what was asked."""

    funnel: FunnelRecord
    trace: Path

    @classmethod
    def read(cls, folder: Path, stage: str) -> Self | None:
        """Read what `save_stage` wrote; None where the stage's file was made without it, as people may write one.

        Raises:
            InputError: The account is damaged.
        """
        path, trace = _account(folder, stage), _trace(folder, stage)
        if not path.is_file() or not trace.is_file():
            return None
        try:
            account = _Account.model_validate(read_json(path))
        except ValidationError as error:
            raise InputError(f"{path}, {first_wrong_field(error)}; write it anew with --until {stage}") from None
        funnel = account.funnel
        if sha256_of(folder / stage_file(stage)) != account.file_sha256:
            funnel = funnel.model_copy(update={"edited_after": (*(funnel.edited_after or ()), stage)})
        return cls(funnel, trace)


def save_stage(folder: Path, stage: str, lines: Iterable[dict[str, Any]], funnel: FunnelRecord, trace: Path) -> None:
    """Write what a chain has after a stage, which people may edit, and beside it the account of how it came about."""
    path = folder / stage_file(stage)
    write_jsonl(path, lines)
    with trace.open("rb") as source, open_aside(_trace(folder, stage), "wb") as copy:
        shutil.copyfileobj(source, copy)
    account = _Account(file_sha256=sha256_of(path), funnel=funnel)
    write_json(_account(folder, stage), account.model_dump(mode="json", by_alias=True))


def stage_file(stage: str) -> str:
    """Return the name of the file that `--until` writes and `--from` reads."""
    return f"{stage.replace(' ', '_')}.jsonl"


def stages_taken(names: Sequence[str], start_after: str | None, until: str | None) -> slice:
    """Return which of a chain's stages are run; InputError where one that is named isn't there, or comes before."""
    for option, name in (("--from", start_after), ("--until", until)):
        if name is not None and name not in names:
            raise InputError(f"{option}: no stage is called {name!r}; there are {', '.join(names)}")
    start = 0 if start_after is None else names.index(start_after) + 1
    end = len(names) if until is None else names.index(until) + 1
    if end < start or (end == start and until is not None):
        raise InputError(f"--until {until}: comes before --from {start_after}")
    return slice(start, end)


def _account(folder: Path, stage: str) -> Path:
    return (folder / stage_file(stage)).with_suffix(".account.json")


def _trace(folder: Path, stage: str) -> Path:
    return (folder / stage_file(stage)).with_suffix(".trace.jsonl")
