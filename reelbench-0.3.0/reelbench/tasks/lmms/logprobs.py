"""Compute the likelihood of sentences for an adapter's model.

The adapter's last call is replaced by one that asks for that, and not for an answer. There are two
kinds of call: Hugging Face's `generate`, of any adapter that calls it, and a chat
completion of an OpenAI-compatible server that gives the log-probabilities of a prompt (vLLM's
`prompt_logprobs`).
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
    adapter: Any,  # noqa: ANN401 - lmms-eval's model
    request: "Instance",
    ask: Ask,
    sentences: Sequence[str],
) -> SentenceLogprobs | str:
    """Return each sentence's log-likelihood as the answer to a request.

    Where the request failed, its mark.

    Raises:
        ReelbenchError: The adapter has no such call, or its model or server can't tell.
    """
    name = type(adapter).__name__
    kind = call_of(adapter)
    if kind is _GenerateCall:
        call: _Call = _GenerateCall(adapter, sentences)
        with replacing_attribute(adapter.model, "generate", call):
            [reply] = ask(adapter, [request])
    else:
        twin = copy.copy(adapter)  # another question may be under way
        call = kind(adapter.client, sentences)
        twin.client = SimpleNamespace(chat=SimpleNamespace(completions=call))
        [reply] = ask(twin, [request])
    if call.problem is not None:
        raise ReelbenchError(f"{name} has no option scores: {call.problem}")
    answer = text_of(reply)
    not_called = f"{name} has no option scores: it was asked ({answer[:60]!r}), but {_NEEDED}"
    return call.outcome(answer, not_called)


_NEEDED = (
    "they need a model of Hugging Face's that is asked by `generate`, or a server of vLLM's "
    "(`--model openai`)"
)


def _has_completions(client: object) -> bool:
    return hasattr(getattr(client, "chat", None), "completions")


def call_of(adapter: Any) -> "type[_Call]":  # noqa: ANN401 - lmms-eval's model
    """Return the replacement of an adapter's last call.

    Raises:
        ReelbenchError: It makes none that is known here.
    """
    if callable(getattr(getattr(adapter, "model", None), "generate", None)):
        return _GenerateCall
    client = getattr(adapter, "client", None)
    is_async = type(client).__name__.startswith("Async")
    if _has_completions(client) and not is_async:
        return _ServerCall
    raise ReelbenchError(f"{type(adapter).__name__} has no option scores: {_NEEDED}")


def at_once(adapter: Any) -> int:  # noqa: ANN401 - lmms-eval's model
    """Return the most questions that an adapter may be asked at a time.

    Where it is the client of a server, these may be several.
    """
    if not _has_completions(getattr(adapter, "client", None)):
        return 1
    return max(1, int(getattr(adapter, "num_concurrent", 1)))


@dataclass(eq=False, repr=False)
class _Call(StandIn):
    """A replacement of a call of `owner`, an adapter or a client.

    `problem` is a fault of every such call.
    """

    owner: Any
    sentences: Sequence[str]
    problem: str | None = None


class _GenerateCall(_Call):
    """A replacement of a model's `generate`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - Hugging Face's
        import torch

        prompt = prompt_ids(args, kwargs)
        if prompt is None or len(prompt) != 1:
            self.problem = "it gives `generate` no tokens of one question by itself"
            raise ReelbenchError(self.problem)
        tokenizer = tokenizer_of(self.owner)
        prompt_end = tokenizer.decode(prompt[0, -_TAIL:].tolist())
        tag = re.search(r"(<think>|<thinking>|<reasoning>|◁think▷)\s*\Z", prompt_end)
        if tag is not None:
            self.problem = (
                f"its prompt ends in {tag[1]}, so a sentence would be scored as its first thought; "
                "turn its thinking off (--model_args enable_thinking=False)"
            )
            raise ReelbenchError(self.problem)
        encoded = [tokenizer(sentence, add_special_tokens=False) for sentence in self.sentences]
        tokens = [sentence["input_ids"] for sentence in encoded]
        settings = set(import_module("transformers").GenerationConfig().to_dict())
        settings |= {"inputs", "generation_config", "stopping_criteria", "streamer"}
        inputs = {name: value for name, value in kwargs.items() if value is not None}
        for name in settings & inputs.keys():
            del inputs[name]
        inputs["input_ids"] = prompt
        try:
            self.result = of_model(self.owner.model, inputs, tokens)
        except Exception as error:
            self.error = error
            raise
        return torch.cat([prompt, prompt[:, -1:]], dim=1)  # something for the adapter to decode


_TAIL = 16
"""Tokens at a prompt's end among which a tag that opens its reasoning stands."""


class _ServerCall(_Call):
    """A replacement of a server's chat completions, where it knows vLLM's `prompt_logprobs`."""

    def create(self, **payload: Any) -> Any:  # noqa: ANN401 - openai's
        """Answer for `chat.completions.create`."""
        extra = payload.pop("extra_body", {}) | {"return_token_ids": True}
        payload |= {"max_tokens": 1, "temperature": 0}
        bare = self.owner.chat.completions.create(**payload, extra_body=extra)
        extra |= {
            "prompt_logprobs": 0,
            "add_generation_prompt": False,
            "continue_final_message": True,
        }
        replies: list[Any] = []
        for sentence in self.sentences:
            turn = {"role": "assistant", "content": sentence}
            payload_of_turn = payload | {"messages": [*payload["messages"], turn]}
            reply = self.owner.chat.completions.create(**payload_of_turn, extra_body=extra)
            replies.append(reply)
            if getattr(reply, "prompt_logprobs", None) is None:
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
            sentence_ids = ids[len(prompt) :]
            sentence_logprobs: list[float] = []
            for place, token in enumerate(sentence_ids, start=len(prompt)):
                sentence_logprobs.append(reply.prompt_logprobs[place][str(token)]["logprob"])
            tokens.append(sentence_ids)
            logprobs.append(sentence_logprobs)
        self.result = SentenceLogprobs(tokens, logprobs)
        return bare


# --- of a model of Hugging Face's: the prompt read once, where that gives the same
# ---------------------------------------------------------------------------------

reads_once: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()
"""Models whose first question was asked both ways: whether both gave the same."""


def of_model(model: Any, inputs: Mapping[str, Any], tokens: list[list[int]]) -> SentenceLogprobs:  # noqa: ANN401 - Hugging Face's
    """Return the log-likelihood of each continuation after a prompt, in float32.

    The prompt, with thousands of tokens of video, is read once and its cache shared. A model's
    first question is asked by whole forwards too; where the two differ by more than rounding, that
    model is asked by whole forwards ever after.

    Args:
        model: Hugging Face's model.
        inputs: The arguments of its `generate`, `input_ids` (1 × length) among them.
        tokens: The continuations.
    """
    import torch

    inputs = _without_pads(inputs)
    with torch.inference_mode():
        if reads_once.get(model) is False:
            return SentenceLogprobs(tokens, _by_whole_forwards(model, inputs, tokens))
        try:
            by_cache = _by_shared_cache(model, inputs, tokens)
        except Exception as error:  # noqa: BLE001 - whatever a model makes of its cache, there is a way without
            by_cache = None
            log.debug("%s can't go on from a prompt's cache: %s", type(model).__name__, error)
        if model in reads_once and by_cache is not None:
            return SentenceLogprobs(tokens, by_cache)
        by_forwards = _by_whole_forwards(model, inputs, tokens)
        rounding = max(1e-4, 10 * torch.finfo(next(model.parameters()).dtype).eps)
        reads_once[model] = by_cache is not None and _logprobs_agree(
            by_cache, by_forwards, rounding
        )
        return SentenceLogprobs(tokens, by_forwards)


def _without_pads(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a prompt's inputs without pads at its end.

    A forward counts them as positions, `generate` doesn't.
    """
    mask = inputs.get("attention_mask")
    if mask is None or mask.shape != inputs["input_ids"].shape:
        return inputs
    length = int(mask[0].nonzero().max()) + 1
    shorter: dict[str, Any] = {}
    for name, value in inputs.items():
        has_value_a_token = getattr(value, "shape", ())[:2] == mask.shape
        shorter[name] = value[:, :length] if has_value_a_token else value
    return shorter


def _logprobs_agree(
    by_cache: list[list[float]], by_forwards: list[list[float]], rounding: float
) -> bool:
    for first, second in zip(by_cache, by_forwards, strict=True):
        for a, b in zip(first, second, strict=True):
            if not abs(a - b) <= rounding:
                return False
    return True


def _by_shared_cache(
    model: Any,  # noqa: ANN401
    inputs: Mapping[str, Any],
    tokens: Sequence[Sequence[int]],
) -> list[list[float]]:
    """Read the prompt once, and each continuation after a copy of its cache."""
    import torch

    prompt = model(**inputs, use_cache=True, **_last_logits_argument(model, 1))
    prompt_inputs = {"input_ids": inputs["input_ids"]}
    mask = inputs.get("attention_mask")
    # A mask that hides nothing says nothing, and Qwen2.5-VL takes its length for that of the new
    # tokens.
    if mask is not None and not bool(mask.all()):
        prompt_inputs["attention_mask"] = mask
    logprobs: list[list[float]] = []
    for ids in tokens:
        new_inputs = _append_continuation(prompt_inputs, ids)
        new_inputs["input_ids"] = inputs["input_ids"].new_tensor([ids])
        out = model(
            **new_inputs, past_key_values=copy.deepcopy(prompt.past_key_values), use_cache=True
        )
        logits = torch.cat([prompt.logits[:, -1:], out.logits[:, -len(ids) : -1]], dim=1)
        logprobs.append(_logprobs_of(logits[0], ids))
    return logprobs


def _by_whole_forwards(
    model: Any,  # noqa: ANN401
    inputs: Mapping[str, Any],
    tokens: Sequence[Sequence[int]],
) -> list[list[float]]:
    """Read the prompt anew for each continuation."""
    logprobs: list[list[float]] = []
    for ids in tokens:
        out = model(
            **_append_continuation(inputs, ids), **_last_logits_argument(model, len(ids) + 1)
        )
        logprobs.append(_logprobs_of(out.logits[0, -len(ids) - 1 : -1], ids))
    return logprobs


def _append_continuation(inputs: Mapping[str, Any], ids: Sequence[int]) -> dict[str, Any]:
    """Return a prompt's inputs with a continuation.

    All that has a value for each token gets more of them.
    """
    import torch

    prompt = inputs["input_ids"]
    longer = dict(inputs)
    for name, value in inputs.items():
        if not isinstance(value, torch.Tensor) or value.shape[:2] != prompt.shape:
            continue
        if name == "input_ids":
            more = prompt.new_tensor([ids])
        elif value.dim() > prompt.dim():
            # The pictures that a token sees: as the last one does, and as `generate` has it.
            more = value[:, -1:].expand(-1, len(ids), *value.shape[2:])
        else:
            fill = 1 if name == "attention_mask" else 0
            more = torch.full((1, len(ids)), fill, dtype=value.dtype, device=value.device)
        longer[name] = torch.cat([value, more], dim=1)
    return longer


def _last_logits_argument(model: Any, logits: int) -> dict[str, int]:  # noqa: ANN401
    """Return the argument for only the last logits, where the model knows it."""
    if "logits_to_keep" in inspect.signature(model.forward).parameters:
        return {"logits_to_keep": logits}
    return {}


def _logprobs_of(logits: Any, ids: Sequence[int]) -> list[float]:  # noqa: ANN401 - a tensor, length × vocabulary
    logprobs = logits.float().log_softmax(dim=-1)
    return [float(logprobs[place, token]) for place, token in enumerate(ids)]
