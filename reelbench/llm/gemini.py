"""Whole videos to Gemini, by Google's own client (the extra `gemini`): its OpenAI-compatible address takes none."""

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from reelbench.base.attachment import Attachment
from reelbench.base.errors import InputError, installing
from reelbench.llm.client import MAX_BYTES, ChatClient, one_line, reply_in
from reelbench.llm.messages import Message
from reelbench.llm.reply import Reply

_SETTINGS = {
    name: name
    for name in ("temperature", "top_p", "top_k", "seed", "media_resolution", "thinking_config")
} | {
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "stop": "stop_sequences",
}
"""A setting of a call -> its name here; `fps`, how many frames of a second the server takes, goes with the video."""

_FINISHES = {"STOP": "stop", "MAX_TOKENS": "length"} | dict.fromkeys(
    ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "content_filter"
)


class GeminiClient(ChatClient):
    """Asks Gemini: with a whole video by its own protocol, without one as any other server."""

    async def ask(self, messages: Sequence[Message], sampling: Mapping[str, Any]) -> Reply:
        """Send one request, once; the errors are a `ChatClient`'s, or InputError where a setting is not taken."""
        pieces = (piece for message in messages for piece in message["content"])
        if not any(isinstance(piece, Attachment) and piece.kind == "video_url" for piece in pieces):
            return await super().ask(messages, sampling)
        options, began = self._options, time.monotonic()
        where = f"{options.model_option} {options.model}, with a whole video"
        if unknown := sorted(sampling.keys() - _SETTINGS.keys() - {"fps"}):
            raise InputError(
                f"{where}: takes {', '.join((*_SETTINGS, 'fps'))}, and not {unknown[0]}"
            )
        config = {_SETTINGS[name]: value for name, value in sampling.items() if name != "fps"}
        try:  # by name: a type checker would need the extra
            genai, errors = (import_module(f"google.genai{part}") for part in ("", ".errors"))
            config = genai.types.GenerateContentConfig(**config)
        except ImportError:
            raise InputError(f"{where}: needs google-genai; {installing('gemini')}") from None
        except ValueError as error:  # pydantic's
            raise InputError(f"{where}: {one_line(str(error))}") from None
        logging.getLogger("google_genai").setLevel(
            logging.ERROR
        )  # it would say that it takes another key
        server = urlsplit(options.url or "")
        http = {
            "base_url": f"{server.scheme}://{server.netloc}",
            "api_version": server.path.split("/")[1],
            "retry_options": {"attempts": 1},  # who asks counts them, and pays
            # Questions and key go to nobody else.
            "async_client_args": {"allow_redirects": False, "middlewares": [_limit_length]},
        }
        google = genai.Client(vertexai=False, api_key=options.api_key, http_options=http).aio
        turns = [_turn(message, sampling) for message in messages]
        try:
            async with asyncio.timeout(options.timeout), google:
                reply = await google.models.generate_content(
                    model=options.model, contents=turns, config=config
                )
        except errors.APIError as error:
            headers: Mapping[str, str] = {} if error.response is None else error.response.headers
            raise self._error_for_status(
                error.code, headers, json.dumps(error.details).encode()
            ) from None
        except Exception as error:  # noqa: BLE001 - whatever a server makes the library raise is that server's failure
            raise self._error_without_status(error) from None
        said = reply.model_dump(mode="json", exclude_none=True)
        return reply_in(_as_completion(said), options, time.monotonic() - began)


async def _limit_length(request: Any, handler: Any) -> Any:  # noqa: ANN401 - as aiohttp types it
    """Read a response while it is short: a middleware of aiohttp's, which would take any length."""
    response, body = await handler(request), bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES / 1e6:g} MB; cut off")
    response.content = SimpleNamespace(read=partial(asyncio.sleep, 0, bytes(body)))
    return response


def _turn(message: Message, sampling: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in Gemini's form."""
    content, rate = (
        message["content"],
        {"video_metadata": {"fps": sampling["fps"]}} if "fps" in sampling else {},
    )
    parts = [
        {"inline_data": {"data": piece.content(), "mime_type": piece.media_type}, **rate}
        if isinstance(piece, Attachment)
        else {"text": piece}
        for piece in ([content] if isinstance(content, str) else content)
    ]
    return {"role": "model" if message["role"] == "assistant" else "user", "parts": parts}


def _as_completion(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return Gemini's reply as a chat completion: its thoughts left out, but counted."""
    candidates: list[dict[str, Any]] = reply.get("candidates") or [{}]
    first = candidates[0]
    texts: list[str] = [
        part.get("text", "")
        for part in first.get("content", {}).get("parts", [])
        if not part.get("thought")
    ]
    ended: str = first.get("finish_reason") or ("SAFETY" if "prompt_feedback" in reply else "OTHER")
    used: Counter[str] = Counter(reply.get("usage_metadata", {}))
    thought = used["thoughts_token_count"]
    return {
        "model": reply.get("model_version"),
        "choices": [
            {
                "message": {"content": "".join(texts) or None},
                "finish_reason": _FINISHES.get(ended, ended),
            }
        ],
        "usage": {
            "prompt_tokens": used["prompt_token_count"],
            "completion_tokens": used["candidates_token_count"] + thought,
            "completion_tokens_details": {"reasoning_tokens": thought},
            "prompt_tokens_details": {"cached_tokens": used["cached_content_token_count"]},
        },
    }
