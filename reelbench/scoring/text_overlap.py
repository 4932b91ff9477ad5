"""Text overlap: BLEU-4, CIDEr and METEOR over a whole set of answers.

They are computed as by pycocoevalcap. BLEU: Papineni et al. 2002. CIDEr: Vedantam et al. 2015,
section 4. METEOR: Denkowski and Lavie 2014. Tokens are the Penn Treebank tokenizer's, lower case,
without punctuation. Scales are pycocoevalcap's: BLEU and METEOR 0 to 1, CIDEr 0 to 10. The three
are defined over a corpus: no mean over items gives them.
"""

# pycocoevalcap has no types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import hashlib
import json
import logging
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from reelbench.base import files, settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.scoring import java

logger = logging.getLogger(__name__)

OverlapMetric = Literal["bleu4", "cider", "meteor"]
METRICS: tuple[OverlapMetric, ...] = get_args(OverlapMetric)

# Raised when a change here moves a score, so that no score cached before it is read again.
_CACHE_VERSION = 1


class _Pair(NamedTuple):
    """A prediction and its references."""

    prediction: str
    references: list[str]


class _SharedMeteor(ExitStack):
    """A METEOR that several computations share, started by the first that needs it."""

    meteor: java.Meteor | None = None

    def started(self, java_path: str) -> java.Meteor:
        """Return the METEOR, started if need be."""
        if self.meteor is None:
            self.meteor = self.enter_context(java.Meteor(java_path))
        return self.meteor


_shared_meteor: ContextVar[_SharedMeteor | None] = ContextVar("shared_meteor", default=None)


@contextmanager
def one_meteor() -> Generator[None]:
    """Compute all scores of the block by one METEOR, whose JVM loads for seconds."""
    with _SharedMeteor() as shared:
        token = _shared_meteor.set(shared)
        try:
            yield
        finally:
            _shared_meteor.reset(token)


def compute_score(
    references: Mapping[str, str | Sequence[str]],
    predictions: Mapping[str, str],
    metrics: Sequence[OverlapMetric] = METRICS,
) -> dict[str, float]:
    """Score all predictions at once against their references.

    Scores are cached by content under `$REELBENCH_HOME/overlap`, so scoring the same answers again
    starts no JVM. CIDEr weighs words by how rare they are among the references: of one single item
    it is 0, as upstream.

    Args:
        references: Id -> reference text, or several.
        predictions: Id -> predicted text. An empty one scores 0 and counts.
        metrics: Which of `METRICS` to compute.

    Raises:
        InputError: no items, differing ids, a value that is not text, or references without a
            single word.
        ReelbenchError: there is no Java, or it failed or hung.
    """
    unknown = [metric for metric in metrics if metric not in METRICS]
    if unknown:
        raise InputError(f"text overlap: unknown metrics {unknown}; there are {list(METRICS)}")
    pairs = _pairs(references, predictions)
    scores: dict[OverlapMetric, float] = {}
    missing: dict[OverlapMetric, Path] = {}
    for metric in metrics:
        cache_file = _cache_file(metric, pairs)
        score = _cached_score(cache_file)
        if score is None:
            missing[metric] = cache_file
        else:
            scores[metric] = score
    if missing:
        scores |= _compute(pairs, missing)
    return {metric: scores[metric] for metric in metrics}


def _pairs(
    references: Mapping[str, str | Sequence[str]], predictions: Mapping[str, str]
) -> list[_Pair]:
    """Return each item's prediction and references. InputError where they are no texts."""
    if not references:
        raise InputError("text overlap: no items to score")
    differing = sorted(references.keys() ^ predictions.keys(), key=str)
    if differing:
        raise InputError(
            f"text overlap: {len(differing)} ids are in only one of references and predictions, "
            f"first {differing[0]!r}"
        )
    pairs: list[_Pair] = []
    for key, reference in references.items():
        texts = [reference] if isinstance(reference, str) else list(reference)
        _check_text(key, "prediction", predictions[key])
        for text in texts:
            _check_text(key, "reference", text)
        if not texts:
            raise InputError(f"text overlap: item {key!r} has no reference")
        pairs.append(_Pair(predictions[key], texts))
    return pairs


def _check_text(key: str, what: str, text: object) -> None:
    if not isinstance(text, str):
        raise InputError(
            f"text overlap: item {key!r}: the {what} is {type(text).__name__}, expected text"
        )


def _cache_file(metric: OverlapMetric, pairs: Sequence[_Pair]) -> Path:
    content = json.dumps([_CACHE_VERSION, metric, version("pycocoevalcap"), pairs])
    digest = hashlib.sha256(content.encode()).hexdigest()
    return settings.home() / "overlap" / f"{digest}.json"


def _cached_score(cache_file: Path) -> float | None:
    """Return a cached score. None where there is none that can be read."""
    try:
        score = json.loads(cache_file.read_text(encoding="utf-8"))["score"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if isinstance(score, float) and math.isfinite(score):
        return score
    return None


def _compute(
    pairs: Sequence[_Pair], cache_files: Mapping[OverlapMetric, Path]
) -> dict[OverlapMetric, float]:
    """Compute metrics, and cache each score as soon as it is there."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider

    java_path = java.find_java()
    scores: dict[OverlapMetric, float] = {}
    with ExitStack() as stack:
        # METEOR's JVM loads for seconds: it starts first, and the rest is done meanwhile.
        meteor = None
        if "meteor" in cache_files:
            meteor = _start_meteor(java_path, stack)
        # Two runs, as upstream makes them: an HTML attribute that is left open in one text runs on
        # into the texts below it, so which texts stand together shows in the tokens.
        references = _tokenized_references(java_path, pairs)
        hypotheses = java.tokenize(java_path, [pair.prediction for pair in pairs])
        reference_lists = dict(enumerate(references))
        hypothesis_lists = {number: [text] for number, text in enumerate(hypotheses)}

        def bleu4() -> float:
            values, _ = Bleu(4).compute_score(reference_lists, hypothesis_lists, verbose=0)
            return float(values[3])

        def cider() -> float:
            value, _ = Cider().compute_score(reference_lists, hypothesis_lists)
            return float(value)

        computations: dict[OverlapMetric, Callable[[], float]] = {"bleu4": bleu4, "cider": cider}
        if meteor is not None:
            computations["meteor"] = lambda: meteor.score(hypotheses, references)[0]
        for metric, compute in computations.items():
            if metric not in cache_files:
                continue
            score = compute()
            if not math.isfinite(score):
                raise ReelbenchError(
                    f"text overlap: {metric} came out as {score}, which is not a score"
                )
            scores[metric] = score
            # At once, so that a METEOR that fails takes no other score with it.
            _cache(cache_files[metric], metric, score, len(pairs))
    return scores


def _start_meteor(java_path: str, stack: ExitStack) -> java.Meteor:
    """Return the shared METEOR, or one that ends with `stack`."""
    shared = _shared_meteor.get()
    if shared is None:
        return stack.enter_context(java.Meteor(java_path))
    return shared.started(java_path)


def _tokenized_references(java_path: str, pairs: Sequence[_Pair]) -> list[list[str]]:
    """Return each item's tokenized references. InputError where none has a word."""
    texts: list[str] = []
    for pair in pairs:
        texts += pair.references
    tokenized = java.tokenize(java_path, texts)
    if not any(text.split() for text in tokenized):
        raise InputError(
            "text overlap: no reference contains a single word; there is nothing to compare with"
        )
    references: list[list[str]] = []
    start = 0
    for pair in pairs:
        end = start + len(pair.references)
        references.append(tokenized[start:end])
        start = end
    return references


def _cache(cache_file: Path, metric: OverlapMetric, score: float, n: int) -> None:
    try:
        files.write_text(cache_file, json.dumps({"metric": metric, "score": score, "n": n}))
    except OSError as error:
        # The score is there all the same; only the next run pays again.
        logger.warning("%s: %s is not cached: %s", cache_file, metric, error)
