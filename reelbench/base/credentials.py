"""Secrets in addresses, settings and texts: users, passwords, queries, headers and keys."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from reelbench.base.errors import InputError
from reelbench.base.secret_traces import SecretTraces, is_like_a_key
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
_SECRET_NAME = re.compile(rf"{_WORD}(s?)((?:_(?:{_BESIDE}|\d*))*)(_.*)?", re.DOTALL)
_NAME_CHARACTERS = 200  # of a name's end, which is looked at
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # in `dbPassword`

# In a text that holds an object (`{'Authorization': 'Bearer …'}`), and what may stand behind a
# scheme of its own.
_IN_TEXT = re.compile(
    rf"""((?<![^\W_]){_WORD}s?(?:[_-](?:{_BESIDE}))?\\*["']?\s*[:=]\s*)"""
    r"""(?:"[^"]*"?|'[^']*'?|[^,}]+)"""
    r"|\b((?:bearer|basic)\s+)[\w.~+/=-]+"
    rf"|((?:^(?:token|apikey|key)|(?:^|\s)-[\w-]{{0,40}}?{_WORD})\s+)\S+",
    re.IGNORECASE,
)
# Keys by the form that their servers give them.
_KEY = re.compile(
    r"\b(?:sk-|[prs]k_live_|hf_|gh[opsur]_|github_pat_|glpat-|xox[abpr]-|A[KS]IA|AIza|eyJ|nvapi-"
    r"|gsk_|xai-|r8_|pplx-)"
    r"(?=[\w.-]*\d)[\w.-]{16,}",
    re.IGNORECASE,
)
SHORTEST = 8  # characters of a key at least: shorter ones stand in any text


@lru_cache(maxsize=1024)
def _is_secret_name(name: str) -> bool | None:
    """Return True for the name of a secret, and None where its value must tell.

    The value must tell of the name of a list (`api_keys`), and of one with further words.
    """
    snake_case = _HUMP.sub("_", name[-_NAME_CHARACTERS:]).lower()
    words = re.sub("[^a-z0-9]+", "_", snake_case).strip("_").split("_")
    for start in reversed(range(len(words))):
        last_words = "_".join(words[start:])
        match = _SECRET_NAME.fullmatch(last_words)
        if match is None:
            continue
        is_plural = match[1]
        has_further_words = match[3]
        return None if is_plural or has_further_words else True
    return False


def is_secret(name: str, value: Any = None) -> bool:  # noqa: ANN401 - any JSON value
    """Return True where a name and its value are a secret's.

    That is so by the name alone (`apiKey`, `HF_TOKEN_READ`), or by a name that may be a secret's
    (`api_keys`) and a value that looks like one.
    """
    by_name = _is_secret_name(name)
    texts = list(texts_in(value))
    if by_name is None:
        return any(map(is_like_a_key, texts))
    if not by_name:
        return False
    return value is None or bool(texts)


def _is_pair(name: object, value: object) -> bool:
    """Return True for a secret's name and a text like a key: `["X-Api-Key", "…"]`."""
    if not (isinstance(name, str) and isinstance(value, str)):
        return False
    last_word = value.rpartition(" ")[2]
    return _is_secret_name(name) is True and is_like_a_key(last_word)


def known_secrets() -> Iterator[tuple[str, str]]:
    """Yield the environment's keys, each with its variable's name before it.

    A path or a number is no key.
    """
    for name, value in os.environ.items():
        if len(value) < SHORTEST or not is_secret(name, value):
            continue
        is_path = os.path.exists(value)  # noqa: PTH110 - Path has an error for some names
        if not (value.isdecimal() or is_path):
            yield name, value


class _EnvironmentSecrets:
    """The traces of `known_secrets`, made again where the environment has changed."""

    def __init__(self) -> None:
        self._environment: dict[object, object] = {}
        self._all = SecretTraces([])
        self._keys = SecretTraces([])

    def all(self) -> SecretTraces:
        """Return the traces of every value."""
        self._refresh_if_changed()
        return self._all

    def keys(self) -> SecretTraces:
        """Return the traces of the values that are made like keys."""
        self._refresh_if_changed()
        return self._keys

    def _refresh_if_changed(self) -> None:
        # The undecoded environment: it is compared for each answer, and decoding takes 50 times
        # as long.
        environment: dict[object, object] = getattr(os.environ, "_data")  # noqa: B009
        if environment == self._environment:
            return
        self._environment = dict(environment)
        values = [value for _, value in known_secrets()]
        self._all = SecretTraces(values)
        self._keys = SecretTraces(filter(is_like_a_key, values))


_environment_secrets = _EnvironmentSecrets()


def traces_of_all() -> SecretTraces:
    """Return the traces of every secret value of the environment."""
    return _environment_secrets.all()


def traces_of_keys() -> SecretTraces:
    """Return the traces of the environment's values that are made like keys.

    They alone are looked for in answers, replies and names: a password may be any word.
    """
    return _environment_secrets.keys()


def without_credentials(text: str) -> str:
    """Return `text` with `***` for user, password, query and fragment of every address."""
    return _ADDRESS.sub(lambda match: _bare_address(match[0]), text)


def without_secrets(value: Any, *, words: bool = True) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value without secrets, at any depth.

    Secrets are what is named like one, and what addresses and texts hold. Numbers, truth values
    and other texts stay as they are: keys of replies are made of them.

    Args:
        value: Any JSON value.
        words: If False, a text is somebody's answer, and stays.
    """
    if is_object(value):
        return _object_without_secrets(value, words=words)
    if is_array(value):
        return _array_without_secrets(value, words=words)
    if not (isinstance(value, str) and words):
        return value
    return _text_without_secrets(value, traces_of_all())


def _text_without_secrets(text: str, traces: SecretTraces) -> str:
    text = _IN_TEXT.sub(
        lambda match: f"{match[1] or match[2] or match[3]}{HIDDEN}", without_credentials(text)
    )
    return _KEY.sub(HIDDEN, traces.masked(text, HIDDEN))


def _object_without_secrets(value: Mapping[str, Any], *, words: bool) -> dict[str, Any]:
    # In `{"name": "X-Api-Key", "value": "…"}` one value is the name of the secret in another.
    name_in_value = _first_secret_name(value.values()) if words else None
    result: dict[str, Any] = {}
    for name, part in value.items():
        if name_in_value is not None and _is_pair(name_in_value, part):
            continue
        if isinstance(part, str | list | dict) and is_secret(str(name), part):
            continue
        # A password may be any word, a field's name too: only what is made like a key goes.
        bare_name = _text_without_secrets(name, traces_of_keys())
        result[bare_name] = without_secrets(part, words=words)
    return result


def _first_secret_name(values: Iterable[object]) -> str | None:
    for value in values:
        if isinstance(value, str) and _is_secret_name(value):
            return value
    return None


def _array_without_secrets(value: Sequence[Any], *, words: bool) -> list[Any]:
    result: list[Any] = []
    before: Any = ""
    for part in value:
        if words and _is_pair(before, part):
            result.append(HIDDEN)
        else:
            result.append(without_secrets(part, words=words))
        before = part
    return result


def refuse_in_words(what: str, text: str) -> None:
    """Raise InputError where words for the record hold a key or an address with one.

    Unlike `refuse_secrets` it takes a query and a fragment: a film's number, a place on a page.
    """
    has_secret = _KEY.search(text) is not None or traces_of_all().are_in(text)
    for address in _ADDRESS.findall(text):
        has_user = re.search("://[^/?#]*@", address) is not None
        has_secret = has_secret or has_user or _IN_TEXT.search(address) is not None
    if has_secret:
        raise InputError(
            f"{what}: a key, or an address with a user or a key in it, would be recorded; leave it "
            "out"
        )


def refuse_secrets(what: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
    """Raise InputError where a value that goes on record holds a secret."""
    if without_secrets(value) != value:
        raise InputError(
            f"{what}: looks like a key, a password or an address with one, and would be recorded; "
            "keys belong in REELBENCH_LLM_API_KEY and REELBENCH_JUDGE_API_KEY"
        )


def _bare_address(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:  # a bracket too many: nothing tells where its password ends
        scheme = address.partition("://")[0]
        return f"{scheme}://{HIDDEN}"
    _, at_sign, host = parts.netloc.rpartition("@")
    if at_sign:
        host = f"{HIDDEN}@{host}"
    query = HIDDEN if parts.query else ""
    fragment = HIDDEN if parts.fragment else ""
    return urlunsplit((parts.scheme, host, parts.path, query, fragment))
