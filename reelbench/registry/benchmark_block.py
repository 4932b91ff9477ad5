"""A `benchmark.yaml` as nested blocks of text, each key with its line, checked against `KEYS`.

All values are the text that stands there (`7`, `no` and `1e3` too), so that no id, language or
revision changes on the way.
"""

# PyYAML's own types are partial.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.base.values import is_array
from reelbench.registry.benchmark_keys import FORMS, KEYS, REQUIRED, Key


@dataclass(frozen=True, slots=True)
class Block:
    """A mapping of the file.

    Attributes:
        path: The file.
        name: The mapping's path of keys in the file, such as `splits.test`.
        values: Key -> its text, list of texts, block, or None.
        lines: Key -> its line.
        line: Line of the mapping itself.
    """

    path: Path
    name: str
    values: dict[str, Any]
    lines: dict[str, int]
    line: int

    def error(self, what: str, key: str = "") -> InputError:
        """Return the error for a key, or for the whole mapping."""
        line = self.lines.get(key, self.line)
        return InputError(f"{self.path}, line {line}: {what}")

    def only(self, keys: Sequence[str]) -> None:
        """Raise InputError for a key that is not one of `keys`."""
        for key in self.values:
            if key in keys:
                continue
            close = get_close_matches(key, keys, n=1)
            names = ", ".join(keys)
            advice = f"there are {names}"
            if close:
                advice = f"did you mean {close[0]!r}?"
            raise self.error(f"unknown key {self.full(key)!r}; {advice}", key)

    def full(self, key: str) -> str:
        """Return a key's path in the file."""
        if not self.name:
            return key
        return f"{self.name}.{key}"

    def key_path(self, key: str) -> str:
        """Return a key's path in `KEYS`, where each split is called `*`."""
        return re.sub(r"^splits\.[^.]+", "splits.*", self.full(key))

    def text(self, key: str) -> str | None:
        """Return a key's text, in the form that `KEYS` declares. None where it has none."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            kind = "list"
            if isinstance(value, Block):
                kind = "mapping"
            raise self.error(f"{self.full(key)} is a {kind}, expected text", key)
        declared = KEYS.get(self.key_path(key))
        if value and declared is not None:
            self._check_text(key, value, declared)
        return value or None

    def _check_text(self, key: str, value: str, declared: Key) -> None:
        if declared.words and value not in declared.words:
            raise self._unexpected(key, value, ", ".join(declared.words))
        form = FORMS.get(declared.form)
        if form is None:
            return
        has_form = re.fullmatch(form.pattern, value, re.DOTALL)
        if not has_form:
            raise self._unexpected(key, value, form.words)

    def _unexpected(self, key: str, value: str, expected: str) -> InputError:
        return self.error(f"{self.full(key)} is {value!r}, expected {expected}", key)

    def required_text(self, key: str) -> str:
        """Return a key's text. InputError where it has none."""
        text = self.text(key)
        if text is None:
            raise self.error(f"{self.full(key)} is missing", key)
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a key's list of texts. A text by itself is a list of one."""
        value = self.values.get(key)
        if value is None:
            return ()
        values: Sequence[Any] = [value]
        if is_array(value):
            values = value
        for part in values:
            if not isinstance(part, str):
                raise self.error(f"{self.full(key)} is not a list of texts", key)
        return tuple(values)

    def block(self, key: str) -> "Block":
        """Return the mapping under a key. An empty one where there is none."""
        value = self.values.get(key)
        if isinstance(value, Block):
            return value
        name = self.full(key)
        if value is not None:
            raise self.error(f"{name} is not a mapping; expected `{key}: {{…: …}}`", key)
        line = self.lines.get(key, self.line)
        return Block(self.path, name, {}, {}, line)


def parse(path: Path) -> Block:
    """Read a file's YAML as a block. InputError names the line of an error."""
    text = read_text(path, most=bounds.SETTINGS_BYTES)
    return parse_text(text, path)


def parse_text(text: str, path: Path) -> Block:
    """Parse a file's text as a block. InputError names its line."""
    import yaml  # here: 20 ms that only who has such files pays

    from reelbench.base.yaml_text import LOADER, check

    try:
        check(text, str(path), "the file", 1)
        root: Any = yaml.compose(text, Loader=LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(
            f"{path}, line {line}: not valid YAML ({error.problem or error.context})"
        ) from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML ({str(error).splitlines()[0]})") from None
    if not isinstance(root, yaml.MappingNode):
        raise InputError(
            f"{path}: expected `key: value` lines; there must be {', '.join(REQUIRED)}"
        )
    return _value_of(root, "", path)


def _value_of(node: Any, name: str, path: Path) -> Any:  # noqa: ANN401 - PyYAML has no types
    """Return the text, list, block or None of a YAML node."""
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return None if node.tag == "tag:yaml.org,2002:null" else node.value
    what = f"{path}, line {_line_of(node)}: entries of {name or 'the file'}"
    bounds.hold(what, len(node.value), bounds.ENTRIES)
    if isinstance(node, yaml.SequenceNode):
        return [_value_of(part, name, path) for part in node.value]
    block = Block(path, name, {}, {}, _line_of(node))
    for key_node, value_node in node.value:
        line = _line_of(key_node)
        if not isinstance(key_node, yaml.ScalarNode):
            raise InputError(
                f"{path}, line {line}: a key is a list or a mapping; expected `key: value`"
            )
        key = key_node.value
        if key in block.values:
            raise InputError(f"{path}, line {line}: the key {key!r} occurs twice")
        block.lines[key] = line
        block.values[key] = _value_of(value_node, block.full(key), path)
    declared_keys = _declared_keys(block)
    if declared_keys:  # of another block the keys are the file's own names
        block.only(declared_keys)
    return block


def _line_of(node: Any) -> int:  # noqa: ANN401 - as above
    return node.start_mark.line + 1


def _declared_keys(block: Block) -> list[str]:
    prefix = block.key_path("")
    paths = [path.removeprefix(prefix) for path in KEYS if path.startswith(prefix)]
    return [path for path in paths if "." not in path]
