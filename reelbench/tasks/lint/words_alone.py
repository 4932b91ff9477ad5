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
from reelbench.stats.option_guesses import GuessTest, RightOptions
from reelbench.tasks.lint.findings import FAMILY_LEVEL, FEWEST_ROWS, Rule
from reelbench.tasks.lint.questions import ChoiceQuestions

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FOLDS = 5
SEED = 0
FEWEST_QUESTIONS = 100
_SMALLEST = 0.05
_STRENGTH = 0.1  # of the words' weights: the inverse of scikit-learn's regularisation
_COLUMNS = 2**18  # into which words and pairs of words are hashed
_FEWEST_OPTIONS = 2  # that have a feature
_QUESTION_WORDS = 2  # of a question's beginning, beside each word of an option

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
class TextOnlyScore:
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


def has_enough_questions(choices: ChoiceQuestions) -> bool:
    """Return True for enough questions and videos to train on."""
    videos = set(choices.right.videos)
    return len(choices.questions) >= FEWEST_QUESTIONS and len(videos) >= FOLDS


def score_text_only_model(split: str, choices: ChoiceQuestions) -> TextOnlyScore | None:
    """Return the score of words alone. None for too few questions or videos."""
    if not has_enough_questions(choices):
        return None
    import sklearn

    folds = _folds_of_questions(choices.right.videos)
    options = _OptionTable.of(choices)
    credit = choices.zero_credit()
    constant_hits = 0
    for fold in range(FOLDS):
        held_out = folds == fold
        scores = options.scores_of(held_out)
        for question, index in options.best_options(scores, held_out):
            credit[question, index] = 1
        constant_hits += _hits_of_best_letter(choices.right, held_out)
    return TextOnlyScore(
        split=split,
        rows=len(choices.questions),
        videos=len(set(choices.right.videos)),
        test=choices.right.test(credit),
        constant=constant_hits / len(choices.questions),
        by_label=_by_label(choices, credit),
        scikit_learn=sklearn.__version__,
    )


def _folds_of_questions(videos: Sequence[str]) -> Places:
    """Return each question's fold. All questions on a video are in one."""
    distinct = sorted(set(videos))
    order = np.random.default_rng(SEED).permutation(len(distinct))
    fold_of_video: dict[str, int] = {}
    for position, video_index in enumerate(order):
        fold_of_video[distinct[video_index]] = position % FOLDS
    folds = [fold_of_video[video] for video in videos]
    return np.array(folds)


def _hits_of_best_letter(right: RightOptions, held_out: NDArray[np.bool_]) -> int:
    """Count held-out questions that the training folds' most frequent letter gets right."""
    counts = np.bincount(right.indices[~held_out])
    most_frequent = counts.argmax()
    is_hit = right.indices[held_out] == most_frequent
    return int(np.count_nonzero(is_hit))


def _by_label(choices: ChoiceQuestions, credit: Array) -> dict[str, LabelScore]:
    scores: dict[str, LabelScore] = {}
    for label, indices in choices.indices_by_label().items():
        if len(indices) >= FEWEST_ROWS:
            has_label = np.zeros(len(choices.questions), dtype=np.bool_)
            has_label[indices] = True
            right_options = choices.right.subset(has_label)
            test = right_options.test(credit[has_label])
            scores[label] = LabelScore(len(indices), test)
    return scores


@dataclass(frozen=True, slots=True)
class _OptionTable:
    """All options of all questions, a row each.

    Attributes:
        features: Options x columns.
        questions: The number of each option's question.
        indices: Its place among the question's options.
        is_right: True where it is the right one.
    """

    features: "csr_array"
    questions: Places
    indices: Places
    is_right: NDArray[np.bool_]

    @classmethod
    def of(cls, choices: ChoiceQuestions) -> "_OptionTable":
        from sklearn.feature_extraction import FeatureHasher

        questions: list[int] = []
        indices: list[int] = []
        for number, question in enumerate(choices.questions):
            for index in range(len(question.options)):
                questions.append(number)
                indices.append(index)
        hasher = FeatureHasher(_COLUMNS, input_type="pair")
        features = hasher.transform(_features(choices)).tocsc()
        # A feature that only one option has can't help with any other.
        options_of_feature = np.diff(features.indptr)
        is_repeated = options_of_feature >= _FEWEST_OPTIONS
        return cls(
            features=features[:, is_repeated].tocsr(),
            questions=np.array(questions),
            indices=np.array(indices),
            is_right=choices.right.indices[questions] == indices,
        )

    def scores_of(self, held_out: NDArray[np.bool_]) -> Array:
        """Return the scores of the held-out questions' options, from a model of the others'."""
        from sklearn.linear_model import LogisticRegression

        is_held_out = held_out[self.questions]
        is_training = ~is_held_out
        model = LogisticRegression(C=_STRENGTH, solver="liblinear", random_state=SEED)
        model.fit(self.features[is_training], self.is_right[is_training])
        return model.decision_function(self.features[is_held_out])

    def best_options(self, scores: Array, held_out: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield each held-out question and the index of its option with the highest score."""
        is_held_out = held_out[self.questions]
        questions = self.questions[is_held_out]
        option_indices = self.indices[is_held_out]
        # Rows in order of question and score. Of equal scores the first option's comes last.
        order = np.lexsort((-option_indices, scores, questions))
        best_rows: dict[int, int] = {}
        for row in order.tolist():
            best_rows[int(questions[row])] = row  # the last row of a question stays
        for question, row in best_rows.items():
            yield question, int(option_indices[row])


# --- features
# ----------------------------------------------------------------------------------------------

_Feature = tuple[str, float]


def _features(choices: ChoiceQuestions) -> Iterator[list[_Feature]]:
    """Yield the features of each option, question by question."""
    for question, plain_options in zip(choices.questions, choices.plain_options, strict=True):
        question_text_words = _WORD.findall(question.plain_text)
        words_of_options = [_WORD.findall(option) for option in plain_options]
        surface_features = _surface_features(
            question.options, words_of_options, question_text_words
        )
        first_question_words = question_text_words[:_QUESTION_WORDS]
        for index, words in enumerate(words_of_options):
            features: list[_Feature] = []
            features.append((f"at {index}", 1.0))
            features += surface_features[index]
            features += _word_features(words, first_question_words)
            features.append((f"whole {plain_options[index]}", 1.0))
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


def _surface_features(
    options: Sequence[str],
    words_of_options: Sequence[Sequence[str]],
    question_text_words: Sequence[str],
) -> list[list[_Feature]]:
    """Return the measures of each option beside the other options of its question."""
    options_with_word: Counter[str] = Counter()
    for words in words_of_options:
        options_with_word.update(set(words))
    question_words = set(question_text_words)
    columns: dict[str, list[float]] = {}
    for option, words in zip(options, words_of_options, strict=True):
        measures = _word_measures(option, words, question_words, options_with_word)
        measures |= _spelling_measures(option)
        for name, measure in measures.items():
            columns.setdefault(name, []).append(measure)
    features: list[list[_Feature]] = [[] for _ in options]
    for name, values in columns.items():
        for index, value in enumerate(_z_scores(values)):
            if value:
                features[index].append((f"surface {name}", value))
    lengths = columns["length"]
    longest = max(lengths)
    for index, length in enumerate(lengths):
        if length == longest:
            features[index].append(("surface longest", 1.0))
    return features


def _word_measures(
    option: str, words: Sequence[str], question_words: set[str], options_with_word: Counter[str]
) -> dict[str, float]:
    """Return an option's length, and the shares of its words that stand elsewhere too."""
    distinct = set(words)
    distinct_count = max(1, len(distinct))
    in_other_options = sum(options_with_word[word] - 1 for word in distinct)
    return {
        "length": float(len(option)),
        "words": float(len(words)),
        "asked": len(distinct & question_words) / distinct_count,
        "shared": in_other_options / distinct_count,
    }


def _spelling_measures(option: str) -> dict[str, float]:
    """Return 1 for each mark of an option, its full stop, capital and digit."""
    measures = {mark: float(mark in option) for mark in _MARKS}
    measures["stop"] = float(option.rstrip().endswith("."))
    measures["capital"] = float(option.lstrip()[:1].isupper())
    measures["digit"] = float(re.search(r"\d", option) is not None)
    return measures


_MARKS = ",;:-'\"("


def _z_scores(values: Sequence[float]) -> list[float]:
    """Return values less their mean, by their spread. Zeros where they are all the same."""
    mean = sum(values) / len(values)
    deviations = [value - mean for value in values]
    variance = sum(deviation**2 for deviation in deviations) / len(values)
    standard_deviation = variance**0.5
    if not standard_deviation:
        return [0.0] * len(values)
    return [deviation / standard_deviation for deviation in deviations]
