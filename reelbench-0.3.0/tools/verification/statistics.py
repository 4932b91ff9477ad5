"""What is said of scores (agreement, ranks, tests) beside others' implementations."""

import itertools
import random

import numpy as np

from reelbench.scoring.comparison import mcnemar
from reelbench.stats import student_t
from reelbench.stats.agreement import cohen_kappa, krippendorff_alpha
from reelbench.stats.multiple_comparisons import holm
from reelbench.stats.rank_correlation import kendall_tau, spearman
from tools.verification.proof import Proof, largest, versions_of

SEED = 20261122
ROUNDS = 200


def kappa() -> Proof:
    """Cohen's kappa, plain and with quadratic weights."""
    versions = versions_of("scikit-learn")
    from sklearn.metrics import cohen_kappa_score

    draw = np.random.default_rng(SEED)
    pairs = []
    for _ in range(ROUNDS):
        a = draw.integers(0, 6, 120)
        b = np.where(draw.random(120) < 0.6, a, draw.integers(0, 6, 120))
        for weights in ("none", "quadratic"):
            theirs = cohen_kappa_score(a, b, weights=None if weights == "none" else weights)
            pairs.append((cohen_kappa(a.tolist(), b.tolist(), weights=weights), float(theirs)))
    return Proof(
        "Cohen's kappa, plain and quadratic",
        "scikit-learn",
        f"{len(pairs)} pairs of raters, 120 items each",
        largest(pairs),
        "`sklearn.metrics.cohen_kappa_score`",
        versions,
    )


def alpha() -> Proof:
    """Krippendorff's alpha of names; NLTK has no ordinal distance."""
    versions = versions_of("nltk")
    from nltk.metrics.agreement import AnnotationTask

    draw = random.Random(SEED)
    pairs = []
    for _ in range(ROUNDS // 4):
        units = [[draw.randint(0, 3) for _ in range(3)] for _ in range(40)]
        task = AnnotationTask(
            [
                (f"rater {who}", f"unit {at}", label)
                for at, unit in enumerate(units)
                for who, label in enumerate(unit)
            ]
        )
        pairs.append((krippendorff_alpha(units, level="nominal"), task.alpha()))
    return Proof(
        "Krippendorff's alpha, nominal",
        "NLTK (which has no ordinal one)",
        f"{len(pairs)} sets of 40 units by three raters",
        largest(pairs),
        "`nltk.metrics.agreement.AnnotationTask.alpha`",
        versions,
    )


def rank_correlations() -> Proof:
    """Kendall's tau-b and Spearman's rho, with ties."""
    versions = versions_of("scipy")
    from scipy import stats

    draw = np.random.default_rng(SEED)
    pairs = []
    for _ in range(ROUNDS):
        x, y = (draw.integers(0, 8, 12).astype(float).tolist() for _ in range(2))
        differences = [(x[i] - x[j], y[i] - y[j]) for i, j in itertools.combinations(range(12), 2)]
        pairs.append((kendall_tau(differences), float(stats.kendalltau(x, y).statistic)))
        pairs.append((spearman(x, y), float(stats.spearmanr(x, y).statistic)))
    return Proof(
        "Kendall's tau-b, Spearman's rho",
        "SciPy",
        f"{ROUNDS} pairs of 12 values with ties",
        largest(pairs),
        "`scipy.stats.kendalltau`, `scipy.stats.spearmanr`",
        versions,
    )


def mcnemar_test() -> Proof:
    """McNemar's exact test is a binomial one."""
    versions = versions_of("scipy")
    from scipy import stats

    counts = [(a, b) for a in range(0, 60, 3) for b in range(0, 60, 4) if a + b]
    pairs = [
        (mcnemar(a, b).p or 0.0, float(stats.binomtest(min(a, b), a + b).pvalue)) for a, b in counts
    ]
    return Proof(
        "McNemar's exact p",
        "SciPy",
        f"{len(pairs)} tables",
        largest(pairs),
        "`scipy.stats.binomtest`",
        versions,
    )


def student() -> Proof:
    """Student's t, central and not: what intervals, p values and power rest on."""
    versions = versions_of("scipy")
    from scipy import stats

    cases = [
        (t, dof, shift)
        for t in (-3.0, -0.7, 0.4, 2.1)
        for dof in (2, 9, 29, 400)
        for shift in (0.0, 0.5, 2.8)
    ]
    pairs = [
        (
            student_t.cdf(t, dof, shift=shift),
            float(stats.nct.cdf(t, dof, shift) if shift else stats.t.cdf(t, dof)),
        )
        for t, dof, shift in cases
    ]
    pairs += [
        (student_t.quantile(share, dof), float(stats.t.ppf(share, dof)))
        for share in (0.9, 0.975, 0.999)
        for dof in (2, 9, 29, 400)
    ]
    return Proof(
        "Student's t: distribution (central and not) and quantiles",
        "SciPy",
        f"{len(pairs)} values",
        largest(pairs),
        "`scipy.stats.t`, `scipy.stats.nct`",
        versions,
    )


def holm_adjustment() -> Proof:
    """Holm's step-down adjustment."""
    versions = versions_of("statsmodels")
    from statsmodels.stats.multitest import multipletests

    draw = np.random.default_rng(SEED)
    pairs = []
    for _ in range(ROUNDS):
        p_values = draw.random(15) ** 3
        theirs = multipletests(p_values, method="holm")[1]
        pairs += list(zip(holm(p_values.tolist()), theirs.tolist(), strict=True))
    return Proof(
        "Holm's adjustment",
        "statsmodels",
        f"{ROUNDS} sets of 15 p values",
        largest(pairs),
        "`statsmodels.stats.multitest.multipletests(method='holm')`",
        versions,
    )


PROOFS = {
    "Cohen's kappa": kappa,
    "Krippendorff's alpha": alpha,
    "Kendall's tau-b, Spearman's rho": rank_correlations,
    "McNemar's exact p": mcnemar_test,
    "Student's t": student,
    "Holm's adjustment": holm_adjustment,
}
