"""Compare two sets of questions on the same videos.

The paper on MovieCORE shows a discussion's questions beside a single pass's by examples only. Here
both are measured: MovieCORE's Table 1 (Flesch-Kincaid grade; the depth of the parse tree where
there is a parser; Bloom's level and the share of higher-order ones where a model told them), words,
and specificity, which is the number of names and numbers in a text. Each measure is a mean over
texts. The difference has an interval over videos, or none under ten videos (`stats.intervals`).
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.base.languages import words
from reelbench.stats.intervals import mean_over_clusters
from reelbench.stats.paired import difference_of_means
from reelbench.studio import bloom, readability
from reelbench.studio.benchmark_files import FILES
from reelbench.studio.bloom import SIDES, Side
from reelbench.studio.discussion_files import WrittenQuestion
from reelbench.studio.funnel import FunnelRecord

Pairs = Mapping[str, tuple[Sequence[WrittenQuestion], Sequence[WrittenQuestion]]]
"""The single pass's questions and the discussion's, by video."""

Levels = dict[Side, dict[str, int]]
"""The level of Bloom's taxonomy of each text, where it is known, by side."""


class _TextsOfVideo(NamedTuple):
    """The texts on a video, of two sets."""

    first: list[str]
    second: list[str]


TextMeasure = Callable[[Side, Sequence[str]], Sequence[float | None]]
"""A function from a side and texts to the value of each text, None where it has none."""


# The lookbehind comes after the first character: a search for that character alone is fast.
_NAME = re.compile(r"[A-Z](?<=[^\s.!?\"“] [A-Z])[\w'’-]*(?: [A-Z][\w'’-]*)*")
_NUMBER = re.compile(r"\d(?<![\w.]\d)\d*(?:[.,:]\d+)*(?!\w)")
_NOT_A_NAME = {"I"}


def specificity(text: str) -> int:
    """Return the number of different names and numbers in a text.

    A name is a word that is capitalised within a sentence.
    """
    names = set(_NAME.findall(text)) - _NOT_A_NAME
    numbers = set(_NUMBER.findall(text))
    return len(names | numbers)


def comparison_document(
    pairs: Pairs,
    verdicts: Mapping[str, tuple[float, float]] | None,
    parser: readability.Parser | None = None,
    levels: Levels | None = None,
) -> dict[str, Any]:
    """Return the document of `comparison.json`.

    Args:
        pairs: The questions of both sets, by video.
        verdicts: A judge's verdict on each video in each order. 1: the discussion's questions are
            better, 0.5: neither are.
        parser: For the parse depth, which is left out without one.
        levels: Levels of Bloom's taxonomy, whose measures are left out without them.
    """
    measures: dict[str, dict[str, Any]] = {}
    for name, measure in text_measures(parser, levels).items():
        for side in SIDES:
            texts_by_video: list[_TextsOfVideo] = []
            for single_pass, discussion in pairs.values():
                texts = _TextsOfVideo(
                    first=[getattr(question, side) for question in single_pass],
                    second=[getattr(question, side) for question in discussion],
                )
                texts_by_video.append(texts)
            measures[f"{name}_{side}"] = difference(
                texts_by_video, side, measure, ("single_pass", "discussion")
            )
    win_rate = None
    if verdicts:
        win_rate = _win_rate(verdicts)
    return {"videos": len(pairs), "measures": measures, "win_rate": win_rate}


def _win_rate(verdicts: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Return the share of videos whose discussion a judge preferred, ties as half."""
    videos = list(verdicts)
    outcomes = np.array(list(verdicts.values()))
    single_pass_first, discussion_first = outcomes.T
    rate = mean_over_clusters(outcomes.mean(axis=1), videos, bounds=(0, 1))
    same_in_both_orders = single_pass_first == discussion_first
    interval: list[float] | None = None
    if rate.ci95 is not None:
        interval = list(rate.ci95)
    return {
        "value": rate.value,
        "ci95": interval,
        "videos": len(videos),
        "same_in_both_orders": float(same_in_both_orders.mean()),
        "single_pass_shown_first": float(single_pass_first.mean()),
        "discussion_shown_first": float(discussion_first.mean()),
    }


def text_measures(
    parser: readability.Parser | None, levels: Levels | None = None
) -> dict[str, TextMeasure]:
    """Return the measures of texts by name.

    Parse depth needs a parser, and Bloom's levels need levels; else they are left out.
    """
    measures: dict[str, TextMeasure] = {
        "flesch_kincaid": _reading_grades,
        "words": _word_counts,
        "specificity": _specificity_of_texts,
    }
    if parser is not None:
        measures["parse_depth"] = partial(_parse_depths, parser)
    if levels is not None:
        measures["bloom"] = partial(_bloom_levels, levels)
        measures["higher_order"] = partial(_higher_order, levels)
    return measures


def _reading_grades(_: Side, texts: Sequence[str]) -> list[float | None]:
    return [readability.flesch_kincaid(text) for text in texts]


def _word_counts(_: Side, texts: Sequence[str]) -> list[float]:
    return [float(len(words(text))) for text in texts]


def _specificity_of_texts(_: Side, texts: Sequence[str]) -> list[float]:
    return [float(specificity(text)) for text in texts]


def _parse_depths(parser: readability.Parser, _: Side, texts: Sequence[str]) -> list[float | None]:
    return list(parser.depths(texts))


def _bloom_levels(levels: Levels, side: Side, texts: Sequence[str]) -> list[int | None]:
    return [levels[side].get(text) for text in texts]


def _higher_order(levels: Levels, side: Side, texts: Sequence[str]) -> list[float | None]:
    levels_of_texts = _bloom_levels(levels, side, texts)
    return list(map(bloom.higher_order, levels_of_texts))


def difference(
    videos: Sequence[_TextsOfVideo],
    side: Side,
    measure: TextMeasure,
    names: tuple[str, str],
) -> dict[str, Any]:
    """Return a measure's mean over each of two sets, and their difference.

    Args:
        videos: The texts of the first set and of the second, by video.
        side: What the texts are.
        measure: Gives the value of each text.
        names: The keys of the two means.

    Returns:
        The two means, `difference` (the second minus the first) and its interval `ci95`.
    """
    # By video, the sum and the number of values of the second set, then of the first.
    rows: list[tuple[float, ...]] = []
    for first_texts, second_texts in videos:
        first = _sum_and_count(measure(side, first_texts))
        second = _sum_and_count(measure(side, second_texts))
        rows.append((*second, *first))
    sums = np.array(rows, dtype=np.float64).reshape(-1, 4)
    second_sum, second_count, first_sum, first_count = sums.sum(axis=0)
    first_mean = _mean_or_none(first_sum, first_count)
    second_mean = _mean_or_none(second_sum, second_count)
    first_name, second_name = names
    document: dict[str, Any] = {
        first_name: first_mean,
        second_name: second_mean,
        "difference": None,
        "ci95": None,
    }
    if first_mean is None or second_mean is None:
        return document
    document["difference"] = second_mean - first_mean
    _, _, test = difference_of_means(sums)
    if test:
        document["ci95"] = list(test.interval())
    return document


def _mean_or_none(total: float, count: float) -> float | None:
    if not count:
        return None
    return float(total / count)


def _sum_and_count(values: Iterable[float | None]) -> tuple[float, int]:
    """Return the sum and the number of the values that are known."""
    total = 0.0
    count = 0
    for value in values:
        if value is not None:
            total += value
            count += 1
    return total, count


@dataclass(frozen=True, slots=True)
class MadeRun:
    """A chain's folder: its funnel, and the questions of each video with their answers."""

    folder: Path
    funnel: FunnelRecord
    questions: Mapping[str, list[dict[str, str]]]

    def texts(self, video: str, side: Side) -> list[str]:
        """Return the questions on a video, or their answers."""
        return [question[side] for question in self.questions[video]]


def read_run(folder: Path) -> MadeRun:
    """Read a folder that `make discussion` or `make moments` wrote.

    Raises:
        InputError: Something is missing or wrong in it. The message names it.
    """
    paths = [folder / name for name in FILES.values() if (folder / name).is_file()]
    funnel_path = folder / "funnel.json"
    if not paths or not funnel_path.is_file():
        raise InputError(
            f"{folder}: has no funnel.json next to {' or '.join(FILES.values())}; give a chain's "
            "--out"
        )
    funnel = record_of(FunnelRecord, read_json(funnel_path), str(funnel_path))
    path = paths[0]
    document = read_json(path)
    entries = document
    if isinstance(document, dict):
        entries = document.values()
    questions: dict[str, list[dict[str, str]]] = {}
    for place, entry in enumerate(entries, start=1):
        fields: dict[str, Any] = {}
        if isinstance(entry, dict):
            fields = entry
        video = fields.get("video") or fields.get("vid")
        question = fields.get("question")
        answer = fields.get("answer")
        if not video or not isinstance(question, str) or not isinstance(answer, str):
            raise InputError(
                f"{path}, entry {place}: not a question with its video, question and answer"
            )
        texts = {"question": question, "answer": answer}
        questions.setdefault(str(video), []).append(texts)
    return MadeRun(folder, funnel, questions)


def comparison_of_runs(
    a: MadeRun, b: MadeRun, parser: readability.Parser | None = None
) -> dict[str, Any]:
    """Return the document of `make compare --json`.

    Returns:
        `a` and `b`: folder, questions, videos, stages, models, and what differs in their settings
        and prompts. `videos`: how many both have. `same`: questions that both have, on one video
        and word for word (case and space apart). `same_answers`: those with the same answer too.
        `measures`: by measure and side, the mean of `a`, of `b`, `difference` (b minus a) and
        `ci95` over the common videos (None under ten).

    Raises:
        InputError: They have no video in common.
    """
    videos = sorted(a.questions.keys() & b.questions.keys())
    if not videos:
        raise InputError(f"{a.folder} and {b.folder}: no video has questions in both")
    same = 0
    same_answers = 0
    for video in videos:
        answers_of_b: dict[str, str] = {}
        for entry in b.questions[video]:
            question = _plain_text(entry["question"])
            answers_of_b[question] = _plain_text(entry["answer"])
        for entry in a.questions[video]:
            question = _plain_text(entry["question"])
            if question not in answers_of_b:
                continue
            same += 1
            if answers_of_b[question] == _plain_text(entry["answer"]):
                same_answers += 1
    measures: dict[str, dict[str, Any]] = {}
    for name, measure in text_measures(parser).items():
        for side in SIDES:
            texts_by_video: list[_TextsOfVideo] = []
            for video in videos:
                texts = _TextsOfVideo(a.texts(video, side), b.texts(video, side))
                texts_by_video.append(texts)
            measures[f"{name}_{side}"] = difference(texts_by_video, side, measure, ("a", "b"))
    return {
        "a": _run_summary(a, b),
        "b": _run_summary(b, a),
        "videos": len(videos),
        "same": same,
        "same_answers": same_answers,
        "measures": measures,
    }


def _plain_text(text: str) -> str:
    return " ".join(text.split()).casefold()


def _run_summary(run: MadeRun, compared_run: MadeRun) -> dict[str, Any]:
    """Return a run's counts, stages, models, and settings that differ."""
    document = run.funnel.model_dump(mode="json", by_alias=True)
    compared = compared_run.funnel.model_dump(mode="json", by_alias=True)
    differing: dict[str, dict[str, Any]] = {}
    for part in ("settings", "thresholds", "prompts"):
        compared_values = compared[part]
        values: dict[str, Any] = {}
        for key, value in document[part].items():
            if compared_values.get(key) != value:
                values[key] = value
        if values:
            differing[part] = values
    return {
        "folder": str(run.folder),
        "questions": sum(map(len, run.questions.values())),
        "videos": len(run.questions),
        "stages": document["stages"],
        "models": {role: use["asked"] for role, use in document["models"].items()},
        "differs": differing,
    }
