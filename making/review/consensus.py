"""Where raters differ, put before them side by side, to be decided with a note."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reelbench.judges.cognitive_profile import COMPONENTS
from reelbench.making.review import asks, merging
from reelbench.making.review.pages import Content, Place
from reelbench.making.review.saved import Marks
from reelbench.registry.data import loading
from reelbench.registry.errors import InputError

KINDS: tuple[asks.Kind, ...] = ("spans", "question-spans", "tags")


def content_of(name: str, files: Sequence[Path], data: Path | None = None) -> Content:
    """Return the items on which these files differ, each with what every rater said; InputError where none does."""
    reviews = merging.read(files)
    if reviews.kind not in KINDS:
        raise InputError(f"a consensus is found on {', '.join(KINDS)}; these files are {reviews.kind}")
    located = loading.locate(name, None if name != reviews.benchmark else reviews.split, data)
    if (located.spec.id, located.split) != (reviews.benchmark, reviews.split):
        raise InputError(
            f"{files[0]}: is of {reviews.benchmark} {reviews.split}, not of {located.spec.id} {located.split}"
        )
    disagrees = merging.module_of(reviews.kind).disagrees
    rows = {row["id"]: row for row in located.read()}
    places, videos = [], {}
    for identifier, said in reviews.marks().items():
        if len(said) < 2 or not disagrees(said):  # noqa: PLR2004
            continue
        if identifier not in rows:
            raise InputError(f"{files[0]}, field marks.{identifier}: {name} has no such question")
        row = rows[identifier]
        (item,) = asks.items_of(reviews.kind, located.spec, row)
        item["shows"].append({"type": "marks", "heading": "What raters said", "marks": _table(said)})
        places.append(Place(row["video"], identifier, [item]))
        videos[row["video"]] = row
    if not places:
        raise InputError("nothing to settle: these raters agree on everything that two of them marked")
    return Content(reviews.kind, located.spec, located.split, places, videos, consensus=True)


def _table(said: Mapping[str, Marks]) -> list[dict[str, object]]:
    wanted = ("span", "verdict", "reason", *COMPONENTS)
    return [
        {"who": who, "said": words(marks), "take": {name: marks[name] for name in wanted if name in marks}}
        for who, marks in said.items()
    ]


def words(marks: Marks) -> str:
    """Return marks in words, a note last."""
    parts = []
    if marks.get("verdict") == "bad":
        parts.append("bad" + (f": {marks['reason']}" if marks.get("reason") else ""))
    elif span := marks.get("span"):
        parts.append(" to ".join("?" if end is None else f"{end:g}" for end in span) + " s")
    labels = [marks[name] for name in COMPONENTS if marks.get(name)]
    parts += [one if isinstance(one, str) else ", ".join(one) for one in labels]
    return " | ".join(parts) + (f" ({marks['note']})" if marks.get("note") else "")
