"""Two small questions with known pictures, which show what of a prompt arrives at a model.

Nothing of them is guessed from a name: the colours are in the pictures alone. A wrong answer is no
proof of anything, as weak models give such. A run is stopped where the tokens say the same: three
pictures cost no more than one, and both prompts no more than their words.
"""

import asyncio
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from reelbench.base.attachment import Attachment
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import AskResult, Outdated, has_seen_pictures, reply_failure_kind
from reelbench.llm.asker import Asker, RetryCursor
from reelbench.llm.retry_rules import NotServedError, TransientError

if TYPE_CHECKING:
    from reelbench.llm.messages import Message

_SIDE = 224  # pixels
_COLOURS = {"red": (220, 20, 20), "blue": (20, 20, 220), "green": (20, 160, 20)}
_COLOUR = re.compile(rf"\b({'|'.join(_COLOURS)})\b")
_SETTINGS = {"max_tokens": 256, "temperature": 0}
_ONE_PICTURE = ("red",)
_IN_ORDER = ("blue", "green", "red")
_QUESTION = "Which colour fills each picture? Name the colours in their order, and nothing else."
_SHOWN = 60  # characters of an answer
_MOST_OF_WORDS = 512
"""Tokens of the question's words and a long template. A higher count has pictures in it."""


class _Answer(NamedTuple):
    """The answer to one question of the probe.

    Of a server that counts none, it has no tokens.
    """

    text: str
    tokens: int

    @property
    def colours(self) -> list[str]:
        """The colours that it names, in its order."""
        return _COLOUR.findall(self.text.lower())


@dataclass(frozen=True, slots=True)
class Sight:
    """The answers of a served model to the two questions.

    Attributes:
        to_one: Its answer to one picture.
        to_several: Its answer to three.
    """

    to_one: _Answer
    to_several: _Answer

    @property
    def is_right(self) -> bool:
        """True where the colours are the pictures', in whatever order."""
        has_seen_one = self.to_one.colours == list(_ONE_PICTURE)
        return has_seen_one and set(self.to_several.colours) == set(_IN_ORDER)

    @property
    def is_in_order(self) -> bool:
        """True where three pictures were seen as they were sent."""
        return self.to_several.colours == list(_IN_ORDER)

    @property
    def tokens_a_picture(self) -> float | None:
        """The tokens that a further picture costs. None where the server counts none."""
        if not self.to_one.tokens or not self.to_several.tokens:
            return None
        growth = self.to_several.tokens - self.to_one.tokens
        return growth / (len(_IN_ORDER) - len(_ONE_PICTURE))

    @property
    def is_blind(self) -> bool:
        """True where nothing of the pictures can be noticed: no token, no colour."""
        if self.tokens_a_picture is None or self.to_several.tokens > _MOST_OF_WORDS:
            return False
        return self.tokens_a_picture < 1 and not self.is_right

    @property
    def answers_shown(self) -> str:
        """The beginnings of both answers, for the user."""
        return f"{self.to_one.text[:_SHOWN]!r}, {self.to_several.text[:_SHOWN]!r}"


class PictureCheck:
    """The check that pictures arrive at a model, after the first question that is sent.

    It is made once for a server and a model: both replies are kept. That first question goes out
    alone, so that what a server refuses costs no further call, and pictures that do not arrive
    cost one question.

    Attributes:
        sight: What the model answered. None where it was not asked, or gave no answer.
        calls: Calls that were made for it.
    """

    def __init__(self, asker: Asker, *, is_wanted: bool) -> None:
        self._asker = asker
        self._is_wanted = is_wanted
        self._is_over = not is_wanted
        self._first_question = asyncio.Lock()
        self.sight: Sight | None = None
        self.calls = 0

    async def finish(self, cursor: RetryCursor[str]) -> AskResult[str]:
        """Ask for the missing replies to a question, as the asker does.

        Where pictures do not arrive at the model, asking ends.
        """
        if cursor.key is None or self._is_over:
            return await self._asker.finish(cursor)
        async with self._first_question:
            if not self._is_over:
                result = await self._asker.finish(cursor)
                await self._ask_probe_questions(cursor, result)
                self._is_over = True
                return result
        return await self._asker.finish(cursor)

    async def recall(self) -> None:
        """Recall what was answered in an earlier run, where nothing was sent in this one."""
        if self._is_wanted and not self._is_over:
            async with _asker_of_probe(self._asker) as probing:
                self.sight = await _ask_for_sight(
                    probing, _is_of_another(self._asker), may_ask=False
                )

    async def _ask_probe_questions(self, cursor: RetryCursor[str], result: AskResult[str]) -> None:
        """Ask the two questions, where the first question's reply leaves it open what arrives."""
        if result.value is None:
            return
        reply = result.replies[-1].reply
        if not has_seen_pictures(reply, cursor.request.messages):
            return
        self.sight = await self._kept_or_new_sight()
        if self.sight is not None:
            self._tell_doubts(self.sight, reply.prompt_tokens)

    def _tell_doubts(self, sight: Sight, question_tokens: int) -> None:
        """Tell the user what is doubtful. Asking ends where pictures do not arrive.

        Args:
            sight: The answers to the two questions.
            question_tokens: The prompt tokens of the first question, which is longer.
        """
        who = f"{self._asker.options.model} at {self._asker.options.host}"
        # A server that counts the same for any prompt says nothing by it.
        is_counted = question_tokens > sight.to_several.tokens
        if sight.is_blind and is_counted:
            self._end_blind(who, sight)
        elif not sight.is_right:
            self._asker.note(
                f"{who} names the colours of small test pictures wrongly ({sight.answers_shown}): "
                "it may not see the frames well"
            )
        elif not sight.is_in_order:
            self._asker.note(
                f"{who} names three small test pictures in the wrong order "
                f"({sight.answers_shown}): the order of frames may be lost"
            )

    def _end_blind(self, who: str, sight: Sight) -> None:
        """End asking a model at which pictures do not arrive, unless the user wants it."""
        line = (
            f"pictures don't seem to reach {who}: three small ones cost no more tokens than "
            f"one ({sight.to_one.tokens}), and it names their colours wrongly "
            f"({sight.answers_shown})"
        )
        if self._asker.options.keep_going:
            self._asker.note(line)
            return
        self._asker.end(
            f"{line}: ask without pictures (--frames none), serve a model that takes them "
            "(llama.cpp: --mmproj FILE), or ask anyway (--no-probe)"
        )

    async def _kept_or_new_sight(self) -> Sight | None:
        """Return the model's answers, as kept. Those that showed no pictures are asked anew."""
        asker = self._asker
        async with _asker_of_probe(asker) as probing:
            sight = await _ask_for_sight(probing, _is_of_another(asker))
            if sight is not None and sight.is_blind and not probing.tally.calls:
                sight = await _ask_for_sight(probing, lambda _: True)
        if sight is None and probing.cause_of_giving_up is not None:
            asker.note(
                f"whether pictures arrive at {asker.options.model} is not known: two test "
                f"questions got no answer ({probing.cause_of_giving_up.line}); "
                "--no-probe skips them"
            )
        self.calls = probing.tally.calls
        if probing.tally.spent_usd is not None:
            asker.tally.spent_usd = (asker.tally.spent_usd or 0.0) + probing.tally.spent_usd
        return sight


def _asker_of_probe(asker: Asker) -> Asker:
    """Return an asker of the same model for the two questions, within the same budget.

    Each is tried once, and its failure ends nothing else.
    """
    probing = Asker(
        replace(asker.options, tries=1, patience=0),
        _SETTINGS,
        on_note=asker.note,
        budget=asker.budget,
        accepts_cut_off=True,
        ends_run=False,
    )
    probing.giver = asker.giver
    return probing


def _is_of_another(asker: Asker) -> Outdated:
    """Return the rule that passes over the replies of another giver than the asker's."""
    return lambda stored: stored.giver != asker.giver


def probe(options: AskOptions) -> dict[str, object]:
    """Ask a served model two questions with pictures. Return what arrives, in words.

    The two are asked anew each time.
    """
    return loop.run(_probe_facts(options))


async def _probe_facts(options: AskOptions) -> dict[str, object]:
    asker = Asker(options, _SETTINGS, on_note=lambda _: None, accepts_cut_off=True)
    facts: dict[str, object] = {"server": options.host, "model": options.model}
    async with asker:
        try:
            await asker.served_model()
        except (TransientError, NotServedError) as error:
            facts["list of models"] = str(error)
        facts |= asker.statement.record_fields() or {}
        sight = await _ask_for_sight(asker, lambda _: True)
    troubles = [note for note in asker.notes if " is asked at " not in note]
    if sight is None:
        facts["pictures"] = "no answer"
        if troubles:
            facts["pictures"] = troubles[-1]
        return facts
    facts |= _facts_of_sight(sight)
    for name, sent_name in asker.sent_instead.items():
        facts[name] = f"refused, sent as {sent_name or 'nothing'}"
    return facts


async def _ask_for_sight(asker: Asker, outdated: Outdated, *, may_ask: bool = True) -> Sight | None:
    """Return the answers to both questions, or None where one has none."""
    answers: list[_Answer] = []
    for colours in (_ONE_PICTURE, _IN_ORDER):
        answer = await _ask_about_colours(asker, colours, outdated, may_ask=may_ask)
        if answer is None:
            return None
        answers.append(answer)
    return Sight(*answers)


async def _ask_about_colours(
    asker: Asker, colours: Sequence[str], outdated: Outdated, *, may_ask: bool
) -> _Answer | None:
    """Return the answer to a question with pictures of these colours.

    It is asked for once, where it is not kept. One that did not come to its end is none.
    """
    pictures = [Attachment("image_url", "image/png", _one_colour_png(colour)) for colour in colours]
    messages: list[Message] = [{"role": "user", "content": [*pictures, _QUESTION]}]
    cursor = await asker.cache.run_off_loop(
        RetryCursor[str], asker, messages, str, outdated=outdated, attempts=1
    )
    if cursor.key is not None and not may_ask:
        return None
    result = await asker.finish(cursor)
    if result.value is None:
        return None
    reply = result.replies[-1].reply
    if reply_failure_kind(reply) is not None:
        return None
    return _Answer(result.value, reply.prompt_tokens)


def _facts_of_sight(sight: Sight) -> dict[str, object]:
    """Return the facts that the answers to the two questions show."""
    facts: dict[str, object] = {"pictures": "not seen"}
    if sight.is_right:
        facts["pictures"] = "seen, in another order"
        if sight.is_in_order:
            facts["pictures"] = "seen, in their order"
    facts["answers"] = sight.answers_shown
    facts["tokens"] = "not counted"
    if sight.tokens_a_picture is not None:
        facts["tokens"] = f"{sight.tokens_a_picture:g} for a picture of {_SIDE} x {_SIDE}"
    return facts


def _one_colour_png(colour: str) -> bytes:
    """Return a picture of one colour, as PNG (RFC 2083)."""
    row = b"\0" + bytes(_COLOURS[colour]) * _SIDE
    header = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    pixels = zlib.compress(row * _SIDE)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _png_chunk(b"IHDR", header),
            _png_chunk(b"IDAT", pixels),
            _png_chunk(b"IEND", b""),
        ]
    )


def _png_chunk(name: bytes, data: bytes) -> bytes:
    """Return a part of a PNG: its length, name and data, and their checksum."""
    length = struct.pack(">I", len(data))
    checksum = struct.pack(">I", zlib.crc32(name + data))
    return length + name + data + checksum
