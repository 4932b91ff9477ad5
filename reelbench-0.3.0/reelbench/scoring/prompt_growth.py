"""Whether a prompt grew with its frames, by the tokens that a server counted in two runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from reelbench.registry.records import Result, Sample


@dataclass(frozen=True, slots=True)
class _Prompts:
    """The frames and the prompt tokens of a run's common items."""

    frames: int
    tokens: int
    items: int


def no_growth_line(
    result_a: Result,
    samples_a: Sequence[Sample],
    result_b: Result,
    samples_b: Sequence[Sample],
) -> str | None:
    """Return a line where more frames had no more tokens. None where they had.

    It accuses nobody: an honest server may have a budget of pixels for all pictures of a prompt.
    None too where the two are of different models, or tokens or frames are unknown.
    """
    if result_a.model.id != result_b.model.id:
        return None
    by_id = {sample.id: sample for sample in samples_b if _tells(sample)}
    common_a = [sample for sample in samples_a if _tells(sample) and sample.id in by_id]
    if not common_a:
        return None
    prompts = [_prompts(common_a), _prompts([by_id[sample.id] for sample in common_a])]
    fewer, more = sorted(prompts, key=lambda run: run.frames)
    if more.frames < 2 * fewer.frames or more.tokens > fewer.tokens:
        return None
    frames_fewer = fewer.frames / fewer.items
    frames_more = more.frames / more.items
    return (
        f"{frames_more:g} frames a question have no more tokens than {frames_fewer:g}, by the "
        f"server's count ({more.tokens / more.items:,.0f} and {fewer.tokens / fewer.items:,.0f}): "
        "it may have cut the prompt, dropped pictures, or made them smaller"
    )


def _tells(sample: Sample) -> bool:
    """Return True where a sample's frames and prompt tokens are known."""
    return bool(sample.frame_timestamps) and bool((sample.tokens or {}).get("prompt"))


def _prompts(samples: Sequence[Sample]) -> _Prompts:
    """Return the frames and tokens of samples, all together."""
    frames = 0
    tokens = 0
    for sample in samples:
        answers = len(sample.candidates or [sample.prediction])
        frames += len(sample.frame_timestamps or ())
        tokens += (sample.tokens or {}).get("prompt", 0) // answers
    return _Prompts(frames, tokens, len(samples))
