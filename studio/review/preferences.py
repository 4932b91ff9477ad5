"""Two versions of one question, chosen between blind: a single pass's and the discussion's (MovieCORE, 3.3, figure 3).

The paper shows such pairs and asks nobody. Here neither the page nor a saved file says which version is whose: which of
the two is shown first follows from a hash of the question's id.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from reelbench.registry.data import loading
from reelbench.registry.errors import InputError, number_of
from reelbench.registry.files import write_jsonl
from reelbench.registry.text_tables import Table, interval, number
from reelbench.stats.agreement import krippendorff_alpha
from reelbench.stats.intervals import Estimate, mean_over_clusters
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.review_items import Part, Place
from reelbench.studio.review.review_kind import DrawnRows, Marks, ReviewKind, Reviews, ReviewSummary

SINGLE_PASS, DISCUSSION = "single_pass.json", "annotations.json"
_CHOICES = {"A": "Version A", "B": "Version B", "tie": "Neither is better"}

Better = Literal["discussion", "single_pass", "tie"]


class Preferences(ReviewKind):
    """Which of two versions of a question is the better one."""

    name = KindName.PREFERENCE
    title = "Preference"
    verb = "chosen"
    source = "made"
    choices = (("better", tuple(_CHOICES)),)
    advice = (
        "Watch the video. Two versions of one question stand below, each with its answer; their order means nothing.",
        "Choose the better test of how deeply somebody has understood this very video. Length alone is no merit.",
    )

    def places(self, drawn: DrawnRows) -> list[Place]:
        """Return one place for each question that has two versions which differ."""
        assert drawn.made is not None  # noqa: S101 - the draw was checked
        known = loading.locate(drawn.spec.id, drawn.split, drawn.made / SINGLE_PASS).read()
        first = {row["id"]: row for row in known}
        places = []
        for video, rows in drawn.by_video.items():
            for last in rows:
                before = first.get(last["id"])
                if before is None or (before["question"], before["answer"]) == (last["question"], last["answer"]):
                    continue
                versions = (before, last) if _discussion_is(last["id"]) == "B" else (last, before)
                shows: list[Part] = []
                for letter, row in zip("AB", versions, strict=True):
                    shows.append(parts.shown_text(_CHOICES[letter], row["question"], row["language"]))
                    shows.append(parts.shown_text(f"Its answer ({letter})", row["answer"], row["language"]))
                asks = [parts.choice_ask("better", "The better one", _CHOICES.items()), parts.note_ask()]
                places.append(Place(video, last["id"], [parts.row_item(last, shows, asks)]))
        if not places:
            raise InputError(f"{drawn.made}: no question of these videos has two versions that differ")
        return places

    def said(self, marks: Marks) -> str | None:
        """The choice."""
        return marks.get("better")

    def summarize(self, reviews: Reviews) -> "PreferenceSummary":
        """Put choices together; InputError where nothing is chosen."""
        chosen: dict[str, dict[str, Better]] = {}
        for name, by_reviewer in reviews.marks().items():
            given: dict[str, Better] = {
                who: _better(name, marks["better"]) for who, marks in by_reviewer.items() if marks.get("better")
            }
            if given:
                chosen[name] = given
        if not chosen:
            raise InputError("nothing is chosen in these files yet")
        decided: dict[str, Better] = {
            name: _better(name, marks["better"]) for name, marks in reviews.decisions.items() if marks.get("better")
        }
        return PreferenceSummary(self, reviews, chosen, decided)


PREFERENCES = Preferences()


def _discussion_is(identifier: str) -> Literal["A", "B"]:
    """Return the letter under which the discussion's version of a question is shown."""
    return "AB"[hashlib.sha256(f"preference|{identifier}".encode()).digest()[0] % 2]  # type: ignore[return-value]


def _better(identifier: str, choice: str) -> Better:
    known: dict[str, Better] = {"tie": "tie", _discussion_is(identifier): "discussion"}
    return known.get(choice, "single_pass")


_VALUES: Mapping[Better, float] = {"discussion": 1.0, "tie": 0.5, "single_pass": 0.0}


@dataclass(frozen=True)
class PreferenceSummary(ReviewSummary):
    """Everybody's choices of one page: question -> reviewer -> which is better, and what was decided together."""

    chosen: dict[str, dict[str, Better]]
    decided: dict[str, Better]

    @property
    def win_rate(self) -> Estimate:
        """How often the discussion's version is the better one, a tie counting half, over all choices; 0 to 1."""
        about = self.reviews.items
        videos = [str(about.get(name, {}).get("video", name)) for name, by in self.chosen.items() for _ in by]
        values = [_VALUES[better] for by in self.chosen.values() for better in by.values()]
        return mean_over_clusters(np.array(values), videos, bounds=(0, 1))

    def figures(self) -> dict[str, Any]:
        """Return the win rate, what each question got, and how far reviewers agree."""
        rate = self.win_rate
        choices = [better for by_reviewer in self.chosen.values() for better in by_reviewer.values()]
        units = [[_VALUES[better] for better in by.values()] for by in self.chosen.values()]
        return {
            "win_rate": {"value": rate.value, "ci95": list(rate.ci95) if rate.ci95 else None, "n": len(choices)},
            "choices": {better: choices.count(better) for better in _VALUES},
            "alpha": krippendorff_alpha(units, level="nominal"),
            "items": {name: dict(by_reviewer) for name, by_reviewer in self.chosen.items()},
        }

    def tables(self) -> list[Table]:
        """Return the win rate and the counts."""
        figures = self.figures()
        rate, counts = figures["win_rate"], figures["choices"]
        rows = [
            ("discussion better, tie half", number(rate["value"], 3), interval(rate["ci95"], 3), str(rate["n"])),
            *((f"{better.replace('_', ' ')}", "", "", str(count)) for better, count in counts.items()),
            ("Krippendorff's alpha", number(figures["alpha"], 2), "", ""),
        ]
        return [Table(self.heading, ("quantity", "#value", "#95 % interval", "#choices"), rows)]

    def write(self, path: Path) -> str:
        """Write what each question got: the decision, else what most chose, a tie where they are even (JSON Lines)."""
        together = {}
        for name, by_reviewer in self.chosen.items():
            votes = list(by_reviewer.values())
            ahead = votes.count("discussion") - votes.count("single_pass")
            most = "tie" if not ahead else "discussion" if ahead > 0 else "single_pass"
            together[name] = self.decided.get(name) or most
        write_jsonl(path, ({"id": name, "better": better} for name, better in together.items()))
        return f"{number_of(len(self.chosen), 'question')} written to {path}"
