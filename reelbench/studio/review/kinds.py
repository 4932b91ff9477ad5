"""All kinds of pages by name, and the merging of saved files of any kind.

And the consensus page, on which raters' disagreements stand side by side, to be decided with a
note. For ratings it has the low-rated items.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.data import loading
from reelbench.registry.rows import LETTERS
from reelbench.scoring.cognitive_profile import COMPONENTS
from reelbench.studio.moment_pairs import WAGE
from reelbench.studio.review import KindName, label_studio, review_kind
from reelbench.studio.review.answers import ANSWERS
from reelbench.studio.review.audits import AUDITS
from reelbench.studio.review.evidence import GRAPHS, NODES
from reelbench.studio.review.preferences import PREFERENCES
from reelbench.studio.review.ratings import LOW, RATINGS, SCORES, low_places
from reelbench.studio.review.review_items import Item, Part, Place
from reelbench.studio.review.review_kind import (
    SOURCES,
    Content,
    Draw,
    Marks,
    Review,
    ReviewKind,
    Reviews,
    ReviewSummary,
    Sources,
)
from reelbench.studio.review.spans import QUESTION_SPANS, SPANS
from reelbench.studio.review.tags import TAGS
from reelbench.studio.review.written import WRITTEN

_ALL_KINDS = (
    RATINGS,
    SPANS,
    QUESTION_SPANS,
    ANSWERS,
    TAGS,
    SCORES,
    NODES,
    PREFERENCES,
    GRAPHS,
    AUDITS,
    WRITTEN,
)
KINDS: Mapping[KindName, ReviewKind] = {kind.name: kind for kind in _ALL_KINDS}


def read(paths: Sequence[Path]) -> Reviews:
    """Read files that pages saved, and exports of Label Studio.

    Raises:
        InputError: Names the file, and the field that is wrong.
    """
    files: list[review_kind.ReviewFile] = []
    ignored: Counter[str] = Counter()
    for path in paths:
        document = read_json(path)
        if isinstance(document, list):  # Label Studio's; a page of ours saves an object
            export = label_studio.parse(document, path)
            files += [review_kind.ReviewFile(path, review) for review in export.reviews]
            ignored.update(export.ignored)
        else:
            review = _read_review(document, path)
            files.append(review_kind.ReviewFile(path, review))
    return review_kind.merge(files, dict(ignored))


def _read_review(document: object, path: Path) -> Review:
    if not isinstance(document, dict) or document.get("kind") != review_kind.KIND:
        raise InputError(
            f"{path}: is not a review; give a file that a page of `reelbench review` saved"
        )
    review = record_of(Review, document, str(path))
    if not review.reviewer.strip():
        raise InputError(f'{path}, field "reviewer": is empty; the page asks for a name')
    KINDS[review.ask].check(review, path)
    return review


def summarize(paths: Sequence[Path], data: Path | None = None, wage: float = WAGE) -> ReviewSummary:
    """Merge reviewers' files of one page.

    Args:
        paths: The files.
        data: The benchmark's own data, for kinds that need it.
        wage: Dollars an hour of people's work.

    Raises:
        InputError: As of `read`.
    """
    reviews = replace(read(paths), data=data, wage=wage)
    return KINDS[reviews.kind].summarize(reviews)


_SHOWN_APART = {"span", "verdict", "reason", "note", "revealed", *COMPONENTS}


def draw_content(
    ask: KindName, sources: Sources, draw: Draw, files: Sequence[Path] = ()
) -> Content:
    """Draw the content of a page.

    With raters' `files` it is that of their consensus page.

    Raises:
        InputError: A kind lacks one of its sources, or another's is named, or files differ on
            nothing (ratings: rate nothing low), or are not of this benchmark.
    """
    reviews = read(files) if files else None
    kind = KINDS[ask if reviews is None else reviews.kind]
    for source, (thing, source_kind) in SOURCES.items():
        is_named = source in sources.beside
        is_needed = kind.name is source_kind
        if is_named != is_needed:
            raise InputError(
                f"--{source} names {thing}: it is needed with --ask {source_kind}, and goes with "
                "no other"
            )
    if reviews is None:
        return kind.content(sources, draw)
    split = reviews.split if sources.name == reviews.benchmark else None
    sources = replace(sources, split=split)
    if kind is RATINGS:
        return _low_rated(sources, reviews)
    return _items_raters_differ_on(kind, sources, reviews, files[0])


def _low_rated(sources: Sources, reviews: Reviews) -> Content:
    """Return the items that were rated low, to be kept, dropped or edited."""
    located = loading.locate(sources.name, reviews.split, sources.data)
    spec = located.spec
    by_video = review_kind.rows_by_video(located.read())
    if spec.id != reviews.benchmark:
        raise InputError(f"--consensus: these files are of {reviews.benchmark}, not of {spec.id}")
    places = low_places(spec, by_video, reviews)
    if not places:
        raise InputError(f"nothing to decide: nothing was rated {LOW} or lower")
    rows = {place.video: by_video[place.video][0] for place in places}
    return Content(RATINGS, spec, located.split, places, rows, consensus=True)


def _items_raters_differ_on(
    kind: ReviewKind, sources: Sources, reviews: Reviews, path: Path
) -> Content:
    """Return the items on which raters differ, with every rater's marks."""
    marks = reviews.marks()
    content = kind.content(sources, None, marks)
    if (content.spec.id, content.split) != (reviews.benchmark, reviews.split):
        raise InputError(
            f"{path}: is of {reviews.benchmark} {reviews.split}, "
            f"not of {content.spec.id} {content.split}"
        )
    places_by_id = {place.items[0]["id"]: place for place in content.places}
    places: list[Place] = []
    for identifier, by_reviewer in marks.items():
        if not kind.is_open(by_reviewer):
            continue
        place = places_by_id.get(identifier)
        if place is None:
            raise InputError(
                f"{path}, field marks.{identifier}: {sources.name} has no such question"
            )
        place.items[0]["shows"].append(_shown_marks(by_reviewer, place.items[0]))
        places.append(place)
    if not places:
        raise InputError(
            "nothing to settle: these raters agree on everything that two of them marked"
        )
    rows = {place.video: content.rows[place.video] for place in places}
    return Content(kind, content.spec, content.split, places, rows, consensus=True)


def _shown_marks(by_reviewer: Mapping[str, Marks], item: Item) -> Part:
    """Return all raters' marks on an item, each of which can be taken over."""
    raters_marks: list[dict[str, Any]] = []
    for reviewer, marks in by_reviewer.items():
        marks_to_take_over = dict(marks)
        marks_to_take_over.pop("note", None)
        rater_marks = {
            "who": reviewer,
            "said": in_words(marks, item),
            "take": marks_to_take_over,
        }
        raters_marks.append(rater_marks)
    return {
        "type": "marks",
        "heading": "What raters said",
        "marks": raters_marks,
    }


def in_words(marks: Marks, item: Item) -> str:
    """Return marks on an item in words, a note last."""
    words: list[str] = []
    if marks.get("verdict") == "bad":
        reason = marks.get("reason")
        verdict = f"bad: {reason}" if reason else "bad"
        words.append(verdict)
    elif marks.get("span"):
        ends = " to ".join(map(_end_in_words, marks["span"]))
        words.append(f"{ends} s")
    for component in COMPONENTS:
        labels = marks.get(component)
        if isinstance(labels, str) and labels:
            words.append(labels)
        elif labels:
            words.append(", ".join(labels))
    for ask in item["asks"]:
        name = ask["name"]
        if name in marks and name not in _SHOWN_APART and "inline" not in ask:
            words.append(_mark_in_words(marks[name], ask))
    line = " | ".join(words)
    if marks.get("note"):
        line += f" ({marks['note']})"
    return line


def _end_in_words(end: float | None) -> str:
    return "?" if end is None else f"{end:g}"


def _mark_in_words(mark: Any, ask: Part) -> str:  # noqa: ANN401 - of any kind of ask
    if ask["type"] == "scale":
        return f"{ask['name']} {mark}"
    texts = {option["value"]: option["text"] for option in ask.get("options", ())}
    text = texts.get(mark, str(mark))
    is_letter = mark in texts and str(mark) in LETTERS
    if is_letter and not text.startswith(f"{mark} –"):
        return f"{mark}: {text}"
    return text
