"""What people say of a model, and whether it can be so of this run."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from reelbench.base.base_record import first_wrong_field
from reelbench.base.credentials import refuse_in_words
from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.base.values import is_array
from reelbench.base.yaml_text import read_mapping
from reelbench.registry.records import PEOPLE_ADAPTER, About, ModelRecord, SettingsRecord
from reelbench.registry.sampling import FrameSampling

_COUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT]?)", re.IGNORECASE)
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_SHORT_COMMIT = 7
_OPEN = ("unknown", "native")  # frames that a run leaves to the model, or says nothing of


def read(path: Path) -> About:
    """Read `model.yaml`; InputError names the line or the field that is wrong."""
    return parse(read_mapping(read_text(path), str(path), what="the file about a model"), str(path))


def parse(values: Mapping[str, Any], where: str) -> About:
    """Return a model's facts, from values as people write them (`7B`, one name for a list); InputError by `where`."""
    try:
        fields = {
            name: _as_recorded(name, value) for name, value in values.items() if value is not None
        }
        about = About.model_validate(fields)
    except ValidationError as error:
        first, why = error.errors()[0], first_wrong_field(error)
        if first["type"] == "extra_forbidden":
            why = f"{first['loc'][-1]}: is not known; there are {', '.join(About.model_fields)}"
        raise InputError(f"{where}: {why}") from None
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    for line in _wrong_links(about):
        raise InputError(f"{where}: {line}")
    for text in map(str, fields.values()):
        refuse_in_words(where, text)
    return about


def problems(
    about: About, benchmark: str, model: ModelRecord, settings: SettingsRecord
) -> Iterator[str]:
    """Yield the statements that can't hold of a run, a line each."""
    if about.revision and model.revision:
        short, long = sorted((about.revision, model.revision), key=len)
        if short != long and (len(short) < _SHORT_COMMIT or not long.startswith(short)):
            yield f"about.revision is {about.revision!r}, the run was of {model.revision!r}"
    if about.frames and settings.frames.removesuffix(",times=text") not in (*_OPEN, about.frames):
        yield f"about.frames is {about.frames!r}, the run showed {settings.frames!r}"
    people = model.adapter == PEOPLE_ADAPTER
    if about.setting and people != (about.setting == "human") and (people or model.adapter):
        yield f"about.setting is {about.setting!r}, the answers are {'people’s' if people else f'of {model.adapter}'}"
    yield from (f"about.{line}" for line in _wrong_links(about))
    if about.setting == "zero-shot" and benchmark in {
        name.lower() for name in about.trained_on or ()
    }:
        yield f"about.setting is 'zero-shot', about.trained_on has {benchmark}"


def applied(
    about: About | None, benchmark: str, model: ModelRecord, settings: SettingsRecord
) -> tuple[ModelRecord, SettingsRecord]:
    """Return the records with what is said as well; it fills in what they lack; InputError where it contradicts."""
    if about is None:
        return model, settings
    if model.about is not None:
        about = merge(about, model.about)
    for line in problems(about, benchmark, model, settings):
        raise InputError(f"{line}; leave it out, or say what is so")
    frames = about.frames if about.frames and settings.frames == "unknown" else settings.frames
    return (
        model.model_copy(update={"about": about, "revision": model.revision or about.revision}),
        settings.model_copy(update={"frames": frames}),
    )


def merge(about: About, before: About) -> About:
    """Return the facts, and those of `before` where they say nothing."""
    return before.model_copy(update={name: said for name, said in about if said is not None})


def _wrong_links(about: About) -> Iterator[str]:
    for url in (about.links or {}).values():
        if not re.fullmatch(r"https?://\S+", url):
            yield f"links: {url!r:.80} is not an address that begins with https://"


def check_frames(about: About | None, frames: str) -> None:
    """Hold what is said of the frames to those that are asked for; InputError before anything is run."""
    applied(about, "", ModelRecord(id=""), SettingsRecord(frames=str(FrameSampling.parse(frames))))


def _as_recorded(name: str, given: Any) -> Any:  # noqa: ANN401 - the record's own check comes after
    """Return a field's value as the record has it, from what people write."""
    match name:
        case "parameters":
            number = _COUNT.fullmatch(str(given).strip())
            value = math.inf if number is None else float(number[1]) * _FACTORS[number[2].lower()]
            if math.isinf(value):
                raise InputError(
                    f"parameters: {given!r} is not a number like 7B, 500M or 7000000000"
                )
            return float(round(value))
        case "released" if isinstance(given, int | date):
            return str(given)
        case "trained_on" if isinstance(given, str):
            return [given]
        case "links" if isinstance(given, str) or is_array(given):
            urls = [given] if isinstance(given, str) else given
            return {
                re.sub(r"^https?://(www\.)?", "", str(url)).partition("/")[0]: url for url in urls
            }
        case "frames":
            return str(FrameSampling.parse(str(given)))
        case _:
            return given
