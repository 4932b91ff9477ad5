"""Whole videos to Gemini, by Google's own client (the extra `gemini`).

Its OpenAI-compatible address takes no videos.
"""

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
from reelbench.llm.client import MAX_BYTES, ChatClient, TimeLimit, one_line, parsed_reply
from reelbench.llm.messages import Message
from reelbench.llm.reply import Reply
from reelbench.llm.structured import FIELD

_SETTINGS = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "seed": "seed",
    "media_resolution": "media_resolution",
    "thinking_config": "thinking_config",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "stop": "stop_sequences",
}
"""A setting of a call -> Gemini's name of it.

Beside them there is `fps`, the frames of a second that the server takes. It goes with the video.
"""


class GeminiClient(ChatClient):
    """Asks Gemini: by its own protocol where there is a whole video."""

    async def ask(
        self,
        messages: Sequence[Message],
        sampling: Mapping[str, Any],
        limit: TimeLimit | None = None,
    ) -> Reply:
        """Send one request, once. The errors are those of `ChatClient.send`.

        Raises:
            InputError: A setting is not accepted with a whole video.
        """
        if not _has_video(messages):
            return await super().ask(messages, sampling, limit)
        options = self._options
        began = time.monotonic()
        if FIELD not in options.extra:
            # Its own protocol has another form of it, and the reply is read without it as well.
            sampling = {name: value for name, value in sampling.items() if name != FIELD}
        where = f"{options.model_option} {options.model}, with a whole video"
        unknown = sorted(sampling.keys() - _SETTINGS.keys() - {"fps"})
        if unknown:
            accepted = ", ".join((*_SETTINGS, "fps"))
            raise InputError(f"{where}: takes {accepted}, and not {unknown[0]}")
        values = {_SETTINGS[name]: value for name, value in sampling.items() if name != "fps"}
        try:  # by name: a type checker would need the extra
            genai = import_module("google.genai")
            errors = import_module("google.genai.errors")
            config = genai.types.GenerateContentConfig(**values)
        except ImportError:
            raise InputError(f"{where}: needs google-genai; {installing('gemini')}") from None
        except ValueError as error:  # pydantic's
            raise InputError(f"{where}: {one_line(str(error))}") from None
        # It would warn that it takes another key.
        logging.getLogger("google_genai").setLevel(logging.ERROR)
        server = urlsplit(options.url or "")
        http = {
            "base_url": f"{server.scheme}://{server.netloc}",
            "api_version": server.path.split("/")[1],
            "retry_options": {"attempts": 1},  # the asker counts tries, and pays
            # Questions and key go to nobody else.
            "async_client_args": {"allow_redirects": False, "middlewares": [_limit_length]},
        }
        google = genai.Client(vertexai=False, api_key=options.api_key, http_options=http).aio
        turns = [_gemini_message(message, sampling) for message in messages]
        if limit is None:
            limit = asyncio.timeout(options.time_limit)
        try:
            async with limit, google:
                reply = await google.models.generate_content(
                    model=options.model, contents=turns, config=config
                )
        except errors.APIError as error:
            headers: Mapping[str, str] = {}
            if error.response is not None:
                headers = error.response.headers
            details = json.dumps(error.details).encode()
            raise self._error_for_status(error.code, headers, details) from None
        # Whatever a server makes the library raise is that server's failure.
        except Exception as error:  # noqa: BLE001
            raise self._error_without_status(error) from None
        document = reply.model_dump(mode="json", exclude_none=True)
        return parsed_reply(_as_completion(document), options, time.monotonic() - began)


def _has_video(messages: Sequence[Message]) -> bool:
    for message in messages:
        for piece in message["content"]:
            if isinstance(piece, Attachment) and piece.kind == "video_url":
                return True
    return False


async def _limit_length(request: Any, handler: Any) -> Any:  # noqa: ANN401 - as aiohttp types it
    """Read a response while it is short: a middleware for aiohttp."""
    response = await handler(request)
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES / 1e6:g} MB; cut off")
    response.content = SimpleNamespace(read=partial(asyncio.sleep, 0, bytes(body)))
    return response


def _gemini_message(message: Message, sampling: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message in Gemini's form."""
    content = message["content"]
    if isinstance(content, str):
        content = [content]
    parts: list[dict[str, Any]] = []
    for piece in content:
        if not isinstance(piece, Attachment):
            parts.append({"text": piece})
            continue
        data = {"data": piece.content(), "mime_type": piece.media_type}
        part: dict[str, Any] = {"inline_data": data}
        if "fps" in sampling:
            part["video_metadata"] = {"fps": sampling["fps"]}
        parts.append(part)
    role = "model" if message["role"] == "assistant" else "user"
    return {"role": role, "parts": parts}


def _as_completion(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return Gemini's reply as a chat completion: its thoughts left out, but counted."""
    candidates: list[dict[str, Any]] = reply.get("candidates") or [{}]
    candidate = candidates[0]
    parts = candidate.get("content", {}).get("parts", [])
    texts: list[str] = [part.get("text", "") for part in parts if not part.get("thought")]
    finish: str = candidate.get("finish_reason") or ""
    if not finish:
        finish = "SAFETY" if "prompt_feedback" in reply else "OTHER"
    usage: Counter[str] = Counter(reply.get("usage_metadata", {}))
    thoughts = usage["thoughts_token_count"]
    return {
        "model": reply.get("model_version"),
        "choices": [
            {
                "message": {"content": "".join(texts) or None},
                "finish_reason": finish,
            }
        ],
        "usage": {
            "prompt_tokens": usage["prompt_token_count"],
            "completion_tokens": usage["candidates_token_count"] + thoughts,
            "completion_tokens_details": {"reasoning_tokens": thoughts},
            "prompt_tokens_details": {"cached_tokens": usage["cached_content_token_count"]},
        },
    }
