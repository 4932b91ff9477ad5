"""Presets: how the owners of a model family say that they ask it, each value with the address where it stands."""

from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.base.values import is_number, is_object, is_whole
from reelbench.registry.records import PresetRecord, PresetValue
from reelbench.registry.sampling import FrameSampling

SAMPLING = ("temperature", "top_p", "top_k", "repetition_penalty", "presence_penalty", "seed")


_ALLOWED: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "frames": ("a frame sampling, as text", lambda value: isinstance(value, str)),
    "pixels": (
        "a whole number from 1 up",
        lambda value: is_whole(value) and 1 <= value <= 10**9,
    ),  # most of a frame
    "temperature": ("a number from 0 to 2", lambda value: is_number(value) and 0 <= value <= 2),  # noqa: PLR2004
    "top_p": ("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1),
    "top_k": ("a whole number from -1 up", lambda value: is_whole(value) and -1 <= value <= 10**6),
    "repetition_penalty": (
        "a number from 0 to 10",
        lambda value: is_number(value) and 0 <= value <= 10,
    ),  # noqa: PLR2004
    "presence_penalty": (
        "a number from -2 to 2",
        lambda value: is_number(value) and abs(value) <= 2,
    ),  # noqa: PLR2004
    "seed": ("a whole number from 0 up", lambda value: is_whole(value) and 0 <= value <= 2**63),
    # Of an answer with its reasoning; whether it reasons first (`enable_thinking`); the question's
    # place by the frames.
    "max_tokens": (
        "a whole number from 1 up",
        lambda value: is_whole(value) and 1 <= value <= 10**7,
    ),
    "thinking": ("true or false", lambda value: isinstance(value, bool)),
    "prompt": ("after or before", lambda value: value in ("after", "before")),
}


def shipped() -> dict[str, PresetRecord]:
    """Return the presets that come with Reelbench, by name."""
    from reelbench.base.yaml_text import read_mapping

    text = (
        resources.files("reelbench.registry").joinpath("presets.yaml").read_text(encoding="utf-8")
    )
    return {
        name: _preset(name, entry, "presets.yaml")
        for name, entry in read_mapping(text, "presets.yaml").items()
    }


def preset(named: str) -> PresetRecord:
    """Return a preset of ours, or of a YAML file with `values` (and `about`); InputError where that is wrong."""
    from reelbench.base.yaml_text import read_mapping

    known = shipped()
    if named in known:
        return known[named]
    path = Path(named)
    if not path.is_file():
        raise InputError(
            f"--preset {named!r}: no such file, nor a preset; there are {', '.join(known)}"
        )
    return _preset(path.stem, read_mapping(read_text(path), str(path)), str(path))


def _preset(name: str, entry: Mapping[str, Any], where: str) -> PresetRecord:
    values = entry.get("values")
    if not is_object(values) or not values or entry.keys() - {"about", "values"}:
        raise InputError(
            f"{where}, {name}: expected `about` and `values`, each {{value: …, source: https://…}}"
        )
    read: dict[str, PresetValue] = {}
    for key, given in values.items():
        if key not in _ALLOWED:
            known = ", ".join(_ALLOWED)
            raise InputError(
                f"{where}, {name}: {key!r} is not a value of a preset; there are {known}"
            )
        stated: Any = given.get("value") if is_object(given) else given
        source = given.get("source") if is_object(given) else None
        if not isinstance(source, str) or not source.startswith(("https://", "http://")):
            raise InputError(
                f"{where}, {name}, {key}: names no source; give {{value: …, source: https://…}}"
            )
        expected, allowed = _ALLOWED[key]
        if not allowed(stated):
            raise InputError(f"{where}, {name}, {key}: {stated!r} is not {expected}")
        read[key] = PresetValue(
            value=str(FrameSampling.parse(stated)) if key == "frames" else stated, source=source
        )
    return PresetRecord(
        name=name, about=str(entry["about"]) if "about" in entry else None, values=read
    )
