"""The choice among several answers of one model by a ranker's replies, and the answers' similarity.

Agentic Choice Enhancement (MovieCORE, section 5, algorithm 1): a small language model scores the
candidates, the best one is the answer. The paper says neither how scores are asked for nor what
breaks a tie. Here a tie goes to the lowest index (beams come in the order of their likelihood), and
a candidate without a score is out. Where none has one the first is the answer, as it would have
been without a ranker. All of it follows from the replies as they came.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

from reelbench.base.languages import words
from reelbench.judges.parsing import after_reasoning, parse_score
from reelbench.judges.verdicts import score_of_votes
from reelbench.registry.records import Sample
from reelbench.scoring.answers import patterns

Mode = Literal["pointwise", "listwise"]
"""A score for each candidate, or one reply that names the best."""

LOW, HIGH = 0, 10
"""The scale of a pointwise ranker."""

Replies = Sequence[Sequence[str | None]]
"""Pointwise: each candidate's replies, by vote. Listwise: one list with each vote's reply."""


@dataclass(frozen=True, slots=True)
class RankedChoice:
    """The candidate that was chosen.

    Attributes:
        index: Its place among them.
        tied: True where several candidates share the best score.
        unparsed: Candidates without a readable reply.
    """

    index: int
    tied: bool = False
    unparsed: int = 0


def choose(mode: str, question: str, candidates: int, replies: Replies) -> RankedChoice:
    """Return the choice among the candidates of a question.

    Args:
        mode: A `Mode`.
        question: The question's id.
        candidates: The number of candidates.
        replies: The ranker's replies.
    """
    if mode == "listwise":
        return _choose_listwise(question, candidates, replies)
    scores: list[float | None] = []
    for votes in replies:
        numbers = map(stated_number, votes)
        readable_scores = [number for number in numbers if number is not None]
        scores.append(score_of_votes(readable_scores, len(votes), "mean"))
    return best(scores)


def _choose_listwise(question: str, candidates: int, replies: Replies) -> RankedChoice:
    """Return the candidate that most votes name."""
    votes_by_candidate: Counter[int] = Counter()
    if replies:
        for vote, reply in enumerate(replies[0]):
            place = stated_number(reply, 1, candidates, top=None)
            if place is not None:
                order = shuffled_order(question, candidates, vote)
                votes_by_candidate[order[place - 1]] += 1
    if not votes_by_candidate:
        return RankedChoice(0, unparsed=candidates)
    return best([votes_by_candidate[index] for index in range(candidates)])


def unread(mode: str, samples: Iterable[Sample]) -> int:
    """Count the candidates, over all samples, for which a ranker gave no readable reply."""
    count = 0
    for sample in samples:
        if sample.candidates and sample.ranker_replies is not None:
            choice = choose(mode, sample.id, len(sample.candidates), sample.ranker_replies)
            count += choice.unparsed
    return count


def best(scores: Sequence[float | None]) -> RankedChoice:
    """Return the choice with the highest score, the first of equal ones.

    A candidate without a score is left out.
    """
    known_scores = [score for score in scores if score is not None]
    if not known_scores:
        return RankedChoice(0, unparsed=len(scores))
    highest = max(known_scores)
    return RankedChoice(
        scores.index(highest),
        tied=known_scores.count(highest) > 1,
        unparsed=len(scores) - len(known_scores),
    )


_LONGEST_STATEMENT = 80  # characters; with more it is a sentence


def stated_number(
    reply: str | None, low: int = LOW, high: int = HIGH, *, top: int | None = HIGH
) -> int | None:
    """Return the number from `low` to `high` that a reply gives, or None.

    By default it is a pointwise reply's score: `7`, `7/10`, `7.`, `**7**`, `Score: 7` and
    `{"score": 7}` are 7. A sentence, `7/5`, `7.5` and `11` are None.

    Args:
        reply: The reply.
        low: The least number.
        high: The largest number.
        top: The number that may stand behind a slash; with None nothing may.
    """
    score = parse_score(reply, low, high, bare_integer=True)
    if score is not None or reply is None:
        return score
    statement = (after_reasoning(reply) or reply).strip()
    if len(statement) > _LONGEST_STATEMENT:
        return None
    match = patterns.STATED_NUMBER.fullmatch(statement)
    if match is None or match["top"] not in (None, str(top)):
        return None
    number = int(match["number"])
    if not low <= number <= high:
        return None
    return number


def shuffled_order(question: str, candidates: int, vote: int = 0) -> list[int]:
    """Return the candidates' indices in an order that only question id and vote decide."""

    def digest(index: int) -> bytes:
        return hashlib.sha256(f"{vote}\0{index}\0{question}".encode()).digest()

    return sorted(range(candidates), key=digest)


def similarity(candidates: Sequence[str]) -> float | None:
    """Return the similarity of candidates, 0 to 1. None of a single one.

    It is the mean over all pairs of the Jaccard index of their words, ignoring case: 1 where they
    use the same words. Two texts without words are alike.
    """
    word_sets = [frozenset(map(str.casefold, words(text))) for text in candidates]
    similarities: list[float] = []
    for words_a, words_b in combinations(word_sets, 2):
        all_words = words_a | words_b
        pair_similarity = 1.0
        if all_words:
            pair_similarity = len(words_a & words_b) / len(all_words)
        similarities.append(pair_similarity)
    if not similarities:
        return None
    return sum(similarities) / len(similarities)


def pass_at(k: int, candidates: int, right: int) -> float:
    """Return the chance, 0 to 1, of a right one among k candidates.

    The candidates are drawn without replacement. The unbiased estimate of Chen et al. 2021
    (Evaluating Large Language Models Trained on Code, section 2.1) is 1 - C(n - c, k) / C(n, k),
    for n candidates of which c are right.

    Raises:
        ValueError: k is not from 1 to n.
    """
    if not 1 <= k <= candidates:
        raise ValueError(f"{k} of {candidates} candidates")
    return 1 - comb(candidates - right, k) / comb(candidates, k)


def majority(answers: Sequence[str | None]) -> int | None:
    """Return the index of the first candidate with the most frequent answer.

    Of answers that are equally frequent, the one that comes first counts. None where no answer can
    be read.
    """
    counts = Counter(answer for answer in answers if answer is not None)
    if not counts:
        return None
    most_frequent, _ = counts.most_common(1)[0]
    return answers.index(most_frequent)


def longest(candidates: Sequence[str]) -> int:
    """Return the index of the candidate with the most words.

    Of candidates with equally many words, it is the one with the most characters.
    """
    lengths = [(len(words(text)), len(text)) for text in candidates]
    return lengths.index(max(lengths))
