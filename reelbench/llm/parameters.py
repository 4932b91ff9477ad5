"""The parameters of a request that a server refuses, learnt from the server itself.

A request has one common form (`max_tokens`, temperature 0), and keys of replies are made of that.
Where a server's own 400 names a parameter of it, the other form is sent, and remembered for that
server and model beside the replies. No property of a server is guessed from a model's name.
"""

import json
import re
import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from reelbench.llm import structured
from reelbench.llm.store import SqlStore

_IN_PLACE: dict[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
    "temperature": None,
    "response_format": None,
}
"""Parameter that a server may refuse -> the one that says the same. None: it is left out."""

_KNOWN_NAME = re.compile(rf"(?<!\w)({'|'.join(_IN_PLACE)})(?!\w)")

_NEUTRAL: dict[str, object] = {"temperature": 0, "response_format": {"type": "text"}}
"""Parameter that may be left out -> its value by default, which alone may."""

_FORM_MARKS = [f"{structured.FIELD} {form}" for form in structured.FORMS]
"""Marks of the forms of a schema that were refused, in the order of `structured.FORMS`."""

_FORMAT = re.compile(r"response_format|json_schema|json_object|grammar|guided")
"""In the refusal of a schema, whatever else is said of it."""

# Of a parameter that is not taken. One whose value is too large is refused in other words.
_REFUSAL = re.compile(
    r"unsupported|not support|n't support|unknown|unrecogni[sz]ed|not permitted|not allowed"
    r"|not accepted|extra inputs|deprecated|unexpected|only the default|\buse '?max_",
    re.IGNORECASE,
)


def refused_parameters(message: str, code: object, parameter: object) -> frozenset[str]:
    """Return the parameters that a server's error refuses, of those that have another form.

    Args:
        message: The error's text.
        code: Its `code`, which OpenAI's servers state (`unsupported_parameter`).
        parameter: Its `param`, likewise.
    """
    if _FORMAT.search(f"{message} {parameter}"):
        return frozenset({structured.FIELD})
    if _REFUSAL.search(f"{message} {code}") is None:
        return frozenset()
    if parameter in _IN_PLACE:
        return frozenset({str(parameter)})
    return frozenset(_KNOWN_NAME.findall(message))


def without_removed(sampling: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without those of the value None, by which the user removes them."""
    return {name: value for name, value in sampling.items() if value is not None}


class Parameters:
    """The form in which one model's server takes the parameters of a request."""

    def __init__(self, host: str, model: str, typed: Collection[str]) -> None:
        """Set up, with the common form.

        Args:
            host: The server.
            model: The model asked.
            typed: Names of the parameters that the user gave, which are never left out for them.
        """
        self._host = host
        self._model = model
        self._typed = typed
        self._refused: set[str] = set()
        self._refused_now: set[str] = set()
        self._to_keep: dict[str, bool] = {}
        self.is_loaded = False
        """True once `load` has read what was learnt before."""

    def load(self, store: SqlStore) -> None:
        """Read what was learnt in earlier runs."""
        self.is_loaded = True
        for name in (*_IN_PLACE, *_FORM_MARKS):
            if store.valid_from(self._place(name)):
                self._refused.add(name)

    def keep(self, store: SqlStore) -> None:
        """Keep what was learnt in this run, once the server has answered the other form."""
        to_keep = self._to_keep
        self._to_keep = {}
        for name, is_refused in to_keep.items():
            since = 0.0
            if is_refused:
                since = time.time()
            store.set_valid_from(self._place(name), since)

    @property
    def is_unkept(self) -> bool:
        """True where something was learnt in this run that `keep` has not kept."""
        return bool(self._to_keep)

    def sent(self, sampling: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that go out for those of the common form."""
        parameters: dict[str, Any] = {}
        for name, value in without_removed(sampling).items():
            if self._is_schema(name, value):
                if self.schema_form is not None:
                    parameters[name] = structured.in_form(value, self.schema_form)
                continue
            sent_name = name
            if name in self._refused and self._has_other_form(name, value):
                sent_name = _IN_PLACE[name]
            if sent_name is not None:
                parameters[sent_name] = value
        return parameters

    @property
    def schema_form(self) -> str | None:
        """The form in which the server takes a schema. None for none."""
        for form, mark in zip(structured.FORMS, _FORM_MARKS, strict=True):
            if mark not in self._refused:
                return form
        return None

    def _is_schema(self, name: str, value: object) -> bool:
        """Return True for a schema of ours, which has several forms."""
        if name != structured.FIELD or name in self._typed:
            return False
        return value != _NEUTRAL[name]

    def instead(self, sampling: Mapping[str, Any]) -> dict[str, str | None]:
        """Return parameter -> the one that goes out in its place. None for nothing."""
        replaced: dict[str, str | None] = {}
        for name, value in without_removed(sampling).items():
            if name in self._refused and self._has_other_form(name, value):
                replaced[name] = _IN_PLACE[name]
        return replaced

    def common_names(self, refused: Collection[str], sampling: Mapping[str, Any]) -> list[str]:
        """Return the parameters of the common form that refused ones were sent for."""
        replaced = self.instead(sampling)
        names: list[str] = []
        for name in sampling:
            if name in refused or replaced.get(name) in refused:
                names.append(name)
        return names

    def learn(self, refused: Iterable[str], sampling: Mapping[str, Any]) -> str | None:
        """Take the other form of a parameter that the server refuses.

        Args:
            refused: The parameters that its error names.
            sampling: The parameters of the request, in the common form.

        Returns:
            One line on what goes out from now on. None where there is no other form.
        """
        sent = self.sent(sampling)
        for name in sorted(refused):
            if name not in sent:
                continue
            if self._is_schema(name, sampling.get(name)):
                return self._learn_form()
            other_name = _IN_PLACE[name]
            if other_name in self._refused_now:
                continue
            if not self._has_other_form(name, sent[name]):
                continue
            self._refused_now.add(name)
            self._note_refusal(name, sampling)
            if other_name is None:
                return f"takes no {name}, so none is sent"
            return f"takes no {name}, so {other_name} is sent instead"
        return None

    def _learn_form(self) -> str:
        """Take the next form of a schema, and return a line on it."""
        refused_form = self.schema_form
        place = f"{structured.FIELD} {refused_form}"
        self._refused.add(place)
        self._to_keep[place] = True
        if self.schema_form is None:
            return f"takes no {refused_form}, so no schema is sent"
        return f"takes no {refused_form}, so {self.schema_form} is sent instead"

    def _note_refusal(self, name: str, sampling: Mapping[str, Any]) -> None:
        """Put down that a name which was sent is refused."""
        common_name = _IN_PLACE[name]
        if name not in sampling and common_name in self._refused:
            # The server has changed: it takes the common form now.
            self._refused.discard(common_name)
            self._to_keep[common_name] = False
            return
        self._refused.add(name)
        self._to_keep[name] = True

    def _has_other_form(self, name: str, value: object) -> bool:
        """Return True where a parameter may be sent otherwise, or left out."""
        if _IN_PLACE[name] is not None:
            return True
        return name not in self._typed and value == _NEUTRAL[name]

    def _place(self, name: str) -> str:
        """Return the place of a mark in the store (see `SqlStore.valid_from`)."""
        parts = ["refused parameter", self._host, self._model, name]
        return json.dumps(parts)
