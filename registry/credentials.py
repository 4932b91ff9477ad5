"""What of an address is nobody's business: user, password, and what its query holds."""

import re
from urllib.parse import urlsplit, urlunsplit

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s\"'<>,;]+", re.IGNORECASE)
HIDDEN = "***"


def without_credentials(text: str) -> str:
    """Return `text` with every address in it rid of user, password, query and fragment; `***` stands where one was."""
    return _ADDRESS.sub(lambda match: _bare(match[0]), text)


def _bare(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:  # a bracket too many: nothing tells where its password ends
        return f"{address.partition('://')[0]}://{HIDDEN}"
    _, at, host = parts.netloc.rpartition("@")
    query = HIDDEN if parts.query else ""
    fragment = HIDDEN if parts.fragment else ""
    return urlunsplit((parts.scheme, f"{HIDDEN}@{host}" if at else host, parts.path, query, fragment))
