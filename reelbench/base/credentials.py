"""What of an address or a setting is nobody's business: user, password, what a query holds, headers and keys."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_object, texts_in

# A query or a fragment ends with the word: a key may stand behind a comma in it.
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{0,30}://(?:[^\s\"'<>,;?#]+(?:[?#][^\s\"]*)?|[?#][^\s\"]+)", re.IGNORECASE
)
HIDDEN = "***"

_BESIDE = "id|value|string|text|data|env|header|read|write|live|test|prod|new|old"
"""Words behind a secret's name that say no more of it: `HF_TOKEN_READ`, `token_value`."""
_WORD = (
    r"(?:\w{0,40}?(?:token|secret|password|passphrase|passwd|passcode|credential|apikey)"
    r"|(?:api|access|auth|private|client|session)?key(?:id)?|pass|pwd|o?auth|authorization|cookie)"
)
_NAMED = re.compile(rf"{_WORD}(s?)((?:_(?:{_BESIDE}|\d*))*)(_.*)?", re.DOTALL)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # in `dbPassword`
_MADE = re.compile(
    r"(?=\S*\d)(?=\S*[A-Za-z])[^\s<>/]{12,}"
)  # as keys are made: letters and digits, in one word
# In a text that holds an object (`{'Authorization': 'Bearer …'}`), and what may stand behind a
# scheme of its own.
_IN_TEXT = re.compile(
    rf"""((?<![^\W_]){_WORD}s?(?:[_-](?:{_BESIDE}))?\\*["']?\s*[:=]\s*)(?:"[^"]*"?|'[^']*'?|[^,}}]+)"""
    rf"|\b((?:bearer|basic)\s+)[\w.~+/=-]+|((?:^(?:token|apikey|key)|(?:^|\s)-[\w-]{{0,40}}?{_WORD})\s+)\S+",
    re.IGNORECASE,
)
# Keys by the form that their servers give them.
_KEY = re.compile(
    r"\b(?:sk-|[prs]k_live_|hf_|gh[opsur]_|github_pat_|glpat-|xox[abpr]-|A[KS]IA|AIza|eyJ|nvapi-|gsk_|xai-|r8_|pplx-)"
    r"(?=[\w.-]*\d)[\w.-]{16,}",
    re.IGNORECASE,
)
SHORTEST = 8  # characters of a key at least: shorter ones stand in any text


@lru_cache(maxsize=1024)
def _is_secret_name(name: str) -> bool | None:
    """Whether a name is one of a secret; None where its value must tell: a list's (`api_keys`), or with more words."""
    words = re.sub("[^a-z0-9]+", "_", _HUMP.sub("_", name[-200:]).lower()).strip("_").split("_")
    for place in reversed(range(len(words))):
        if match := _NAMED.fullmatch("_".join(words[place:])):
            return None if match[1] or match[3] else True
    return False


def is_secret(name: str, value: Any = None) -> bool:  # noqa: ANN401 - any JSON value
    """Whether a name is one of a secret (`apiKey`, `HF_TOKEN_READ`), or may be (`api_keys`) and the value looks so."""
    named, texts = _is_secret_name(name), [*texts_in(value)]
    return (
        any(map(_MADE.fullmatch, texts))
        if named is None
        else named and (value is None or bool(texts))
    )


def _is_pair(name: object, value: object) -> bool:
    """Whether a text that is made like a key stands beside a secret's name: `["X-Api-Key", "…"]`."""
    if not (isinstance(name, str) and isinstance(value, str)):
        return False
    return _is_secret_name(name) is True and _MADE.fullmatch(value.rpartition(" ")[2]) is not None


def known_secrets() -> Iterator[tuple[str, str]]:
    """Yield the keys that the environment holds, each with its variable's name; a path or a number is none."""
    for name, value in os.environ.items():
        if (
            len(value) >= SHORTEST
            and is_secret(name, value)
            and not (value.isdecimal() or os.path.exists(value))
        ):  # noqa: PTH110
            yield name, value


def without(text: str, secrets: Iterable[str] | None = None, mark: str = HIDDEN) -> str:
    """Return `text` with `mark` in the place of each secret, in small or capital letters, whole or parted by spaces.

    By default these are the keys that the environment holds.
    """
    bare = ""
    for whole in (value for _, value in known_secrets()) if secrets is None else secrets:
        secret, bare = "".join(whole.split()), bare or "".join(text.split()).lower()
        if secret.lower() in bare:
            text = re.sub(r"\s*".join(map(re.escape, secret)), mark, text, flags=re.IGNORECASE)
    return text


def without_credentials(text: str) -> str:
    """Return `text` with every address in it rid of user, password, query and fragment; `***` stands where one was."""
    return _ADDRESS.sub(lambda match: _bare(match[0]), text)


def without_secrets(value: Any, *, words: bool = True, known: Sequence[str] | None = None) -> Any:  # noqa: ANN401
    """Return a JSON value rid of secrets at any depth: what is named like one, and what addresses and texts hold.

    Numbers, truth values and other texts stay as they are: keys of replies are made of them. With
    `words` False a text is somebody's answer, and stays, too. `known` are the keys that the
    environment holds.
    """
    known = [secret for _, secret in known_secrets()] if known is None else known
    if is_object(value):
        named = [
            part
            for part in value.values()
            if words and isinstance(part, str) and _is_secret_name(part)
        ][:1]
        return {
            without_secrets(name, known=known): without_secrets(part, words=words, known=known)
            for name, part in value.items()
            if not any(_is_pair(other, part) for other in named)
            and not (isinstance(part, str | list | dict) and is_secret(str(name), part))
        }
    if is_array(value):
        beside: Iterable[tuple[Any, Any]] = zip(["", *value], value, strict=False)
        hidden = ((part, words and _is_pair(before, part)) for before, part in beside)
        return [
            HIDDEN if hide else without_secrets(part, words=words, known=known)
            for part, hide in hidden
        ]
    if not (isinstance(value, str) and words):
        return value
    text = _IN_TEXT.sub(
        lambda match: f"{match[1] or match[2] or match[3]}{HIDDEN}", without_credentials(value)
    )
    return _KEY.sub(HIDDEN, without(text, known))


def refuse_in_words(what: str, text: str) -> None:
    """Raise InputError where words that go on record hold a key, or an address with a user or what is named like a key.

    Unlike `refuse_secrets` it takes a query and a fragment: a film's number, a place on a page.
    """
    found = _ADDRESS.findall(text)
    has_key = _KEY.search(text) or without(text) != text
    if has_key or any(_IN_TEXT.search(one) or re.search("://[^/?#]*@", one) for one in found):
        raise InputError(
            f"{what}: a key, or an address with a user or a key in it, would go on record; leave it out"
        )


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
    return urlunsplit(
        (parts.scheme, f"{HIDDEN}@{host}" if at else host, parts.path, query, fragment)
    )
