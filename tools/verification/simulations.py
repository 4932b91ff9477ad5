"""Statements about chance beside simulations whose truth is known: false ranges of ranks, power that is promised."""

import math

import numpy as np

from reelbench.stats import student_t
from reelbench.stats.power import Pilot, rank_ranges, smallest_difference
from tools.verification.proof import Proof

SEED = 11
BOARDS, MODELS, VIDEOS, QUESTIONS = 400, 8, 150, 3
PILOTS = 60


def _difference(values: np.ndarray, video: np.ndarray, videos: int) -> tuple[float, float]:
    """Return the mean of a paired difference and its standard error over videos."""
    count = np.bincount(video, minlength=videos)
    total = np.bincount(video, weights=values, minlength=videos)
    mean = total.sum() / count.sum()
    return mean, math.sqrt(((total - count * mean) ** 2).sum() * videos / (videos - 1)) / count.sum()


def false_ranges() -> Proof:
    """How many boards state a range of ranks that leaves out a model's true place."""
    rng = np.random.default_rng(SEED)
    video = np.repeat(np.arange(VIDEOS), QUESTIONS)
    false = dict.fromkeys(("holm", "plain"), 0)
    names = [str(number) for number in range(MODELS)]
    for _ in range(BOARDS):
        truth = 0.5 + rng.normal(0, 0.005, MODELS)  # so near that only chance tells them apart
        ease = rng.normal(0, 0.15, VIDEOS)[video]
        right = rng.random((MODELS, video.size)) < np.clip(truth[:, None] + ease, 0, 1)
        tests: dict[tuple[str, str], tuple[float, float | None]] = {}
        for one in range(MODELS):
            for other in range(one):
                mean, error = _difference(right[one].astype(float) - right[other], video, VIDEOS)
                p = 2 * student_t.cdf(-abs(mean / error), VIDEOS - 1) if error else None
                tests[names[one], names[other]] = mean, p
        places = {name: 1 + sum(truth > truth[at]) for at, name in enumerate(names)}
        ranges = rank_ranges(names, tests)
        false["holm"] += any(not low <= places[name] <= high for name, (low, high) in ranges.items())
        plain = [
            (one, other) if mean > 0 else (other, one)
            for (one, other), (mean, p) in tests.items()
            if p is not None and p <= 0.05
        ]
        false["plain"] += any(places[winner] > places[loser] for winner, loser in plain)
    return Proof(
        "ranges of ranks, by Holm over all pairs: at most 5 % of boards may have a false one",
        "the truth",
        f"{BOARDS} simulated boards of {MODELS} models, {VIDEOS} videos of {QUESTIONS} questions",
        f"{100 * false['holm'] / BOARDS:.1f} % false; {100 * false['plain'] / BOARDS:.1f} % by each pair alone",
        "`stats.power.rank_ranges`",
        f"seed {SEED}",
    )


def paired_power() -> Proof:
    """How often the smallest difference that a pilot promises is found, where all of it is new discordant pairs."""
    rng = np.random.default_rng(SEED)
    found = {videos: sum(_found(rng, videos) for _ in range(PILOTS)) for videos in (30, 60, 120)}
    said = ", ".join(f"{100 * number / PILOTS:.0f} % of {videos}" for videos, number in found.items())
    return Proof(
        "the smallest difference on the same videos, promised with 80 %: at worst, "
        "where all of it is new discordant pairs",
        "the truth",
        f"{PILOTS} pilots of two models alike each, 1 to 6 questions a video, answers right or wrong",
        f"{said} videos",
        "`stats.power.smallest_difference`",
        f"seed {SEED}; ± {100 * math.sqrt(0.16 / PILOTS):.0f} points by chance",
    )


def _found(rng: np.random.Generator, videos: int) -> bool:
    video, one, other = _answers(rng, videos)
    mean, error = _difference(other - one, video, videos)
    discordant = float((one != other).mean())
    pilot = Pilot(
        100 * error, videos, paired=True, value=100 * mean, bounds=(0, 100), discordant=discordant, measured=True
    )
    effect = smallest_difference(pilot, videos) / 100
    video, one, other = _answers(rng, videos)
    both_wrong = np.flatnonzero((one == 0) & (other == 0))
    chance = min(1.0, effect * one.size / max(1, both_wrong.size))
    other[both_wrong[rng.random(both_wrong.size) < chance]] = 1
    mean, error = _difference(other - one, video, videos)
    return bool(error) and abs(mean / error) > student_t.quantile(0.975, videos - 1)


def _answers(rng: np.random.Generator, videos: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each question's video, and whether either of two models alike has it right."""
    video = np.repeat(np.arange(videos), rng.integers(1, 7, size=videos))
    shared = rng.normal(size=videos)[video] * math.sqrt(0.15) + rng.normal(size=video.size) * math.sqrt(0.3)
    own = math.sqrt(1 - 0.15 - 0.3)
    one, other = ((shared + own * rng.normal(size=video.size) < 0.25).astype(float) for _ in range(2))
    return video, one, other


PROOFS = {"false ranges of ranks": false_ranges, "paired power": paired_power}
