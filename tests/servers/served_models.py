"""Servers of models as they really behave, each with the source of its behaviour.

A behaviour is what the server lists of its model, the pages of its own, and how it answers. It is
played by `tests.servers.judge`; what a user sees of each stands beside it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.servers.judge import Answer, Call, Script

GOOD = '{"span": [0, 5], "answer": "A"}'
HALF = "Looking at the first frames, the man seems to be walking towards the"
QUESTIONS = 12
TOKENS_A_PICTURE = 256


@dataclass(frozen=True)
class Behaviour:
    """One thing that a server does, and what a user sees of it.

    Attributes:
        server: The server.
        does: What it does, in a few words.
        source: Where it was seen.
        script: How it answers.
        rc: The exit status.
        unscored: Reason -> questions; None where no result is written.
        says: Parts of what is printed.
        most_calls: Calls at most.
        ranked: True where a board ranks such a run.
        small: How it answers the two small questions (`tests.servers.pictures`); None: as a model
            that sees.
    """

    server: str
    does: str
    source: str
    script: Script
    rc: int = 0
    unscored: dict[str, int] | None = field(default_factory=dict)
    says: tuple[str, ...] = ()
    most_calls: int = QUESTIONS
    ranked: bool = True
    small: Script | None = None
    listed: dict[str, Any] | None = None
    pages: dict[str, Any] = field(default_factory=dict)


def counted(call: Call) -> int:
    """Return the tokens of a call's prompt: fixed ones for a picture, one for four letters."""
    tokens = 20
    for part in call.body["messages"][-1]["content"]:
        if part["type"] == "image_url":
            tokens += TOKENS_A_PICTURE
        else:
            tokens += len(part["text"]) // 4
    return tokens


def answer(content: str | None = GOOD, **more: Any) -> Script:
    """Answer with the prompt's tokens counted."""

    def script(call: Call) -> Answer:
        fields: dict[str, Any] = {"usage": {"prompt_tokens": counted(call)}} | more
        return Answer(content, **fields)

    return script


def cut_to_half(window: int) -> Script:
    """Answer to what is left of a prompt that is longer than the window."""

    def script(call: Call) -> Answer:
        tokens = counted(call)
        if tokens > window:
            tokens = window // 2 + 2
        return Answer(GOOD, usage={"prompt_tokens": tokens})

    return script


def full_window(window: int) -> Script:
    """Answer until prompt and answer fill the window, which isn't the asker's limit."""

    def script(call: Call) -> Answer:
        tokens = counted(call)
        usage = {"prompt_tokens": tokens, "completion_tokens": window - tokens}
        return Answer(HALF, finish="length", usage=usage)

    return script


def refusing(status: int, message: str, **error: Any) -> Script:
    return lambda _: Answer(status=status, error={"message": message, **error})


def in_turn(*scripts: Callable[[Call], Answer]) -> Script:
    return lambda call: scripts[call.number % len(scripts)](call)


def without_max_tokens(call: Call) -> Answer:
    """Refuse the older name of the limit, as newer deployments do."""
    if "max_tokens" in call.body:
        return Answer(
            status=400,
            error={
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                "param": "max_tokens",
                "code": "unsupported_parameter",
            },
        )
    return answer()(call)


VERSION = {"version": "0.32.9"}
OLLAMA = {"id": "m", "object": "model", "owned_by": "library"}
LM_STUDIO = {"id": "m", "object": "model", "owned_by": "organization_owner"}
LLAMA_CPP = {"id": "/models/q.gguf", "object": "model", "owned_by": "llamacpp"}
PROPS = {"total_slots": 1, "default_generation_settings": {"n_ctx": 4096}}
NO_ANSWER = {"model_failed": QUESTIONS}
THOUGHT = {"reasoning_content": f"It moves left first. {GOOD}"}

BEHAVIOURS = [
    Behaviour("Ollama", "reads all", "https://docs.ollama.com/openai", answer(), listed=OLLAMA),
    Behaviour(
        "Ollama",
        "cuts the prompt to half of its window",
        "https://github.com/ollama/ollama/issues/17889",
        cut_to_half(4096),
        rc=1,
        unscored={"prompt_cut": QUESTIONS},
        says=("the server cut their prompts", "OLLAMA_CONTEXT_LENGTH", "2,050 tokens"),
        ranked=False,
        listed=OLLAMA,
    ),
    Behaviour(
        "Ollama",
        "drops the pictures of a text model",
        "https://github.com/ollama/ollama/issues/17889",
        answer(usage={"prompt_tokens": 14}),
        rc=1,
        unscored={"media_not_seen": QUESTIONS},
        says=("fewer tokens than pictures",),
        ranked=False,
    ),
    Behaviour(
        "Ollama",
        "says that its model takes text alone",
        "https://github.com/ollama/ollama/blob/main/docs/api.md",
        answer(),
        rc=1,
        unscored=None,
        says=("reports a text-only model", "--frames none"),
        most_calls=0,
        listed=OLLAMA,
        pages={"/api/version": VERSION, "/api/show": {"capabilities": ["completion"]}},
    ),
    Behaviour(
        "Ollama",
        "has no such model",
        "https://github.com/ollama/ollama-python/issues/149",
        refusing(404, 'model "m" not found, try pulling it first'),
        rc=1,
        unscored=None,
        says=("it has llava:7b",),
        most_calls=4,
        listed={"id": "llava:7b"},
    ),
    Behaviour(
        "LM Studio",
        "puts the whole reply into reasoning_content",
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1602",
        answer("", message=THOUGHT),
        rc=1,
        unscored=None,
        says=("switch the server's reasoning parser off",),
        most_calls=3 * QUESTIONS,
        listed=LM_STUDIO,
    ),
    Behaviour(
        "LM Studio",
        "refuses pictures",
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/655",
        refusing(400, "Model does not support images. Please use a model that does."),
        rc=1,
        unscored=None,
        says=("--frames none",),
        listed=LM_STUDIO,
    ),
    Behaviour(
        "KoboldCpp",
        "reports no token counts",
        "https://github.com/LostRuins/koboldcpp/wiki",
        answer(usage={"prompt_tokens": 0, "completion_tokens": 0}),
        says=("this server reports no token counts",),
        small=answer("A man.", usage={"prompt_tokens": 0, "completion_tokens": 0}),
    ),
    Behaviour(
        "KoboldCpp",
        "puts the whole reply into reasoning_content, and counts none",
        "https://github.com/LostRuins/koboldcpp/wiki",
        answer("", message=THOUGHT, usage={"prompt_tokens": 0, "completion_tokens": 0}),
        rc=1,
        unscored=None,
        says=("switch the server's reasoning parser off",),
        most_calls=3 * QUESTIONS,
    ),
    Behaviour(
        "llama.cpp",
        "answers under its file's name",
        "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        answer(model="/models/q.gguf"),
        listed=LLAMA_CPP,
        pages={"/props": PROPS},
    ),
    Behaviour(
        "llama.cpp",
        "has no projector",
        "https://github.com/ggml-org/llama.cpp/issues/15377",
        refusing(500, "image input is not supported - hint: you may need to provide the mmproj"),
        rc=1,
        unscored=None,
        says=("--mmproj",),
        listed=LLAMA_CPP,
    ),
    Behaviour(
        "llama.cpp",
        "has too small a context",
        "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server.cpp",
        refusing(400, "the request exceeds the available context size", n_ctx=4096),
        rc=1,
        unscored=None,
        says=("llama.cpp: -c",),
        listed=LLAMA_CPP,
        pages={"/props": PROPS},
    ),
    Behaviour(
        "llama.cpp",
        "ends answers where its window is full",
        "`llama-server -c 256` of llama.cpp b11434, by `make real`",
        full_window(8192),
        rc=1,
        unscored={"cut_off": QUESTIONS},
        says=("fill the server's window of 8,192 tokens", "llama.cpp: -c"),
        ranked=False,
        listed=LLAMA_CPP,
        pages={"/props": PROPS},
    ),
    Behaviour(
        "vLLM",
        "takes fewer pictures",
        "https://github.com/vllm-project/vllm/issues/13513",
        refusing(400, "At most 4 image(s) may be provided in one request."),
        rc=1,
        unscored=None,
        says=("--limit-mm-per-prompt",),
        listed={"id": "m", "owned_by": "vllm", "max_model_len": 32768},
    ),
    Behaviour(
        "vLLM",
        "has too small a context",
        "https://github.com/thu-coai/Glyph/issues/9",
        refusing(400, "The prompt (length 9) is longer than the maximum model length of 8."),
        rc=1,
        unscored=None,
        says=("--max-model-len",),
    ),
    Behaviour(
        "SGLang",
        "ends at the limit",
        "https://docs.sglang.ai/basic_usage/openai_api_completions.html",
        answer(HALF, finish="length"),
        rc=1,
        unscored={"cut_off": QUESTIONS},
        says=("--max-tokens",),
        ranked=False,
        listed={"id": "m", "owned_by": "sglang", "max_model_len": 40960},
    ),
    Behaviour(
        "SGLang",
        "has too small a context",
        "https://github.com/sgl-project/sglang/issues/8096",
        refusing(400, "The input (9 tokens) is longer than the model's context length (8 tokens)."),
        rc=1,
        unscored=None,
        says=("--context-length",),
    ),
    Behaviour(
        "Azure",
        "refuses max_tokens",
        "https://github.com/sst/opencode/issues/37964",
        without_max_tokens,
        says=("takes no max_tokens, so max_completion_tokens is sent",),
        most_calls=QUESTIONS + 4,
    ),
    Behaviour(
        "Azure",
        "filters an answer",
        "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter",
        in_turn(answer(), answer(), answer("", finish="content_filter")),
        unscored={"refused": QUESTIONS // 3},
        ranked=False,
    ),
    Behaviour(
        "Gemini's OpenAI face",
        "names its own limit",
        "https://ai.google.dev/api/generate-content#FinishReason",
        answer(HALF, finish="FinishReason.MAX_TOKENS"),
        rc=1,
        unscored={"cut_off": QUESTIONS},
        ranked=False,
    ),
    Behaviour(
        "Gemini's OpenAI face",
        "names its own filter",
        "https://ai.google.dev/api/generate-content#FinishReason",
        in_turn(answer(), answer(), answer(HALF, finish="PROHIBITED_CONTENT")),
        unscored={"refused": QUESTIONS // 3},
        ranked=False,
    ),
    Behaviour(
        "OpenRouter",
        "falls back on another model",
        "https://openrouter.ai/docs/guides/routing/model-fallbacks",
        in_turn(answer(model="m"), answer(model="other/small")),
        says=("answered under several ids",),
        ranked=False,
    ),
    Behaviour(
        "OpenRouter",
        "finds nobody who takes pictures",
        "https://github.com/aaif-goose/goose/issues/5396",
        refusing(404, "No endpoints found that support image input"),
        rc=1,
        unscored=None,
        says=("--frames none",),
    ),
]


# --- every server beside every behaviour


@dataclass(frozen=True)
class _Wire:
    """The words by which one server tells of what it does.

    Attributes:
        server: The server.
        cut: Its ending at the limit on tokens.
        filtered: Its ending by a content filter.
        thought: The field of its thinking.
        too_long: Its refusal of a prompt that is too long; None where it cuts the prompt.
        names: The names under which it answers one after another.
        is_one: True where these are one model's.
    """

    server: str
    cut: str = "length"
    filtered: str = "content_filter"
    thought: str = "reasoning_content"
    too_long: str | None = None
    names: tuple[str, ...] = ("m", "other-vl")
    is_one: bool = False


_WIRES = (
    _Wire("Ollama", thought="reasoning"),
    _Wire("LM Studio"),
    _Wire("KoboldCpp"),
    _Wire(
        "llama.cpp",
        too_long="the request exceeds the available context size",
        names=("/models/q.gguf",),
        is_one=True,
    ),
    _Wire(
        "vLLM",
        cut="max_tokens",
        thought="reasoning",
        too_long="The prompt (length 9) is longer than the maximum model length of 8.",
    ),
    _Wire(
        "SGLang",
        too_long="The input (9 tokens) is longer than the model's context length (8 tokens).",
    ),
    _Wire(
        "Azure",
        too_long="This model's maximum context length is 8 tokens.",
        names=("m-2024-08-06",),
        is_one=True,
    ),
    _Wire("Gemini's OpenAI face", cut="FinishReason.MAX_TOKENS", filtered="PROHIBITED_CONTENT"),
    _Wire("OpenRouter", filtered="SAFETY", thought="reasoning"),
)
_NO_USAGE = {"prompt_tokens": 0, "completion_tokens": 0}


def _cells(wire: _Wire) -> list[Behaviour]:
    """Return what a user sees of one server, behaviour by behaviour."""
    source = "the entries above"
    thought = {wire.thought: f"It moves left first. {GOOD}"}
    in_names = in_turn(*(answer(model=name) for name in wire.names))
    long_prompt = Behaviour(
        wire.server,
        "cuts the prompt",
        source,
        cut_to_half(4096),
        rc=1,
        unscored={"prompt_cut": QUESTIONS},
        says=("the server cut their prompts",),
        ranked=False,
    )
    if wire.too_long is not None:
        long_prompt = Behaviour(
            wire.server,
            "refuses a long prompt",
            source,
            refusing(400, wire.too_long),
            rc=1,
            unscored=None,
            says=("fewer --frames",),
        )
    other_says = () if wire.is_one else ("answered under several ids",)
    return [
        Behaviour(wire.server, "shows the pictures", source, answer()),
        long_prompt,
        Behaviour(
            wire.server,
            "puts the text into its thinking",
            source,
            answer("", message=thought),
            rc=1,
            unscored=None,
            says=("switch the server's reasoning parser off",),
            most_calls=3 * QUESTIONS,
        ),
        Behaviour(
            wire.server,
            "ends at the limit",
            source,
            answer(HALF, finish=wire.cut),
            rc=1,
            unscored={"cut_off": QUESTIONS},
            ranked=False,
        ),
        Behaviour(
            wire.server,
            "filters an answer",
            source,
            in_turn(answer(), answer(), answer(HALF, finish=wire.filtered)),
            unscored={"refused": QUESTIONS // 3},
            ranked=False,
        ),
        Behaviour(
            wire.server,
            "answers under other names",
            source,
            in_names,
            says=other_says,
            ranked=wire.is_one,
        ),
        Behaviour(
            wire.server,
            "refuses a parameter",
            source,
            without_max_tokens,
            says=("takes no max_tokens, so max_completion_tokens is sent",),
            most_calls=QUESTIONS + 4,
        ),
        Behaviour(
            wire.server,
            "reports no token counts",
            source,
            answer(usage=_NO_USAGE),
            says=("this server reports no token counts",),
            small=answer("A man.", usage=_NO_USAGE),
        ),
    ]


GRID = [cell for wire in _WIRES for cell in _cells(wire)]
