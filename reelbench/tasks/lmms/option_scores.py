"""Ask an adapter of lmms-eval's for the likelihood of a question's options.

Some tasks are scored by that.
Frames, chat template and preprocessing are the adapter's own: it is asked as ever, and only its
last call, the one that reaches the model, is another (`logprobs`). What lmms-eval gets for the
request is one JSON text. `read` reads it.
"""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

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
"""The column with the way to answer, which such a task's rows have beside the benchmark's own."""


class ReadScores(NamedTuple):
    """The prediction in a reply with option scores, and the scores."""

    prediction: Prediction
    scores: list[OptionScore] | None


class ComparedAnew(NamedTuple):
    """A run's data and items, with its option scores compared in another way."""

    data: DataName
    items: list[Item]


def ask_options(
    adapter: Any,  # noqa: ANN401
    request: "Instance",
    ask: Ask,
    *,
    spec: BenchmarkSpec,
    task: TaskSpec,
) -> str:
    """Return a question's option scores as one text, or the mark of a failed request.

    Raises:
        ReelbenchError: The adapter can't give them, or its server doesn't.
    """
    row = row_of(adapter, request)
    words = task.options
    assert words is not None  # noqa: S101 - the caller asks for such tasks only
    answering = Answering.parse(row[ANSWERING])
    logprobs.call_of(adapter)
    located = None
    span = None
    if answering.span == "predicted":
        prompt = prompt_of(spec, row, words.locate)
        [answer] = ask(adapter, [_reword_request(adapter, request, prompt)])
        located = text_of(answer)
        if aggregation.is_failure(located):
            return located
        span = answers.read_span(located)
    elif answering.span == "truth":
        span = rows.target(spec, row)["spans"][0]
    sentences = words.sentences(row["options"], span)
    likely = logprobs.sentence_logprobs(adapter, _copy_request(request), ask, sentences)
    if isinstance(likely, str):
        return likely
    try:
        scores = option_scores.of_tokens(sentences, row["options"], likely.tokens, likely.logprobs)
    except ValueError as error:
        return f"{FAILED}: {first_line(error)}]"
    records = [score.model_dump() for score in scores]
    text = json.dumps({"located": located, "option_scores": records})
    # lmms-eval cuts out what it takes for reasoning, and JSON with it.
    return text.replace("<", "\\u003c")


def read_scores(row: Row, reply: str) -> ReadScores:
    """Read a text of `ask_options`."""
    if aggregation.is_failure(reply):
        return ReadScores(Prediction(reply, reason=Reason.MODEL_FAILED), None)
    document = json.loads(reply)
    located = document["located"]
    scores = [OptionScore.model_validate(score) for score in document["option_scores"]]
    answering = Answering.parse(row[ANSWERING])
    parsed = option_scores.parse(scores, located, answering)
    text = "-" if located is None else located
    flags = answers.flags(text, parsed)
    return ReadScores(Prediction(located, parsed, flags), scores)


def compared_anew(
    task: TaskSpec, data: DataName, items: Sequence[Item], answering: Answering
) -> ComparedAnew:
    """Compare a run's option scores in another way.

    Raises:
        InputError: The task has no option scores, or was run with other spans.
    """
    decoding.check(task, None, answering)
    run = Answering.parse(data.answering or "options").for_task(task)
    if answering.span not in {None, run.span}:
        raise InputError(
            f"answering {answering}: {task.name} was run with span={run.span}; "
            "run it again for another"
        )
    chosen = replace(answering, span=run.span)
    new_items = [option_scores.choose_again(item, chosen) for item in items]
    return ComparedAnew(replace(data, answering=str(chosen)), new_items)


def _copy_request(request: "Instance", *first_arguments: object) -> "Instance":
    """Return a request that can be asked once more, with other first arguments.

    It is a copy, as some adapters take its settings apart.
    """
    copied = copy.copy(request)
    arguments: list[Any] = []
    for argument in request.args:
        if isinstance(argument, dict):
            arguments.append(copy.deepcopy(argument))
        else:
            arguments.append(argument)
    arguments[: len(first_arguments)] = first_arguments
    copied.arguments = tuple(arguments)
    return copied


def _reword_request(adapter: Any, request: "Instance", prompt: str) -> "Instance":  # noqa: ANN401
    """Return a request that shows the same and asks something else."""
    if adapter.is_simple:
        return _copy_request(request, prompt)
    arguments: tuple[Any, ...] = request.args
    messages: Callable[[Row], list[dict[str, Any]]] = arguments[1]

    def reworded(row: Row) -> list[dict[str, Any]]:
        copied = copy.deepcopy(messages(row))
        copied[-1]["content"][-1]["text"] = prompt  # the parts before it show the video
        return copied

    return _copy_request(request, prompt, reworded)
