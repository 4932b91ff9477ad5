"""Failures that an adapter of lmms-eval's takes for an answer, noticed while it is asked, so that none is scored.

Some 30 of its adapters (0.7.3) catch what goes wrong with a question, say so in their log and go
on: with an empty text, with the answer before, without the video, or with one answer too many. What
is noticed is a line of the log that is written inside an `except` which doesn't raise; such lines
are read from the adapter's own code, by its syntax tree. A question is asked again by itself where
others were under way with it.
"""

import ast
import logging
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import first_line
from reelbench.tasks.lmms import adapters, arrivals
from reelbench.tasks.lmms.candidates import FAILED, Ask, row_of, text_of

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance

log = logging.getLogger("reelbench")

ERRORS = re.compile(
    r"\[GENERATION_FAILED\]|\[ERROR\] |Can not infer the answer\.\Z|"
    r"Video .* (?:can not load|generate failed), check the source\Z",
    re.DOTALL,
)
"""What adapters write in an answer's place, beside the marks that scoring knows."""

HARMLESS = frozenset(
    {
        *("chat/qwen2_5_vl.py:generate_until", "chat/aero_realtime_vllm.py:_load_audio_or_silence"),
        *(
            "chat/sglang.py:get_mcp_tools",
            "simple/bagel.py:_load_model",
            "simple/gemini.py:_cleanup_files",
        ),
        *("simple/mistral3_vl.py:_build_inputs", "simple/vllm.py:_setup_tp_group_for_request_sync"),
        *("simple/vllm.py:_write_watchdog_heartbeat", "simple/vllm.py:_select_max_new_tokens"),
    }
)
"""Handlers that lose neither a question nor its video: they fall back on what gives the same, or tidy up."""

_LEVELS = frozenset({"debug", "info", "warning", "error", "critical", "exception"})
_MODELS = "/lmms_eval/models/"


@dataclass(frozen=True, slots=True)
class Swallowing:
    """A line of the log inside an `except` that doesn't raise; `retried` where the same is tried again after it."""

    place: str
    retried: bool


@cache
def swallowing_lines(file: str) -> Mapping[int, Swallowing]:
    """Return by number the lines in which an adapter's code logs a failure that it swallows; none for other code."""
    if _MODELS not in file:
        return {}
    name = file.partition(_MODELS)[2]
    found: dict[int, Swallowing] = {}

    def visit(node: ast.AST, function: str, loop: ast.AST | None) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            function, loop = node.name, None
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            loop = node
        elif isinstance(node, ast.ExceptHandler) and not raises(node.body):
            place = f"{name}:{function}"
            for call in ast.walk(node):
                if (
                    place in HARMLESS
                    or not isinstance(call, ast.Call)
                    or not isinstance(call.func, ast.Attribute)
                ):
                    continue
                if call.func.attr in _LEVELS and "log" in ast.unparse(call.func.value):
                    for line in range(call.lineno, (call.end_lineno or call.lineno) + 1):
                        tries_again = isinstance(
                            loop, ast.While
                        )  # over attempts, and not over questions
                        if isinstance(loop, ast.For) and "len(" not in (
                            over := ast.unparse(loop.iter)
                        ):
                            tries_again = over.startswith(("range(", "enumerate(compression"))
                        found[line] = Swallowing(place, tries_again)
        for child in ast.iter_child_nodes(node):
            visit(child, function, loop)

    visit(ast.parse(Path(file).read_text(encoding="utf-8")), "", None)
    return found


def raises(body: Sequence[ast.stmt]) -> bool:
    """Whether statements end in an error whatever happens."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            return True
        if (
            isinstance(statement, ast.If)
            and statement.orelse
            and raises(statement.body)
            and raises(statement.orelse)
        ):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Noticed:
    """A failure: its words, whether the same was tried again, and the rows asked just then, where that is known."""

    words: str
    retried: bool
    rows: tuple[arrivals.Key, ...]


@contextmanager
def noticing(adapter: Any) -> Iterator[list[Noticed]]:  # noqa: ANN401 - lmms-eval's model
    """Notice what is logged meanwhile, by loguru and by the adapter's own logger, whatever these show.

    All threads' failures, if they can be those of the adapter's requests.
    """
    from loguru import logger

    batch = getattr(adapter, "batch_size", 1)
    rows = max(1, batch) if isinstance(batch, int) else 1
    modules = (sys.modules.get(part.__module__) for part in type(adapter).__mro__)
    loggers = {getattr(module, "eval_logger", None) for module in modules}
    levels = {
        ours: ours.getEffectiveLevel() for ours in loggers if isinstance(ours, logging.Logger)
    }
    noticed: list[Noticed] = []

    def notice(file: str, line: int, message: str) -> None:
        swallowing = swallowing_lines(file).get(line)
        if swallowing is None:
            return
        error = sys.exc_info()[1]
        words = (
            first_line(error)
            if error is not None and str(error).strip()
            else first_line(ValueError(message))
        )
        name = f"{type(error).__name__}: " if error is not None else ""
        noticed.append(Noticed(f"{name}{words}"[:300], swallowing.retried, arrivals.latest(rows)))

    def of_loguru(message: Any) -> None:  # noqa: ANN401 - loguru's
        record = message.record
        notice(record["file"].path, record["line"], record["message"])

    def noting(record: logging.LogRecord, shown: int) -> bool:
        notice(record.pathname, record.lineno, record.getMessage())
        return record.levelno >= shown

    with ExitStack() as afterwards:
        sink = logger.add(of_loguru, level=0, format="{message}", catch=False)
        for ours, level in levels.items():
            its = partial(noting, shown=level)
            afterwards.callback(ours.setLevel, ours.level)
            afterwards.callback(ours.removeFilter, its)
            ours.addFilter(its)
            ours.setLevel(1)
        try:
            yield noticed
        finally:
            with suppress(ValueError):  # lmms-eval takes all sinks out when it sets its own
                logger.remove(sink)


def failure_mark(words: str) -> str:
    """Return the mark of a failed request, with its words in one line."""
    return f"{FAILED}: {' '.join(words.split())}]"


def answers(adapter: Any, requests: "Sequence[Instance]", ask: Ask) -> list[Any]:  # noqa: ANN401 - lmms-eval's model
    """Ask an adapter, and return an answer to each request: the mark of a failed one where the adapter says nothing."""
    if not requests:
        return []
    if adapters.of(
        type(adapter).__module__.rpartition(".")[2]
    ).miscounts:  # each is asked by itself, and paid for once
        return [_alone(adapter, request, ask) for request in requests]
    with noticing(adapter) as noticed:
        given = list(ask(adapter, list(requests)))
    if len(given) != len(requests):
        whose = "%s gave %d answers to %d questions, so nobody knows which is whose: each is asked by itself"
        log.warning(whose, type(adapter).__name__, len(given), len(requests))
        return [_alone(adapter, request, ask) for request in requests]
    if noticed:
        # Put the mark in the place of each answer whose question failed; ask again where several
        # were under way.
        unknown, unsure = not all(one.rows for one in noticed), set[arrivals.Key]()
        sure: defaultdict[arrivals.Key, list[Noticed]] = defaultdict(list)
        for one in noticed:
            if len(one.rows) == 1:
                sure[one.rows[0]].append(one)
            else:
                unsure.update(one.rows)
        for number, request in enumerate(requests):
            empty = not text_of(given[number]).strip()
            key = arrivals.key_of(row_of(adapter, request))
            if key in unsure or (unknown and empty):
                given[number] = _alone(adapter, request, ask)
            elif key in sure and (failure := _failure(sure[key], empty=empty)):
                given[number] = failure_mark(failure)
    pairs = zip(requests, given, strict=True)
    return [_read(adapter, request, answer) for request, answer in pairs]


def _read(adapter: Any, request: "Instance", answer: Any) -> Any:  # noqa: ANN401 - a text or lmms-eval's own
    """Return an answer as it is meant: an error is the mark of one, and of a thought that was cut off its opening tag.

    An adapter whose model thinks cuts at `</think>`; where the tokens ended before that, nothing
    was left.
    """
    text = text_of(answer)
    if ERRORS.match(text):
        return failure_mark(text)
    if text.strip() or not getattr(adapter, "enable_thinking", False):
        return answer
    used = getattr(getattr(answer, "token_counts", None), "output_tokens", None)
    arguments: tuple[Any, ...] = request.args
    limit = next(
        (
            part["max_new_tokens"]
            for part in arguments
            if isinstance(part, dict) and "max_new_tokens" in part
        ),
        0,
    )
    return replace(answer, text="<think>") if used and limit and used >= int(limit) else answer


def _failure(noticed: Sequence[Noticed], *, empty: bool) -> str | None:
    """Return the words of what failed for good: what was tried again, and then gave an answer, didn't."""
    return next((one.words for one in noticed if empty or not one.retried), None)


def _alone(adapter: Any, request: "Instance", ask: Ask) -> Any:  # noqa: ANN401 - a text or lmms-eval's own
    noticed: list[Noticed] = []
    try:
        with noticing(adapter) as noticed:
            given = list(ask(adapter, [request]))
    except Exception as error:
        if not noticed:  # the adapter's own way of saying that it can't be asked at all
            raise
        log.debug("%s: %s", type(adapter).__name__, error)
        given = []
    answer = given[0] if len(given) == 1 else ""
    words = _failure(noticed, empty=not text_of(answer).strip())
    if words is None and len(given) != 1:
        words = f"it gave {len(given)} answers to one question"
    return failure_mark(words) if words is not None else answer
