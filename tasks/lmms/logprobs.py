"""How likely an adapter's model holds sentences: its last call is intercepted to ask for that, and not for an answer.

Two kinds of call: Hugging Face's `generate`, of any adapter that calls it, and a chat completion of an
OpenAI-compatible server that gives the log-probabilities of a prompt (vLLM's `prompt_logprobs`).
"""

import copy
import re
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from reelbench.registry.errors import ReelbenchError, first_line
from reelbench.scoring import aggregation
from reelbench.tasks.lmms.candidates import FAILED, Ask, prompt_ids, replaced, text_of, tokenizer_of
from reelbench.tasks.lmms.likelihoods import SentenceLogprobs, of_model

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance


def sentence_logprobs(adapter: Any, request: "Instance", ask: Ask, sentences: Sequence[str]) -> SentenceLogprobs | str:  # noqa: ANN401
    """Return each sentence's log-likelihood as the answer to a request; the mark of a failed request where it failed.

    Raises:
        ReelbenchError: The adapter has no such call, or what it calls can't say.
    """
    name = type(adapter).__name__
    kind = call_of(adapter)
    if kind is _GenerateCall:
        call: _Intercepted = _GenerateCall(adapter, sentences)
        with replaced(adapter.model, "generate", call):
            [given] = ask(adapter, [request])
    else:
        twin = copy.copy(adapter)  # another question may be under way
        twin.client = call = kind(adapter.client, sentences)
        [given] = ask(twin, [request])
    answer = text_of(given)
    if call.problem is not None:
        raise ReelbenchError(f"{name} has no option scores: {call.problem}")
    if call.result is not None:
        return call.result
    if call.error is not None:
        return f"{FAILED}: {first_line(call.error)}]"
    if aggregation.is_failure(answer):  # lmms-eval's own word for a call that failed in its adapter
        return answer
    raise ReelbenchError(f"{name} has no option scores: it was asked ({answer[:60]!r}), but {_NEEDED}")


_NEEDED = "they need a model of Hugging Face's that is asked by `generate`, or a server of vLLM's (`--model openai`)"


def call_of(adapter: Any) -> "type[_Intercepted]":  # noqa: ANN401 - lmms-eval's model
    """Return the replacement of an adapter's last call; ReelbenchError where it makes none that is known here."""
    if callable(getattr(getattr(adapter, "model", None), "generate", None)):
        return _GenerateCall
    client = getattr(adapter, "client", None)
    awaited = type(client).__name__.startswith("Async")
    if hasattr(getattr(client, "chat", None), "completions") and not awaited:
        return _ServerCall
    raise ReelbenchError(f"{type(adapter).__name__} has no option scores: {_NEEDED}")


def at_once(adapter: Any) -> int:  # noqa: ANN401 - lmms-eval's model
    """Return the most questions that an adapter may be asked at a time: several where each has a client of its own."""
    served = hasattr(getattr(getattr(adapter, "client", None), "chat", None), "completions")
    return max(1, int(getattr(adapter, "num_concurrent", 1))) if served else 1


class _Intercepted:
    """Stands in for a call; then it has a `result`, the `error` that was raised, or a `problem` of every such call."""

    def __init__(self, asked: Any, sentences: Sequence[str]) -> None:  # noqa: ANN401 - an adapter, or a client
        self._asked = asked
        self._sentences = sentences
        self.result: SentenceLogprobs | None = None
        self.problem: str | None = None
        self.error: Exception | None = None


class _GenerateCall(_Intercepted):
    """Stands in for a model's `generate`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - Hugging Face's
        import torch

        prompt = prompt_ids(args, kwargs)
        if prompt is None or len(prompt) != 1:
            self.problem = "it gives `generate` no tokens of one question by itself"
            raise ReelbenchError(self.problem)
        tokenizer = tokenizer_of(self._asked)
        ended = tokenizer.decode(prompt[0, -_TAIL:].tolist())
        if (tag := re.search(r"(<think>|<thinking>|<reasoning>|◁think▷)\s*\Z", ended)) is not None:
            self.problem = (
                f"its prompt ends in {tag[1]}, so a sentence would be scored as its first thought; turn its "
                "thinking off (--model_args enable_thinking=False)"
            )
            raise ReelbenchError(self.problem)
        tokens = [tokenizer(sentence, add_special_tokens=False)["input_ids"] for sentence in self._sentences]
        settings = import_module("transformers").GenerationConfig().to_dict()
        settings = {*settings, "inputs", "generation_config", "stopping_criteria", "streamer"}
        inputs = {name: part for name, part in kwargs.items() if name not in settings and part is not None}
        try:
            self.result = of_model(self._asked.model, {**inputs, "input_ids": prompt}, tokens)
        except Exception as error:
            self.error = error  # some adapters take it for an empty answer
            raise
        return torch.cat([prompt, prompt[:, -1:]], dim=1)  # something for the adapter to decode


_TAIL = 16
"""Tokens at a prompt's end among which a tag that opens its reasoning stands."""


class _ServerCall(_Intercepted):
    """Stands in for the client of an OpenAI-compatible server that knows vLLM's `prompt_logprobs`."""

    @property
    def chat(self) -> "_ServerCall":
        """As `client.chat`."""
        return self

    completions = chat

    def create(self, **payload: Any) -> Any:  # noqa: ANN401 - openai's
        """Answer for `chat.completions.create`."""
        extra = payload.pop("extra_body", {}) | {"return_token_ids": True}
        payload |= {"max_tokens": 1, "temperature": 0}
        bare = self._asked.chat.completions.create(**payload, extra_body=extra)
        extra |= {"prompt_logprobs": 0, "add_generation_prompt": False, "continue_final_message": True}
        replies = []
        for sentence in self._sentences:
            turn = {"role": "assistant", "content": sentence}
            payload_of_turn = payload | {"messages": [*payload["messages"], turn]}
            replies.append(self._asked.chat.completions.create(**payload_of_turn, extra_body=extra))
            if getattr(replies[-1], "prompt_logprobs", None) is None:
                self.problem = "this server gives no log-probabilities of a prompt (vLLM's `prompt_logprobs`)"
                return bare
        prompt = list(getattr(bare, "prompt_token_ids", None) or ())
        if not prompt:
            self.problem = "this server doesn't say a prompt's tokens (vLLM's `return_token_ids`)"
            return bare
        tokens: list[list[int]] = []
        logprobs: list[list[float]] = []
        for reply in replies:
            ids = list(reply.prompt_token_ids or [])
            if ids[: len(prompt)] != prompt:
                self.problem = "its chat template writes the prompt otherwise where an answer follows"
                return bare
            tokens.append(ids[len(prompt) :])
            places = range(len(prompt), len(ids))
            logprobs.append([reply.prompt_logprobs[place][str(ids[place])]["logprob"] for place in places])
        self.result = SentenceLogprobs(tokens, logprobs)
        return bare
