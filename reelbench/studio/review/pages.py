"""The writing of a review page, or of one page for each of several raters, with its videos.

A page holds no path of the machine that made it: films lie beside it, come from an address that its
maker names, or are chosen by each reviewer from their own disk. Where a browser can't play a video,
the page shows frames of it from our store instead, each at its own time.

Small clips may travel with a page. Videos are their owners': clips are made only where the user
says so, for the reviewers alone, and never of a benchmark whose owners forbid it. The page says
what may be done with them.
"""

import base64
import hashlib
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from reelbench.base.errors import InputError, MediaError
from reelbench.base.files import address, write_text
from reelbench.base.progress import Bar, no_bar
from reelbench.pages.shell_page import in_script, page_asset, script_hash
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini
from reelbench.studio.review.review_items import Place
from reelbench.studio.review.review_kind import KIND, Content, Draw
from reelbench.video import playable
from reelbench.video.library import Library
from reelbench.video.row_frames import clip_of_row

if TYPE_CHECKING:
    from reelbench.video.excerpt import Excerpt

Clips = Literal["page", "folder"]
"""The place of the clips of a page that is to be sent: in it, or beside it in its folder."""

Facts = Mapping[str, object]
"""The page's facts on a video: `source`, `name`, `fps`, `duration`, `strip`."""

_SAVED = (
    "Your answers are saved in this browser as you give them. Save them to a file when you are "
    "done, or at any time."
)
_ROOM = "studio.review"
_SHARED_ASSETS = ("palette.css", "shell.css", "elements.js", "shell.js")
_OWN_ASSETS = (
    "page.css",
    "state.js",
    "text_checks.js",
    "player.js",
    "asks.js",
    "graph_ask.js",
    "page.js",
)


@dataclass(frozen=True, slots=True)
class WrittenPages:
    """Written pages: their paths, numbers on all, and videos that are not here."""

    paths: tuple[Path, ...]
    videos: int
    questions: int
    missing: tuple[str, ...]


# --- raters
# -------------------------------------------------------------------------------------------------


def share_among_raters(places: Sequence[Place], draw: Draw) -> list[list[Place]]:
    """Return each rater's places.

    Every video goes to `overlap` raters, who get about the same number of items.

    Raises:
        InputError: There are fewer raters than that, or too few videos.
    """
    if draw.overlap > draw.raters:
        raise InputError(
            f"--overlap {draw.overlap} asks for more raters than --raters {draw.raters} gives"
        )
    if draw.raters == 1:
        return [list(places)]
    raters_of = _raters_of_videos(places, draw)
    shares: list[list[Place]] = []
    for rater in range(draw.raters):
        share = [place for place in places if rater in raters_of[place.video]]
        if not share:
            raise InputError(
                f"{len(raters_of)} videos are too few for {draw.raters} raters; "
                "draw more, or ask fewer people"
            )
        shares.append(share)
    return shares


def _raters_of_videos(places: Sequence[Place], draw: Draw) -> dict[str, list[int]]:
    """Give videos, those with most items first, to the least busy raters."""
    items_of_video: Counter[str] = Counter()
    for place in places:
        items_of_video[place.video] += len(place.items)
    largest_first = sorted(items_of_video, key=lambda video: (-items_of_video[video], video))
    chance = random.Random(draw.seed)  # noqa: S311 - no secret
    items_of_rater = [0] * draw.raters
    raters_of_video: dict[str, list[int]] = {}
    for video in largest_first:
        # Raters with equally many items stand in an order of chance.
        ranks = [(items, chance.random()) for items in items_of_rater]
        least_busy_first = sorted(range(draw.raters), key=ranks.__getitem__)
        raters = least_busy_first[: draw.overlap]
        raters_of_video[video] = raters
        for rater in raters:
            items_of_rater[rater] += items_of_video[video]
    return raters_of_video


# --- pages
# -------------------------------------------------------------------------------------------------


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
    """Write the pages of a draw to a file, or with clips to a folder.

    Args:
        content: The content of the pages.
        output: The file, or the folder.
        draw: The raters and their shares.
        data: The benchmark's own data.
        clips: The place of small clips of the videos, if any.
        media_url: An address before the videos' paths, from which pages play them. Without it they
            play those that lie beside them, and reviewers choose the others from their own disks.
        note: Is told of videos that can't be read.
        bar: Shows the progress of the clips.

    Raises:
        InputError: The benchmark forbids clips of its videos, or they are more than a page holds.
    """
    clip_terms = terms(content.spec, content.split) if clips else ""
    shares = share_among_raters(content.places, draw)
    library = Library(content.spec, content.split, data)
    paths = {video: find_video(library, row) for video, row in content.rows.items()}
    page_paths = _page_paths(output, draw, clips)
    with TemporaryDirectory(prefix="reelbench-review-") as temporary:
        folder = output / _CLIPS if clips == "folder" else Path(temporary)
        if clips:
            facts = cut_clips(shares, paths, folder, clips=clips, note=note, bar=bar)
            media_note = clip_terms
        else:
            facts: dict[str, Facts] = {}
            for video, path in paths.items():
                source = None
                if media_url is not None:
                    below_root = library.path_below_root(content.rows[video], path)
                    source = media_url + quote(below_root)
                facts[video] = describe_video(path, output, source, strips=draw.strips, note=note)
            media_note = _where_films_lie(media_url, [about["source"] for about in facts.values()])
        template = _page_template(media_url)
        page_id = fingerprint(content)
        for number, (places, path) in enumerate(zip(shares, page_paths, strict=True), start=1):
            part = None if draw.raters == 1 else number
            document = _page_document(content, places, facts, page_id, part)
            document["terms"] = media_note
            elements = _clip_elements(places, facts, folder) if clips == "page" else []
            # The document last, so that nothing in a text is taken for a mark.
            page = template.replace("<!--CLIPS-->", "\n".join(elements))
            page = page.replace("/*REVIEW*/null", in_script(document), 1)
            write_text(path, _with_own_script_alone(page))
    missing = tuple(video for video, path in paths.items() if path is None)
    return WrittenPages(tuple(page_paths), len(paths), _question_count(content), missing)


def _with_own_script_alone(page: str) -> str:
    """Return the page with the hash of its script, beside which none runs."""
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    return page.replace("SCRIPT-HASH", script_hash(script), 1)


def _page_paths(output: Path, draw: Draw, clips: Clips | None) -> list[Path]:
    path = output / "review.html" if clips == "folder" else output
    if draw.raters == 1:
        return [path]
    return [path.with_stem(f"{path.stem}-{number}") for number in range(1, draw.raters + 1)]


def _clip_elements(places: Iterable[Place], facts: Mapping[str, Facts], folder: Path) -> list[str]:
    """Return the clips of a rater's videos as elements of the page."""
    elements: list[str] = []
    for video in dict.fromkeys(place.video for place in places):
        source = facts[video]["source"]
        if source:
            number = str(source).removeprefix(_IN_PAGE)
            clip = (folder / f"{number}.mp4").read_bytes()
            text = base64.b64encode(clip).decode()
            elements.append(f'<script type="text/plain" id="clip-{number}">{text}</script>')
    return elements


def _question_count(content: Content) -> int:
    questions: set[object] = set()
    for place in content.places:
        for item in place.items:
            if item["part"] != "caption":
                questions.add(item["about"].get("question", item["id"]))
    return len(questions)


def _where_films_lie(media_url: str | None, sources: Sequence[object]) -> str:
    if media_url is not None:
        return f"The films come from {media_url}"
    if all(sources):
        return "The films are next to this page: move or send both together."
    films = "The films"
    if any(sources):
        films = "Some films are next to this page; the others"
    return (
        f"{films} are on your own disk: choose them here. You can choose several at once; they "
        "are matched by name."
    )


def _page_template(media_url: str | None) -> str:
    """Return the page without its content.

    Films may come from the server of `media_url`.
    """
    styles: list[str] = []
    scripts: list[str] = []
    for name in (*_SHARED_ASSETS, *_OWN_ASSETS):
        asset = page_asset(name) if name in _SHARED_ASSETS else page_asset(name, _ROOM)
        texts = styles if name.endswith(".css") else scripts
        texts.append(asset.rstrip())
    page = page_asset("page.html", _ROOM)
    page = page.replace("/*STYLE*/", "\n".join(styles))
    page = page.replace("/*SCRIPT*/", "\n".join(scripts))
    server = urlsplit(media_url or "")
    if server.scheme in ("http", "https"):
        address_of_server = escape(f"{server.scheme}://{server.netloc}")
        page = page.replace("media-src 'self'", f"media-src 'self' {address_of_server}", 1)
    return page


def fingerprint(content: Content) -> str:
    """Return a draw's fingerprint.

    It is made of nothing that a blind page doesn't show. The places of videos differ between
    reviewers' machines, so it is made of none.
    """
    items_by_place = [[place.video, place.items] for place in content.places]
    parts = [content.kind.name, content.spec.id, content.split, items_by_place]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _page_document(
    content: Content,
    places: Sequence[Place],
    facts: Mapping[str, Facts],
    page_id: str,
    part: int | None,
) -> dict[str, Any]:
    kind = content.kind
    title = kind.title
    unit = kind.unit
    verb = kind.verb
    advice = kind.advise(content.spec)
    if content.consensus:
        title = f"Consensus on {title.lower()}"
        unit = kind.consensus_unit or unit
        verb = "decided"
        advice = kind.consensus_advice or advice
    count = len(places)
    if unit == "Video":
        count = len({place.video for place in places})
    plural = "s" if count > 1 else ""
    heading = f"{title}: {content.spec.title}, {content.split}, {count} {unit.lower()}{plural}"
    if part:
        heading += f" (rater {part})"
    page_places = [
        {"id": place.label, "label": place.label, "video": place.video, "items": place.items}
        for place in places
    ]
    return {
        "kind": KIND,
        "schema_version": 1,
        "page": page_id,
        "part": part,
        "consensus": content.consensus,
        "ask": kind.name,
        "benchmark": content.spec.id,
        "split": content.split,
        "heading": heading,
        "unit": unit,
        "verb": verb,
        "advice": [*advice, _SAVED],
        "videos": {place.video: facts[place.video] for place in places},
        "places": page_places,
    }


# --- videos
# -------------------------------------------------------------------------------------------------

_PLAYED = frozenset({"h264", "vp8", "vp9", "av1"})
_PLAYED_IN = frozenset({".mp4", ".m4v", ".webm"})
NOT_HERE: Facts = {"source": None, "name": None, "fps": None, "duration": None, "strip": None}
"""The facts on a video that was not here when the page was made."""
STRIP = "uniform:48,size=240,as=images"
"""Frames of a strip."""


def find_video(library: Library, row: Row) -> Path | None:
    """Return the row's video as one file.

    None where it can't be had.
    """
    try:
        return clip_of_row(library, row)
    except MediaError:
        return None


class Rate(NamedTuple):
    """A video's frames per second, where its header says, and whether common browsers play it."""

    fps: float | None
    plays: bool


def read_rate(path: Path) -> Rate:
    """Return a video's frames per second.

    Raises:
        MediaError: It is no video.
    """
    from reelbench.video.frame_index import open_container, video_stream

    with closing(open_container(path)) as container:
        stream = video_stream(container, path)
        rate = stream.average_rate or stream.guessed_rate
        fps = float(rate) if rate else None
        plays = stream.codec_context.name in _PLAYED and path.suffix.lower() in _PLAYED_IN
        return Rate(fps, plays)


def describe_video(
    path: Path | None, page: Path, source: str | None, *, strips: bool, note: Callable[[str], None]
) -> Facts:
    """Return the page's facts on a video.

    Args:
        path: The video. None where it is not here.
        page: The page.
        source: The video's address where the page's maker names one. A video without one lies
            beside the page, or can't be played from it.
        strips: True for a strip, which lies beside the page, also of a video that browsers play.
        note: Is told of a video that can't be read.
    """
    if path is None:
        return {**NOT_HERE, "source": source}
    if not source and path.absolute().is_relative_to(page.absolute().parent):
        source = address(path, page)
    facts = {**NOT_HERE, "source": source or None, "name": path.name}
    try:
        fps, plays = read_rate(path)
        duration = playable.seconds(path)
        strip = _write_strip(path, page) if strips or not plays else None
    except MediaError as error:
        note(str(error))
        return facts
    return {**facts, "fps": fps, "duration": duration, "strip": strip}


def _write_strip(path: Path, page: Path) -> list[tuple[str, float]]:
    """Write frames of a video beside the page.

    Return their addresses and times in seconds.
    """
    from reelbench.video import take

    frames = take(path, STRIP)
    folder = page.parent / f"{page.stem}-frames" / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    strip: list[tuple[str, float]] = []
    for image, time in zip(frames.images, frames.timestamps, strict=True):
        # A copy: the store may drop its own at any time, and the page may be sent elsewhere with
        # its folder.
        copy = folder / image.name
        shutil.copyfile(image, copy)
        strip.append((address(copy, page), round(time, 3)))
    return strip


# --- clips
# -------------------------------------------------------------------------------------------------

PAGE_BYTES = 18_000_000
"""Most bytes of clips in one page.

As text they are a third more, and a mail of 25 MB still arrives nearly anywhere.
"""
MARGIN = 15.0
"""Seconds that a cut clip has before and behind the time of its questions."""
_CLIPS = "clips"
"""The folder of clips beside a page."""
_IN_PAGE = "clip:"
"""Stands before the number of a clip that is in the page."""


def terms(spec: BenchmarkSpec, split: str) -> str:
    """Return the terms of a page with clips.

    Raises:
        InputError: The benchmark's owners forbid passing on videos.
    """
    if not spec.open_data and not is_mini(split):
        raise InputError(
            f"--embed: clips of {spec.title} may not be passed on. {spec.license_note} "
            "Leave --embed out: on the page people choose their own copy of each video"
        )
    return (
        f"The clips of {spec.title} on this page belong to their owners. They are only for the "
        "page's reviewers. Give them to nobody, and delete them when you have sent your file."
    )


class Window(NamedTuple):
    """The part of a video that is needed, in seconds.

    An `end` of None is the video's.
    """

    start: float
    end: float | None


def window(places: Iterable[Place]) -> Window:
    """Return the part of a video that its places need.

    Where each question shows its time and asks for none, it is these times with `MARGIN` about
    them. Otherwise it is the whole video.
    """
    whole = Window(0.0, None)
    starts: list[float] = []
    ends: list[float] = []
    for place in places:
        for item in place.items:
            spans = [show["span"] for show in item["shows"] if show["type"] == "span"]
            asks_span = any(ask["type"] == "span" for ask in item["asks"])
            if asks_span or not spans:
                return whole
            starts += [start for start, _ in spans]
            ends += [end for _, end in spans]
    return Window(max(0.0, min(starts) - MARGIN), max(ends) + MARGIN)


def cut_clips(
    parts: Sequence[Sequence[Place]],
    videos: Mapping[str, Path | None],
    folder: Path,
    *,
    clips: Clips,
    note: Callable[[str], None],
    bar: Bar = no_bar,
) -> dict[str, Facts]:
    """Cut a clip of each video to the part that its questions need.

    Args:
        parts: Each rater's places.
        videos: Media key -> file, None where it is not here.
        folder: The clips' folder, in which they are called by numbers.
        clips: The place of the clips.
        note: Is told of a video that can't be read.
        bar: Shows the progress.

    Returns:
        The page's facts on each video.

    Raises:
        InputError: The clips of one rater's page would hold more than `PAGE_BYTES`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page_bytes = [0] * len(parts)
    facts: dict[str, Facts] = dict.fromkeys(videos, NOT_HERE)
    with bar("cutting clips", len(videos)) as show:
        for number, (video, source) in enumerate(videos.items(), 1):
            places_by_part: list[list[Place]] = []
            for places in parts:
                places_of_video = [place for place in places if place.video == video]
                places_by_part.append(places_of_video)
            clip_path = folder / f"{number}.mp4"
            part_of_video = window(chain.from_iterable(places_by_part))
            excerpt = _cut_clip(source, clip_path, part_of_video, note) if source else None
            if excerpt:
                address_of_clip = f"{_CLIPS}/{clip_path.name}"
                if clips == "page":
                    address_of_clip = f"{_IN_PAGE}{number}"
                facts[video] = {
                    **NOT_HERE,
                    "source": address_of_clip,
                    "fps": excerpt.fps,
                    "duration": excerpt.end,
                    "from": excerpt.start,
                }
                for part, places in enumerate(places_by_part):
                    if places:
                        page_bytes[part] += clip_path.stat().st_size
                if clips == "page":
                    _check_size(max(page_bytes), f"{number} of {len(videos)}")
            show(number, video)
    return facts


def _cut_clip(
    source: Path, clip_path: Path, part: Window, note: Callable[[str], None]
) -> "Excerpt | None":
    from reelbench.video.excerpt import write_excerpt

    try:
        return write_excerpt(source, clip_path, part.start, part.end)
    except MediaError as error:
        clip_path.unlink(missing_ok=True)
        note(str(error))
        return None


def _check_size(page_bytes: int, videos: str) -> None:
    if page_bytes > PAGE_BYTES:
        raise InputError(
            f"--embed: after {videos} videos the clips take {page_bytes / 1e6:.0f} MB, more than "
            f"the {PAGE_BYTES / 1e6:.0f} MB that a page to be mailed may hold; add --as folder "
            "(a folder to zip), draw fewer videos (--sample), or share them among more people "
            "(--raters)"
        )
