"""What MovieCORE's paper measured of data sets, to stand beside what is measured here (Table 1, Table S1)."""

from collections.abc import Mapping
from dataclasses import dataclass

_CITE = "MovieCORE (arXiv 2508.19026)"


@dataclass(frozen=True, slots=True)
class PublishedProfile:
    """A row of Table 1: means over questions, over answers, and the printed average of the two.

    `higher_order` is the share of questions and answers at level 4 or above, in per cent.
    """

    dataset: str
    benchmark: str | None
    parse_depth: tuple[float, float, float]
    flesch_kincaid: tuple[float, float, float]
    bloom: float
    higher_order: float


PUBLISHED_PROFILES = (
    PublishedProfile("MovieChat-1k", "moviechat", (3.58, 1.31, 2.45), (3.19, -0.39, 1.4), 1.8, 0.0),
    PublishedProfile("ActivityNetQA", None, (4.24, 0.27, 2.26), (2.69, 0.98, 1.84), 1.9, 0.2),
    PublishedProfile("MVBench", None, (3.96, 1.71, 2.84), (4.74, 1.47, 3.11), 2.2, 3.4),
    PublishedProfile("EgoSchema", None, (6.56, 4.38, 5.47), (10.52, 6.08, 8.30), 3.1, 33.1),
    PublishedProfile("MovieCORE", "moviecore", (5.38, 6.39, 5.88), (12.98, 15.07, 14.03), 4.9, 99.2),
)
PROFILES_CITE = f"{_CITE}, Table 1"
PROFILE_TOOLS: Mapping[str, str] = {
    "parse_depth": "spaCy; the paper names no model",
    "flesch_kincaid": "the formula of section 4.1; the paper names no tool",
    "bloom": "gpt-4o-mini-2024-07-18 with the prompts of Figure S8",
}
"""Measure -> what the paper made it with."""


@dataclass(frozen=True, slots=True)
class PublishedRatings:
    """Table S1: dimension -> part -> mean rating of people, from 1 to 5."""

    benchmark: str
    means: Mapping[str, Mapping[str, float]]
    by: str
    cite: str


PUBLISHED_RATINGS = PublishedRatings(
    "moviecore",
    {
        "accuracy": {"caption": 3.9},
        "clarity": {"caption": 4.0, "question": 4.3, "answer": 4.3},
        "depth": {"caption": 4.1, "question": 4.5, "answer": 4.2},
        "relevance": {"question": 4.0, "answer": 3.8},
        "answerability": {"question": 3.8, "answer": 4.1},
    },
    "7 people, 30 videos, 150 questions",
    f"{_CITE}, Table S1",
)
