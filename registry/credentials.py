"""What of an address or a setting is nobody's business: user, password, what a query holds, headers and keys."""

import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from reelbench.registry.values import is_array, is_object

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\"'<>,;]+", re.IGNORECASE)
HIDDEN = "***"

_KIND = r"(?:api[_-]?key|key|token|secret|password|passwd|pwd|auth|authorization|cookie|credentials?)"
_SECRET_NAME = re.compile(rf"(?:.*[^a-z0-9])?{_KIND}", re.IGNORECASE | re.DOTALL)
# In a text that holds an object (`{'Authorization': 'Bearer …'}`), and what may stand behind a scheme of its own.
_IN_TEXT = re.compile(
    rf"""([\w-]*{_KIND}["']?\s*[:=]\s*)(?:"[^"]*"?|'[^']*'?|[^,}}]+)|\b((?:bearer|basic)\s+)[\w.~+/=-]+""",
    re.IGNORECASE,
)


def without_credentials(text: str) -> str:
    """Return `text` with every address in it rid of user, password, query and fragment; `***` stands where one was."""
    return _ADDRESS.sub(lambda match: _bare(match[0]), text)


def without_secrets(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value rid of secrets at any depth: what is named like one, and what addresses and texts hold."""
    if is_object(value):
        return {
            without_secrets(name): without_secrets(part)
            for name, part in value.items()
            if not _SECRET_NAME.fullmatch(str(name))
        }
    if is_array(value):
        return [without_secrets(part) for part in value]
    if not isinstance(value, str):
        return value
    return _IN_TEXT.sub(lambda match: f"{match[1] or match[2]}{HIDDEN}", without_credentials(value))


def _bare(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:  # a bracket too many: nothing tells where its password ends
        return f"{address.partition('://')[0]}://{HIDDEN}"
    _, at, host = parts.netloc.rpartition("@")
    query = HIDDEN if parts.query else ""
    fragment = HIDDEN if parts.fragment else ""
    return urlunsplit((parts.scheme, f"{HIDDEN}@{host}" if at else host, parts.path, query, fragment))
