"""A whole video at Gemini: Google's own client at a server here that speaks its reference's `generateContent`."""

import asyncio
import json
import sys
from dataclasses import replace

import pytest

import reelbench
from reelbench.base.attachment import Attachment
from reelbench.base.errors import InputError
from reelbench.llm import model_names as providers
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import reply_failure_kind
from reelbench.llm.asker import Asker
from reelbench.llm.model_names import PROVIDERS, read_model_name
from tests.servers.judge import Answer, JudgeServer

VIDEO = Attachment("video_url", "video/mp4", b"ftyp")
OWN = "/v1beta/models/gemini-1:generateContent"


def reply(*parts, ended="STOP", **more):
    """A reply as https://ai.google.dev/api/generate-content prints it."""
    candidate = {
        "content": {"role": "model", "parts": list(parts)},
        "finishReason": ended,
        "index": 0,
    }
    used = {
        "promptTokenCount": 900,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 40,
        "totalTokenCount": 947,
    }
    body = {"candidates": [candidate], "usageMetadata": used, "modelVersion": "gemini-1-002"} | more
    return Answer(raw=json.dumps(body).encode())


@pytest.fixture
def google():
    pytest.importorskip("google.genai", reason="google-genai is not installed (the extra `gemini`)")


by_google = pytest.mark.usefixtures("google")


@pytest.fixture
def server(monkeypatch):
    with JudgeServer(lambda _: reply({"text": "a star"})) as here:
        url = here.url.removesuffix("/v1") + "/v1beta/openai"
        monkeypatch.setitem(providers.PROVIDERS, "google", replace(PROVIDERS["google"], url=url))
        monkeypatch.setenv("GEMINI_API_KEY", "the-key-of-google")
        yield here


def asked(*content, sampling=None, **more):
    """Ask one question -> what came of it, and the notes."""
    options = AskOptions(**read_model_name("--llm", "gemini-1", None), tries=1, **more)

    async def ask():
        async with Asker(options, sampling) as asker:
            return await asker.ask(
                [{"role": "user", "content": [*content, "What?"]}], str
            ), asker.notes

    return asyncio.run(ask())


@by_google
def test_a_whole_video_goes_out_as_google_documents_it(server, monkeypatch, caplog):
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")  # of another program of the user's
    monkeypatch.setenv("GOOGLE_API_KEY", "another-key-of-the-user")
    parts = [
        {"text": "Let me see.", "thought": True},
        {"text": "a "},
        {"executableCode": {"code": "1"}},
        {"text": "star"},
    ]
    server.script(lambda _: reply(*parts))
    result, _ = asked(VIDEO, sampling={"max_tokens": 512, "temperature": 0, "fps": 2})
    (call,) = server.calls
    assert call.path == OWN
    assert call.headers["x-goog-api-key"] == "the-key-of-google"
    assert "authorization" not in call.headers
    assert "another-key" not in str(call)
    assert "GOOGLE_API_KEY" not in caplog.text
    # Google's client writes a field's own name here; its JSON takes that as well as `mimeType`.
    video = {
        "inlineData": {"mime_type": "video/mp4", "data": "ZnR5cA=="},
        "videoMetadata": {"fps": 2},
    }
    assert call.body == {
        "contents": [{"role": "user", "parts": [video, {"text": "What?"}]}],
        "generationConfig": {"maxOutputTokens": 512, "temperature": 0.0},
    }
    (kept,) = result.replies
    assert (result.value, kept.reply.finish, kept.reply.returned) == (
        "a star",
        "STOP",
        "gemini-1-002",
    )
    assert (
        kept.reply.prompt_tokens,
        kept.reply.completion_tokens,
        kept.reply.reasoning_tokens,
    ) == (900, 47, 40)
    assert (
        asked(VIDEO, sampling={"max_tokens": 512, "temperature": 0, "fps": 2})[0].value == "a star"
    )
    assert len(server.calls) == 1  # it is kept, as any other


def test_pictures_and_words_go_to_its_openai_compatible_address(server):
    server.script(lambda _: Answer("a star"))
    assert asked(Attachment("image_url", "image/jpeg", b"\xff\xd8"))[0].value == "a star"
    (call,) = server.calls
    assert call.path == "/v1beta/openai/chat/completions"
    assert call.headers["authorization"] == "Bearer the-key-of-google"


@by_google
@pytest.mark.parametrize(
    ("answer", "reason", "said"),
    [
        (
            Answer(status=429, error={"message": "slow down", "status": "RESOURCE_EXHAUSTED"}),
            "unavailable",
            "slow down",
        ),
        (
            Answer(status=503, error={"message": "overloaded"}),
            "unavailable",
            "answered 503: overloaded",
        ),
        (
            Answer(status=400, error={"message": "no such codec"}),
            "rejected",
            "answered 400: no such codec",
        ),
        (
            Answer(status=403, error={"message": "key the-key-of-google"}),
            "refused",
            "answered 403: key [key]",
        ),
        (
            Answer(status=302, headers={"Location": "http://elsewhere.example/"}),
            "refused",
            "redirecting to elsewhere",
        ),
        (Answer(raw=b"<html>"), "unavailable", "sent no whole reply"),
        (Answer(drop=True), "unavailable", "sent no whole reply"),
    ],
)
def test_its_failures_are_those_of_any_server_and_are_asked_once_a_try(
    server, answer, reason, said
):
    server.script(lambda _: answer)
    result, notes = asked(VIDEO, patience=0.01)
    assert result.reason == reason
    assert any(said in line for line in notes), notes
    assert len(server.calls) == 1
    assert "the-key-of-google" not in str(notes)


@by_google
@pytest.mark.parametrize(
    ("answer", "mishap"),
    [
        (reply({"text": "a st"}, ended="MAX_TOKENS"), "cut_off"),
        (reply(ended="SAFETY"), "refused"),
        (reply(candidates=[], promptFeedback={"blockReason": "PROHIBITED_CONTENT"}), "refused"),
    ],
)
def test_why_a_reply_ended_is_read_as_any_server_s(server, answer, mishap):
    server.script(lambda _: answer)
    result, _ = asked(VIDEO)
    assert {reply_failure_kind(cached.reply) for cached in result.replies} == {mishap}
    assert result.value is None


@by_google
@pytest.mark.parametrize(
    ("sampling", "said"),
    [
        ({"presence_penalty": 1}, "and not presence_penalty"),
        ({"thinking_config": {"thinking_budget": "much"}}, "thinking_budget"),
    ],
)
def test_what_does_not_go_with_a_whole_video_is_said_and_nothing_is_sent(server, sampling, said):
    with pytest.raises(InputError, match=said) as refused:
        asked(VIDEO, sampling=sampling)
    assert "\n" not in str(refused.value)
    assert server.calls == []


def test_a_typed_form_of_the_reply_is_not_dropped(server):
    with pytest.raises(InputError, match="and not response_format"):
        asked(VIDEO, extra={"response_format": {"type": "json_object"}})
    assert server.calls == []


def test_without_google_genai_the_line_says_what_to_install(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.genai", None)
    with pytest.raises(InputError, match=r"needs google-genai; pip install '.\[gemini\]'"):
        asked(VIDEO)
    assert server.calls == []


@by_google
def test_a_benchmark_is_asked_with_whole_videos_and_refused_with_chosen_frames_in_a_clip(server):
    scored = reelbench.ask("gemini-1", "rextime_mini", frames="native", limit=2)
    assert scored.counts.items == 2
    assert {call.path for call in server.calls} == {OWN}
    assert {part["text"] for part in server.calls[0].body["contents"][0]["parts"] if "text" in part}
    with pytest.raises(InputError, match="and not a clip of chosen frames"):
        reelbench.ask("gemini-1", "rextime_mini", frames="uniform:8,as=clip", limit=2)


@by_google
def test_a_reply_without_an_end_is_cut_off_while_it_arrives(server, caplog):
    server.script(lambda _: Answer(raw=b'{"candidates": [' + b" " * 6_000_000))
    result, _ = asked(VIDEO)
    assert (result.value, "sent no whole reply (more than 4 MB; cut off)" in caplog.text) == (
        None,
        True,
    )
