"""A server that gives the log-probabilities of a prompt in vLLM's own reply form; a word is a token.

The fields are those of vLLM's `ChatCompletionRequest` (`prompt_logprobs`, `return_token_ids`,
`add_generation_prompt`, `continue_final_message`) and `ChatCompletionResponse` (`prompt_logprobs`,
`prompt_token_ids` beside the choices).
"""

import json
import re
import zlib

from tests.servers.judge import Answer


def logprob(word):
    """The log-probability that the server gives a word, whatever is before it."""
    return -len(word) / 8


def token(word):
    return zlib.crc32(word.encode())


def words(messages, *, asks, goes_on):
    """The chat template: each role by its name, an end after each turn but one that is gone on with."""
    turns = []
    for number, message in enumerate(messages):
        content = message["content"]
        text = (
            content
            if isinstance(content, str)
            else "".join(part.get("text", "") for part in content)
        )
        last = goes_on and number == len(messages) - 1
        turns += [f"<{message['role']}>", *re.findall(r"\S+", text), *([] if last else ["<end>"])]
    return [*turns, "<assistant>"] if asks else turns


def reply(call, content="[2, 7.5]"):
    """Answer one request, as vLLM does."""
    body = call.body
    asks, goes_on = (
        body.get("add_generation_prompt", True),
        body.get("continue_final_message", False),
    )
    if asks and goes_on:
        message = "Cannot set both `continue_final_message` and `add_generation_prompt` to True."
        return Answer(status=400, error={"message": message})
    told = words(body["messages"], asks=asks, goes_on=goes_on)
    document = json.loads(Answer(content).body(body["model"]))
    if body.get("return_token_ids"):
        document["prompt_token_ids"] = [token(word) for word in told]
    if body.get("prompt_logprobs") is not None:
        of_word = [{token(w): {"logprob": logprob(w), "rank": 1, "decoded_token": w}} for w in told]
        document["prompt_logprobs"] = [None, *of_word[1:]]
    return Answer(raw=json.dumps(document).encode())
