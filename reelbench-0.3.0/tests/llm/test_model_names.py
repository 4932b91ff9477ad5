"""Providers by name: who is asked, with whose key, and what is said before the first call."""

import asyncio
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from reelbench.base import settings
from reelbench.base.attachment import Attachment
from reelbench.base.errors import InputError
from reelbench.llm import model_names as providers
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.model_names import PROVIDERS, read_model_name
from tests.servers.judge import Answer, JudgeServer

KEYS = (settings.LLM_API_KEY, settings.OPENAI_API_KEY)

DOCUMENTED = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    "google": ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": ("https://api.together.ai/v1", "TOGETHER_API_KEY"),
    "groq": ("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": ("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "azure": ("https://mine.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY"),
    "vllm": ("http://localhost:8000/v1", "VLLM_API_KEY"),
    "sglang": ("http://localhost:30000/v1", "SGLANG_API_KEY"),
    "ollama": ("http://localhost:11434/v1", "OLLAMA_API_KEY"),
}
"""Provider -> base URL and key's variable, as its own documentation prints them (`source` in `providers.json`)."""


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    """A key for each provider that names it, and none that could be taken for another's."""
    for name, (_, variable) in DOCUMENTED.items():
        monkeypatch.setenv(variable, f"the-key-of-{name}")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/")
    for variable in (
        "OPENAI_BASE_URL",
        "REELBENCH_LLM_URL",
        "REELBENCH_LLM_API_KEY",
        "REELBENCH_JUDGE_API_KEY",
    ):
        monkeypatch.delenv(variable, raising=False)


def named(text, url=None):
    return read_model_name("--llm", text, url, *KEYS)


def asked(server, monkeypatch, name, content="What?"):
    """Ask a provider's model, a local server standing in its address's place -> the reply, and what was said."""
    path = urlsplit(DOCUMENTED[name][0]).path
    monkeypatch.setitem(
        providers.PROVIDERS,
        name,
        replace(PROVIDERS[name], url=server.url.removesuffix("/v1") + path),
    )
    notes = []

    async def ask():
        async with Asker(AskOptions(**named(f"{name}/gemini-1")), on_note=notes.append) as asker:
            return await asker.ask([{"role": "user", "content": content}], str)

    return asyncio.run(ask()).value, notes


def test_each_provider_is_where_its_documentation_says():
    assert PROVIDERS.keys() == DOCUMENTED.keys()
    for name, (url, variable) in DOCUMENTED.items():
        whose = named(f"{name}/gemini-1")
        assert (whose["url"], whose["key_from"], whose["api_key"]) == (
            url,
            variable,
            f"the-key-of-{name}",
        )
        assert (whose["model"], whose["provider"]) == ("gemini-1", name)


@pytest.mark.parametrize("name", PROVIDERS)
def test_what_reaches_each_is_what_its_documentation_prints(name, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    picture, video = (
        Attachment("image_url", "image/jpeg", b"\xff\xd8"),
        Attachment("video_url", "video/mp4", b"ftyp"),
    )
    takes_video = "video" in PROVIDERS[name].takes
    content = [picture, *([video] if takes_video else []), "What?"]
    with JudgeServer(lambda _: Answer("fine")) as server:
        value, notes = asked(server, monkeypatch, name, content)
        (call,) = server.calls
    assert value == "fine"
    assert call.path == urlsplit(DOCUMENTED[name][0]).path + "/chat/completions"
    assert call.headers["authorization"] == f"Bearer the-key-of-{name}"
    assert call.headers["content-type"] == "application/json"
    assert "the-key-of" not in str(
        {key: text for key, text in call.headers.items() if key != "authorization"}
    )
    assert ("openai-organization" in call.headers) == (name == "openai")
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9g="}},
        *(
            [{"type": "video_url", "video_url": {"url": "data:video/mp4;base64,ZnR5cA=="}}]
            if takes_video
            else []
        ),
        {"type": "text", "text": "What?"},
    ]
    assert call.body == {"model": "gemini-1", "messages": [{"role": "user", "content": parts}]}
    assert any(DOCUMENTED[name][1] in line and "127.0.0.1" in line for line in notes)


def test_each_says_where_it_is_documented_and_takes_as_many_pictures_as_stands_there():
    assert all(one.source.startswith("https://") for one in PROVIDERS.values())
    assert {name: one.most_images for name, one in PROVIDERS.items() if one.most_images} == {
        "openai": 1500,
        "anthropic": 600,
        "google": 3600,
        "groq": 5,
        "mistral": 8,
        "azure": 50,
    }
    assert {name for name, one in PROVIDERS.items() if "video" in one.takes} == {
        "openrouter",
        "together",
        "vllm",
        "sglang",
    }


def test_who_is_asked_is_said_once_before_the_first_call_and_is_no_note():
    said = []

    def script(call):
        said.append(call.number)
        return Answer("fine")

    async def ask(**more):
        async with Asker(
            AskOptions(model="m", url=server.url, **more), on_note=said.append
        ) as asker:
            for text in ("What?", "Who?"):
                await asker.ask([{"role": "user", "content": text}], str)
            return asker.notes

    with JudgeServer(script) as server:
        who = f"the model m is asked at {server.url[7:-3]}, with no key"
        (spent,) = asyncio.run(ask(budget_calls=0))
        assert "is used up" in spent
        assert said == [spent]
        said.clear()
        assert asyncio.run(ask()) == []
        assert (said[0], len(said), said.count(who)) == (who, 3, 1)
        said.clear()
        assert asyncio.run(ask()) == []
    assert said == []  # all is kept: nobody is asked


def test_without_its_key_nobody_is_asked_and_the_variable_is_named(monkeypatch):
    for name, (_, variable) in DOCUMENTED.items():
        if not PROVIDERS[name].own and name != "openai":
            monkeypatch.delenv(variable)
    with JudgeServer(lambda _: Answer("fine")) as server:
        for name in ("anthropic", "google", "groq", "azure"):
            value, notes = asked(server, monkeypatch, name)
            assert value is None
            assert any(f"set {DOCUMENTED[name][1]}" in line for line in notes), notes
        assert server.calls == []


def test_names_that_are_one_providers_alone_need_no_prefix():
    assert named("claude-opus-4-6")["provider"] == "anthropic"
    assert named("gemini-3.5-flash")["provider"] == "google"
    whose = named("gpt-6-luna")  # OpenAI is who was asked for a bare name ever since
    assert (whose["url"], whose["key_from"]) == (None, "OPENAI_API_KEY")


@pytest.mark.parametrize(
    "name", ["claude-x", "google/gemma-3-4b", "openai/gpt-oss-20b", "Qwen/Qwen3-VL", "org/m"]
)
def test_where_a_server_is_named_a_name_goes_out_as_typed(name):
    whose = named(name, "http://127.0.0.1:1/v1")
    assert (whose["model"], whose["url"]) == (name, "http://127.0.0.1:1/v1")
    assert whose["key_from"] == "OPENAI_API_KEY"
    assert named(f"{name}@http://127.0.0.1:2/v1")["url"] == "http://127.0.0.1:2/v1"


@pytest.mark.parametrize("name", DOCUMENTED)
def test_behind_a_providers_prefix_no_other_key_goes_to_a_named_server(name, monkeypatch):
    url = "https://proxy.example.com/v1"
    variable = DOCUMENTED[name][1]
    assert named(f"{name}/gemini-1", url)["key_from"] == variable
    monkeypatch.delenv(variable)
    assert named(f"{name}/gemini-1", url)["api_key"] is None
    monkeypatch.setenv("REELBENCH_LLM_API_KEY", "the-servers-own")
    assert named(f"{name}/gemini-1", url)["key_from"] == "REELBENCH_LLM_API_KEY"


@pytest.mark.parametrize(
    ("url", "is_sent"),
    [
        ("https://gpu.example.com/v1", True),
        ("http://gpu.example.com/v1", False),
        ("http://10.0.0.7:8000/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.9:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        (None, True),
    ],
)
def test_no_key_goes_over_plain_http_to_another_machine(url, is_sent, monkeypatch):
    options = AskOptions(**named("m", url))
    assert (options.sent_key is not None) is is_sent
    assert AskOptions(**named("m", url), allow_http_key=True).sent_key == "the-key-of-openai"
    monkeypatch.setenv("REELBENCH_LLM_API_KEY", "the-servers-own")
    if is_sent:
        assert AskOptions(**named("m", url)).sent_key == "the-servers-own"
        return
    with pytest.raises(InputError, match="--allow-http-key"):
        AskOptions(**named("m", url))
    assert AskOptions(**named("m", url), allow_http_key=True).sent_key == "the-servers-own"


def test_ones_own_servers_lose_their_prefix_at_any_address():
    assert named("vllm/Qwen/Qwen3-VL", "http://127.0.0.1:1/v1")["model"] == "Qwen/Qwen3-VL"
    assert named("ollama/llava@http://127.0.0.1:1/v1")["model"] == "llava"
    assert named("hf/Qwen/Qwen3-1.7B")["model"] == "hf:Qwen/Qwen3-1.7B"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "google/gemma-3-4b-it",
            ("--llm gemini/gemma-3-4b-it", "--llm google/gemma-3-4b-it --llm-url URL"),
        ),
        (
            "openai/gpt-oss-20b",
            ("OpenAI has none of that name", "--llm openai/gpt-oss-20b --llm-url URL"),
        ),
        ("./checkpoint", ("reelbench eval NAME --model ./checkpoint",)),
        ("gpt-6-luna,gpt-6-sol", ("reelbench eval NAME --model A --model B",)),
    ],
)
def test_a_name_that_can_be_two_things_ends_with_both_lines(name, lines):
    with pytest.raises(InputError) as refused:
        named(name)
    assert all(line in str(refused.value) for line in lines), refused.value
    assert "\n" not in str(refused.value)


def test_azures_address_is_asked_for(monkeypatch):
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT")
    with pytest.raises(
        InputError, match="set AZURE_OPENAI_ENDPOINT, address of your Azure OpenAI resource"
    ):
        named("azure/my-deployment")


def test_what_a_provider_does_not_take_is_said_before_anything_is_sent():
    claude, groq = (
        AskOptions(**named(name)) for name in ("claude-opus-4-6", "groq/qwen/qwen3.6-27b")
    )
    with pytest.raises(
        InputError, match="Groq takes at most 5 pictures a request, and not 8 pictures"
    ):
        groq.check_taken("images", 8)
    groq.check_taken("images", 5)
    with pytest.raises(InputError, match="Anthropic takes images, and not a clip of chosen frames"):
        claude.check_taken("video")
    with pytest.raises(InputError, match="Anthropic takes images, and not whole videos"):
        claude.check_taken("whole videos")
    with pytest.raises(InputError, match="Anthropic takes images, and not a batch"):
        replace(claude, batch=True)
    gemini = AskOptions(**named("gemini-3.5-flash"))
    gemini.check_taken("whole videos")
    with pytest.raises(
        InputError,
        match="Gemini API takes images and whole videos, and not a clip of chosen frames",
    ):
        gemini.check_taken("video")
    AskOptions(**named("openrouter/google/gemini-3.5-flash")).check_taken("video")
    AskOptions(**named("openrouter/google/gemini-3.5-flash")).check_taken("whole videos")
    AskOptions(model="m", url="http://127.0.0.1:1/v1").check_taken("images", 1000)
