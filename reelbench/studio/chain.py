"""Run a chain of questions to language models over many items.

A chain is a plain async function over one item. It asks through `ChainCase.ask`, which reads every
reply. Where a reply can't be read, the role is asked again with the error; where that does not
help, the item is dropped with a reason. An item has one call in flight at a time. As many items are
under way as calls may be in flight.

The chain itself keeps no state: every reply is in the cache of `reelbench.llm` the moment it
arrives. A chain that was killed and is run again takes those replies from the cache and asks for
the rest. The same items and replies give the same results in the same order.
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
from reelbench.llm.ask_result import PENDING, UNPARSABLE, CachedReply
from reelbench.llm.asker import Asker, RetryCursor
from reelbench.llm.budget import Budget, Tally
from reelbench.llm.material import PromptFiles
from reelbench.llm.messages import Message, estimated_tokens, on_record
from reelbench.llm.runner import PENDING_SHOWN, Runner
from reelbench.llm.structured import Schema
from reelbench.scoring.answers import past_reasoning
from reelbench.studio.funnel import DroppedError, Funnel, FunnelRecord, join_accounts, to_svg

ROLES = "roles.yaml"
_TRACE = ".trace.jsonl"
_ACCOUNT = ".account.json"


class Role(BaseModel):
    """A speaker in a chain."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """As the command line and the trace call the role."""
    prompt: str
    """File with its instructions."""
    sees: tuple[str, ...]
    """The material that it is shown, and the roles whose words it is shown, in this order."""
    model: str | None = None
    """The model to ask where the command line names none."""


class _Roles(BaseModel):
    model_config = ConfigDict(extra="forbid")

    roles: tuple[Role, ...] = Field(min_length=1)


class ChainPrompts(PromptFiles):
    """The prompts and roles of one chain, with the hash of each file used."""

    def __init__(self, chain: str, folder: Path | None = None) -> None:
        """List the prompt files, and read none of them yet.

        Args:
            chain: Name of the chain, and of the folder with our prompts.
            folder: The user's folder, whose files take the place of ours.

        Raises:
            InputError: The user's folder has no prompt file.
        """
        super().__init__(resources.files("reelbench.studio") / "prompts" / chain, folder)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The chain's roles in order. InputError names what is wrong in their file."""
        where = str(self.files[ROLES])
        document = read_mapping(self.text(ROLES), where)
        roles = record_of(_Roles, document, where).roles
        names = [role.name for role in roles]
        if len(set(names)) < len(names):
            raise InputError(f"{where}: two roles have the same name; there are {', '.join(names)}")
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
    """One item on its way through a chain."""

    item: ItemT
    chain: "Chain"
    about: dict[str, object] = field(default_factory=dict[str, object])
    """Fields that the trace has on each question about the item."""
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The questions so far, as lines of `trace.jsonl`."""

    async def ask(
        self,
        role: str,
        messages: Sequence[Message],
        read: Callable[[str], T],
        *,
        stand_in: str,
        rest: Callable[[str], T | None] = lambda _: None,
        schema: Schema | None = None,
        vote: int = 0,
        **about: object,
    ) -> T:
        """Ask a role one question about the item, and return the reply's value.

        Args:
            role: The role to ask.
            messages: The question.
            read: Returns the value of a reply, or raises UnreadableError.
            stand_in: A reply such as the role might give, which a plan counts and goes on with.
            rest: Returns the usable part of the last reply where none can be read.
            schema: The reply's schema, which goes with what is asked again.
            vote: The reply's number among several replies to one question.
            about: Fields that the trace has on this question alone.

        Raises:
            DroppedError: Nothing was answered. The reason is the asker's (`unavailable`,
                `unparsable`, …).
            PendingError: The question is in a batch.
        """
        chain = self.chain
        asker = chain.askers[role]
        questions = [messages]  # the first, and those that were asked again

        def again(before: Sequence[Message], reply: str | None, error: str) -> Sequence[Message]:
            question = chain.prompts.retry(before, reply, error)
            questions.append(question)
            return question

        if chain.planning:
            cursor = RetryCursor(
                asker, messages, past_reasoning(read), vote=vote, again=again, schema=schema
            )
            if cursor.key is not None:
                chain.plan_call(role, messages, stand_in)
                return read(stand_in)
            result = cursor.result()
        else:
            result = await asker.ask(
                messages, past_reasoning(read), vote=vote, again=again, schema=schema
            )
        for attempt, question in zip(result.replies, questions, strict=False):
            chain.use[role].add(attempt.reply)
            line = self._trace_line(role, attempt, question, vote=vote, about=about)
            self.lines.append(line)
        if result.reason == PENDING:
            raise PendingError(PENDING_SHOWN.format(1))
        value = result.value
        if value is None and result.reason == UNPARSABLE:
            last_reply = result.replies[-1].reply
            value = rest(last_reply.raw or "")
        if value is None:
            raise DroppedError(result.reason or UNPARSABLE)
        return value

    def _trace_line(
        self,
        role: str,
        attempt: CachedReply,
        question: Sequence[Message],
        *,
        vote: int,
        about: Mapping[str, object],
    ) -> dict[str, Any]:
        """Return a reply with its question as a line of the trace."""
        asker = self.chain.askers[role]
        reply = attempt.reply
        model = reply.returned
        if model is not None:
            model = asker.options.filed_id(model)
        line = {
            "role": role,
            **self.about,
            **about,
            "vote": vote,
            "attempt": attempt.attempt,
            "read": attempt.value is not None,
            "model": model,
            "messages": on_record(question),
        }
        if asker.sampling:
            line["sampling"] = asker.sampling
        if attempt.by_schema:
            line["schema"] = True
        line["reply"] = reply.raw
        line["tokens"] = {
            "prompt": reply.prompt_tokens,
            "completion": reply.completion_tokens,
        }
        line["key"] = attempt.key.hex()
        return line


@dataclass(frozen=True, slots=True, kw_only=True)
class StageOptions:
    """The stages of a chain to run, and the frames that they show."""

    frames: str = "uniform:16,size=448,as=images"
    media: Path | None = None
    """Folder with the videos."""
    start_after: str | None = None
    """Stage that the items have been through."""
    until: str | None = None
    """Stage to stop after. None for the last."""

    def stages_run(self, stages: Sequence[str]) -> slice:
        """Return the slice of the stages to run.

        Raises:
            InputError: A named stage isn't there, or the chain would stop before it starts.
        """
        for option, name in (("--from", self.start_after), ("--until", self.until)):
            if name is not None and name not in stages:
                raise InputError(
                    f"{option}: no stage is called {name!r}; there are {', '.join(stages)}"
                )
        start = 0
        if self.start_after is not None:
            start = stages.index(self.start_after) + 1
        if self.until is None:
            return slice(start, len(stages))
        end = stages.index(self.until) + 1
        if end <= start:
            raise InputError(f"--until {self.until}: comes before --from {self.start_after}")
        return slice(start, end)


@dataclass(frozen=True, slots=True)
class ChainSetup:
    """The models of a chain's roles, its output folder and its budget."""

    models: Mapping[str, AskOptions]
    """The model of each role."""
    out: Path | None
    """Where results are written. None for a plan, which asks and writes nothing."""
    budget: Budget | None = None
    """For all roles together."""
    on_note: Callable[[str], None] = lambda _: None
    """Called with each line for the user."""
    show: Show = no_show
    """Called as items are done."""


class Chain:
    """A chain's askers, one for each model, and its account.

    In a plan, a reply that is not in the cache is counted, and a stand-in takes its place.
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

        Args:
            setup: Models, output folder and budget.
            prompts: The chain's prompts.
            funnel: Counts what comes through.
            sampling: Sent with each question of a role.
            start_after: The stage after which an earlier run was stopped. The account of this run
                continues that run's.
        """
        self.prompts = prompts
        self.funnel = funnel
        self.planning = setup.out is None
        self._out = setup.out
        self._earlier: FunnelRecord | None = None
        self._earlier_trace: Path | None = None
        if setup.out is not None and start_after is not None:
            self._earlier = _earlier_account(setup.out, start_after)
            if self._earlier is not None:
                self._earlier_trace = setup.out / stage_file(start_after, _TRACE)
        self.use = {
            role: Tally(filed_id=options.filed_id) for role, options in setup.models.items()
        }
        """The replies to each role and their tokens, whenever they were paid."""
        self._planned = {role: Tally() for role in setup.models}
        self.note = setup.on_note
        self._show = setup.show
        self.askers: dict[str, Asker] = {}
        for role, options in setup.models.items():
            role_sampling = (sampling or {}).get(role, {})
            self.askers[role] = self._asker(setup, options, {**role_sampling, **options.extra})
        self._distinct = list(dict.fromkeys(self.askers.values()))
        concurrencies = [options.most_in_flight for options in setup.models.values()]
        self._concurrency = max(concurrencies, default=1)

    def _asker(self, setup: ChainSetup, options: AskOptions, sampling: dict[str, object]) -> Asker:
        """Return the asker of these options: one of another role, or else a new one."""
        for asker in self.askers.values():
            if asker.options == options and asker.sampling == sampling:
                return asker
        return Asker(
            options, sampling, budget=setup.budget, on_note=setup.on_note, reports_totals=True
        )

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        """Open the askers and the trace.

        The trace is a file without a name until it is saved, as it may be long.
        """
        async with AsyncExitStack() as stack:
            self._trace = stack.enter_context(tempfile.TemporaryFile("w+b"))  # noqa: SIM115 - it does
            if self._earlier_trace is not None:
                with self._earlier_trace.open("rb") as earlier_trace:
                    shutil.copyfileobj(earlier_trace, self._trace)
            for asker in self._distinct:
                await stack.enter_async_context(asker)
            yield

    def plan_call(self, role: str, messages: Sequence[Message], stand_in: str) -> None:
        """Count a call of a run, whose reply is about as long as `stand_in`."""
        asker = self.askers[role]
        use = self._planned[role]
        prompt = estimated_tokens(messages)
        completion = estimated_tokens([{"content": stand_in}])
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
        show_progress: bool = True,
    ) -> list[ResultT | None]:
        """Return the result of `work` on each item, in the order of the items.

        Args:
            items: The items.
            work: The chain.
            show_progress: True where the items count for the user's progress bar.

        Returns:
            The results, None for a dropped item.

        Raises:
            PendingError: Items wait for replies in a batch, so nothing that follows from them can
                be done yet.
        """
        pending = 0
        results: list[ResultT | None] = []

        async def work_or_none(case: ChainCase[ItemT]) -> ResultT | None:
            nonlocal pending
            try:
                return await work(case)
            except DroppedError:
                return None
            except PendingError:
                pending += 1
                return None

        show = self._show if show_progress else no_show
        runner = Runner(self.askers.values(), show, at_once=self._concurrency)
        cases = (ChainCase(item, self) for item in items)
        async for case, result in runner.run(cases, work_or_none):
            for line in case.lines:
                text = json.dumps(line, ensure_ascii=False)
                self._trace.write(text.encode() + b"\n")
            case.lines.clear()
            results.append(result)
        if pending:
            raise PendingError(PENDING_SHOWN.format(pending))
        return results

    # --- the account

    @property
    def calls(self) -> int:
        """Replies that this run asked for and got; in a plan, those to ask for."""
        return sum(asker.tally.calls for asker in self._distinct)

    def cost_usd(self) -> float | None:
        """Return the cost of all replies behind the results, whenever they were paid.

        In a plan it is the cost of the replies to be asked for. It is None without prices.
        """
        tallies = self._planned if self.planning else self.use
        costs: list[float | None] = []
        for role, use in tallies.items():
            options = self.askers[role].options
            costs.append(options.cost_usd(use.prompt_tokens, use.completion_tokens))
        if self._earlier is not None and self._earlier.models:
            costs.append(self._earlier.cost_usd)
        if not costs:
            return None
        total = 0.0
        for cost in costs:
            if cost is None:
                return None
            total += cost
        return total

    def write(
        self,
        thresholds: Mapping[str, object],
        settings: Mapping[str, object],
        *,
        until: str | None = None,
        lines: Iterable[dict[str, Any]] = (),
        **more: object,
    ) -> dict[str, Any]:
        """Write `trace.jsonl`, `funnel.json` and `funnel.svg`, and return the funnel's document.

        For a plan, nothing is written, and the plan is returned.

        Args:
            thresholds: The limits by which questions were kept or dropped.
            settings: How the questions were made.
            until: The stage after which the chain is stopped.
            lines: The lines of that stage's file.
            more: Further fields of the funnel.
        """
        if self._out is None:
            return self.plan()
        funnel = self.account(thresholds, settings, **more)
        document = funnel.model_dump(mode="json", by_alias=True)
        self.save_trace(self._out / "trace.jsonl")
        if until is not None:
            # People may edit the stage's file, so the account beside it has the hash as written.
            path = self._out / stage_file(until)
            write_jsonl(path, lines)
            self.save_trace(self._out / stage_file(until, _TRACE))
            account = _Account(file_sha256=sha256_of(path), funnel=funnel)
            write_json(
                self._out / stage_file(until, _ACCOUNT),
                account.model_dump(mode="json", by_alias=True),
            )
        write_json(self._out / "funnel.json", document)
        write_text(self._out / "funnel.svg", to_svg(document["stages"]))
        return document

    def save_trace(self, path: Path) -> None:
        """Write the trace of the items that are done, in one step.

        The lines of the earlier run come first.
        """
        self._trace.seek(0)
        with open_aside(path, "wb") as file:
            shutil.copyfileobj(self._trace, file)

    def account(
        self, thresholds: Mapping[str, object], settings: Mapping[str, object], **more: object
    ) -> FunnelRecord:
        """Return the funnel's record, `more` of its fields included.

        `calls` are this run's, `cached` the replies that were there. Tokens, models and cost are
        those of all replies behind the results, whenever they were paid, those of earlier stages
        too.
        """
        total = Tally.total([*self.use.values()])
        models: dict[str, dict[str, Any]] = {}
        for role, use in self.use.items():
            asker = self.askers[role]
            models[role] = {
                "asked": asker.options.filed_name,
                "returned": dict(sorted(use.returned.items())),
                "sampling": asker.sampling or None,
            }
        document = {
            "stages": self.funnel.document(),
            "calls": self.calls,
            "cached": max(0, total.replies - self.calls),
            "tokens": {"prompt": total.prompt_tokens, "completion": total.completion_tokens},
            "models": models,
            "thresholds": dict(thresholds),
            "settings": dict(settings),
            "prompts": dict(sorted(self.prompts.sha256.items())),
            "cost_usd": self.cost_usd(),
            **more,
        }
        account = FunnelRecord.model_validate(document)
        if self._earlier is None:
            return account
        return join_accounts(self._earlier, account)

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
    """The account of a stage's file: its hash when written, and its funnel."""

    file_sha256: str
    funnel: FunnelRecord


def _earlier_account(folder: Path, stage: str) -> FunnelRecord | None:
    """Return the funnel of a chain that was stopped after a stage.

    None where people made the stage's file without a chain.
    """
    path = folder / stage_file(stage, _ACCOUNT)
    trace = folder / stage_file(stage, _TRACE)
    if not path.is_file() or not trace.is_file():
        return None
    advice = f"; write it again with --until {stage}"
    account = record_of(_Account, read_json(path), str(path), advice)
    funnel = account.funnel
    if sha256_of(folder / stage_file(stage)) == account.file_sha256:
        return funnel
    edited_stages = funnel.edited_after or ()
    return funnel.model_copy(update={"edited_after": (*edited_stages, stage)})


def stage_file(stage: str, ending: str = ".jsonl") -> str:
    """Return the name of a stage's file, or of one beside it."""
    return f"{stage.replace(' ', '_')}{ending}"
