"""A chain of questions to language models: the one way to run it.

A chain is a plain async function over one item. It asks through `Chain.ask`, which reads every
reply, asks again with the error where a reply does not read, and drops the item with a reason where
that does not help. An item has one call in flight at a time, and as many items are under way as
calls may be in flight.

There is no state to keep: every reply is in the cache of `reelbench.llm` the moment it arrives, so
a chain that was killed and is run again replays what it has and asks for the rest. The same items
and replies give the same results in the same order.
"""

import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from reelbench.base.base_record import Record, record_of
from reelbench.base.errors import InputError, PendingError
from reelbench.base.files import (
    open_aside,
    read_json,
    sha256_of,
    write_json,
    write_jsonl,
    write_text,
)
from reelbench.base.progress import Show, no_show
from reelbench.base.yaml_text import read_mapping
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import PENDING, UNPARSABLE
from reelbench.llm.asker import Asker, RetryCursor
from reelbench.llm.budget import Budget, Tally
from reelbench.llm.material import PromptFiles
from reelbench.llm.messages import Message, estimated_tokens, on_record
from reelbench.llm.runner import PENDING_SHOWN, Runner
from reelbench.scoring.answers import past_reasoning
from reelbench.studio.funnel import DroppedError, Funnel, FunnelRecord, join_accounts, to_svg

ROLES = "roles.yaml"
_TRACE = ".trace.jsonl"


class Role(BaseModel):
    """Who speaks in a chain."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]*$"
    )  # as the command line and the trace call the role
    prompt: str  # file with its instructions
    sees: tuple[str, ...]  # the material it is shown, and the roles whose words, in this order
    model: str | None = None  # asked, where the command line names none for it


class _Roles(BaseModel):
    model_config = ConfigDict(extra="forbid")

    roles: tuple[Role, ...] = Field(min_length=1)


class ChainPrompts(PromptFiles):
    """The prompts of one chain, its roles, and the hash of each file that was used."""

    def __init__(self, chain: str, folder: Path | None = None) -> None:
        """Read nothing yet but the user's folder, whose files take the place of ours; InputError where it has none."""
        super().__init__(resources.files("reelbench.studio") / "prompts" / chain, folder)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The chain's roles in order; InputError names what is wrong in their file."""
        text, where = self.text(ROLES), str(self.files[ROLES])
        roles = record_of(_Roles, read_mapping(text, where), where).roles
        names = [role.name for role in roles]
        if len(set(names)) < len(names):
            raise InputError(f"{where}: a role's name occurs twice; there are {', '.join(names)}")
        for role in roles:
            self.text(role.prompt)
        return roles


def material_text(value: object) -> str:
    """Return a JSON value as the text of a piece of material."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def filler_text(number: int) -> str:
    """Return a text of so many words, which stands in for a reply."""
    return " ".join(["word"] * number)


T = TypeVar("T")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


@dataclass(slots=True)
class ChainCase(Generic[ItemT]):
    """One item on its way through a chain, and what was asked for it so far (lines of `trace.jsonl`)."""

    item: ItemT
    chain: "Chain"
    about: dict[str, object] = field(
        default_factory=dict[str, object]
    )  # what the trace says of each question about it
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        read: Callable[[str], T],
        *,
        stand_in: str,
        rest: Callable[[str], T | None] = lambda _: None,
        vote: int = 0,
        **about: object,
    ) -> T:
        """Ask a role one question about the item, and return what `read` makes of a reply (else UnreadableError).

        `stand_in` is a reply such as the role might give: what a plan counts and goes on with.
        `rest` says what can be kept of the last reply where none reads, `vote` is its number among
        several wanted for one question, `about` is what the trace says of this question alone.

        Raises:
            DroppedError: Nothing was answered; the reason is the asker's (`unavailable`,
                `unparsable`, …).
            PendingError: The question is in a batch.
        """
        chain, asker, sent = self.chain, self.chain.askers[role], [messages]

        def again(before: Sequence[Message], reply: str | None, error: str) -> Sequence[Message]:
            sent.append(chain.prompts.retry(before, reply, error))
            return sent[-1]

        if chain.planning:
            cursor = RetryCursor(asker, messages, past_reasoning(read), vote=vote, again=again)
            if cursor.key is not None:
                chain.plan_call(role, messages, stand_in)
                return read(stand_in)
            asked = cursor.result()
        else:
            asked = await asker.ask(messages, past_reasoning(read), vote=vote, again=again)
        for kept, question in zip(asked.replies, sent, strict=False):
            reply = kept.reply
            chain.use[role].add(reply)
            self.lines.append(
                {
                    "role": role,
                    **self.about,
                    **about,
                    "vote": vote,
                    "attempt": kept.attempt,
                    "read": kept.value is not None,
                    "model": reply.returned,
                    "messages": on_record(question),
                    **({"sampling": asker.sampling} if asker.sampling else {}),
                    "reply": reply.raw,
                    "tokens": {
                        "prompt": reply.prompt_tokens,
                        "completion": reply.completion_tokens,
                    },
                    "key": kept.key.hex(),
                }
            )
        value = asked.value
        if asked.reason == PENDING:
            raise PendingError(PENDING_SHOWN.format(1))
        if value is None and asked.reason == UNPARSABLE:
            value = rest(asked.replies[-1].reply.raw or "")
        if value is None:
            raise DroppedError(asked.reason or UNPARSABLE)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOptions:
    """Which stages of a chain are run, and what is shown of videos meanwhile."""

    frames: str = "uniform:16,size=448,as=images"
    media: Path | None = None  # folder with the videos
    start_after: str | None = None  # stage that the items have been through
    until: str | None = None  # stage to stop after; None for the last

    def stages_run(self, stages: Sequence[str]) -> slice:
        """Return the slice of the stages that are run; InputError where a named one isn't there, or comes before."""
        for option, name in (("--from", self.start_after), ("--until", self.until)):
            if name is not None and name not in stages:
                raise InputError(
                    f"{option}: no stage is called {name!r}; there are {', '.join(stages)}"
                )
        start = 0 if self.start_after is None else stages.index(self.start_after) + 1
        end = len(stages) if self.until is None else stages.index(self.until) + 1
        if end < start or (end == start and self.until is not None):
            raise InputError(f"--until {self.until}: comes before --from {self.start_after}")
        return slice(start, end)


@dataclass(frozen=True, slots=True)
class ChainSetup:
    """Whom a chain asks, and where its results go; all roles together may spend one budget."""

    models: Mapping[str, AskOptions]
    out: Path | None  # where results are written; None for a plan: nothing is asked or written
    budget: Budget | None = None
    on_note: Callable[[str], None] = lambda _: (
        None
    )  # called with each line that the user should know
    show: Show = no_show  # called as items are done


class Chain:
    """Asks for a chain: one asker for each model, a budget for all, and the funnel's account of it.

    In a plan a reply that is not in the cache is counted and stood in for.
    """

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

        `sampling` says what goes with each of a role's questions; `start_after` is the stage after
        which an earlier run was stopped, whose account this one's goes on from.
        """
        self.prompts = prompts
        self.funnel = funnel
        self.planning = setup.out is None
        self._out = setup.out
        self._earlier = self._earlier_trace = None
        if setup.out is not None and start_after is not None:
            self._earlier = _earlier(setup.out, start_after)
            self._earlier_trace = self._earlier and setup.out / stage_file(start_after, _TRACE)
        self.use = {role: Tally() for role in setup.models}
        """What each role's replies came to, whenever they were paid."""
        self._planned = {role: Tally() for role in setup.models}
        self.note = setup.on_note
        self._show = setup.show
        self.askers: dict[str, Asker] = {}
        for role, options in setup.models.items():
            sent = {**(sampling or {}).get(role, {}), **options.extra}
            like = (
                known
                for known in self.askers.values()
                if (known.options, known.sampling) == (options, sent)
            )
            self.askers[role] = next(like, None) or Asker(
                options, sent, budget=setup.budget, on_note=setup.on_note, tells=True
            )
        self._distinct = list(dict.fromkeys(self.askers.values()))
        self._concurrency = max(
            (options.concurrency for options in setup.models.values()), default=1
        )

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        """Hold everything open that asking takes, and what was asked: a file without a name, as it may be long."""
        async with AsyncExitStack() as held:
            self._trace = held.enter_context(tempfile.TemporaryFile("w+b"))  # noqa: SIM115 - it does
            if self._earlier_trace is not None:
                with self._earlier_trace.open("rb") as before:
                    shutil.copyfileobj(before, self._trace)
            for asker in self._distinct:
                await held.enter_async_context(asker)
            yield

    def plan_call(self, role: str, messages: Sequence[Message], stand_in: str) -> None:
        """Count a call that a run would make, whose reply would be about as long as `stand_in`."""
        asker, use = self.askers[role], self._planned[role]
        prompt, completion = estimated_tokens(messages), estimated_tokens([{"content": stand_in}])
        use.replies += 1
        use.prompt_tokens += prompt
        use.completion_tokens += completion
        asker.tally.calls += 1
        if asker.tally.spent_usd is not None:
            asker.tally.spent_usd += asker.options.cost_usd(prompt, completion) or 0.0

    async def run(
        self,
        items: Iterable[ItemT],
        work: Callable[[ChainCase[ItemT]], Awaitable[ResultT]],
        *,
        shown: bool = True,
    ) -> list[ResultT | None]:
        """Return what `work` made of each item, None where it was dropped, in the order of the items.

        `shown` says whether the items count for the user's progress bar. PendingError where items
        wait for replies in a batch: nothing that follows from them can be done yet.
        """
        pending = 0
        results: list[ResultT | None] = []

        async def worked(case: ChainCase[ItemT]) -> ResultT | None:
            nonlocal pending
            try:
                return await work(case)
            except DroppedError:
                return None
            except PendingError:
                pending += 1
                return None

        runner = Runner(
            self.askers.values(), self._show if shown else no_show, at_once=self._concurrency
        )
        async for case, result in runner.run((ChainCase(item, self) for item in items), worked):
            self._trace.writelines(
                json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in case.lines
            )
            case.lines.clear()
            results.append(result)
        if pending:
            raise PendingError(PENDING_SHOWN.format(pending))
        return results

    # --- the account
    # -------------------------------------------------------------------------------------------------

    @property
    def calls(self) -> int:
        """Replies that this run asked for and got; in a plan, those it would ask for."""
        return sum(asker.tally.calls for asker in self._distinct)

    def cost_usd(self) -> float | None:
        """Return the cost of all replies behind the results, whenever they were paid; in a plan, of those to be asked.

        None without prices.
        """
        costs = [
            self.askers[role].options.cost_usd(use.prompt_tokens, use.completion_tokens)
            for role, use in (self._planned if self.planning else self.use).items()
        ]
        if self._earlier is not None and self._earlier.models:
            costs.append(self._earlier.cost_usd)
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

        Of a plan nothing is written, and the plan is returned.

        `thresholds` say where what is kept was parted from the rest, `settings` how it was made;
        `until` is the stage that the chain is stopped after, with the `lines` of its file; `more`
        are other fields of the funnel.
        """
        if self._out is None:
            return self.plan()
        funnel = self.account(thresholds, settings, **more)
        document = funnel.model_dump(mode="json", by_alias=True)
        self.save_trace(self._out / "trace.jsonl")
        if (
            until is not None
        ):  # people may edit what a chain has after a stage; beside it, how it came about
            path = self._out / stage_file(until)
            write_jsonl(path, lines)
            self.save_trace(self._out / stage_file(until, _TRACE))
            account = _Account(file_sha256=sha256_of(path), funnel=funnel)
            write_json(
                self._out / stage_file(until, ".account.json"),
                account.model_dump(mode="json", by_alias=True),
            )
        write_json(self._out / "funnel.json", document)
        write_text(self._out / "funnel.svg", to_svg(document["stages"]))
        return document

    def save_trace(self, path: Path) -> None:
        """Write what was asked for the items that are done, behind what an earlier run asked, in one step."""
        self._trace.seek(0)
        with open_aside(path, "wb") as file:
            shutil.copyfileobj(self._trace, file)

    def account(
        self, thresholds: Mapping[str, object], settings: Mapping[str, object], **more: object
    ) -> FunnelRecord:
        """Return the funnel's record, `more` of its fields included.

        `calls` are this run's, `cached` the replies that were there; tokens, models and cost are
        those of all replies behind the results, whenever they were paid, those of earlier stages
        too.
        """
        total = Tally.total([*self.use.values()])
        document = {
            "stages": self.funnel.document(),
            "calls": self.calls,
            "cached": max(0, total.replies - self.calls),
            "tokens": {"prompt": total.prompt_tokens, "completion": total.completion_tokens},
            "models": {
                role: {
                    "asked": self.askers[role].options.model,
                    "returned": dict(sorted(use.returned.items())),
                    "sampling": self.askers[role].sampling or None,
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
        return own if self._earlier is None else join_accounts(self._earlier, own)

    def plan(self) -> dict[str, Any]:
        """Return the plan: the calls of a run where everything that is asked comes through."""
        planned = {role: use for role, use in self._planned.items() if use.replies}
        total = Tally.total([*planned.values()])
        return {
            "stages": self.funnel.document(),
            "calls": self.calls,
            "cached": Tally.total([*self.use.values()]).replies,
            "calls_by_role": {role: use.replies for role, use in planned.items()},
            "tokens": {"prompt": total.prompt_tokens, "completion": total.completion_tokens},
            "cost_usd": self.cost_usd(),
        }


class _Account(Record):
    """What a stage's file took: its sha256 as it was written, and the funnel up to there."""

    file_sha256: str
    funnel: FunnelRecord


def _earlier(folder: Path, stage: str) -> FunnelRecord | None:
    """Return what a chain came to that was stopped after a stage; None where people made its file without one."""
    path = folder / stage_file(stage, ".account.json")
    if not path.is_file() or not (folder / stage_file(stage, _TRACE)).is_file():
        return None
    account = record_of(
        _Account, read_json(path), str(path), f"; write it anew with --until {stage}"
    )
    funnel = account.funnel
    if sha256_of(folder / stage_file(stage)) != account.file_sha256:
        funnel = funnel.model_copy(update={"edited_after": (*(funnel.edited_after or ()), stage)})
    return funnel


def stage_file(stage: str, ending: str = ".jsonl") -> str:
    """Return the name of the file that `--until` writes and `--from` reads, or of one beside it."""
    return f"{stage.replace(' ', '_')}{ending}"
