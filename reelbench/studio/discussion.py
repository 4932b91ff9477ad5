"""Questions from a discussion among language models, as MovieCORE's were made (section 3.2, figure 2, appendix II.2).

An expert writes questions from what is known of a video; reviewers speak one after the other; a
critic puts together what they said, and by that the expert improves the questions, each of which
keeps its number. The authors did not publish their prompts: these are ours.

A discussion can be stopped after any stage (`--until`), in a file that people can edit, and go on
from there.
"""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from pydantic import AliasChoices, BaseModel, Field

from reelbench.base.errors import InputError
from reelbench.base.files import write_json
from reelbench.llm.reading import UnreadableError, is_refusal, read_model
from reelbench.registry import discovery
from reelbench.scoring.answers import strip_reasoning
from reelbench.studio import bloom
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
from reelbench.studio.chain_rules import GateRules
from reelbench.studio.discussion_files import (
    QUESTION_KEYS,
    DiscussionVideo,
    SpokenWord,
    WrittenQuestion,
    annotations,
    questions_in,
)
from reelbench.studio.funnel import DroppedError, Funnel
from reelbench.studio.gates import GateQuestion, Gates
from reelbench.studio.question_sets import Levels, comparison_document
from reelbench.studio.readability import Parser
from reelbench.studio.video_frames import VideoFrames

CONTEXT = "context"
JUDGE = "judge"
BLOOM = "bloom"
REFINED = "refined"
DATA = ("metadata", "qa", "context")
"""What a role may be shown of a video."""


class _Questions(BaseModel):
    questions: list[WrittenQuestion] = Field(
        validation_alias=AliasChoices(*QUESTION_KEYS), min_length=1
    )


class _Verdict(BaseModel):
    better: Literal["A", "B", "tie"]


class WrittenQuestions(NamedTuple):
    """Questions that could be used, reason -> how many others the reply held, and whether it named their numbers."""

    questions: list[WrittenQuestion]
    dropped: Counter[str]
    numbered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscussionOptions(StageOptions):
    """How to discuss: how many questions a video, and rounds of review; frames are shown for the context."""

    questions: int = 5
    rounds: int = 1

    def __post_init__(self) -> None:
        if self.questions < 1 or self.rounds < 1:
            raise InputError("--questions and --rounds are whole numbers from 1 up")


class _Turn(NamedTuple):
    """A stage of a discussion: who speaks in which round; None for the context, which several calls give."""

    name: str
    role: Role | None
    round: int


class Discussion:
    """The chain that makes questions for one video."""

    def __init__(
        self, prompts: ChainPrompts, options: DiscussionOptions, gates: Gates | None = None
    ) -> None:
        """Read the roles; InputError where one of them is not as a discussion needs it."""
        self.prompts = prompts
        self.options = options
        self.gates = gates or Gates(GateRules())
        self.roles = prompts.roles
        self.context_questions = [
            line.strip() for line in prompts.text("context_questions.txt").splitlines()
        ]
        if len(self.roles) < 2:  # noqa: PLR2004
            raise InputError(
                "roles.yaml: a discussion takes two roles or more; the first one writes, the others review"
            )
        known = {*DATA, *(role.name for role in self.roles)}
        for role in self.roles:
            if unknown := [seen for seen in role.sees if seen not in known]:
                raise InputError(
                    f"roles.yaml: {role.name} sees {unknown[0]!r}; there are {', '.join(sorted(known))}"
                )
            if role.name in {*DATA, JUDGE, BLOOM}:
                raise InputError(
                    f"roles.yaml: no role may be called {role.name}; that name has another meaning"
                )
        self.expert, *reviewers = self.roles
        turns = [_Turn(CONTEXT, None, 0), _Turn(self.expert.name, self.expert, 0)]
        for number in range(1, options.rounds + 1):
            after = "" if number == 1 else f" {number}"
            turns += [_Turn(f"{role.name}{after}", role, number) for role in reviewers]
            turns.append(_Turn(f"{REFINED}{after}", self.expert, number))
        self.turns = turns[options.stages_run([turn.name for turn in turns])]
        self.pictures = VideoFrames(discovery.get("moviecore"), options.frames, options.media)

    @property
    def speakers(self) -> list[Role]:
        """The roles of the turns that are taken."""
        return [role for role in self.roles if any(turn.role is role for turn in self.turns)]

    async def discuss(self, case: ChainCase[DiscussionVideo]) -> "Talk":
        """Discuss one video; DroppedError where there are no first questions, or, with `until`, where a stage fails.

        Where a later role gives nothing that can be used, what was written before it is kept.
        """
        talk = Talk(case.item.model_copy(update={"words": [*case.item.words]}))
        for turn in self.turns:
            case.about = {"video": talk.video.name, "round": turn.round}
            try:
                with case.chain.funnel.stage(turn.name):
                    await self._take(case, talk, turn)
            except DroppedError:
                if self.options.until is not None or not talk.sets(self.expert):
                    raise
                break
        return talk

    async def _take(self, case: ChainCase[DiscussionVideo], talk: "Talk", turn: _Turn) -> None:
        """Take one turn: its words join the talk's."""
        video, role = talk.video, turn.role
        if role is None:
            if video.context:
                return
            row = {"id": video.name, "video": video.name}
            shown = await self.pictures.attachments(row, plan=case.chain.planning)
            answers = []
            for question in self.context_questions:
                messages = self.prompts.messages(
                    "context.txt", (), shown, question=question, view=self.pictures.view
                )
                answers.append(await case.ask(CONTEXT, messages, _text, stand_in=filler_text(100)))
            video.context = answers
            return
        if video.context is None:
            raise InputError(
                f"--from: {video.name} has no context, which a discussion goes on from"
            )
        data = self._data(talk)
        material = [(name, data[name]) for name in role.sees if name in data]
        for word in video.words[len(talk.texts) :]:  # made once, and not by each who hears it
            written = [question.model_dump() for question in word.questions]
            talk.texts.append(material_text(written) if written else word.text)
        heard = zip(video.words, talk.texts, strict=True)
        material += [(word.role, text) for word, text in heard if word.role in role.sees]
        messages = self.prompts.messages(role.prompt, material, questions=self.options.questions)
        said = SpokenWord(role=role.name, round=turn.round)
        if role is self.expert:
            count = self.options.questions
            # Questions whose texts all differ, also between rounds, as a model's do: each is
            # classified by itself.
            text = filler_text(90)
            pairs = [
                {
                    "id": place,
                    "question": f"{turn.round} {place} {text[:100]}",
                    "answer": f"{turn.round} {place} {text}",
                    "short_answer": text[:80],
                }
                for place in range(1, count + 1)
            ]
            written = await case.ask(
                role.name,
                messages,
                lambda text: _read(text, count, refined=turn.round > 0),
                stand_in=json.dumps({"questions": pairs}),
                rest=lambda text: _rest(text, count),
            )
            talk.written, said.questions = written, written.questions
        else:
            said.text = await case.ask(role.name, messages, _text, stand_in=filler_text(250))
        video.words.append(said)

    def finished(self, talk: "Talk") -> list[GateQuestion]:
        """Return a video's last questions as gates look at them."""
        known, video = "\n\n".join(self._data(talk).values()), talk.video.name
        return [
            GateQuestion(f"{video}_{asked.id}", video, asked.question, asked.answer, known=known)
            for asked in talk.last or ()
        ]

    async def judge(self, case: ChainCase["Talk"]) -> tuple[float, float]:
        """Return a judge's verdict on the discussion's questions beside the first ones, in both orders.

        1: they are the better set, 0: the others are, 0.5: neither.
        """
        case.about = {"video": case.item.video.name, "round": self.options.rounds}
        data = self._data(case.item)
        # Without the numbers, which are the same in both.
        plain = [
            [question.model_dump(exclude={"id"}) for question in written]
            for written in case.item.both
        ]
        outcomes = []
        for order in ((0, 1), (1, 0)):
            shown = [
                (f"set_{letter}", material_text(plain[place]))
                for letter, place in zip("AB", order, strict=True)
            ]
            messages = self.prompts.messages("judge.txt", [*data.items(), *shown])
            with case.chain.funnel.stage(JUDGE):
                verdict = await case.ask(
                    JUDGE,
                    messages,
                    lambda text: read_model(text, _Verdict),
                    stand_in='{"better": "tie"}',
                )
            outcomes.append(
                0.5 if verdict.better == "tie" else float(order["AB".index(verdict.better)] == 1)
            )
        return outcomes[0], outcomes[1]

    async def levels(self, case: ChainCase["Talk"]) -> Levels:
        """Return the levels of Bloom's taxonomy of both sets' texts, without those that could not be told."""
        case.about = {"video": case.item.video.name, "round": self.options.rounds}
        levels: Levels = {side: {} for side in bloom.SIDES}
        prompts = bloom.scale_prompts()
        self.prompts.sha256[BLOOM] = prompts.sha256
        for question in [question for written in case.item.both for question in written]:
            for side, known in levels.items():
                text = getattr(question, side)
                if text not in known:
                    messages = prompts.messages("level", bloom.as_item(bloom.BloomText(side, text)))
                    with suppress(DroppedError), case.chain.funnel.stage(BLOOM):
                        known[text] = await case.ask(
                            BLOOM, messages, bloom.read_level, stand_in="4"
                        )
        return levels

    def _data(self, talk: "Talk") -> dict[str, str]:
        """Return the material on a talk's video, whose context is known: made once."""
        if not talk.data:
            video, answers = talk.video, talk.video.context or ()
            paired = zip(self.context_questions, answers, strict=True)
            talk.data = {
                "metadata": material_text({"video": video.name, **video.shown_metadata}),
                "qa": material_text([pair.model_dump() for pair in video.qa]),
                "context": "\n\n".join(f"{question}\n{answer}" for question, answer in paired),
            }
        return talk.data


@dataclass(slots=True)
class Talk:
    """A discussion: its video, with what is known of it and who said what, and the questions that came of it."""

    video: DiscussionVideo
    written: WrittenQuestions = field(
        default_factory=lambda: WrittenQuestions([], Counter())
    )  # by the expert, last
    first: list[WrittenQuestion] = field(
        default_factory=list[WrittenQuestion]
    )  # of the expert, once it is over
    last: list[WrittenQuestion] | None = None  # likewise; None where no review ended
    data: dict[str, str] = field(
        default_factory=dict[str, str]
    )  # what every turn is shown of the video
    texts: list[str] = field(default_factory=list[str])  # of what was said, word by word

    @property
    def both(self) -> tuple[list[WrittenQuestion], list[WrittenQuestion]]:
        """The first questions, and the last."""
        return self.first, self.last or []

    def sets(self, expert: Role) -> list[list[WrittenQuestion]]:
        """Return the expert's questions, turn by turn."""
        return [word.questions for word in self.video.words if word.role == expert.name]


def _text(reply: str) -> str:
    text = strip_reasoning(reply)
    if text is None:
        raise UnreadableError("the reply ends before its reasoning does")
    if not text.strip():
        raise UnreadableError("the reply is empty")
    if is_refusal(text):
        raise UnreadableError("the reply is a refusal; what is asked for is a review")
    return text.strip()


def _read(reply: str, count: int, *, refined: bool) -> WrittenQuestions:
    questions = read_model(reply, _Questions).questions
    if len(questions) != count:
        raise UnreadableError(f"questions: there are {len(questions)}, expected {count}")
    if len({question.question.casefold() for question in questions}) < count:
        raise UnreadableError("questions: one is there twice, each must be another")
    ids = [question.id for question in questions]
    numbered = refined and any(ids)
    if numbered and sorted(number or 0 for number in ids) != list(range(1, count + 1)):
        raise UnreadableError(
            f"id: found {ids}; each question keeps its own, and there are 1 to {count}"
        )
    return WrittenQuestions(_number_questions(questions, keep=numbered), Counter(), numbered)


def _number_questions(questions: Sequence[WrittenQuestion], *, keep: bool) -> list[WrittenQuestion]:
    """Return questions with a number each, in the numbers' order: their own where it is free, else the next one."""
    own = [
        question.id
        for question in questions
        if keep and question.id and question.id <= len(questions)
    ]
    free = iter([number for number in range(1, len(questions) + 1) if number not in own])
    taken: dict[int, WrittenQuestion] = {}
    for question in questions:
        mine = question.id if question.id in own and question.id not in taken else None
        number = mine or next(free, len(questions) + len(taken))
        taken[number] = question.model_copy(update={"id": number})
    return [question for _, question in sorted(taken.items())]


def _rest(reply: str, count: int) -> WrittenQuestions | None:
    """Keep the questions of a reply that is not wholly as asked for; None where there is none."""
    kept: dict[str, WrittenQuestion] = {}
    dropped: Counter[str] = Counter()
    for question in questions_in(reply):
        if question is None:
            dropped["unreadable"] += 1
        elif (known := question.question.casefold()) in kept or len(kept) == count:
            dropped["repeated" if known in kept else "too_many"] += 1
        else:
            kept[known] = question
    return (
        WrittenQuestions(
            _number_questions(list(kept.values()), keep=False), dropped, numbered=False
        )
        if kept
        else None
    )


# --- a whole file of videos
# ------------------------------------------------------------------------------------------


async def run(
    videos: Sequence[DiscussionVideo],
    discussion: Discussion,
    setup: ChainSetup,
    parser: Parser | None = None,
) -> dict[str, Any]:
    """Discuss videos and write what came of it; return `funnel.json`, or the plan.

    The setup has a model for each of the roles, for `context` where a video has none, for `judge`
    where the two sets shall be compared by one, and for `bloom` where their levels of Bloom's
    taxonomy shall. Its folder gets `annotations.json`, `single_pass.json`, `trace.jsonl`,
    `funnel.json` and `comparison.json`, with the parse depth where there is a parser.
    """
    models, out, options = setup.models, setup.out, discussion.options
    stages = [turn.name for turn in discussion.turns]
    if options.until is None:  # then the questions, and what is asked to compare the two sets
        stages += [
            "questions",
            *discussion.gates.names,
            *(role for role in (JUDGE, BLOOM) if role in models),
        ]
    funnel = Funnel(*stages)
    chain = Chain(
        setup, discussion.prompts, funnel, {BLOOM: bloom.SAMPLING}, start_after=options.start_after
    )
    async with chain.asking():
        talks = [talk for talk in await chain.run(videos, discussion.discuss) if talk is not None]
        settings: dict[str, Any] = {"rounds": options.rounds, "questions": options.questions}
        if options.start_after is None:  # later stages show no frames
            settings["frames"] = discussion.pictures.sampling.spec(form=True)
        if options.until is not None:
            return chain.write(
                {}, settings, until=options.until, lines=(talk.video.as_line() for talk in talks)
            )
        for talk in talks:
            talk.first, *later = talk.sets(discussion.expert)
            if later:
                talk.last = later[-1]
                funnel.count(
                    "questions", len(talk.last) + talk.written.dropped.total(), talk.written.dropped
                )
        whole = [talk for talk in talks if talk.last is not None]
        passed = await discussion.gates.passing(
            chain, [asked for talk in whole for asked in discussion.finished(talk)]
        )
        for talk in whole:  # what they drop goes
            talk.last = [
                asked for asked in talk.last or () if f"{talk.video.name}_{asked.id}" in passed
            ]
        judged, told = await _compare_sets(chain, discussion, whole)
        if out is None:
            return chain.plan()
        if by_order := sum(not talk.written.numbered for talk in whole):
            settings["paired_by_order"] = by_order
            setup.on_note(
                f"{by_order} videos' last questions came without numbers: they keep the first ones' by order"
            )
        sets = (
            ("single_pass.json", "reelbench_single_pass"),
            ("annotations.json", "reelbench_discussion"),
        )
        for place, (file, dataset) in enumerate(sets):  # in MovieCORE's own shape
            entries = annotations(((talk.video, talk.both[place]) for talk in talks), dataset)
            write_json(out / file, dict(entries))
        pairs = {talk.video.name: talk.both for talk in whole}
        write_json(out / "comparison.json", comparison_document(pairs, judged, parser, told))
        return chain.write(discussion.gates.thresholds, settings)


async def _compare_sets(
    chain: Chain, discussion: Discussion, whole: Sequence[Talk]
) -> tuple[dict[str, tuple[float, float]] | None, Levels | None]:
    """Return a judge's verdict on each video's two sets, and the levels of Bloom's taxonomy, where models are named."""
    judged: dict[str, tuple[float, float]] | None = None
    told: Levels | None = None
    if JUDGE in chain.use:
        verdicts = zip(whole, await chain.run(whole, discussion.judge, show_progress=False), strict=True)
        judged = {talk.video.name: verdict for talk, verdict in verdicts if verdict is not None}
    if BLOOM in chain.use:
        told = {side: {} for side in bloom.SIDES}
        for levels in await chain.run(whole, discussion.levels, show_progress=False):
            for side, known in (levels or {}).items():
                told[side] |= known
    return judged, told
