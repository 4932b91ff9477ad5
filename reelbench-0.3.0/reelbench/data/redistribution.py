"""The rule by which a benchmark's data may be passed on.

Cards, rows, samples, pages and results datasets all follow it.
"""

from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini

UNLICENSED = frozenset({"", "other", "unknown"})
"""Licences that say nothing."""


def why_withheld(
    spec: BenchmarkSpec, split: str | None = None, *, private: bool = False
) -> str | None:
    """Say in a sentence why rows may not be passed on. None where they may.

    The same holds for samples that repeat rows.

    Args:
        spec: The benchmark.
        split: The rows' split. Mini data are ours. None asks for all splits: they are withheld
            where each of them is.
        private: The rows go to a place that the user's own people alone can read.
    """
    if split is not None and is_mini(split):
        return None
    if not spec.open_data:
        return f"{spec.title}'s data is under an agreement that forbids passing it on."
    splits = list(spec.splits.values())
    if split in spec.splits:
        splits = [spec.splits[split]]
    if splits and all(declared.answers_kept for declared in splits):
        of_split = f" of {split}" if split else ""
        return f"{spec.title}'s answers{of_split} are hidden (hidden_answers)."
    if private or spec.license not in UNLICENSED:
        return None
    if not spec.license:
        return f"{spec.title} states no licence, so nothing says that its data may be passed on."
    return (
        f"{spec.title} declares the licence {spec.license!r}, which doesn't say that its data may "
        "be passed on."
    )
