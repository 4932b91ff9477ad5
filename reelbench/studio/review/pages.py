"""Writing what people look at as a page, or as one page for each of several raters; and a page's videos.

A page holds no path of the machine that made it: films lie beside it, come from an address that its
maker names, or are chosen by each reviewer from the own disk. Where a browser can't play a video,
the page shows frames of it from our store instead, each at its own time.

Small clips may travel with a page. Videos are their owners': clips are made only where the user
says so, for the reviewers alone, and never of a benchmark whose owners forbid it; the page says
what may be done with them.
"""

import base64
import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from reelbench.base.errors import InputError, MediaError
from reelbench.base.files import address, write_text
from reelbench.base.progress import Bar, no_bar
from reelbench.pages.shell_page import in_script, page_asset
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini
from reelbench.studio.review.review_items import Place
from reelbench.studio.review.review_kind import KIND, Content, Draw
from reelbench.video import playable
from reelbench.video.library import Library

Clips = Literal["page", "folder"]
"""Where the clips of a page that is to be sent are: in it, or beside it in its folder."""

_SAVED = "What you say is kept in this browser at once. Save it to a file when you are done, or in between."
_ROOM = "studio.review"
_SCRIPTS = ("state.js", "text_checks.js", "player.js", "asks.js", "graph_ask.js", "page.js")


@dataclass(frozen=True, slots=True)
class WrittenPages:
    """Written pages: where they are, what is on them all, and the videos that are not here."""

    paths: tuple[Path, ...]
    videos: int
    questions: int
    missing: tuple[str, ...]


def share_among_raters(places: Sequence[Place], draw: Draw) -> list[list[Place]]:
    """Return each rater's places: every video goes to `overlap` raters, who get about the same number of items.

    InputError where there are fewer raters than that.
    """
    if draw.overlap > draw.raters:
        raise InputError(
            f"--overlap {draw.overlap} asks for more raters than --raters {draw.raters} gives"
        )
    if draw.raters == 1:
        return [list(places)]
    sizes: dict[str, int] = {}
    for place in places:
        sizes[place.video] = sizes.get(place.video, 0) + len(place.items)
    chance = random.Random(draw.seed)  # noqa: S311 - no secret
    load = [0] * draw.raters
    given: dict[str, set[int]] = {}
    for video, size in sorted(sizes.items(), key=lambda pair: (-pair[1], pair[0])):
        order = sorted(range(draw.raters), key=lambda rater: (load[rater], chance.random()))[
            : draw.overlap
        ]
        given[video] = set(order)
        for rater in order:
            load[rater] += size
    parts = [
        [place for place in places if rater in given[place.video]] for rater in range(draw.raters)
    ]
    if not all(parts):
        raise InputError(
            f"{len(sizes)} videos are too few for {draw.raters} raters; draw more, or ask fewer people"
        )
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

    `clips` says where small clips of the videos go, if anywhere. `media_url` stands before a
    video's path: an address from which pages play them; without it they play those that lie beside
    them, and reviewers choose the others from their own disks. `note` is told what can't be read.

    Raises:
        InputError: The benchmark forbids clips of its videos, or they are more than a page holds.
    """
    said = terms(content.spec, content.split) if clips else ""
    parts = share_among_raters(content.places, draw)
    library = Library(content.spec, content.split, data)
    paths = {video: find_video(library, row) for video, row in content.rows.items()}
    first = output / "review.html" if clips == "folder" else output
    single = draw.raters == 1
    outputs = (
        [first]
        if single
        else [first.with_stem(f"{first.stem}-{n}") for n in range(1, draw.raters + 1)]
    )
    page = fingerprint(content)
    with TemporaryDirectory(prefix="reelbench-review-") as aside:
        folder = output / _CLIPS if clips == "folder" else Path(aside)
        if clips:
            shown = cut_clips(parts, paths, folder, clips=clips, note=note, bar=bar)
        else:
            shown: dict[str, Facts] = {}
            for video, path in paths.items():
                named = library.path_below_root(content.rows[video], path)
                source = None if media_url is None else media_url + quote(named)
                shown[video] = describe_video(path, output, source, strips=draw.strips, note=note)
            said = _where_films_lie(media_url, [facts["source"] for facts in shown.values()])
        text = _page(media_url)
        for part, (places, path) in enumerate(zip(parts, outputs, strict=True), start=1):
            document = _document(content, places, shown, page, None if single else part) | {
                "terms": said
            }
            elements = []
            for video in dict.fromkeys(place.video for place in places) if clips == "page" else ():
                if name := shown[video]["source"]:
                    number = str(name).removeprefix(_IN_PAGE)
                    held = base64.b64encode((folder / f"{number}.mp4").read_bytes()).decode()
                    elements.append(f'<script type="text/plain" id="clip-{number}">{held}</script>')
            # The document last, so that nothing in a text is taken for one of ours.
            whole = text.replace("<!--CLIPS-->", "\n".join(elements))
            write_text(path, whole.replace("/*REVIEW*/null", in_script(document), 1))
    items = [item for place in content.places for item in place.items if item["part"] != "caption"]
    questions = len({item["about"].get("question", item["id"]) for item in items})
    missing = tuple(video for video, path in paths.items() if path is None)
    return WrittenPages(tuple(outputs), len(paths), questions, missing)


def _where_films_lie(media_url: str | None, sources: Sequence[object]) -> str:
    if media_url is not None:
        return f"The films come from {media_url}"
    if all(sources):
        return "The films lie beside this page: move or send both together."
    some = "Some films lie beside this page; the others" if any(sources) else "The films"
    return f"{some} are chosen by you, from your own disk: several at once are told apart by their names."


def _page(media_url: str | None) -> str:
    """Return the page without what it shows; films may come from the server of `media_url`."""
    shared, own = ("palette.css", "shell.css", "elements.js", "shell.js"), ("page.css", *_SCRIPTS)
    assets = [(name, page_asset(name)) for name in shared] + [
        (name, page_asset(name, _ROOM)) for name in own
    ]
    text = page_asset("page.html", _ROOM)
    for mark, ending in (("/*STYLE*/", ".css"), ("/*SCRIPT*/", ".js")):
        text = text.replace(
            mark, "\n".join(asset.rstrip() for name, asset in assets if name.endswith(ending))
        )
    server = urlsplit(media_url or "")
    if server.scheme in ("http", "https"):
        text = text.replace(
            "media-src 'self'",
            f"media-src 'self' {escape(f'{server.scheme}://{server.netloc}')}",
            1,
        )
    return text


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
        "heading": f"{title}: {content.spec.title}, {content.split}, {number}"
        + (f" (rater {part})" if part else ""),
        "unit": unit,
        "verb": "decided" if content.consensus else kind.verb,
        "advice": [*advice, _SAVED],
        "videos": {place.video: shown[place.video] for place in places},
        "places": [
            {"id": place.label, "label": place.label, "video": place.video, "items": place.items}
            for place in places
        ],
    }


# --- videos
# -----------------------------------------------------------------------------------------------------------

Facts = Mapping[str, object]
"""What a page knows of a video."""

_PLAYED = frozenset({"h264", "vp8", "vp9", "av1"})
_PLAYED_IN = frozenset({".mp4", ".m4v", ".webm"})
NOT_HERE: Facts = {"source": None, "name": None, "fps": None, "duration": None, "strip": None}
"""What a page knows of a video that was not here when it was made."""
STRIP = "uniform:48,size=240,as=images"
"""Frames of a strip."""


def find_video(library: Library, row: Row) -> Path | None:
    """Return the row's video as one file, or None where it is missing or can't be read."""
    try:
        return library.clip(row)
    except MediaError:
        return None


def read_rate(path: Path) -> tuple[float | None, bool]:
    """Return a video's frames per second, where its header says, and whether common browsers play it.

    MediaError where it is no video.
    """
    from reelbench.video.frame_index import open_container, video_stream

    with closing(open_container(path)) as container:
        stream = video_stream(container, path)
        rate = stream.average_rate or stream.guessed_rate
        plays = stream.codec_context.name in _PLAYED and path.suffix.lower() in _PLAYED_IN
        return float(rate) if rate else None, plays


def describe_video(
    path: Path | None, page: Path, source: str | None, *, strips: bool, note: Callable[[str], None]
) -> Facts:
    """Return the page's facts on a video (None: not here): `source`, `fps`, `duration`, `strip` of (source, seconds).

    `source` is its address where its maker names one, else it lies beside the page or has none.
    `strips` gives a strip, which lies beside the page, also to videos that browsers play; `note` is
    told what can't be read.
    """
    if path is None:
        return {**NOT_HERE, "source": source}
    beside = path.absolute().is_relative_to(page.absolute().parent)
    facts = {
        **NOT_HERE,
        "source": source or (address(path, page) if beside else None),
        "name": path.name,
    }
    strip: list[tuple[str, float]] | None = None
    try:
        (fps, plays), duration = read_rate(path), playable.seconds(path)
        if strips or not plays:
            from reelbench.video import take

            frames = take(path, STRIP)
            folder = page.parent / f"{page.stem}-frames" / path.stem
            folder.mkdir(parents=True, exist_ok=True)
            strip = []
            for image, time in zip(frames.images, frames.timestamps, strict=True):
                # A copy: the store may drop its own at any time, and the page may be sent elsewhere
                # with its folder.
                copy = folder / image.name
                shutil.copyfile(image, copy)
                strip.append((address(copy, page), round(time, 3)))
    except MediaError as error:
        note(str(error))
        return facts
    return {**facts, "fps": fps, "duration": duration, "strip": strip}


PAGE_BYTES = 18_000_000
"""Most bytes of clips in one page: as text they are a third more, and a mail of 25 MB still arrives nearly anywhere."""
MARGIN = 15.0
"""Seconds that a cut clip has before and behind what its questions are about."""
_CLIPS, _IN_PAGE = "clips", "clip:"
"""Where clips lie beside a page; what stands before the number of one that is in the page."""


def terms(spec: BenchmarkSpec, split: str) -> str:
    """Return the terms of a page with clips; InputError where the benchmark's owners forbid passing on videos."""
    if not spec.open_data and not is_mini(split):
        raise InputError(
            f"--embed: clips of {spec.title} may not be passed on. {spec.license_note} Leave --embed out: on the page "
            "people choose their own copy of each video"
        )
    return (
        f"The clips of {spec.title} on this page belong to their owners. They are only for the page's reviewers. Give "
        "them to nobody, and delete them when you have sent your file."
    )


def window(places: Iterable[Place]) -> tuple[float, float | None]:
    """Return from when to when a video is needed, in seconds; None is its end.

    Where each question shows its time and asks for none, these times with `MARGIN` about them; else
    the whole video.
    """
    items = [item for place in places for item in place.items]
    shown = [[show["span"] for show in item["shows"] if show["type"] == "span"] for item in items]
    if not all(shown) or any(ask["type"] == "span" for item in items for ask in item["asks"]):
        return 0.0, None
    spans = [span for of_item in shown for span in of_item]
    return max(0.0, min(start for start, _ in spans) - MARGIN), max(
        end for _, end in spans
    ) + MARGIN


def cut_clips(
    parts: Sequence[Sequence[Place]],
    videos: Mapping[str, Path | None],
    folder: Path,
    *,
    clips: Clips,
    note: Callable[[str], None],
    bar: Bar = no_bar,
) -> dict[str, Facts]:
    """Cut a clip of each video (media key -> file, None where it is not here) to what its questions need.

    They are called by numbers in `folder`. `parts` are each rater's places, `note` is told what
    can't be read. Returns what a page knows of each video.

    Raises:
        InputError: The clips of one rater's page would hold more than `PAGE_BYTES`.
    """
    from reelbench.video.excerpt import write_excerpt

    folder.mkdir(parents=True, exist_ok=True)
    held = [0] * len(parts)
    shown: dict[str, Facts] = dict.fromkeys(videos, NOT_HERE)
    with bar("cutting clips", len(videos)) as show:
        for number, (video, source) in enumerate(videos.items(), 1):
            target = folder / f"{number}.mp4"
            start, end = window(
                place for places in parts for place in places if place.video == video
            )
            try:
                made = write_excerpt(source, target, start, end) if source else None
            except MediaError as error:
                target.unlink(missing_ok=True)
                note(str(error))
                made = None
            if made:
                named = f"{_IN_PAGE}{number}" if clips == "page" else f"{_CLIPS}/{target.name}"
                about = {"source": named, "fps": made.fps, "duration": made.end, "from": made.start}
                shown[video] = {**NOT_HERE, **about}
                for part, places in enumerate(parts):
                    held[part] += (
                        any(place.video == video for place in places) and target.stat().st_size
                    )
                if clips == "page" and max(held) > PAGE_BYTES:
                    raise InputError(
                        f"--embed: after {number} of {len(videos)} videos the clips take {max(held) / 1e6:.0f} MB, "
                        f"more than the {PAGE_BYTES / 1e6:.0f} MB that a page to be mailed may hold; add --as folder "
                        "(a folder to zip), draw fewer videos (--sample), or share them among more people (--raters)"
                    )
            show(number, video)
    return shown
