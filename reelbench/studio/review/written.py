"""Questions written by people, by CURVE's guidelines for curators (supplement, B.1.1 and B.1.2)."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import write_json
from reelbench.base.languages import language_of
from reelbench.base.text_tables import Table, number
from reelbench.registry.rows import Row
from reelbench.studio.data_files import studio_data
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.review_kind import (
    WORDS,
    DrawnRows,
    Marks,
    ReviewKind,
    Reviews,
    ReviewSummary,
)

GUIDE: Mapping[str, Any] = studio_data("review/writing.yaml")
SLOTS = 5
"""Questions a video: CURVE has four or five."""
_TIMES = re.compile(r"\d+(?::\d+)+")
_TIME = re.compile(r"[0-9]{2,3}:[0-5][0-9]")
_SKILLS = next(ask for ask in WORDS[KindName.WRITE]["asks"] if ask["name"] == "skills")
CULTURE, LEAST_SKILLS = _SKILLS["beside"], _SKILLS["least"] + 1
_IN_LANGUAGE = ("question", "answer", "steps")
_NUMBER = re.compile(r"(\d+)[.)](?!\d)\s*")


class WrittenQuestions(ReviewKind):
    """New questions on a video, each with its answer, its steps and its skills."""

    name = KindName.WRITE
    advice = (*WORDS[KindName.WRITE]["advice"], *GUIDE["advice"])

    def places(self, drawn: DrawnRows) -> list[parts.Place]:
        """Return a place for each video and locale, with fields for `SLOTS` questions."""
        columns = {column.name for column in drawn.spec.columns}
        if not columns >= {"reasoning_steps", "skills"}:
            raise InputError(
                f"--ask write: is for questions with steps and skills, as curve's are; {drawn.spec.id}'s have none"
            )
        return [
            parts.Place(
                video, f"{video} {locale}", [_slot(row, slot) for slot in range(1, SLOTS + 1)]
            )
            for video, rows in drawn.by_video.items()
            for locale, row in {row["language"]: row for row in reversed(rows)}.items()
        ]

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check that skills are names, and how times are written."""
        skills = marks.get("skills", ())
        if not isinstance(skills, list | tuple) or not all(
            isinstance(name, str) and name.strip() for name in skills
        ):
            raise InputError(f"{where}.skills: expected a list of names, found {skills!r:.60}")
        for time in _TIMES.findall(str(marks.get("steps", ""))):
            if not _TIME.fullmatch(time):
                raise InputError(f"{where}.steps: {time} is not mm:ss, as in 06:13")

    def is_done(self, marks: Marks) -> bool:
        """Whether nothing is lacking."""
        return not self.lacking(marks)

    def lacking(self, marks: Marks) -> list[str]:
        """Return the requirements of B.1 that a question lacks, as far as they can be told from its form."""
        said = [
            name for name in ("question", "answer", "steps") if not str(marks.get(name, "")).strip()
        ]
        # Who names the entity says by that which skill is the first (B.1.1 counts it; Fig. 8 to 10
        # don't list it).
        skills = {
            *marks.get("skills", ()),
            *([CULTURE] if str(marks.get("entity", "")).strip() else []),
        }
        if CULTURE not in skills:
            said.append("cultural entity")
        if len(skills | {CULTURE}) < LEAST_SKILLS:
            said.append(f"skills ({len(skills)}, at least {LEAST_SKILLS} with {CULTURE})")
        return said

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the questions by locale and skill, and their mean number of steps; InputError where none is finished.

        What others lack is said, and they are not written.
        """
        items, finished = reviews.items, list[tuple[str, Marks]]()
        unfinished: list[tuple[str, str, list[str]]] = []
        for name, by_reviewer in reviews.marks().items():
            for who, marks in by_reviewer.items():
                lacking = self.lacking(marks) + (
                    [] if "locale" in items.get(name, {}) else ["locale"]
                )
                if lacking:
                    unfinished.append((name, who, lacking))
                else:
                    finished.append((name, marks))
        if not finished:
            first = (
                f" ({unfinished[0][0]} lacks {', '.join(unfinished[0][2])})" if unfinished else ""
            )
            raise InputError(f"no question is finished in these files yet{first}")
        locales = dict(Counter(items[name]["locale"] for name, _ in finished))
        skills = dict(Counter(skill for _, marks in finished for skill in marks["skills"]))
        steps = sum(len(_steps(marks["steps"])) for _, marks in finished) / len(finished)
        figures = {
            "questions": len(finished),
            "unfinished": [name for name, *_ in unfinished],
            "lacking": [
                {"id": name, "reviewer": who, "lacks": lacks} for name, who, lacks in unfinished
            ],
            "locales": locales,
            "skills": skills,
            "steps": steps,
        }
        rows = [("questions", str(len(finished))), ("unfinished", str(len(unfinished)))]
        rows += [("steps a question", number(steps, 1))]
        rows += [(name, str(n)) for name, n in (locales | skills).items()]
        notes = [
            f"left out: {name} of {who} lacks {', '.join(lacks)}" for name, who, lacks in unfinished
        ]

        def write(path: Path) -> str:
            taken = Counter[str]()
            entries = []
            for name, marks in finished:
                about = items[name]
                taken[name] += 1
                reasoning = (f"{at}. {step}" for at, step in enumerate(_steps(marks["steps"]), 1))
                entries.append(
                    {
                        "key": "-".join(name.split())
                        + (f"-{taken[name]}" if taken[name] > 1 else ""),
                        "video_id": about["video"],
                        "locale": about["locale"],
                        "question": marks["question"].strip(),
                        "answer": marks["answer"].strip(),
                        "reasoning_steps": "\n".join(reasoning),
                        "external_links": parts.lines_of(marks.get("links", "")),
                        "skills": ", ".join(marks["skills"]),
                        "cultural_entity": marks.get("entity", "").strip(),
                        "category": about.get("category", ""),
                        "subcategory": about.get("subcategory", ""),
                    }
                )
            write_json(path, entries)
            return f"{number_of(len(entries), 'question')} written to {path}, {len(unfinished)} left out, unfinished"

        return ReviewSummary(
            self, reviews, figures, [Table(reviews.heading, ("", "#n"), rows)], write, notes
        )


WRITTEN = WrittenQuestions()


def _slot(row: Row, slot: int) -> parts.Item:
    locale = row["language"]
    scripts = GUIDE["scripts"].get(language_of(locale), ["Latin"])
    own = {"scripts": scripts, "language": language_of(locale)}
    asks = [
        ask
        | {"title": ask["title"].format(slot=slot, locale=locale)}
        | (own if ask["name"] in _IN_LANGUAGE else {})
        for ask in WRITTEN.asks
    ]
    item = parts.review_item(
        f"{row['video']} {locale} {slot}", row["video"], [], asks, language=locale
    )
    topic = {
        "category": ", ".join(row.get("category") or ()),
        "subcategory": row.get("subcategory") or "",
    }
    item["about"] |= {"locale": locale, **topic}
    return item


def _steps(text: str) -> list[str]:
    """Return steps, without their numbers where somebody gave them theirs: 1, 2, 3 and so on."""
    lines = parts.lines_of(text)
    numbers = [_NUMBER.match(line) for line in lines]
    if [number and int(number[1]) for number in numbers] != list(range(1, len(lines) + 1)):
        return lines
    return [line[number.end() :] for line, number in zip(lines, numbers, strict=True) if number]
