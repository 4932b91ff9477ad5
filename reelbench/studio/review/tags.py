"""Several people's CogME tags: their agreement before they talked, and their consensus.

CogME had two raters tag every question by one manual and settle their differences. How often they
differed is not reported. Here agreement is of the tags that each gave alone.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

from reelbench.base.errors import DataUnavailableError, number_of
from reelbench.base.files import write_jsonl
from reelbench.base.text_tables import Table, interval, number
from reelbench.data import loading
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import cognitive_profile
from reelbench.scoring.cognitive_profile import COMPONENTS, MOST_LABELS, THINKING, Tags
from reelbench.scoring.tag_agreement import tag_agreement
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.review_kind import WORDS, Marks, ReviewKind, Reviews, ReviewSummary
from reelbench.studio.tag_manual import our_manual


class CogmeTags(ReviewKind):
    """The things that one must understand of the video to answer the question."""

    name = KindName.TAGS
    says = "thinking"  # CogME allows no targets and no contents
    advice = (
        *WORDS[KindName.TAGS]["advice"],
        *our_manual().notes,
        *(f"For example: {example.text}" for example in our_manual().examples),
    )

    def item(self, spec: BenchmarkSpec, row: Row) -> parts.Item:
        """Return a question with its answer and subtitles."""
        shows = [parts.question_part(row), parts.shown_answer(spec, row)]
        subtitles = row.get("subtitles")
        if subtitles:
            shows.append(parts.shown_text("What is said", subtitles, row["language"]))
        asks = [_component_ask(component) for component in COMPONENTS]
        asks += self.asks
        return parts.row_item(row, shows, asks)

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check that all labels are CogME's, and no more than it allows."""
        labels: dict[str, Any] = {"target": [], "content": [], "thinking": THINKING[0]}
        for name in COMPONENTS:
            if marks.get(name) is not None:
                labels[name] = marks[name]
        cognitive_profile.tags_of(labels, where)

    def verdict_of(self, marks: Marks) -> Tags | None:
        """Return the tags in CogME's order of labels.

        None without a way of thinking.
        """
        if not marks.get("thinking"):
            return None
        target = _in_order("target", marks)
        return Tags(target, _in_order("content", marks), marks["thinking"])

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the agreement of each pair of people, and the consensus.

        A pair has agreement where both tagged something in common. Written is the consensus as a
        tags file (in a folder: `consensus.jsonl`), and `disagreements.jsonl` beside it.
        """
        tags_by_item: dict[str, dict[str, Tags]] = self.verdicts_of_all(reviews)
        agreement = _pairwise_agreement(reviews, tags_by_item)
        consensus, open_ids = self.settle(reviews, tags_by_item)
        figures = {
            "agreement": agreement,
            "items": len(tags_by_item),
            "consensus": len(consensus),
            "disagreements": open_ids,
        }
        tables: list[Table] = []
        for pair in agreement:
            tables += agreement_tables(f"{pair['a']} and {pair['b']}, before consensus", pair)
        rows = [("settled", str(len(consensus))), ("open", str(len(open_ids)))]
        tables.append(Table("consensus", ("quantity", "#items"), rows))
        notes: list[str] = []
        if open_ids:
            command = (
                f"reelbench review page {reviews.benchmark} "
                "--ask tags --consensus FILE --consensus FILE"
            )
            notes.append(f"{len(open_ids)} are open; settle them on a page: {command}")

        def write(path: Path) -> str:
            if not path.suffix:
                path /= "consensus.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_jsonl(path, ({"qid": name, **asdict(tags)} for name, tags in consensus.items()))
            differences_path = path.with_name("disagreements.jsonl")
            write_jsonl(differences_path, _open_items_with_tags(reviews, tags_by_item, open_ids))
            written = f"{number_of(len(consensus), 'item')} written to {path}"
            return f"{written}, {len(open_ids)} open to {differences_path}"

        return ReviewSummary(self, reviews, figures, tables, write, notes)


TAGS = CogmeTags()


def _component_ask(name: str) -> parts.Part:
    """Return the ask for one component's labels.

    CogME allows no targets and no contents: thinking alone says whether the item was tagged.
    """
    labels = our_manual().components[name].labels
    if name == "thinking":
        return parts.ask_of(
            {
                "type": "choice",
                "name": name,
                "title": "Thinking",
                "hint": "the highest",
                "codes": dict(labels),
            }
        )
    return {
        "type": "labels",
        "name": name,
        "labels": list(labels.items()),
        "optional": True,
        "title": parts.capitalised(name),
        "hint": f"up to {MOST_LABELS}",
        "most": MOST_LABELS,
    }


def _in_order(component: str, marks: Marks) -> tuple[str, ...]:
    labels = marks.get(component, ())
    return tuple(label for label in COMPONENTS[component] if label in labels)


def _pairwise_agreement(
    reviews: Reviews, tags_by_item: Mapping[str, Mapping[str, Tags]]
) -> list[dict[str, Any]]:
    facts = reviews.items.items()
    videos = {name: str(about["video"]) for name, about in facts if "video" in about}
    tags_by_reviewer: dict[str, dict[str, Tags]] = {}
    for item, by_reviewer in tags_by_item.items():
        for reviewer, tags in by_reviewer.items():
            tags_by_reviewer.setdefault(reviewer, {})[item] = tags
    agreement: list[dict[str, Any]] = []
    for a, b in combinations(reviews.reviewers, 2):
        first = tags_by_reviewer.get(a, {})
        second = tags_by_reviewer.get(b, {})
        both = first.keys() & second.keys()
        if both:
            known_videos = videos if both <= videos.keys() else None
            agreement.append({"a": a, "b": b, **tag_agreement(first, second, known_videos)})
    return agreement


def _open_items_with_tags(
    reviews: Reviews, tags_by_item: Mapping[str, Mapping[str, Tags]], open_ids: Iterable[str]
) -> list[dict[str, Any]]:
    """Return each open item with everyone's tags and notes."""
    marks = reviews.marks()
    disagreements: list[dict[str, Any]] = []
    for name in open_ids:
        tags = {reviewer: asdict(tags) for reviewer, tags in tags_by_item[name].items()}
        notes: dict[str, str] = {}
        for reviewer, item_marks in marks[name].items():
            if item_marks.get("note"):
                notes[reviewer] = item_marks["note"]
        disagreements.append({"qid": name, "tags": tags, "notes": notes})
    return disagreements


def agreement_tables(title: str, agreement: Mapping[str, Any]) -> list[Table]:
    """Return two taggers' agreement by label and over whole answers.

    `agreement` is as `review agree --json` gives it.
    """
    rows: list[tuple[str, ...]] = []
    for name, label in agreement["labels"].items():
        if label["n_a"] or label["n_b"]:
            rows.append(_label_row(name, label))
    answer_rows: list[tuple[str, ...]] = []
    measures_by_part = {**agreement["sets"], "thinking": agreement["thinking"]}
    for part, measures in measures_by_part.items():
        for measure, estimate in measures.items():
            value = number(estimate["value"], 3)
            answer_rows.append((f"{part}: {measure}", value, interval(estimate["ci95"], 3)))
    columns = ("label", "#n a", "#n b", "#exact", "#kappa", "#95 % interval", "#F1", "#AC1")
    return [
        Table(title, columns, rows),
        Table("whole answers", ("quantity", "#value", "#95 % interval"), answer_rows),
    ]


def _label_row(name: str, label: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        name,
        str(label["n_a"]),
        str(label["n_b"]),
        number(label["exact"]["value"]),
        number(label["kappa"]["value"]),
        interval(label["kappa"]["ci95"]),
        number(label["f1"]["value"]),
        number(label["ac1"]["value"]),
    )


def videos_by_question(
    name: str,
    items: Collection[str],
    note: Callable[[str], None],
    *,
    split: str | None = None,
    data: Path | None = None,
) -> dict[str, str] | None:
    """Return id -> video of a benchmark's rows.

    None, with a note, where there is none for `items`.
    """
    try:
        located = loading.locate(name, split, data, fetch=False)
        videos = {row["id"]: row["video"] for row in located.read()}
    except DataUnavailableError as error:
        note(f"no intervals, which are over videos: {error}")
        return None
    lacking = [item for item in items if item not in videos]
    split_name = f"{name} {located.split}"
    if len(lacking) == len(items):
        note(f"no intervals: none of the items is among the questions of {split_name}")
        return None
    if lacking:
        note(f"{split_name} lacks {len(lacking)} items ({lacking[0]}): each counts as a video")
    return videos | {item: f"item {item}" for item in lacking}
