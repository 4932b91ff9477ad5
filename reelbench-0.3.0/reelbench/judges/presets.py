"""Judges that anybody can serve: pinned open weights, the server's flags, and each call's fields.

They stand beside the official judges for the day when those end. None is validated: no table of how
far it agrees with people or with an official judge ships with it (docs/recipes/open_judge.md is how
to make one), and none is a default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.yaml_text import read_mapping


@dataclass(frozen=True, slots=True)
class JudgePreset:
    """A judge and the way to ask it.

    Attributes:
        name: The preset's name.
        repository: Repository of its weights on the Hub.
        revision: Its commit.
        licence: Licence of the weights.
        flags: Options of `vllm serve` beside repository and revision.
        temperature: Sent with each call.
        extra: Further fields of each call.
        sources: Fact -> the address that it was read from.
    """

    name: str
    repository: str
    revision: str
    licence: str
    flags: tuple[str, ...]
    temperature: float
    extra: Mapping[str, Any]
    sources: Mapping[str, str]

    @property
    def model(self) -> str:
        """The name that it is served under, which names the weights in every reply."""
        return f"{self.repository}@{self.revision[:12]}"

    @property
    def serve(self) -> list[str]:
        """The words of the command that serves it."""
        return [
            "vllm",
            "serve",
            self.repository,
            "--revision",
            self.revision,
            "--tokenizer-revision",
            self.revision,
            "--served-model-name",
            self.model,
            *self.flags,
        ]


def _read_presets() -> dict[str, JudgePreset]:
    file = resources.files("reelbench.judges").joinpath("presets.yaml")
    presets: dict[str, JudgePreset] = {}
    for name, entry in read_mapping(file.read_text(encoding="utf-8"), "presets.yaml").items():
        fields = {**entry, "flags": tuple(entry["flags"])}
        presets[name] = JudgePreset(name, **fields)
    return presets


PRESETS = _read_presets()


def judge_preset(name: str) -> JudgePreset:
    """Return a preset. InputError where there is none of that name."""
    if name not in PRESETS:
        raise InputError(f"--judge-preset: {name!r} is not one of {', '.join(PRESETS)}")
    return PRESETS[name]
