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
from reelbench.llm.store import StoredReply

if TYPE_CHECKING:
    from reelbench.llm.messages import Message

_SIDE = 224  # pixels
_COLOURS = {"red": (220, 20, 20), "blue": (20, 20, 220), "green": (20, 160, 20)}
_COLOUR = re.compile(rf"\b({'|'.join(_COLOURS)})\b")
_SETTINGS = {"max_tokens": 256, "temperature": 0}
_ONE_PICTURE = ("red",)
_IN_ORDER = ("blue", "green", "red")
_QUESTION = "Which colour fills each picture? Name the colours in their order, and nothing else."
_MAX_SHOWN = 60  # characters of an answer
_MAX_TEXT_TOKENS = 512
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
class ProbeAnswers:
    """The answers of a served model to the two questions.

    Attributes:
        one_picture: Its answer to the question with one picture.
        three_pictures: Its answer to the question with three.
    """

    one_picture: _Answer
    three_pictures: _Answer

    @property
    def are_right(self) -> bool:
        """True where the colours are the pictures', in whatever order."""
        first_is_right = self.one_picture.colours == list(_ONE_PICTURE)
        return first_is_right and set(self.three_pictures.colours) == set(_IN_ORDER)

    @property
    def are_in_order(self) -> bool:
        """True where three colours were named in the order in which they were sent."""
        return self.three_pictures.colours == list(_IN_ORDER)

    @property
    def tokens_a_picture(self) -> float | None:
        """The tokens that a further picture costs. None where the server counts none."""
        if not self.one_picture.tokens or not self.three_pictures.tokens:
            return None
        further_tokens = self.three_pictures.tokens - self.one_picture.tokens
        further_pictures = len(_IN_ORDER) - len(_ONE_PICTURE)
        return further_tokens / further_pictures

    @property
    def show_no_pictures(self) -> bool:
        """True where nothing hints that pictures arrived: neither tokens nor colours."""
        if self.tokens_a_picture is None or self.three_pictures.tokens > _MAX_TEXT_TOKENS:
            return False
        return self.tokens_a_picture < 1 and not self.are_right

    @property
    def answers_text(self) -> str:
        """The beginnings of both answers, for the user."""
        first = self.one_picture.text[:_MAX_SHOWN]
        second = self.three_pictures.text[:_MAX_SHOWN]
        return f"{first!r}, {second!r}"


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
        self.answers: ProbeAnswers | None = None
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
        """Take the answers of an earlier run from the cache, if this run sent nothing."""
        if self._is_wanted and not self._is_over:
            async with _probe_asker(self._asker) as probe_asker:
                self.answers = await _ask_both_questions(
                    probe_asker, _from_other_source(self._asker), may_send=False
                )

    async def _ask_probe_questions(self, cursor: RetryCursor[str], result: AskResult[str]) -> None:
        """Ask the two questions, unless the first question's reply shows that pictures fail."""
        if result.value is None:
            return
        reply = result.replies[-1].reply
        if not has_seen_pictures(reply, cursor.request.messages):
            return
        self.answers = await self._cached_or_new_answers()
        if self.answers is not None:
            self._report_doubts(self.answers, reply.prompt_tokens)

    def _report_doubts(self, answers: ProbeAnswers, question_tokens: int) -> None:
        """Note what is doubtful. Asking ends where pictures do not arrive.

        Args:
            answers: The answers to the two questions.
            question_tokens: The prompt tokens of the run's first question, which is longer.
        """
        model_at_host = f"{self._asker.options.model} at {self._asker.options.host}"
        # A server that counts the same for any prompt says nothing by it.
        counts_tokens = question_tokens > answers.three_pictures.tokens
        if answers.show_no_pictures and counts_tokens:
            self._end_without_pictures(model_at_host, answers)
        elif not answers.are_right:
            self._asker.note(
                f"{model_at_host} names the colours of small test pictures wrongly "
                f"({answers.answers_text}): it may not see the frames well"
            )
        elif not answers.are_in_order:
            self._asker.note(
                f"{model_at_host} names three small test pictures in the wrong order "
                f"({answers.answers_text}): the order of frames may be lost"
            )

    def _end_without_pictures(self, model_at_host: str, answers: ProbeAnswers) -> None:
        """End asking a model at which pictures do not arrive, unless the user wants it."""
        line = (
            f"pictures don't seem to reach {model_at_host}: three small ones cost no more tokens "
            f"than one ({answers.one_picture.tokens}), and it names their colours wrongly "
            f"({answers.answers_text})"
        )
        if self._asker.options.keep_going:
            self._asker.note(line)
            return
        self._asker.end(
            f"{line}: ask without pictures (--frames none), serve a model that takes them "
            "(llama.cpp: --mmproj FILE), or ask anyway (--no-probe)"
        )

    async def _cached_or_new_answers(self) -> ProbeAnswers | None:
        """Return the model's answers, from the cache unless those show no pictures."""
        asker = self._asker
        async with _probe_asker(asker) as probe_asker:
            answers = await _ask_both_questions(probe_asker, _from_other_source(asker))
            is_from_cache = not probe_asker.tally.calls
            if answers is not None and answers.show_no_pictures and is_from_cache:
                answers = await _ask_both_questions(probe_asker, _always_outdated)
        if answers is None and probe_asker.cause_of_giving_up is not None:
            asker.note(
                f"whether pictures arrive at {asker.options.model} is not known: two test "
                f"questions got no answer ({probe_asker.cause_of_giving_up.line}); "
                "--no-probe skips them"
            )
        self.calls = probe_asker.tally.calls
        if probe_asker.tally.spent_usd is not None:
            asker.tally.spent_usd = (asker.tally.spent_usd or 0.0) + probe_asker.tally.spent_usd
        return answers


def _probe_asker(asker: Asker) -> Asker:
    """Return an asker of the same model for the two questions, within the same budget.

    Each is tried once, and its failure ends nothing else.
    """
    probe_asker = Asker(
        replace(asker.options, tries=1, patience=0),
        _SETTINGS,
        on_note=asker.note,
        budget=asker.budget,
        accepts_cut_off=True,
        ends_run=False,
    )
    probe_asker.giver = asker.giver
    return probe_asker


def _from_other_source(asker: Asker) -> Outdated:
    """Return the rule by which cached replies of another model or server are outdated."""
    return lambda stored: stored.giver != asker.giver


def _always_outdated(_: StoredReply) -> bool:
    """Return True: the rule by which every cached reply is outdated."""
    return True


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
        answers = await _ask_both_questions(asker, _always_outdated)
    if answers is None:
        problems = [note for note in asker.notes if " is asked at " not in note]
        facts["pictures"] = problems[-1] if problems else "no answer"
        return facts
    facts |= _facts_of_answers(answers)
    for name, sent_name in asker.sent_instead.items():
        facts[name] = f"refused, sent as {sent_name or 'nothing'}"
    return facts


async def _ask_both_questions(
    asker: Asker, outdated: Outdated, *, may_send: bool = True
) -> ProbeAnswers | None:
    """Return the answers to both questions, or None where one has none."""
    one_picture = await _ask_about_colours(asker, _ONE_PICTURE, outdated, may_send=may_send)
    if one_picture is None:
        return None
    three_pictures = await _ask_about_colours(asker, _IN_ORDER, outdated, may_send=may_send)
    if three_pictures is None:
        return None
    return ProbeAnswers(one_picture, three_pictures)


async def _ask_about_colours(
    asker: Asker, colours: Sequence[str], outdated: Outdated, *, may_send: bool
) -> _Answer | None:
    """Return the answer to a question with pictures of these colours.

    It is asked for once, unless it is in the cache. An answer that was cut short is none.
    """
    pictures = [Attachment("image_url", "image/png", _one_colour_png(colour)) for colour in colours]
    messages: list[Message] = [{"role": "user", "content": [*pictures, _QUESTION]}]
    cursor = await asker.cache.run_off_loop(
        RetryCursor[str], asker, messages, str, outdated=outdated, attempts=1
    )
    is_cached = cursor.key is None
    if not is_cached and not may_send:
        return None
    result = await asker.finish(cursor)
    if result.value is None:
        return None
    reply = result.replies[-1].reply
    if reply_failure_kind(reply) is not None:
        return None
    return _Answer(result.value, reply.prompt_tokens)


def _facts_of_answers(answers: ProbeAnswers) -> dict[str, object]:
    """Return the facts that the answers to the two questions show."""
    facts: dict[str, object] = {"pictures": "not seen"}
    if answers.are_right:
        facts["pictures"] = "seen, in another order"
        if answers.are_in_order:
            facts["pictures"] = "seen, in their order"
    facts["answers"] = answers.answers_text
    facts["tokens"] = "not counted"
    if answers.tokens_a_picture is not None:
        facts["tokens"] = f"{answers.tokens_a_picture:g} for a picture of {_SIDE} x {_SIDE}"
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
