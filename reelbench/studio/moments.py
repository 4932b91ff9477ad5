"""Make questions on how two moments of a video belong together, as ReXTime did.

Follows the supplement, C.2 and C.8. From captions, a pair of events with five ratings makes a
cause-effect or a means-to-an-end question, and two events in order make a sequential one. From a
query, a model names the event that leads to it, and the one that follows from it. One that merely
comes before or after makes a sequential question. Each pair gets two questions. Both are verified,
and those that stay get three wrong options. The authors' prompts are printed in the paper. Ours say
the same in our own words and ask for the same keys.

The chain can be stopped after any stage (`--until`), in a file that people can edit, and be
continued from there.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from reelbench.base.attachment import Attachment
from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_json, write_jsonl
from reelbench.llm.reading import read_model
from reelbench.llm.structured import schema_of
from reelbench.registry import discovery
from reelbench.studio import moment_pairs, moment_sources
from reelbench.studio.chain import (
    Chain,
    ChainCase,
    ChainPrompts,
    ChainSetup,
    Role,
    StageOptions,
    filler_text,
    material_text,
)
from reelbench.studio.chain_rules import Cuts, GateRules, SourceRules
from reelbench.studio.data_files import studio_data
from reelbench.studio.funnel import DroppedError, Funnel
from reelbench.studio.gates import GateQuestion, Gates
from reelbench.studio.moment_pairs import (
    Draft,
    EventPairT,
    MomentSource,
    Neighbours,
    Pair,
    Relation,
    Sequential,
    Side,
)
from reelbench.studio.moment_sources import Captioned, Event, Query, Source, Span
from reelbench.studio.video_frames import VideoFrames

ROLES = {
    Captioned: (
        "relation",
        "sequential",
        "cause_effect",
        "means_to_an_end",
        "verification",
        "options",
    ),
    Query: ("neighbours", "sequential", "cause_effect", "verification", "options"),
}
"""The roles of each kind of source."""
STAGES = {
    "pairs": ("relation", "sequential", "neighbours"),
    "questions": ("cause_effect", "means_to_an_end"),
    "verification": ("verification",),
    "options": ("options",),
}
"""The stages behind the filters, with the roles that are asked. People can step in after each."""
SIDES: tuple[Side, ...] = ("cause", "effect")
_QUESTIONS_OF_A_PAIR = 2

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentOptions(StageOptions):
    """Rules and cuts of the questions. A query's video is shown in frames."""

    rules: SourceRules = field(default_factory=SourceRules)
    cuts: Cuts = field(default_factory=Cuts)
    seed: int = 0
    """Seed of the options' order, and of the draw between two questions that score the same."""
    with_options: bool = True
    """True for three wrong options to each question. False for the form of the training split."""
    mini_test: int = 0
    """Questions of each category for a file of their own."""


class Moments:
    """The chain that makes the questions on one video's captions, or on one query."""

    def __init__(
        self, prompts: ChainPrompts, options: MomentOptions, gates: Gates | None = None
    ) -> None:
        """Read the roles.

        Raises:
            InputError: A role is missing, or a stage that the options name.
        """
        self.prompts = prompts
        self.options = options
        self.gates = gates or Gates(GateRules())
        self.roles: dict[str, Role] = {role.name: role for role in prompts.roles}
        for names in ROLES.values():
            for name in names:
                if name not in self.roles:
                    raise InputError(
                        f"roles.yaml: there is no role {name}, which questions on moments need"
                    )
        stages = list(STAGES)
        if not options.with_options:
            stages.remove("options")
        self.stages = stages[options.stages_run(stages)]
        self.pictures = VideoFrames(discovery.get("rextime"), options.frames, options.media)

    def speakers(self, source: Source) -> list[Role]:
        """Return the roles of a kind of source, in the stages that are run."""
        names: set[str] = set()
        for stage in self.stages:
            names.update(STAGES[stage])
        names &= set(ROLES[type(source)])
        drops_not_causal = self.options.cuts.not_causal == "drop"
        if isinstance(source, Query) and drops_not_causal:
            names.discard("sequential")
        return [role for name, role in self.roles.items() if name in names]

    @property
    def thresholds(self) -> dict[str, Any]:
        """The limits in the stages that are run."""
        cuts = self.options.cuts
        thresholds: dict[str, Any] = {}
        if self.options.start_after is None:
            thresholds = asdict(self.options.rules) | asdict(cuts)
        elif "verification" in self.stages:
            thresholds = {
                "verified_from": cuts.verified_from,
                "keep": cuts.keep,
                "query_answers": cuts.query_answers,
            }
        return thresholds | self.gates.thresholds

    async def make(self, case: ChainCase[MomentSource]) -> MomentSource:
        """Take a source through the stages that are run.

        Raises:
            DroppedError: The rules drop the source.
        """
        case.about = {"video": case.item.source.video}
        steps = {
            "pairs": self._find_pairs,
            "questions": self._write_questions,
            "verification": self._keep_verified_drafts,
            "options": self._write_options,
        }
        for stage in self.stages:
            await steps[stage](case)
        return case.item

    # --- pairs

    async def _find_pairs(self, case: ChainCase[MomentSource]) -> None:
        """Find the pairs of a source that fits the rules."""
        source = case.item.source
        if isinstance(source, Query):
            await self._find_neighbours(case, source)
        else:
            await self._find_captioned(case, source)

    async def _find_captioned(self, case: ChainCase[MomentSource], source: Captioned) -> None:
        """Find the pairs of a video's captions."""
        rules = self.options.rules
        with case.chain.funnel.stage("filters"):
            events = moment_sources.fit_events(source, rules)
            moment_sources.first_pair(events, rules)
        last = max(source.duration, *(event.end for event in events))
        for model in (Relation, Sequential):
            with suppress(DroppedError), case.chain.funnel.stage("pairs"):
                pair = await self._captioned_pair(case, events, last, model)
                case.item.pairs.append(pair)

    async def _find_neighbours(self, case: ChainCase[MomentSource], query: Query) -> None:
        """Find the pairs of a query's event with its neighbours."""
        funnel = case.chain.funnel
        with funnel.stage("filters"):
            window = moment_sources.fit_window(query, self.options.rules)
            row = {"id": query.id, "video": query.video}
            frames = await self.pictures.attachments(row, plan=case.chain.planning)
        try:
            neighbours = await self._ask(
                case,
                "neighbours",
                {"query": query.text},
                moment_pairs.read_neighbours,
                model=moment_pairs.Neighbours,
                frames=frames,
            )
        except DroppedError as error:
            funnel.count("pairs", len(SIDES), {error.reason: len(SIDES)})
            return
        for side in SIDES:
            with suppress(DroppedError), funnel.stage("pairs"):
                pair = await self._neighbour_pair(case, query, window, neighbours, side)
                case.item.pairs.append(pair)

    async def _captioned_pair(
        self,
        case: ChainCase[MomentSource],
        events: Sequence[Event],
        last: float,
        model: type[Relation | Sequential],
    ) -> Pair:
        """Return two of a video's events, as one role pairs them."""
        reply = await self._ask_pair(case, events, last, model)
        category = "sequential"
        if isinstance(reply, Relation):
            category = reply.category(self.options.cuts)
        if moment_sources.overlap_beyond(reply.first_span, reply.second_span, self.options.rules):
            raise DroppedError("overlapping")
        pair = Pair(
            id=f"anet_{case.item.source.video}",
            category=category,
            events=(reply.first, reply.second),
            spans=(reply.first_span, reply.second_span),
        )
        if isinstance(reply, Sequential):
            return pair.with_questions(reply)
        return pair

    async def _ask_pair(
        self,
        case: ChainCase[MomentSource],
        events: Sequence[Event],
        last: float,
        model: type[EventPairT],
    ) -> EventPairT:
        """Ask for a pair of events. `last` is the second at which all is over."""
        first, second = moment_sources.first_pair(events, self.options.rules)
        stand_in = _stand_in_reply(model.role)
        stand_in = stand_in.replace('"<first>"', json.dumps(first.span))
        stand_in = stand_in.replace('"<second>"', json.dumps(second.span))
        captions = material_text(
            [{"timestamp": event.span, "caption": event.text} for event in events]
        )
        spans = [event.span for event in events]
        return await self._ask(
            case,
            model.role,
            {"captions": captions},
            lambda text: moment_pairs.read_pair(text, model, spans, last),
            model=model,
            parts={"caption": captions},
            stand_in=stand_in,
        )

    async def _neighbour_pair(
        self,
        case: ChainCase[MomentSource],
        query: Query,
        window: Span,
        neighbours: Neighbours,
        side: Side,
    ) -> Pair:
        """Return a query's event with its neighbour on one side.

        A neighbour that merely comes before or after makes a sequential pair.
        """
        text = neighbours.neighbour(side, self.options.cuts)
        is_causal = neighbours.is_relevant(side)
        category = "cause-effect" if is_causal else "sequential"
        pair = Pair(
            id=f"qvh_{query.id}_{side}",
            category=category,
            events=(query.text, text),
            spans=(window, None),
        )
        if side == "cause":
            pair.events = (text, query.text)
            pair.spans = (None, window)
        if is_causal:
            return pair
        # The neighbour's time is all before the query's event, or all after it.
        if side == "cause":
            neighbour = Event(0.0, window[0], text)
        else:
            neighbour = Event(window[1], query.duration, text)
        if neighbour.start >= neighbour.end:
            raise DroppedError("no_time_left")
        events = [Event(*window, query.text), neighbour]
        if side == "cause":
            events.reverse()
        reply = await self._ask_pair(case, events, query.duration, Sequential)
        return pair.with_questions(reply)

    # --- questions

    @contextmanager
    def _count_pair_in_stage(
        self, case: ChainCase[MomentSource], stage: str, pair: Pair
    ) -> Iterator[None]:
        """Count a pair's questions, and leave it out where the block drops it."""
        size = len(pair.questions) or _QUESTIONS_OF_A_PAIR
        try:
            with case.chain.funnel.stage(stage, size):
                yield
        except DroppedError:
            case.item.leave(pair)

    async def _write_questions(self, case: ChainCase[MomentSource]) -> None:
        """Write the two questions of each pair that has none yet."""
        for pair in list(case.item.pairs):
            role = "cause_effect"
            if pair.category == "means-to-an-end":
                role = "means_to_an_end"
            first, second = pair.events
            with self._count_pair_in_stage(case, "questions", pair):
                if pair.questions:
                    continue
                reply = await self._ask(
                    case,
                    role,
                    {"event1": first, "event2": second},
                    lambda text: read_model(text, moment_pairs.BothTypes),
                    model=moment_pairs.BothTypes,
                )
                pair.with_questions(reply)

    async def _keep_verified_drafts(self, case: ChainCase[MomentSource]) -> None:
        """Keep of each pair the questions that score well, or the better one of them."""
        for pair in list(case.item.pairs):
            drafts = pair.questions
            cases: dict[str, str] = {}
            parts: dict[str, str] = {}
            # Where people took one question of a pair out, the other stands in both places.
            shown_drafts = [*drafts, *drafts][:_QUESTIONS_OF_A_PAIR]
            for number, draft in enumerate(shown_drafts, start=1):
                cases[f"case{number}"] = f"Question: {draft.question}\nAnswer: {draft.answer}"
                parts[f"question{number}"] = draft.question
                parts[f"answer{number}"] = draft.answer
            with self._count_pair_in_stage(case, "verification", pair):
                reply = await self._ask(
                    case,
                    "verification",
                    cases,
                    lambda text: read_model(text, moment_pairs.Scores),
                    model=moment_pairs.Scores,
                    parts=parts,
                )
                scores = (reply.case_1_score, reply.case_2_score)
                scored_drafts = [
                    _ScoredDraft(draft, score) for draft, score in zip(drafts, scores, strict=False)
                ]
                verification = _choose_scored_drafts(scored_drafts, self.options)
                # Both came through as far as asking goes. The scores drop them one by one.
                case.chain.funnel.count("verification", 0, verification.dropped)
                pair.questions = verification.drafts

    async def _write_options(self, case: ChainCase[MomentSource]) -> None:
        """Write three wrong options to each question."""
        for pair in case.item.pairs:
            for draft in list(pair.questions):
                try:
                    with case.chain.funnel.stage("options"):
                        if not draft.wrong:
                            draft.wrong = await self._ask_options(case, draft)
                except DroppedError:
                    pair.questions.remove(draft)
                    case.item.unfinished.append(draft)

    async def _ask_options(self, case: ChainCase[MomentSource], draft: Draft) -> list[str]:
        """Ask for three wrong options to a question."""
        right = moment_pairs.option(draft.answer)
        return await self._ask(
            case,
            "options",
            {"question": draft.question, "answer": draft.answer},
            lambda text: moment_pairs.read_wrong(text, right),
            model=moment_pairs.WrongOptions,
        )

    def finished(self, work: MomentSource) -> list[GateQuestion]:
        """Return a source's questions as gates look at them."""
        source = work.source
        questions: list[GateQuestion] = []
        for pair in work.pairs:
            if isinstance(source, Query):
                material = "\n".join([source.text, *pair.events])
            else:
                material = material_text([event.text for event in source.events])
            for draft in pair.questions:
                right = ""
                options: tuple[str, ...] = ()
                if draft.wrong:
                    right = moment_pairs.option(draft.answer)
                    options = (right, *draft.wrong)
                question = GateQuestion(
                    draft.id, source.video, draft.question, draft.answer, options, right, material
                )
                questions.append(question)
        return questions

    async def _ask(
        self,
        case: ChainCase[MomentSource],
        role_name: str,
        material: Mapping[str, str],
        read: Callable[[str], T],
        *,
        model: type[BaseModel],
        frames: Sequence[Attachment] = (),
        parts: Mapping[str, str] | None = None,
        stand_in: str = "",
    ) -> T:
        """Ask a role, which is shown the material and frames that it sees.

        `model` has the fields of its reply.
        """
        role = self.roles[role_name]
        pieces = [(name, material[name]) for name in role.sees if name in material]
        if "frames" not in role.sees:
            frames = ()
        messages = self.prompts.messages(
            role.prompt, pieces, frames, parts or {}, view=self.pictures.view
        )
        if not stand_in:
            stand_in = _stand_in_reply(role_name)
        return await case.ask(role_name, messages, read, stand_in=stand_in, schema=schema_of(model))


class _ScoredDraft(NamedTuple):
    draft: Draft
    score: int


class _Verification(NamedTuple):
    drafts: list[Draft]
    dropped: Counter[str]


def _choose_scored_drafts(
    scored_drafts: Sequence[_ScoredDraft], options: MomentOptions
) -> _Verification:
    """Return the drafts of a pair that score well, or the best of them."""
    cuts = options.cuts
    passed: list[_ScoredDraft] = []
    dropped = Counter[str]()
    for scored in scored_drafts:
        if scored.score < cuts.verified_from:
            dropped["low_score"] += 1
        elif scored.draft.span is None and cuts.query_answers == "query":
            dropped["no_span"] += 1
        else:
            passed.append(scored)
    if cuts.keep == "best" and len(passed) > 1:
        dropped["not_the_best"] += len(passed) - 1
        best_score = max(scored.score for scored in passed)
        tied = [scored for scored in passed if scored.score == best_score]
        generator = random.Random(f"{options.seed}|{tied[0].draft.id}")  # noqa: S311 - no secret
        passed = [generator.choice(tied)]
    return _Verification([scored.draft for scored in passed], dropped)


def _stand_in_reply(role: str) -> str:
    """Return the reply that a plan goes on with."""
    reply = json.dumps(studio_data("moment_stand_ins.yaml")[role])
    return f"{filler_text(50)}\n{reply}".replace("<words>", filler_text(12))


# --- a whole file


async def run(
    sources: Sequence[MomentSource], moments: Moments, setup: ChainSetup
) -> dict[str, Any]:
    """Make questions and write the files. Return the content of `funnel.json`, or the plan.

    The folder of the setup gets `rextime.json`, `trace.jsonl` and `funnel.json`.
    `unfinished.jsonl` has the questions that could not be verified, or got no options, because
    nothing readable came. `mini_test.json`, where it is asked for, has as many questions of each
    category. With `until` there is the stage's file instead.
    """
    options = moments.options
    chain = Chain(
        setup,
        moments.prompts,
        Funnel(*_stage_names(moments)),
        start_after=options.start_after,
    )
    settings = {"seed": options.seed, "options": options.with_options}
    async with chain.asking():
        results = await chain.run(sources, moments.make)
        works = [work for work in results if work is not None]
        if options.until is not None:
            lines = [work.as_line() for work in works]
            return chain.write(moments.thresholds, settings, until=options.until, lines=lines)
        questions: list[GateQuestion] = []
        for work in works:
            questions += moments.finished(work)
        passed_ids = await moments.gates.passing(chain, questions)
        if setup.out is None:
            return chain.plan()
        made_rows = _made_rows(works, passed_ids, options)
        rows = [made_row.row for made_row in made_rows]
        write_json(setup.out / "rextime.json", rows)
        drafts = [made_row.draft for made_row in made_rows]
        unmarked = [draft.id for draft in drafts if draft.span is None]
        if unmarked:
            questions_are = number_of(len(unmarked), "question is", "questions are")
            setup.on_note(
                f"{questions_are} answered by what nobody has timed yet: the span is the "
                "whole video until people mark it (funnel.json lists them as unmarked)"
            )
        if options.mini_test:
            mini = moment_pairs.mini_test(rows, options.mini_test, options.seed, setup.on_note)
            write_json(setup.out / "mini_test.json", mini)
        unfinished: list[dict[str, Any]] = []
        for work in works:
            unfinished += [draft.model_dump() for draft in work.unfinished]
        write_jsonl(setup.out / "unfinished.jsonl", unfinished)
        spans: list[tuple[Span | None, Span | None, str]] = []
        for draft, row in made_rows:
            spans.append((draft.question_span, draft.span, row["vid"]))
        return chain.write(
            moments.thresholds,
            settings,
            unmarked=unmarked,
            across_time=moment_pairs.across_time(spans),
            per_1000_kept=moment_pairs.cost_per_1000(chain.cost_usd(), 0.0, len(rows)),
        )


def _stage_names(moments: Moments) -> list[str]:
    """Return the names of the stages to count."""
    names = list(moments.stages)
    if moments.options.start_after is None:
        names.insert(0, "filters")
    if moments.options.until is None:
        names += moments.gates.names
    return names


class _MadeRow(NamedTuple):
    draft: Draft
    row: dict[str, Any]


def _made_rows(
    works: Sequence[MomentSource], passed_ids: set[str], options: MomentOptions
) -> list[_MadeRow]:
    """Return the questions that passed the gates, as rows."""
    made_rows: list[_MadeRow] = []
    for work in works:
        for pair in work.pairs:
            for draft in pair.questions:
                if draft.id not in passed_ids:
                    continue
                row = moment_pairs.to_row(
                    draft, work.source, seed=options.seed, with_options=options.with_options
                )
                made_rows.append(_MadeRow(draft, row))
    return made_rows
