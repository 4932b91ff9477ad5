"""A small language model that answers in this process, by transformers."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from reelbench.base import containment
from reelbench.base.errors import InputError, first_line, installing
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.client import ChatClient, TimeLimit
from reelbench.llm.messages import Message
from reelbench.llm.model_names import LOCAL
from reelbench.llm.reply import Reply
from reelbench.llm.retry_rules import RejectedError

_MAX_TOKENS = 256
_SETTINGS = ("max_tokens", "temperature", "top_p")


class LocalClient(ChatClient):
    """Asks a model that this process has loaded.

    `hf:MODEL` is a repository of the Hub or a folder. It answers one question at a time, greedily
    unless a temperature is sent. transformers and torch are imported when the first reply is needed
    that is not in the cache.
    """

    def __init__(self, options: AskOptions) -> None:
        """Load the model. InputError where it or transformers is not here."""
        try:
            import torch

            # By name: a type checker that follows transformers' lazy package reads all its models,
            # for minutes.
            transformers: Any = import_module("transformers")
        except ImportError:
            raise InputError(
                f"{options.model_option} {LOCAL}…: transformers is not installed; "
                f"{installing('lmms-eval')}"
            ) from None
        name = containment.hub_id(options.model.removeprefix(LOCAL), options.model_option)
        self._torch = torch
        self._options = options
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name)
            self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(name, dtype="auto")
        except (OSError, ValueError) as error:
            raise InputError(
                f"{options.model_option} {options.model}: can't be loaded: {first_line(error)}"
            ) from None
        device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model.to(device).eval()
        self._turn = asyncio.Lock()

    async def ask(
        self,
        messages: Sequence[Message],
        sampling: Mapping[str, Any],
        limit: TimeLimit | None = None,
    ) -> Reply:
        """Answer one question, however long that takes.

        Raises:
            RejectedError: The model can't answer.
            InputError: It takes no such setting.
        """
        del limit
        unknown = sorted(sampling.keys() - set(_SETTINGS))
        if unknown:
            raise InputError(
                f"{self._options.model_option} {LOCAL}…: takes {', '.join(_SETTINGS)}, "
                f"and not {unknown[0]}"
            )
        async with self._turn:
            began = time.monotonic()
            try:
                return await asyncio.to_thread(self._generated_reply, messages, sampling, began)
            except (RuntimeError, ValueError, TypeError) as error:
                raise RejectedError(f"{self._options.model}: {first_line(error)}") from None

    async def models(self) -> list[dict[str, Any]]:
        """Nobody lists what is here."""
        return []

    async def page(self, path: str, body: Mapping[str, Any] | None = None) -> None:
        """There is no server."""

    async def close(self) -> None:
        """Nothing is open."""

    def _generated_reply(
        self, messages: Sequence[Message], sampling: Mapping[str, Any], began: float
    ) -> Reply:
        if any(not isinstance(message["content"], str) for message in messages):
            raise TypeError("it is a text-only model, without pictures or videos")
        if self._tokenizer.chat_template:
            prompt = self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        else:
            prompt = "\n\n".join(str(message["content"]) for message in messages) + "\n"
        tokens = self._tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        tokens = tokens.to(self._model.device)
        temperature = float(sampling.get("temperature") or 0)
        drawing: dict[str, float] = {}
        if temperature:
            drawing = {"temperature": temperature, "top_p": float(sampling.get("top_p", 1.0))}
        limit = int(sampling.get("max_tokens", _MAX_TOKENS))
        with self._torch.inference_mode():
            sequences = self._model.generate(
                **tokens,
                max_new_tokens=limit,
                do_sample=bool(drawing),
                pad_token_id=self._tokenizer.pad_token_id or self._tokenizer.eos_token_id,
                **drawing,
            )
        prompt_tokens = tokens["input_ids"].shape[1]
        reply_tokens = sequences[0, prompt_tokens:]
        finish = "length" if len(reply_tokens) >= limit else "stop"
        return Reply(
            raw=self._tokenizer.decode(reply_tokens, skip_special_tokens=True),
            finish=finish,
            returned=self._options.model,
            prompt_tokens=prompt_tokens,
            completion_tokens=len(reply_tokens),
            host=self._options.host,
            seconds=round(time.monotonic() - began, 3),
        )
