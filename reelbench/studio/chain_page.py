"""A page that shows a chain on one video: what survived, who said what, and what came through of all videos.

To be opened from the disk. The data stand as JSON in the page, and its script draws them, as text;
the files they come from are held to their shapes first, as somebody may have edited them.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any
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

_COUNTED = {"bloom"}
"""Roles that are asked one thing of each text: read as figures, not one by one."""
_LINKS = (("#survived", "What survived"), ("#said", "Who said what"), ("#videos", "All videos"))
_SIDES = ("the draft", "the discussion's set")
"""The two sets that a discussion's judge compares, as A and B when it is first asked; then the other way round."""
_MATERIAL = re.compile(r"<(\w+) ([0-9a-f]{32})>\n(.*?)\n</\1 \2>", re.DOTALL)
_SHORT = (
    700  # characters of material that stands beside a reply; what is longer is with what was asked
)
# Of scripts without spaces each character is a word.
_WORD = re.compile(
    r"\s*(?:[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)"
)

Runs = list[tuple[str, str]]
"""Runs of words as (before, after): the same text where nothing changed."""


def write(folder: Path, video: str | None = None, out: Path | None = None) -> Path:
    """Write the page of one video, by default the first one, and return its path; InputError where a file is damaged.

    By default it is in the chain's folder, called after the video's media key.
    """
    lines = list(_trace_lines(folder / "trace.jsonl", video))
    if not lines:
        raise InputError(
            f"{folder / 'trace.jsonl'}: nothing was asked{f' for {video!r}' if video else ''}"
        )
    name = lines[0]["video"]
    made = [
        entry
        for file in ("annotations.json", "rextime.json")
        for entry in _made_questions(folder / file, name)
    ]
    drafts = list(_made_questions(folder / "single_pass.json", name))
    said = [line for line in lines if line["role"] not in _COUNTED]
    compared, funnel = folder / "comparison.json", folder / "funnel.json"
    data = {
        "name": name,
        "made": made,
        "drafts": _beside(drafts, made) if drafts else None,
        "length": max((float(entry.get("duration") or 0) for entry in made), default=0.0),
        "letters": LETTERS,
        "replies": len(said),
        "texts": len(lines) - len(said),
        "verdicts": [
            _SIDES[(place + "AB".index(better)) % 2] if better in ("A", "B") else ""
            for place, better in enumerate(
                (beside_dictionary(line["reply"] or "")[1] or {}).get("better")
                for line in said
                if line["role"] == JUDGE and line["read"]
            )
        ],
        "turns": list(_turns(said)),
        "compared": _check_shape(_Comparison, read_json(compared), str(compared))
        if compared.is_file()
        else None,
        "stages": _check_shape(_Funnel, read_json(funnel), str(funnel))["stages"],
    }
    page = shell_page(
        f"{name}: what was made of it",
        page_asset("chain_page.html", "studio"),
        style=page_asset("chain_page.css", "studio"),
        script=page_asset("chain_page.js", "studio"),
        data=in_script(data),
        head=page_head(_LINKS),
    )
    path = out or folder / f"{quote(name, safe='')}.html"
    write_text(path, page)
    return path


def _beside(
    drafts: Iterable[Mapping[str, Any]], made: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the single pass beside what came of it, question by question."""
    first, last = ({entry["question_id"]: entry for entry in entries} for entries in (drafts, made))
    lines = []
    for name in sorted(first.keys() | last.keys(), key=lambda name: (len(name), name)):
        before, after = first.get(name), last.get(name)
        line: dict[str, Any] = {"id": name, "before": before, "after": after, "changed": []}
        if before and after:
            line["runs"] = {
                field: _runs(before[field], after[field]) for field in ("question", "answer")
            }
            line["changed"] = [
                field for field in ("question", "answer") if before[field] != after[field]
            ]
        lines.append(line)
    return lines


def _runs(before: str, after: str) -> Runs:
    words = _WORD.findall(before), _WORD.findall(after)
    stripped = ([word.strip() for word in side] for side in words)
    runs: Runs = []
    for change, a, b, c, d in SequenceMatcher(None, *stripped, autojunk=False).get_opcodes():
        old, new = "".join(words[0][a:b]), "".join(words[1][c:d])
        runs.append((new, new) if change == "equal" else (old, new))
    return runs


# --- who said what
# ----------------------------------------------------------------------------------------------------


def _turns(lines: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the turns of one video's trace, in their order; a writer's questions are held to those written before."""
    written: dict[str, dict[int, WrittenQuestion]] = {}
    for (role, number), group in groupby(
        lines, key=lambda line: (line["role"], line.get("round") or 0)
    ):
        replies: list[dict[str, Any]] = []
        asked = -1
        for line in group:
            asked += line["attempt"] == 0
            questions = _questions(line["reply"] or "")
            before = written.get(role, {})
            sides = (_SIDES if asked % 2 == 0 else _SIDES[::-1]) if role == JUDGE else None
            words, values = beside_dictionary(line["reply"] or "")
            put: list[tuple[str, str]] = []
            for message in line["messages"]:
                content = message["content"]
                if not isinstance(content, str):
                    parts = (
                        part.get("text") or f"[{part['type']}: {part[part['type']]['url']}]"
                        for part in content
                    )
                    content = "\n".join(parts)
                put.append((message["role"], content))
            pieces = [(_spaced(name), text) for name, _, text in _MATERIAL.findall(put[-1][1])]
            short = sum(len(text) for _, text in pieces) <= _SHORT and not any(
                text[:1] in "[{" for _, text in pieces
            )
            better = (values or {}).get("better") if sides else None
            prefers = None
            if sides and better in ("A", "B", "tie"):
                prefers = (
                    "Sees no difference"
                    if better == "tie"
                    else f"Prefers {sides['AB'.index(better)]}"
                )
            # An object's content in words: events with their times, questions, short facts.
            spans, pairs, facts = [], [], []
            for name, value in (values or {}).items():
                span = (values or {}).get(f"{name}_timestamp")
                ends = (
                    [end for end in span if isinstance(end, int | float)] if is_array(span) else []
                )
                fields = (
                    {str(key).casefold(): text for key, text in value.items()}
                    if isinstance(value, dict)
                    else {}
                )
                if {"question", "answer"} <= fields.keys():
                    pairs.append((str(fields["question"]), str(fields["answer"])))
                elif (
                    is_array(span)
                    and len(span) == len(ends) == 2
                    and 0 <= ends[0] <= ends[1] < math.inf
                ):  # noqa: PLR2004
                    spans.append((f"{_spaced(str(name))}: {value}", ends))
                elif not isinstance(value, dict | list):
                    facts.append((_spaced(str(name)), str(value)))
            shown = {
                **{name: line[name] for name in ("model", "tokens", "attempt", "read")},
                "times": 1,
                "reply": line["reply"] or "",
                "asked": put,
                "material": pieces if short else [],
                "words": words,
                "questions": [
                    {
                        field: _runs(
                            getattr(before.get(number, question), field), getattr(question, field)
                        )
                        for field in ("question", "answer")
                    }
                    for number, question in questions.items()
                ],
                "prefers": prefers,
                "shown_first": sides[0] if sides else "",
                "spans": spans,
                "pairs": pairs,
                "facts": facts,
            }
            # Those that are the same to the last word are shown once.
            same = next((reply for reply in replies if reply | {"times": 1} == shown), None)
            if same is None:
                replies.append(shown)
            else:
                same["times"] += 1
            if line["read"] and questions:
                written[role] = questions
        yield {"role": role, "round": number, "replies": replies}


def _questions(reply: str) -> dict[int, WrittenQuestion]:
    """Return the questions that a reply is, by number; none where it is anything else, or one of them isn't whole."""
    questions: dict[int, WrittenQuestion] = {}
    for place, question in enumerate(questions_in(reply), start=1):
        if question is None:
            return {}
        questions[
            question.id if question.id is not None and question.id not in questions else place
        ] = question
    return questions


def _spaced(name: str) -> str:
    """Return "event 1" of "event1"."""
    return re.sub(r"(?<=[a-z])(?=[0-9])", " ", name.replace("_", " "))


# --- the files
# --------------------------------------------------------------------------------------------------------

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


class _Made(BaseModel):
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


class _Discussed(_Made):
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


def _trace_lines(path: Path, video: str | None) -> Iterator[dict[str, Any]]:
    """Yield the lines of one video, by default the first one; the file, which may be long, is read line by line."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path}: can't be read ({error.strerror}); give the folder that a chain wrote"
        ) from None
    decoder = Decoder(path)
    with file:
        for number, text in enumerate(file, start=1):
            try:
                line = decoder.decode(text.decode("utf-8"), number)
                name = line["video"]
            except (ValueError, LookupError, TypeError):
                raise InputError(
                    f"{path}, line {number}: not a line of a chain's trace; is the file whole?"
                ) from None
            video = name if video is None else video
            if name == video:
                yield _check_shape(_Line, line, f"{path}, line {number}")


def _made_questions(path: Path, video: str) -> Iterator[dict[str, Any]]:
    """Yield the questions on a video; none where there is no such file."""
    document = read_json(path) if path.is_file() else []
    if not isinstance(document, dict | list):
        raise InputError(f"{path}: not a chain's questions, but {type(document).__name__}")
    for place, entry in (
        document.items() if isinstance(document, dict) else enumerate(document, start=1)
    ):
        if not isinstance(entry, dict):
            raise InputError(f"{path}, entry {place}: not a question, but {type(entry).__name__}")
        if video in (entry.get("video"), entry.get("vid")):
            yield _check_shape(
                _Made if "vid" in entry else _Discussed, entry, f"{path}, entry {place}"
            )


def _check_shape(shape: type[BaseModel], value: Any, where: str) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a value as it is; InputError where it lacks what its kind has."""
    record_of(shape, value, where)
    return value
