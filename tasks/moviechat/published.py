"""Numbers that others published on MovieChat-1k's global questions, as MovieCORE's Table 5 sets them beside its own."""

from typing import Literal

from reelbench.registry.spec import PublishedResult

_ROWS: tuple[tuple[Literal["zero-shot", "fine-tuned"], float], ...] = (("zero-shot", 78.6), ("fine-tuned", 84.9))


def converted(percent: float) -> float:
    """Return a percentage of right answers on the scale of 0 to 5, as MovieCORE's Table 5 converts it (§6.2)."""
    return percent * 5 / 100


PUBLISHED: tuple[PublishedResult, ...] = tuple(
    PublishedResult(
        model="HERMES (7B)",
        split="test",
        setting=setting,
        metrics={"accuracy": converted(percent)},
        cite="MovieCORE (arXiv 2508.19026), Table 5",
        url="https://arxiv.org/abs/2508.19026",
        judge="GPT-3.5",
        prompts="HERMES' own",
        subset="converted in Table 5",
        open_weights=True,
        note=f"{percent} % by a yes-or-no judge (GPT-3.5), converted to the scale of 0 to 5: another judge and another "
        "scale than MovieCORE's, so the two columns of that table don't compare.",
    )
    for setting, percent in _ROWS
)
