"""How likely an adapter's model holds sentences: its last call is intercepted to ask for that, and not for an answer.

Two kinds of call: Hugging Face's `generate`, of any adapter that calls it, and a chat completion of
an OpenAI-compatible server that gives the log-probabilities of a prompt (vLLM's `prompt_logprobs`).
"""

import copy
import inspect
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from reelbench.base.errors import ReelbenchError
from reelbench.tasks.lmms.candidates import (
    Ask,
    StandIn,
    prompt_ids,
    replacing_attribute,
    text_of,
    tokenizer_of,
)

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance

log = logging.getLogger("reelbench")


@dataclass(frozen=True, slots=True)
class SentenceLogprobs:
    """The tokens of each sentence, and their natural log-probabilities."""

    tokens: list[list[int]]
    logprobs: list[list[float]]


def sentence_logprobs(
    adapter: Any, request: "Instance", ask: Ask, sentences: Sequence[str]
) -> SentenceLogprobs | str:  # noqa: ANN401
    """Return each sentence's log-likelihood as the answer to a request; the mark of a failed request where it failed.

    ReelbenchError where the adapter has no such call, or what it calls can't say.
    """
    name = type(adapter).__name__
    kind = call_of(adapter)
    if kind is _GenerateCall:
        call: _Call = _GenerateCall(adapter, sentences)
        with replacing_attribute(adapter.model, "generate", call):
            [given] = ask(adapter, [request])
    else:
        twin = copy.copy(adapter)  # another question may be under way
        call = kind(adapter.client, sentences)
        twin.client = SimpleNamespace(chat=SimpleNamespace(completions=call))
        [given] = ask(twin, [request])
    if call.problem is not None:
        raise ReelbenchError(f"{name} has no option scores: {call.problem}")
    answer = text_of(given)
    return call.outcome(
        answer, f"{name} has no option scores: it was asked ({answer[:60]!r}), but {_NEEDED}"
    )


_NEEDED = "they need a model of Hugging Face's that is asked by `generate`, or a server of vLLM's (`--model openai`)"


def call_of(adapter: Any) -> "type[_Call]":  # noqa: ANN401 - lmms-eval's model
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


@dataclass(eq=False, repr=False)
class _Call(StandIn):
    """Stands in for a call of what is `asked`, an adapter or a client.

    `problem` is what is wrong with every such call.
    """

    asked: Any
    sentences: Sequence[str]
    problem: str | None = None


class _GenerateCall(_Call):
    """Stands in for a model's `generate`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - Hugging Face's
        import torch

        prompt = prompt_ids(args, kwargs)
        if prompt is None or len(prompt) != 1:
            self.problem = "it gives `generate` no tokens of one question by itself"
            raise ReelbenchError(self.problem)
        tokenizer = tokenizer_of(self.asked)
        ended = tokenizer.decode(prompt[0, -_TAIL:].tolist())
        if (tag := re.search(r"(<think>|<thinking>|<reasoning>|◁think▷)\s*\Z", ended)) is not None:
            self.problem = (
                f"its prompt ends in {tag[1]}, so a sentence would be scored as its first thought; turn its "
                "thinking off (--model_args enable_thinking=False)"
            )
            raise ReelbenchError(self.problem)
        tokens = [
            tokenizer(sentence, add_special_tokens=False)["input_ids"]
            for sentence in self.sentences
        ]
        settings = import_module("transformers").GenerationConfig().to_dict()
        settings = {*settings, "inputs", "generation_config", "stopping_criteria", "streamer"}
        inputs = {
            name: part for name, part in kwargs.items() if name not in settings and part is not None
        }
        try:
            self.result = of_model(self.asked.model, {**inputs, "input_ids": prompt}, tokens)
        except Exception as error:
            self.error = error
            raise
        return torch.cat([prompt, prompt[:, -1:]], dim=1)  # something for the adapter to decode


_TAIL = 16
"""Tokens at a prompt's end among which a tag that opens its reasoning stands."""


class _ServerCall(_Call):
    """Stands in for the chat completions of an OpenAI-compatible server that knows vLLM's `prompt_logprobs`."""

    def create(self, **payload: Any) -> Any:  # noqa: ANN401 - openai's
        """Answer for `chat.completions.create`."""
        extra = payload.pop("extra_body", {}) | {"return_token_ids": True}
        payload |= {"max_tokens": 1, "temperature": 0}
        bare = self.asked.chat.completions.create(**payload, extra_body=extra)
        extra |= {
            "prompt_logprobs": 0,
            "add_generation_prompt": False,
            "continue_final_message": True,
        }
        replies = []
        for sentence in self.sentences:
            turn = {"role": "assistant", "content": sentence}
            payload_of_turn = payload | {"messages": [*payload["messages"], turn]}
            replies.append(self.asked.chat.completions.create(**payload_of_turn, extra_body=extra))
            if getattr(replies[-1], "prompt_logprobs", None) is None:
                self.problem = (
                    "this server gives no log-probabilities of a prompt (vLLM's `prompt_logprobs`)"
                )
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
                self.problem = (
                    "its chat template writes the prompt otherwise where an answer follows"
                )
                return bare
            tokens.append(ids[len(prompt) :])
            places = range(len(prompt), len(ids))
            logprobs.append(
                [reply.prompt_logprobs[place][str(ids[place])]["logprob"] for place in places]
            )
        self.result = SentenceLogprobs(tokens, logprobs)
        return bare


# --- of a model of Hugging Face's: the prompt read once, where that gives the same
# ------------------------------------

reads_once: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()
"""Models whose first question was asked both ways: whether both gave the same."""


def of_model(model: Any, inputs: Mapping[str, Any], tokens: list[list[int]]) -> SentenceLogprobs:  # noqa: ANN401 - Hugging Face's
    """Return the log-likelihood of each continuation after a prompt, in float32.

    The prompt, with thousands of tokens of video, is read once and its cache shared. A model's
    first question is asked by whole forwards too; where the two differ by more than rounding, that
    model is asked by whole forwards ever after. `inputs` are what its `generate` was given,
    `input_ids` (1 × length) among it; `tokens` are the continuations.
    """
    import torch

    mask = inputs.get("attention_mask")
    if mask is not None and mask.shape == inputs["input_ids"].shape:
        # Leave out pads at the prompt's end: a forward counts them as positions, `generate`
        # doesn't.
        seen = int(mask[0].nonzero().max()) + 1
        of_tokens = {
            name for name, part in inputs.items() if getattr(part, "shape", ())[:2] == mask.shape
        }
        inputs = {
            name: part[:, :seen] if name in of_tokens else part for name, part in inputs.items()
        }
    with torch.inference_mode():
        if reads_once.get(model) is False:
            return SentenceLogprobs(tokens, _whole(model, inputs, tokens))
        try:
            # Read the prompt once, and each continuation after a copy of its cache.
            prompt = model(**inputs, use_cache=True, **_last(model, 1))
            mask = inputs.get("attention_mask")
            # A mask that hides nothing says nothing, and Qwen2.5-VL takes its length for that of
            # what is new.
            masked = {} if mask is None or bool(mask.all()) else {"attention_mask": mask}
            shared = []
            for ids in tokens:
                longer = _longer({"input_ids": inputs["input_ids"], **masked}, ids)
                out = model(
                    **longer | {"input_ids": inputs["input_ids"].new_tensor([ids])},
                    past_key_values=copy.deepcopy(prompt.past_key_values),
                    use_cache=True,
                )
                logits = torch.cat([prompt.logits[:, -1:], out.logits[:, -len(ids) : -1]], dim=1)
                shared.append(_of(logits[0], ids))
        except Exception as error:  # noqa: BLE001 - whatever a model makes of its cache, there is a way without
            shared = None
            log.debug("%s can't go on from a prompt's cache: %s", type(model).__name__, error)
        if model in reads_once and shared is not None:
            return SentenceLogprobs(tokens, shared)
        whole = _whole(model, inputs, tokens)
        rounding = max(1e-4, 10 * torch.finfo(next(model.parameters()).dtype).eps)
        reads_once[model] = shared is not None and all(
            abs(a - b) <= rounding
            for ours, theirs in zip(shared, whole, strict=True)
            for a, b in zip(ours, theirs, strict=True)
        )
        return SentenceLogprobs(tokens, whole)


def _whole(
    model: Any, inputs: Mapping[str, Any], tokens: Sequence[Sequence[int]]
) -> list[list[float]]:  # noqa: ANN401
    """Read the prompt anew for each continuation."""
    logprobs = []
    for ids in tokens:
        out = model(**_longer(inputs, ids), **_last(model, len(ids) + 1))
        logprobs.append(_of(out.logits[0, -len(ids) - 1 : -1], ids))
    return logprobs


def _longer(inputs: Mapping[str, Any], ids: Sequence[int]) -> dict[str, Any]:
    """Return a prompt's inputs with a continuation: all that has a value for each token gets more of them."""
    import torch

    prompt = inputs["input_ids"]
    longer = dict(inputs)
    for name, part in inputs.items():
        if (
            name == "input_ids"
            or not isinstance(part, torch.Tensor)
            or part.shape[:2] != prompt.shape
        ):
            continue
        if (
            part.dim() > prompt.dim()
        ):  # which pictures a token sees: as the last one does, and as `generate` has it
            more = part[:, -1:].expand(-1, len(ids), *part.shape[2:])
        else:
            more = torch.full(
                (1, len(ids)), int(name == "attention_mask"), dtype=part.dtype, device=part.device
            )
        longer[name] = torch.cat([part, more], dim=1)
    return longer | {"input_ids": torch.cat([prompt, prompt.new_tensor([ids])], dim=1)}


def _last(model: Any, logits: int) -> dict[str, int]:  # noqa: ANN401
    """Return the argument by which only the last logits are computed, where the model knows it."""
    return (
        {"logits_to_keep": logits}
        if "logits_to_keep" in inspect.signature(model.forward).parameters
        else {}
    )


def _of(logits: Any, ids: Sequence[int]) -> list[float]:  # noqa: ANN401 - a tensor, length × vocabulary
    logprobs = logits.float().log_softmax(dim=-1)
    return [float(logprobs[place, token]) for place, token in enumerate(ids)]
