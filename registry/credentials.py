"""What of an address or a setting is nobody's business: user, password, what a query holds, headers and keys."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from reelbench.registry.errors import InputError
from reelbench.registry.values import is_array, is_object

# A query or a fragment ends with the word: a key may stand behind a comma in it.
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{0,30}://(?:[^\s\"'<>,;?#]+(?:[?#][^\s\"]*)?|[?#][^\s\"]+)", re.IGNORECASE)
HIDDEN = "***"

_KIND = (
    r"(?:api[_-]?key|(?:access|auth|private|secret|client|session|refresh|bearer|hf|openai)?[_-]?"
    r"(?:key(?:[_-]?id)?|token|secret)|password|passphrase|passwd|pass|pwd|auth|authorization|cookie|credentials?)"
)
_SECRET_NAME = re.compile(rf"(?:.*[^a-z0-9])?{_KIND}", re.IGNORECASE | re.DOTALL)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # in `dbPassword`
# In a text that holds an object (`{'Authorization': 'Bearer …'}`), what may stand behind a scheme of its own, and keys
# by the form that their servers give them.
_IN_TEXT = re.compile(
    rf"""({_KIND}["']?\s*[:=]\s*)(?:"[^"]*"?|'[^']*'?|[^,}}]+)|\b((?:bearer|basic)\s+)[\w.~+/=-]+"""
    r"|\b(?:sk-|hf_|gh[opsur]_|xox[abpr]-|AKIA|AIza|eyJ)[\w.-]{16,}",
    re.IGNORECASE,
)
SHORTEST = 8  # characters of a key at least: shorter ones stand in any text


def known_secrets() -> Iterator[tuple[str, str]]:
    """Yield the keys that the environment holds, each with its variable's name."""
    for name, value in os.environ.items():
        if name.endswith(("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")) and len(value) >= SHORTEST:
            yield name, value


def without(text: str, secrets: Iterable[str], mark: str = HIDDEN) -> str:
    """Return `text` with `mark` in the place of each secret, in small or capital letters."""
    for secret in secrets:
        text = re.sub(re.escape(secret), mark, text, flags=re.IGNORECASE)
    return text


def without_known(text: str) -> str:
    """Return `text` rid of the keys that the environment holds."""
    return without(text, (value for _, value in known_secrets()))


def without_credentials(text: str) -> str:
    """Return `text` with every address in it rid of user, password, query and fragment; `***` stands where one was."""
    return _ADDRESS.sub(lambda match: _bare(match[0]), text)


def without_secrets(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value rid of secrets at any depth: what is named like one, and what addresses and texts hold.

    Numbers, truth values and other texts stay as they are: keys of replies are made of them.
    """
    if is_object(value):
        return {
            without_secrets(name): without_secrets(part)
            for name, part in value.items()
            if not (_SECRET_NAME.fullmatch(_HUMP.sub("_", str(name))) and isinstance(part, str | list | dict))
        }
    if is_array(value):
        return [without_secrets(part) for part in value]
    if not isinstance(value, str):
        return value
    return _IN_TEXT.sub(
        lambda match: f"{match[1] or match[2] or ''}{HIDDEN}", without_known(without_credentials(value))
    )


def refuse_addresses(what: str, text: str) -> None:
    """Raise InputError where an address in a text that goes on record has a user, or what is named or made like a key.

    Unlike `refuse_secrets` it takes a query and a fragment: a film's number, a place on a page.
    """
    if any(_IN_TEXT.search(found) or re.search("://[^/?#]*@", found) for found in _ADDRESS.findall(text)):
        raise InputError(f"{what}: an address with a user or a key in it would go on record; leave them out")


def refuse_secrets(what: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Raise InputError where a value that goes on record holds a secret, before anything is done with it."""
    if without_secrets(value) != value:
        raise InputError(
            f"{what}: looks like a key, a password or an address with one, and it goes on record; keys stand in "
            "REELBENCH_LLM_API_KEY and REELBENCH_JUDGE_API_KEY"
        )


def _bare(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:  # a bracket too many: nothing tells where its password ends
        return f"{address.partition('://')[0]}://{HIDDEN}"
    _, at, host = parts.netloc.rpartition("@")
    query = HIDDEN if parts.query else ""
    fragment = HIDDEN if parts.fragment else ""
    return urlunsplit((parts.scheme, f"{HIDDEN}@{host}" if at else host, parts.path, query, fragment))
