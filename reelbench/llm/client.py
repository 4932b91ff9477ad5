"""One call to a language model: the request, the reply, and the meaning of each failure.

Calls go by aiohttp: openai's client, which batches are asked by, takes three times its processor
time (perf/README.md). It is imported when the first call is made, so that a run from the cache
never pays for it.
"""

import asyncio
import json
import logging
import os
import re
import ssl
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.base.files import valid_text
from reelbench.base.values import is_array, is_object
from reelbench.llm import refusals
from reelbench.llm.ask_options import OPENAI_URL, AskOptions
from reelbench.llm.endings import ending_of, ending_text
from reelbench.llm.messages import Message, body_of
from reelbench.llm.model_names import PROVIDERS, Provider
from reelbench.llm.parameters import refused_parameters
from reelbench.llm.reply import Reply
from reelbench.llm.retry_rules import (
    NotServedError,
    RefusedParameterError,
    RejectedError,
    TransientError,
    consequence_of_status,
    is_decided_by_words,
    requested_wait,
)
from reelbench.llm.server_keys import is_loopback

if TYPE_CHECKING:
    from aiohttp import ClientResponse

_log = logging.getLogger("reelbench.llm")

TimeLimit = AbstractAsyncContextManager[object]
"""Ends a call: TimeoutError."""

PLACEHOLDER_KEY = "no-key"  # the client wants one, local servers ignore it
MAX_BYTES = 4_000_000
"""Bytes of the longest reply, decompressed. A longer one is cut off while it arrives."""

_LOOK_UP = 5.0  # seconds for the list of models, on which nothing depends
_ENDS = ("shutdown_date", "expiration_date", "deprecation")  # of OpenAI, OpenRouter, Mistral
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:\Z|T)")

_LONGEST_NAME = 200  # characters of a model's id or a finish reason
_MOST_TOKENS = 1_000_000_000
# Seconds after which a connection is not used again: servers close theirs by themselves.
_IDLE = 5.0
_OK = 200
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com")


class ChatClient:
    """Asks an OpenAI-compatible server for chat completions.

    It must be made and used in one running event loop.
    """

    def __init__(self, options: AskOptions) -> None:
        """Prepare a session. Nothing is sent.

        Raises:
            NotServedError: There is no key.
            InputError: The address can't be used.
        """
        import aiohttp

        self._options = options
        server = server_of(options)
        self._url = _completions_url(server, options)
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=_IDLE, ssl=_trusted_certificates(server.parts.scheme)
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            headers=_request_headers(server, options),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(),  # ours is around the whole call
            auto_decompress=False,  # `_read_body` counts what comes
            proxy=_proxy_address(server.parts),
        )

    async def ask(
        self,
        messages: Sequence[Message],
        sampling: Mapping[str, Any],
        limit: TimeLimit | None = None,
    ) -> Reply:
        """Send one request, once. Arguments and errors are those of `send`."""
        return await self.send(partial(body_of, self._options.model, messages, sampling), limit)

    async def send(self, body: Callable[[], bytes], limit: TimeLimit | None = None) -> Reply:
        """Send one request's body, once.

        Args:
            body: Makes the body.
            limit: Ends the call with a TimeoutError; by default after the options' time limit.

        Raises:
            NotServedError: The server will answer no request.
            RejectedError: It will not answer this one.
            TransientError: It may answer a further try.
        """
        options = self._options
        if limit is None:
            limit = asyncio.timeout(options.time_limit)
        began = time.monotonic()
        try:
            sending = self._session.post(self._url, data=body(), allow_redirects=False)
            async with limit, sending as response:
                content = await _read_body(response)
        # Whatever a server makes the library raise is that server's failure.
        except Exception as error:  # noqa: BLE001
            raise self._error_without_status(error) from None
        if content is None:
            line = f"{self._server} sent more than {MAX_BYTES / 1e6:g} MB; cut off"
            raise TransientError(line, "no_whole_reply")
        if not 200 <= response.status < 300:  # noqa: PLR2004
            raise self._error_for_status(response.status, response.headers, content)
        try:
            return parsed_reply(json.loads(content), options, time.monotonic() - began)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            start = one_line(options.redact(content.decode("utf-8", "replace")), 200)
            line = f"{self._server} sent something that is not a chat completion: {start!r}"
            raise TransientError(line, "no_whole_reply") from None

    async def models(self) -> list[dict[str, Any]]:
        """Return the models that the server lists, as it describes them.

        Raises:
            TransientError: The server is not there.
            ValueError, LookupError, TypeError, AttributeError: It has no such list.
        """
        address, mark, query = self._url.partition("?")
        models_url = f"{address.removesuffix('/chat/completions')}/models{mark}{query}"
        try:
            async with (
                asyncio.timeout(_LOOK_UP),
                self._session.get(models_url, allow_redirects=False) as response,
            ):
                content = await _read_body(response)
        except Exception as error:  # noqa: BLE001 - as above
            raise self._error_without_status(error) from None
        return [model for model in json.loads(content or b"{}")["data"] if is_object(model)]

    async def page(self, path: str, body: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - any JSON
        """Return the JSON of a page beside the server's `/v1`. None where there is none.

        Args:
            path: The page's path, from the place where `/v1` stands.
            body: An object to post, or None.
        """
        address = self._url.partition("?")[0].removesuffix("/chat/completions")
        page_url = address.removesuffix("/v1") + path
        method = "GET"
        if body is not None:
            method = "POST"
        asking = self._session.request(method, page_url, json=body, allow_redirects=False)
        try:
            async with asyncio.timeout(_LOOK_UP), asking as response:
                if response.status != _OK:
                    return None
                content = await _read_body(response)
                return json.loads(content or b"null")
        except Exception as error:  # noqa: BLE001 - nothing depends on it
            reason = self._options.redact(repr(error))
            _log.debug("%s of %s can't be read: %s", path, self._options.host, reason)
            return None

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    @property
    def _server(self) -> str:
        """The server, for a message."""
        return f"{self._options.who} at {self._options.host}"

    def _error_without_status(self, error: Exception) -> TransientError:
        """Return the error of a call without a status, by its causes."""
        import aiohttp

        options = self._options
        causes: list[BaseException] = [error]
        while causes[-1].__cause__ is not None:
            causes.append(causes[-1].__cause__)
        if any(isinstance(cause, TimeoutError) for cause in causes):
            line = f"{self._server} did not answer within {options.time_limit:g} s"
            return TransientError(line, "timeout")
        reason = options.redact(_reason_of(causes[-1]))
        if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ClientHttpProxyError):
            if "refused" in reason:
                reason += ": is it running there?"
            line = one_line(f"no connection to {self._server} ({reason})")
            return TransientError(line, "no_connection")
        line = one_line(f"{self._server} sent no whole reply ({reason})")
        return TransientError(line, "no_whole_reply")

    def _error_for_status(
        self, status: int, headers: Mapping[str, str], content: bytes
    ) -> Exception:
        """Return the error of a reply with a status other than success."""
        options = self._options
        if 300 <= status < 400:  # noqa: PLR2004
            return self._error_for_redirection(status, headers)
        text = content.decode("utf-8", "replace")
        error: object = text.strip()
        with suppress(ValueError, RecursionError):
            body = json.loads(text)
            if is_object(body):
                error = body.get("error", body)
        # Redacted first, then cut: half a key is a secret too.
        words = options.redact(_error_text(error))
        message = one_line(words)
        line = f"{self._server} answered {status}: {message or 'nothing else'}"
        code = None
        parameter = None
        if is_object(error):
            code = error.get("code")
            parameter = error.get("param")
        if is_decided_by_words(status):
            refusal = refusals.kind_of(status, f"{words} {code}")
            if refusal is not None:
                return _refusal_error(refusal, line, words)
        has_path = urlsplit(options.url or OPENAI_URL).path.strip("/")
        if status == 404 and not has_path:  # noqa: PLR2004
            line += (
                "; the address has no path, and most servers have /v1: "
                f"add it to {options.url_option}"
            )
        consequence = consequence_of_status(status, code)
        if consequence == "stop_asking":
            return NotServedError(line, is_unknown_model=status == 404 and bool(has_path))  # noqa: PLR2004
        if consequence != "give_request_up":
            return TransientError(line, consequence, wait=requested_wait(headers))
        names = refused_parameters(message, code, parameter)
        if names:
            return RefusedParameterError(line, words, names)
        return RejectedError(line, words)

    def _error_for_redirection(self, status: int, headers: Mapping[str, str]) -> NotServedError:
        """Return the error of a redirection.

        Questions and key go to nobody but the server that was named.
        """
        host = None
        with suppress(ValueError):
            host = urlsplit(headers.get("location", "")).hostname
        return NotServedError(
            f"{self._server} answered {status}, redirecting to {host or 'another address'}; "
            f"give the URL of the server itself as {self._options.url_option}"
        )


def _refusal_error(refusal: refusals.Kind, line: str, words: str) -> NotServedError | RejectedError:
    """Return the error of a refusal whose words are known."""
    if refusal == "unknown_model":
        return NotServedError(line, is_unknown_model=True)
    return RejectedError(line, words, refusal)


def _completions_url(server: "Server", options: AskOptions) -> str:
    """Return the address of chat completions. InputError for an Azure URL without a version."""
    base = server.base
    if server.is_azure:
        if "api-version" not in server.query:
            raise InputError(
                f"{options.url_option}: an Azure URL needs its API version: "
                "end it in ?api-version=2024-10-21, say"
            )
        if "/openai/deployments/" not in server.parts.path:
            deployment = quote(options.model, safe="")
            base = f"{base.removesuffix('/openai')}/openai/deployments/{deployment}"
        base = base.removesuffix("/chat/completions")
    url = f"{base}/chat/completions"
    if server.query:
        url += f"?{urlencode(server.query)}"
    return url


def _request_headers(server: "Server", options: AskOptions) -> dict[str, str]:
    """Return the headers of all requests, with the key."""
    key = options.sent_key or PLACEHOLDER_KEY
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "gzip",
        "Content-Type": "application/json",
    }
    if server.is_azure:
        headers["api-key"] = key
        return headers
    headers["Authorization"] = f"Bearer {key}"
    if options.provider in {None, "openai"}:
        if settings.OPENAI_ORG_ID.is_set:
            headers["OpenAI-Organization"] = settings.OPENAI_ORG_ID.get()
        if settings.OPENAI_PROJECT_ID.is_set:
            headers["OpenAI-Project"] = settings.OPENAI_PROJECT_ID.get()
    return headers


def _trusted_certificates(scheme: str) -> ssl.SSLContext | bool:
    """Return the certificates that a server's one is checked against."""
    if scheme != "https":
        return True
    paths = ssl.get_default_verify_paths()  # those of SSL_CERT_FILE and SSL_CERT_DIR among them
    if paths.cafile or paths.capath:
        return ssl.create_default_context()
    import truststore  # a system that keeps its certificates elsewhere, as macOS does

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _proxy_address(parts: SplitResult) -> str | None:
    """Return the proxy of a server, if any.

    A server on this machine has none: keys go to it over plain HTTP. This is not done by aiohttp's
    own `trust_env`, which looks for a password in ~/.netrc at every call.
    """
    from urllib.request import getproxies, proxy_bypass

    if is_loopback(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _reason_of(cause: BaseException) -> str:
    """Return the text of the deepest cause of an error."""
    # The number of an SSLError is OpenSSL's, not the system's.
    if isinstance(cause, OSError) and not isinstance(cause, ssl.SSLError):
        number = cause.errno
        if number and number > 0:
            return os.strerror(number)
    return str(cause) or type(cause).__name__


async def _read_body(response: "ClientResponse") -> bytes | None:
    """Read a response's body, decompressed.

    None where that, or the bytes that arrive, are more than `MAX_BYTES`.
    """
    encoding = response.headers.get("content-encoding", "identity").lower()
    decompressor = None
    if encoding in {"gzip", "x-gzip", "deflate"}:
        decompressor = zlib.decompressobj(wbits=47)  # gzip or zlib
    content = bytearray()
    arrived = 0
    async for chunk in response.content.iter_any():
        arrived += len(chunk)
        if decompressor is None:
            content += chunk
        else:
            content += decompressor.decompress(chunk, MAX_BYTES + 1 - len(content))
        # The bytes behind the end of a compressed text count as well.
        if max(arrived, len(content)) > MAX_BYTES:
            return None
    return bytes(content)


def last_days(models: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return model -> the day (YYYY-MM-DD) on which its server says that it ends.

    OpenAI has it as `shutdown_date`, OpenRouter as `expiration_date`, Mistral as `deprecation`.

    Args:
        models: The models that a server lists.
    """
    days: dict[str, str] = {}
    for model in models:
        for field in _ENDS:
            date = model.get(field)
            if isinstance(date, str):
                if _DAY.match(date):
                    days[str(model["id"]).removeprefix("models/")] = date[:10]
                break
    return days


def parsed_reply(body: Any, options: AskOptions, seconds: float | None) -> Reply:  # noqa: ANN401 - any JSON value
    """Return the reply that a chat completion holds, with its text unedited.

    Raises:
        RejectedError: It repeats the key.
        TransientError: It is an error with a status of success, or was broken off by one.
        LookupError, TypeError, AttributeError: It is no chat completion.
    """
    error = body.get("error")
    choices = body.get("choices") if error else body["choices"]
    choice: dict[str, Any] = choices[0] if choices else {}
    message: dict[str, Any] = choice.get("message") or {}
    text = _text_of(message.get("content"))
    ending = ending_text(choice, text)
    _check_whole(text, ending, choice.get("error") or error, options)
    if text is not None:
        if options.is_repeated_in(text):  # it would be published
            raise RejectedError(
                f"a reply of {options.who} at {options.host} repeats the key, so it is not kept"
            )
        text = valid_text(text)
    if seconds is not None:
        seconds = round(seconds, 3)
    usage = body.get("usage")
    return Reply(
        raw=text,
        finish=_safe_name(ending, options),
        returned=_safe_name(body.get("model"), options),
        prompt_tokens=_tokens(usage, "prompt_tokens") or 0,
        completion_tokens=_tokens(usage, "completion_tokens") or 0,
        host=options.host,
        reasoning_tokens=_tokens(usage, "completion_tokens_details", "reasoning_tokens"),
        cached_tokens=_tokens(usage, "prompt_tokens_details", "cached_tokens"),
        seconds=seconds,
    )


def _check_whole(text: str | None, ending: Any, error: Any, options: AskOptions) -> None:  # noqa: ANN401 - any JSON value
    """Raise an error for a reply that is an error, or that one broke off."""
    is_broken_off = ending_of(ending).group == "broken_off"
    has_text = bool((text or "").strip())
    if not is_broken_off and (has_text or not error):
        return
    words = options.redact(_error_text(error or ending))
    reason = one_line(words)
    refusal = refusals.kind_of(_OK, words)
    if refusal is not None:
        line = f"{options.who} at {options.host} refused: {reason}"
        raise _refusal_error(refusal, line, words)
    line = f"{options.who} at {options.host} cut its reply off: {reason}"
    raise TransientError(line, "no_whole_reply")


def _text_of(content: Any) -> str | None:  # noqa: ANN401 - any JSON value
    """Return the text of a message's content.

    Content in parts has reasoning in parts of its own, which are left out.
    """
    if isinstance(content, str):
        return content
    if not is_array(content):
        return None
    texts = [part["text"] for part in content if part.get("type") == "text"]
    if not texts:
        return None
    return "".join(texts)


def _safe_name(value: object, options: AskOptions) -> str | None:
    """Return a name that a server gave, without the key and not too long."""
    if value is None:
        return None
    return options.redact(valid_text(str(value)))[:_LONGEST_NAME]


class Server(NamedTuple):
    """A server's address.

    Attributes:
        parts: The URL in parts.
        base: The URL without its query, and without a slash at its end.
        query: The query.
        is_azure: True where it speaks Azure's form of the protocol.
    """

    parts: SplitResult
    base: str
    query: dict[str, str]
    is_azure: bool


def server_of(options: AskOptions) -> Server:
    """Return the server that is asked.

    Raises:
        NotServedError: There is no key, or no server for the model.
    """
    provider = PROVIDERS.get(options.provider or "")
    if options.url is None and "/" in options.model:
        prefixes = ", ".join(f"{name}/" for name in PROVIDERS)
        raise NotServedError(
            f"no server for {options.who} {options.model}: give {options.url_option} URL, "
            f"or name a provider: {prefixes}"
        )
    if options.sent_key is None:
        _require_key(options, provider)
    parts = urlsplit(options.url or OPENAI_URL)
    base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
    is_azure_host = str(parts.hostname).endswith(_AZURE_HOSTS)
    is_azure = is_azure_host and "/openai/v1" not in parts.path
    return Server(
        parts=parts,
        base=base,
        query=dict(parse_qsl(parts.query)),
        is_azure=is_azure or "/openai/deployments/" in parts.path,
    )


def _require_key(options: AskOptions, provider: Provider | None) -> None:
    """Raise a NotServedError where a server needs a key, and there is none."""
    if options.unsent_key and provider is not None and not provider.own:
        raise NotServedError(f"no API key for {options.who}: {options.unsent_key}")
    if provider is None:
        if options.url is None:
            raise NotServedError(
                f"no API key for {options.who}: set {options.key_variable} "
                f"(or OPENAI_API_KEY), or {options.url_option}"
            )
    elif not provider.own:
        raise NotServedError(
            f"no API key for {options.who} at {provider.title} ({options.host}): set {provider.key}"
        )


def _error_text(error: object) -> str:
    """Return the message in a server's error."""
    message = error
    if is_object(error):
        message = error.get("message") or error.get("error") or error.get("detail")
    if isinstance(message, str):
        return message
    return json.dumps(error)


def one_line(text: str, longest: int = 300) -> str:
    """Return a server's text as one line, cut at `longest` characters."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    return f"{line[:longest]}…"


def _tokens(usage: object, *names: str) -> int | None:
    """Return a count of tokens under `names`, or None where there is none."""
    for name in names:
        usage = usage.get(name) if is_object(usage) else None
    if type(usage) is int and 0 <= usage <= _MOST_TOKENS:
        return usage
    return None
