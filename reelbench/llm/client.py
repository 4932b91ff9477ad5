"""One call to a language model: what is sent, what comes back, and what each failure means.

Calls go by aiohttp: openai's client, which batches are asked by, takes three times its processor
time (perf/README.md). It is imported when the first call is made, so that a run from the cache
never pays for it.
"""

import asyncio
import json
import math
import os
import re
import ssl
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.base.files import valid_text
from reelbench.base.values import is_array, is_object
from reelbench.llm.ask_options import OPENAI_URL, AskOptions
from reelbench.llm.messages import Message, body_of
from reelbench.llm.model_names import PROVIDERS
from reelbench.llm.reply import Reply

if TYPE_CHECKING:
    from aiohttp import ClientResponse

PLACEHOLDER_KEY = "no-key"  # the client wants one, local servers ignore it
MAX_BYTES = 4_000_000
"""Longest reply of a server that is taken, decompressed; the rest is cut off while it arrives."""

_LOOK_UP = 5.0  # seconds for the list of models, on which nothing depends
_ENDS = ("shutdown_date", "expiration_date", "deprecation")  # of OpenAI, OpenRouter, Mistral
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:\Z|T)")

_LONGEST_NAME = 200  # characters of a model's id or a finish reason
_MOST_TOKENS = 1_000_000_000
_IDLE = (
    5.0  # seconds after which a connection is not used again: servers close theirs by themselves
)
_BROKEN_OFF = ("error", "abort", "network_error", "insufficient_system_resource")
_RETRIED = {
    408,
    409,
    429,
}  # statuses after which a call is made again, as after every one from 500 on
"""Finish reasons of a reply that a server ended in trouble: of OpenRouter and Mistral, vLLM, Z.ai and DeepSeek."""
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com")


class NotServedError(Exception):
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
        self,
        line: str,
        *,
        limited: bool = False,
        wait: float | None = None,
        maybe_paid: bool = False,
    ) -> None:
        super().__init__(line)
        self.limited = limited
        self.wait = wait
        self.maybe_paid = maybe_paid


class ChatClient:
    """Asks an OpenAI-compatible server for chat completions; must be made and used in one running event loop."""

    def __init__(self, options: AskOptions) -> None:
        from urllib.request import getproxies, proxy_bypass

        import aiohttp

        self._options = options
        parts, base, query, is_azure = server_of(options)
        key = options.api_key or PLACEHOLDER_KEY
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "Content-Type": "application/json",
        }
        if is_azure:
            if "api-version" not in query:
                raise InputError(
                    f"{options.url_option}: an Azure URL needs its API version: end it in ?api-version=2024-10-21, say"
                )
            if "/openai/deployments/" not in parts.path:
                base = f"{base.removesuffix('/openai')}/openai/deployments/{quote(options.model, safe='')}"
            base = base.removesuffix("/chat/completions")
            headers["api-key"] = key
        else:
            headers["Authorization"] = f"Bearer {key}"
            billed = {
                "OpenAI-Organization": settings.OPENAI_ORG_ID,
                "OpenAI-Project": settings.OPENAI_PROJECT_ID,
            }
            if options.provider in {None, "openai"}:
                headers |= {
                    name: setting.get() for name, setting in billed.items() if setting.is_set
                }
        self._url = f"{base}/chat/completions" + (f"?{urlencode(query)}" if query else "")
        certificates: ssl.SSLContext | bool = True
        if parts.scheme == "https":
            known = (
                ssl.get_default_verify_paths()
            )  # those of SSL_CERT_FILE and SSL_CERT_DIR among them
            if known.cafile or known.capath:
                certificates = ssl.create_default_context()
            else:
                import truststore  # a system that keeps its certificates elsewhere, as macOS does

                certificates = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # Not by aiohttp's own `trust_env`: that looks for a password in ~/.netrc at every call.
        proxies = getproxies()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE, ssl=certificates),
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(),  # ours is around the whole call
            auto_decompress=False,  # `_read_body` counts what comes
            proxy=None
            if proxy_bypass(parts.netloc)
            else proxies.get(parts.scheme) or proxies.get("all"),
        )

    async def ask(self, messages: Sequence[Message], sampling: Mapping[str, Any]) -> Reply:
        """Send one request, once; the errors are those of `send`."""
        return await self.send(partial(body_of, self._options.model, messages, sampling))

    async def send(self, body: Callable[[], bytes]) -> Reply:
        """Send one request's body, once.

        NotServedError where asking is over, RejectedError where this request is, TransientError
        where to try again.
        """
        options = self._options
        began = time.monotonic()
        try:
            sending = self._session.post(self._url, data=body(), allow_redirects=False)
            async with asyncio.timeout(options.timeout), sending as response:
                content = await _read_body(response)
        except Exception as error:  # noqa: BLE001 - whatever a server makes the library raise is that server's failure
            raise self._error_without_status(error) from None
        if content is None:
            line = f"{options.who} at {options.host} sent more than {MAX_BYTES / 1e6:g} MB; cut off"
            raise TransientError(line, maybe_paid=True)
        if not 200 <= response.status < 300:  # noqa: PLR2004
            raise self._error_for_status(response.status, response.headers, content)
        try:
            return reply_in(json.loads(content), options, time.monotonic() - began)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            start = one_line(options.redact(content.decode("utf-8", "replace")), 200)
            line = f"{options.who} at {options.host} sent something that is not a chat completion: {start!r}"
            raise TransientError(line, maybe_paid=True) from None

    async def models(self) -> list[dict[str, Any]]:
        """Return the models that the server lists, as it describes them; TransientError where it is not there.

        ValueError, LookupError, TypeError or AttributeError where it has no such list.
        """
        address = self._url.partition("?")
        models = address[0].removesuffix("/chat/completions") + "/models" + "".join(address[1:])
        try:
            async with (
                asyncio.timeout(_LOOK_UP),
                self._session.get(models, allow_redirects=False) as response,
            ):
                content = await _read_body(response)
        except Exception as error:  # noqa: BLE001 - as above
            raise self._error_without_status(error) from None
        return [model for model in json.loads(content or b"{}")["data"] if is_object(model)]

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    def _error_without_status(self, error: Exception) -> TransientError:
        """Return the error of a call without a status, by its causes."""
        import aiohttp

        options = self._options
        causes: list[BaseException] = [error]
        while (cause := causes[-1].__cause__) is not None:
            causes.append(cause)
        if any(isinstance(cause, TimeoutError) for cause in causes):
            line = f"{options.who} at {options.host} did not answer within {options.timeout:g} s"
            return TransientError(line, maybe_paid=True)
        deepest = causes[-1]
        # The number of an SSLError is OpenSSL's, not the system's.
        number = (
            deepest.errno
            if isinstance(deepest, OSError) and not isinstance(deepest, ssl.SSLError)
            else None
        )
        cause = (
            os.strerror(number) if number and number > 0 else str(deepest) or type(deepest).__name__
        )
        what, where = options.redact(cause), f"{options.who} at {options.host}"
        never_there = isinstance(
            error, (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError)
        )
        line = (
            f"no connection to {where} ({what})"
            if never_there
            else f"{where} sent no whole reply ({what})"
        )
        return TransientError(one_line(line), maybe_paid=not never_there)

    def _error_for_status(
        self, status: int, headers: Mapping[str, str], content: bytes
    ) -> Exception:
        """Return the error of a reply with a status other than success."""
        options = self._options
        if 300 <= status < 400:  # noqa: PLR2004 - questions and key go to nobody but the server that was named
            there = None
            with suppress(ValueError):
                there = urlsplit(headers.get("location", "")).hostname
            return NotServedError(
                f"{options.who} at {options.host} answered {status}, sending us on to {there or 'another address'}; "
                f"give the URL of the server itself as {options.url_option}"
            )
        error: object = content.decode("utf-8", "replace").strip()
        with suppress(ValueError, RecursionError):
            body = json.loads(content.decode("utf-8", "replace"))
            error = body.get("error", body) if is_object(body) else error
        text = one_line(
            options.redact(_error_text(error))
        )  # in this order: half a key is a secret too
        line = f"{options.who} at {options.host} answered {status}: {text or 'nothing else'}"
        code, param = (error.get("code"), error.get("param")) if is_object(error) else (None, None)
        if status == 404 and not urlsplit(options.url or OPENAI_URL).path.strip("/"):  # noqa: PLR2004
            line += f"; the address has no path, and most servers have /v1: add it to {options.url_option}"
        if status in {401, 403, 404} or code == "insufficient_quota":
            return NotServedError(line)
        if param == "temperature":
            return NotServedError(
                f"{line}; this model takes no temperature: add {options.option}-temperature none"
            )
        if status in _RETRIED or status >= 500:  # noqa: PLR2004
            return TransientError(line, limited=status == 429, wait=_retry_after(headers))  # noqa: PLR2004
        return RejectedError(line)


async def _read_body(response: "ClientResponse") -> bytes | None:
    """Read a response's body, decompressed; None where that, or what arrives, is longer than `MAX_BYTES`."""
    how = response.headers.get("content-encoding", "identity").lower()
    expand = (
        zlib.decompressobj(wbits=47) if how in {"gzip", "x-gzip", "deflate"} else None
    )  # gzip or zlib
    content, arrived = bytearray(), 0
    async for chunk in response.content.iter_any():
        arrived += len(chunk)
        content += expand.decompress(chunk, MAX_BYTES + 1 - len(content)) if expand else chunk
        if (
            max(arrived, len(content)) > MAX_BYTES
        ):  # what follows the end of a compressed text counts as well
            return None
    return bytes(content)


def last_days(models: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return model -> the day (YYYY-MM-DD) on which its server says that it ends, of the models that it lists.

    OpenAI has it as `shutdown_date`, OpenRouter as `expiration_date`, Mistral as `deprecation`.
    """
    dates: dict[str, str] = {}
    for model in models:
        stated = next((day for field in _ENDS if isinstance(day := model.get(field), str)), None)
        if stated is not None and _DAY.match(stated):
            dates[str(model["id"]).removeprefix("models/")] = stated[:10]
    return dates


def reply_in(body: Any, options: AskOptions, seconds: float | None) -> Reply:  # noqa: ANN401 - any JSON value
    """Return the reply that a chat completion holds; its text is never edited.

    Raises:
        RejectedError: It repeats the key.
        TransientError: It is an error with a status of success, or was broken off by one.
        LookupError, TypeError, AttributeError: It is no chat completion.
    """

    def name(value: object) -> str | None:
        return None if value is None else options.redact(valid_text(str(value)))[:_LONGEST_NAME]

    error = body.get("error")
    choices = body.get("choices") if error else body["choices"]
    choice: dict[str, Any] = choices[0] if choices else {}
    message: dict[str, Any] = choice.get("message") or {}
    usage = body.get("usage")
    text = message.get("content")
    if is_array(text):  # in parts: the texts, without reasoning that stands in a part of its own
        texts = [part["text"] for part in text if part.get("type") == "text"]
        text = "".join(texts) if texts else None
    elif not isinstance(text, str):
        text = None
    error = choice.get("error") or error
    if choice.get("finish_reason") in _BROKEN_OFF or (error and text is None):
        why = one_line(options.redact(_error_text(error or choice["finish_reason"])))
        raise TransientError(
            f"{options.who} at {options.host} broke its reply off: {why}", maybe_paid=True
        )
    if text is not None and any(
        part in text for part in (*options.secrets, *options.halves)
    ):  # it would be published
        raise RejectedError(
            f"a reply of {options.who} at {options.host} repeats the key, so it is not kept"
        )
    return Reply(
        raw=None if text is None else valid_text(text),
        finish=name(choice.get("finish_reason")),
        returned=name(body.get("model")),
        prompt_tokens=_tokens(usage, "prompt_tokens") or 0,
        completion_tokens=_tokens(usage, "completion_tokens") or 0,
        host=options.host,
        reasoning_tokens=_tokens(usage, "completion_tokens_details", "reasoning_tokens"),
        cached_tokens=_tokens(usage, "prompt_tokens_details", "cached_tokens"),
        seconds=None if seconds is None else round(seconds, 3),
    )


def server_of(options: AskOptions) -> tuple[SplitResult, str, dict[str, str], bool]:
    """Return the server's URL in parts, its base, its query, whether it is Azure's; NotServedError without a key."""
    whose = PROVIDERS.get(options.provider or "")
    if options.url is None and "/" in options.model:
        raise NotServedError(
            f"no server for {options.who} {options.model}: give {options.url_option} URL, or name a provider: "
            f"{', '.join(f'{name}/' for name in PROVIDERS)}"
        )
    if options.api_key is None and (options.url is None if whose is None else not whose.own):
        variable = f"{options.key_variable} (or OPENAI_API_KEY), or {options.url_option}"
        where = f" at {whose.title} ({options.host})" if whose else ""
        raise NotServedError(
            f"no API key for {options.who}{where}: set {whose.key if whose else variable}"
        )
    parts = urlsplit(options.url or OPENAI_URL)
    base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
    own = str(parts.hostname).endswith(_AZURE_HOSTS) and "/openai/v1" not in parts.path
    return parts, base, dict(parse_qsl(parts.query)), own or "/openai/deployments/" in parts.path


def _error_text(error: object) -> str:
    inner = (
        (error.get("message") or error.get("error") or error.get("detail"))
        if is_object(error)
        else error
    )
    return inner if isinstance(inner, str) else json.dumps(error)


def one_line(text: str, longest: int = 300) -> str:
    """Return a server's text as one line, cut at `longest` characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]}…"


def _tokens(usage: object, *names: str) -> int | None:
    """Return a count of tokens under `names`, or None where there is none that can be."""
    for name in names:
        usage = usage.get(name) if is_object(usage) else None
    return usage if type(usage) is int and 0 <= usage <= _MOST_TOKENS else None


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
            except (ValueError, TypeError, OverflowError):
                continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None
