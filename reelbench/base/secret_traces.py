"""Traces of secret values in texts: a whole value, a long part of a key, or its encodings.

Those are base64, hexadecimal digits, percent-encoding, and the key backwards.

They count in small and in capital letters, whole or parted by blanks. Of a long key the letters and
digits alone are compared, so that dashes or invisible signs between them hide nothing.
"""

import base64
import os
import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

LEAST_PART = 16
"""Characters in a row of a long key, or of its base64, that no other text has."""

_CHUNK = LEAST_PART // 2  # each part of `LEAST_PART` characters has one of the chunks whole
_LONGEST_KEY = 4_096  # characters of a key that is searched for in parts
_LIKE_A_KEY = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[^\s<>/]{12,}")
_JSON_ESCAPE = re.compile(r'\\(?:[nrtfb]|u00[01][0-9a-f]|(["\\]))')  # of no letter or digit
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_CONTROLS = "".join(map(chr, range(0x20))) + "\x7f"
_UP_TO_LAST_BLANK = map(chr, range(0x3001))
_BLANKS = "".join(filter(str.isspace, _UP_TO_LAST_BLANK))
_PARTING = string.punctuation + _BLANKS + _CONTROLS + _INVISIBLE
_NO_LETTERS = str.maketrans("", "", _PARTING)
_OFFSETS = (0, 1, 2)  # bytes before a key in what is encoded: three make four letters


def is_like_a_key(text: str) -> bool:
    """Return True of the form of most keys: letters and digits, in one word."""
    return _LIKE_A_KEY.fullmatch(text) is not None


class _Chunk(NamedTuple):
    """A part of a form's text, and the place at which it begins."""

    place: int
    text: str


class _Span(NamedTuple):
    """The places of the first and the last character of a trace."""

    first: int
    last: int


@dataclass(frozen=True)
class _Form:
    """A text whose longer parts are traces of a secret.

    Attributes:
        text: Its bare form, as `_letters_and_digits_alone` has it.
        least: So many in a row.
        is_of_key: True of a long key, of which letters and digits count.
    """

    text: str
    least: int
    is_of_key: bool

    @cached_property
    def chunks(self) -> list[_Chunk]:
        """Parts of the text. Where none of them is in another text, no trace is."""
        if not self.is_of_key:
            return [_Chunk(0, self.text)]
        chunks: list[_Chunk] = []
        last_place = len(self.text) - _CHUNK
        for place in range(0, last_place + 1, _CHUNK):
            part = self.text[place : place + _CHUNK]
            chunks.append(_Chunk(place, part))
        return chunks


def _letters_and_digits_alone(text: str, *, is_of_key: bool) -> str:
    """Return a text in small letters, without blanks or all that keys are parted by."""
    if is_of_key:
        return text.translate(_NO_LETTERS).lower()
    return "".join(text.split()).lower()


def _forms_of_secret(secret: str) -> Iterator[_Form]:
    bare_key = _letters_and_digits_alone(secret, is_of_key=True)
    has_length_of_key = LEAST_PART <= len(bare_key) <= _LONGEST_KEY
    if not is_like_a_key(secret) or not has_length_of_key:
        whole = _letters_and_digits_alone(secret, is_of_key=False)
        yield _Form(whole, least=len(whole), is_of_key=False)
        return
    # Percent-encoding is the hexadecimal digits, once its signs are gone.
    as_bytes = secret.encode("utf-8", "surrogateescape")
    texts = {bare_key, bare_key[::-1], as_bytes.hex()}
    for encoded in _base64_at_each_offset(as_bytes):
        texts.add(_letters_and_digits_alone(encoded, is_of_key=True))
    for text in sorted(texts):
        if len(text) >= LEAST_PART:
            yield _Form(text, least=LEAST_PART, is_of_key=True)


def _base64_at_each_offset(secret: bytes) -> Iterator[str]:
    """Yield the base64 of a secret at each place in what is encoded."""
    for offset in _OFFSETS:
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            padded = bytes(offset) + secret
            letters = encode(padded).decode("ascii").rstrip("=")
            # The letters at both edges hold bits of what stands beside the secret, too.
            first = -(-offset * 8 // 6)
            end = len(padded) * 8 // 6
            yield letters[first:end]


class SecretTraces:
    """The traces of some secrets, to be looked for in texts."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # By whether they are of a long key: texts have another bare form for these.
        self._forms: dict[bool, list[_Form]] = {True: [], False: []}
        self._chunks: dict[bool, list[str]] = {True: [], False: []}
        for secret in secrets:
            for form in _forms_of_secret(secret):
                self._forms[form.is_of_key].append(form)
                self._chunks[form.is_of_key] += [chunk.text for chunk in form.chunks]

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
        for span in self._trace_spans(text):
            parts.append(text[end : span.first])
            parts.append(mark)
            end = span.last + 1
        parts.append(text[end:])
        return "".join(parts)

    def _trace_spans(self, text: str) -> list[_Span]:
        """Return the spans of all traces, in order."""
        spans: list[_Span] = []
        for is_of_key, forms in self._forms.items():
            if not forms:
                continue
            bare_text = _letters_and_digits_alone(text, is_of_key=is_of_key)
            bare_spans: list[_Span] = []
            for form in forms:
                bare_spans += _traces_of_form(form, bare_text)
            if bare_spans:
                places = _places_of_bare(text, is_of_key=is_of_key)
                spans += [_Span(places[first], places[last]) for first, last in bare_spans]
        return _merge_overlapping(spans)


def _merge_overlapping(spans: Iterable[_Span]) -> list[_Span]:
    """Return spans in order, those that overlap as one."""
    merged: list[_Span] = []
    for span in sorted(spans):
        before = merged[-1] if merged else None
        if before is not None and span.first <= before.last:
            last = max(span.last, before.last)
            merged[-1] = _Span(before.first, last)
        else:
            merged.append(span)
    return merged


def _traces_of_form(form: _Form, bare_text: str) -> Iterator[_Span]:
    """Yield the spans of a bare text that are traces of a form."""
    for chunk in form.chunks:
        place = bare_text.find(chunk.text)
        while place >= 0:
            span = _whole_trace(form, chunk, bare_text, place)
            if span.last - span.first + 1 >= form.least:
                yield span
            place = bare_text.find(chunk.text, place + 1)


def _whole_trace(form: _Form, chunk: _Chunk, bare_text: str, place: int) -> _Span:
    """Return the span of a chunk, widened as far as the text is the form.

    Args:
        form: The form.
        chunk: A part of it.
        bare_text: The text in which the chunk stands.
        place: The place in the text at which it begins.
    """
    end_in_form = chunk.place + len(chunk.text)
    end = place + len(chunk.text)
    form_before = form.text[: chunk.place]
    form_after = form.text[end_in_form:]
    longest_first = max(0, place - len(form_before))
    text_before = bare_text[longest_first:place]
    text_after = bare_text[end : end + len(form_after)]
    letters_before = _count_shared(form_before[::-1], text_before[::-1])
    letters_after = _count_shared(form_after, text_after)
    return _Span(first=place - letters_before, last=end + letters_after - 1)


def _count_shared(text: str, other_text: str) -> int:
    """Count the characters with which both texts begin."""
    beginning = os.path.commonprefix([text, other_text])  # noqa: RUF071 - it compares any texts
    return len(beginning)


def _places_of_bare(text: str, *, is_of_key: bool) -> list[int]:
    """Return the place in a text of each character of its bare form."""
    places: list[int] = []
    for place, character in enumerate(text):
        # A capital letter may have two characters for a small one.
        bare = _letters_and_digits_alone(character, is_of_key=is_of_key)
        places += [place] * len(bare)
    return places
