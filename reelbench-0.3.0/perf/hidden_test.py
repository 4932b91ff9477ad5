"""Simulate attackers of a hidden test, who learn of its answers from the totals that they are told.

    python -m perf.hidden_test --draw docs/hidden_test.svg

Each begins with a model that has 60 % of the questions of four options right, hands in files, and
puts together one last file from what came back. Its gain is that file's accuracy less the model's.
The rules are the board's own (`leaderboard.hidden_rules`): what a file is told, and how many there
may be. Files "of one account" pass the Ladder, files "of many accounts" are each an account's first,
so that every total is told: then the cap on all accounts is the only bound.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelbench.leaderboard.hidden_rules import HiddenRules, takes_the_row
from reelbench.registry import discovery
from reelbench.registry.metrics import Metric
from reelbench.registry.records import MetricValue
from reelbench.tasks.hidden_answers import rounded_total

Letters = NDArray[np.int64]
OPTIONS = 4
SHARE = 0.6
SEED = 20261129
TIMES = (0.5, 1, 2, 5, 10)
"""Numbers of files, in caps of a month."""


@dataclass(slots=True)
class Board:
    """What the board tells of files to its attacker."""

    metric: Metric
    right: Letters
    of_one_account: bool
    row: MetricValue | None = None

    def total(self, letters: Letters) -> float | None:
        """Return the total that is told of a file; None where its account's row stays."""
        share = 100 * float(np.mean(letters == self.right))
        total = rounded_total(self.metric, share, len(letters), videos=0)
        if not self.of_one_account:
            return total.value
        if not takes_the_row(self.metric, total, self.row):
            return None
        self.row = total
        return total.value


Attack = Callable[[np.random.Generator, Board, Letters, int], Letters]


def climb(draw: np.random.Generator, board: Board, model: Letters, files: int) -> Letters:
    """Change some answers of the best file so far, and keep what is told to be better."""
    best = model.copy()
    best_total = board.total(best) or 0.0
    changed = max(1, len(model) // 50)
    for _ in range(files - 1):
        letters = best.copy()
        places = draw.choice(len(model), changed, replace=False)
        letters[places] = draw.integers(0, OPTIONS, changed)
        total = board.total(letters)
        if total is not None and total > best_total:
            best = letters
            best_total = total
    return best


def _probes(draw: np.random.Generator, model: Letters, files: int, kept: float) -> Letters:
    """Return files that keep a share of a model's answers, the others drawn."""
    shape = (files, len(model))
    drawn = draw.integers(0, OPTIONS, shape)
    return np.where(draw.random(shape) < kept, model, drawn)


@dataclass(frozen=True, slots=True)
class Regression:
    """Regress the totals on the answers, beside what the model says: the best that is known."""

    kept: float

    def __call__(
        self, draw: np.random.Generator, board: Board, model: Letters, files: int
    ) -> Letters:
        """Return each question's likeliest option after all totals."""
        probes = _probes(draw, model, files, self.kept)
        totals = [board.total(letters) for letters in probes]
        told = [place for place, total in enumerate(totals) if total is not None]
        if len(told) < 2:
            return model
        right = np.array([totals[place] for place in told], dtype=float) * len(model) / 100
        spread = max(float(np.var(right)), 1.0)
        evidence = np.zeros((len(model), OPTIONS))
        for option in range(OPTIONS):
            chosen = (probes[told] == option).astype(float)
            chosen -= chosen.mean(axis=0)
            evidence[:, option] = (right - right.mean()) @ chosen / spread
            evidence[:, option] -= (chosen**2).sum(axis=0) / (2 * spread)
        prior = np.full((len(model), OPTIONS), np.log((1 - SHARE) / (OPTIONS - 1)))
        prior[np.arange(len(model)), model] = np.log(SHARE)
        return np.argmax(prior + evidence, axis=1)


@dataclass(frozen=True, slots=True)
class Vote:
    """Let all public files vote whose total is told to be above the middle of them."""

    kept: float

    def __call__(
        self, draw: np.random.Generator, board: Board, model: Letters, files: int
    ) -> Letters:
        """Return the options with most votes; a question without a majority keeps the model's."""
        probes = _probes(draw, model, files, self.kept)
        totals = np.array([board.total(letters) or 0.0 for letters in probes])
        better = probes[totals >= np.median(totals)]
        votes = np.zeros((len(model), OPTIONS))
        for option in range(OPTIONS):
            votes[:, option] = (better == option).sum(axis=0)
        votes[np.arange(len(model)), model] += 0.5
        return np.argmax(votes, axis=1)


ATTACKS: dict[str, Attack] = {
    "climbing": climb,
    "regression, all answers drawn": Regression(0.0),
    "regression, half of them": Regression(0.5),
    "regression, a tenth of them": Regression(0.9),
    "majority vote": Vote(0.5),
}


def gain(
    metric: Metric,
    attack: Attack,
    questions: int,
    files: int,
    repetitions: int,
    *,
    of_one_account: bool,
) -> tuple[float, float]:
    """Return the mean gain in points, and its 95th percentile over repetitions."""
    gains: list[float] = []
    for repetition in range(repetitions):
        draw = np.random.default_rng([SEED, questions, files, repetition])
        right = draw.integers(0, OPTIONS, questions)
        wrong = (right + draw.integers(1, OPTIONS, questions)) % OPTIONS
        model = np.where(draw.random(questions) < SHARE, right, wrong)
        board = Board(metric, right, of_one_account)
        letters = attack(draw, board, model, files)
        gains.append(100 * float(np.mean(letters == right) - np.mean(model == right)))
    return float(np.mean(gains)), float(np.percentile(gains, 95))


@dataclass(frozen=True, slots=True)
class Line:
    """One cell of the simulation; gains are in points."""

    questions: int
    files: int
    attack: str
    of_one_account: bool
    mean: float
    high: float

    @property
    def accounts(self) -> str:
        """The number of accounts in words."""
        return "one account" if self.of_one_account else "many accounts"


def _lines(metric: Metric, repetitions: int) -> Iterator[Line]:
    cells = product((300, 1000), TIMES, ATTACKS, (True, False))
    for questions, times, name, of_one_account in cells:
        files = round(HiddenRules().cap(questions) * times)
        mean, high = gain(
            metric,
            ATTACKS[name],
            questions,
            files,
            repetitions,
            of_one_account=of_one_account,
        )
        yield Line(questions, files, name, of_one_account, mean, high)


def _draw(lines: Sequence[Line], path: Path) -> None:
    """Draw the gain over the number of files, a panel for each number of questions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    panels: Any = figure.subplots(1, 2, sharey=True)
    for panel, questions in zip(panels, (300, 1000), strict=True):
        for name in ATTACKS:
            of_many = [
                line
                for line in lines
                if line.questions == questions and line.attack == name and not line.of_one_account
            ]
            files = [line.files for line in of_many]
            panel.plot(files, [line.mean for line in of_many], marker="o", label=name)
        panel.axvline(HiddenRules().cap(questions), color="grey", linestyle="--")
        panel.axhline(2, color="grey", linestyle=":")
        panel.set_title(f"{questions} questions; the cap is dashed")
        panel.set_xscale("log")
        panel.set_xlabel("files in a month, of many accounts")
    panels[0].set_ylabel("gain, points")
    panels[0].legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the gains, a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=60)
    parser.add_argument("--draw", type=Path)
    options = parser.parse_args(arguments)
    metric = discovery.find("minerva").primary
    lines: list[Line] = []
    for line in _lines(metric, options.repetitions):
        lines.append(line)
        print(
            f"{line.questions:5} questions {line.files:5} files {line.accounts:13} "
            f"{line.attack:30} {line.mean:+6.2f} (95 % below {line.high:+.2f})",
            flush=True,
        )
    if options.draw:
        _draw(lines, options.draw)


if __name__ == "__main__":
    main()
