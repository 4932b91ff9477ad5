"""Several people's CogME tags: how far they agreed before they talked, and what they all gave or decided.

CogME had two raters tag every question by one manual and settle what differed; how often that was
is not reported. Here agreement is of what each gave alone.
"""

from collections.abc import Callable, Collection, Mapping
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
    """What one must understand of the video to answer the question."""

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
        if row.get("subtitles"):
            shows.append(parts.shown_text("What is said", row["subtitles"], row["language"]))
        asks: list[parts.Part] = []
        for name in COMPONENTS:
            labels = list(our_manual().components[name].labels.items())
            if name == "thinking":
                ask = {"type": "choice", "name": name, "title": "Thinking", "hint": "the highest"}
                asks.append(parts.ask_of(ask | {"codes": dict(labels)}))
                continue
            # CogME allows none: thinking alone says whether the item was tagged.
            title, most = (
                parts.capitalised(name),
                {"hint": f"up to {MOST_LABELS}", "most": MOST_LABELS},
            )
            asks.append(
                {
                    "type": "labels",
                    "name": name,
                    "labels": labels,
                    "optional": True,
                    "title": title,
                    **most,
                }
            )
        return parts.row_item(row, shows, [*asks, *self.asks])

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check that all labels are CogME's, and no more than it allows."""
        given = {name: marks[name] for name in COMPONENTS if marks.get(name) is not None}
        cognitive_profile.tags_of(
            {"target": [], "content": [], "thinking": THINKING[0]} | given, where
        )

    def verdict_of(self, marks: Marks) -> Tags | None:
        """The tags in CogME's order of labels; None while the way of thinking is open."""
        if not marks.get("thinking"):
            return None
        target, content = (
            tuple(label for label in COMPONENTS[name] if label in marks.get(name, ()))
            for name in ("target", "content")
        )
        return Tags(target, content, marks["thinking"])

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the agreement of each pair that tagged something in common, and what all gave or was decided.

        Written is that as a tags file (in a folder: `consensus.jsonl`), and `disagreements.jsonl`
        beside it.
        """
        given: dict[str, dict[str, Tags]] = self.verdicts_of_all(reviews)
        videos = {
            name: str(about["video"]) for name, about in reviews.items.items() if "video" in about
        }
        agreement: list[dict[str, Any]] = []
        for a, b in combinations(reviews.reviewers, 2):
            first, second = (
                {item: tags[who] for item, tags in given.items() if who in tags} for who in (a, b)
            )
            if both := first.keys() & second.keys():
                found = tag_agreement(first, second, videos if both <= videos.keys() else None)
                agreement.append({"a": a, "b": b, **found})
        consensus, still_open = self.settle(reviews, given)
        figures = {
            "agreement": agreement,
            "items": len(given),
            "consensus": len(consensus),
            "disagreements": still_open,
        }
        tables: list[Table] = []
        for pair in agreement:
            tables += agreement_tables(f"{pair['a']} and {pair['b']}, before consensus", pair)
        rows = [("settled", str(len(consensus))), ("open", str(len(still_open)))]
        tables.append(Table("consensus", ("quantity", "#items"), rows))
        command = f"reelbench review page {reviews.benchmark} --ask tags --consensus FILE --consensus FILE"
        notes = (
            [f"{len(still_open)} are open; settle them on a page: {command}"] if still_open else []
        )

        def write(path: Path) -> str:
            path = path if path.suffix else path / "consensus.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_jsonl(path, ({"qid": name, **asdict(tags)} for name, tags in consensus.items()))
            marks, differing = reviews.marks(), []
            for name in still_open:
                tags = {who: asdict(said) for who, said in given[name].items()}
                notes = {who: said["note"] for who, said in marks[name].items() if said.get("note")}
                differing.append({"qid": name, "tags": tags, "notes": notes})
            write_jsonl(path.with_name("disagreements.jsonl"), differing)
            written = f"{number_of(len(consensus), 'item')} written to {path}"
            return f"{written}, {len(still_open)} open to {path.with_name('disagreements.jsonl')}"

        return ReviewSummary(self, reviews, figures, tables, write, notes)


TAGS = CogmeTags()


def agreement_tables(title: str, agreement: Mapping[str, Any]) -> list[Table]:
    """Return two taggers' agreement by label and over whole answers; `agreement` as `review agree --json` gives it."""
    rows = []
    for name, label in agreement["labels"].items():
        if label["n_a"] or label["n_b"]:
            exact, kappa, f1, ac1 = (
                number(label[measure]["value"]) for measure in ("exact", "kappa", "f1", "ac1")
            )
            counts = (str(label["n_a"]), str(label["n_b"]))
            rows.append((name, *counts, exact, kappa, interval(label["kappa"]["ci95"]), f1, ac1))
    whole = [
        (f"{name}: {measure}", number(estimate["value"], 3), interval(estimate["ci95"], 3))
        for name, measures in (*agreement["sets"].items(), ("thinking", agreement["thinking"]))
        for measure, estimate in measures.items()
    ]
    columns = ("label", "#n a", "#n b", "#exact", "#kappa", "#95 % interval", "#F1", "#AC1")
    return [
        Table(title, columns, rows),
        Table("whole answers", ("quantity", "#value", "#95 % interval"), whole),
    ]


def videos_by_question(
    name: str,
    items: Collection[str],
    note: Callable[[str], None],
    *,
    split: str | None = None,
    data: Path | None = None,
) -> dict[str, str] | None:
    """Return id -> video of a benchmark's rows; None, with a note, where there is none for `items`."""
    try:
        located = loading.locate(name, split, data, fetch=False)
        videos = {row["id"]: row["video"] for row in located.read()}
    except DataUnavailableError as error:
        note(f"no intervals, which are over videos: {error}")
        return None
    lacking = [item for item in items if item not in videos]
    if len(lacking) == len(items):
        note(f"no intervals: none of the items is among the questions of {name} {located.split}")
        return None
    if lacking:
        note(
            f"{name} {located.split} lacks {len(lacking)} items ({lacking[0]}): each counts as a video"
        )
    return videos | {item: f"item {item}" for item in lacking}
