"""What an adapter logs of a failure that it swallows: an answer to that question is none.

The adapters here are modules written to a folder `lmms_eval/models`: their code is read as
lmms-eval's own is.
"""

import ast
import builtins
import importlib.util
import logging
import sys
import textwrap
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import MagicMock

import pytest

from reelbench.tasks.lmms import arrivals, swallowed

pytest.importorskip("loguru")
ROWS = [{"id": f"q{number}", "split": "mini"} for number in range(5)]

SEQUENTIAL = """
    from {source}
    class Model:
        batch_size = 1
        task_dict = None
        def generate_until(self, requests):
            answers, answer = [], "before the first"
            for request in requests:
                take, number, task, split = request.args
                row = self.task_dict[task][split][number]
                take(row)
                try:
                    answer = self.say(row)
                except Exception as error:
                    eval_logger.{level}(f"Error {{error}} in generating")
                    {after}
                answers.append(answer)
            return answers
"""
LOGURU, LOGGING = (
    "loguru import logger as eval_logger",
    "logging import getLogger; eval_logger = getLogger('theirs')",
)


@pytest.fixture
def adapter(tmp_path):
    """Write an adapter's module as one of lmms-eval's, and make its model."""

    def made(source, **say):
        path = tmp_path / "lmms_eval" / "models" / "chat" / f"{say.pop('name', 'made_up')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        monkey = pytest.MonkeyPatch()
        monkey.setitem(__import__("sys").modules, path.stem, module)
        spec.loader.exec_module(module)
        model = module.Model()
        model.task_dict = {"task": {"mini": ROWS}}
        model.say = say.get("say")
        return model

    return made


def requests(count=3):
    return [
        SimpleNamespace(args=(lambda row: arrivals.hand_over(row, 0), n, "task", "mini"))
        for n in range(count)
    ]


def asked(model, count=3):
    return swallowed.answers(model, requests(count), type(model).generate_until)


def fails_at(*names):
    def say(row):
        if row["id"] in names:
            raise ValueError("out of memory\nat line 3")
        return f"of {row['id']}"

    return say


@pytest.mark.parametrize("source", [LOGURU, LOGGING])
@pytest.mark.parametrize("level", ["error", "info", "debug"])
@pytest.mark.parametrize(
    "after", ["answer = ''", "pass"]
)  # an empty answer, or the question's before
def test_the_question_that_failed_has_no_answer_and_the_others_have_theirs(
    adapter, source, level, after
):
    model = adapter(SEQUENTIAL.format(source=source, level=level, after=after), say=fails_at("q1"))
    first, failed, last = asked(model)
    assert (first, last) == ("of q0", "of q2")
    assert failed == "[LMMS_EVAL_REQUEST_FAILED: ValueError: out of memory]"


def test_an_honest_empty_answer_stays_one(adapter):
    model = adapter(SEQUENTIAL.format(source=LOGURU, level="error", after="pass"), say=lambda _: "")
    assert asked(model) == ["", "", ""]


def test_of_several_under_way_each_is_asked_again_alone(adapter):
    source = """
        from loguru import logger as eval_logger
        class Model:
            batch_size = 2
            def generate_until(self, requests):
                answers = []
                for start in range(0, len(requests), 2):
                    batch = requests[start : start + 2]
                    rows = []
                    for request in batch:
                        take, number, task, split = request.args
                        rows.append(self.task_dict[task][split][number])
                        take(rows[-1])
                    try:
                        answers += [self.say(row) for row in rows]
                    except Exception as error:
                        eval_logger.error(f"Error {error}")
                        answers += [""] * len(batch)
                return answers
    """
    times = []

    def say(row):
        times.append(row["id"])
        return fails_at("q1")(row)

    assert asked(adapter(source, say=say), 4) == [
        "of q0",
        "[LMMS_EVAL_REQUEST_FAILED: ValueError: out of memory]",
        "of q2",
        "of q3",
    ]
    assert times.count("q2") == 1  # what was in no batch with it isn't paid for twice


RETRIES = """
    from loguru import logger as eval_logger
    class Model:
        batch_size = 1
        def generate_until(self, requests):
            answers = []
            for request in requests:
                take, number, task, split = request.args
                row = self.task_dict[task][split][number]
                take(row)
                answer = ""
                for attempt in range(3):
                    try:
                        answer = self.say(row)
                        break
                    except Exception as error:
                        eval_logger.info(f"Attempt {attempt} failed: {error}")
                        if attempt == 2:
                            eval_logger.error("All attempts failed")
                            answers += EXTRA
                answers.append(answer)
            return answers
"""


def test_what_a_retry_mended_is_none_and_what_none_mended_is_one(adapter):
    tries = []

    def say(row):
        tries.append(row["id"])
        if row["id"] == "q0" or tries.count("q1") < 3:
            raise ConnectionError("connection refused")
        return f"of {row['id']}"

    model = adapter(RETRIES.replace("EXTRA", "[]"), say=say)
    assert asked(model, 2) == [
        "[LMMS_EVAL_REQUEST_FAILED: ConnectionError: connection refused]",
        "of q1",
    ]


def test_one_answer_too_many_has_each_asked_by_itself(adapter, caplog):
    model = adapter(RETRIES.replace("EXTRA", "['']"), say=fails_at("q0"))
    failed, *others = asked(model)
    assert failed.startswith("[LMMS_EVAL_REQUEST_FAILED: ValueError")
    assert others == ["of q1", "of q2"]
    assert "gave 4 answers to 3 questions" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "Can not infer the answer.",
        "[GENERATION_FAILED] no memory",
        "Video /a/b.mp4\n/c.mp4 can not load, check the source",
        "Video x.mp4 generate failed, check the source",
    ],
)
def test_an_error_in_an_answers_place_is_no_answer(adapter, text):
    model = adapter(
        SEQUENTIAL.format(source=LOGURU, level="error", after="pass"), say=lambda _: text
    )
    assert all(answer.startswith("[LMMS_EVAL_REQUEST_FAILED: ") for answer in asked(model))


def test_words_about_such_errors_are_answers(adapter):
    says = "I can not infer the answer. Video games can not load."
    model = adapter(
        SEQUENTIAL.format(source=LOGURU, level="error", after="pass"), say=lambda _: says
    )
    assert asked(model, 1) == [says]


class TestTheListOfTheInstalledLmmsEval:
    """Handlers that lose a question and log nothing would go unnoticed: each of them is looked at here."""

    LOOKED_AT = frozenset(
        {
            # It answers nothing by itself: the request that the thread was for is asked for anew,
            # or the run ends.
            *("chat/async_hf_model.py:worker_loop", "chat/nanovlm.py:worker_loop"),
            # Tools of the user's own: what they say is part of the conversation.
            *("chat/async_openai.py:maybe_forward_with_tool", "chat/sglang.py:async_a_request"),
            # It goes on with fewer frames of the same video, and an answer to it.
            "chat/longvila.py:make_one_request",
            # The stop of a stream, and its tidying up.
            "chat/aero_realtime_vllm.py:_generate_one",
            # Counting tokens, or a tag of a block, beside an answer that is there.
            *("chat/gemini.py:process_single_request", "simple/gemini.py:process_single_request"),
            *("simple/audio_flamingo_3.py:generate_until", "simple/kimi_audio.py:generate_until"),
            *("simple/qwen_vl.py:generate_until", "simple/vora.py:generate_until"),
            # Which picture, index or stop word there is, of several ways to say it.
            *(
                "simple/cambrian.py:generate_until",
                "simple/internvl.py:generate_until",
                "simple/qwen2_vl.py:generate_until",
            ),
            # Said by their text, which is known to be none (`swallowed.ERRORS`), or by their number
            # of answers.
            *(
                "simple/llava_onevision_moviechat.py:generate_until",
                "simple/llava_sglang.py:generate_until",
            ),
            "simple/llava_sglang.py:prepare_arguments_parallel",
        }
    )

    def test_every_handler_that_swallows_says_so_in_the_log_or_was_looked_at(self):
        found = importlib.util.find_spec("lmms_eval")
        if found is None:
            pytest.skip("lmms-eval is not installed")
        models = Path(next(iter(found.submodule_search_locations))) / "models"
        silent = set()
        for path in [*models.glob("chat/*.py"), *models.glob("simple/*.py")]:
            noticed = swallowed.swallowing_lines(str(path))
            for function, handler in handlers(ast.parse(path.read_text(encoding="utf-8"))):
                asks = function in ASKING or (
                    "generate" in function and "multi_round" not in function
                )
                lines = range(handler.lineno, handler.end_lineno + 1)
                if (
                    asks
                    and not swallowed.always_raises(handler.body)
                    and not any(line in noticed for line in lines)
                ):
                    silent.add(f"{path.parent.name}/{path.name}:{function}")
        makes_pictures = {
            place for place in silent if any(name in place for name in NOT_ASKED_ABOUT_VIDEOS)
        }
        assert silent - makes_pictures - self.LOOKED_AT - swallowed.HARMLESS == set()

    def test_each_handler_that_is_run_on_a_failure_is_noticed_with_the_failure_s_words(self):
        """Adapters that can't be run here: their own handlers, around a model that has no memory left."""
        found = importlib.util.find_spec("lmms_eval")
        if found is None:
            pytest.skip("lmms-eval is not installed")
        models, unnoticed, run = (
            Path(next(iter(found.submodule_search_locations))) / "models",
            [],
            0,
        )
        for path in [*models.glob("chat/*.py"), *models.glob("simple/*.py")]:
            source, logged = path.read_text(encoding="utf-8"), swallowed.swallowing_lines(str(path))
            for _, handler in handlers(ast.parse(source)):
                if not any(
                    line in logged for line in range(handler.lineno, handler.end_lineno + 1)
                ):
                    continue
                run += 1
                words = failed_within(handler, path, loguru="from loguru" in source)
                if not any("MemoryError: out of memory" in one for one in words):
                    unnoticed.append(f"{path.name}:{handler.lineno}")
        assert unnoticed == []
        assert run > 100


class Names(dict):
    """What an adapter's code names: Python's own, and stand-ins for all else."""

    def __missing__(self, name):
        return getattr(builtins, name) if hasattr(builtins, name) else MagicMock(name=name)


class _NotAwaited(ast.NodeTransformer):
    def visit_Await(self, node):
        return self.generic_visit(node.value)


def failed_within(handler, path, *, loguru):
    """Run an `except` of an adapter's file around a failure, and return the words of what is noticed."""
    stored = {
        n.id for n in ast.walk(handler) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    named = f"global {', '.join(sorted(stored))}" if stored else "pass"
    failing = "  try: raise MemoryError('out of memory')\n  except Exception: pass"
    tree = ast.parse(f"def run():\n {named}\n for attempt in range(1):\n{failing}")
    [function] = tree.body
    function.body[1].body[0].handlers = [_NotAwaited().visit(handler)]
    handler.type = ast.Name("Exception", ast.Load())
    log = __import__("loguru").logger if loguru else logging.getLogger("an adapter's own")
    module = ModuleType("an_adapter")
    module.eval_logger = log
    made = Names(eval_logger=log, logger=log)
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), made)  # noqa: S102 - lmms-eval's own
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, module)
        with swallowed.noticed_failures(
            type("Adapter", (), {"__module__": module.__name__})()
        ) as noticed:
            try:
                made["run"]()
            except MemoryError as error:  # one that swallows it at another place alone
                return [f"MemoryError: {error}"]
            except Exception:  # noqa: BLE001, S110 - of what stands in; what was logged before was
                pass
    return [one.words for one in noticed]


def handlers(node, function=""):
    """Yield each `except` with the innermost function that it stands in."""
    for child in ast.iter_child_nodes(node):
        named = (
            child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else function
        )
        if isinstance(child, ast.ExceptHandler):
            yield named, child
        yield from handlers(child, named)


ASKING = {
    "process_single_request",
    "maybe_forward_with_tool",
    "async_a_request",
    "make_one_request",
    "run",
    "_process",
    "_infer_one",
    "_generate_one",
    "worker_loop",
    "prepare_arguments_parallel",
}
NOT_ASKED_ABOUT_VIDEOS = (
    "_wm",
    "wan2",
    "generation_api",
    "fastvideo",
    "thyme",
    "ovis_u1",
    "qwen_image_edit",
    "bagel",
    "mmada",
)
