"""One call to a language model: what is sent, what comes back, and what each failure means.

`openai` is imported when the first call is made, so that a run from the cache never pays for it.
"""

import asyncio
import json
import math
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from reelbench.llm.cache import Reply
from reelbench.llm.messages import Message, on_the_wire
from reelbench.llm.options import OPENAI_URL, AskOptions
from reelbench.registry.errors import InputError
from reelbench.registry.files import valid_text

_PLACEHOLDER_KEY = "no-key"  # the client wants one, local servers ignore it
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com")


class RefusedError(Exception):
    """The server will not serve us at all (401, 403, 404, quota spent): asking on is useless. One line."""


class RejectedError(Exception):
    """The server does not take this one request (400, 413, 422, a content filter). One line."""


class TransientError(Exception):
    """The call failed and may succeed later. One line.

    Attributes:
        limited: True under 429: the server asks for less, it is not broken.
        wait: Seconds that the server asks to wait, or None.
        maybe_paid: True where the server may have done the work (a timeout, a dropped connection).
    """

    def __init__(
        self, line: str, *, limited: bool = False, wait: float | None = None, maybe_paid: bool = False
    ) -> None:
        super().__init__(line)
        self.limited = limited
        self.wait = wait
        self.maybe_paid = maybe_paid


class ChatClient:
    """Asks an OpenAI-compatible server for chat completions; must be made and used in one running event loop."""

    def __init__(self, options: AskOptions) -> None:
        import openai

        self._openai = openai
        self._options = options
        if options.api_key is None and options.url is None:
            raise RefusedError(
                f"no API key for {options.who}: set {options.key_variable} (or OPENAI_API_KEY), or {options.option}-url"
            )
        self._client = _make_client(openai, options)

    async def ask(self, messages: Sequence[Message], sampling: Mapping[str, Any]) -> Reply:
        """Send one request, once.

        Raises:
            RefusedError: Asking is over.
            RejectedError: This request is over.
            TransientError: Try again.
        """
        openai, options = self._openai, self._options
        body = {"model": options.model, "messages": on_the_wire(messages), **sampling}
        try:
            async with asyncio.timeout(options.timeout):
                # The bytes, not `chat.completions.create`: that spends more time on rewriting its arguments by their
                # types than on all else together (perf/judge.py).
                content = await self._client.post("/chat/completions", cast_to=bytes, body=body)
            return self._reply(content)
        except openai.APIStatusError as error:
            raise self._meaning(error) from None
        except (openai.APITimeoutError, TimeoutError):
            line = f"{options.who} at {options.host} did not answer within {options.timeout:g} s"
            raise TransientError(line, maybe_paid=True) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            connecting = "connect" in type(cause).__name__.lower()
            what = options.redact(str(cause) or type(cause).__name__)
            line = _one_line(f"no connection to {options.who} at {options.host} ({what})")
            raise TransientError(line, maybe_paid=not connecting) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _reply(self, content: bytes) -> Reply:
        options = self._options
        try:
            body = json.loads(content)
            choices = body["choices"]
            choice = choices[0] if choices else {}
            message = choice.get("message") or {}
            usage = body.get("usage") or {}
            text = message.get("content")
            reply = Reply(
                # A server that echoes our headers must not get the key into the cache.
                raw=options.redact(valid_text(text)) if isinstance(text, str) else None,
                finish=_text(choice.get("finish_reason")),
                returned=None if body.get("model") is None else options.redact(valid_text(str(body["model"]))),
                prompt_tokens=int(usage.get("prompt_tokens") or 0),
                completion_tokens=int(usage.get("completion_tokens") or 0),
                host=options.host,
            )
        except (ValueError, LookupError, TypeError, AttributeError):
            start = _one_line(options.redact(content.decode("utf-8", "replace")), 200)
            line = f"{options.who} at {options.host} sent something that is not a chat completion: {start!r}"
            raise TransientError(line, maybe_paid=True) from None
        return reply

    def _meaning(self, error: Any) -> Exception:  # noqa: ANN401 - openai.APIStatusError, imported late
        status, host = error.status_code, self._options.host
        said = _one_line(self._options.redact(_said(error)))  # in this order: half a key is a secret too
        line = f"{self._options.who} at {host} answered {status}: {said}"
        if status in {401, 403, 404} or error.code == "insufficient_quota":
            return RefusedError(line)
        if error.param == "temperature":
            return RefusedError(f"{line}; this model takes no temperature: add {self._options.option}-temperature none")
        if status in {408, 409, 429} or status >= 500:  # noqa: PLR2004
            return TransientError(line, limited=status == 429, wait=_retry_after(error.response.headers))  # noqa: PLR2004
        return RejectedError(line)


def _make_client(openai: Any, options: AskOptions) -> Any:  # noqa: ANN401 - openai is imported late
    parts = urlsplit(options.url or OPENAI_URL)
    query = dict(parse_qsl(parts.query))
    base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
    common: dict[str, Any] = {
        "max_retries": 0,
        "timeout": options.timeout,
        "http_client": _http_client(openai, options),
    }
    key = options.api_key or _PLACEHOLDER_KEY
    deployments = "/openai/deployments/" in parts.path
    if deployments or (str(parts.hostname).endswith(_AZURE_HOSTS) and "/openai/v1" not in parts.path):
        version = query.pop("api-version", None)
        if version is None:
            raise InputError(
                f"{options.option}-url: an Azure URL needs its API version: end it in ?api-version=2024-10-21, say"
            )
        if not deployments:
            base = f"{base.removesuffix('/openai')}/openai/deployments/{options.model}"
        base = base.removesuffix("/chat/completions")
        return openai.AsyncAzureOpenAI(api_key=key, base_url=base, api_version=version, default_query=query, **common)
    return openai.AsyncOpenAI(api_key=key, base_url=base, default_query=query, **common)


def _http_client(openai: Any, options: AskOptions) -> Any:  # noqa: ANN401 - openai is imported late
    # The aiohttp back end takes much less processor time than the default one.
    return openai.DefaultAioHttpClient(timeout=options.timeout)


def _said(error: Any) -> str:  # noqa: ANN401 - openai.APIStatusError
    body = error.body
    if isinstance(body, dict):
        inner = body.get("message") or body.get("error") or body.get("detail") or body
        return str(inner)
    return str(body or error.message)


def _one_line(text: str, longest: int = 300) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]}…"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait (`retry-after-ms`, or `Retry-After` in seconds or as a date)."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, TypeError):
                continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None
