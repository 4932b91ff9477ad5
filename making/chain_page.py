"""A page that shows a chain on one video: who was asked what, what was said, what survived.

Plain HTML without a script, to be opened from the disk. All that models and sources wrote is escaped, and the page may
load nothing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reelbench.llm.reading import last_dictionary
from reelbench.making.discussion_files import QUESTION_KEYS
from reelbench.making.funnel_svg import to_svg
from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json, write_text

_COUNTED = {"bloom"}
"""Roles that are asked one thing of each text: read as figures, not one by one."""
_MADE = ("annotations.json", "rextime.json")
_FIRST = "single_pass.json"
_HEADS = "<tr><th scope='col'>Single pass</th><th scope='col'>Discussion</th></tr>"
_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>{title}</title>
<style>
:root { color-scheme: light dark; --line: #8886; --soft: #8881; --good: #00734f; --bad: #b3400a; }
@media (prefers-color-scheme: dark) { :root { --good: #4dd0a0; --bad: #ffa07a; } }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 0; }
section { border: 1px solid var(--line); border-radius: 8px; padding: .7rem 1rem; margin: 0 0 1rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--soft); padding: .6rem; border-radius: 6px;
 font: .9rem/1.45 ui-monospace, monospace; margin: .5rem 0; }
.about { color: GrayText; font-size: .85rem; margin: .2rem 0; overflow-wrap: anywhere; }
.unread h2::after { content: " · could not be used"; color: var(--bad); }
.made { border-color: var(--good); border-width: 2px; }
dt { font-weight: 600; margin-top: .6rem; } dd { margin: 0; overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; border-radius: 6px; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th, td { border: 1px solid var(--line); padding: .4rem .6rem; text-align: start; vertical-align: top;
 overflow-wrap: anywhere; }
del { color: var(--bad); } ins { color: var(--good); font-weight: 600; text-decoration: underline; }
</style>
"""


def write(folder: Path, video: str | None = None, out: Path | None = None) -> Path:
    """Write the page of one video, by default the first one, and return where it is.

    Args:
        folder: What a chain wrote.
        video: Its media key.
        out: The page's file; by default it is in `folder`, called after the video.

    Raises:
        InputError: The folder holds no chain, or not this video.
    """
    lines = list(_lines(folder / "trace.jsonl", video))
    if not lines:
        raise InputError(f"{folder / 'trace.jsonl'}: nothing was asked{f' for {video!r}' if video else ''}")
    name = lines[0]["video"]
    stages = read_json(folder / "funnel.json")["stages"]
    title = f"{name}: who said what"
    made = [entry for file in _MADE for entry in _made(folder / file, name)]
    first = list(_made(folder / _FIRST, name))
    shown = [line for line in lines if line["role"] not in _COUNTED]
    parts = [_HEAD.replace("{title}", escape(title)), f"<h1>{escape(title)}</h1>", *map(_section, shown)]
    if len(shown) < len(lines):
        parts.append(f"<p class='about'>and {len(lines) - len(shown)} levels of single texts, in trace.jsonl</p>")
    parts += [
        _beside(first, made) if first else _survived(made),
        "<section><h2>All videos</h2>",
        to_svg(stages),
        "</section>\n</html>\n",
    ]
    path = out or folder / f"{quote(name, safe='')}.html"
    write_text(path, "\n".join(parts))
    return path


def _lines(path: Path, video: str | None) -> Iterator[dict[str, Any]]:
    """Yield the lines of one video; the file, which may be long, is read line by line."""
    try:
        file = path.open(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror}); give the folder that a chain wrote") from None
    with file:
        for number, text in enumerate(file, start=1):
            try:
                line = json.loads(text)
                name = line["video"]
            except (ValueError, LookupError, TypeError):
                raise InputError(f"{path}, line {number}: not a line of a chain's trace; is the file whole?") from None
            video = name if video is None else video
            if name == video:
                yield line


def _made(path: Path, video: str) -> Iterator[Mapping[str, Any]]:
    if path.is_file():
        document = read_json(path)
        entries = document.values() if isinstance(document, dict) else document
        yield from (entry for entry in entries if video in (entry.get("video"), entry.get("vid")))


def _section(line: Mapping[str, Any]) -> str:
    where = [f"round {line['round']}"] if line.get("round") else []
    where += [f"attempt {line['attempt'] + 1}"] if line["attempt"] else []
    head = escape(" · ".join([line["role"].replace("_", " "), *where]))
    tokens = line["tokens"]
    about = f"{line['model'] or 'no model named'}, {tokens['prompt']} + {tokens['completion']} tokens"
    asked = "".join(
        f"<p class='about'>{escape(message['role'])}</p><pre>{escape(_content(message['content']))}</pre>"
        for message in line["messages"]
    )
    return (
        f"<section{'' if line['read'] else ' class=unread'}><h2>{head}</h2><p class='about'>{escape(about)}</p>"
        f"{_reply(line['reply'] or '(nothing)')}<details><summary>What was asked</summary>{asked}</details>"
        "</section>"
    )


def _reply(reply: str) -> str:
    """Return a reply as it came; of questions, these, and the reply to be opened."""
    raw = f"<pre>{escape(reply)}</pre>"
    whole = last_dictionary(reply) or {}
    entries = next((whole[key] for key in QUESTION_KEYS if isinstance(whole.get(key), list)), [])
    pairs = [entry for entry in entries if isinstance(entry, dict) and {"question", "answer"} <= entry.keys()]
    if not pairs or len(pairs) < len(entries):
        return raw
    shown = "".join(f"<dt>{escape(str(pair['question']))}</dt><dd>{escape(str(pair['answer']))}</dd>" for pair in pairs)
    return f"<dl>{shown}</dl><details><summary>The reply as it came</summary>{raw}</details>"


def _content(content: str | Sequence[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or f"[{part['type']}: {part[part['type']]['url']}]" for part in content)


def _beside(first: Sequence[Mapping[str, Any]], last: Sequence[Mapping[str, Any]]) -> str:
    """Return the single pass beside what came of it, question by question; words that one alone has are marked."""
    sets = [{entry["question_id"]: entry for entry in entries} for entries in (first, last)]
    rows = ""
    for name in sorted(sets[0].keys() | sets[1].keys()):
        pair = [entries.get(name) for entries in sets]
        cells: list[str] = ["", ""]
        for field in ("question", "answer"):
            before, after = ("" if entry is None else str(entry[field]) for entry in pair)
            marked = _marked(before, after) if all(pair) else [escape(before) or "(new)", escape(after) or "(dropped)"]
            cells = [f"{cell}<p>{text}</p>" for cell, text in zip(cells, marked, strict=True)]
        rows += (
            f"<dt>{escape(name)}</dt><dd><table>{_HEADS}<tr><td>{cells[0]}</td><td>{cells[1]}</td></tr></table></dd>"
        )
    return f"<section class='made'><h2>What survived, beside the single pass</h2><dl>{rows}</dl></section>"


def _marked(first: str, last: str) -> list[str]:
    """Return both texts as HTML, with the words that only one of them has marked."""
    words = first.split(), last.split()
    texts: list[list[str]] = [[], []]
    for change, *places in SequenceMatcher(None, *words, autojunk=False).get_opcodes():
        for side, tag in enumerate(("del", "ins")):
            part = escape(" ".join(words[side][places[2 * side] : places[2 * side + 1]]))
            if part:
                texts[side].append(part if change == "equal" else f"<{tag}>{part}</{tag}>")
    return [" ".join(parts) for parts in texts]


def _survived(made: Sequence[Mapping[str, Any]]) -> str:
    if not made:
        return "<section class='made'><h2>Nothing survived</h2></section>"
    pairs = "".join(
        f"<dt>{escape(entry['question'])}</dt><dd>{escape(entry['answer'])}</dd>"
        + "".join(f"<dd>· {escape(option)}</dd>" for option in entry.get("options", ()))
        for entry in made
    )
    return f"<section class='made'><h2>What survived</h2><dl>{pairs}</dl></section>"
