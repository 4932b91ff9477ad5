"""The choice among several answers of one model by a ranker's replies; and how similar the answers are.

Agentic Choice Enhancement (MovieCORE, section 5, algorithm 1): a small language model scores the
candidates, the best one is the answer. The paper says neither how scores are asked for nor what
breaks a tie. Here a tie goes to the lowest index (beams come in the order of their likelihood), a
candidate without a score is out, and where none has one the first is taken, as it would have been
without a ranker. All of it follows from the replies as they came.
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
"""Pointwise: of each candidate the replies of each vote. Listwise: one list with the replies of each vote."""


@dataclass(frozen=True, slots=True)
class RankedChoice:
    """Which candidate was chosen.

    Attributes:
        index: Its place among them.
        tied: Whether the best score is shared.
        unparsed: Candidates that nothing readable was said of.
    """

    index: int
    tied: bool = False
    unparsed: int = 0


def choose(mode: str, question: str, candidates: int, replies: Replies) -> RankedChoice:
    """Return the choice among `candidates` candidates of the question with the id `question`."""
    if mode != "listwise":
        read = (
            [score for score in map(stated_number, votes) if score is not None] for votes in replies
        )
        return best(
            [
                score_of_votes(scores, len(v), "mean")
                for scores, v in zip(read, replies, strict=True)
            ]
        )
    named: Counter[int] = Counter()  # most votes' candidate
    for vote, reply in enumerate(replies[0] if replies else ()):
        place = stated_number(reply, 1, candidates, top=None)
        if place is not None:
            named[shuffled_order(question, candidates, vote)[place - 1]] += 1
    return (
        best([named[index] for index in range(candidates)])
        if named
        else RankedChoice(0, unparsed=candidates)
    )


def unread(mode: str, samples: Iterable[Sample]) -> int:
    """Return of how many candidates, over all samples, a ranker said nothing that can be read."""
    return sum(
        choose(mode, sample.id, len(sample.candidates), sample.ranker_replies).unparsed
        for sample in samples
        if sample.candidates and sample.ranker_replies is not None
    )


def best(scores: Sequence[float | None]) -> RankedChoice:
    """Return the choice with the highest score, the first of equal ones; a candidate without a score is left out."""
    known = [score for score in scores if score is not None]
    if not known:
        return RankedChoice(0, unparsed=len(scores))
    highest = max(known)
    return RankedChoice(scores.index(highest), known.count(highest) > 1, len(scores) - len(known))


_LONGEST = 80  # characters of a statement: with more it is a sentence


def stated_number(
    reply: str | None, low: int = LOW, high: int = HIGH, *, top: int | None = HIGH
) -> int | None:
    """Return the number from `low` to `high` that a reply gives, or None where it is not plainly there.

    By default it is a pointwise reply's score: `7`, `7/10`, `7.`, `**7**`, `Score: 7` and
    `{"score": 7}` are 7; a sentence, `7/5`, `7.5` and `11` are nothing. `top` is what may stand
    behind a slash; with None nothing may.
    """
    number = parse_score(reply, low, high, bare_integer=True)
    if number is not None or reply is None:
        return number
    statement = (after_reasoning(reply) or reply).strip()
    stated = patterns.STATED_NUMBER.fullmatch(statement) if len(statement) <= _LONGEST else None
    if stated is None or stated["top"] not in (None, str(top)):
        return None
    return int(stated["number"]) if low <= int(stated["number"]) <= high else None


def shuffled_order(question: str, candidates: int, vote: int = 0) -> list[int]:
    """Return the candidates' indices in an order that only the question's id and the vote decide."""
    return sorted(
        range(candidates),
        key=lambda n: hashlib.sha256(f"{vote}\0{n}\0{question}".encode()).digest(),
    )


def similarity(candidates: Sequence[str]) -> float | None:
    """Return the similarity of candidates: the mean over all pairs of the Jaccard index of their words, ignoring case.

    1 where they use the same words; None of a single candidate. Two texts without words are alike.
    """
    bags = [frozenset(word.casefold() for word in words(text)) for text in candidates]
    pairs = [
        len(one & two) / len(one | two) if one | two else 1.0 for one, two in combinations(bags, 2)
    ]
    return sum(pairs) / len(pairs) if pairs else None


def pass_at(k: int, candidates: int, right: int) -> float:
    """Return the chance, 0 to 1, that k of a question's candidates, drawn without replacement, have a right one.

    The unbiased estimate of Chen et al. 2021 (Evaluating Large Language Models Trained on Code,
    section 2.1): 1 - C(n - c, k) / C(n, k), for n candidates of which c are right. ValueError where
    k is not from 1 to n.
    """
    if not 1 <= k <= candidates:
        raise ValueError(f"{k} of {candidates} candidates")
    return 1 - comb(candidates - right, k) / comb(candidates, k)


def majority(answers: Sequence[str | None]) -> int | None:
    """Return the index of the first candidate with the answer that most give; None where none can be read.

    Of answers that equally many give, the one that comes first counts.
    """
    counts = Counter(answer for answer in answers if answer is not None)
    return answers.index(counts.most_common(1)[0][0]) if counts else None


def longest(candidates: Sequence[str]) -> int:
    """Return the index of the candidate with the most words, of equal ones the one with the most characters."""
    lengths = [(len(words(text)), len(text)) for text in candidates]
    return lengths.index(max(lengths))
