"""Write a page on a chain's work on one video.

It shows which questions were kept, the turns of all roles, and what came through of all videos. The
page is opened from the disk. It holds its data as JSON, which its script draws as text. People may
have edited the files that the data come from, so their shapes are checked first.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from pydantic import BaseModel, Field

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import Decoder, read_json, write_text
from reelbench.base.values import is_array
from reelbench.llm.reading import beside_dictionary
from reelbench.pages.shell_page import in_script, page_asset, page_head, shell_page
from reelbench.registry.rows import LETTERS
from reelbench.studio.discussion import JUDGE
from reelbench.studio.discussion_files import WrittenQuestion, questions_in
from reelbench.studio.funnel import StageRecord, TokensRecord

_COUNTED_ROLES = {"bloom"}
"""Roles that are asked one thing of each text: the page shows their number alone."""
_LINKS = (("#survived", "What survived"), ("#said", "Who said what"), ("#videos", "All videos"))
_SET_NAMES = ("the draft", "the discussion's set")
"""The sets that a discussion's judge compares, as A and B at first, then the other way round."""
_MATERIAL = re.compile(r"<(\w+) ([0-9a-f]{32})>\n(.*?)\n</\1 \2>", re.DOTALL)
_LONGEST_MATERIAL = 700
"""Characters of material beside a reply. Longer material stands with the question alone."""
_WORD = re.compile(
    r"(?:(?<!\s)\s++)?(?:[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)"
)
"""A word with the space before it; of scripts without spaces each character is a word."""
_TEXT_FIELDS = ("question", "answer")

Line = dict[str, Any]
"""A line of the trace, of the checked shape."""
Question = dict[str, Any]
"""A question of a chain's file, of the checked shape."""
Runs = list[tuple[str, str]]
"""Runs of words as (before, after): the same text where nothing changed."""


def write(folder: Path, video: str | None = None, out: Path | None = None) -> Path:
    """Write the page of one video, and return its path.

    Args:
        folder: The chain's folder.
        video: The video. None for the first one.
        out: The page's path. None for one in the folder, called after the video's media key.

    Raises:
        InputError: A file is damaged.
    """
    lines = list(_trace_lines(folder / "trace.jsonl", video))
    if not lines:
        which = f" for {video!r}" if video else ""
        raise InputError(f"{folder / 'trace.jsonl'}: nothing was asked{which}")
    name = lines[0]["video"]
    page = shell_page(
        f"{name}: what was made of it",
        page_asset("chain_page.html", "studio"),
        style=page_asset("chain_page.css", "studio"),
        script=page_asset("chain_page.js", "studio"),
        data=in_script(_page_data(folder, name, lines)),
        head=page_head(_LINKS),
    )
    path = out or folder / f"{quote(name, safe='')}.html"
    write_text(path, page)
    return path


def _page_data(folder: Path, video: str, lines: Sequence[Line]) -> dict[str, Any]:
    """Return the data of the page."""
    questions = [
        *_read_questions(folder / "annotations.json", video),
        *_read_questions(folder / "rextime.json", video),
    ]
    drafts = list(_read_questions(folder / "single_pass.json", video))
    durations = [float(question.get("duration") or 0) for question in questions]
    shown_lines = [line for line in lines if line["role"] not in _COUNTED_ROLES]
    funnel = _read_checked(_Funnel, folder / "funnel.json")
    comparison = None
    if (folder / "comparison.json").is_file():
        comparison = _read_checked(_Comparison, folder / "comparison.json")
    return {
        "name": video,
        "made": questions,
        "drafts": _draft_comparison(drafts, questions) if drafts else None,
        "length": max(durations, default=0.0),
        "letters": LETTERS,
        "replies": len(shown_lines),
        "texts": len(lines) - len(shown_lines),
        "verdicts": _preferred_set_by_order(shown_lines),
        "turns": list(_trace_turns(shown_lines)),
        "compared": comparison,
        "stages": funnel["stages"],
    }


def _preferred_set_by_order(lines: Iterable[Line]) -> list[str]:
    """Return the set that the judge prefers in each order; "" where neither."""
    verdicts: list[str] = []
    for line in lines:
        if line["role"] != JUDGE or not line["read"]:
            continue
        _, values = beside_dictionary(line["reply"] or "")
        better = (values or {}).get("better")
        verdict = ""
        if better in ("A", "B"):
            verdict = _shown_sets(len(verdicts))[better]
        verdicts.append(verdict)
    return verdicts


def _shown_sets(number: int) -> dict[str, str]:
    """Return the sets shown as A and B in one of the judge's questions."""
    first, second = _SET_NAMES
    if number % 2 == 0:
        return {"A": first, "B": second}
    return {"A": second, "B": first}


def _draft_comparison(
    drafts: Iterable[Question], questions: Iterable[Question]
) -> list[dict[str, Any]]:
    """Return the single pass beside the last questions, question by question."""
    first = {question["question_id"]: question for question in drafts}
    last = {question["question_id"]: question for question in questions}
    names = first.keys() | last.keys()
    entries: list[dict[str, Any]] = []
    for name in sorted(names, key=lambda name: (len(name), name)):
        before = first.get(name)
        after = last.get(name)
        entry: dict[str, Any] = {"id": name, "before": before, "after": after, "changed": []}
        if before and after:
            entry["runs"] = {}
            for field in _TEXT_FIELDS:
                entry["runs"][field] = _words_side_by_side(before[field], after[field])
                if before[field] != after[field]:
                    entry["changed"].append(field)
        entries.append(entry)
    return entries


def _words_side_by_side(before: str, after: str) -> Runs:
    """Return the words of two texts, side by side."""
    old_words = _WORD.findall(before)
    new_words = _WORD.findall(after)
    matcher = SequenceMatcher(
        None,
        [word.strip() for word in old_words],
        [word.strip() for word in new_words],
        autojunk=False,
    )
    runs: Runs = []
    for change, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        old = "".join(old_words[old_start:old_end])
        new = "".join(new_words[new_start:new_end])
        if change == "equal":  # also where the spaces differ
            old = new
        runs.append((old, new))
    return runs


# --- turns


def _trace_turns(lines: Iterable[Line]) -> Iterator[dict[str, Any]]:
    """Yield the turns of one video's trace, in their order.

    The questions of a writer are compared with those that it wrote before.
    """
    written: dict[str, dict[int, WrittenQuestion]] = {}
    for (role, round_number), group in groupby(lines, key=_role_and_round):
        replies: list[dict[str, Any]] = []
        question_number = -1
        for line in group:
            if line["attempt"] == 0:
                question_number += 1
            questions = _numbered_questions(line["reply"] or "")
            reply = _shown_reply(line, question_number, questions, written.get(role, {}))
            _add_reply(replies, reply)
            if line["read"] and questions:
                written[role] = questions
        yield {"role": role, "round": round_number, "replies": replies}


def _role_and_round(line: Line) -> tuple[str, int]:
    return line["role"], line.get("round") or 0


def _add_reply(replies: list[dict[str, Any]], reply: dict[str, Any]) -> None:
    """Add a reply, or count it where an identical one is there."""
    for earlier_reply in replies:
        if earlier_reply | {"times": 1} == reply:
            earlier_reply["times"] += 1
            return
    replies.append(reply)


def _shown_reply(
    line: Line,
    question_number: int,
    questions: Mapping[int, WrittenQuestion],
    earlier_questions: Mapping[int, WrittenQuestion],
) -> dict[str, Any]:
    """Return a reply as the page shows it, with its question."""
    reply_text = line["reply"] or ""
    words, values = beside_dictionary(reply_text)
    messages = _message_roles_and_texts(line)
    _, last_text = messages[-1]
    prefers = None
    shown_first = ""
    if line["role"] == JUDGE:
        shown_sets = _shown_sets(question_number)
        shown_first = shown_sets["A"]
        prefers = _verdict_in_words(shown_sets, (values or {}).get("better"))
    content = _reply_in_words(values or {})
    return {
        "model": line["model"],
        "tokens": line["tokens"],
        "attempt": line["attempt"],
        "read": line["read"],
        "times": 1,
        "reply": reply_text,
        "asked": messages,
        "material": _short_material(last_text),
        "words": words,
        "questions": _question_runs(questions, earlier_questions),
        "prefers": prefers,
        "shown_first": shown_first,
        "spans": content.spans,
        "pairs": content.pairs,
        "facts": content.facts,
    }


def _verdict_in_words(shown_sets: Mapping[str, str], better: object) -> str | None:
    """Return a judge's verdict in words. None where there is none."""
    if better == "tie":
        return "Sees no difference"
    if better in ("A", "B"):
        return f"Prefers {shown_sets[str(better)]}"
    return None


def _question_runs(
    questions: Mapping[int, WrittenQuestion], earlier_questions: Mapping[int, WrittenQuestion]
) -> list[dict[str, Runs]]:
    """Return each question beside the earlier one of its number."""
    compared: list[dict[str, Runs]] = []
    for number, question in questions.items():
        earlier = earlier_questions.get(number, question)
        runs: dict[str, Runs] = {}
        for field in _TEXT_FIELDS:
            runs[field] = _words_side_by_side(getattr(earlier, field), getattr(question, field))
        compared.append(runs)
    return compared


def _message_roles_and_texts(line: Line) -> list[tuple[str, str]]:
    """Return the role and the text of each message. Media as their address in brackets."""
    messages: list[tuple[str, str]] = []
    for message in line["messages"]:
        content = message["content"]
        if not isinstance(content, str):
            content = "\n".join(map(_part_text, content))
        messages.append((message["role"], content))
    return messages


def _part_text(part: Mapping[str, Any]) -> str:
    if part.get("text"):
        return part["text"]
    kind = part["type"]
    return f"[{kind}: {part[kind]['url']}]"


def _short_material(message: str) -> list[tuple[str, str]]:
    """Return the pieces of material in a message where they are short, and no JSON."""
    pieces: list[tuple[str, str]] = []
    length = 0
    for name, _, text in _MATERIAL.findall(message):
        if text.startswith(("[", "{")):
            return []
        length += len(text)
        pieces.append((_name_with_space_before_number(name), text))
    if length > _LONGEST_MATERIAL:
        return []
    return pieces


class _Content(NamedTuple):
    """The content of a reply's object in words: events with times, questions, short facts."""

    spans: list[tuple[str, list[float]]]
    pairs: list[tuple[str, str]]
    facts: list[tuple[str, str]]


def _reply_in_words(values: Mapping[Any, Any]) -> _Content:
    """Return the content of a reply's object in words."""
    content = _Content([], [], [])
    for name, value in values.items():
        title = _name_with_space_before_number(str(name))
        ends = _span_ends(values.get(f"{name}_timestamp"))
        fields: dict[str, Any] = {}
        if isinstance(value, dict):
            fields = {str(key).casefold(): text for key, text in value.items()}
        if "question" in fields and "answer" in fields:
            content.pairs.append((str(fields["question"]), str(fields["answer"])))
        elif ends:
            content.spans.append((f"{title}: {value}", ends))
        elif not isinstance(value, dict | list):
            content.facts.append((title, str(value)))
    return content


def _span_ends(span: object) -> list[float]:
    """Return start and end of a span in a reply. Nothing where it is none."""
    if not is_array(span) or len(span) != 2:  # noqa: PLR2004
        return []
    start, end = span
    if not isinstance(start, int | float) or not isinstance(end, int | float):
        return []
    if not 0 <= start <= end < math.inf:
        return []
    return [start, end]


def _numbered_questions(reply: str) -> dict[int, WrittenQuestion]:
    """Return a reply's questions by number. None where one of them is malformed."""
    questions: dict[int, WrittenQuestion] = {}
    for place, question in enumerate(questions_in(reply), start=1):
        if question is None:
            return {}
        number = question.id
        if number is None or number in questions:
            number = place
        questions[number] = question
    return questions


def _name_with_space_before_number(name: str) -> str:
    """Return "event 1" of "event1"."""
    return re.sub(r"(?<=[a-z])(?=[0-9])", " ", name.replace("_", " "))


# --- the files

_Number = Annotated[float, Field(allow_inf_nan=False)]
_Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
_Ends = tuple[_Number, _Number] | None


class _Url(BaseModel):
    url: str


class _Part(BaseModel):
    type: str
    text: str | None = None
    image_url: _Url | None = None
    video_url: _Url | None = None


class _Message(BaseModel):
    role: str
    content: str | list[_Part]


class _Line(BaseModel):
    role: str
    video: str
    round: int | None = None
    attempt: int
    read: bool
    model: str | None
    messages: list[_Message] = Field(min_length=1)
    reply: str | None
    tokens: TokensRecord


class _Question(BaseModel):
    question: str
    answer: str
    short_answer: str | None = None
    classification: str | None = None
    category: str | None = None
    options: list[str] | None = None
    ans: str | None = None
    duration: _Seconds | None = None
    span: tuple[_Seconds, _Seconds] | None = None
    question_span: tuple[_Seconds, _Seconds] | None = None


class _DiscussedQuestion(_Question):
    question_id: str


class _Measure(BaseModel):
    single_pass: _Number | None
    discussion: _Number | None
    difference: _Number | None
    ci95: _Ends


class _WinRate(BaseModel):
    value: _Number
    ci95: _Ends
    videos: int
    same_in_both_orders: _Number


class _Comparison(BaseModel):
    measures: dict[str, _Measure]
    win_rate: _WinRate | None


class _Funnel(BaseModel):
    stages: list[StageRecord]


def _trace_lines(path: Path, video: str | None) -> Iterator[Line]:
    """Yield the lines of one video, by default the first one.

    The file may be long, so it is read line by line.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path}: can't be read ({error.strerror}); give the folder that a chain wrote"
        ) from None
    decoder = Decoder(path)
    with file:
        for number, text in enumerate(file, start=1):
            where = f"{path}, line {number}"
            try:
                line = decoder.decode(text.decode("utf-8"), number)
                name = line["video"]
            except (ValueError, LookupError, TypeError):
                raise InputError(
                    f"{where}: not a line of a chain's trace; is the file complete?"
                ) from None
            if video is None:
                video = name
            if name == video:
                yield _require_fields(_Line, line, where)


def _read_questions(path: Path, video: str) -> Iterator[Question]:
    """Yield the questions on a video. None where there is no such file."""
    if not path.is_file():
        return
    document = read_json(path)
    if isinstance(document, dict):
        entries = document.items()
    elif isinstance(document, list):
        entries = enumerate(document, start=1)
    else:
        raise InputError(f"{path}: not a chain's questions, but {type(document).__name__}")
    for place, entry in entries:
        where = f"{path}, entry {place}"
        if not isinstance(entry, dict):
            raise InputError(f"{where}: not a question, but {type(entry).__name__}")
        if video in (entry.get("video"), entry.get("vid")):
            shape = _Question if "vid" in entry else _DiscussedQuestion
            yield _require_fields(shape, entry, where)


def _read_checked(shape: type[BaseModel], path: Path) -> dict[str, Any]:
    """Read a document and check its shape."""
    return _require_fields(shape, read_json(path), str(path))


def _require_fields(shape: type[BaseModel], value: Any, where: str) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a value as it is. InputError where it lacks a field of its shape."""
    record_of(shape, value, where)
    return value
