"""Make questions by a discussion among language models, as MovieCORE did.

Follows section 3.2, figure 2 and appendix II.2. An expert writes questions from the material on a
video. Reviewers speak one after the other; a critic sums up what they said; then the expert
improves the questions, each of which keeps its number. The authors did not publish their prompts:
these are ours.

A discussion can be stopped after any stage (`--until`), in a file that people can edit, and be
continued from there.
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
from reelbench.llm.structured import schema_of, score_schema
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
QUESTIONS = "questions"
DATA = ("metadata", "qa", "context")
"""The material on a video that a role may be shown."""
_LEAST_ROLES = 2


class _Questions(BaseModel):
    questions: list[WrittenQuestion] = Field(
        validation_alias=AliasChoices(*QUESTION_KEYS), min_length=1
    )


class _Verdict(BaseModel):
    better: Literal["A", "B", "tie"]


_LAST_IS_A = {"A": 1.0, "B": 0.0, "tie": 0.5}
"""A judge's outcome for the last questions, where they are shown as A."""
_LAST_IS_B = {"A": 0.0, "B": 1.0, "tie": 0.5}
"""The same where they are shown as B."""


class WrittenQuestions(NamedTuple):
    """The usable questions of a reply."""

    questions: list[WrittenQuestion]
    dropped: Counter[str]
    """How many others the reply had, by reason."""
    numbered: bool = True
    """True where the reply named the questions' numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscussionOptions(StageOptions):
    """Questions for each video and rounds of review. The context is asked with frames."""

    questions: int = 5
    rounds: int = 1

    def __post_init__(self) -> None:
        if self.questions < 1 or self.rounds < 1:
            raise InputError("--questions and --rounds must be whole numbers of at least 1")


class _Turn(NamedTuple):
    """A stage of a discussion. `role` is None for the context, which takes several calls."""

    name: str
    role: Role | None
    round: int


class Discussion:
    """The chain that makes questions for one video."""

    def __init__(
        self, prompts: ChainPrompts, options: DiscussionOptions, gates: Gates | None = None
    ) -> None:
        """Read the roles.

        Raises:
            InputError: A role is not as a discussion needs it.
        """
        self.prompts = prompts
        self.options = options
        self.gates = gates or Gates(GateRules())
        self.roles = prompts.roles
        lines = prompts.text("context_questions.txt").splitlines()
        self.context_questions = [line.strip() for line in lines]
        _check_roles(self.roles)
        self.expert, *reviewers = self.roles
        turns = [_Turn(CONTEXT, None, 0), _Turn(self.expert.name, self.expert, 0)]
        for number in range(1, options.rounds + 1):
            suffix = "" if number == 1 else f" {number}"
            turns += [_Turn(f"{role.name}{suffix}", role, number) for role in reviewers]
            turns.append(_Turn(f"{REFINED}{suffix}", self.expert, number))
        self.turns = turns[options.stages_run([turn.name for turn in turns])]
        self.pictures = VideoFrames(discovery.get("moviecore"), options.frames, options.media)

    @property
    def speakers(self) -> list[Role]:
        """The roles of the turns that are taken."""
        names = {turn.role.name for turn in self.turns if turn.role is not None}
        return [role for role in self.roles if role.name in names]

    async def discuss(self, case: ChainCase[DiscussionVideo]) -> "Talk":
        """Discuss one video.

        Where a later role gives nothing usable, the questions written before it are kept.

        Raises:
            DroppedError: There are no first questions, or, with `until`, a stage fails.
        """
        talk = Talk(case.item.model_copy(update={"words": [*case.item.words]}))
        for turn in self.turns:
            case.about = {"video": talk.video.name, "round": turn.round}
            try:
                with case.chain.funnel.stage(turn.name):
                    await self._take_turn(case, talk, turn)
            except DroppedError:
                if self.options.until is not None or not talk.sets(self.expert):
                    raise
                break
        return talk

    async def _take_turn(self, case: ChainCase[DiscussionVideo], talk: "Talk", turn: _Turn) -> None:
        """Ask one role, and add its words to the talk."""
        video = talk.video
        role = turn.role
        if role is None:
            if not video.context:
                video.context = await self._ask_context(case, video)
            return
        if video.context is None:
            raise InputError(
                f"--from: {video.name} has no context, which a discussion needs to start"
            )
        material = self._material_of_role(talk, role)
        messages = self.prompts.messages(role.prompt, material, questions=self.options.questions)
        word = SpokenWord(role=role.name, round=turn.round)
        if role is self.expert:
            count = self.options.questions
            talk.written = await case.ask(
                role.name,
                messages,
                lambda text: _read_questions(text, count, refined=turn.round > 0),
                stand_in=_questions_stand_in(count, turn.round),
                rest=lambda text: _usable_questions(text, count),
                schema=schema_of(_Questions),
            )
            word.questions = talk.written.questions
        else:
            word.text = await case.ask(role.name, messages, _read_text, stand_in=filler_text(250))
        video.words.append(word)

    async def _ask_context(
        self, case: ChainCase[DiscussionVideo], video: DiscussionVideo
    ) -> list[str]:
        """Ask the context questions about the frames of a video."""
        row = {"id": video.name, "video": video.name}
        frames = await self.pictures.attachments(row, plan=case.chain.planning)
        answers: list[str] = []
        for question in self.context_questions:
            messages = self.prompts.messages(
                "context.txt", (), frames, question=question, view=self.pictures.view
            )
            answer = await case.ask(CONTEXT, messages, _read_text, stand_in=filler_text(100))
            answers.append(answer)
        return answers

    def _material_of_role(self, talk: "Talk", role: Role) -> list[tuple[str, str]]:
        """Return a role's material: on the video, then words that were spoken."""
        data = self._video_material(talk)
        material = [(name, data[name]) for name in role.sees if name in data]
        # A word's text is made once, and not for each role that sees it.
        new_words = talk.video.words[len(talk.texts) :]
        talk.texts += map(_word_text, new_words)
        for word, text in zip(talk.video.words, talk.texts, strict=True):
            if word.role not in role.sees:
                continue
            material.append((word.role, text))
        return material

    def finished(self, talk: "Talk") -> list[GateQuestion]:
        """Return a video's last questions as gates look at them."""
        video = talk.video.name
        material = "\n\n".join(self._video_material(talk).values())
        return [
            GateQuestion(
                f"{video}_{question.id}",
                video,
                question.question,
                question.answer,
                material=material,
            )
            for question in talk.last or ()
        ]

    async def judge(self, case: ChainCase["Talk"]) -> tuple[float, float]:
        """Return a judge's verdict on the discussion's questions beside the first ones.

        The verdict is asked in both orders. 1: they are the better set, 0: the others are, 0.5:
        neither.
        """
        case.about = {"video": case.item.video.name, "round": self.options.rounds}
        first = _questions_without_numbers(case.item.first)
        last = _questions_without_numbers(case.item.last or [])
        better = await self._ask_judge(case, first, last)
        outcome_as_b = _LAST_IS_B[better]
        better = await self._ask_judge(case, last, first)
        outcome_as_a = _LAST_IS_A[better]
        return outcome_as_b, outcome_as_a

    async def _ask_judge(
        self, case: ChainCase["Talk"], set_a: str, set_b: str
    ) -> Literal["A", "B", "tie"]:
        """Ask the judge which of two sets is better."""
        data = self._video_material(case.item)
        material = [*data.items(), ("set_A", set_a), ("set_B", set_b)]
        messages = self.prompts.messages("judge.txt", material)
        with case.chain.funnel.stage(JUDGE):
            verdict = await case.ask(
                JUDGE,
                messages,
                lambda text: read_model(text, _Verdict),
                stand_in='{"better": "tie"}',
                schema=schema_of(_Verdict),
            )
        return verdict.better

    async def levels(self, case: ChainCase["Talk"]) -> Levels:
        """Return the levels of Bloom's taxonomy of both sets' texts.

        Texts whose level could not be told are left out.
        """
        case.about = {"video": case.item.video.name, "round": self.options.rounds}
        levels: Levels = {side: {} for side in bloom.SIDES}
        prompts = bloom.scale_prompts()
        self.prompts.sha256[BLOOM] = prompts.sha256
        for question in [*case.item.first, *(case.item.last or [])]:
            for side, levels_of_side in levels.items():
                text = getattr(question, side)
                if text in levels_of_side:
                    continue
                item = bloom.as_item(bloom.BloomText(side, text))
                messages = prompts.messages("level", item)
                schema = score_schema(bloom.SCALE.low, bloom.SCALE.high)
                with suppress(DroppedError), case.chain.funnel.stage(BLOOM):
                    level = await case.ask(
                        BLOOM, messages, bloom.read_level, stand_in="4", schema=schema
                    )
                    levels_of_side[text] = level
        return levels

    def _video_material(self, talk: "Talk") -> dict[str, str]:
        """Return the material on a talk's video, whose context is known: made once."""
        if not talk.data:
            video = talk.video
            pairs = [pair.model_dump() for pair in video.qa]
            context: list[str] = []
            for question, answer in zip(self.context_questions, video.context or (), strict=True):
                context.append(f"{question}\n{answer}")
            talk.data = {
                "metadata": material_text({"video": video.name, **video.shown_metadata}),
                "qa": material_text(pairs),
                "context": "\n\n".join(context),
            }
        return talk.data


def _check_roles(roles: Sequence[Role]) -> None:
    """Check the roles of a discussion.

    Raises:
        InputError: There are too few, one has a name of ours, or sees what isn't there.
    """
    if len(roles) < _LEAST_ROLES:
        raise InputError(
            "roles.yaml: a discussion needs at least two roles; the first one writes, the others "
            "review"
        )
    material_names = {*DATA, *(role.name for role in roles)}
    for role in roles:
        for name in role.sees:
            if name not in material_names:
                raise InputError(
                    f"roles.yaml: {role.name} sees {name!r}; "
                    f"there are {', '.join(sorted(material_names))}"
                )
        if role.name in {*DATA, JUDGE, BLOOM}:
            raise InputError(
                f"roles.yaml: no role may be called {role.name}; that name has another meaning"
            )


@dataclass(slots=True)
class Talk:
    """A discussion of one video."""

    video: DiscussionVideo
    """The video, with the words spoken so far."""
    written: WrittenQuestions = field(default_factory=lambda: WrittenQuestions([], Counter()))
    """The expert's latest questions."""
    first: list[WrittenQuestion] = field(default_factory=list[WrittenQuestion])
    """The expert's first questions, once the discussion is over."""
    last: list[WrittenQuestion] | None = None
    """The expert's last questions, once it is over. None where no review ended."""
    data: dict[str, str] = field(default_factory=dict[str, str])
    """The material on the video."""
    texts: list[str] = field(default_factory=list[str])
    """The text of each word of the video."""

    def sets(self, expert: Role) -> list[list[WrittenQuestion]]:
        """Return the expert's questions, turn by turn."""
        return [word.questions for word in self.video.words if word.role == expert.name]


def _word_text(word: SpokenWord) -> str:
    """Return a role's words as material: its questions, if it wrote any, or its text."""
    if not word.questions:
        return word.text
    return material_text([question.model_dump() for question in word.questions])


def _questions_without_numbers(questions: Sequence[WrittenQuestion]) -> str:
    """Return questions as material, without their numbers, which are the same in both sets."""
    return material_text([question.model_dump(exclude={"id"}) for question in questions])


def _questions_stand_in(count: int, round_number: int) -> str:
    """Return questions such as an expert might write, for a plan.

    All texts differ, also between rounds, as a model's do: Bloom's level is asked of each text.
    """
    text = filler_text(90)
    questions = [
        {
            "id": place,
            "question": f"{round_number} {place} {text[:100]}",
            "answer": f"{round_number} {place} {text}",
            "short_answer": text[:80],
        }
        for place in range(1, count + 1)
    ]
    return json.dumps({"questions": questions})


def _read_text(reply: str) -> str:
    text = strip_reasoning(reply)
    if text is None:
        raise UnreadableError("the reply ends before its reasoning does")
    if not text.strip():
        raise UnreadableError("the reply is empty")
    if is_refusal(text):
        raise UnreadableError("the reply is a refusal; what is asked for is a review")
    return text.strip()


def _read_questions(reply: str, count: int, *, refined: bool) -> WrittenQuestions:
    """Read an expert's reply. `refined` questions may name the numbers that they had."""
    questions = read_model(reply, _Questions).questions
    if len(questions) != count:
        raise UnreadableError(f"questions: there are {len(questions)}, expected {count}")
    distinct = {question.question.casefold() for question in questions}
    if len(distinct) < count:
        raise UnreadableError("questions: one is there twice, each must be another")
    ids = [question.id for question in questions]
    numbered = refined and any(ids)
    if numbered and sorted(number or 0 for number in ids) != list(range(1, count + 1)):
        raise UnreadableError(
            f"id: found {ids}; each question keeps its own, and there are 1 to {count}"
        )
    return WrittenQuestions(_number_questions(questions, keep=numbered), Counter(), numbered)


def _number_questions(questions: Sequence[WrittenQuestion], *, keep: bool) -> list[WrittenQuestion]:
    """Return questions with a number each, sorted by it.

    With `keep` a question keeps its number where that is free; else it gets the next free one.
    """
    count = len(questions)
    kept_numbers: set[int] = set()
    if keep:
        kept_numbers = {
            question.id for question in questions if question.id and question.id <= count
        }
    free_numbers = [number for number in range(1, count + 1) if number not in kept_numbers]
    by_number: dict[int, WrittenQuestion] = {}
    for question in questions:
        number = question.id
        if number not in kept_numbers or number in by_number:
            number = free_numbers.pop(0) if free_numbers else count + len(by_number)
        by_number[number] = question.model_copy(update={"id": number})
    return [by_number[number] for number in sorted(by_number)]


def _usable_questions(reply: str, count: int) -> WrittenQuestions | None:
    """Return the usable questions of a malformed reply. None without any."""
    by_text: dict[str, WrittenQuestion] = {}
    dropped: Counter[str] = Counter()
    for question in questions_in(reply):
        if question is None:
            dropped["unreadable"] += 1
            continue
        text = question.question.casefold()
        if text in by_text:
            dropped["repeated"] += 1
        elif len(by_text) == count:
            dropped["too_many"] += 1
        else:
            by_text[text] = question
    if not by_text:
        return None
    questions = _number_questions(list(by_text.values()), keep=False)
    return WrittenQuestions(questions, dropped, numbered=False)


# --- a whole file of videos


async def run(
    videos: Sequence[DiscussionVideo],
    discussion: Discussion,
    setup: ChainSetup,
    parser: Parser | None = None,
) -> dict[str, Any]:
    """Discuss videos and write the files. Return the content of `funnel.json`, or the plan.

    The folder of the setup gets `annotations.json`, `single_pass.json`, `trace.jsonl`,
    `funnel.json` and `comparison.json`.

    Args:
        videos: The videos.
        discussion: The chain.
        setup: Has a model for each of the roles, and for `context` where a video has none. With a
            model for `judge`, that one compares the two sets of questions. With one for `bloom`,
            that one tells their levels of Bloom's taxonomy.
        parser: For the parse depth in `comparison.json`.
    """
    options = discussion.options
    funnel = Funnel(*_stage_names(discussion, setup))
    chain = Chain(
        setup, discussion.prompts, funnel, {BLOOM: bloom.SAMPLING}, start_after=options.start_after
    )
    settings: dict[str, Any] = {"rounds": options.rounds, "questions": options.questions}
    if options.start_after is None:  # later stages show no frames
        settings["frames"] = discussion.pictures.sampling.spec(form=True)
    async with chain.asking():
        results = await chain.run(videos, discussion.discuss)
        talks = [talk for talk in results if talk is not None]
        if options.until is not None:
            lines = [talk.video.as_line() for talk in talks]
            return chain.write({}, settings, until=options.until, lines=lines)
        for talk in talks:
            _end_talk(talk, discussion.expert, funnel)
        reviewed_talks = [talk for talk in talks if talk.last is not None]
        await _pass_gates(chain, discussion, reviewed_talks)
        verdicts = await _verdicts_by_video(chain, discussion, reviewed_talks)
        levels = await _bloom_levels(chain, discussion, reviewed_talks)
        if setup.out is None:
            return chain.plan()
        unnumbered = sum(not talk.written.numbered for talk in reviewed_talks)
        if unnumbered:
            settings["paired_by_order"] = unnumbered
            setup.on_note(
                f"{unnumbered} videos' final questions came without numbers: they were matched to "
                "the first ones by order"
            )
        # Both in MovieCORE's own shape.
        first_sets = [(talk.video, talk.first) for talk in talks]
        last_sets = [(talk.video, talk.last or []) for talk in talks]
        single_pass = dict(annotations(first_sets, "reelbench_single_pass"))
        discussed = dict(annotations(last_sets, "reelbench_discussion"))
        write_json(setup.out / "single_pass.json", single_pass)
        write_json(setup.out / "annotations.json", discussed)
        pairs = {talk.video.name: (talk.first, talk.last or []) for talk in reviewed_talks}
        comparison = comparison_document(pairs, verdicts, parser, levels)
        write_json(setup.out / "comparison.json", comparison)
        return chain.write(discussion.gates.thresholds, settings)


def _stage_names(discussion: Discussion, setup: ChainSetup) -> list[str]:
    """Return the names of the stages to count."""
    names = [turn.name for turn in discussion.turns]
    if discussion.options.until is not None:
        return names
    names += [QUESTIONS, *discussion.gates.names]
    for role in (JUDGE, BLOOM):
        if role in setup.models:
            names.append(role)
    return names


def _end_talk(talk: Talk, expert: Role, funnel: Funnel) -> None:
    """Tell the first and the last questions of a talk, and count the last."""
    talk.first, *later_sets = talk.sets(expert)
    if later_sets:
        talk.last = later_sets[-1]
        dropped = talk.written.dropped
        funnel.count(QUESTIONS, len(talk.last) + dropped.total(), dropped)


async def _pass_gates(chain: Chain, discussion: Discussion, talks: Sequence[Talk]) -> None:
    """Take the questions that the gates drop out of the talks."""
    questions: list[GateQuestion] = []
    for talk in talks:
        questions += discussion.finished(talk)
    passed_ids = await discussion.gates.passing(chain, questions)
    for talk in talks:
        video = talk.video.name
        last = talk.last or []
        talk.last = [question for question in last if f"{video}_{question.id}" in passed_ids]


async def _verdicts_by_video(
    chain: Chain, discussion: Discussion, talks: Sequence[Talk]
) -> dict[str, tuple[float, float]] | None:
    """Return a judge's verdicts on each video's two sets. None without a judge."""
    if JUDGE not in chain.use:
        return None
    results = await chain.run(talks, discussion.judge, show_progress=False)
    verdicts: dict[str, tuple[float, float]] = {}
    for talk, verdict in zip(talks, results, strict=True):
        if verdict is not None:
            verdicts[talk.video.name] = verdict
    return verdicts


async def _bloom_levels(
    chain: Chain, discussion: Discussion, talks: Sequence[Talk]
) -> Levels | None:
    """Return the levels of Bloom's taxonomy of all texts. None without a model for it."""
    if BLOOM not in chain.use:
        return None
    levels: Levels = {side: {} for side in bloom.SIDES}
    for levels_of_talk in await chain.run(talks, discussion.levels, show_progress=False):
        for side, levels_of_side in (levels_of_talk or {}).items():
            levels[side] |= levels_of_side
    return levels
