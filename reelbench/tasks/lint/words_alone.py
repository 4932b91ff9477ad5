"""What words alone can do: a model trained on the questions' and options' words, and no video.

Logistic regression tells right from wrong options by their words, their marks and lengths beside
the others', and the words of the question that they stand with. It is trained on four fifths of
the videos and answers the questions about the other fifth, five times. What it gets right, nobody
has to watch for. Other rules say which way to choose is right too often. This one learns its way.

It needs scikit-learn (the extra `lint`).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reelbench.base.errors import installing
from reelbench.stats.intervals import Array, Places
from reelbench.stats.option_guesses import GuessTest, RightPlaces
from reelbench.tasks.lint.findings import FAMILY_LEVEL, FEWEST_ROWS, Rule
from reelbench.tasks.lint.questions import Choices

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FOLDS = 5
SEED = 0
FEWEST_QUESTIONS = 100
_SMALLEST = 0.05
_STRENGTH = 0.1  # of the words' weights: the inverse of scikit-learn's regularisation
_COLUMNS = 2**18  # into which words and pairs of words are hashed
_FEWEST_OPTIONS = 2  # that have a feature
_ASKING_WORDS = 2  # of a question's beginning, beside each word of an option

_WORD = re.compile(r"\w+")

RULE = Rule(
    name="words_alone",
    title="words alone, trained, answer too many questions",
    threshold="5 points above chance, and above the best letter of the training folds",
)


@dataclass(frozen=True, slots=True)
class LabelScore:
    """The right answers in a label.

    Attributes:
        rows: The number of its questions.
        test: How often words alone are right, held to chance.
    """

    rows: int
    test: GuessTest


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsAlone:
    """The score of words alone on a split.

    Attributes:
        split: The split.
        rows: The number of its questions.
        videos: The number of their videos.
        test: How often words alone are right, held to chance.
        constant: How often the best letter of the training folds is right.
        by_label: Label -> its score.
        scikit_learn: The version of scikit-learn.
    """

    split: str
    rows: int
    videos: int
    test: GuessTest
    constant: float
    by_label: dict[str, LabelScore]
    scikit_learn: str

    @property
    def is_finding(self) -> bool:
        """True where it is better than chance, and than always naming one letter."""
        if self.test.p_above > FAMILY_LEVEL:
            return False
        bar = max(self.test.chance, self.constant)
        return self.test.value - bar >= _SMALLEST


def reason_not_tried() -> str | None:
    """Return why words alone can't be tried here, or None."""
    if find_spec("sklearn") is None:
        return (
            "words alone were not tried, as scikit-learn is not installed (--no-baseline leaves "
            f"them out); {installing('lint')}"
        )
    return None


def has_enough_questions(choices: Choices) -> bool:
    """Return True for enough questions and videos to train on."""
    videos = set(choices.right.videos)
    return len(choices.questions) >= FEWEST_QUESTIONS and len(videos) >= FOLDS


def words_alone(split: str, choices: Choices) -> WordsAlone | None:
    """Return the score of words alone. None for too few questions or videos."""
    if not has_enough_questions(choices):
        return None
    import sklearn

    folds = _folds_of_questions(choices.right.videos)
    options = _OptionTable.of(choices)
    worth = choices.no_worth()
    constant_hits = 0
    for fold in range(FOLDS):
        held_out = folds == fold
        scores = options.scores_of(held_out)
        for question, place in options.best_places(scores, held_out):
            worth[question, place] = 1
        constant_hits += _hits_of_best_letter(choices.right, held_out)
    return WordsAlone(
        split=split,
        rows=len(choices.questions),
        videos=len(set(choices.right.videos)),
        test=choices.right.test(worth),
        constant=constant_hits / len(choices.questions),
        by_label=_by_label(choices, worth),
        scikit_learn=sklearn.__version__,
    )


def _folds_of_questions(videos: Sequence[str]) -> Places:
    """Return each question's fold. All questions on a video are in one."""
    distinct = sorted(set(videos))
    order = np.random.default_rng(SEED).permutation(len(distinct))
    fold_of_video: dict[str, int] = {}
    for place, number in enumerate(order):
        fold_of_video[distinct[number]] = place % FOLDS
    folds = [fold_of_video[video] for video in videos]
    return np.array(folds)


def _hits_of_best_letter(right: RightPlaces, held_out: NDArray[np.bool_]) -> int:
    """Return the held-out questions that the training folds' most frequent letter gets right."""
    counts = np.bincount(right.places[~held_out])
    best = counts.argmax()
    is_hit = right.places[held_out] == best
    return int(np.count_nonzero(is_hit))


def _by_label(choices: Choices, worth: Array) -> dict[str, LabelScore]:
    scores: dict[str, LabelScore] = {}
    for label, numbers in choices.numbers_by_label().items():
        if len(numbers) >= FEWEST_ROWS:
            chosen = np.zeros(len(choices.questions), dtype=np.bool_)
            chosen[numbers] = True
            right = choices.right.part(chosen)
            test = right.test(worth[chosen])
            scores[label] = LabelScore(len(numbers), test)
    return scores


@dataclass(frozen=True, slots=True)
class _OptionTable:
    """All options of all questions, a row each.

    Attributes:
        features: Options x columns.
        questions: The number of each option's question.
        places: Its place among the question's options.
        is_right: True where it is the right one.
    """

    features: "csr_array"
    questions: Places
    places: Places
    is_right: NDArray[np.bool_]

    @classmethod
    def of(cls, choices: Choices) -> "_OptionTable":
        from sklearn.feature_extraction import FeatureHasher

        questions: list[int] = []
        places: list[int] = []
        for number, question in enumerate(choices.questions):
            for place in range(len(question.options)):
                questions.append(number)
                places.append(place)
        hasher = FeatureHasher(_COLUMNS, input_type="pair")
        features = hasher.transform(_features(choices)).tocsc()
        # What stands in one option alone says nothing of any other.
        options_of_feature = np.diff(features.indptr)
        is_repeated = options_of_feature >= _FEWEST_OPTIONS
        return cls(
            features=features[:, is_repeated].tocsr(),
            questions=np.array(questions),
            places=np.array(places),
            is_right=choices.right.places[questions] == places,
        )

    def scores_of(self, held_out: NDArray[np.bool_]) -> Array:
        """Return the scores of the held-out questions' options, from a model of the others'."""
        from sklearn.linear_model import LogisticRegression

        is_held_out = held_out[self.questions]
        is_training = ~is_held_out
        model = LogisticRegression(C=_STRENGTH, solver="liblinear", random_state=SEED)
        model.fit(self.features[is_training], self.is_right[is_training])
        return model.decision_function(self.features[is_held_out])

    def best_places(self, scores: Array, held_out: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield each held-out question and the place of its highest score."""
        is_held_out = held_out[self.questions]
        numbers = self.questions[is_held_out]
        places = self.places[is_held_out]
        # Of equal scores the first place's is last, so that it stays.
        order = np.lexsort((-places, scores, numbers))
        best_rows: dict[int, int] = {}
        for row in order.tolist():
            best_rows[int(numbers[row])] = row
        for number, row in best_rows.items():
            yield number, int(places[row])


# --- features
# ----------------------------------------------------------------------------------------------

_Feature = tuple[str, float]


def _features(choices: Choices) -> Iterator[list[_Feature]]:
    """Yield the features of each option, question by question."""
    for question, plain_options in zip(choices.questions, choices.plain_options, strict=True):
        asked_words = _WORD.findall(question.plain_text)
        words_of_options = [_WORD.findall(option) for option in plain_options]
        surfaces = _surfaces(question.options, words_of_options, asked_words)
        asking_words = asked_words[:_ASKING_WORDS]
        for place, words in enumerate(words_of_options):
            features: list[_Feature] = []
            features.append((f"at {place}", 1.0))
            features += surfaces[place]
            features += _word_features(words, asking_words)
            features.append((f"whole {plain_options[place]}", 1.0))
            yield features


def _word_features(words: Sequence[str], asking: Sequence[str]) -> Iterator[_Feature]:
    distinct = list(dict.fromkeys(words))
    weight = 1 / max(1, len(distinct)) ** 0.5
    beginning = " ".join(asking)
    for word in distinct:
        yield f"word {word}", weight
        yield f"asked {beginning} word {word}", weight
    for first, second in dict.fromkeys(pairwise(words)):
        yield f"pair {first} {second}", weight


def _surfaces(
    options: Sequence[str], words_of_options: Sequence[Sequence[str]], asked_words: Sequence[str]
) -> list[list[_Feature]]:
    """Return the measures of each option beside the other options of its question."""
    options_with_word: Counter[str] = Counter()
    for words in words_of_options:
        options_with_word.update(set(words))
    question_words = set(asked_words)
    columns: dict[str, list[float]] = {}
    for option, words in zip(options, words_of_options, strict=True):
        measures = _word_measures(option, words, question_words, options_with_word)
        measures |= _spelling_measures(option)
        for name, measure in measures.items():
            columns.setdefault(name, []).append(measure)
    features: list[list[_Feature]] = [[] for _ in options]
    for name, values in columns.items():
        for place, value in enumerate(_standardised(values)):
            if value:
                features[place].append((f"surface {name}", value))
    lengths = columns["length"]
    longest = max(lengths)
    for place, length in enumerate(lengths):
        if length == longest:
            features[place].append(("surface longest", 1.0))
    return features


def _word_measures(
    option: str, words: Sequence[str], question_words: set[str], options_with_word: Counter[str]
) -> dict[str, float]:
    """Return an option's length, and the shares of its words that stand elsewhere too."""
    distinct = set(words)
    number = max(1, len(distinct))
    elsewhere = sum(options_with_word[word] - 1 for word in distinct)
    return {
        "length": float(len(option)),
        "words": float(len(words)),
        "asked": len(distinct & question_words) / number,
        "shared": elsewhere / number,
    }


def _spelling_measures(option: str) -> dict[str, float]:
    """Return 1 for each mark of an option, its full stop, capital and digit."""
    measures = {mark: float(mark in option) for mark in _MARKS}
    measures["stop"] = float(option.rstrip().endswith("."))
    measures["capital"] = float(option.lstrip()[:1].isupper())
    measures["digit"] = float(re.search(r"\d", option) is not None)
    return measures


_MARKS = ",;:-'\"("


def _standardised(values: Sequence[float]) -> list[float]:
    """Return values less their mean, by their spread. Zeros where they are all the same."""
    number = len(values)
    mean = sum(values) / number
    deviations = [value - mean for value in values]
    variance = sum(deviation**2 for deviation in deviations) / number
    spread = variance**0.5
    if not spread:
        return [0.0] * number
    return [deviation / spread for deviation in deviations]
