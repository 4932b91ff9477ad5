"""A blind choice between two versions of a question: single pass or discussion (MovieCORE, 3.3).

The paper shows such pairs (figure 3) and asks nobody. Here neither the page nor a saved file says
which version is whose: the order of the two follows from a hash of the question's id.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_jsonl
from reelbench.base.text_tables import Table, interval, number
from reelbench.data import loading
from reelbench.registry.rows import Row
from reelbench.stats.intervals import mean_over_clusters
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.review_kind import (
    DrawnRows,
    ReviewKind,
    Reviews,
    ReviewSummary,
    choice_alpha,
)

Better = Literal["discussion", "single_pass", "tie"]
_VALUES: dict[Better, float] = {"discussion": 1.0, "tie": 0.5, "single_pass": 0.0}


class Preferences(ReviewKind):
    """The better one of two versions of a question."""

    name = KindName.PREFERENCE
    says = "better"

    def places(self, drawn: DrawnRows) -> list[parts.Place]:
        """Return one place for each question that has two versions which differ."""
        folder = drawn.sources.beside["made"]
        single_pass = loading.locate(drawn.spec.id, drawn.split, folder / "single_pass.json")
        single_pass_rows = {row["id"]: row for row in single_pass.read()}
        places: list[parts.Place] = []
        for video, rows in drawn.by_video.items():
            for row in rows:
                first_row = single_pass_rows.get(row["id"])
                if first_row is None or _same_words(first_row, row):
                    continue
                shows = _shown_versions(first_row, row)
                item = parts.row_item(row, shows, self.asks)
                places.append(parts.Place(video, row["id"], [item]))
        if not places:
            raise InputError(f"{folder}: no question of these videos has two versions that differ")
        return places

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the win rate of the discussion's version, and alpha.

        A tie counts half. The rate is over all choices, 0 to 1. Written is each question's outcome
        (JSON Lines): the decision, else the choice of most, a tie where they are even.

        Raises:
            InputError: Nothing is chosen.
        """
        choices_by_item: dict[str, dict[str, Better]] = {}
        choices: list[Better] = []
        videos: list[str] = []
        facts_by_item = reviews.items
        for name, letters in self.verdicts_of_all(reviews).items():
            by_reviewer: dict[str, Better] = {}
            for reviewer, letter in letters.items():
                by_reviewer[reviewer] = _maker_of_better_version(name, letter)
            choices_by_item[name] = by_reviewer
            choices += by_reviewer.values()
            video = str(facts_by_item.get(name, {}).get("video", name))
            videos += [video] * len(by_reviewer)
        values = np.array([_VALUES[choice] for choice in choices])
        rate = mean_over_clusters(values, videos, bounds=(0, 1))
        item_choices = [list(by_reviewer.values()) for by_reviewer in choices_by_item.values()]
        alpha = choice_alpha(item_choices, [*reversed(_VALUES)])
        counts = {better: choices.count(better) for better in _VALUES}
        figures = {
            "win_rate": {
                "value": rate.value,
                "ci95": list(rate.ci95) if rate.ci95 else None,
                "n": len(choices),
            },
            "choices": counts,
            "alpha": alpha,
            "items": choices_by_item,
        }
        n = str(len(choices))
        ends = interval(rate.ci95, 3)
        rows = [("discussion better (a tie counts half)", number(rate.value, 3), ends, n)]
        for better, count in counts.items():
            rows.append((better.replace("_", " "), "", "", str(count)))
        rows.append(("Krippendorff's alpha", number(alpha, 2), "", ""))
        table = Table(reviews.heading, ("quantity", "#value", "#95 % interval", "#choices"), rows)
        write = partial(_write, reviews, choices_by_item)
        return ReviewSummary(self, reviews, figures, [table], write)


PREFERENCES = Preferences()


def _same_words(first_row: Row, row: Row) -> bool:
    same_question = first_row["question"] == row["question"]
    return same_question and first_row["answer"] == row["answer"]


def _shown_versions(first_row: Row, row: Row) -> list[parts.Part]:
    """Return both versions, in the order that the question's id decides."""
    versions = (row, first_row)
    if _maker_of_better_version(row["id"], "B") == "discussion":
        versions = (first_row, row)
    shows: list[parts.Part] = []
    for letter, version in zip("AB", versions, strict=True):
        language = version["language"]
        shows.append(parts.shown_text(f"Version {letter}", version["question"], language))
        shows.append(parts.shown_text(f"Its answer ({letter})", version["answer"], language))
    return shows


def _write(
    reviews: Reviews, choices_by_item: Mapping[str, Mapping[str, Better]], path: Path
) -> str:
    lines: list[dict[str, str]] = []
    for name, by_reviewer in choices_by_item.items():
        decision = reviews.decisions.get(name, {}).get("better")
        better = (
            _maker_of_better_version(name, decision)
            if decision
            else _chosen_by_most(by_reviewer.values())
        )
        lines.append({"id": name, "better": better})
    write_jsonl(path, lines)
    return f"{number_of(len(lines), 'question')} written to {path}"


def _chosen_by_most(choices: Iterable[Better]) -> Better:
    counts = Counter(choices)
    if counts["discussion"] == counts["single_pass"]:
        return "tie"
    return "discussion" if counts["discussion"] > counts["single_pass"] else "single_pass"


def _maker_of_better_version(identifier: str, choice: str) -> Better:
    """Return the maker of the version that a letter names.

    A hash of the id decides on the letters.
    """
    if choice == "tie":
        return "tie"
    digest = hashlib.sha256(f"preference|{identifier}".encode()).digest()
    discussion_letter = "AB"[digest[0] % 2]
    return "discussion" if choice == discussion_letter else "single_pass"
