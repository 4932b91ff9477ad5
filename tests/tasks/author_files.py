"""Files as authors have them, made here: what `reelbench new` takes them for, or stops at.

Each is either read as it is meant, or refused with a line that says what to do; none becomes
another benchmark in silence.
"""

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl

ROWS = 12
TEXTS = ["a red cup", "a blue jar", "a green pan", "a white bowl"]
EVENTS = ["he comes in", "he sits down", "he pours tea", "he leaves"]


@dataclass(frozen=True)
class AuthorFile:
    """A file of rows, and what is to become of it."""

    name: str
    """The file's name; its suffix says the format."""

    content: Any
    """Rows (a list of objects), a whole JSON document, or text."""

    kind_is: str = ""
    right: Any = None
    """The first row's right option, words or span."""

    stops: str = ""
    """Part of the line with which it is refused."""

    kind: Any = None
    columns: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    sheet: str = ""


def rows(count: int = ROWS, /, **more: Any) -> list[dict[str, Any]]:
    """Return rows with an id, a video and a question, and further columns."""
    made: list[dict[str, Any]] = []
    for n in range(count):
        row: dict[str, Any] = {
            "qid": f"q{n}",
            "video": f"clip{n // 3}.mp4",
            "question": f"What is seen at place {n}?",
        }
        for name, value in more.items():
            row[name] = value(n) if callable(value) else value
        made.append(row)
    return made


def turned(n: int) -> list[str]:
    """Return four options in an order of the row's own, with a text of its own."""
    start = n % len(TEXTS)
    texts = TEXTS[start:] + TEXTS[:start]
    return [f"{text} {n}" for text in texts]


def letter(n: int) -> str:
    """Return the letter of a row's right option."""
    return "ABCD"[n * 7 % 4]


def text_of(n: int) -> str:
    """Return the text of a row's right option."""
    return turned(n)["ABCD".index(letter(n))]


def option_columns(names: str) -> dict[str, Any]:
    """Return a column for each option."""
    columns: dict[str, Any] = {}
    for place, name in enumerate(names.split()):
        columns[name] = lambda n, place=place: turned(n)[place]
    return columns


def write(file: AuthorFile, folder: Path) -> Path:
    """Write a file, and return its path."""
    path = folder / file.name
    suffix = path.suffix
    if isinstance(file.content, bytes):
        path.write_bytes(file.content)
    elif isinstance(file.content, str):
        path.write_text(file.content, encoding="utf-8")
    elif suffix == ".xlsx":
        _write_workbook(path, file.content)
    elif suffix in {".csv", ".tsv"}:
        _write_csv(path, file.content, delimiter="\t" if suffix == ".tsv" else ",")
    elif suffix == ".jsonl":
        lines = [json.dumps(row) + "\n" for row in file.content]
        path.write_text("".join(lines), encoding="utf-8")
    else:
        path.write_text(json.dumps(file.content), encoding="utf-8")
    return path


def table_of(content: list[dict[str, Any]]) -> list[list[Any]]:
    """Return a header and the rows below it."""
    names = list(dict.fromkeys(name for row in content for name in row))
    lines: list[list[Any]] = [names]
    for row in content:
        cells = [row.get(name, "") for name in names]
        lines.append(
            [json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in cells]
        )
    return lines


def _write_csv(path: Path, content: list[Any], delimiter: str) -> None:
    lines = content if isinstance(content[0], list) else table_of(content)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(lines)


def _write_workbook(path: Path, content: Any) -> None:
    sheets = content if isinstance(content, dict) else {"Sheet1": content}
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, lines in sheets.items():
        sheet = book.create_sheet(title)
        for line in lines if isinstance(lines[0], list) else table_of(lines):
            sheet.append(line)
    book.save(path)


_MC = rows(options=turned, answer=letter)
_SUBRIP = {
    "start": lambda n: f"00:00:{10 + n},250",
    "end": lambda n: f"00:00:{13 + n},500",
}
_QUESTION_WITH_OPTIONS = {
    "question": lambda n: (
        "Which is it?\n"
        + "\n".join(f"{key}. {text}" for key, text in zip("ABCD", turned(n), strict=True))
    ),
}
_INLINE = {
    "question": lambda n: (
        "Which is it? "
        + " ".join(f"{key}. {text}." for key, text in zip("ABCD", turned(n), strict=True))
    ),
}


def _half(value: Any) -> Any:
    return lambda n: value(n) if n % 2 else "What is seen here?"


FILES = {
    # --- names and groups before lists
    "labels as a list beside options in columns": AuthorFile(
        "siq.json",
        rows(
            **option_columns("a0 a1 a2 a3"),
            answer_idx=lambda n: n * 7 % 4,
            idx_types=lambda n: (
                ["corr", "matched", "rewrite", "matched"][n % 4 :]
                + ["corr", "matched", "rewrite", "matched"][: n % 4]
            ),
        ),
        "choice",
        "A",
        columns={"answer": "answer_idx"},
    ),
    "events as a list, and their number": AuthorFile(
        "dream.json",
        rows(
            events=EVENTS,
            n_events=4,
            description=lambda n: f"He pours tea in scene {n}, and then he sits down.",
        ),
        stops="events",
    ),
    "tags beside options in the question": AuthorFile(
        "tags.json",
        rows(**_QUESTION_WITH_OPTIONS, tags=["indoor", "kitchen", "day", "calm"], answer=letter),
        "choice",
        "A",
    ),
    "tags beside an answer in words": AuthorFile(
        "tagged.json",
        rows(
            tags=lambda n: ["indoor", ["day", "night"][n % 2]],
            answer=lambda n: ["tea", "milk"][n % 2],
        ),
        "exact",
        "tea",
    ),
    "methods and votes": AuthorFile(
        "vilma.json",
        rows(
            foiling_methods=["t5", "gruen", "nli"],
            votes=lambda n: n % 3,
            caption=lambda n: f"A man opens door {n} slowly.",
            foil=lambda n: f"A man shuts door {n} slowly.",
        ),
        stops="foiling_methods",
    ),
    # --- options in columns
    "options in columns": AuthorFile(
        "cols.csv", rows(**option_columns("A B C D"), answer=letter), "choice", "A"
    ),
    "options in numbered columns": AuthorFile(
        "cols.tsv",
        rows(
            **option_columns("option_1 option_2 option_3 option_4"), answer=lambda n: 1 + n * 7 % 4
        ),
        "choice",
        "A",
    ),
    "an option blank in some rows": AuthorFile(
        "blank.csv",
        rows(
            **{**option_columns("A B C D"), "D": lambda n: "" if n % 4 == 1 else turned(n)[3]},
            answer=lambda n: "ABC"[n % 3],
        ),
        "choice",
        "A",
    ),
    "a middle option blank in some rows": AuthorFile(
        "gap.csv",
        rows(
            **{**option_columns("A B C D"), "B": lambda n: "" if n % 4 == 1 else turned(n)[1]},
            answer=lambda n: "ACD"[n % 3],
        ),
        stops="A, B, C, D",
    ),
    "options in columns of some rows": AuthorFile(
        "some.csv",
        rows(
            **{
                name: (lambda n, value=value: value(n) if n % 3 else "")
                for name, value in option_columns("A B C D").items()
            },
            answer=lambda n: letter(n) if n % 3 else "a tall lamp",
        ),
        stops="A, B, C, D",
    ),
    "bare letters, and the options are gone": AuthorFile(
        "letters.csv", rows(answer=letter), stops="letters"
    ),
    "bare numbers in brackets of options that are gone": AuthorFile(
        "letters2.csv", rows(answer=lambda n: f"({letter(n)})"), stops="letters"
    ),
    "options by semicolons in one cell": AuthorFile(
        "semi.csv", rows(options=lambda n: "; ".join(turned(n)), answer=letter), "choice", "A"
    ),
    "options by bars in one cell": AuthorFile(
        "bar.csv", rows(options=lambda n: "|".join(turned(n)), answer=letter), "choice", "A"
    ),
    "options by slashes in one cell": AuthorFile(
        "slash.csv", rows(options=lambda n: " / ".join(turned(n)), answer=letter), stops="options"
    ),
    "options by commas in one cell": AuthorFile(
        "commas.csv", rows(options=lambda n: ", ".join(turned(n)), answer=text_of), stops="options"
    ),
    "options as JSON in a cell": AuthorFile("json.csv", _MC, "choice", "A"),
    "options in the question, a line each": AuthorFile(
        "lines.json", rows(**_QUESTION_WITH_OPTIONS, answer=letter), "choice", "A"
    ),
    "options in the question, in one line": AuthorFile(
        "inline.json", rows(**_INLINE, answer=letter), "choice", "A"
    ),
    "options in half of the questions": AuthorFile(
        "half.json",
        rows(
            question=_half(_QUESTION_WITH_OPTIONS["question"]),
            answer=lambda n: letter(n) if n % 2 else "a tall lamp",
        ),
        stops="options",
    ),
    "options in one line of half of the questions": AuthorFile(
        "half1.json",
        rows(
            question=_half(_INLINE["question"]),
            answer=lambda n: letter(n) if n % 2 else "a tall lamp",
        ),
        stops="options",
    ),
    "right and wrong answers in columns": AuthorFile(
        "wrong.csv",
        rows(
            right_answer=text_of,
            wrong_answer_1=lambda n: f"a lamp {n}",
            wrong_answer_2=lambda n: f"a dog {n}",
        ),
        stops="wrong_answer_1",
    ),
    "distractors as a list": AuthorFile(
        "distractors.json",
        rows(answer=text_of, distractors=lambda n: [f"a lamp {n}", f"a dog {n}", f"a cat {n}"]),
        stops="distractors",
    ),
    "two columns of answers that differ": AuthorFile(
        "two.csv",
        rows(
            answer=lambda n: ["tea", "milk"][n % 2],
            answer_2=lambda n: ["a cup of tea", "white milk"][n % 2],
        ),
        stops="answer_2",
    ),
    "options and answer by names of nobody, beside times": AuthorFile(
        "zebra.csv",
        rows(zebra=turned, okapi=letter, start=lambda n: n, end=lambda n: n + 4),
        stops="taken for `grounded_choice`",
    ),
    "letter and text of one answer": AuthorFile(
        "both.json", rows(options=turned, answer=text_of, answer_letter=letter), "choice", "A"
    ),
    # --- times
    "SubRip times": AuthorFile("subrip.csv", rows(**_SUBRIP), "span", [10.25, 13.5]),
    "SubRip ranges in one cell": AuthorFile(
        "range.csv",
        rows(span=lambda n: f"00:00:{10 + n},250 --> 00:00:{13 + n},500"),
        "span",
        [10.25, 13.5],
    ),
    "decimal commas": AuthorFile(
        "comma.csv",
        rows(start=lambda n: f"{10 + n},250", end=lambda n: f"{12 + n},500"),
        stops="10,250",
    ),
    "ranges with two dashes": AuthorFile(
        "dashes.csv",
        rows(time=lambda n: f"{n}.0 -- {n + 4}.0", answer=letter, options=turned),
        "grounded_choice",
        [0.0, 4.0],
    ),
    "several windows": AuthorFile(
        "thumos.json", rows(windows=lambda n: [[n, n + 2], [n + 5, n + 8]]), stops="windows"
    ),
    "several windows, united": AuthorFile(
        "thumos2.json",
        rows(windows=lambda n: [[n, n + 2], [n + 5, n + 8]]),
        "span",
        [0.0, 2.0, 5.0, 8.0],
        keys={"windows": "union"},
    ),
    "bounds of the clip beside spans": AuthorFile(
        "tvg.json",
        rows(answer=lambda n: [n, n + 2], start=0, end=lambda n: 30 + n),
        stops="clip",
    ),
    "bounds of the clip beside spans, told": AuthorFile(
        "tvg2.json",
        rows(answer=lambda n: [n, n + 2], start=0, end=lambda n: 30 + n),
        "span",
        [0.0, 2.0],
        columns={"clip": ("start", "end")},
    ),
    "a time of asking": AuthorFile(
        "asked.json",
        rows(**{"timestamp (s)": lambda n: 3.5 * n, "options": turned, "answer": letter}),
        stops="timestamp (s)",
    ),
    "a time of asking, in words": AuthorFile(
        "asked.csv",
        rows(
            ask_time=lambda n: f"00:{10 + n}:05",
            answer=lambda n: f"He pours tea into cup {n} there.",
        ),
        stops="ask_time",
    ),
    "a time of asking, told": AuthorFile(
        "asked2.json",
        rows(ask_time=lambda n: 1 + 3.5 * n, options=turned, answer=letter),
        "choice",
        "A",
        columns={"clip": "[0, {ask_time}]"},
    ),
    "sentences and times side by side": AuthorFile(
        "captions.json",
        {
            f"clip{n}": {
                "duration": 60,
                "timestamps": [[n, n + 2], [n + 5, n + 8]],
                "sentences": ["A man sits down.", "He pours tea."],
            }
            for n in range(ROWS)
        },
        stops="--set each={video}/timestamps+sentences makes a row of each place",
    ),
    # --- media
    "a picture beside the video": AuthorFile(
        "picture.json",
        rows(image=lambda n: f"q{n}.jpg", options=turned, answer=letter),
        stops="image",
    ),
    "a second video": AuthorFile(
        "second.json",
        rows(reference_video=lambda n: f"other{n}.mp4", options=turned, answer=letter),
        stops="reference_video",
    ),
    "a sound beside the video": AuthorFile(
        "sound.json",
        rows(audio=lambda n: f"q{n}.wav", options=turned, answer=letter),
        stops="audio",
    ),
    "one video under two names": AuthorFile(
        "same.json",
        rows(video_path=lambda n: f"videos/clip{n // 3}.mp4", options=turned, answer=letter),
        "choice",
        "A",
    ),
    # --- keys beside the list, rows, sheets
    "videos beside the questions": AuthorFile(
        "beside.json",
        {"videos": {f"clip{n}.mp4": {"clip": [0, 20]} for n in range(4)}, "questions": _MC},
        stops="--set each=questions --set 'join={file: beside.json, by: COLUMN, each: \"videos/{COLUMN}\"}'",
    ),
    "videos beside the questions, told": AuthorFile(
        "beside.json",
        {
            "videos": {f"clip{n}.mp4": {"length": 20, "scene": "indoors"} for n in range(4)},
            "questions": _MC,
        },
        "choice",
        "A",
        keys={
            "each": "questions",
            "join": '{file: beside.json, by: video, each: "videos/{video}"}',
        },
    ),
    "answers beside the questions": AuthorFile(
        "answers.json",
        {"answers": {f"q{n}": letter(n) for n in range(ROWS)}, "questions": rows(options=turned)},
        stops="'answers' is next to 'questions'",
    ),
    "answers beside the questions, told": AuthorFile(
        "answers.json",
        {"answers": {f"q{n}": letter(n) for n in range(ROWS)}, "questions": rows(options=turned)},
        "choice",
        "A",
        keys={"each": "questions", "join": '{file: answers.json, by: qid, each: "answers/{qid}"}'},
        columns={"answer": "value"},
    ),
    "two sheets": AuthorFile("sheets.xlsx", {"dev": _MC[:5], "test": _MC[5:]}, stops="--sheet"),
    "one of two sheets": AuthorFile(
        "sheets.xlsx", {"dev": _MC[:5], "test": _MC[4:]}, "choice", "A", sheet="test"
    ),
    "a title above the header": AuthorFile(
        "title.xlsx", [["Kitchen benchmark, version 1"], [], *table_of(_MC)], "choice", "A"
    ),
    "a title above the header of CSV": AuthorFile(
        "title.csv", [["Kitchen benchmark, version 1"], [], *table_of(_MC)], "choice", "A"
    ),
    "notes below the table": AuthorFile(
        "notes.xlsx", [*table_of(_MC), [], ["Source: our own films"], ["Total: 12"]], "choice", "A"
    ),
    "notes below the table of CSV": AuthorFile(
        "notes.csv",
        [*table_of(_MC), [], ["Source: our own films"], ["Total: 12", "", "", "", ""]],
        "choice",
        "A",
    ),
    "blank rows of JSON": AuthorFile(
        "blanks.json", [*_MC, dict.fromkeys(_MC[0], ""), dict.fromkeys(_MC[0])], "choice", "A"
    ),
    "totals below the table": AuthorFile(
        "totals.xlsx", [*table_of(_MC), [], ["Total:", 12, "", "", ""]], "choice", "A"
    ),
    "totals below the table of CSV": AuthorFile(
        "totals.csv", [*table_of(_MC), ["", "sum", "12", "", ""]], "choice", "A"
    ),
    "a version beside the questions": AuthorFile(
        "version.json",
        {"info": {"version": "1.0", "year": 2026}, "licence": "cc-by-4.0", "data": _MC},
        "choice",
        "A",
    ),
    "two lists of rows": AuthorFile("two.json", {"train": _MC[:6], "test": _MC[6:]}, stops="train"),
    "a film's questions with ids of their own": AuthorFile(
        "films.json",
        {
            f"clip{n}.mp4": {
                "id": n,
                "question": f"What is seen at {n}?",
                "options": turned(n),
                "answer": letter(n),
            }
            for n in range(ROWS)
        },
        kind_is="choice",
        right="A",
    ),
    "two columns of one name": AuthorFile(
        "twice.csv",
        [
            ["qid", "video", "question", "answer", "answer"],
            ["1", "a.mp4", "What is seen?", "tea", "milk"],
        ],
        stops="'answer'",
    ),
    "blank rows": AuthorFile(
        "blanks.csv", [*table_of(_MC), ["", "", "", "", ""], ["", "", "", "", ""]], "choice", "A"
    ),
    # --- kinds, splits, ids
    "two kinds by a column": AuthorFile(
        "mixed.json",
        rows(
            type=lambda n: "mc" if n % 2 else "open",
            options=lambda n: turned(n) if n % 2 else None,
            answer=lambda n: letter(n) if n % 2 else "He pours tea into the red cup.",
        ),
        stops="--set 'kind={column: type, mc: choice, open: open}' --column options=options takes",
    ),
    "two kinds that only ids tell apart": AuthorFile(
        "mixed.json",
        rows(
            options=lambda n: turned(n) if n % 2 else None,
            answer=lambda n: letter(n) if n % 2 else "He pours tea into the red cup.",
        ),
        stops="with `kind: {column: …}` where the others are answered in words, --column options=options takes",
    ),
    "two kinds, one of them of one long answer": AuthorFile(
        "mixed.json",
        rows(
            type=lambda n: "open" if n == 0 else "mc",
            options=lambda n: turned(n) if n else None,
            answer=lambda n: letter(n) if n else "He pours tea now.",
        ),
        stops="mc: choice, open: open}",
    ),
    "two kinds by a column, told": AuthorFile(
        "mixed.json",
        rows(
            type=lambda n: "mc" if n % 2 else "open",
            options=lambda n: turned(n) if n % 2 else None,
            answer=lambda n: letter(n) if n % 2 else "tea",
        ),
        "choice",
        "tea",
        columns={"options": "options"},
        keys={"kind": "{column: type, mc: choice, open: exact}", "primary": "right"},
    ),
    "two splits in one file": AuthorFile(
        "splits.json",
        rows(split=lambda n: "train" if n % 2 else "test", options=turned, answer=letter),
        stops="split",
    ),
    "one split in one file": AuthorFile(
        "split.json", rows(split="test", options=turned, answer=letter), "choice", "A"
    ),
    "double ids": AuthorFile("double.json", [*_MC, _MC[0]], stops="several rows share one"),
    # --- natural files
    "open questions": AuthorFile(
        "open.csv",
        rows(answer=lambda n: f"He pours tea into cup {n}, and then he leaves."),
        "open",
        "He pours tea into cup 0, and then he leaves.",
    ),
    "short answers": AuthorFile(
        "short.csv", rows(answer=lambda n: ["tea", "milk", "oil"][n % 3]), "exact", "tea"
    ),
    "yes and no": AuthorFile("yes.csv", rows(answer=lambda n: ["Yes", "no"][n % 2]), "choice", "A"),
    "sizes and notes beside the question": AuthorFile(
        "sizes.json",
        rows(
            options=turned,
            answer=letter,
            fps=25,
            width=640,
            height=480,
            frame_count=lambda n: 900 + n,
            duration=lambda n: 30.5 + n,
            notes=lambda n: f"checked by hand on day {n}",
            source="our own",
            difficulty=lambda n: ["easy", "hard"][n % 2],
        ),
        "choice",
        "A",
    ),
    "subtitles and a summary": AuthorFile(
        "subs.json",
        rows(
            options=turned,
            answer=letter,
            subtitles=lambda n: f"Hello {n}. And then we go.",
            summary=lambda n: f"A man makes tea, {n}.",
            url=lambda n: f"https://example.org/watch?v={n}",
        ),
        "choice",
        "A",
    ),
    "a span beside options": AuthorFile(
        "grounded.json",
        rows(options=turned, answer=letter, span=lambda n: [n, n + 3]),
        "grounded_choice",
        [0.0, 3.0],
    ),
    "why it is right": AuthorFile(
        "why.json",
        rows(options=turned, answer=letter, explanation=lambda n: f"The cup {n} stands in front."),
        "choice",
        "A",
    ),
}
