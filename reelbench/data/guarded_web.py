"""HTTP for addresses that somebody else's file names: https alone, and public addresses alone.

A name may lead to a machine of the user's own network, and a server may send on to one. So the
address is checked that a connection has, at each redirection. Hosts in `REELBENCH_ALLOW_HOSTS`
are the user's own word.
"""

import http.client
import ipaddress
import socket
import urllib.request
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from reelbench.base import settings
from reelbench.base.errors import DataUnavailableError


def opener() -> urllib.request.OpenerDirector:
    """Return an opener for files of public hosts, without local files and FTP."""
    director = urllib.request.OpenerDirector()
    handlers: tuple[type[urllib.request.BaseHandler], ...] = (
        urllib.request.ProxyHandler,
        _HTTPHandler,
        _HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
        urllib.request.UnknownHandler,
    )
    for handler in handlers:
        director.add_handler(handler())
    return director


def _is_allowed(host: str) -> bool:
    """Return True of a host that the user named himself."""
    allowed = [name.strip().lower() for name in settings.ALLOW_HOSTS.get().split(",")]
    mirror = urlsplit(settings.GITHUB_RAW.get()).hostname
    return host.lower() in (*allowed, mirror)


def _how_to_allow(host: str) -> str:
    return f"if it is your own, allow it with {settings.ALLOW_HOSTS.name}={host}"


_UNICAST = ipaddress.ip_network("2000::/3")
_TO_IPV4 = ipaddress.ip_network("64:ff9b::/96")
"""NAT64: the last four bytes are the IPv4 address to which it leads."""


def _is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    if ip in _TO_IPV4:
        ip = ipaddress.IPv4Address(ip.packed[-4:])
    elif isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is None and ip not in _UNICAST:
            return False
        ip = inner or ip
    return ip.is_global and not ip.is_multicast


def _refuse_private(host: str, address: str) -> None:
    if not _is_public(address):
        raise DataUnavailableError(
            f"{host}: leads to {address}, which is not a public address, and data that a file "
            f"names may come only from public ones; {_how_to_allow(host)}"
        )


def _connect_to_public_address(
    host: str,
    address: tuple[str, int],
    *arguments: Any,  # noqa: ANN401 - as `create_connection` has them
    **options: Any,  # noqa: ANN401 - as `create_connection` has them
) -> socket.socket:
    connection = socket.create_connection(address, *arguments, **options)
    try:
        _refuse_private(host, connection.getpeername()[0])
    except DataUnavailableError:
        connection.close()
        raise
    return connection


class _HTTPSConnection(http.client.HTTPSConnection):
    """A connection whose address is checked before anything is sent."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401 - as the connection has them
        checked_host: str,
        **options: Any,  # noqa: ANN401 - as the connection has them
    ) -> None:
        super().__init__(*arguments, **options)
        self._create_connection = partial(_connect_to_public_address, checked_host)


def _is_through_proxy(request: urllib.request.Request) -> bool:
    """Return True where the user's proxy connects: the address is then the proxy's to know."""
    return request.has_proxy() or getattr(request, "_tunnel_host", None) is not None


class _HTTPHandler(urllib.request.HTTPHandler):
    """Plain HTTP to hosts that the user allowed."""

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Send a request.

        Raises:
            DataUnavailableError: The user has not allowed the host.
        """
        host = urlsplit(req.full_url).hostname or ""
        if not _is_allowed(host):
            raise DataUnavailableError(
                f"{req.full_url}: plain http, and data that a file names comes over https alone; "
                f"{_how_to_allow(host)}"
            )
        return self.do_open(http.client.HTTPConnection, req)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    """HTTPS to public addresses, and to hosts that the user allowed."""

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Send a request.

        Raises:
            DataUnavailableError: The host has no public address.
        """
        host = urlsplit(req.full_url).hostname or ""
        connection: Any = http.client.HTTPSConnection
        if not _is_allowed(host):
            if _is_through_proxy(req):
                _refuse_private_name(host)
            else:
                connection = partial(_HTTPSConnection, checked_host=host)
        return self.do_open(connection, req)


def _refuse_private_name(host: str) -> None:
    """Refuse a host whose name alone says that it is no public one."""
    if host == "localhost" or host.endswith(".localhost"):
        _refuse_private(host, "127.0.0.1")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return
    _refuse_private(host, host)
