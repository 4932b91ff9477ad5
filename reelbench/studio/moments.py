"""Questions on how two moments of a video belong together, as ReXTime's were made (supplement, C.2 and C.8).

From captions: a pair of events with five ratings makes a cause-effect or a means-to-an-end
question, two events in order a sequential one. From a query: what a model sees to lead to it, or to
follow from it; what merely comes before or after makes a sequential question. Each pair gets two
questions, both are verified, and those that stay get three wrong options. The authors' prompts are
printed in the paper; ours say the same in our own words and ask for the same keys.

The chain can be stopped after any stage (`--until`), in a file that people can edit, and go on from
there.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_json, write_jsonl
from reelbench.llm.reading import read_model
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
    Pair,
    Relation,
    Sequential,
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
"""Roles that a kind of source takes."""
STAGES = {
    "pairs": ("relation", "sequential", "neighbours"),
    "questions": ("cause_effect", "means_to_an_end"),
    "verification": ("verification",),
    "options": ("options",),
}
"""What a source goes through once the rules have let it in, and who is asked; after each, people can step in."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentOptions(StageOptions):
    """How to make questions; frames are shown of a query's video."""

    rules: SourceRules = field(default_factory=SourceRules)
    cuts: Cuts = field(default_factory=Cuts)
    seed: int = (
        0  # of the options' order, and of the draw between two questions that score the same
    )
    with_options: bool = (
        True  # three wrong ones to each question; False gives the form of the training split
    )
    mini_test: int = 0  # questions of each category for a file of their own


class Moments:
    """The chain that makes the questions on one video's captions, or on one query."""

    def __init__(
        self, prompts: ChainPrompts, options: MomentOptions, gates: Gates | None = None
    ) -> None:
        """Read the roles; InputError where one is missing, or a stage that is named."""
        self.prompts = prompts
        self.options = options
        self.gates = gates or Gates(GateRules())
        self.roles: dict[str, Role] = {role.name: role for role in prompts.roles}
        if missing := [
            name for names in ROLES.values() for name in names if name not in self.roles
        ]:
            raise InputError(
                f"roles.yaml: there is no role {missing[0]}, which questions on moments need"
            )
        stages = [stage for stage in STAGES if stage != "options" or options.with_options]
        self.stages = stages[options.stages_run(stages)]
        self.pictures = VideoFrames(discovery.get("rextime"), options.frames, options.media)

    def speakers(self, source: Source) -> list[Role]:
        """Return the roles that this kind of source takes, in the stages that are run."""
        asked = {name for stage in self.stages for name in STAGES[stage]}
        if isinstance(source, Query) and self.options.cuts.not_causal == "drop":
            asked.discard("sequential")
        return [
            role
            for name, role in self.roles.items()
            if name in asked and name in ROLES[type(source)]
        ]

    @property
    def thresholds(self) -> dict[str, Any]:
        """Where the stages that are run part what is kept from the rest."""
        options, taken = self.options, {}
        if options.start_after is None:
            taken = asdict(options.rules) | asdict(options.cuts)
        elif "verification" in self.stages:
            cuts = options.cuts
            taken = {
                "verified_from": cuts.verified_from,
                "keep": cuts.keep,
                "query_answers": cuts.query_answers,
            }
        return taken | self.gates.thresholds

    async def make(self, case: ChainCase[MomentSource]) -> MomentSource:
        """Take a source through the stages that are run, and return it; DroppedError where the rules drop it."""
        case.about = {"video": case.item.source.video}
        steps = {
            "pairs": self._find,
            "questions": self._write_questions,
            "verification": self._verify,
            "options": self._write_options,
        }
        for stage in self.stages:
            await steps[stage](case)
        return case.item

    async def _find(self, case: ChainCase[MomentSource]) -> None:
        """Find a source's pairs."""
        source, funnel, rules = case.item.source, case.chain.funnel, self.options.rules
        if isinstance(source, Query):
            with funnel.stage("filters"):
                window = moment_sources.fit_window(source, rules)
                row = {"id": source.id, "video": source.video}
                shown = await self.pictures.attachments(row, plan=case.chain.planning)
            try:
                seen = await self._ask(
                    case,
                    "neighbours",
                    {"query": source.text},
                    moment_pairs.read_neighbours,
                    shown=shown,
                )
            except DroppedError as error:
                funnel.count("pairs", 2, {error.reason: 2})
                return
            finders = [partial(self._beside, case, source, window, seen, side) for side in _SIDES]
        else:
            with funnel.stage("filters"):
                events = moment_sources.fit_events(source, rules)
                moment_sources.first_pair(events, rules)
            last = max(source.duration, *(event.end for event in events))
            finders = [
                partial(self._pair_of, case, events, last, model)
                for model in (Relation, Sequential)
            ]
        for find in finders:
            with suppress(DroppedError), funnel.stage("pairs"):
                case.item.pairs.append(await find())

    async def _pair_of(
        self,
        case: ChainCase[MomentSource],
        events: Sequence[Event],
        last: float,
        model: type[Relation | Sequential],
    ) -> Pair:
        """Return two of a video's events, as one role pairs them."""
        read = await self._ask_pair(case, events, last, model)
        category = read.category(self.options.cuts) if isinstance(read, Relation) else "sequential"
        spans = read.first_span, read.second_span
        if moment_sources.overlap_beyond(*spans, self.options.rules):
            raise DroppedError("overlapping")
        name, texts = f"anet_{case.item.source.video}", (read.first, read.second)
        pair = Pair(id=name, category=category, events=texts, spans=spans)
        return pair.with_questions(read) if isinstance(read, Sequential) else pair

    async def _ask_pair(
        self,
        case: ChainCase[MomentSource],
        events: Sequence[Event],
        last: float,
        model: type[EventPairT],
    ) -> EventPairT:
        """Ask for a pair of events; `last` is the second at which all is over."""
        first, second = (
            json.dumps(event.span)
            for event in moment_sources.first_pair(events, self.options.rules)
        )
        stand_in = _stand_in(model.role).replace('"<first>"', first).replace('"<second>"', second)
        shown = material_text(
            [{"timestamp": event.span, "caption": event.text} for event in events]
        )
        return await self._ask(
            case,
            model.role,
            {"captions": shown},
            lambda text: moment_pairs.read_pair(
                text, model, [event.span for event in events], last
            ),
            parts={"caption": shown},
            stand_in=stand_in,
        )

    async def _beside(
        self,
        case: ChainCase[MomentSource],
        query: Query,
        window: Span,
        seen: moment_pairs.Neighbours,
        side: Literal["cause", "effect"],
    ) -> Pair:
        """Return a query's event with what leads to it or follows from it, or merely comes before or after it."""
        text, causal = (
            seen.neighbour(side, self.options.cuts),
            getattr(seen, f"{side}_relevant") == "yes",
        )
        first = side == "cause"
        pair = Pair(
            id=f"qvh_{query.id}_{side}",
            category="cause-effect" if causal else "sequential",
            events=(text, query.text) if first else (query.text, text),
            spans=(None, window) if first else (window, None),
        )
        if causal:
            return pair
        # On the order of the query's event and another, whose time is all before or after it.
        rest = (0.0, window[0]) if first else (window[1], query.duration)
        if rest[0] >= rest[1]:
            raise DroppedError("no_time_left")
        spans = [span or rest for span in pair.spans]
        events = [Event(*span, text) for span, text in zip(spans, pair.events, strict=True)]
        return pair.with_questions(await self._ask_pair(case, events, query.duration, Sequential))

    @contextmanager
    def _step(self, case: ChainCase[MomentSource], stage: str, pair: Pair) -> Iterator[None]:
        """Count a pair's questions, and leave it out where the block gives nothing for it."""
        try:
            with case.chain.funnel.stage(stage, len(pair.questions) or 2):
                yield
        except DroppedError:
            case.item.leave(pair)

    async def _write_questions(self, case: ChainCase[MomentSource]) -> None:
        """Write the two questions of each pair that has none yet."""
        for pair in list(case.item.pairs):
            role = "means_to_an_end" if pair.category == "means-to-an-end" else "cause_effect"
            material = {"event1": pair.events[0], "event2": pair.events[1]}
            with self._step(case, "questions", pair):
                if not pair.questions:
                    read = await self._ask(
                        case, role, material, lambda text: read_model(text, moment_pairs.BothTypes)
                    )
                    pair.with_questions(read)

    async def _verify(self, case: ChainCase[MomentSource]) -> None:
        """Keep of each pair the questions that are right enough, or the better of them."""
        cuts = self.options.cuts
        for pair in list(case.item.pairs):
            drafts, cases, parts = pair.questions, dict[str, str](), dict[str, str]()
            # Where people took one question of a pair out, the other stands in both places.
            shown = [*drafts, *drafts][:2]
            for number, draft in enumerate(shown, start=1):
                cases[f"case{number}"] = f"Question: {draft.question}\nAnswer: {draft.answer}"
                parts |= {f"question{number}": draft.question, f"answer{number}": draft.answer}
            with self._step(case, "verification", pair):
                read = await self._ask(
                    case,
                    "verification",
                    cases,
                    lambda text: read_model(text, moment_pairs.Scores),
                    parts=parts,
                )
                scores = [read.case_1_score, read.case_2_score][: len(drafts)]
                # Both came through as far as asking goes; what the scores make of them is counted
                # one by one.
                kept, dropped = list[tuple[int, Draft]](), Counter[str]()
                for draft, score in zip(drafts, scores, strict=True):
                    if score < cuts.verified_from:
                        dropped["low_score"] += 1
                    elif draft.span is None and cuts.query_answers == "query":
                        dropped["no_span"] += 1
                    else:
                        kept.append((score, draft))
                if cuts.keep == "best" and len(kept) > 1:
                    best = max(score for score, _ in kept)
                    tied = [(score, draft) for score, draft in kept if score == best]
                    dropped["not_the_best"] += len(kept) - 1
                    kept = [random.Random(f"{self.options.seed}|{tied[0][1].id}").choice(tied)]  # noqa: S311 - no secret
                case.chain.funnel.count("verification", 0, dropped)
                pair.questions = [draft for _, draft in kept]

    async def _write_options(self, case: ChainCase[MomentSource]) -> None:
        """Write three wrong options to each question."""
        for pair in case.item.pairs:
            for draft in list(pair.questions):
                right = moment_pairs.option(draft.answer)
                material = {"question": draft.question, "answer": draft.answer}
                try:
                    with case.chain.funnel.stage("options"):
                        if not draft.wrong:
                            draft.wrong = await self._ask(
                                case,
                                "options",
                                material,
                                lambda text, right=right: moment_pairs.read_wrong(text, right),
                            )
                except DroppedError:
                    pair.questions.remove(draft)
                    case.item.unfinished.append(draft)

    def finished(self, work: MomentSource) -> list[GateQuestion]:
        """Return a source's questions as gates look at them."""
        source = work.source
        known = (
            source.text
            if isinstance(source, Query)
            else material_text([event.text for event in source.events])
        )
        return [
            GateQuestion(
                draft.id,
                source.video,
                draft.question,
                draft.answer,
                (moment_pairs.option(draft.answer), *draft.wrong) if draft.wrong else (),
                moment_pairs.option(draft.answer) if draft.wrong else "",
                known if isinstance(source, Captioned) else "\n".join([known, *pair.events]),
            )
            for pair in work.pairs
            for draft in pair.questions
        ]

    async def _ask(
        self,
        case: ChainCase[MomentSource],
        name: str,
        material: Mapping[str, str],
        read: Callable[[str], T],
        *,
        shown: Sequence[Any] = (),
        parts: Mapping[str, str] | None = None,
        stand_in: str = "",
    ) -> T:
        role = self.roles[name]
        pieces = [(seen, material[seen]) for seen in role.sees if seen in material]
        seen = shown if "frames" in role.sees else ()
        messages = self.prompts.messages(
            role.prompt, pieces, seen, parts or {}, view=self.pictures.view
        )
        return await case.ask(name, messages, read, stand_in=stand_in or _stand_in(name))


_SIDES: tuple[Literal["cause", "effect"], ...] = ("cause", "effect")


def _stand_in(role: str) -> str:
    """Return what a plan goes on with."""
    reply = json.dumps(studio_data("moment_stand_ins.yaml")[role])
    return f"{filler_text(50)}\n{reply}".replace("<words>", filler_text(12))


# --- a whole file
# ----------------------------------------------------------------------------------------------------


async def run(
    sources: Sequence[MomentSource], moments: Moments, setup: ChainSetup
) -> dict[str, Any]:
    """Make questions and write `rextime.json`, `trace.jsonl` and `funnel.json` to the setup's folder.

    `unfinished.jsonl` has the questions that could not be verified, or got no options, because
    nothing readable came; `mini_test.json`, where it is asked for, as many questions of each
    category. With `until` there is the stage's file instead. Returns the plan, or else what
    `funnel.json` says.
    """
    out, options = setup.out, moments.options
    # Sources, pairs of events, pairs with questions, questions verified, questions kept.
    stages = [*(("filters",) if options.start_after is None else ()), *moments.stages]
    stages += moments.gates.names if options.until is None else ()
    chain = Chain(setup, moments.prompts, Funnel(*stages), start_after=options.start_after)
    thresholds, settings = (
        moments.thresholds,
        {"seed": options.seed, "options": options.with_options},
    )
    async with chain.asking():
        works = [work for work in await chain.run(sources, moments.make) if work is not None]
        if options.until is not None:
            return chain.write(
                thresholds, settings, until=options.until, lines=(work.as_line() for work in works)
            )
        gated = await moments.gates.passing(
            chain, [asked for work in works for asked in moments.finished(work)]
        )
        if out is None:
            return chain.plan()
        made = [
            (
                draft,
                moment_pairs.to_row(
                    draft, work.source, seed=options.seed, with_options=options.with_options
                ),
            )
            for work in works
            for pair in work.pairs
            for draft in pair.questions
            if draft.id in gated
        ]
        unmarked = [draft.id for draft, _ in made if draft.span is None]
        if unmarked:
            answered = number_of(len(unmarked), "question is", "questions are")
            setup.on_note(
                f"{answered} answered by what nobody has timed yet: the span is the "
                "whole video until people mark it (funnel.json lists them as unmarked)"
            )
        rows = [row for _, row in made]
        write_json(out / "rextime.json", rows)
        if options.mini_test:
            write_json(
                out / "mini_test.json",
                moment_pairs.mini_test(rows, options.mini_test, options.seed, setup.on_note),
            )
        write_jsonl(
            out / "unfinished.jsonl",
            (draft.model_dump() for work in works for draft in work.unfinished),
        )
        measured = moment_pairs.across_time(
            [(draft.question_span, draft.span, row["vid"]) for draft, row in made]
        )
        cost = moment_pairs.cost_per_1000(chain.cost_usd(), 0.0, len(rows))
        return chain.write(
            thresholds, settings, unmarked=unmarked, across_time=measured, per_1000_kept=cost
        )
