"""Text overlap: BLEU-4, CIDEr and METEOR over a whole set of answers, as pycocoevalcap computes them.

BLEU: Papineni et al. 2002; CIDEr: Vedantam et al. 2015, section 4; METEOR: Denkowski and Lavie
2014. Tokens are the Penn Treebank tokenizer's, lower case, without punctuation. Scales are
pycocoevalcap's: BLEU and METEOR 0 to 1, CIDEr 0 to 10. The three are defined over a corpus: no mean
over items gives them.
"""

# pycocoevalcap has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import hashlib
import json
import logging
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from typing import Literal, get_args

from reelbench.base import files, settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.scoring import java

logger = logging.getLogger(__name__)

OverlapMetric = Literal["bleu4", "cider", "meteor"]
METRICS: tuple[OverlapMetric, ...] = get_args(OverlapMetric)

# Raised when a change here moves a score, so that no score cached before it is read again.
_CACHE_VERSION = 1

Pair = tuple[str, list[str]]
"""A prediction and its references."""

_kept: ContextVar["_Kept | None"] = ContextVar("kept", default=None)


class _Kept(ExitStack):
    """A METEOR that several computations share, started by the first that needs it."""

    meteor: java.Meteor | None = None


@contextmanager
def one_meteor() -> Generator[None]:
    """Compute all scores of the block by one METEOR, whose JVM loads for seconds."""
    with _Kept() as kept:
        token = _kept.set(kept)
        try:
            yield
        finally:
            _kept.reset(token)


def compute_score(
    references: Mapping[str, str | Sequence[str]],
    predictions: Mapping[str, str],
    metrics: Sequence[OverlapMetric] = METRICS,
) -> dict[str, float]:
    """Score all predictions at once against their references; ids that only one side has are an error.

    Scores are cached by content under `$REELBENCH_HOME/overlap`, so scoring the same answers again
    starts no JVM. CIDEr weighs words by how rare they are among the references: of one single item
    it is 0, as upstream.

    Args:
        references: Id -> reference text, or several.
        predictions: Id -> predicted text; an empty one scores 0 and counts.
        metrics: Which of `METRICS` to compute.

    Raises:
        InputError: no items, differing ids, a value that is not text, or references without a
            single word.
        ReelbenchError: there is no Java, or it failed or hung.
    """
    unknown = [metric for metric in metrics if metric not in METRICS]
    if unknown:
        raise InputError(f"text overlap: unknown metrics {unknown}; there are {list(METRICS)}")
    if not references:
        raise InputError("text overlap: no items to score")
    if differing := sorted(references.keys() ^ predictions.keys(), key=str):
        raise InputError(
            f"text overlap: {len(differing)} ids are in only one of references and predictions, first {differing[0]!r}"
        )
    pairs: list[Pair] = []
    for key, reference in references.items():
        texts = [reference] if isinstance(reference, str) else list(reference)
        given: list[tuple[str, object]] = [
            ("prediction", predictions[key]),
            *(("reference", text) for text in texts),
        ]
        for what, text in given:
            if not isinstance(text, str):
                raise InputError(
                    f"text overlap: item {key!r}: the {what} is {type(text).__name__}, expected text"
                )
        if not texts:
            raise InputError(f"text overlap: item {key!r} has no reference")
        pairs.append((predictions[key], texts))
    places: dict[OverlapMetric, Path] = {}
    for metric in metrics:
        content = json.dumps([_CACHE_VERSION, metric, version("pycocoevalcap"), pairs])
        places[metric] = (
            settings.home() / "overlap" / f"{hashlib.sha256(content.encode()).hexdigest()}.json"
        )
    scores: dict[OverlapMetric, float] = {}
    for metric, place in places.items():
        with suppress(
            OSError, ValueError, KeyError, TypeError
        ):  # one that can't be read is computed again
            score = json.loads(place.read_text(encoding="utf-8"))["score"]
            if isinstance(score, float) and math.isfinite(score):
                scores[metric] = score
    missing: dict[OverlapMetric, Path] = {
        metric: place for metric, place in places.items() if metric not in scores
    }
    if missing:
        scores |= _compute(pairs, missing)
    return {metric: scores[metric] for metric in metrics}


def _compute(pairs: list[Pair], places: Mapping[OverlapMetric, Path]) -> dict[OverlapMetric, float]:
    """Compute metrics -> their scores, each kept at its place as soon as it is there."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider

    java_path = java.find_java()
    scores: dict[OverlapMetric, float] = {}
    with ExitStack() as stack:
        # METEOR's JVM loads for seconds: it starts first, and the rest is done meanwhile.
        meteor = None
        if "meteor" in places:
            kept = _kept.get()
            if kept is None:
                meteor = stack.enter_context(java.Meteor(java_path))
            else:
                if kept.meteor is None:
                    kept.meteor = kept.enter_context(java.Meteor(java_path))
                meteor = kept.meteor
        # Two runs, as upstream makes them: an HTML attribute that is left open in one text runs on
        # into the texts below it, so which texts stand together shows in the tokens.
        tokens = iter(
            java.tokenize(java_path, [reference for _, given in pairs for reference in given])
        )
        references = {n: [next(tokens) for _ in given] for n, (_, given) in enumerate(pairs)}
        hypotheses = java.tokenize(java_path, [hypothesis for hypothesis, _ in pairs])
        if not any(text.split() for texts in references.values() for text in texts):
            raise InputError(
                "text overlap: no reference holds a single word; there is nothing to compare with"
            )
        singletons = {n: [text] for n, text in enumerate(hypotheses)}
        computations: dict[OverlapMetric, Callable[[], float]] = {
            "bleu4": lambda: float(Bleu(4).compute_score(references, singletons, verbose=0)[0][3]),
            "cider": lambda: float(Cider().compute_score(references, singletons)[0]),
        }
        if meteor is not None:
            computations["meteor"] = lambda: meteor.score(hypotheses, list(references.values()))[0]
        for metric, compute in computations.items():
            if metric not in places:
                continue
            scores[metric] = score = compute()
            if not math.isfinite(score):
                raise ReelbenchError(
                    f"text overlap: {metric} came out as {score}, which is not a score"
                )
            try:  # at once, so that a METEOR that fails takes no other score with it
                files.write_text(
                    places[metric], json.dumps({"metric": metric, "score": score, "n": len(pairs)})
                )
            except OSError as error:
                # The score is there all the same; only the next run pays again.
                logger.warning("%s: %s is not cached: %s", places[metric], metric, error)
    return scores
