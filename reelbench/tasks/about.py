"""Facts that people state of a model, and checks that they can hold of a run."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import ValidationError

from reelbench.base.base_record import first_wrong_field
from reelbench.base.credentials import refuse_in_words
from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.base.values import is_array
from reelbench.base.yaml_text import read_mapping
from reelbench.registry.records import PEOPLE_ADAPTER, About, ModelRecord, Result, SettingsRecord
from reelbench.registry.sampling import FrameSampling

if TYPE_CHECKING:
    from reelbench.tasks.hidden_submission import Submission

RunT = TypeVar("RunT", Result, "Submission")

_COUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT]?)", re.IGNORECASE)
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_SHORT_COMMIT = 7
_OPEN = ("unknown", "native")  # frames that a run leaves to the model, or says nothing of


class RunRecords(NamedTuple):
    """The records of a run's model and of its settings."""

    model: ModelRecord
    settings: SettingsRecord


def read(path: Path) -> About:
    """Read `model.yaml`. InputError names the line or the field that is wrong."""
    values = read_mapping(read_text(path), str(path), what="the file about a model")
    return parse(values, str(path))


def parse(values: Mapping[str, Any], where: str) -> About:
    """Return a model's facts from values as people write them.

    So parameters may be `7B`, and one name may stand for a list.

    Raises:
        InputError: A value is wrong. The message begins with `where`.
    """
    fields: dict[str, Any] = {}
    try:
        for name, value in values.items():
            if value is not None:
                fields[name] = _as_recorded(name, value)
        about = About.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        why = first_wrong_field(error)
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
    """Yield a line for each statement that can't hold of a run."""
    if about.revision and model.revision and not _same_commit(about.revision, model.revision):
        yield f"about.revision is {about.revision!r}, the run was of {model.revision!r}"
    run_frames = settings.frames.removesuffix(",times=text")
    if about.frames and run_frames not in (*_OPEN, about.frames):
        yield f"about.frames is {about.frames!r}, the run showed {settings.frames!r}"
    if about.setting:
        by_people = model.adapter == PEOPLE_ADAPTER
        if by_people and about.setting != "human":
            yield f"about.setting is {about.setting!r}, the answers are people’s"
        if model.adapter and not by_people and about.setting == "human":
            yield f"about.setting is {about.setting!r}, the answers are of {model.adapter}"
    for line in _wrong_links(about):
        yield f"about.{line}"
    trained_on = [name.lower() for name in about.trained_on or ()]
    if about.setting == "zero-shot" and benchmark in trained_on:
        yield f"about.setting is 'zero-shot', about.trained_on has {benchmark}"


def _same_commit(first: str, second: str) -> bool:
    """Return True where one revision is the other, or an abbreviation of it."""
    short, long = sorted((first, second), key=len)
    return short == long or (len(short) >= _SHORT_COMMIT and long.startswith(short))


def applied(
    about: About | None, benchmark: str, model: ModelRecord, settings: SettingsRecord
) -> RunRecords:
    """Return a run's records with the facts. They fill in what the records lack.

    Raises:
        InputError: A fact contradicts the records.
    """
    if about is None:
        return RunRecords(model, settings)
    if model.about is not None:
        about = merge(about, model.about)
    for line in problems(about, benchmark, model, settings):
        raise InputError(f"{line}; leave it out, or say what is so")
    revision = model.revision or about.revision
    frames = settings.frames
    if about.frames and frames == "unknown":
        frames = about.frames
    return RunRecords(
        model.model_copy(update={"about": about, "revision": revision}),
        settings.model_copy(update={"frames": frames}),
    )


def with_about(run: RunT, about: About) -> RunT:
    """Return a run with the facts on its model. InputError where one contradicts it."""
    model, settings = applied(about, run.benchmark.id, run.model, run.settings)
    return run.model_copy(update={"model": model, "settings": settings})


def merge(about: About, before: About) -> About:
    """Return the facts, and those of `before` where they say nothing."""
    updates = {name: value for name, value in about if value is not None}
    return before.model_copy(update=updates)


def _wrong_links(about: About) -> Iterator[str]:
    for url in (about.links or {}).values():
        if not re.fullmatch(r"https?://\S+", url):
            yield f"links: {url!r:.80} is not an address that begins with https://"


def check_frames(about: About | None, frames: str) -> None:
    """Raise InputError, before a run, where its frames are not those of the facts."""
    settings = SettingsRecord(frames=str(FrameSampling.parse(frames)))
    applied(about, "", ModelRecord(id=""), settings)


def _as_recorded(name: str, value: Any) -> Any:  # noqa: ANN401 - the record's own check comes after
    """Return a field's value as the record has it, from what people write."""
    match name:
        case "parameters":
            return _parse_parameters(value)
        case "released" if isinstance(value, int | date):
            return str(value)
        case "trained_on" if isinstance(value, str):
            return [value]
        case "links" if isinstance(value, str) or is_array(value):
            urls = [value] if isinstance(value, str) else value
            return {_host_of_url(str(url)): url for url in urls}
        case "frames":
            return str(FrameSampling.parse(str(value)))
        case _:
            return value


def _parse_parameters(value: object) -> float:
    match = _COUNT.fullmatch(str(value).strip())
    number = math.inf
    if match:
        digits, unit = match.groups()
        number = float(digits) * _FACTORS[unit.lower()]
    if math.isinf(number):
        raise InputError(f"parameters: {value!r} is not a number like 7B, 500M or 7000000000")
    return float(round(number))


def _host_of_url(url: str) -> str:
    return re.sub(r"^https?://(www\.)?", "", url).partition("/")[0]
