"""Asking an adapter of lmms-eval's for the likelihood of a question's options, where a task is scored by that.

Frames, chat template and preprocessing are the adapter's own: it is asked as ever, and only its
last call, the one that reaches the model, is another (`logprobs`). What lmms-eval gets for the
request is one JSON text; `answered` reads it.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reelbench.base.base_record import OptionScore
from reelbench.base.errors import InputError, first_line
from reelbench.data.rows_on_disk import DataName
from reelbench.registry import decoding, rows
from reelbench.registry.decoding import Answering
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, TaskSpec
from reelbench.scoring import aggregation, answers, option_scores
from reelbench.tasks.lmms import logprobs
from reelbench.tasks.lmms.candidates import FAILED, Ask, row_of, text_of
from reelbench.tasks.prompting import prompt_of
from reelbench.tasks.submissions import Prediction

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance

ANSWERING = "answering"
"""The column that the rows of such a task have beside the benchmark's own: how it is answered."""


def ask_options(
    adapter: Any, request: "Instance", ask: Ask, *, spec: BenchmarkSpec, task: TaskSpec
) -> str:  # noqa: ANN401
    """Return a question's option scores as one text, or the mark of a failed request.

    ReelbenchError where the adapter can't give them, or its server doesn't.
    """
    row, words = row_of(adapter, request), task.options
    assert words is not None  # noqa: S101 - the caller asks for such tasks only
    answering = Answering.parse(row[ANSWERING])
    logprobs.call_of(adapter)
    located, span = None, None
    if answering.span == "predicted":
        [answer] = ask(adapter, [_reworded(adapter, request, prompt_of(spec, row, words.locate))])
        located = text_of(answer)
        if aggregation.is_failure(located):
            return located
        span = answers.read_span(located)
    elif answering.span == "truth":
        [span, *_] = rows.target(spec, row)["spans"]
    sentences = words.sentences(row["options"], span)
    likely = logprobs.sentence_logprobs(adapter, _again(request), ask, sentences)
    if isinstance(likely, str):
        return likely
    try:
        scores = option_scores.of_tokens(sentences, row["options"], likely.tokens, likely.logprobs)
    except ValueError as error:
        return f"{FAILED}: {first_line(error)}]"
    text = json.dumps(
        {"located": located, "option_scores": [score.model_dump() for score in scores]}
    )
    return text.replace(
        "<", "\\u003c"
    )  # lmms-eval cuts out what it takes for reasoning, and JSON with it


def read_scores(row: Row, reply: str) -> tuple[Prediction, list[OptionScore] | None]:
    """Return the reading of a text of `ask_options`: the prediction with what is read from it, and the scores."""
    if aggregation.is_failure(reply):
        return Prediction(reply, reason=Reason.MODEL_FAILED), None
    document = json.loads(reply)
    scores = [OptionScore.model_validate(score) for score in document["option_scores"]]
    read = option_scores.parse(scores, document["located"], Answering.parse(row[ANSWERING]))
    flags = answers.flags("-" if document["located"] is None else document["located"], read)
    return Prediction(document["located"], read, flags), scores


def compared_anew(
    task: TaskSpec, data: DataName, items: Sequence[Item], answering: Answering
) -> tuple[DataName, list[Item]]:
    """Return a run's data and items with its option scores compared in another way.

    InputError where the task has no option scores, or was run with other spans.
    """
    decoding.check(task, None, answering)
    run = Answering.parse(data.answering or "options").for_task(task)
    if answering.span not in {None, run.span}:
        raise InputError(
            f"answering {answering}: {task.name} was run with span={run.span}; run it again for another"
        )
    chosen = replace(answering, span=run.span)
    return replace(data, answering=str(chosen)), [
        option_scores.choose_again(item, chosen) for item in items
    ]


def _again(request: "Instance", replaced: Mapping[int, Any] | None = None) -> "Instance":
    """Return a request that can be asked once more: some adapters take its settings apart."""
    again = copy.copy(request)
    given = (copy.deepcopy(part) if isinstance(part, dict) else part for part in request.args)
    again.arguments = tuple((replaced or {}).get(place, part) for place, part in enumerate(given))
    return again


def _reworded(adapter: Any, request: "Instance", prompt: str) -> "Instance":  # noqa: ANN401
    """Return a request that shows the same and asks something else."""
    if adapter.is_simple:
        return _again(request, {0: prompt})
    arguments: tuple[Any, ...] = request.args
    messages: Callable[[Row], list[dict[str, Any]]] = arguments[1]

    def reworded(row: Row) -> list[dict[str, Any]]:
        copied = copy.deepcopy(messages(row))
        copied[-1]["content"][-1]["text"] = prompt  # what is before it shows the video
        return copied

    return _again(request, {0: prompt, 1: reworded})
