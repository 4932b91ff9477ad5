"""All kinds of pages by name, and saved files merged whatever they were asked.

And the page on which raters' disagreements stand side by side, to be decided with a note; of
ratings, what is low.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

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
from reelbench.studio.review.review_items import Item
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

KINDS: Mapping[KindName, ReviewKind] = {
    kind.name: kind
    for kind in (
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
}


def read(paths: Sequence[Path]) -> Reviews:
    """Read files that pages saved, and exports of Label Studio; InputError names what is wrong, and where."""
    files: list[tuple[Path, Review]] = []
    ignored: Counter[str] = Counter()
    for path in paths:
        document = read_json(path)
        if isinstance(document, list):  # Label Studio's, where a page of ours saves an object
            reviews, left_out = label_studio.parse(document, path)
            files += [(path, review) for review in reviews]
            ignored.update(left_out)
        else:
            if not isinstance(document, dict) or document.get("kind") != review_kind.KIND:
                raise InputError(
                    f"{path}: is not a review; give a file that a page of `reelbench review` saved"
                )
            review = record_of(Review, document, str(path))
            if not review.reviewer.strip():
                raise InputError(f'{path}, field "reviewer": is empty; the page asks for a name')
            KINDS[review.ask].check(review, path)
            files.append((path, review))
    return review_kind.merge(files, dict(ignored))


def summarize(paths: Sequence[Path], data: Path | None = None, wage: float = WAGE) -> ReviewSummary:
    """Merge reviewers' files of one page; errors as of `read`.

    `data` is the benchmark's own, where what people marked needs it; `wage` dollars an hour of
    their work.
    """
    reviews = replace(read(paths), data=data, wage=wage)
    return KINDS[reviews.kind].summarize(reviews)


_SHOWN_APART = {"span", "verdict", "reason", "note", "revealed", *COMPONENTS}


def draw_content(ask: KindName, given: Sources, draw: Draw, files: Sequence[Path] = ()) -> Content:
    """Draw what a page asks; with raters' `files` their kind's items on which they differ, with every rater's marks.

    Raises:
        InputError: A kind lacks what it looks at, or another's is named; or files differ on nothing
            (ratings: rate nothing low), or are not of this benchmark.
    """
    reviews = read(files) if files else None
    kind = KINDS[ask if reviews is None else reviews.kind]
    for source, (what, looking) in SOURCES.items():
        if (source in given.beside) != (kind.name is looking):
            raise InputError(f"--{source} names {what}: with --ask {looking}, and only there")
    if reviews is None:
        return kind.content(given, draw)
    marks = reviews.marks()
    given = replace(given, split=reviews.split if given.name == reviews.benchmark else None)
    if kind is RATINGS:  # what was rated low, to be kept, dropped or edited
        located = loading.locate(given.name, reviews.split, given.data)
        by_video = review_kind.rows_by_video(located.read())
        if located.spec.id != reviews.benchmark:
            raise InputError(
                f"--consensus: these files are of {reviews.benchmark}, not of {located.spec.id}"
            )
        if not (places := low_places(located.spec, by_video, reviews)):
            raise InputError(f"nothing to decide: nothing was rated {LOW} or lower")
        rows = {place.video: by_video[place.video][0] for place in places}
        return Content(kind, located.spec, located.split, places, rows, consensus=True)
    whole = kind.content(given, None, marks)
    if (whole.spec.id, whole.split) != (reviews.benchmark, reviews.split):
        raise InputError(
            f"{files[0]}: is of {reviews.benchmark} {reviews.split}, not of {whole.spec.id} {whole.split}"
        )
    places_by_id = {place.items[0]["id"]: place for place in whole.places}
    places = []
    for identifier, by_reviewer in marks.items():
        if not kind.is_open(by_reviewer):
            continue
        if identifier not in places_by_id:
            raise InputError(
                f"{files[0]}, field marks.{identifier}: {given.name} has no such question"
            )
        item = places_by_id[identifier].items[0]
        said = [
            {
                "who": who,
                "said": in_words(said, item),
                "take": {name: said[name] for name in said if name != "note"},
            }
            for who, said in by_reviewer.items()
        ]
        item["shows"].append({"type": "marks", "heading": "What raters said", "marks": said})
        places.append(places_by_id[identifier])
    if not places:
        raise InputError(
            "nothing to settle: these raters agree on everything that two of them marked"
        )
    by_video = {place.video: whole.rows[place.video] for place in places}
    return Content(kind, whole.spec, whole.split, places, by_video, consensus=True)


def in_words(marks: Marks, item: Item) -> str:
    """Return marks on an item in words, a note last."""
    parts = []
    if marks.get("verdict") == "bad":
        parts.append("bad" + (f": {marks['reason']}" if marks.get("reason") else ""))
    elif span := marks.get("span"):
        parts.append(" to ".join("?" if end is None else f"{end:g}" for end in span) + " s")
    labels = [marks[name] for name in COMPONENTS if marks.get(name)]
    parts += [label if isinstance(label, str) else ", ".join(label) for label in labels]
    for ask in item["asks"]:
        name = ask["name"]
        if name not in marks or name in _SHOWN_APART or "inline" in ask:
            continue
        options = {option["value"]: option["text"] for option in ask.get("options", ())}
        text = options.get(marks[name], str(marks[name]))
        if ask["type"] == "scale":
            text = f"{name} {marks[name]}"
        elif (
            marks[name] in options
            and str(marks[name]) in LETTERS
            and not text.startswith(f"{marks[name]} –")
        ):
            text = f"{marks[name]}: {text}"
        parts.append(text)
    return " | ".join(parts) + (f" ({marks['note']})" if marks.get("note") else "")
