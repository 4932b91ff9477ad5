"""Who said what, for the page of a chain: its replies by turn, as text first and as they came on request.

All functions return HTML; what others wrote is escaped in it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from pydantic import ValidationError

from reelbench.llm.reading import beside_dictionary
from reelbench.registry.errors import number_of
from reelbench.registry.values import is_array
from reelbench.studio.chain_text import Span, changes, facts, named, paragraph, strip
from reelbench.studio.discussion import JUDGE
from reelbench.studio.discussion_files import QUESTION_KEYS, WrittenQuestion

_SIDES = ("the draft", "the discussion's set")
"""The two sets that a discussion's judge compares, as A and B when it is first asked; then the other way round."""
_MATERIAL = re.compile(r"<(\w+) ([0-9a-f]{32})>\n(.*?)\n</\1 \2>", re.DOTALL)
_SHORT = 700  # characters of material that stands beside a reply; what is longer is with what was asked

Written = dict[int, WrittenQuestion]
"""Questions by their numbers."""


def turns(lines: Iterable[Mapping[str, Any]], length: float) -> str:
    """Return the turns of one video's trace, in their order; a writer's questions are held to those written before.

    `length` is the video's, in seconds; 0 where nobody knows.
    """
    shown: list[str] = []
    written: dict[str, Written] = {}
    for (role, number), group in groupby(lines, key=lambda line: (line["role"], line.get("round") or 0)):
        head = f"{named(role)} · round {number}" if number else named(role)
        replies = _replies(role, list(group), written, length)
        shown.append(f"<section class='card turn'><h3>{head}</h3>{replies}</section>")
    return "\n".join(shown)


def _replies(role: str, lines: Sequence[Mapping[str, Any]], written: dict[str, Written], length: float) -> str:
    """Return a turn's replies; those that are the same to the last word are shown once."""
    counts: dict[str, int] = {}
    asked = -1
    for line in lines:
        asked += line["attempt"] == 0
        sides = (_SIDES if asked % 2 == 0 else _SIDES[::-1]) if role == JUDGE else None
        shown = _reply(line, written.get(role, {}), sides, length)
        counts[shown] = counts.get(shown, 0) + 1
        questions = questions_of(line["reply"] or "")
        if line["read"] and questions:
            written[role] = questions
    often = {count: f"<p class='badge'>{count} times the same</p>" if count > 1 else "" for count in counts.values()}
    return "".join(f"<div class='reply'>{often[count]}{shown}</div>" for shown, count in counts.items())


def _reply(line: Mapping[str, Any], before: Written, sides: Sequence[str] | None, length: float) -> str:
    reply, tokens = line["reply"] or "", line["tokens"]
    about = [escape(line["model"] or "no model named")]
    about += [f"{number_of(tokens['prompt'], 'token')} read, {tokens['completion']:,} written"]
    about += [f"asked again ({line['attempt'] + 1})"] if line["attempt"] else []
    bad = "" if line["read"] else " <span class='badge warn'>could not be used</span>"
    words, values = beside_dictionary(reply)
    questions = questions_of(reply)
    content = _questions(questions, before) if questions else _values(values or {}, sides, length)
    shown = (paragraph(words) if words else "") + content
    raw = _fold("The reply as it came", f"<pre dir='auto'>{escape(reply)}</pre>") if content else ""
    return (
        f"{_material(line)}{shown or paragraph(reply or '(nothing)')}"
        f"<p class='sub about'>{' · '.join(about)}{bad}</p>{raw}{_fold('What was asked', _asked(line))}"
    )


def _fold(summary: str, content: str) -> str:
    return f"<details><summary>{summary}</summary>{content}</details>"


def _asked(line: Mapping[str, Any]) -> str:
    return "".join(
        f"<p class='sub'>{named(message['role'])}</p><pre dir='auto'>{escape(_content(message['content']))}</pre>"
        for message in line["messages"]
    )


def _content(content: str | Sequence[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or f"[{part['type']}: {part[part['type']]['url']}]" for part in content)


def _material(line: Mapping[str, Any]) -> str:
    """Return what a question is about, where that is short and in words: it tells a turn's replies apart."""
    pieces = [(name, text) for name, _, text in _MATERIAL.findall(_content(line["messages"][-1]["content"]))]
    if not pieces or sum(len(text) for _, text in pieces) > _SHORT or any(text[:1] in "[{" for _, text in pieces):
        return ""
    lines = "".join(
        f"<li><span class='sub'>{escape(_spaced(name))}</span> <span class='said' dir='auto'>{escape(text)}</span></li>"
        for name, text in pieces
    )
    return f"<ul class='material'>{lines}</ul>"


# --- what a reply says ------------------------------------------------------------------------------------------------


def questions_of(reply: str) -> Written:
    """Return the questions that a reply is, by number; none where it is anything else, or one of them isn't whole."""
    whole = beside_dictionary(reply)[1] or {}
    entries = next((whole[key] for key in QUESTION_KEYS if isinstance(whole.get(key), list)), [])
    questions: Written = {}
    for place, entry in enumerate(entries, start=1):
        try:
            question = WrittenQuestion.model_validate(entry)
        except ValidationError:
            return {}
        questions[question.id if question.id is not None and question.id not in questions else place] = question
    return questions


def _questions(questions: Written, before: Written) -> str:
    shown = ""
    for number, question in questions.items():
        first = before.get(number)
        texts = (
            [changes(getattr(first, field), getattr(question, field)) for field in ("question", "answer")]
            if first
            else [escape(question.question), escape(question.answer)]
        )
        shown += f"<dt dir='auto'>{texts[0]}</dt><dd dir='auto'>{texts[1]}</dd>"
    return f"<dl class='questions'>{shown}</dl>"


def _values(values: Mapping[Any, Any], sides: Sequence[str] | None, length: float) -> str:
    """Return what an object says that can be said in words: events with their times, questions, short facts."""
    better = values.get("better")
    if sides and better in ("A", "B", "tie"):
        prefers = "Sees no difference" if better == "tie" else f"Prefers {sides['AB'.index(better)]}"
        return f"<p><strong>{prefers}</strong> <span class='sub'>({sides[0]} was shown first)</span></p>"
    spans: dict[str, Span] = {}
    told: list[tuple[str, object]] = []
    pairs = ""
    for name, value in values.items():
        pair, when = _pair(value), _span(values.get(f"{name}_timestamp"))
        if pair:
            pairs += f"<li><strong dir='auto'>{escape(pair[0])}</strong> <span dir='auto'>{escape(pair[1])}</span></li>"
        elif when:
            spans[f"{_spaced(str(name))}: {value}"] = when
        elif not isinstance(value, dict | list):
            told.append((_spaced(str(name)), value))
    return strip(spans, length) + (f"<ul>{pairs}</ul>" if pairs else "") + facts(told)


def _spaced(name: str) -> str:
    """Return "event 1" of "event1"."""
    return re.sub(r"(?<=[a-z])(?=[0-9])", " ", name.replace("_", " "))


def _pair(value: object) -> tuple[str, str] | None:
    """Return a question and its answer, where a value is both."""
    fields = {str(key).casefold(): text for key, text in value.items()} if isinstance(value, dict) else {}
    return (str(fields["question"]), str(fields["answer"])) if {"question", "answer"} <= fields.keys() else None


def _span(value: object) -> Span | None:
    """Return a span in seconds, where a value is one."""
    if not is_array(value) or len(value) != 2:  # noqa: PLR2004
        return None
    start, end = (float(part) if isinstance(part, int | float) else math.nan for part in value)
    return (start, end) if 0 <= start <= end < math.inf else None


def texts_left(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return a line on replies that are figures on single texts, and stand in the trace alone."""
    if not lines:
        return ""
    count = number_of(len(lines), "reply", "replies")
    return f"<p class='note'>Beside these, {count} on the level of a single text, in trace.jsonl.</p>"


def verdicts(lines: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return which set a discussion's judge prefers, each time it could be read; "" for neither."""
    judged = [line for line in lines if line["role"] == JUDGE and line["read"]]
    found = []
    for place, line in enumerate(judged):
        better = (beside_dictionary(line["reply"] or "")[1] or {}).get("better")
        sides = _SIDES if place % 2 == 0 else _SIDES[::-1]
        found.append(sides["AB".index(better)] if better in ("A", "B") else "")
    return found
