"""Judges that anybody can serve, pinned: open weights by revision, how they are served, and what each call sends.

They stand beside the official judges for the day when those end. None is validated: no table of how far it agrees with
people or with an official judge ships with it (docs/recipes/open_judge.md is how to make one), and none is a default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reelbench.registry.errors import InputError


@dataclass(frozen=True, slots=True)
class JudgePreset:
    """A judge and how it is asked.

    Attributes:
        name: What it is called here.
        repository: Its weights on the Hub.
        revision: The commit of these.
        licence: Of the weights.
        flags: What `vllm serve` is told beside repository and revision.
        temperature: Sent with each call.
        extra: Likewise.
        sources: What is stated -> the address that it was read from.
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
        """The name that it is served under, so that a reply's model id says which weights answered."""
        return f"{self.repository}@{self.revision[:12]}"

    @property
    def serve(self) -> list[str]:
        """The words of the command that serves it."""
        pinned = ["--revision", self.revision, "--tokenizer-revision", self.revision]
        return ["vllm", "serve", self.repository, *pinned, "--served-model-name", self.model, *self.flags]


_QWEN3 = "https://huggingface.co/Qwen/Qwen3-32B/blob/9216db5781bf21249d130ec9da846c4624c16137/README.md"
_QWEN_DOCS = "https://qwen.readthedocs.io/en/latest/deployment/vllm.html"
_VLLM = "https://docs.vllm.ai/en/v0.8.5/serving/engine_args.html"

PRESETS = {
    preset.name: preset
    for preset in (
        JudgePreset(
            name="qwen3-32b",
            repository="Qwen/Qwen3-32B",
            revision="9216db5781bf21249d130ec9da846c4624c16137",
            licence="Apache-2.0",
            # The repository's own sampling defaults are left out: what is sent is all that there is.
            flags=("--dtype", "bfloat16", "--max-model-len", "32768", "--generation-config", "vllm", "--seed", "0"),
            temperature=0.0,
            extra={"chat_template_kwargs": {"enable_thinking": False}, "max_tokens": 512, "seed": 0},
            sources={
                "licence, languages (100 and more), context of 32,768 tokens": _QWEN3,
                "chat_template_kwargs": _QWEN_DOCS,
                "flags": _VLLM,
                "temperature, max_tokens, seed": "ours, as of every prompt set of ours: one short verdict, greedily",
            },
        ),
    )
}


def judge_preset(name: str) -> JudgePreset:
    """Return a preset; InputError where there is none of that name."""
    if name not in PRESETS:
        raise InputError(f"--judge-preset: {name!r} is not one of {', '.join(PRESETS)}")
    return PRESETS[name]
