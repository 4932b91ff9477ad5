"""Drop the questions at the end of a chain that are no good for a test of videos.

No paper of the four has such gates. Rules find refusals and near-duplicates. A model is asked
whether the material on a video supports an answer, and whether a question is answered without the
video. A question on which that model gives nothing readable is kept, and the gate counts it as
unchecked.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, StrictBool

from reelbench.base.languages import UNSPACED_SCRIPTS
from reelbench.llm.reading import UnreadableError, is_refusal, read_model
from reelbench.llm.structured import schema_of
from reelbench.registry.rows import LETTERS
from reelbench.studio.chain import Chain, ChainCase, ChainPrompts, filler_text
from reelbench.studio.chain_rules import GateName, GateRules
from reelbench.studio.data_files import studio_data
from reelbench.studio.funnel import DroppedError

BLIND = "blind"
CHECKER = "checker"
_SUPPORT = ("no", "partly", "fully")
_WORD = re.compile(rf"[{UNSPACED_SCRIPTS}]|[^\W_{UNSPACED_SCRIPTS}]+")
_SHORTEST_STEM = 3  # letters that an ending must leave
_COMMON_WORDS = frozenset(studio_data("words.yaml")["common"].split())
_QUOTATION = re.compile(r"\"[^\"]*\"|“[^”]*”")
_PART = re.compile(r"<(\w+)>")


def _no_answer_pattern() -> re.Pattern[str]:
    """Return the pattern of answers that say that there is none."""
    document = studio_data("no_answers.yaml")
    pattern = "|".join(document["patterns"])
    while _PART.search(pattern):  # a part may hold others
        pattern = _PART.sub(lambda part: document["parts"][part[1]], pattern)
    return re.compile(pattern, re.IGNORECASE)


_NO_ANSWER = _no_answer_pattern()
ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """A finished question.

    `options` are in order, and `right` is one of them; without options it is "". `material` is the
    material on the video.
    """

    id: str
    video: str
    question: str
    answer: str
    options: tuple[str, ...] = ()
    right: str = ""
    material: str = ""


_Case = ChainCase[GateQuestion]
_Check = Callable[[_Case], Awaitable[str | None]]
"""Returns the reason to drop a question, or None."""


class _Letter(BaseModel):
    answer: str | None


class _Same(BaseModel):
    same: StrictBool


class _Support(BaseModel):
    support: Literal["no", "partly", "fully"]


class Gates:
    """The gates that the user asked for."""

    def __init__(self, rules: GateRules, folder: Path | None = None, *, seed: int = 0) -> None:
        """Set up the gates.

        Args:
            rules: The chosen gates and their limits.
            folder: The user's prompts, which take the place of ours.
            seed: Seed of the options' orders.
        """
        self.rules = rules
        self.names = tuple(name for name in GateName if name in (rules.gate or ()))
        self._prompts = ChainPrompts("gates", folder)
        self._seed = seed

    @property
    def thresholds(self) -> dict[str, int | float | str]:
        """The limits, as the funnel has them. Nothing without gates."""
        if not self.names:
            return {}
        thresholds = asdict(self.rules)
        del thresholds["gate"]
        return thresholds

    def roles(self, *, options: bool) -> dict[str, bool]:
        """Return True for each role that the gates ask.

        `options` is True where the questions have options.
        """
        blind = GateName.ANSWERABLE in self.names
        unsupported = GateName.UNSUPPORTED in self.names
        return {BLIND: blind, CHECKER: unsupported or (blind and not options)}

    async def passing(self, chain: Chain, questions: Sequence[GateQuestion]) -> set[str]:
        """Return the ids of the questions that pass all gates, and count the others."""
        remaining = list(questions)
        for name in self.names:
            reasons = await self._reasons_to_drop(chain, name, remaining)
            dropped = Counter(reasons.values())
            chain.funnel.count(name, len(remaining), dropped)
            remaining = [question for question in remaining if question.id not in reasons]
        chain.prompts.sha256.update(self._prompts.sha256)
        return {question.id for question in remaining}

    async def _reasons_to_drop(
        self, chain: Chain, name: GateName, questions: Sequence[GateQuestion]
    ) -> dict[str, str]:
        """Return the reason to drop, by the ids of the questions that one gate drops."""
        if name is GateName.UNSUPPORTED:
            return await self._reasons_of_model(chain, name, questions, self._why_unsupported)
        if name is GateName.ANSWERABLE:
            return await self._reasons_of_model(
                chain, name, questions, self._why_answerable_without_video
            )
        if chain.planning:
            return {}  # the stand-ins of a plan are all alike
        if name is GateName.REFUSALS:
            refusals = [question.id for question in questions if _is_refused(question)]
            return dict.fromkeys(refusals, "refusal")
        duplicates = near_duplicates(questions, self.rules.duplicate_from)
        return dict.fromkeys(duplicates, "duplicate")

    async def _reasons_of_model(
        self, chain: Chain, name: GateName, questions: Sequence[GateQuestion], check: _Check
    ) -> dict[str, str]:
        """Return the reasons of a gate that asks a model."""
        unchecked: Counter[str] = Counter()

        async def reason_to_drop(case: _Case) -> str | None:
            case.about = {"video": case.item.video}
            try:
                return await check(case)
            except DroppedError as error:
                unchecked[error.reason] += 1
                return None

        results = await chain.run(questions, reason_to_drop, show_progress=False)
        if unchecked:
            counts = [f"{reason} {count}" for reason, count in sorted(unchecked.items())]
            chain.note(
                f"{name}: {unchecked.total()} questions could not be checked and were kept "
                f"({', '.join(counts)})"
            )
        reasons: dict[str, str] = {}
        for question, reason in zip(questions, results, strict=True):
            if reason is not None:
                reasons[question.id] = reason
        return reasons

    async def _why_unsupported(self, case: _Case) -> str | None:
        """Ask a model how far the material supports the answer."""
        question = case.item
        verdict = await self._ask(
            case,
            "support.txt",
            _Support,
            known=question.material,
            question=question.question,
            answer=question.answer,
        )
        least = _SUPPORT.index(self.rules.supported_from)
        if _SUPPORT.index(verdict.support) < least:
            return "unsupported"
        return None

    async def _why_answerable_without_video(self, case: _Case) -> str | None:
        """Ask a model that does not see the video for the answer."""
        if not case.item.options:
            return await self._answerable_openly(case)
        for order in range(self.rules.blind_orders):
            is_right = await self._is_guessed(case, order)
            if not is_right and not case.chain.planning:
                return None
        return None if case.chain.planning else "answerable"

    async def _answerable_openly(self, case: _Case) -> str | None:
        """Ask a model for an answer in words, and another whether it is right."""
        question = case.item
        messages = self._prompts.messages("blind.txt", [("question", question.question)])
        stand_in = filler_text(60) + " "
        guess = await case.ask(BLIND, messages, _require_text, stand_in=stand_in)
        verdict = await self._ask(
            case,
            "same.txt",
            _Same,
            question=question.question,
            answer=question.answer,
            guess=guess,
        )
        return "answerable" if verdict.same else None

    async def _is_guessed(self, case: _Case, order: int) -> bool:
        """Return True where a model chooses the right one of the shuffled options."""
        question = case.item
        options = list(question.options)
        random.Random(f"{self._seed}|{question.id}|{order}").shuffle(options)  # noqa: S311 - no secret
        right_letter = LETTERS[options.index(question.right)]
        lines: list[str] = []
        for letter, option in zip(LETTERS, options, strict=False):
            lines.append(f"{letter}. {option}")
        choice = await self._ask(
            case, "blind.txt", _Letter, question=question.question, options="\n".join(lines)
        )
        letter = (choice.answer or "").strip(".)( ").upper()
        return letter == right_letter

    async def _ask(self, case: _Case, prompt: str, model: type[ModelT], **material: str) -> ModelT:
        role, stand_in = _ROLES_AND_STAND_INS[prompt]
        messages = self._prompts.messages(prompt, list(material.items()))
        return await case.ask(
            role,
            messages,
            lambda text: read_model(text, model),
            stand_in=stand_in,
            schema=schema_of(model),
            id=case.item.id,
        )


_ROLES_AND_STAND_INS = {
    "blind.txt": (BLIND, '{"answer": "A"}'),
    "same.txt": (CHECKER, '{"same": false}'),
    "support.txt": (CHECKER, '{"support": "fully"}'),
}
"""The role that each prompt is for, and the reply that a plan goes on with."""


def _require_text(reply: str) -> str:
    text = reply.strip()
    if not text:
        raise UnreadableError("the reply is empty")
    return text


def _is_refused(question: GateQuestion) -> bool:
    """Return True where question or answer refuses, or says that there is none."""
    for text in (question.question, question.answer):
        if is_refusal(text):
            return True
        if _NO_ANSWER.search(_QUOTATION.sub("", text)):
            return True
    return False


def near_duplicates(questions: Iterable[GateQuestion], least: float) -> dict[str, str]:
    """Return the earlier question that each near-duplicate is like, both by id.

    Two questions on different videos are alike where they have at least the share `least` of all
    their content words in common (Jaccard index).
    """
    distinct: list[tuple[GateQuestion, frozenset[str]]] = []
    places_by_word: defaultdict[str, list[int]] = defaultdict(list)
    duplicates: dict[str, str] = {}
    for question in questions:
        words = content_words(question.question)
        common_words = Counter[int]()
        for word in words:
            common_words.update(places_by_word[word])
        for place, common in common_words.items():
            earlier, earlier_words = distinct[place]
            union = len(words) + len(earlier_words) - common
            if earlier.video != question.video and common >= least * union:
                duplicates[question.id] = earlier.id
                break
        else:
            for word in words:
                places_by_word[word].append(len(distinct))
            distinct.append((question, words))
    return duplicates


def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text's words, without the commonest English words.

    A stem lacks one of the commonest endings, and no more. Of scripts without spaces each sign is a
    word.
    """
    words = _WORD.findall(text.casefold())
    return frozenset(_word_stem(word) for word in words if word not in _COMMON_WORDS)


def _word_stem(word: str) -> str:
    """Return a word without its plural ending, and without -ing, -ed or -e."""
    stem = word
    if word.endswith("ies") and len(word) > _SHORTEST_STEM + 2:
        stem = f"{word[:-3]}y"
    elif word.endswith("s") and not word.endswith("ss"):
        stem = word[:-1]
    for ending in ("ing", "ed", "e"):
        if stem.endswith(ending) and len(stem) - len(ending) >= _SHORTEST_STEM:
            return stem.removesuffix(ending)
    return stem
