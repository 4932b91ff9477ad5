"""Gates at the end of a chain: questions that are no good for a test of videos are dropped, each with its reason.

No paper of the four has them. Refusals and near-duplicates are told by rules; whether what is known
of a video supports an answer, and whether a question is answered without the video, is asked of a
model. A question on which a gate's model gave nothing readable is kept: it was not found wanting,
and the gate counts it as `unchecked`.
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
from reelbench.registry.rows import LETTERS
from reelbench.studio.chain import Chain, ChainCase, ChainPrompts
from reelbench.studio.chain_rules import GateName, GateRules
from reelbench.studio.data_files import studio_data
from reelbench.studio.funnel import DroppedError

BLIND, CHECKER = "blind", "checker"
_SUPPORT = ("no", "partly", "fully")
_WORD = re.compile(rf"[{UNSPACED_SCRIPTS}]|[^\W_{UNSPACED_SCRIPTS}]+")
_STEM = 3  # letters that an ending must leave
_COMMON = frozenset(studio_data("words.yaml")["common"].split())
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")


_PART = re.compile(r"<(\w+)>")
_NO_ANSWERS = studio_data("no_answers.yaml")
_pattern = "|".join(_NO_ANSWERS["patterns"])
while _PART.search(_pattern):  # a part may hold others
    _pattern = _PART.sub(lambda part: _NO_ANSWERS["parts"][part[1]], _pattern)
_CANT_TELL = re.compile(_pattern, re.IGNORECASE)
"""Answers that say that there is none; what is quoted in them is left out before."""
ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """A finished question: `options` in order, "" as `right` without them; `known` is what is known of the video."""

    id: str
    video: str
    question: str
    answer: str
    options: tuple[str, ...] = ()
    right: str = ""
    known: str = ""


_Case = ChainCase[GateQuestion]
_Wanting = Callable[[_Case], Awaitable[str | None]]


class _Letter(BaseModel):
    answer: str | None


class _Same(BaseModel):
    same: StrictBool


class _Support(BaseModel):
    support: Literal["no", "partly", "fully"]


class Gates:
    """The gates that the user asked for."""

    def __init__(self, rules: GateRules, folder: Path | None = None, *, seed: int = 0) -> None:
        """Read the prompts, `folder`'s in the place of ours; `seed` is of the options' orders."""
        self.rules = rules
        self.names = tuple(name for name in GateName if name in (rules.gate or ()))
        self._prompts = ChainPrompts("gates", folder)
        self._seed = seed

    @property
    def thresholds(self) -> dict[str, int | float | str]:
        """What the funnel says of where they part; nothing without gates."""
        return (
            {key: value for key, value in asdict(self.rules).items() if key != "gate"}
            if self.names
            else {}
        )

    def roles(self, *, options: bool) -> dict[str, bool]:
        """Return the roles, with whether each is asked; `options` says whether the questions have any."""
        blind = GateName.ANSWERABLE in self.names
        return {
            BLIND: blind,
            CHECKER: GateName.UNSUPPORTED in self.names or (blind and not options),
        }

    async def passing(self, chain: Chain, questions: Sequence[GateQuestion]) -> set[str]:
        """Return the ids that pass all gates, in whose stages of the funnel the others are counted."""
        asked = {GateName.UNSUPPORTED: self._unsupported, GateName.ANSWERABLE: self._answerable}
        for name in self.names:
            if name in asked:
                reasons = await self._reasons_by_id(chain, name, questions, asked[name])
            elif name is GateName.REFUSALS:
                reasons = {
                    each.id: "refusal"
                    for each in questions
                    for text in (each.question, each.answer)
                    if is_refusal(text) or _CANT_TELL.search(_QUOTED.sub("", text))
                }
            else:
                reasons = dict.fromkeys(
                    near_duplicates(questions, self.rules.duplicate_from), "duplicate"
                )
            reasons = (
                {} if chain.planning and name not in asked else reasons
            )  # stand-ins are all alike
            chain.funnel.count(name, len(questions), Counter(reasons.values()))
            questions = [question for question in questions if question.id not in reasons]
        chain.prompts.sha256.update(self._prompts.sha256)
        return {question.id for question in questions}

    async def _reasons_by_id(
        self, chain: Chain, name: GateName, questions: Sequence[GateQuestion], wanting: _Wanting
    ) -> dict[str, str]:
        """Return the id of each question that is found wanting -> the reason."""
        unchecked: Counter[str] = Counter()

        async def reason(case: _Case) -> str | None:
            case.about = {"video": case.item.video}
            try:
                return await wanting(case)
            except DroppedError as error:
                unchecked[error.reason] += 1
                return None

        found = zip(questions, await chain.run(questions, reason, shown=False), strict=True)
        if unchecked:
            reasons = ", ".join(
                f"{reason} {number}" for reason, number in sorted(unchecked.items())
            )
            chain.note(
                f"{name}: {unchecked.total()} questions could not be checked and were kept ({reasons})"
            )
        return {asked.id: dropped for asked, dropped in found if dropped}

    async def _unsupported(self, case: _Case) -> str | None:
        asked, least = case.item, self.rules.supported_from
        shown = {"known": asked.known, "question": asked.question, "answer": asked.answer}
        verdict = await self._ask(case, "support.txt", _Support, **shown)
        return "unsupported" if _SUPPORT.index(verdict.support) < _SUPPORT.index(least) else None

    async def _answerable(self, case: _Case) -> str | None:
        asked = case.item
        if not asked.options:
            blind = self._prompts.messages("blind.txt", [("question", asked.question)])
            guess = await case.ask(BLIND, blind, _some_text, stand_in="word " * 60)
            shown = {"question": asked.question, "answer": asked.answer, "guess": guess}
            verdict = await self._ask(case, "same.txt", _Same, **shown)
            return "answerable" if verdict.same else None
        for order in range(self.rules.blind_orders):
            options = list(asked.options)
            random.Random(f"{self._seed}|{asked.id}|{order}").shuffle(options)  # noqa: S311 - no secret
            right = LETTERS[options.index(asked.right)]
            lettered = "\n".join(
                f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False)
            )
            choice = await self._ask(
                case, "blind.txt", _Letter, question=asked.question, options=lettered
            )
            if (choice.answer or "").strip(".)( ").upper() != right and not case.chain.planning:
                return None
        return None if case.chain.planning else "answerable"

    async def _ask(self, case: _Case, prompt: str, model: type[ModelT], **material: str) -> ModelT:
        role, stand_in = _ASKED[prompt]
        messages = self._prompts.messages(prompt, list(material.items()))
        return await case.ask(
            role, messages, lambda text: read_model(text, model), stand_in=stand_in, id=case.item.id
        )


_ASKED = {
    "blind.txt": (BLIND, '{"answer": "A"}'),
    "same.txt": (CHECKER, '{"same": false}'),
    "support.txt": (CHECKER, '{"support": "fully"}'),
}
"""Prompt -> the role that is asked, and what a plan goes on with."""


def _some_text(reply: str) -> str:
    if not reply.strip():
        raise UnreadableError("the reply is empty")
    return reply.strip()


def near_duplicates(questions: Iterable[GateQuestion], least: float) -> dict[str, str]:
    """Return id -> id of an earlier question on another video that has the same content words, or nearly.

    Alike are two questions that have at least the share `least` of all their content words in
    common (Jaccard index).
    """
    kept: list[tuple[GateQuestion, frozenset[str]]] = []
    holding: defaultdict[str, list[int]] = defaultdict(list)
    twice = {}
    for asked in questions:
        words = content_words(asked.question)
        shared = Counter(place for word in words for place in holding[word])
        for place, common in shared.items():
            other, others = kept[place]
            if other.video != asked.video and common >= least * (len(words) + len(others) - common):
                twice[asked.id] = other.id
                break
        else:
            for word in words:
                holding[word].append(len(kept))
            kept.append((asked, words))
    return twice


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text but the commonest English ones, without their commonest endings, and no more.

    Of scripts without spaces it has the signs.
    """
    stems = set[str]()
    for word in _WORD.findall(text.casefold()):
        if word in _COMMON:
            continue
        stem = word
        if word.endswith("ies") and len(word) > _STEM + 2:
            stem = f"{word[:-3]}y"
        elif word.endswith("s") and not word.endswith("ss"):
            stem = word[:-1]
        ending = next(
            (
                end
                for end in ("ing", "ed", "e")
                if stem.endswith(end) and len(stem) - len(end) >= _STEM
            ),
            "",
        )
        stems.add(stem.removesuffix(ending))
    return frozenset(stems)
