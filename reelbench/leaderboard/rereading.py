"""Answers of a stored result, read again by today's rules: rows are ranked by these, whatever version read them first.

A result states the version of the rules by which its answers were read. Of an older one, what it
states is shown beside what the same answers come to today; its folder stays as it is.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reelbench.base.lazy import import_object
from reelbench.judges.verdicts import is_judged
from reelbench.registry.decoding import Answering
from reelbench.registry.reasons import UNANSWERED, Reason
from reelbench.registry.records import Result, Sample, SettingsRecord
from reelbench.registry.rows import Row, timing
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation, answers, option_scores

READ_WHILE_SCORED = frozenset({"exact_match"})
"""Columns whose scorer reads the answer itself: an older version may have read it otherwise."""


def is_current(result: Result) -> bool:
    """Whether its answers were read by the rules of this version."""
    return result.answers == answers.VERSION


def read_again(
    spec: BenchmarkSpec, settings: SettingsRecord, sample: Sample, row: Row | None
) -> Mapping[str, Any]:
    """Return today's reading of a sample's answer, for the parts of `parsed` for which that can be told.

    A letter in free text can't be told without the options, which stand in the row.
    """
    if sample.option_scores is not None:
        return option_scores.parse(
            sample.option_scores, sample.prediction, Answering.parse(settings.answering or "")
        )
    prediction, parsed = sample.prediction, sample.parsed or {}
    read = answers.reread(
        spec, prediction, row["options"] if row and "options" in row else None, timing(row)
    )
    if isinstance(prediction, Mapping):
        complete = getattr(import_object(spec.formats), "reread", None) is not None
    else:
        complete = not isinstance(prediction, str)
    return {name: read.get(name) for name in parsed if complete or name in read}


def flags(sample: Sample) -> tuple[str, ...]:
    """Return the faults of a sample's reading."""
    text = sample.prediction if isinstance(sample.prediction, str) else None
    if text is None and sample.parsed is None:
        return (
            sample.flags
        )  # an open answer that is not text: there is nothing that flags could say
    return answers.flags("-" if text is None else text, sample.parsed)


def read_today(
    spec: BenchmarkSpec, result: Result, samples: Sequence[Sample], rows: Mapping[str, Row] | None
) -> list[Sample] | None:
    """Return an older result's samples as today's rules read and score them.

    A judged answer of which other words count today was never judged: its item becomes unscored.
    None where an answer can't be read here, since the options stand in `rows`, the benchmark's by
    id, and these are not here.
    """
    again = list(samples)
    criteria = spec.judge.criteria if spec.judge else ()
    for place, sample in enumerate(samples):
        if sample.prediction is None or sample.reason in UNANSWERED:
            continue
        if spec.row_kind == "open" or "text" in sample.target:
            parsed = (
                answers.parse(spec, sample.prediction, ())
                if isinstance(sample.prediction, str)
                else sample.parsed
            )
        else:
            parsed = dict(read_again(spec, result.settings, sample, (rows or {}).get(sample.id)))
            if parsed.keys() != (sample.parsed or {}).keys():
                return None
        current = sample.model_copy(update={"parsed": parsed})
        judged = {
            name: score
            for name, score in sample.scores.items()
            if name in criteria and is_judged(sample)
        }
        update: dict[str, Any] = {"flags": flags(current)}
        if judged and current.text != sample.text:
            judged, update = (
                {},
                update
                | {"state": "unscored", "reason": Reason.JUDGE_UNAVAILABLE, "judge_replies": []},
            )
        update["scores"] = aggregation.item_columns(spec, current.item("", sample.reason)) | judged
        again[place] = current.model_copy(update=update)
    return again
