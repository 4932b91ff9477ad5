"""Whether intervals cover, power holds and a calibrated judge is right: simulation with known truth.

    python -m perf.coverage [--repetitions 1000] [--least 2] [--only NAME]

A video's questions share its ease, two models share a question's, and a video may suit one model
more than the other: normal terms, whose sum is cut into 0/1 (right or wrong) or 0 to 5 (a judge's
scale). Videos have 1 question and a Poisson number of mean 4 more. `icc` is the share of variance
(before the cut) that a video's questions share. A thousand repetitions take a minute or two
(coverage, differences, paired, macro), four minutes (power) and half an hour (calibration).
"""

import argparse
import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from reelbench.stats import calibration, intervals, power, student_t
from reelbench.stats.paired import Items, paired_test

Array = NDArray[np.float64]

VIDEOS = (5, 10, 30, 170)
QUESTION = 0.3  # share of variance that is a question's own, the same for both models
SUITS = 0.05  # share of variance that is one model's on one video


@dataclass(frozen=True)
class Population:
    """A benchmark of endless videos.

    Attributes:
        cuts: Where an ability becomes the next score up; one for right or wrong, five for 0 to 5.
        mean: What model a truly scores.
        icc: The share of variance of a video's ease.
    """

    cuts: tuple[float, ...]
    mean: float
    icc: float

    @property
    def name(self) -> str:
        """Its row's name."""
        return f"0 to {len(self.cuts)}, mean {self.mean}, icc {self.icc}"

    def shift(self, mean: float) -> float:
        """The ability that truly scores `mean`."""
        low, high = -8.0, 8.0
        for _ in range(60):
            middle = (low + high) / 2
            score = sum(NormalDist().cdf(middle - cut) for cut in self.cuts)
            low, high = (middle, high) if score < mean else (low, middle)
        return low

    def draw(
        self, videos: int, rng: np.random.Generator, effect: float = 0.0
    ) -> tuple[Array, Array, NDArray[np.intp]]:
        """Scores of model a and of b, who truly differs by `effect`, and each question's video."""
        video = np.repeat(np.arange(videos), 1 + rng.poisson(4, videos))
        questions = len(video)
        shared = math.sqrt(self.icc) * rng.normal(size=videos)[video] + math.sqrt(
            QUESTION
        ) * rng.normal(size=questions)
        rest = math.sqrt(1 - self.icc - QUESTION - SUITS)
        scores = []
        for mean in (self.mean, self.mean + effect):
            own = math.sqrt(SUITS) * rng.normal(size=videos)[video] + rest * rng.normal(
                size=questions
            )
            ability = self.shift(mean) + shared + own
            scores.append((ability[:, None] > np.array(self.cuts)).sum(axis=1).astype(np.float64))
        return scores[0], scores[1], video


RIGHT = (0.0,)
SCALE = (-1.2, -0.6, 0.0, 0.6, 1.2)
POPULATIONS = [
    Population(cuts, mean, icc)
    for cuts, means in ((RIGHT, (0.5, 0.8, 0.92)), (SCALE, (2.5, 4.0)))
    for mean in means
    for icc in (0.1, 0.3)
]


def resampled(values: Array, video: NDArray[np.intp]) -> tuple[float, Array, int]:
    """A mean, its draws and its clusters."""
    sums = intervals.cluster_sums(
        np.stack([values, np.ones(len(values))], axis=1), [str(v) for v in video]
    )
    draws = np.concatenate(list(intervals.resampled_sums(sums)))
    return float(values.mean()), draws[:, 0] / draws[:, 1], len(sums)


def coverage(repetitions: int) -> None:
    """Print how often each interval holds the truth, and how long it is."""
    methods: tuple[intervals.Method, ...] = ("percentile", "t", "wilson")
    print("| population | videos | " + " | ".join(f"{m} % | length" for m in methods) + " |")
    print("|" + "---|" * (2 + 2 * len(methods)))
    for population in POPULATIONS:
        bounds = (0.0, float(len(population.cuts)))
        for videos in VIDEOS:
            rng = np.random.default_rng(videos)
            covered, length = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0.0)
            for _ in range(repetitions):
                scores, _, video = population.draw(videos, rng)
                value, draws, clusters = resampled(scores, video)
                for method in methods:
                    # Where `t` sees no spread it says nothing: that counts as not covered, and as
                    # without length.
                    ends = intervals.confidence_interval(
                        value, draws, clusters, bounds=bounds, method=method
                    )
                    low, high = ends or (value, value)
                    covered[method] += low - 1e-9 <= population.mean <= high + 1e-9
                    length[method] += (high - low) / repetitions
            cells = (f"{100 * covered[m] / repetitions:.1f} | {length[m]:.3g}" for m in methods)
            print(f"| {population.name} | {videos} | " + " | ".join(cells) + " |", flush=True)


def differences(repetitions: int) -> None:
    """Print how often the intervals of a paired difference hold the truth, and how often p finds one that isn't."""
    print(
        "| population | true difference | videos | percentile % | length | t, ours % | length | p "
        "at most 0.05 % |"
    )
    print("|" + "---|" * 8)
    for population in POPULATIONS:
        top = float(len(population.cuts))
        for effect in (0.0, 0.05 * top):
            for videos in VIDEOS[1:]:  # of five, none is given
                rng = np.random.default_rng(videos)
                covered, length, alarms = np.zeros(2), np.zeros(2), 0
                for _ in range(repetitions):
                    b, a, video = population.draw(videos, rng, effect)
                    values, draws, clusters = sides(a, b, video)
                    value, gaps = values[0] - values[1], draws[0] - draws[1]
                    test = paired_test(value, gaps, clusters, items_of(a - b), bounds=(0, top))
                    if test is None:  # of too few videos
                        continue
                    alarms += test.p <= power.ALPHA
                    for at, ends in enumerate((intervals.percentiles(gaps), test.interval())):
                        low, high = ends or (value, value)
                        covered[at] += low - 1e-9 <= effect <= high + 1e-9
                        length[at] += high - low
                shares = zip(covered, length, strict=True)
                cells = [f"{100 * c / repetitions:.1f} | {n / repetitions:.3g}" for c, n in shares]
                print(
                    f"| {population.name} | {effect:g} | {videos} | {' | '.join(cells)} "
                    f"| {100 * alarms / repetitions:.1f} |",
                    flush=True,
                )


@dataclass(frozen=True)
class PairOfModels:
    """Two models that answer the same questions right or wrong.

    Attributes:
        name: The row's name.
        right_a: Share of all questions that a truly has right.
        right_b: The same of b.
        alike: Share of a question's own ease (beside its video's) that both models see alike. At 1
            the better model is right wherever the other is.
    """

    name: str
    right_a: float
    right_b: float
    alike: float

    def draw(
        self, size: tuple[int, int, int], icc: float, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Draw 0 and 1 of both models: repetitions x videos x questions."""
        of_video = math.sqrt(icc) * rng.normal(size=(*size[:2], 1))
        of_question = math.sqrt((1 - icc) * self.alike) * rng.normal(size=size)
        scores: list[Array] = []
        for right in (self.right_a, self.right_b):
            of_model = math.sqrt((1 - icc) * (1 - self.alike)) * rng.normal(size=size)
            is_right = of_video + of_question + of_model < NormalDist().inv_cdf(right)
            scores.append(is_right.astype(np.float64))
        return scores[0], scores[1]


PAIRS_OF_MODELS = (
    PairOfModels("98 and 95 %", 0.98, 0.95, 0),
    PairOfModels("99 and 97 %", 0.99, 0.97, 0),
    PairOfModels("3 and 1 %", 0.03, 0.01, 0),
    PairOfModels("97 and 95 %, one right wherever the other is", 0.97, 0.95, 1),
    PairOfModels("60 and 50 %", 0.6, 0.5, 0),
    PairOfModels("two checkpoints, 70 and 67 %", 0.7, 0.67, 0.9),
    PairOfModels("two checkpoints, 95 and 93 %", 0.95, 0.93, 0.97),
    PairOfModels("two checkpoints, both 70 %", 0.7, 0.7, 0.9),
)
MANY_PAIRS = 10
"""Pairs that are expected to differ from which on 95 % must be 93 to 97; below it may be more."""


def pairs_of_models(repetitions: int) -> None:
    """Print how often the interval of two models' difference holds the truth.

    Most settings have few pairs that differ. The last line has the least and the most covered.
    """
    print(
        "| right | icc | questions a video | videos | pairs that differ | covers % | width, points "
        "| p at most 0.05 % |"
    )
    print("|" + "---|" * 8)
    covered: dict[bool, list[float]] = {True: [], False: []}
    for place, models in enumerate(PAIRS_OF_MODELS):
        for icc in (0.0, 0.2):
            for questions in (1, 4):
                for videos in (10, 20, 40, 100):
                    size = (repetitions, videos, questions)
                    rng = np.random.default_rng([place, int(10 * icc), questions, videos])
                    a, b = models.draw(size, icc, rng)
                    differing = float(np.abs(a - b).sum() / repetitions)
                    percent, width, significant = _covered(a - b, models.right_a - models.right_b)
                    covered[differing >= MANY_PAIRS].append(percent)
                    print(
                        f"| {models.name} | {icc:g} | {questions} | {videos} | {differing:.1f} "
                        f"| {percent:.1f} | {width:.1f} | {significant:.1f} |",
                        flush=True,
                    )
    few = covered[False]
    many = covered[True]
    print(f"\nfewer than {MANY_PAIRS} differ: {min(few):.1f} to {max(few):.1f} %", end="; ")
    print(f"{MANY_PAIRS} or more: {min(many):.1f} to {max(many):.1f} %")


def _covered(differences: Array, truth: float) -> tuple[float, float, float]:
    """Return how much is covered, the mean width, and how often p is at most 0.05.

    Shares are in per cent, the width in points.
    `differences` are those of single items: repetitions x videos x questions.
    """
    repetitions, videos, _ = differences.shape
    by_video = differences.mean(axis=2)
    draws = np.concatenate(list(intervals.resampled_sums(by_video.T))) / videos
    hits = 0
    width = 0.0
    significant = 0
    for place in range(repetitions):
        value = float(by_video[place].mean())
        items = items_of(differences[place])
        test = paired_test(value, draws[:, place], videos, items, bounds=(0, 1))
        if test is None:  # of too few videos
            continue
        low, high = test.interval()
        hits += low - 1e-9 <= truth <= high + 1e-9
        width += high - low
        significant += test.p <= power.ALPHA
    return 100 * hits / repetitions, 100 * width / repetitions, 100 * significant / repetitions


def items_of(differences: Array) -> Items:
    """Return what a paired test needs of items' differences."""
    n = differences.size
    return Items(n, float(differences.var()) / n, int(np.count_nonzero(differences)))


def sides(
    a: Array, b: Array, video: NDArray[np.intp]
) -> tuple[tuple[float, float], tuple[Array, Array], int]:
    """Two models' means, their draws and their clusters."""
    (value_a, draws_a, clusters), (value_b, draws_b, _) = resampled(a, video), resampled(b, video)
    return (value_a, value_b), (draws_a, draws_b), clusters


def macro(repetitions: int) -> None:
    """Print how often the interval of a mean over 18 labels' means (CURVE's locales) holds the truth."""
    labels = 18
    print(
        "| population | videos a label | percentile % | length | t % | length | wilson % | length |"
    )
    print("|" + "---|" * 8)
    for population in POPULATIONS:
        bounds = (0.0, float(len(population.cuts)))
        for videos in (2, 5, 10):
            rng = np.random.default_rng(videos)
            methods: tuple[intervals.Method, ...] = ("percentile", "t", "wilson")
            covered, length = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0.0)
            for _ in range(repetitions):
                drawn = [population.draw(videos, rng)[::2] for _ in range(labels)]
                value = float(np.mean([values.mean() for values, _ in drawn]))
                table = np.zeros((sum(len(values) for values, _ in drawn), 2 * labels))
                names: list[str] = []
                for label, (values, video) in enumerate(drawn):
                    rows = slice(len(names), len(names) + len(values))
                    table[rows, 2 * label], table[rows, 2 * label + 1] = values, 1
                    names += [f"{label}-{v}" for v in video]
                blocks = np.concatenate(
                    list(intervals.resampled_sums(intervals.cluster_sums(table, names)))
                )
                with np.errstate(invalid="ignore"):
                    draws = (blocks[:, ::2] / blocks[:, 1::2]).mean(axis=1)
                for method in methods:
                    ends = intervals.confidence_interval(
                        value, draws, labels * videos, bounds=bounds, method=method
                    )
                    low, high = ends or (value, value)
                    covered[method] += low - 1e-9 <= population.mean <= high + 1e-9
                    length[method] += (high - low) / repetitions
            cells = (f"{100 * covered[m] / repetitions:.1f} | {length[m]:.3g}" for m in methods)
            print(f"| {population.name} | {videos} | " + " | ".join(cells) + " |", flush=True)


def powers(repetitions: int) -> None:
    """Print the power that a pilot promises and how often the test then finds the difference."""
    print(
        "| population | | videos | true difference | promised % | found % | found where there is "
        "none % |"
    )
    print("|---|---|---|---|---|---|---|")
    for population in (
        Population(RIGHT, 0.5, 0.1),
        Population(RIGHT, 0.7, 0.3),
        Population(SCALE, 2.5, 0.1),
    ):
        for is_paired in (True, False):
            for videos in VIDEOS:
                rng = np.random.default_rng(videos)
                # The smallest difference by a pilot without error; where the scale is too short for
                # it, what fits.
                large = pilot_of(population, 1000, rng, 0.0, paired=is_paired)
                effect = min(
                    power.smallest_difference(large, videos),
                    0.9 * (len(population.cuts) - population.mean),
                )
                pilots = [
                    pilot_of(population, videos, rng, effect, paired=is_paired)
                    for _ in range(repetitions)
                ]
                promised = [power.power(pilot, effect, videos) for pilot in pilots]
                power_seen, false_alarms = (
                    np.mean(
                        [
                            _finds(population, videos, rng, difference, paired=is_paired)
                            for _ in range(repetitions)
                        ]
                    )
                    for difference in (effect, 0.0)
                )
                print(
                    f"| {population.name} | {'paired' if is_paired else 'unpaired'} | {videos} | "
                    f"{effect:.3g} | "
                    f"{100 * np.mean(promised):.1f} | {100 * power_seen:.1f} | "
                    f"{100 * false_alarms:.1f} |",
                    flush=True,
                )


def pilot_of(
    population: Population, videos: int, rng: np.random.Generator, effect: float, *, paired: bool
) -> power.Pilot:
    """What two models' results (paired) or one's say of the noise."""
    a, b, video = population.draw(videos, rng, effect)
    value, draws, clusters = resampled(b - a if paired else a, video)
    bounds = (0.0, float(len(population.cuts)))
    return power.Pilot(
        intervals.standard_error(draws, clusters),
        clusters,
        paired=paired,
        value=value,
        bounds=bounds,
    )


def _finds(
    population: Population, videos: int, rng: np.random.Generator, effect: float, *, paired: bool
) -> bool:
    a, b, video = population.draw(videos, rng, effect)
    if paired:
        top = float(len(population.cuts))
        items = items_of(b - a)
        test = paired_test(*resampled(b - a, video), items, bounds=(0, top))
        return test is not None and test.p <= power.ALPHA
    _, others, video_b = population.draw(videos, rng, effect)
    (value_a, draws_a, n), (value_b, draws_b, _) = resampled(a, video), resampled(others, video_b)
    error = math.hypot(intervals.standard_error(draws_a, n), intervals.standard_error(draws_b, n))
    return bool(error) and abs(value_b - value_a) / error >= student_t.quantile(
        1 - power.ALPHA / 2, 2 * (n - 1)
    )


JUDGES = {"good": (0.5, 0.6), "fair": (0.5, 1.5), "noise": (0.0, math.inf)}
"""How much higher than people a judge scores, and how far it strays (steps of the scale)."""


def judged(people: Array, judge: str, top: int, rng: np.random.Generator) -> Array:
    """The judge's scores of answers that people score so."""
    bias, strays = JUDGES[judge]
    if math.isinf(strays):
        return rng.integers(0, top + 1, len(people)).astype(np.float64)
    return np.clip(np.rint(people + bias + strays * rng.normal(size=len(people))), 0, top)


def calibrations(repetitions: int) -> None:
    """Print how often the corrected means hold the truth, how long their intervals are, and what is said of the judge.

    `length` is a share of the interval that people's scores alone give.
    """
    print(
        "| population | judge | videos | labels | people % | corrected % | length | by confusion "
        "% | length "
        "| helps % | no gain % |"
    )
    print("|" + "---|" * 11)
    for population in (Population(SCALE, 2.5, 0.1), Population((-0.5, 0.5), 1.2, 0.2)):
        for judge in JUDGES:
            for videos, labels in ((30, 40), (170, 40), (170, 100), (170, 300)):
                cells = _calibrated(population, judge, videos, labels, repetitions)
                print(
                    f"| {population.name} | {judge} | {videos} | {labels} | {cells} |", flush=True
                )


def _calibrated(
    population: Population, judge: str, videos: int, labels: int, repetitions: int
) -> str:
    rng = np.random.default_rng(labels)
    top = len(population.cuts)
    covered = np.zeros(3)
    length = np.zeros(3)
    verdicts = {"helps": 0, "no gain": 0, "too few labels": 0}
    for _ in range(repetitions):
        truth, _, video = population.draw(videos, rng)
        sample = np.zeros(len(truth), dtype=bool)
        sample[rng.choice(len(truth), size=labels, replace=False)] = True
        result = calibration.calibrate(
            [float(score) for score in judged(truth, judge, top, rng)],
            [float(score) if given else None for score, given in zip(truth, sample, strict=True)],
            [str(v) for v in video],
            bounds=(0, top),
            steps=range(top + 1) if top == 2 else None,  # the longer scale's matrix takes minutes
        )
        verdicts[result.verdict] += 1
        for at, estimate in enumerate((result.people, result.corrected, result.confusion_mean)):
            if estimate is not None and estimate.ci95 is not None:
                covered[at] += estimate.ci95[0] <= population.mean <= estimate.ci95[1]
                length[at] += estimate.ci95[1] - estimate.ci95[0]
    percent = 100 * covered / repetitions
    by_confusion = f"{percent[2]:.1f} | {length[2] / length[0]:.2f}" if top == 2 else " | "
    shares = " | ".join(
        f"{100 * verdicts[name] / repetitions:.0f}" for name in ("helps", "no gain")
    )
    return (
        f"{percent[0]:.1f} | {percent[1]:.1f} | {length[1] / length[0]:.2f} | {by_confusion} | "
        f"{shares}"
    )


MEASURES = (
    ("coverage", coverage),
    ("differences", differences),
    ("paired", pairs_of_models),
    ("macro", macro),
    ("power", powers),
    ("calibration", calibrations),
)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument(
        "--least", type=int, default=2, help="clusters from which on to ask for an interval"
    )
    parser.add_argument("--only", choices=[name for name, _ in MEASURES])
    given = parser.parse_args()
    intervals.MIN_CLUSTERS = given.least  # what users get none of is measured as well, to say why
    for name, measure in MEASURES:
        if given.only in (None, name):
            measure(given.repetitions)
            print()


if __name__ == "__main__":
    main()
