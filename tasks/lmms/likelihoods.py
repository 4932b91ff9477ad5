"""How likely a model of Hugging Face's holds continuations of one prompt: read once, where that gives the same."""

import copy
import inspect
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

log = logging.getLogger("reelbench")


@dataclass(frozen=True, slots=True)
class SentenceLogprobs:
    """The tokens of each sentence, and their natural log-probabilities."""

    tokens: list[list[int]]
    logprobs: list[list[float]]


reads_once: "WeakKeyDictionary[Any, bool]" = WeakKeyDictionary()
"""Models whose first question was asked both ways: whether both gave the same."""


def of_model(model: Any, inputs: Mapping[str, Any], tokens: list[list[int]]) -> SentenceLogprobs:  # noqa: ANN401 - Hugging Face's
    """Return the log-likelihood of each continuation after a prompt, in float32.

    The prompt, with thousands of tokens of video, is read once and its cache shared. A model's first question is asked
    by whole forwards too; where the two differ by more than rounding, that model is asked by whole forwards ever after.

    Args:
        model: Called with `inputs`.
        inputs: What its `generate` was given, `input_ids` (1 × length) among it.
        tokens: The continuations.
    """
    import torch

    inputs = _without_pads(inputs)
    with torch.inference_mode():
        if reads_once.get(model) is False:
            return SentenceLogprobs(tokens, _whole(model, inputs, tokens))
        try:
            # Read the prompt once, and each continuation after a copy of its cache.
            prompt = model(**inputs, use_cache=True, **_last(model, 1))
            mask = inputs.get("attention_mask")
            # A mask that hides nothing says nothing, and Qwen2.5-VL takes its length for that of what is new.
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


def _without_pads(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a prompt's inputs without pads at its end: a forward counts them as positions, `generate` doesn't."""
    mask = inputs.get("attention_mask")
    if mask is None or mask.shape != inputs["input_ids"].shape:
        return inputs
    seen = int(mask[0].nonzero().max()) + 1
    return {name: part[:, :seen] if _of_tokens(part, inputs["input_ids"]) else part for name, part in inputs.items()}


def _of_tokens(part: Any, prompt: Any) -> bool:  # noqa: ANN401 - tensors
    """Whether a part of a prompt's inputs has something for each of its tokens."""
    return getattr(part, "shape", ())[:2] == prompt.shape


def _whole(model: Any, inputs: Mapping[str, Any], tokens: Sequence[Sequence[int]]) -> list[list[float]]:  # noqa: ANN401
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
        if name == "input_ids" or not isinstance(part, torch.Tensor) or not _of_tokens(part, prompt):
            continue
        if part.dim() > prompt.dim():  # which pictures a token sees: as the last one does, and as `generate` has it
            more = part[:, -1:].expand(-1, len(ids), *part.shape[2:])
        else:
            more = torch.full((1, len(ids)), int(name == "attention_mask"), dtype=part.dtype, device=part.device)
        longer[name] = torch.cat([part, more], dim=1)
    return longer | {"input_ids": torch.cat([prompt, prompt.new_tensor([ids])], dim=1)}


def _last(model: Any, logits: int) -> dict[str, int]:  # noqa: ANN401
    """Return the argument by which only the last logits are computed, where the model knows it."""
    return {"logits_to_keep": logits} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}


def _of(logits: Any, ids: Sequence[int]) -> list[float]:  # noqa: ANN401 - a tensor, length × vocabulary
    logprobs = logits.float().log_softmax(dim=-1)
    return [float(logprobs[place, token]) for place, token in enumerate(ids)]
