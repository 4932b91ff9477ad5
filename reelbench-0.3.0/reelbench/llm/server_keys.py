"""Which key goes to which server, and which doesn't.

A key that a variable names for the server (`REELBENCH_LLM_API_KEY`, `REELBENCH_JUDGE_API_KEY`)
goes to it. Behind a provider's prefix no other key goes out than that provider's.
`OPENAI_API_KEY` is for OpenAI, and for a server for which no provider is named. None goes over
plain HTTP to another machine unless the user allows it on the command line (`--allow-http-key`).
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from reelbench.base import settings
from reelbench.base.errors import InputError

ALLOW_OPTION = "--allow-http-key"


@dataclass(frozen=True, slots=True)
class ServerKey:
    """The key of a server.

    Attributes:
        value: The key. None where there is none.
        variable: The variable that it stands in. None where the caller gave the key.
    """

    value: str | None = None
    variable: str | None = None

    @property
    def is_for_server(self) -> bool:
        """True where the user gave the key for this server, and not for a provider."""
        return self.variable is None or self.variable.startswith("REELBENCH_")


def first_key(keys: Sequence[settings.Setting]) -> ServerKey:
    """Return the first of the keys that is set."""
    for key in keys:
        if key.get():
            return ServerKey(key.get(), key.name)
    return ServerKey()


def refused_over_http(option: str, url: str | None, key: ServerKey) -> str | None:
    """Return the reason for which a key isn't sent. None where it is.

    Args:
        option: The option that names the server, for the error.
        url: The server's address. None is OpenAI's.
        key: The key.

    Raises:
        InputError: The user gave the key for this server. To go on without it would ask the server
            otherwise than he said.
    """
    if url is None or key.value is None:
        return None
    parts = urlsplit(url)
    if parts.scheme != "http" or is_loopback(parts.hostname or ""):
        return None
    name = key.variable or "the key"
    if key.is_for_server:
        raise InputError(
            f"{option}: {name} would go unencrypted over http:// to {parts.hostname}; "
            f"use https://, or allow it with {ALLOW_OPTION}"
        )
    return (
        f"{name} isn't sent unencrypted over http:// to {parts.hostname} "
        f"({ALLOW_OPTION} would send it)"
    )


def is_loopback(host: str) -> bool:
    """Return True for a name or an address of this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
