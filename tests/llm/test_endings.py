"""Why replies end, as the vendors' own pages name it; and what stands in place of a text."""

import asyncio
import itertools
from typing import Any

import pytest

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import reply_failure_kind, text_of
from reelbench.llm.asker import Asker
from reelbench.llm.client import parsed_reply
from reelbench.llm.endings import ending_of
from reelbench.llm.reply import Reply
from reelbench.llm.retry_rules import TransientError
from tests.servers.judge import Answer, JudgeServer

NUMBERS = itertools.count()
OPTIONS = AskOptions(model="m", url="http://127.0.0.1:9/v1")


def reply_to(content="B", finish=None, message=None, usage=None, **choice):
    document = {
        "choices": [
            {
                "message": {"role": "assistant", "content": content} | (message or {}),
                "finish_reason": finish,
            }
            | choice
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4} | (usage or {}),
    }
    return parsed_reply(document, OPTIONS, None)


def kept(raw, finish, completion_tokens=0):
    """Return a reply as one that was kept long ago."""
    return Reply(raw, finish, None, 0, completion_tokens, "host")


@pytest.mark.parametrize(
    ("names", "mishap"),
    [
        (["stop", "STOP", "end_turn", "COMPLETE", "eos", "eos_token", "stop_sequence"], None),
        (["tool_calls", "tool_use", "FinishReason.STOP", "eosFound", None, ""], None),
        (["length", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "maxTokens"], "cut_off"),
        (["model_length", "model_context_window_exceeded", "ERROR_LIMIT"], "cut_off"),
        (["finish_reason:max-tokens", "max_output_tokens", "contextLengthReached"], "cut_off"),
        (["stop, natively MAX_TOKENS", "StopReason.Max_Tokens"], "cut_off"),
        (["content_filter", "content-filter", "SAFETY", "PROHIBITED_CONTENT"], "refused"),
        (["FinishReason.RECITATION", "ERROR_TOXIC", "guardrail_intervened"], "refused"),
        (["content_filtered", "refusal", "sensitive", "SPII", "BLOCKLIST"], "refused"),
        (["stop, natively SAFETY", "stop, with a refusal"], "refused"),
    ],
)
def test_a_name_means_the_same_in_any_case_and_behind_any_prefix(names, mishap):
    for name in names:
        reply = kept("B", name)
        assert reply_failure_kind(reply) == mishap, name
        assert ending_of(name).group == (mishap or "ended"), name


def test_a_name_that_no_vendor_has_is_unknown_and_no_mishap():
    assert ending_of("Ended.by_moonlight").group == "unknown"
    assert ending_of("Ended.by_moonlight").name == "Ended.by_moonlight"
    assert reply_failure_kind(kept("B", "by_moonlight")) is None
    assert text_of(kept("B", "by_moonlight")) == "B"


@pytest.mark.parametrize(
    ("choice", "mishap", "finish"),
    [
        ({"finish_details": {"type": "max_tokens"}}, "cut_off", "max_tokens"),
        ({"finish_details": {"type": "stop", "stop": "x"}}, None, "stop"),
        ({"finish": "stop", "native_finish_reason": "STOP"}, None, "stop"),
        (
            {"finish": "stop", "native_finish_reason": "MAX_TOKENS"},
            "cut_off",
            "stop, natively MAX_TOKENS",
        ),
        ({"finish": "length", "native_finish_reason": "SAFETY"}, "cut_off", "length"),
        ({"native_finish_reason": "SAFETY"}, "refused", "unstated, natively SAFETY"),
        ({}, None, None),
    ],
)
def test_what_a_choice_says_of_its_end_is_kept(choice, mishap, finish):
    reply = reply_to(**choice)
    assert (reply_failure_kind(reply), reply.finish) == (mishap, finish)


@pytest.mark.parametrize(
    "name", ["error", "ABORT", "FinishReason.ERROR", "TIMEOUT", "modelUnloaded"]
)
def test_a_reply_that_a_server_broke_off_is_none(name):
    with pytest.raises(TransientError, match="cut its reply off"):
        reply_to(finish=name)


def test_an_unknown_end_is_told_once_with_its_name():
    notes = []

    async def ask(server):
        options = AskOptions(model="m", url=server.url)
        async with Asker(options, on_note=notes.append, accepts_cut_off=True) as asker:
            for number in range(3):
                messages = [{"role": "user", "content": f"Which? {number}"}]
                result = await asker.ask(messages, str)
                assert result.value == "B"

    with JudgeServer(lambda _: Answer("B", finish="by_moonlight")) as server:
        asyncio.run(ask(server))
    told = [line for line in notes if "by_moonlight" in line]
    assert len(told) == 1
    assert told[0].startswith("3 replies of m ended by 'by_moonlight', which is unknown here")


CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize("content", [None, "", " \n", [], [{"type": "text", "text": ""}]])
@pytest.mark.parametrize(
    ("message", "line"),
    [
        ({"reasoning_content": "It is B."}, "it is only in reasoning_content"),
        ({"reasoning": "It is B."}, "it is only in reasoning"),
        ({"thinking": "It is B."}, "it is only in thinking"),
        ({"tool_calls": [CALL]}, "it has tool calls instead"),
        ({"function_call": {"name": "f"}}, "it has tool calls instead"),
    ],
)
def test_a_reply_whose_text_stands_elsewhere_is_no_answer_and_is_told(content, message, line):
    answer = Answer(content, message=message)
    for accepts_cut_off in (True, False):
        result, notes = asked(answer, accepts_cut_off=accepts_cut_off)
        assert (result.value, result.reason) == (None, "unparsable")
        assert notes == [f"m: 1 reply has no text; {line}{notes[0].partition(line)[2]}"]
        assert text_of(result.replies[-1].reply) is None


def test_parts_that_think_are_no_answer():
    content: Any = [{"type": "thinking", "thinking": [{"type": "text", "text": "B"}]}]
    answer = Answer(content)
    result, notes = asked(answer)
    assert (result.value, result.reason) == (None, "unparsable")
    assert "it is only in parts of type thinking" in notes[0]


def test_a_text_beside_reasoning_or_calls_is_the_answer():
    answer = Answer("B", message={"reasoning_content": "Or A?", "tool_calls": [CALL]})
    result, notes = asked(answer)
    assert (result.value, notes) == ("B", [])


def test_an_empty_text_of_no_tokens_is_no_answer_and_one_of_tokens_is():
    result, notes = asked(Answer("", usage={"completion_tokens": 0}))
    assert (result.value, result.reason) == (None, "unparsable")
    assert "the server counts no tokens of it" in notes[0]
    result, notes = asked(Answer("", usage={"completion_tokens": 1}))
    assert (result.value, result.reason, notes) == ("", None, [])


def test_thinking_that_the_limit_cut_off_is_cut_off_alone():
    answer = Answer("", finish="MAX_TOKENS", message={"reasoning_content": "It is"})
    result, notes = asked(answer)
    assert (result.value, notes) == ("", [])
    assert reply_failure_kind(result.replies[-1].reply) == "cut_off"


@pytest.mark.parametrize("content", [None, ""])
def test_a_refusal_in_its_own_field_is_refused(content):
    result, notes = asked(Answer(content, message={"refusal": "I can't help."}))
    assert reply_failure_kind(result.replies[-1].reply) == "refused"
    assert "field for refusals" in notes[0]


@pytest.mark.parametrize("content", [None, "", " "])
def test_an_error_with_a_status_of_success_is_an_error_whatever_the_content(content):
    with pytest.raises(TransientError, match="upstream is down"):
        reply_to(content, error={"message": "upstream is down"})


def asked(answer, *, accepts_cut_off=True):
    """Return the result of one question, and what the user was told."""
    notes = []

    async def ask(server):
        options = AskOptions(model="m", url=server.url)
        asking = Asker(options, on_note=notes.append, accepts_cut_off=accepts_cut_off)
        async with asking as asker:
            question = f"Which? {next(NUMBERS)}"  # never one that is kept
            return await asker.ask([{"role": "user", "content": question}], str)

    with JudgeServer(lambda _: answer) as server:
        result = asyncio.run(ask(server))
    return result, [line for line in notes if "is asked at" not in line]
