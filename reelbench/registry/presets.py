"""Presets: the settings with which the owners of a model family ask it, each with its source."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.base.values import is_number, is_object, is_whole
from reelbench.registry.records import PresetRecord, PresetValue
from reelbench.registry.sampling import FrameSampling

SAMPLING = ("temperature", "top_p", "top_k", "repetition_penalty", "presence_penalty", "seed")


@dataclass(frozen=True, slots=True)
class _ValueForm:
    """A value of a preset: its description, and a test of it."""

    about: str
    allows: Callable[[Any], bool]


def _text_form() -> _ValueForm:
    return _ValueForm("a frame sampling, as text", lambda value: isinstance(value, str))


def _number_form(low: float, high: float) -> _ValueForm:
    return _ValueForm(
        f"a number from {low} to {high}",
        lambda value: is_number(value) and low <= value <= high,
    )


def _whole_number_form(low: int, high: int) -> _ValueForm:
    return _ValueForm(
        f"a whole number from {low} up", lambda value: is_whole(value) and low <= value <= high
    )


_VALUES: dict[str, _ValueForm] = {
    "frames": _text_form(),
    "pixels": _whole_number_form(1, 10**9),  # most of a frame
    "temperature": _number_form(0, 2),
    "top_p": _number_form(0, 1),
    "top_k": _whole_number_form(-1, 10**6),
    "repetition_penalty": _number_form(0, 10),
    "presence_penalty": _number_form(-2, 2),
    "seed": _whole_number_form(0, 2**63),
    "max_tokens": _whole_number_form(1, 10**7),  # of an answer with its reasoning
    # Whether the model reasons first (`enable_thinking`).
    "thinking": _ValueForm("true or false", lambda value: isinstance(value, bool)),
    # The question's place by the frames.
    "prompt": _ValueForm("after or before", lambda value: value in ("after", "before")),
}


def shipped_presets() -> dict[str, PresetRecord]:
    """Return the presets that come with Reelbench, by name."""
    from reelbench.base.yaml_text import read_mapping

    file = resources.files("reelbench.registry").joinpath("presets.yaml")
    entries = read_mapping(file.read_text(encoding="utf-8"), "presets.yaml")
    return {name: _parse_preset(name, entry, "presets.yaml") for name, entry in entries.items()}


def preset(name: str) -> PresetRecord:
    """Return a preset of ours, or of a YAML file with `values` (and `about`).

    Raises:
        InputError: There is none, or it is wrong.
    """
    from reelbench.base.yaml_text import read_mapping

    our_presets = shipped_presets()
    if name in our_presets:
        return our_presets[name]
    path = Path(name)
    if not path.is_file():
        raise InputError(
            f"--preset {name!r}: neither a file nor a preset; there are {', '.join(our_presets)}"
        )
    return _parse_preset(path.stem, read_mapping(read_text(path), str(path)), str(path))


def _parse_preset(name: str, entry: Mapping[str, Any], where: str) -> PresetRecord:
    values = entry.get("values")
    if not is_object(values) or not values or entry.keys() - {"about", "values"}:
        raise InputError(
            f"{where}, {name}: expected `about` and `values`, each {{value: …, source: https://…}}"
        )
    preset_values: dict[str, PresetValue] = {}
    for key, value in values.items():
        preset_values[key] = _preset_value(key, value, f"{where}, {name}")
    about = str(entry["about"]) if "about" in entry else None
    return PresetRecord(name=name, about=about, values=preset_values)


def _preset_value(key: str, entry: object, where: str) -> PresetValue:
    if key not in _VALUES:
        raise InputError(
            f"{where}: {key!r} is not a value of a preset; there are {', '.join(_VALUES)}"
        )
    value: Any = entry
    source: Any = None
    if is_object(entry):
        value = entry.get("value")
        source = entry.get("source")
    if not isinstance(source, str) or not source.startswith(("https://", "http://")):
        raise InputError(f"{where}, {key}: names no source; give {{value: …, source: https://…}}")
    if not _VALUES[key].allows(value):
        raise InputError(f"{where}, {key}: {value!r} is not {_VALUES[key].about}")
    if key == "frames":
        value = str(FrameSampling.parse(value))
    return PresetValue(value=value, source=source)
