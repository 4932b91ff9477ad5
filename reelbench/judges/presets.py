"""Judges that anybody can serve, pinned: open weights by revision, how they are served, and what each call sends.

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
    """A judge and how it is asked."""

    name: str
    repository: str  # of its weights on the Hub
    revision: str
    licence: str  # of the weights
    flags: tuple[str, ...]  # what `vllm serve` is told beside repository and revision
    temperature: float  # sent with each call
    extra: Mapping[str, Any]  # likewise
    sources: Mapping[str, str]  # what is stated -> the address that it was read from

    @property
    def model(self) -> str:
        """The name that it is served under, so that a reply's model id says which weights answered."""
        return f"{self.repository}@{self.revision[:12]}"

    @property
    def serve(self) -> list[str]:
        """The words of the command that serves it."""
        pinned = ["--revision", self.revision, "--tokenizer-revision", self.revision]
        return [
            "vllm",
            "serve",
            self.repository,
            *pinned,
            "--served-model-name",
            self.model,
            *self.flags,
        ]


PRESETS = {
    name: JudgePreset(name, **{**entry, "flags": tuple(entry["flags"])})
    for name, entry in read_mapping(
        resources.files("reelbench.judges").joinpath("presets.yaml").read_text(encoding="utf-8"),
        "presets.yaml",
    ).items()
}


def judge_preset(name: str) -> JudgePreset:
    """Return a preset; InputError where there is none of that name."""
    if name not in PRESETS:
        raise InputError(f"--judge-preset: {name!r} is not one of {', '.join(PRESETS)}")
    return PRESETS[name]
