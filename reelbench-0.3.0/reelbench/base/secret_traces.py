"""Traces of secret values in texts: a whole value, a long part of a key, or its encodings.

Those are base64, hexadecimal digits, percent-encoding, and the key backwards.

They count in small and in capital letters, whole or parted by blanks. Of a long key the letters and
digits alone are compared, so that dashes or invisible signs between them hide nothing.
"""

import base64
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LEAST_PART = 16
"""Characters in a row of a long key, or of its base64, that no other text has."""

_CHUNK = LEAST_PART // 2  # each part of `LEAST_PART` characters has one of the chunks whole
_LONGEST_KEY = 4_096  # characters of a key that is searched for in parts
_LIKE_A_KEY = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[^\s<>/]{12,}")
_JSON_ESCAPE = re.compile(r'\\(?:[nrtfb]|u00[01][0-9a-f]|(["\\]))')  # of no letter or digit
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_CONTROLS = "".join(map(chr, [*range(0x20), 0x7F]))
_BLANKS = "".join(filter(str.isspace, map(chr, range(0x3001))))
_NO_LETTERS = str.maketrans("", "", string.punctuation + _BLANKS + _CONTROLS + _INVISIBLE)
_OFFSETS = (0, 1, 2)  # bytes before a key in what is encoded: three make four letters


def is_like_a_key(text: str) -> bool:
    """Return True of the form of most keys: letters and digits, in one word."""
    return _LIKE_A_KEY.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class _Form:
    """A text whose longer parts are traces of a secret.

    Attributes:
        text: Its bare form, as `_letters_and_digits_alone` has it.
        least: So many in a row.
        is_of_key: True of a long key, of which letters and digits count.
        chunks: Each place in the text -> the part that begins there. Where none of them is in
            another text, no trace is.
    """

    text: str
    least: int
    is_of_key: bool
    chunks: tuple[tuple[int, str], ...]


def _letters_and_digits_alone(text: str, *, is_of_key: bool) -> str:
    """Return a text in small letters, without blanks or all that keys are parted by."""
    if is_of_key:
        return text.translate(_NO_LETTERS).lower()
    return "".join(text.split()).lower()


def _forms_of_secret(secret: str) -> Iterator[_Form]:
    bare_key = _letters_and_digits_alone(secret, is_of_key=True)
    if not is_like_a_key(secret) or not LEAST_PART <= len(bare_key) <= _LONGEST_KEY:
        whole = _letters_and_digits_alone(secret, is_of_key=False)
        yield _Form(whole, len(whole), False, ((0, whole),))
        return
    # Percent-encoding is the hexadecimal digits, once its signs are gone.
    as_bytes = secret.encode("utf-8", "surrogateescape")
    texts = {bare_key, bare_key[::-1], as_bytes.hex()}
    for encoded in _base64_at_each_offset(as_bytes):
        texts.add(_letters_and_digits_alone(encoded, is_of_key=True))
    for text in sorted(texts):
        if len(text) >= LEAST_PART:
            places = range(0, len(text) - _CHUNK + 1, _CHUNK)
            chunks = tuple((place, text[place : place + _CHUNK]) for place in places)
            yield _Form(text, LEAST_PART, True, chunks)


def _base64_at_each_offset(secret: bytes) -> Iterator[str]:
    """Yield the base64 of a secret at each place in what is encoded."""
    for offset in _OFFSETS:
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            letters = encode(bytes(offset) + secret).decode("ascii").rstrip("=")
            # The letters at both edges hold bits of what stands beside the secret, too.
            first = -(-offset * 8 // 6)
            end = (offset + len(secret)) * 8 // 6
            yield letters[first:end]


class SecretTraces:
    """The traces of some secrets, to be looked for in texts."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._forms: dict[bool, list[_Form]] = {True: [], False: []}
        for secret in secrets:
            for form in _forms_of_secret(secret):
                self._forms[form.is_of_key].append(form)
        self._chunks: dict[bool, list[str]] = {}
        for is_of_key, forms in self._forms.items():
            self._chunks[is_of_key] = []
            for form in forms:
                self._chunks[is_of_key] += [chunk for _, chunk in form.chunks]

    def are_in(self, text: str) -> bool:
        """Return True where a trace is in a text."""
        return bool(self._trace_spans(text))

    def may_be_in_json(self, text: str) -> bool:
        """Return False where a JSON text has no trace. True is a guess."""
        for is_of_key, chunks in self._chunks.items():
            if not chunks:
                continue
            plain_text = text
            if "\\" in text:
                plain_text = _JSON_ESCAPE.sub(r"\1", text)
            bare_text = _letters_and_digits_alone(plain_text, is_of_key=is_of_key)
            if any(chunk in bare_text for chunk in chunks):
                return True
        return False

    def masked(self, text: str, mark: str) -> str:
        """Return a text with `mark` in the place of each trace."""
        parts: list[str] = []
        end = 0
        for first, last in self._trace_spans(text):
            parts += [text[end:first], mark]
            end = last + 1
        parts.append(text[end:])
        return "".join(parts)

    def _trace_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the places of the first and last characters of all traces, in order."""
        spans: list[tuple[int, int]] = []
        for is_of_key, forms in self._forms.items():
            if not forms:
                continue
            bare_text = _letters_and_digits_alone(text, is_of_key=is_of_key)
            runs: list[tuple[int, int]] = []
            for form in forms:
                runs += _matching_stretches(form, bare_text)
            if runs:
                places = _places_of_bare(text, is_of_key=is_of_key)
                spans += [(places[start], places[stop - 1]) for start, stop in runs]
        return _merge_overlapping(spans)


def _merge_overlapping(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _matching_stretches(form: _Form, bare_text: str) -> Iterator[tuple[int, int]]:
    """Yield where enough characters in a row of a form stand in a text."""
    for offset, chunk in form.chunks:
        searched = 0
        while True:
            place = bare_text.find(chunk, searched)
            if place < 0:
                break
            start = place - _shared_before(form.text[:offset], bare_text, place)
            after = offset + len(chunk)
            stop = place + len(chunk)
            stop += _shared_after(form.text[after:], bare_text, stop)
            if stop - start >= form.least:
                yield start, stop
            searched = place + 1


def _shared_before(part: str, text: str, end: int) -> int:
    """Count the last characters of a part that stand in a text before a place."""
    count = 0
    while count < min(len(part), end) and part[-1 - count] == text[end - 1 - count]:
        count += 1
    return count


def _shared_after(part: str, text: str, start: int) -> int:
    """Count the first characters of a part that stand in a text behind a place."""
    count = 0
    while count < min(len(part), len(text) - start) and part[count] == text[start + count]:
        count += 1
    return count


def _places_of_bare(text: str, *, is_of_key: bool) -> list[int]:
    """Return the place in a text of each character of its bare form."""
    places: list[int] = []
    for place, character in enumerate(text):
        # A capital letter may have two characters for a small one.
        places += [place] * len(_letters_and_digits_alone(character, is_of_key=is_of_key))
    return places
