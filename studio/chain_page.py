"""A page that shows a chain on one video: what survived, who said what, and what came through of all videos.

To be opened from the disk; it reads without its script, which is for light and dark. All that models and sources wrote
is escaped, and the page may load nothing.
"""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from reelbench.pages.shell_page import page_asset, page_head, shell_page
from reelbench.registry.errors import InputError, number_of
from reelbench.registry.files import write_text
from reelbench.registry.rows import LETTERS
from reelbench.studio import compared_sets
from reelbench.studio.chain_files import comparison, funnel_stages, made_questions, trace_lines
from reelbench.studio.chain_text import (
    Span,
    clock,
    named,
    paragraph,
    side_by_side,
    strip,
)
from reelbench.studio.chain_turns import texts_left, turns, verdicts

_COUNTED = {"bloom"}
"""Roles that are asked one thing of each text: read as figures, not one by one."""
_MADE = ("annotations.json", "rextime.json")
_FIRST = "single_pass.json"
_REASONS = {
    "unparsable": "unreadable reply",
    "unavailable": "no reply",
    "none": "no event beside it",
    "media_missing": "video missing",
    "media_unreadable": "unreadable video",
}
"""Reasons in words, where their own name isn't one."""
_LINKS = (("#survived", "What survived"), ("#said", "Who said what"), ("#videos", "All videos"))


def write(folder: Path, video: str | None = None, out: Path | None = None) -> Path:
    """Write the page of one video, by default the first one, and return where it is.

    Args:
        folder: What a chain wrote.
        video: Its media key.
        out: The page's file; by default it is in `folder`, called after the video.

    Raises:
        InputError: The folder holds no chain, or not this video, or a file of it is damaged.
    """
    lines = list(trace_lines(folder / "trace.jsonl", video))
    if not lines:
        raise InputError(f"{folder / 'trace.jsonl'}: nothing was asked{f' for {video!r}' if video else ''}")
    name = lines[0]["video"]
    made = [entry for file in _MADE for entry in made_questions(folder / file, name)]
    first = list(made_questions(folder / _FIRST, name))
    said = [line for line in lines if line["role"] not in _COUNTED]
    length = max((float(entry.get("duration") or 0) for entry in made), default=0.0)
    compared = comparison(folder / "comparison.json")
    head = "What survived" if made else "Nothing survived"
    body = [
        f"<h1>What was made of <bdi>{escape(name)}</bdi></h1>",
        f"<p class='lead'>{_summary(made, first, said)}</p>",
        f"<section id='survived' aria-labelledby='h-survived'><h2 id='h-survived'>{head}</h2>",
        _beside(first, made) if first else _survived(made),
        "</section>",
        "<section id='said' aria-labelledby='h-said'><h2 id='h-said'>Who said what</h2>",
        turns(said, length),
        texts_left([line for line in lines if line["role"] in _COUNTED]),
        "</section>",
        compared_sets.section(compared) if compared else "",
        "<section id='videos' aria-labelledby='h-videos'><h2 id='h-videos'>All videos</h2>",
        _funnel(funnel_stages(folder / "funnel.json")),
        "</section>",
    ]
    style = page_asset("chain_page.css", "studio")
    path = out or folder / f"{quote(name, safe='')}.html"
    write_text(path, shell_page(f"{name}: what was made of it", "\n".join(body), style=style, head=page_head(_LINKS)))
    return path


# --- the result -------------------------------------------------------------------------------------------------------


def _summary(
    made: Sequence[Mapping[str, Any]], first: Sequence[Mapping[str, Any]], lines: Sequence[Mapping[str, Any]]
) -> str:
    """Return the result in a sentence or three."""
    shown = [f"{number_of(len(made), 'question')} came of {number_of(len(lines), 'reply', 'replies')}."]
    drafts = {entry["question_id"]: entry for entry in first}
    if drafts:
        kept = [entry for entry in made if entry["question_id"] in drafts]
        changed = sum(_changed(drafts[entry["question_id"]], entry) != "" for entry in kept)
        shown.append(f"The discussion changed {changed} of {number_of(len(drafts), 'draft')}.")
    sides = verdicts(lines)
    if sides and sides[0] and len(set(sides)) == 1:
        shown.append(f"The judge prefers {escape(sides[0])}{', whichever is shown first' if len(sides) > 1 else ''}.")
    elif sides:
        shown.append("The judge prefers neither set in both orders.")
    return " ".join(shown)


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return which of a question's texts are not as they were."""
    return " and ".join(field for field in ("question", "answer") if before[field] != after[field])


def _beside(first: Sequence[Mapping[str, Any]], last: Sequence[Mapping[str, Any]]) -> str:
    """Return the single pass beside what came of it, question by question."""
    drafts, made = ({entry["question_id"]: entry for entry in entries} for entries in (first, last))
    rows = ""
    for name in sorted(drafts.keys() | made.keys(), key=lambda name: (len(name), name)):
        before, after = drafts.get(name), made.get(name)
        if before and after:
            change = _changed(before, after)
            badge = f"{change} changed" if change else "as drafted"
            content = _both(before, after) if change else _written(after)
        else:
            badge = "new" if after else "dropped"
            content = _written(after or before or {})
        rows += f"<dt>{escape(name)} <span class='badge'>{badge}</span></dt><dd>{content}{_more(after or {})}</dd>"
    return f"<dl class='card made'>{rows}</dl>"


def _written(entry: Mapping[str, Any]) -> str:
    return paragraph(str(entry["question"]), "asked") + paragraph(str(entry["answer"]))


def _both(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    sides = ["<p class='sub'>Draft (single pass)</p>", "<p class='sub'>Refined (discussion)</p>"]
    for field, kind in (("question", "said asked"), ("answer", "said")):
        for place, text in enumerate(side_by_side(str(before[field]), str(after[field]))):
            sides[place] += f"<p class='{kind}' dir='auto'>{text}</p>"
    return f"<div class='pair'><div>{sides[0]}</div><div>{sides[1]}</div></div>"


def _more(entry: Mapping[str, Any]) -> str:
    """Return what else a question of MovieCORE's shape says."""
    short, kind = entry.get("short_answer"), entry.get("classification")
    parts = [f"Short answer: <span dir='auto'>{escape(short)}</span>"] if short else []
    parts += [f"Kind: {named(kind)}"] if kind else []
    return f"<p class='sub'>{' · '.join(parts)}</p>" if parts else ""


def _survived(made: Sequence[Mapping[str, Any]]) -> str:
    shown = ""
    for entry in made:
        category = f" <span class='badge'>{named(entry['category'])}</span>" if entry.get("category") else ""
        shown += f"<dt dir='auto'>{escape(entry['question'])}{category}</dt><dd>{_options(entry)}{_answer(entry)}</dd>"
    return f"<dl class='card made'>{shown}</dl>" if made else ""


def _options(entry: Mapping[str, Any]) -> str:
    shown = ""
    for letter, option in zip(LETTERS, entry.get("options") or (), strict=False):
        kind, sign = (" class='right'", " ✓") if letter == entry.get("ans") else ("", "")
        shown += f"<li{kind}><span class='sub'>{letter}{sign}</span> <span dir='auto'>{escape(option)}</span></li>"
    return f"<ul class='options'>{shown}</ul>" if shown else ""


def _answer(entry: Mapping[str, Any]) -> str:
    """Return a question's answer, its times in it, and where both lie in the video."""
    spans: dict[str, Span] = {}
    for name, key in (("Asked about", "question_span"), ("Answer", "span")):
        if entry.get(key):
            start, end = entry[key]
            spans[name] = (float(start), float(end))
    answer = str(entry["answer"])
    if "Answer" in spans:
        for mark, time in zip(("<s0>", "<e0>"), spans["Answer"], strict=True):
            answer = answer.replace(mark, clock(time))
    return paragraph(answer) + strip(spans, float(entry.get("duration") or 0))


# --- all videos -------------------------------------------------------------------------------------------------------


def _funnel(stages: Sequence[Mapping[str, Any]]) -> str:
    rows = ""
    for stage in stages:
        share = 100 * stage["out"] / stage["in"] if stage["in"] else 0
        losses = ", ".join(
            f"{named(str(_REASONS.get(reason, reason)))} {count:,}" for reason, count in stage["dropped"].items()
        )
        rows += (
            f"<tr><th scope='row'>{named(stage['name'])}</th>"
            f"<td class='wide'><span class='lane share'><i class='fill' style='width:{share:.2f}%'></i></span></td>"
            f"<td class='n'>{stage['out']:,} of {stage['in']:,}</td><td>{losses or '–'}</td></tr>"
        )
    heads = "<th scope='col'>Stage</th><th scope='col' colspan='2'>Came through</th><th scope='col'>Dropped</th>"
    return (
        "<section class='card scroll' tabindex='0' aria-label='Stages'><table>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></section>"
    )
