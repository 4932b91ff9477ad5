"""Two versions of one question, chosen between blind: a single pass's and the discussion's (MovieCORE, 3.3, figure 3).

The paper shows such pairs and asks nobody. Here neither the page nor a saved file says which
version is whose: which of the two is shown first follows from a hash of the question's id.
"""

import hashlib
from pathlib import Path
from typing import Literal

import numpy as np

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_jsonl
from reelbench.base.text_tables import Table, interval, number
from reelbench.data import loading
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
    """Which of two versions of a question is the better one."""

    name = KindName.PREFERENCE
    says = "better"

    def places(self, drawn: DrawnRows) -> list[parts.Place]:
        """Return one place for each question that has two versions which differ."""
        made = drawn.given.beside["made"]
        known = loading.locate(drawn.spec.id, drawn.split, made / "single_pass.json").read()
        first = {row["id"]: row for row in known}
        places = []
        for video, rows in drawn.by_video.items():
            for last in rows:
                before = first.get(last["id"])
                if before is None or (before["question"], before["answer"]) == (
                    last["question"],
                    last["answer"],
                ):
                    continue
                versions = (
                    (before, last) if _better(last["id"], "B") == "discussion" else (last, before)
                )
                shows: list[parts.Part] = []
                for letter, row in zip("AB", versions, strict=True):
                    shows.append(
                        parts.shown_text(f"Version {letter}", row["question"], row["language"])
                    )
                    shows.append(
                        parts.shown_text(f"Its answer ({letter})", row["answer"], row["language"])
                    )
                places.append(
                    parts.Place(video, last["id"], [parts.row_item(last, shows, self.asks)])
                )
        if not places:
            raise InputError(f"{made}: no question of these videos has two versions that differ")
        return places

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the win rate (of the discussion's version, a tie counting half, over all choices; 0 to 1) and alpha.

        Written is what each question got (JSON Lines): the decision, else what most chose, a tie
        where they are even. InputError where nothing is chosen.
        """
        chosen: dict[str, dict[str, Better]] = {
            name: {who: _better(name, letter) for who, letter in said.items()}
            for name, said in self.verdicts_of_all(reviews).items()
        }
        about = reviews.items
        videos = [
            str(about.get(name, {}).get("video", name)) for name, by in chosen.items() for _ in by
        ]
        choices: list[Better] = [
            better for by_reviewer in chosen.values() for better in by_reviewer.values()
        ]
        rate = mean_over_clusters(
            np.array([_VALUES[better] for better in choices]), videos, bounds=(0, 1)
        )
        alpha = choice_alpha(
            [list(by_reviewer.values()) for by_reviewer in chosen.values()], [*reversed(_VALUES)]
        )
        counts = {better: choices.count(better) for better in _VALUES}

        def write(path: Path) -> str:
            together: dict[str, Better] = {}
            for name, by_reviewer in chosen.items():
                votes = list(by_reviewer.values())
                ahead = votes.count("discussion") - votes.count("single_pass")
                together[name] = (
                    "tie" if not ahead else "discussion" if ahead > 0 else "single_pass"
                )
                if decided := reviews.decisions.get(name, {}).get("better"):
                    together[name] = _better(name, decided)
            write_jsonl(path, ({"id": name, "better": better} for name, better in together.items()))
            return f"{number_of(len(chosen), 'question')} written to {path}"

        figures = {
            "win_rate": {
                "value": rate.value,
                "ci95": list(rate.ci95) if rate.ci95 else None,
                "n": len(choices),
            },
            "choices": counts,
            "alpha": alpha,
            "items": chosen,
        }
        rows = [
            (
                "discussion better, tie half",
                number(rate.value, 3),
                interval(rate.ci95, 3),
                str(len(choices)),
            ),
            *((better.replace("_", " "), "", "", str(count)) for better, count in counts.items()),
            ("Krippendorff's alpha", number(alpha, 2), "", ""),
        ]
        table = Table(reviews.heading, ("quantity", "#value", "#95 % interval", "#choices"), rows)
        return ReviewSummary(self, reviews, figures, [table], write)


PREFERENCES = Preferences()


def _better(identifier: str, choice: str) -> Better:
    """Return whose version of a question a letter is: which one the discussion's has, a hash says."""
    letter = "AB"[hashlib.sha256(f"preference|{identifier}".encode()).digest()[0] % 2]
    known: dict[str, Better] = {"tie": "tie", letter: "discussion"}
    return known.get(choice, "single_pass")
