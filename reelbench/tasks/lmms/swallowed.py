"""Notice failures that an adapter of lmms-eval's takes for an answer, so that none is scored.

Some 30 of its adapters (0.7.3) catch the failure of a question, write it to their log and go on:
with an empty text, with the answer before, without the video, or with one answer too many. A
failure is noticed by a line of the log that is written inside an `except` which doesn't raise. Such
lines are read from the adapter's own code, by its syntax tree. A question is asked again by itself
where others were under way with it.
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
"""Texts that adapters write in an answer's place, beside the marks that scoring knows."""

HARMLESS = frozenset(
    {
        "chat/qwen2_5_vl.py:generate_until",
        "chat/aero_realtime_vllm.py:_load_audio_or_silence",
        "chat/sglang.py:get_mcp_tools",
        "simple/bagel.py:_load_model",
        "simple/gemini.py:_cleanup_files",
        "simple/mistral3_vl.py:_build_inputs",
        "simple/vllm.py:_setup_tp_group_for_request_sync",
        "simple/vllm.py:_write_watchdog_heartbeat",
        "simple/vllm.py:_select_max_new_tokens",
    }
)
"""Handlers that lose neither a question nor its video.

They fall back on a way that gives the same, or tidy up.
"""

_LEVELS = frozenset({"debug", "info", "warning", "error", "critical", "exception"})
_MODELS = "/lmms_eval/models/"


@dataclass(frozen=True, slots=True)
class Swallowing:
    """A line of the log inside an `except` that doesn't raise.

    `retried` is True where the same is tried again after it.
    """

    place: str
    retried: bool


@cache
def swallowing_lines(file: str) -> Mapping[int, Swallowing]:
    """Return the lines in which an adapter logs a failure that it swallows, by number.

    Other code has none.
    """
    if _MODELS not in file:
        return {}
    visitor = _HandlerVisitor(file.partition(_MODELS)[2])
    visitor.visit(ast.parse(Path(file).read_text(encoding="utf-8")))
    return visitor.lines


class _HandlerVisitor(ast.NodeVisitor):
    """A visitor of an adapter's syntax tree that collects the lines of swallowed failures."""

    def __init__(self, name: str) -> None:
        self.lines: dict[int, Swallowing] = {}
        self._name = name
        self._function = ""
        self._loop: ast.AST | None = None

    def visit(self, node: ast.AST) -> None:
        """Visit a node, with the function and the loop that it stands in."""
        outer = self._function, self._loop
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._function = node.name
            self._loop = None
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            self._loop = node
        elif isinstance(node, ast.ExceptHandler) and not always_raises(node.body):
            self._add_lines(node)
        self.generic_visit(node)
        self._function, self._loop = outer

    def _add_lines(self, handler: ast.ExceptHandler) -> None:
        place = f"{self._name}:{self._function}"
        if place in HARMLESS:
            return
        swallowing = Swallowing(place, _tries_again(self._loop))
        for call in ast.walk(handler):
            if isinstance(call, ast.Call) and _writes_to_log(call):
                last_line = call.end_lineno or call.lineno
                for line in range(call.lineno, last_line + 1):
                    self.lines[line] = swallowing


def _writes_to_log(call: ast.Call) -> bool:
    """Return True where a call writes to a log."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in _LEVELS:
        return False
    return "log" in ast.unparse(function.value)


def _tries_again(loop: ast.AST | None) -> bool:
    """Return True where a loop is over attempts, and not over questions."""
    if isinstance(loop, ast.For):
        values = ast.unparse(loop.iter)
        is_of_numbers = values.startswith(("range(", "enumerate(compression"))
        return is_of_numbers and "len(" not in values
    return isinstance(loop, ast.While)


def always_raises(body: Sequence[ast.stmt]) -> bool:
    """Return True where statements end in an error whatever happens."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            return True
        if isinstance(statement, ast.If):
            branches = (statement.body, statement.orelse)
            if all(map(always_raises, branches)):
                return True
    return False


@dataclass(frozen=True, slots=True)
class Noticed:
    """A failure: its words, and the rows asked just then, where these are known.

    `retried` is True where the same was tried again.
    """

    words: str
    retried: bool
    rows: tuple[arrivals.Key, ...]


@contextmanager
def noticed_failures(adapter: Any) -> Iterator[list[Noticed]]:  # noqa: ANN401 - lmms-eval's model
    """Notice the failures that are logged meanwhile, whatever the loggers show.

    They are loguru and the adapter's own logger. All threads' failures count, if they can be those
    of the adapter's requests.
    """
    from loguru import logger

    batch = getattr(adapter, "batch_size", 1)
    rows = max(1, batch) if isinstance(batch, int) else 1
    levels: dict[logging.Logger, int] = {}
    for part in type(adapter).__mro__:
        adapter_logger = getattr(sys.modules.get(part.__module__), "eval_logger", None)
        if isinstance(adapter_logger, logging.Logger):
            levels[adapter_logger] = adapter_logger.getEffectiveLevel()
    noticed: list[Noticed] = []

    def notice(file: str, line: int, message: str) -> None:
        swallowing = swallowing_lines(file).get(line)
        if swallowing is not None:
            words = _words_of(sys.exc_info()[1], message)
            noticed.append(Noticed(words, swallowing.retried, arrivals.latest_rows(rows)))

    def of_loguru(message: Any) -> None:  # noqa: ANN401 - loguru's
        record = message.record
        notice(record["file"].path, record["line"], record["message"])

    def noting(record: logging.LogRecord, level: int) -> bool:
        notice(record.pathname, record.lineno, record.getMessage())
        return record.levelno >= level

    with ExitStack() as afterwards:
        sink = logger.add(of_loguru, level=0, format="{message}", catch=False)
        for adapter_logger, level in levels.items():
            log_filter = partial(noting, level=level)
            afterwards.callback(adapter_logger.setLevel, adapter_logger.level)
            afterwards.callback(adapter_logger.removeFilter, log_filter)
            adapter_logger.addFilter(log_filter)
            adapter_logger.setLevel(1)
        try:
            yield noticed
        finally:
            with suppress(ValueError):  # lmms-eval takes all sinks out when it sets its own
                logger.remove(sink)


def _words_of(error: BaseException | None, message: str) -> str:
    """Return the words of an error, or those of the log where it has none."""
    if error is None:
        return first_line(ValueError(message))[:300]
    words = first_line(error) if str(error).strip() else first_line(ValueError(message))
    return f"{type(error).__name__}: {words}"[:300]


def failure_mark(words: str) -> str:
    """Return the mark of a failed request, with its words in one line."""
    return f"{FAILED}: {' '.join(words.split())}]"


def answers(adapter: Any, requests: "Sequence[Instance]", ask: Ask) -> list[Any]:  # noqa: ANN401 - lmms-eval's model
    """Ask an adapter, and return an answer to each request.

    It is the mark of a failed one where the adapter does not report the failure.
    """
    if not requests:
        return []
    adapter_name = type(adapter).__module__.rpartition(".")[2]
    if adapters.adapter_named(adapter_name).miscounts:  # each is asked by itself, and paid for once
        return [_ask_alone(adapter, request, ask) for request in requests]
    with noticed_failures(adapter) as noticed:
        replies = list(ask(adapter, list(requests)))
    if len(replies) != len(requests):
        log.warning(
            "%s gave %d answers to %d questions, so nobody knows which is whose: each is asked by "
            "itself",
            type(adapter).__name__,
            len(replies),
            len(requests),
        )
        return [_ask_alone(adapter, request, ask) for request in requests]
    if noticed:
        _replace_failed(adapter, requests, replies, noticed, ask)
    pairs = zip(requests, replies, strict=True)
    return [_mark_failures_in_answer(adapter, request, reply) for request, reply in pairs]


def _replace_failed(
    adapter: Any,  # noqa: ANN401
    requests: "Sequence[Instance]",
    replies: list[Any],
    noticed: Sequence[Noticed],
    ask: Ask,
) -> None:
    """Put the mark of a failure in the place of each answer whose question failed.

    A question is asked again where several were under way.
    """
    some_unknown = False
    of_several: set[arrivals.Key] = set()
    of_one_row: defaultdict[arrivals.Key, list[Noticed]] = defaultdict(list)
    for failure in noticed:
        if len(failure.rows) == 1:
            of_one_row[failure.rows[0]].append(failure)
        else:
            of_several.update(failure.rows)
            some_unknown = some_unknown or not failure.rows
    for place, request in enumerate(requests):
        empty = not text_of(replies[place]).strip()
        key = arrivals.key_of(row_of(adapter, request))
        if key in of_several or (some_unknown and empty):
            replies[place] = _ask_alone(adapter, request, ask)
        elif key in of_one_row:
            words = _words_of_failure(of_one_row[key], empty=empty)
            if words:
                replies[place] = failure_mark(words)


def _mark_failures_in_answer(adapter: Any, request: "Instance", answer: Any) -> Any:  # noqa: ANN401 - a text or lmms-eval's own
    """Return an answer. An error is marked, and so is a thought cut off.

    An adapter whose model thinks cuts at `</think>`; where the tokens ended before that, nothing
    was left.
    """
    text = text_of(answer)
    if ERRORS.match(text):
        return failure_mark(text)
    if text.strip() or not getattr(adapter, "enable_thinking", False):
        return answer
    used_tokens = getattr(getattr(answer, "token_counts", None), "output_tokens", None)
    limit = _token_limit(request)
    if used_tokens and limit and used_tokens >= limit:
        return replace(answer, text="<think>")
    return answer


def _token_limit(request: "Instance") -> int:
    """Return a request's limit on new tokens; 0 where it has none."""
    arguments: tuple[Any, ...] = request.args
    for argument in arguments:
        if isinstance(argument, dict) and "max_new_tokens" in argument:
            return int(argument["max_new_tokens"] or 0)
    return 0


def _words_of_failure(noticed: Sequence[Noticed], *, empty: bool) -> str | None:
    """Return the words of a failure for good.

    Where something was tried again, and then gave an answer, it didn't fail.
    """
    for failure in noticed:
        if empty or not failure.retried:
            return failure.words
    return None


def _ask_alone(adapter: Any, request: "Instance", ask: Ask) -> Any:  # noqa: ANN401 - a text or lmms-eval's own
    noticed: list[Noticed] = []
    try:
        with noticed_failures(adapter) as noticed:
            replies = list(ask(adapter, [request]))
    except Exception as error:
        if not noticed:  # the adapter's own way of saying that it can't be asked at all
            raise
        log.debug("%s: %s", type(adapter).__name__, error)
        replies = []
    answer = replies[0] if len(replies) == 1 else ""
    words = _words_of_failure(noticed, empty=not text_of(answer).strip())
    if words is None and len(replies) != 1:
        words = f"it gave {len(replies)} answers to one question"
    return failure_mark(words) if words is not None else answer
