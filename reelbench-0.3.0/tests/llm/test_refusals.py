"""What a server's refusal says, in the servers' own words, is told as that, with the way out."""

import asyncio

import pytest

from reelbench.base.attachment import Attachment
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from tests.servers.judge import Answer, JudgeServer

PROJECTOR = "--mmproj"
WITHOUT = "--frames none"
LIMIT = "--limit-mm-per-prompt"
CONTEXT = "OLLAMA_CONTEXT_LENGTH"
PICTURE = Attachment("image_url", "image/png", b"a picture")
NAMES = "it has llava:7b"

# Server, status, what it says (its form abridged), what the user is told.
REFUSALS = [
    ("llama.cpp", 500, "image input is not supported - hint: you may need the mmproj", PROJECTOR),
    ("llama.cpp, older", 500, 'Unsupported content part type: "image_url"', WITHOUT),
    ("Ollama", 400, "this model does not support image input (ref: 1)", WITHOUT),
    ("Ollama", 500, "this model is missing data required for image input", WITHOUT),
    ("LM Studio", 400, "Model does not support images. Please use a model that does.", WITHOUT),
    ("vLLM", 400, "m is not a multimodal model", WITHOUT),
    ("vLLM", 400, "At most 0 image(s) may be provided in one prompt.", WITHOUT),
    ("OpenRouter", 404, "No endpoints found that support image input", WITHOUT),
    ("DeepSeek", 400, "unknown variant `image_url`, expected `text`", WITHOUT),
    ("Mistral", 400, "Image input is not enabled for this model", WITHOUT),
    ("vLLM", 400, "At most 4 image(s) may be provided in one request.", LIMIT),
    ("Azure", 400, "Too many images in request. Max is 50.", LIMIT),
    ("Groq", 400, "Too many images provided. This model supports up to 5 images", LIMIT),
    ("OpenAI", 400, "This model's maximum context length is 4097 tokens", CONTEXT),
    ("vLLM", 400, "prompt (length 16) is longer than the maximum model length of 8", CONTEXT),
    ("SGLang", 400, "The input (9 tokens) is longer than the model's context length (8)", CONTEXT),
    ("SGLang", 400, "Input length (9 tokens) exceeds the maximum allowed length (8)", CONTEXT),
    ("llama.cpp", 400, "the request exceeds the available context size, try to raise", CONTEXT),
    ("LM Studio", 400, "the model is loaded with context length of only 4096 tokens", CONTEXT),
    ("LM Studio", 400, "Context size has been exceeded", CONTEXT),
    ("TGI", 422, "`inputs` tokens + `max_new_tokens` must be <= 4096", CONTEXT),
    ("Anthropic", 400, "prompt is too long: 9 tokens > 8 maximum", CONTEXT),
    ("Gemini", 400, "The input token count (9) exceeds the maximum number of tokens", CONTEXT),
    ("a proxy", 413, "Request Entity Too Large", "size="),
    ("Ollama", 404, 'model "m" not found, try pulling it first', NAMES),
    ("vLLM", 404, "The model `m` does not exist.", NAMES),
    ("OpenRouter", 400, "m is not a valid model ID", NAMES),
    ("DeepSeek", 400, "Model Not Exist", NAMES),
    ("LiteLLM", 400, "Invalid model name passed in model=m.", NAMES),
]


def ask(server, questions=1, pictures=(), **options):
    """Ask questions, and return the calls that were made and the lines for the user."""
    notes = []

    async def go():
        given = AskOptions(model="m", url=server.url, backoff=0.001, tries=5, **options)
        async with Asker(given, on_note=notes.append) as asker:
            asking = [
                asker.ask(
                    [{"role": "user", "content": [f"{number}?", *pictures]}], lambda text: text
                )
                for number in range(questions)
            ]
            return await asyncio.gather(*asking)

    results = asyncio.run(go())
    return results, [note for note in notes if " is asked at " not in note]


@pytest.mark.parametrize(("name", "status", "words", "told"), REFUSALS)
def test_a_refusal_is_told_once_with_its_way_out(name, status, words, told):
    with JudgeServer(lambda _: Answer(status=status, error={"message": words})) as server:
        server.list_models({"id": "llava:7b"})
        [result], notes = ask(server, pictures=[PICTURE])
        assert len(server.calls) == 1, name
    assert result.value is None
    [line] = notes
    assert words[:40] in line
    assert told in line
    assert "run again later" not in line


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "the request exceeds the available context size"), (413, "Request Entity Too Large")],
)
@pytest.mark.parametrize("pictures", [[], [PICTURE]], ids=["words alone", "a picture"])
def test_fewer_frames_are_advised_only_where_frames_were_sent(status, words, pictures):
    with JudgeServer(lambda _: Answer(status=status, error={"message": words})) as server:
        _, [line] = ask(server, pictures=pictures)
    assert "send less" in line
    assert ("--frames" in line) == bool(pictures)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (500, "the image could not be decoded"),
        (500, "out of memory"),
        (503, "the model does not support images at the moment: loading"),
        (429, "maximum context length of this minute reached"),
    ],
)
def test_other_trouble_is_tried_again(status, words):
    replies = [Answer(status=status, error={"message": words}), Answer("A")]
    with JudgeServer(lambda call: replies[min(call.number, 1)]) as server:
        [result], _ = ask(server)
        assert (result.value, len(server.calls)) == ("A", 2)


@pytest.mark.parametrize(
    "words",
    [
        "You uploaded an unsupported image. Please make sure your image is valid.",
        "Image format image/bmp is not supported",
        "does not support image_url with detail=high",
    ],
)
def test_a_refused_kind_of_picture_is_not_taken_for_a_model_without_pictures(words):
    with JudgeServer(lambda _: Answer(status=400, error={"message": words})) as server:
        _, [line] = ask(server)
    assert words in line
    assert WITHOUT not in line


def test_an_error_with_a_status_of_success_is_read_too():
    body = b'{"error": {"message": "No endpoints found that support image input", "code": 404}}'
    with JudgeServer(lambda _: Answer(raw=body)) as server:
        _, [line] = ask(server)
        assert len(server.calls) == 1
    assert WITHOUT in line


def test_a_server_that_takes_no_pictures_is_asked_few_times():
    words = "image input is not supported - hint: you may need to provide the mmproj"
    with JudgeServer(lambda _: Answer(status=500, error={"message": words})) as server:
        _, notes = ask(server, questions=40)
        assert len(server.calls) <= 12
    assert PROJECTOR in notes[-1]
    assert "stopped" in notes[-1]
