"""Writing what people look at as a page, or as one page for each of several raters."""

import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from reelbench.pages.shell_page import in_script, page_asset
from reelbench.registry.errors import InputError
from reelbench.registry.files import write_text
from reelbench.registry.media.library import Library
from reelbench.registry.progress import Bar, no_bar
from reelbench.studio.review import page_videos
from reelbench.studio.review.review_items import Place
from reelbench.studio.review.review_kind import KIND, Content, Draw

Clips = Literal["page", "folder"]
"""Where the clips of a page that is to be sent are: in it, or beside it in its folder."""

_SAVED = "What you say is kept in this browser at once. Save it to a file when you are done, or in between."
_SCRIPTS = ("state.js", "text_checks.js", "player.js", "asks.js", "graph_ask.js", "page.js")


@dataclass(frozen=True, slots=True)
class WrittenPages:
    """Written pages: where they are, what is on them all, and the videos that are not here."""

    paths: tuple[Path, ...]
    videos: int
    questions: int
    missing: tuple[str, ...]

    @property
    def path(self) -> Path:
        """The first page."""
        return self.paths[0]


def share_among_raters(places: Sequence[Place], draw: Draw) -> list[list[Place]]:
    """Return each rater's places: every video goes to `overlap` raters, who get about the same number of items.

    InputError where there are fewer raters than that.
    """
    if draw.overlap > draw.raters:
        raise InputError(f"--overlap {draw.overlap} asks for more raters than --raters {draw.raters} gives")
    if draw.raters == 1:
        return [list(places)]
    sizes: dict[str, int] = {}
    for place in places:
        sizes[place.video] = sizes.get(place.video, 0) + len(place.items)
    chance = random.Random(draw.seed)  # noqa: S311 - no secret
    load = [0] * draw.raters
    given: dict[str, set[int]] = {}
    for video, size in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])):
        order = sorted(range(draw.raters), key=lambda rater: (load[rater], chance.random()))[: draw.overlap]
        given[video] = set(order)
        for rater in order:
            load[rater] += size
    parts = [[place for place in places if rater in given[place.video]] for rater in range(draw.raters)]
    if not all(parts):
        raise InputError(f"{len(sizes)} videos are too few for {draw.raters} raters; draw more, or ask fewer people")
    return parts


def write(
    content: Content,
    output: Path,
    draw: Draw,
    *,
    data: Path | None = None,
    clips: Clips | None = None,
    media_url: str | None = None,
    note: Callable[[str], None] = lambda _: None,
    bar: Bar = no_bar,
) -> WrittenPages:
    """Write the pages of a draw: to a file, or with clips in a folder to one.

    `clips` says where small clips of the videos go, if anywhere. `media_url` stands before a video's path: an address
    from which pages play them; without it they play those that lie beside them, and reviewers choose the others from
    their own disks. `note` is told what can't be read.

    Raises:
        InputError: The benchmark forbids clips of its videos, or they are more than a page holds.
    """
    said = page_videos.terms(content.spec, content.split) if clips else ""
    parts = share_among_raters(content.places, draw)
    library = Library(content.spec, content.split, data)
    paths = {video: page_videos.find_video(library, row) for video, row in content.rows.items()}
    first = output / "review.html" if clips == "folder" else output
    single = draw.raters == 1
    outputs = [first] if single else [first.with_stem(f"{first.stem}-{n}") for n in range(1, draw.raters + 1)]
    with TemporaryDirectory(prefix="reelbench-review-") as aside:
        shown, made = {}, None
        if clips:
            most = page_videos.PAGE_BYTES if clips == "page" else None
            made = page_videos.cut(parts, paths, Path(aside), most=most, note=note, bar=bar)
            shown = made.in_folder(output) if clips == "folder" else {}
        else:
            for video, path in paths.items():
                named = page_videos.path_in_library(library, content.rows[video], path)
                source = None if media_url is None else media_url + quote(named)
                shown[video] = page_videos.describe_video(path, output, source, strips=draw.strips, note=note)
            sources = [facts["source"] for facts in shown.values()]
            said = f"The films come from {media_url}"
            if media_url is None and all(sources):
                said = "The films lie beside this page: move or send both together."
            elif media_url is None:
                some = "Some films lie beside this page; the others" if any(sources) else "The films"
                said = f"{some} are chosen by you, from your own disk: several at once are told apart by their names."
        page = fingerprint(content)
        for part, (places, path) in enumerate(zip(parts, outputs, strict=True), start=1):
            videos, elements = shown, ""
            if made is not None and clips == "page":
                videos, elements = made.in_page(dict.fromkeys(place.video for place in places))
            document = _document(content, places, videos, page, None if single else part) | {"terms": said}
            assets = {name: page_asset(name, "studio.review") for name in ("page.html", "page.css", *_SCRIPTS)}
            styles = [page_asset("palette.css"), page_asset("shell.css"), assets["page.css"]]
            text = assets["page.html"].replace("/*STYLE*/", "\n".join(style.rstrip() for style in styles))
            scripts = [page_asset("elements.js"), page_asset("shell.js"), *(assets[name] for name in _SCRIPTS)]
            text = text.replace("/*SCRIPT*/", "\n".join(script.rstrip() for script in scripts)).replace(
                "<!--CLIPS-->", elements
            )
            server = urlsplit(media_url or "")
            if server.scheme in ("http", "https"):
                text = text.replace(
                    "media-src 'self'", f"media-src 'self' {escape(f'{server.scheme}://{server.netloc}')}", 1
                )
            # Last, so that nothing in a text is taken for one of ours.
            write_text(path, text.replace("/*REVIEW*/null", in_script(document), 1))
    items = [item for place in content.places for item in place.items if item["part"] != "caption"]
    questions = len({item["about"].get("question", item["id"]) for item in items})
    missing = tuple(video for video, path in paths.items() if path is None)
    return WrittenPages(tuple(outputs), len(paths), questions, missing)


def fingerprint(content: Content) -> str:
    """Return a draw's fingerprint; of a blind page it is made of nothing that the page doesn't show.

    Where videos lie differs between reviewers' machines; what is reviewed doesn't.
    """
    shown = [[place.video, place.items] for place in content.places]
    text = json.dumps([content.kind.name, content.spec.id, content.split, shown], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _document(
    content: Content, places: Sequence[Place], shown: Mapping[str, Any], page: str, part: int | None
) -> dict[str, Any]:
    kind = content.kind
    title, unit, advice = kind.title, kind.unit, kind.advise(content.spec)
    if content.consensus:
        advice = kind.consensus_advice or advice
        title, unit = f"Consensus on {title.lower()}", kind.consensus_unit or unit
    count = len({place.video for place in places}) if unit == "Video" else len(places)
    number = f"{count} {unit.lower()}{'s' if count > 1 else ''}"
    return {
        "kind": KIND,
        "schema_version": 1,
        "page": page,
        "part": part,
        "consensus": content.consensus,
        "ask": kind.name,
        "benchmark": content.spec.id,
        "split": content.split,
        "heading": f"{title}: {content.spec.title}, {content.split}, {number}" + (f" (rater {part})" if part else ""),
        "unit": unit,
        "verb": "decided" if content.consensus else kind.verb,
        "advice": [*advice, _SAVED],
        "videos": {place.video: shown[place.video] for place in places},
        "places": [
            {"id": place.label, "label": place.label, "video": place.video, "items": place.items} for place in places
        ],
    }
