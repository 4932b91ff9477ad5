"""Read a model's free text for scoring, by the kind of row.

Runs, files and rechecks do it in the same way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from reelbench.base.lazy import import_object
from reelbench.base.workers import ALLOTTED
from reelbench.registry.mapping_words import is_number_text
from reelbench.registry.rows import FPS, UNTIMED, Timing
from reelbench.registry.scoring_kinds import KINDS_OF_SEVERAL_SPANS
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import answers as readers
from reelbench.scoring.answers import patterns
from reelbench.scoring.answers.options import read_option, read_options
from reelbench.scoring.answers.reasoning import strip_reasoning

MANY = 5_000
"""Answers from which on it pays to read them in several processes.

One takes 0.2 ms, and a process half a second.
"""


class Given(NamedTuple):
    """An answer, and what is known of its row: options, times of the video, question."""

    text: str
    options: Sequence[str] = ()
    timing: Timing = UNTIMED
    question: str = ""


def parse_all(spec: BenchmarkSpec, answers: Iterable[Given]) -> Iterator[dict[str, Any] | None]:
    """Yield the result of `parse` on each answer, in their order.

    They may be more than memory holds.
    """
    return ALLOTTED.map_each(partial(_parsed, spec), answers, MANY)


def _parsed(spec: BenchmarkSpec, answer: Given) -> dict[str, Any] | None:
    return parse(spec, *answer)


def parse(
    spec: BenchmarkSpec,
    answer: str,
    options: Sequence[str],
    timing: Timing = UNTIMED,
    question: str = "",
) -> dict[str, Any] | None:
    """Return `Sample.parsed`: a choice, and a span where the benchmark asks for one.

    Either is None where it isn't there. A span in shares of the video is read with its
    length, one in frames with the benchmark's or the row's own rate. A span in bins of a length
    that nobody states is not there. Of an open answer it is the text without its reasoning, or None
    where that is the answer as it stands.

    Args:
        spec: The benchmark.
        answer: A model's answer.
        options: The question's options, none where it has none.
        timing: The times of its video, as far as they are known.
        question: The question as it was asked, where it is known. What repeats it names no option.
            Spans are read without it, since a result is checked where its rows are not to be had.
    """
    if spec.row_kind == "open" or (spec.row_kind == "mixed" and not options):
        text = strip_reasoning(answer)
        return None if text == answer else {"text": text or ""}
    read = read_options if "all_choices" in spec.kinds else read_option
    parsed: dict[str, Any] = {}
    if spec.row_kind != "span":
        parsed["answer"] = read(answer, options, question=question)
    if not spec.asks_span:
        return parsed
    fps = spec.mapping.fps if spec.mapping else ""
    length, row_rate = timing
    rate = float(fps) if is_number_text(fps) else row_rate
    if not KINDS_OF_SEVERAL_SPANS & set(spec.kinds):
        rule = "stated" if spec.mapping is None else spec.mapping.answer_spans
        return {**parsed, "span": readers.read_span(answer, length, rate, rule=rule)}
    spans = readers.read_spans(answer, length, rate)
    first = spans[0] if spans else None
    return {**parsed, "span": first, "spans": spans}


def flags(answer: str, parsed: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the faults of an answer that are the model's: it counts as wrong."""
    if not answer.strip():
        return ("empty",)
    # An open answer that was cut off while the model was still reasoning holds nothing to score.
    unread = parsed is not None and (
        None in parsed.values() or not parsed.get("text", answer).strip()
    )
    return ("parse_failed",) if unread else ()


def unknown_unit(answer: str) -> str | None:
    """Return the unit of an unread span that can't be turned into seconds.

    A bin's length is the model's own. The rate of frames and the length of a video are in the rows,
    where they are known.
    """
    if patterns.BINS.search(answer):
        return "bins of unknown length"
    if readers.read_span(answer, length=1.0, fps=1.0) is not None:
        return "frames or shares of the video, of unknown rate or length"
    return None


def reread(
    spec: BenchmarkSpec,
    prediction: Any,  # noqa: ANN401 - whatever a sample records
    options: Sequence[str] | None,
    timing: Timing = UNTIMED,
    question: str = "",
) -> Mapping[str, Any]:
    """Return the reading of a recorded prediction, as far as it can be told.

    These are columns of `Sample.parsed`.

    Args:
        spec: The benchmark.
        prediction: Raw, as a sample records it: a model's text, or an entry of a submission file.
        options: The question's options where its row is known. A letter in free text can't be told
            without them.
        timing: The times of its video, from its row.
        question: The question, from its row.
    """
    if isinstance(prediction, Mapping):
        reread_entry = getattr(import_object(spec.formats), "reread", None)
        return {} if reread_entry is None else reread_entry(prediction)
    if not isinstance(prediction, str) or (spec.row_kind == "mixed" and options is None):
        return {}
    parsed = dict(parse(spec, prediction, options or (), timing, question) or {})
    if options is None and spec.asks_choice:
        del parsed["answer"]
    if spec.asks_span and parsed["span"] is None:
        by_rows = spec.mapping is not None and FPS.name in spec.mapping.columns
        length, rate = timing
        stand_in_length = 1.0 if length is None else None
        stand_in_rate = 1.0 if by_rows and rate is None else None
        is_lacking = stand_in_length is not None or stand_in_rate is not None
        if is_lacking and readers.read_span(prediction, stand_in_length, stand_in_rate):
            del parsed["span"]  # it is in shares of the video, or in frames
    return parsed
