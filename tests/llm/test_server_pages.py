"""What one's own server says of itself is asked, believed and recorded; what it doesn't say is no error."""

import asyncio
import json

import pytest

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.pace import FIRST, Pace
from reelbench.llm.server_pages import statement_of
from tests.servers.judge import Answer, JudgeServer

GOOD = '{"span": [0, 5], "answer": "A"}'

LLAMA_CPP = {"id": "/models/q.gguf", "object": "model", "owned_by": "llamacpp"}
PROPS = {
    "default_generation_settings": {"id": 0, "n_ctx": 4096},
    "total_slots": 2,
    "model_path": "/models/q.gguf",
    "modalities": {"vision": True, "audio": False},
}
OLLAMA = {"id": "m", "object": "model", "owned_by": "library"}
SHOW = {
    "parameters": 'stop  "<|im_end|>"\nnum_ctx                        8192',
    "model_info": {"qwen2.context_length": 131072},
    "capabilities": ["completion", "vision"],
}
LOADED = {"models": [{"name": "m:latest", "model": "m:latest", "context_length": 4096}]}
LM_STUDIO = {"id": "m", "object": "model", "owned_by": "organization_owner"}
VLM = {"id": "m", "type": "vlm", "max_context_length": 131072, "loaded_context_length": 4096}

VERSION = {"version": "0.32.9"}
STATEMENTS = {
    "llama.cpp under another name": (
        LLAMA_CPP,
        {"/props": PROPS},
        {"software": "llama.cpp", "context": 4096, "slots": 2, "takes_pictures": True},
    ),
    "llama.cpp that shows no props": (LLAMA_CPP, {}, {"software": "llama.cpp"}),
    "Ollama, not loaded": (
        OLLAMA,
        {"/api/version": VERSION, "/api/show": SHOW, "/api/ps": {"models": []}},
        {"software": "Ollama", "context": 8192, "takes_pictures": True},
    ),
    "Ollama, loaded": (
        OLLAMA,
        {"/api/version": VERSION, "/api/show": SHOW | {"capabilities": []}, "/api/ps": LOADED},
        {"software": "Ollama", "context": 4096},
    ),
    "LM Studio": (
        LM_STUDIO,
        {"/api/v0/models": {"data": [{"id": "other", "type": "llm"}, VLM]}},
        {"software": "LM Studio", "context": 4096, "takes_pictures": True},
    ),
    "vLLM": (
        {"id": "m", "owned_by": "vllm", "root": "/m", "max_model_len": 32768},
        {},
        {"software": "vLLM", "context": 32768},
    ),
    "SGLang": (
        {"id": "m", "owned_by": "sglang", "root": "/m", "max_model_len": 40960},
        {},
        {"software": "SGLang", "context": 40960},
    ),
    "a server that says nothing": ({"id": "m", "owned_by": "me"}, {}, None),
    "pages of another shape": (
        LLAMA_CPP,
        {"/props": {"total_slots": "2", "modalities": ["text"], "default_generation_settings": 1}},
        {"software": "llama.cpp"},
    ),
    "numbers that are none": (
        LLAMA_CPP,
        {"/props": {"total_slots": 0, "default_generation_settings": {"n_ctx": -1}}},
        {"software": "llama.cpp"},
    ),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_servers_pages_are_read_as_they_are(name):
    listed, pages, stated = STATEMENTS[name]

    async def page(path, _):
        return pages.get(path)

    statement = asyncio.run(statement_of("m", [listed], page))
    assert statement.record_fields() == stated


@pytest.fixture
def ask(reelbench, tmp_path):
    def run(server, *options):
        given = ("--llm", "m", "--llm-url", server.url, "--output", tmp_path / "out")
        done = reelbench("ask", "rextime_mini", *given, "--limit", 2, *options)
        written = tmp_path / "out" / "rextime_mini" / "result.json"
        asked = None
        if written.exists():
            asked = json.loads(written.read_text())["provenance"]["asked"]
        return done, asked

    return run


def test_what_a_server_says_is_recorded_and_sets_the_pace(ask):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        server.list_models(LLAMA_CPP)
        server.show_page("/props", PROPS)
        done, asked = ask(server, "--frames", "uniform:2")
        assert (done.returncode, len(server.calls)) == (0, 2), done.stderr
        assert server.pages_read == ["/props"]
    assert asked["states"] == {
        "software": "llama.cpp",
        "context": 4096,
        "slots": 2,
        "takes_pictures": True,
    }


@pytest.mark.parametrize(
    ("listed", "pages"),
    [
        (LLAMA_CPP, {"/props": PROPS | {"modalities": {"vision": False}}}),
        (OLLAMA, {"/api/version": VERSION, "/api/show": {"capabilities": ["completion"]}}),
        (LM_STUDIO, {"/api/v0/models": {"data": [VLM | {"type": "llm"}]}}),
    ],
)
def test_a_model_that_takes_text_alone_by_its_servers_own_page_is_shown_no_pictures(
    listed, pages, ask
):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        server.list_models(listed)
        for path, page in pages.items():
            server.show_page(path, page)
        done, _ = ask(server, "--frames", "uniform:2")
        assert (done.returncode, len(server.calls)) == (1, 0)
        assert "reports a text-only model" in done.stderr
        assert "--frames none" in done.stderr
        done, _ = ask(server, "--frames", "none")
        assert (done.returncode, len(server.calls)) == (0, 2), done.stderr


def test_a_server_without_pages_is_asked_as_before(ask):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        done, asked = ask(server, "--frames", "none")
        assert (done.returncode, server.pages_read) == (0, []), done.stderr
    assert "states" not in asked


@pytest.mark.parametrize(
    ("model", "url", "provider", "is_self_hosted"),
    [
        ("m", "http://127.0.0.1:8080/v1", None, True),
        ("m", "https://models.example.org/v1", None, True),
        ("m", "https://api.openai.com/v1", None, False),
        ("m", None, None, False),
        ("m", "https://openrouter.ai/api/v1", "openrouter", False),
        ("m", "http://localhost:11434/v1", "ollama", True),
    ],
)
def test_a_providers_server_is_asked_for_no_pages(model, url, provider, is_self_hosted):
    options = AskOptions(model=model, url=url, provider=provider)
    assert options.is_self_hosted == is_self_hosted


def test_the_slots_that_a_server_states_are_the_first_limit():
    pace = Pace(most=64)
    pace.state_slots(2)
    assert pace.limit == FIRST
    pace.prove()
    assert pace.limit == 2
    known_pace = Pace(most=64)
    known_pace.prove()
    known_pace.state_slots(16)
    assert known_pace.limit == 16
