"""The questions of a discussion beside those of a single pass, which MovieCORE's paper shows by examples only.

MovieCORE's Table 1 (Flesch-Kincaid grade; depth of the parse tree with a parser, Bloom's level and
the share of higher-order ones with a model that tells them), words, and specificity: names and
numbers in a text. Each is a mean over texts, with an interval over videos for the difference (none
under ten videos, `stats.intervals`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.base.languages import words
from reelbench.stats.intervals import difference_of_means, mean_over_clusters
from reelbench.studio import bloom, readability
from reelbench.studio.benchmark_files import FILES
from reelbench.studio.bloom import SIDES, Side
from reelbench.studio.discussion_files import WrittenQuestion
from reelbench.studio.funnel import FunnelRecord

Pairs = Mapping[str, tuple[Sequence[WrittenQuestion], Sequence[WrittenQuestion]]]
"""Video -> the single pass's questions, and the discussion's."""

Levels = dict[Side, dict[str, int]]
"""Side -> text -> its level of Bloom's taxonomy, where it is known."""

TextMeasure = Callable[[Side, Sequence[str]], Sequence[float | None]]
"""Side and texts -> the value of each, None where it has none."""


# What stands before them is looked at behind their first character: a search for that alone is
# fast.
_NAME = re.compile(r"[A-Z](?<=[^\s.!?\"“] [A-Z])[\w'’-]*(?: [A-Z][\w'’-]*)*")
_NUMBER = re.compile(r"\d(?<![\w.]\d)\d*(?:[.,:]\d+)*(?!\w)")
_NOT_A_NAME = {"I"}


def specificity(text: str) -> int:
    """Return the number of different names and numbers in a text; a name is capitalised within a sentence."""
    names = {name for name in _NAME.findall(text) if name not in _NOT_A_NAME}
    return len(names | set(_NUMBER.findall(text)))


def comparison_document(
    pairs: Pairs,
    verdicts: Mapping[str, tuple[float, float]] | None,
    parser: readability.Parser | None = None,
    levels: Levels | None = None,
) -> dict[str, Any]:
    """Return the document of `comparison.json`.

    `verdicts`: what a judge said of each video in each order (1: the discussion's are better, 0.5:
    neither). Without a judge, a parser for the parse depth, or levels of Bloom's taxonomy these are
    left out.
    """
    measured = {}
    for name, measure in text_measures(parser, levels).items():
        for side in SIDES:
            texts = [
                [[getattr(one, side) for one in questions] for questions in sets]
                for sets in pairs.values()
            ]
            measured[f"{name}_{side}"] = difference(
                texts, side, measure, ("single_pass", "discussion")
            )
    win_rate = None
    if verdicts:  # a tie counts half
        rate = mean_over_clusters(
            np.array([sum(orders) / 2 for orders in verdicts.values()]),
            list(verdicts),
            bounds=(0, 1),
        )
        win_rate = {
            "value": rate.value,
            "ci95": list(rate.ci95) if rate.ci95 else None,
            "videos": len(verdicts),
            "same_in_both_orders": sum(first == second for first, second in verdicts.values())
            / len(verdicts),
            "single_pass_shown_first": sum(first for first, _ in verdicts.values()) / len(verdicts),
            "discussion_shown_first": sum(second for _, second in verdicts.values())
            / len(verdicts),
        }
    return {"videos": len(pairs), "measures": measured, "win_rate": win_rate}


def text_measures(
    parser: readability.Parser | None, levels: Levels | None = None
) -> dict[str, TextMeasure]:
    """Return the measures of texts by name; parse depth and Bloom's levels where it is known how to tell them."""
    measures: dict[str, TextMeasure] = {
        "flesch_kincaid": lambda _, texts: [readability.flesch_kincaid(text) for text in texts],
        "words": lambda _, texts: [float(len(words(text))) for text in texts],
        "specificity": lambda _, texts: [float(specificity(text)) for text in texts],
    }
    if parser is not None:
        measures["parse_depth"] = lambda _, texts: list(parser.depths(texts))
    if levels is not None:
        measures["bloom"] = lambda side, texts: [levels[side].get(text) for text in texts]
        measures["higher_order"] = lambda side, texts: [
            None
            if (level := levels[side].get(text)) is None
            else 100.0 * (level >= bloom.HIGHER_ORDER)
            for text in texts
        ]
    return measures


def difference(
    videos: Sequence[Sequence[Sequence[str]]],
    side: Side,
    measure: TextMeasure,
    names: tuple[str, str],
) -> dict[str, Any]:
    """Return a measure's mean over each of two sets, under their names, and `difference` (the second's more), `ci95`.

    `videos` are the texts of the first set and of the second, by video.
    """
    sums = np.zeros((len(videos), 4))
    for place, sets in enumerate(videos):
        for which, texts in enumerate(sets):
            values = [value for value in measure(side, texts) if value is not None]
            sums[place, 2 * which : 2 * which + 2] = sum(values), len(values)
    of_first, of_last = sums[:, :2].sum(axis=0), sums[:, 2:].sum(axis=0)
    first, last = (
        float(total / number) if number else None for total, number in (of_first, of_last)
    )
    if first is None or last is None:
        return {names[0]: first, names[1]: last, "difference": None, "ci95": None}
    _, _, test = difference_of_means(sums[:, [2, 3, 0, 1]])
    ends = list(test.interval()) if test else None
    return {names[0]: first, names[1]: last, "difference": last - first, "ci95": ends}


@dataclass(frozen=True, slots=True)
class MadeRun:
    """What a chain wrote to a folder: its funnel, and video -> its questions with their answers."""

    folder: Path
    funnel: FunnelRecord
    questions: Mapping[str, list[dict[str, str]]]


def read_run(folder: Path) -> MadeRun:
    """Read a folder that `make discussion` or `make moments` wrote; InputError names what is missing or wrong in it."""
    path = next((folder / name for name in FILES.values() if (folder / name).is_file()), None)
    if path is None or not (folder / "funnel.json").is_file():
        raise InputError(
            f"{folder}: has no funnel.json beside {' or '.join(FILES.values())}; give a chain's --out"
        )
    funnel = record_of(FunnelRecord, read_json(folder / "funnel.json"), str(folder / "funnel.json"))
    document = read_json(path)
    questions: dict[str, list[dict[str, str]]] = {}
    for place, entry in enumerate(
        document.values() if isinstance(document, dict) else document, start=1
    ):
        known: dict[str, Any] = entry if isinstance(entry, dict) else {}
        texts = {side: known[side] for side in SIDES if isinstance(known.get(side), str)}
        video = str(known.get("video") or known.get("vid") or "")
        if not video or len(texts) < len(SIDES):
            raise InputError(
                f"{path}, entry {place}: not a question with its video, question and answer"
            )
        questions.setdefault(video, []).append({**texts})
    return MadeRun(folder, funnel, questions)


def comparison_of_runs(
    a: MadeRun, b: MadeRun, parser: readability.Parser | None = None
) -> dict[str, Any]:
    """Return the document of `make compare --json`.

    `a` and `b` (folder, questions, videos, stages, models, what differs in their settings and
    prompts); `same`: questions that both have, on one video and word for word (case and space
    apart), and `same_answers`: those with the same answer too; `measures`: measure and side -> mean
    of `a`, of `b`, `difference` (b minus a) and `ci95` over the `videos` that both have (None under
    ten).

    Raises:
        InputError: They have no video in common.
    """
    videos = sorted(a.questions.keys() & b.questions.keys())
    if not videos:
        raise InputError(f"{a.folder} and {b.folder}: no video has questions in both")
    same = same_answers = 0
    for video in videos:
        theirs = {_plain(one["question"]): _plain(one["answer"]) for one in b.questions[video]}
        for one in a.questions[video]:
            known = theirs.get(_plain(one["question"]))
            same += known is not None
            same_answers += known == _plain(one["answer"])
    return {
        "a": _about(a, b),
        "b": _about(b, a),
        "videos": len(videos),
        "same": same,
        "same_answers": same_answers,
        "measures": {
            f"{name}_{side}": difference(
                [
                    [[one[side] for one in run.questions[video]] for run in (a, b)]
                    for video in videos
                ],
                side,
                measure,
                ("a", "b"),
            )
            for name, measure in text_measures(parser).items()
            for side in SIDES
        },
    }


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _about(run: MadeRun, other: MadeRun) -> dict[str, Any]:
    document, others = (one.funnel.model_dump(mode="json", by_alias=True) for one in (run, other))
    changed = {
        part: {
            key: value for key, value in document[part].items() if others[part].get(key) != value
        }
        for part in ("settings", "thresholds", "prompts")
    }
    return {
        "folder": str(run.folder),
        "questions": sum(map(len, run.questions.values())),
        "videos": len(run.questions),
        "stages": document["stages"],
        "models": {role: use["asked"] for role, use in document["models"].items()},
        "differs": {part: values for part, values in changed.items() if values},
    }
