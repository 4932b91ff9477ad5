"""Statements about chance beside simulations whose truth is known: ranges of ranks, coverage, promised power."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from statistics import NormalDist

import numpy as np

from reelbench.stats import student_t
from reelbench.stats.intervals import confidence_interval, mean_over_clusters
from reelbench.stats.multiple_comparisons import Pairs, rank_ranges
from reelbench.stats.power import Pilot, smallest_difference
from tools.verification.proof import Proof

SEED = 11
BOARDS, MODELS, VIDEOS, QUESTIONS = 400, 8, 150, 3
PILOTS, AFTER, STUDIES = 400, 4, 1000


def _difference(values: np.ndarray, video: np.ndarray, videos: int) -> tuple[float, float]:
    """Return the mean of a paired difference and its standard error over videos."""
    count = np.bincount(video, minlength=videos)
    total = np.bincount(video, weights=values, minlength=videos)
    mean = total.sum() / count.sum()
    return mean, math.sqrt(
        ((total - count * mean) ** 2).sum() * videos / (videos - 1)
    ) / count.sum()


def false_ranges() -> Proof:
    """How many boards state a range of ranks that leaves out a model's true place."""
    rng = np.random.default_rng(SEED)
    video = np.repeat(np.arange(VIDEOS), QUESTIONS)
    false = dict.fromkeys(("holm", "plain"), 0)
    for _ in range(BOARDS):
        truth = 0.5 + rng.normal(0, 0.005, MODELS)  # so near that only chance tells them apart
        ease = rng.normal(0, 0.15, VIDEOS)[video]
        right = rng.random((MODELS, video.size)) < np.clip(truth[:, None] + ease, 0, 1)
        tests: dict[tuple[int, int], tuple[float, float | None]] = {}
        for one in range(MODELS):
            for other in range(one):
                mean, error = _difference(right[one].astype(float) - right[other], video, VIDEOS)
                p = 2 * student_t.cdf(-abs(mean / error), VIDEOS - 1) if error else None
                tests[one, other] = mean, p
        places = [1 + sum(truth > own) for own in truth]
        first, second = np.array(list(tests)).T
        difference, p_values = np.array(list(tests.values()), dtype=float).T
        ranges = rank_ranges(MODELS, Pairs(first, second, difference, p_values))
        false["holm"] += any(
            not low <= place <= high for place, (low, high) in zip(places, ranges, strict=True)
        )
        plain = [
            (one, other) if mean > 0 else (other, one)
            for (one, other), (mean, p) in tests.items()
            if p is not None and p <= 0.05
        ]
        false["plain"] += any(places[winner] > places[loser] for winner, loser in plain)
    return Proof(
        "ranges of ranks, with Holm's correction over all pairs: at most 5 % of leaderboards may "
        "have a wrong one",
        "the truth",
        f"{BOARDS} simulated leaderboards of {MODELS} models, {VIDEOS} videos of {QUESTIONS} "
        "questions",
        f"{100 * false['holm'] / BOARDS:.1f} % false; {100 * false['plain'] / BOARDS:.1f} % "
        "without the correction",
        "`stats.multiple_comparisons.rank_ranges`",
        f"seed {SEED}",
    )


SETTINGS = (
    # videos of the pilot and planned, questions a video (0: 1 to 6), correlation within a video,
    # the pilot's difference
    *(
        (30, 30, 0, 0.15, 0.0),
        (30, 30, 3, 0.3, 0.0),
        (30, 60, 0, 0.15, 0.0),
        (60, 30, 0, 0.15, 0.0),
    ),
    *(
        (60, 60, 0, 0.15, 0.0),
        (60, 60, 0, 0.15, 0.08),
        (60, 60, 6, 0.05, 0.0),
        (60, 200, 0, 0.15, 0.08),
    ),
    *((120, 120, 0, 0.15, 0.0), (80, 80, 3, 0.15, 0.0)),
)
ALIKE = 0.4
"""Share of the rest's variance that two models have in common."""


def paired_power() -> Iterator[Proof]:
    """How often the smallest difference that a pilot promises with 80 % is found."""
    how = {
        "the better model answers more questions that both had wrong": ("new", SETTINGS),
        "every question is easier for the better model": (
            "even",
            (SETTINGS[0], SETTINGS[4], SETTINGS[8]),
        ),
        "scores from 0 to 1, plus the difference": (
            "scores",
            (SETTINGS[0], SETTINGS[4], SETTINGS[7]),
        ),
    }
    for what, (kind, settings) in how.items():
        found = [_found(kind, setting) for setting in settings]
        said = ", ".join(
            f"{100 * share:.0f} % of {pilot}→{planned}"
            for share, (pilot, planned, *_) in zip(found, settings, strict=True)
        )
        yield Proof(
            f"the smallest difference that is found in 80 % of studies on the same videos: {what}",
            "the truth",
            f"{len(settings)} settings, {PILOTS} pilots each, and {AFTER} studies of each; videos "
            "of pilot→study",
            said,
            "`stats.power.smallest_difference`",
            f"seed {SEED}",
        )


def _found(kind: str, setting: tuple[int, int, int, float, float]) -> float:
    """Return the share of studies in which the difference that their pilot promises is found."""
    videos, planned, questions, icc, gap = setting
    rng, found = np.random.default_rng(SEED), []
    draw = partial(_answers, rng, questions=questions, icc=icc, scores=kind == "scores")
    for _ in range(PILOTS):
        video, one, other = draw(videos)
        if gap and kind == "new":
            other = _better(rng, one, other, gap)
        pilot = _pilot(video, one, other, videos, scores=kind == "scores")
        effect = smallest_difference(pilot, planned) / 100
        shift = _shift(effect) if kind == "even" else 0.0
        for _ in range(AFTER):
            video, one, other = draw(planned, shift=shift)
            if kind == "new":
                other = _better(rng, one, other, effect)
            elif kind == "scores":
                other = other + effect
            mean, error = _difference(other - one, video, planned)
            found.append(bool(error) and abs(mean / error) > student_t.quantile(0.975, planned - 1))
    return float(np.mean(found))


def _pilot(
    video: np.ndarray, one: np.ndarray, other: np.ndarray, videos: int, *, scores: bool
) -> Pilot:
    mean, error = _difference(other - one, video, videos)
    pilot = Pilot(
        100 * error, videos, paired=True, value=100 * mean, bounds=(0, 100), measured=True
    )
    if scores:
        return pilot
    both_wrong = ((one == 0) & (other == 0)).astype(float)
    share, spread = _difference(both_wrong, video, videos)
    excess = max(0.0, spread**2 - share * (1 - share) / video.size)
    return replace(pilot, discordant=float((one != other).mean()), room=share, excess=excess)


def _better(rng: np.random.Generator, one: np.ndarray, other: np.ndarray, by: float) -> np.ndarray:
    """Return the other model's answers with as many more of those right that both have wrong."""
    both_wrong = np.flatnonzero((one == 0) & (other == 0))
    right = both_wrong[rng.random(both_wrong.size) < by * one.size / max(1, both_wrong.size)]
    better = other.copy()
    better[right] = 1
    return better


def _shift(effect: float) -> float:
    """Return by how much easier every question must be for the share of right answers to rise by an effect."""
    normal = NormalDist()
    return normal.inv_cdf(min(0.999, normal.cdf(-0.25) + effect)) + 0.25


def _answers(
    rng: np.random.Generator,
    videos: int,
    *,
    questions: int,
    icc: float,
    scores: bool,
    shift: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each question's video, and what two models alike have of it, the second with an ease of its own.

    Four in ten answers are right; or, with `scores`, each has a score near 0.4.
    """
    number = rng.integers(1, 7, size=videos) if questions == 0 else questions
    video = np.repeat(np.arange(videos), number)
    alike = ALIKE * (1 - icc)
    shared = rng.normal(size=videos)[video] * math.sqrt(icc) + rng.normal(
        size=video.size
    ) * math.sqrt(alike)
    own = math.sqrt(1 - icc - alike)
    ease = [-0.25 + more - shared + own * rng.normal(size=video.size) for more in (0.0, shift)]
    one, other = (0.5 + 0.1 * at if scores else (at > 0).astype(float) for at in ease)
    return video, one, other


def several_runs() -> Proof:
    """How often the interval of a mean over several runs holds what runs come to in the long run."""
    rng, said = np.random.default_rng(SEED), []
    for videos, runs, of_run, centre in (
        (30, 3, 0.0, 0.5),
        (100, 5, 0.02, 0.5),
        (40, 3, 0.08, 0.5),
        (30, 3, 0.0, 0.9),
    ):
        counts = rng.multinomial(videos, np.full(videos, 1 / videos), size=400) / videos
        covered = 0
        for _ in range(STUDIES):
            chance = centre + rng.normal(0, 0.2 * math.sqrt(centre * (1 - centre)), videos)
            chance = np.clip(chance + rng.normal(0, of_run, (runs, 1)), 0, 1)
            right = (rng.random((runs, videos, 4)) < chance[:, :, None]).mean(axis=2)
            draws = counts @ right.mean(axis=0)
            ends = confidence_interval(
                right.mean(), draws, videos, bounds=(0, 1), runs=right.mean(axis=1)
            )
            covered += ends is not None and ends[0] <= centre <= ends[1]
        said.append(
            f"{100 * covered / STUDIES:.1f} % of {runs} runs on {videos} videos (mean "
            f"{100 * centre:.0f})"
        )
    return Proof(
        "the 95 % interval of the mean of several runs; it covers the variation of videos and of "
        "runs",
        "the truth",
        f"{STUDIES} simulations each, 4 questions per video, answers right or wrong",
        "; ".join(said),
        "`stats.intervals.confidence_interval`",
        f"seed {SEED}",
    )


def coverage() -> Proof:
    """How often the interval of one run holds the truth."""
    rng, said = np.random.default_rng(SEED), []
    for videos, centre, icc in (
        (10, 0.5, 0.2),
        (15, 0.9, 0.0),
        (30, 0.05, 0.2),
        (50, 0.7, 0.2),
        (150, 0.98, 0.0),
    ):
        covered, spread = 0, math.sqrt(icc * centre * (1 - centre))
        for _ in range(STUDIES):
            chance = (
                np.full(videos, centre)
                if not icc
                else rng.beta(*_beta(centre, spread), size=videos)
            )
            right = (rng.random((videos, 4)) < chance[:, None]).astype(float).ravel()
            names = [str(number) for number in np.repeat(np.arange(videos), 4)]
            ends = mean_over_clusters(right, names, bounds=(0, 1)).ci95
            covered += ends is not None and ends[0] <= centre <= ends[1]
        said.append(
            f"{100 * covered / STUDIES:.1f} % on {videos} videos (mean {100 * centre:.0f}, "
            f"correlation {icc:g})"
        )
    return Proof(
        "the 95 % interval of a score over videos",
        "the truth",
        f"{STUDIES} simulations each, 4 questions per video",
        "; ".join(said),
        "`stats.intervals.mean_over_clusters`",
        f"seed {SEED}",
    )


def _beta(mean: float, spread: float) -> tuple[float, float]:
    """Return the two parameters of a beta distribution with that mean and standard deviation."""
    total = mean * (1 - mean) / spread**2 - 1
    return mean * total, (1 - mean) * total


PROOFS = {
    "false ranges of ranks": false_ranges,
    "coverage": coverage,
    "coverage over runs": several_runs,
    "paired power": paired_power,
}
