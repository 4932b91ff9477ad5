"""Let a language model read the answers that the grammar leaves unread.

The user names it. It sees a question's options and an answer, and says which option the answer
states, or none. Its reply counts where it is one option's letter alone, and stays beside the
sample, so that anybody can read it again.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any, ClassVar, NamedTuple, Self

from reelbench.base import settings
from reelbench.base.errors import number_of
from reelbench.base.progress import Bar, Show, no_bar
from reelbench.judges import turn_tokens
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import REJECTED, UNPARSABLE, AskResult
from reelbench.llm.asker import Asker
from reelbench.llm.material import PromptFiles
from reelbench.llm.messages import Message
from reelbench.llm.model_names import read_model_name
from reelbench.llm.reading import UnreadableError
from reelbench.llm.runner import Runner
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, ReaderRecord, ReaderReply, ReadingRecord
from reelbench.registry.rows import LETTERS
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import answers
from reelbench.scoring.answers.texts import closing_part

_PROMPTS = PromptFiles(resources.files("reelbench.tasks").joinpath("prompts", "reader"))
_PROMPT = "read.txt"
_NO_OPTION = "none"
_REPLY = re.compile(r"[\s\"'*`(\[]*(?:(?P<letter>[A-Z])|none)[\s\"'*`)\].]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderOptions(AskOptions):
    """A model that reads answers, and how to ask it."""

    option: ClassVar[str] = "--reader"
    who: ClassVar[str] = "the reader"
    name_option: ClassVar[str | None] = "--reader-name"
    key_variable: ClassVar[str] = settings.READER_API_KEY.name

    @classmethod
    def named(cls, text: str, *, url: str | None = None, **fields: Any) -> Self:  # noqa: ANN401 - as the fields are
        """Return the reader that `MODEL[@URL]` names. `url` is the server of one without its own.

        Its key is `REELBENCH_READER_API_KEY`, else `OPENAI_API_KEY`, or the provider's own.
        """
        url = url or settings.first(settings.OPENAI_BASE_URL)
        model = read_model_name(
            cls.option, text, url, settings.READER_API_KEY, settings.OPENAI_API_KEY
        )
        return cls(**model, **fields)

    @property
    def record(self) -> ReaderRecord:
        """The reader as settings have it."""
        _PROMPTS.hashes()
        return ReaderRecord(
            model=self.filed_name,
            prompt_sha256=_PROMPTS.sha256[_PROMPT],
            extra=dict(self.extra) or None,
        )


class ReadItems(NamedTuple):
    """Items with the reader's letters, the ids of those that it saw, and its work."""

    items: list[Item]
    seen: frozenset[str]
    record: ReadingRecord


def read_unread(
    spec: BenchmarkSpec,
    items: Sequence[Item],
    options: ReaderOptions,
    note: Callable[[str], None],
    bar: Bar = no_bar,
) -> ReadItems:
    """Let the reader say which option each unread answer states.

    Raises:
        ReelbenchError: Some replies are lacking: the answers stay unread for no fault of theirs,
            so nothing is scored. Those that came are kept.
    """
    unread = [item for item in items if _is_unread(spec, item)]
    asker = Asker(options, {"temperature": 0}, on_note=note)
    with bar(f"reading {spec.id}", len(unread)) as show:
        results = _ask_reader(asker, unread, show)
    _note_rejected(results, note)
    replies: dict[str, AskResult[str]] = {}
    for item, result in zip(unread, results, strict=True):
        if result.replies:
            replies[item.id] = result
    read_items: list[Item] = []
    for item in items:
        read_item = item
        if item.id in replies:
            read_item = _with_reply(item, replies[item.id], options)
        read_items.append(read_item)
    record = ReadingRecord(
        url=options.host,
        unread=len(unread),
        cost_usd=asker.cost_usd,
        **asker.tally.record_fields(),
    )
    return ReadItems(read_items, frozenset(replies), record)


def _ask_reader(asker: Asker, items: Sequence[Item], show: Show) -> list[AskResult[str]]:
    """Ask the reader about each answer. ReelbenchError where replies are lacking."""
    runner = Runner([asker], show)

    async def read(item: Item) -> AskResult[str]:
        read_reply = partial(_read_reply, options=len(item.options))
        result = await asker.ask(_reader_question(item), read_reply, again=_PROMPTS.retry)
        if result.reason not in {None, UNPARSABLE, REJECTED}:
            runner.note_lacking(result)
        return result

    results = loop.run(runner.results(items, read))
    runner.check("answers are not read", "the reader gave no reply")
    return results


def _note_rejected(results: Sequence[AskResult[str]], note: Callable[[str], None]) -> None:
    """Note how many answers the reader's server rejects for good."""
    rejected = sum(result.reason == REJECTED for result in results)
    if rejected:
        verb = "stays" if rejected == 1 else "stay"
        answers_rejected = number_of(rejected, "answer")
        note(f"{answers_rejected} rejected by the reader's server {verb} unread")


def letter_of(reply: str | None, options: int) -> str | None:
    """Return the letter that a kept reply is, or None. It has so many options."""
    try:
        letter = _read_reply(reply or "", options)
    except UnreadableError:
        return None
    return None if letter == _NO_OPTION else letter


def _is_unread(spec: BenchmarkSpec, item: Item) -> bool:
    """Return True for an answer in words of which no one option is read."""
    asks_for_one_option = spec.asks_choice and "all_choices" not in spec.kinds
    if not asks_for_one_option or not item.options:
        return False
    has_words_alone = item.option_scores is None and bool(_answer_text(item))
    if not has_words_alone or item.reason not in {None, Reason.ANSWERS_HIDDEN}:
        return False
    return item.parsed is not None and item.parsed.get("answer", "") is None


def _answer_text(item: Item) -> str:
    """Return the text of an answer behind its reasoning, or an empty one."""
    if not isinstance(item.prediction, str):
        return ""
    return closing_part((answers.strip_reasoning(item.prediction) or "").strip())


def _reader_question(item: Item) -> list[Message]:
    """Return the question about an answer.

    Tokens of the answer that would open a turn are broken.
    """
    lines = [f"{letter}. {text}" for letter, text in zip(LETTERS, item.options, strict=False)]
    material = [
        ("options", "\n".join(lines)),
        ("answer", turn_tokens.with_broken_tokens(_answer_text(item))),
    ]
    return _PROMPTS.messages(_PROMPT, material)


def _read_reply(reply: str, options: int) -> str:
    """Return the one letter that a reply is, or `none`.

    Raises:
        UnreadableError: It is anything else.
    """
    match = _REPLY.fullmatch((answers.strip_reasoning(reply) or "").strip())
    if match is None:
        raise UnreadableError("it is not one letter alone, nor the word none")
    letter = (match["letter"] or "").upper()
    if not letter:
        return _NO_OPTION
    if letter not in LETTERS[:options]:
        raise UnreadableError(f"there is no option {letter}")
    return letter


def _with_reply(item: Item, result: AskResult[str], options: ReaderOptions) -> Item:
    """Return an item with the reader's last reply, and the letter that it is."""
    last = result.replies[-1]
    returned = last.reply.returned
    if returned is not None:
        returned = options.filed_id(returned)
    letter = letter_of(last.reply.raw, len(item.options))
    parsed = {**(item.parsed or {}), "answer": letter}
    reply = ReaderReply(
        raw=last.reply.raw,
        model=returned,
        key=last.key.hex(),
        turn_tokens=turn_tokens.opens_a_turn(_answer_text(item)),
    )
    flags = answers.flags(str(item.prediction), parsed)
    return item.model_copy(update={"parsed": parsed, "flags": flags, "read_by": reply})
