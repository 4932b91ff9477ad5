"""A server's own refusal of a parameter, in the words that servers use, and what is sent then."""

import asyncio

import pytest

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.messages import request_shape
from reelbench.llm.model_names import takes_completion_limit
from tests.servers.judge import Answer, JudgeServer

QUESTION = [{"role": "user", "content": "Which?"}]
COMMON = {"max_tokens": 512, "temperature": 0}

# OpenAI's and Azure's words: anomalyco/opencode#37964, openai-python#2072.
OPENAI_LIMIT = {
    "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "type": "invalid_request_error",
    "param": "max_tokens",
    "code": "unsupported_parameter",
}
OPENAI_TEMPERATURE = {
    "message": "Unsupported value: 'temperature' does not support 0 with this model. "
    "Only the default (1) value is supported.",
    "param": "temperature",
    "code": "unsupported_value",
}
# LiteLLM's UnsupportedParamsError, Anthropic's and vLLM's (pydantic) own words.
LITELLM_TEMPERATURE = {
    "message": "litellm.UnsupportedParamsError: gpt-5 models (including gpt-5-codex) don't support "
    "temperature=0. Only temperature=1 is supported."
}
ANTHROPIC_TEMPERATURE = {
    "type": "invalid_request_error",
    "message": "`temperature` is deprecated for this model.",
}
PYDANTIC_LIMIT = {
    "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), "
    "'msg': 'Extra inputs are not permitted'}]"
}
VLLM_TOO_LONG = {
    "message": "'max_tokens' or 'max_completion_tokens' is too large: 512. This model's maximum "
    "context length is 256 tokens and your request has 300 input tokens",
    "param": "max_tokens",
}


def refusing(*errors, status=400):
    """A server that refuses parameters, each by an error of its own, in this order."""

    def script(call):
        for name, error in errors:
            if name in call.body and call.body[name] is not None:
                return Answer(status=status, error=error)
        return Answer("B")

    return script


def ask(server, sampling=None, **options):
    """Ask one question; return what came of it, the asker's notes and its settings as sent."""

    async def go():
        given = {"model": "prod-vision", "url": server.url, "backoff": 0.01} | options
        own = COMMON if sampling is None else sampling
        async with Asker(AskOptions(**given), own, on_note=lambda _: None) as asker:
            return await asker.ask(QUESTION, str), asker.notes, asker.sent_instead

    return asyncio.run(go())


def sent(server):
    return [
        {name: value for name, value in call.body.items() if name not in {"model", "messages"}}
        for call in server.calls
    ]


@pytest.mark.parametrize(
    ("errors", "sampling", "forms"),
    [
        (
            [("max_tokens", OPENAI_LIMIT), ("temperature", OPENAI_TEMPERATURE)],
            COMMON,
            [
                COMMON,
                {"max_completion_tokens": 512, "temperature": 0},
                {"max_completion_tokens": 512},
            ],
        ),
        ([("temperature", LITELLM_TEMPERATURE)], COMMON, [COMMON, {"max_tokens": 512}]),
        ([("temperature", ANTHROPIC_TEMPERATURE)], COMMON, [COMMON, {"max_tokens": 512}]),
        (
            [("max_completion_tokens", PYDANTIC_LIMIT)],
            {"max_completion_tokens": 512},
            [{"max_completion_tokens": 512}, {"max_tokens": 512}],
        ),
    ],
)
def test_a_refused_parameter_is_sent_otherwise_and_remembered(errors, sampling, forms):
    with JudgeServer(refusing(*errors)) as server:
        result, notes, _ = ask(server, sampling)
        assert (result.value, sent(server)) == ("B", forms)
        assert len(notes) == len(forms) - 1
        [reply] = result.replies
        # The key is the common form's, so what was kept before is never paid for again.
        assert ask(server, sampling)[0].replies[0].key == reply.key
        assert len(server.calls) == len(forms)
        # Another asker of the same server and model begins with what was learnt.
        _, notes, instead = ask(server, sampling | {"seed": 1})
        assert (notes, sent(server)[-1]) == ([], forms[-1] | {"seed": 1})
        assert set(instead) == set(forms[0]) - set(forms[-1])


@pytest.mark.parametrize(
    ("script", "sampling", "extra"),
    [
        # Too long an answer is no parameter that isn't taken.
        (refusing(("max_tokens", VLLM_TOO_LONG)), COMMON, {}),
        # A temperature that somebody asked for is never left out for them.
        (refusing(("temperature", OPENAI_TEMPERATURE)), {"temperature": 0.7}, {}),
        (refusing(("temperature", OPENAI_TEMPERATURE)), {}, {"temperature": 0}),
        (refusing(("temperature", ANTHROPIC_TEMPERATURE)), {"temperature": 0.7}, {}),
    ],
)
def test_what_has_no_other_form_is_not_sent_again(script, sampling, extra):
    with JudgeServer(script) as server:
        result, notes, _ = ask(server, sampling, extra=extra)
        assert (result.reason, len(server.calls), len(notes)) == ("rejected", 1, 1)


def test_where_both_names_of_the_limit_are_refused_the_line_says_the_way_out():
    both = [("max_tokens", OPENAI_LIMIT), ("max_completion_tokens", PYDANTIC_LIMIT)]
    with JudgeServer(refusing(*both)) as server:
        result, notes, _ = ask(server)
        assert (result.reason, len(server.calls)) == ("rejected", 2)
        assert """--llm-extra '{"max_tokens": null}'""" in notes[-1]
        result, _, _ = ask(server, extra={"max_tokens": None})
        assert (result.value, sent(server)[-1]) == ("B", {"temperature": 0})


def test_a_server_that_changes_its_mind_is_followed():
    with JudgeServer(refusing(("max_tokens", OPENAI_LIMIT))) as server:
        ask(server)
        server.script(refusing(("max_completion_tokens", PYDANTIC_LIMIT)))
        ask(server, COMMON | {"seed": 1})
        ask(server, COMMON | {"seed": 2})
        assert sent(server)[-1] == COMMON | {"seed": 2}
        assert len(server.calls) == 2 + 2 + 1


def test_null_removes_a_parameter_and_its_key_is_as_it_was_sent_before():
    with JudgeServer() as server:
        ask(server, extra={"temperature": None, "top_k": None})
        assert sent(server) == [{"max_tokens": 512}]
    sampling = AskOptions(model="m", extra={"temperature": None}).sampling(COMMON)
    before = request_shape("m", QUESTION, {"max_tokens": 512, "temperature": None})
    assert request_shape("m", QUESTION, sampling) == before


@pytest.mark.parametrize(
    ("model", "is_limited"),
    [
        ("gpt-5-mini", True),
        ("openai/gpt-5.1-2025-11-13", True),
        ("o3", True),
        ("o4-mini-2025-04-16", True),
        ("o1-preview", True),
        ("LlamaV-o1", False),
        ("marinero4972/Open-o3-Video", False),
        ("gpt-5-at-home", False),
        ("my-gpt-5", False),
        ("o3d", False),
        ("gpt-6-luna", False),
    ],
)
def test_only_an_exact_family_of_a_provider_is_known_by_its_name(model, is_limited):
    assert takes_completion_limit(model) is is_limited
