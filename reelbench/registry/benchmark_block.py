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
        return InputError(f"{self.path}, line {self.lines.get(key, self.line)}: {what}")

    def only(self, keys: Sequence[str]) -> None:
        """Raise InputError for a key that is not one of `keys`."""
        for key in self.values:
            if key in keys:
                continue
            close = get_close_matches(key, keys, n=1)
            advice = f"there are {', '.join(keys)}"
            if close:
                advice = f"did you mean {close[0]!r}?"
            raise self.error(f"unknown key {self.full(key)!r}; {advice}", key)

    def full(self, key: str) -> str:
        """Return a key's path in the file."""
        return f"{self.name}.{key}" if self.name else key

    def key_path(self, key: str) -> str:
        """Return a key's path in `KEYS`, where each split is called `*`."""
        return re.sub(r"^splits\.[^.]+", "splits.*", self.full(key))

    def text(self, key: str) -> str | None:
        """Return a key's text, in the form that `KEYS` declares; None where it has none."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            kind = "mapping" if isinstance(value, Block) else "list"
            raise self.error(f"{self.full(key)} is a {kind}, expected text", key)
        declared = KEYS.get(self.key_path(key))
        if value and declared is not None:
            self._check_text(key, value, declared)
        return value or None

    def _check_text(self, key: str, value: str, declared: Key) -> None:
        if declared.words and value not in declared.words:
            expected = ", ".join(declared.words)
            raise self.error(f"{self.full(key)} is {value!r}, expected {expected}", key)
        form = FORMS.get(declared.form)
        if form is not None and not re.fullmatch(form.pattern, value, re.DOTALL):
            raise self.error(f"{self.full(key)} is {value!r}, expected {form.words}", key)

    def required_text(self, key: str) -> str:
        """Return a key's text; InputError where it has none."""
        text = self.text(key)
        if text is None:
            raise self.error(f"{self.full(key)} is missing", key)
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a key's list of texts; a text by itself is a list of one."""
        value = self.values.get(key)
        if value is None:
            return ()
        values: list[Any] = list(value) if is_array(value) else [value]
        if not all(isinstance(part, str) for part in values):
            raise self.error(f"{self.full(key)} is no list of texts", key)
        return tuple(values)

    def block(self, key: str) -> "Block":
        """Return the mapping under a key; an empty one where there is none."""
        value = self.values.get(key)
        if value is None:
            return Block(self.path, self.full(key), {}, {}, self.lines.get(key, self.line))
        if not isinstance(value, Block):
            raise self.error(f"{self.full(key)} is no mapping; expected `{key}: {{…: …}}`", key)
        return value


def parse(path: Path) -> Block:
    """Read a file's YAML as a block; InputError names the line of an error."""
    import yaml  # here: 20 ms that only who has such files pays

    from reelbench.base.yaml_text import LOADER, check

    size = path.stat().st_size if path.is_file() else 0
    bounds.hold(f"{path}: bytes", size, bounds.SETTINGS_BYTES)
    text = read_text(path)
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
    what = f"{path}, line {node.start_mark.line + 1}: entries of {name or 'the file'}"
    bounds.hold(what, len(node.value), bounds.ENTRIES)
    if isinstance(node, yaml.SequenceNode):
        return [_value_of(part, name, path) for part in node.value]
    block = Block(path, name, {}, {}, node.start_mark.line + 1)
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise InputError(
                f"{path}, line {line}: a key is a list or a mapping; expected `key: value`"
            )
        if key.value in block.values:
            raise InputError(f"{path}, line {line}: the key {key.value!r} occurs twice")
        block.lines[key.value] = line
        block.values[key.value] = _value_of(value, block.full(key.value), path)
    declared_keys = _declared_keys(block)
    if declared_keys:  # of another block the keys are the file's own names
        block.only(declared_keys)
    return block


def _declared_keys(block: Block) -> list[str]:
    prefix = block.key_path("")
    paths = [path.removeprefix(prefix) for path in KEYS if path.startswith(prefix)]
    return [path for path in paths if "." not in path]
