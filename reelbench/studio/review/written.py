"""Questions written by people, by CURVE's guidelines for curators (supplement, B.1.1 and B.1.2)."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

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
_TIMES = re.compile(r"(?<!\d)\d++(?::\d++)+")
_TIME = re.compile(r"[0-9]{2,3}:[0-5][0-9]")
_SKILLS = next(ask for ask in WORDS[KindName.WRITE]["asks"] if ask["name"] == "skills")
CULTURE = _SKILLS["beside"]
LEAST_SKILLS = _SKILLS["least"] + 1
_IN_LANGUAGE = ("question", "answer", "steps")
_NUMBER = re.compile(r"(\d+)[.)](?!\d)\s*")


class _Unfinished(NamedTuple):
    """A question that lacks something."""

    name: str
    reviewer: str
    lacks: list[str]


class WrittenQuestions(ReviewKind):
    """New questions on a video, each with its answer, its steps and its skills."""

    name = KindName.WRITE
    advice = (*WORDS[KindName.WRITE]["advice"], *GUIDE["advice"])

    def places(self, drawn: DrawnRows) -> list[parts.Place]:
        """Return a place for each video and locale, with fields for `SLOTS` questions."""
        columns = {column.name for column in drawn.spec.columns}
        if not columns >= {"reasoning_steps", "skills"}:
            raise InputError(
                "--ask write is for questions with steps and skills, such as curve's; "
                f"{drawn.spec.id}'s have none"
            )
        places: list[parts.Place] = []
        for video, rows in drawn.by_video.items():
            rows_by_locale = {row["language"]: row for row in reversed(rows)}
            for locale, row in rows_by_locale.items():
                slots = [_new_question_fields(row, slot) for slot in range(1, SLOTS + 1)]
                places.append(parts.Place(video, f"{video} {locale}", slots))
        return places

    def check_marks(self, marks: Marks, where: str) -> None:
        """Check that skills are names, and how times are written."""
        skills = marks.get("skills", ())
        if not isinstance(skills, list | tuple) or not all(map(_is_name, skills)):
            raise InputError(f"{where}.skills: expected a list of names, found {skills!r:.60}")
        for time in _TIMES.findall(str(marks.get("steps", ""))):
            if not _TIME.fullmatch(time):
                raise InputError(f"{where}.steps: {time} is not mm:ss, as in 06:13")

    def is_done(self, marks: Marks) -> bool:
        """Return True where nothing is lacking."""
        return not self.lacking(marks)

    def lacking(self, marks: Marks) -> list[str]:
        """Return the requirements of B.1 that a question lacks, as far as its form shows."""
        lacks = [name for name in _IN_LANGUAGE if not _field_text(marks, name)]
        skills = set(marks.get("skills", ()))
        # A question that names the entity needs the skill of culture (B.1.1 counts it; Fig. 8 to 10
        # don't list it).
        if _field_text(marks, "entity"):
            skills.add(CULTURE)
        if CULTURE not in skills:
            lacks.append("cultural entity")
        if len(skills | {CULTURE}) < LEAST_SKILLS:
            lacks.append(f"skills ({len(skills)}, at least {LEAST_SKILLS} with {CULTURE})")
        return lacks

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the finished questions by locale and skill, and their mean number of steps.

        Those that lack something are told of, and not written.

        Raises:
            InputError: No question is finished.
        """
        facts_by_item = reviews.items
        finished: list[tuple[str, Marks]] = []
        unfinished: list[_Unfinished] = []
        for name, by_reviewer in reviews.marks().items():
            for reviewer, marks in by_reviewer.items():
                lacks = self.lacking(marks)
                if "locale" not in facts_by_item.get(name, {}):
                    lacks.append("locale")
                if lacks:
                    unfinished.append(_Unfinished(name, reviewer, lacks))
                else:
                    finished.append((name, marks))
        if not finished:
            example = ""
            if unfinished:
                example = f" ({unfinished[0].name} lacks {', '.join(unfinished[0].lacks)})"
            raise InputError(f"no question is finished in these files yet{example}")
        locales = Counter(facts_by_item[name]["locale"] for name, _ in finished)
        skills: Counter[str] = Counter()
        steps = 0
        for _, marks in finished:
            skills.update(marks["skills"])
            steps += len(_steps_without_numbers(marks["steps"]))
        mean_steps = steps / len(finished)
        figures = {
            "questions": len(finished),
            "unfinished": [question.name for question in unfinished],
            "lacking": [
                {"id": question.name, "reviewer": question.reviewer, "lacks": question.lacks}
                for question in unfinished
            ],
            "locales": dict(locales),
            "skills": dict(skills),
            "steps": mean_steps,
        }
        rows = [
            ("questions", str(len(finished))),
            ("unfinished", str(len(unfinished))),
            ("steps a question", number(mean_steps, 1)),
        ]
        counts = {**locales, **skills}
        rows += [(name, str(count)) for name, count in counts.items()]
        notes: list[str] = []
        for question in unfinished:
            lacks = ", ".join(question.lacks)
            notes.append(f"left out: {question.name} of {question.reviewer} lacks {lacks}")

        def write(path: Path) -> str:
            write_json(path, _owners_entries(finished, facts_by_item))
            return (
                f"{number_of(len(finished), 'question')} written to {path}, "
                f"{len(unfinished)} left out, unfinished"
            )

        table = Table(reviews.heading, ("", "#n"), rows)
        return ReviewSummary(self, reviews, figures, [table], write, notes)


WRITTEN = WrittenQuestions()


def _is_name(skill: object) -> bool:
    return isinstance(skill, str) and bool(skill.strip())


def _field_text(marks: Marks, name: str) -> str:
    return str(marks.get(name, "")).strip()


def _owners_entries(
    questions: Iterable[tuple[str, Marks]], facts_by_item: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return questions as the owners' file has them.

    Several people's questions of one name are numbered from the second on.
    """
    times: Counter[str] = Counter()
    entries: list[dict[str, Any]] = []
    for name, marks in questions:
        facts = facts_by_item[name]
        times[name] += 1
        key = "-".join(name.split())
        if times[name] > 1:
            key += f"-{times[name]}"
        steps = [
            f"{place}. {step}"
            for place, step in enumerate(_steps_without_numbers(marks["steps"]), start=1)
        ]
        entries.append(
            {
                "key": key,
                "video_id": facts["video"],
                "locale": facts["locale"],
                "question": marks["question"].strip(),
                "answer": marks["answer"].strip(),
                "reasoning_steps": "\n".join(steps),
                "external_links": parts.lines_of(marks.get("links", "")),
                "skills": ", ".join(marks["skills"]),
                "cultural_entity": marks.get("entity", "").strip(),
                "category": facts.get("category", ""),
                "subcategory": facts.get("subcategory", ""),
            }
        )
    return entries


def _new_question_fields(row: Row, slot: int) -> parts.Item:
    """Return the fields of one new question."""
    locale = row["language"]
    language = language_of(locale)
    scripts = GUIDE["scripts"].get(language, ["Latin"])
    asks: list[parts.Part] = []
    for ask in WRITTEN.asks:
        slot_ask = {**ask, "title": ask["title"].format(slot=slot, locale=locale)}
        if ask["name"] in _IN_LANGUAGE:
            slot_ask |= {"scripts": scripts, "language": language}
        asks.append(slot_ask)
    identifier = f"{row['video']} {locale} {slot}"
    item = parts.review_item(identifier, row["video"], [], asks, language=locale)
    item["about"] |= {
        "locale": locale,
        "category": ", ".join(row.get("category") or ()),
        "subcategory": row.get("subcategory") or "",
    }
    return item


def _steps_without_numbers(text: str) -> list[str]:
    """Return steps, without the numbers 1, 2, 3 … of their writer."""
    lines = parts.lines_of(text)
    steps: list[str] = []
    for place, line in enumerate(lines, start=1):
        match = _NUMBER.match(line)
        if match is None or int(match[1]) != place:
            return lines
        steps.append(line[match.end() :])
    return steps
