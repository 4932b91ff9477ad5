"""What of a benchmark may be passed on: one rule for cards, rows, samples, pages and results datasets."""

from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini

UNLICENSED = frozenset({"", "other", "unknown"})  # licences that say nothing


def why_withheld(
    spec: BenchmarkSpec, split: str | None = None, *, private: bool = False
) -> str | None:
    """Why rows, or samples that repeat them, may not be passed on, as a sentence; None where they may.

    Mini data (by their `split`) is ours; what is `private` goes to a place that the user's own
    people alone can read. Without `split`: whether those of any split may be.
    """
    if split is not None and is_mini(split):
        return None
    if not spec.open_data:
        return f"{spec.title}'s data is under an agreement that forbids passing it on."
    splits = [spec.splits[split]] if split in spec.splits else spec.splits.values()
    if splits and all(one.answers_kept for one in splits):
        return (
            f"{spec.title}'s answers{f' of {split}' if split else ''} are hidden (hidden_answers)."
        )
    if private or spec.license not in UNLICENSED:
        return None
    if not spec.license:
        return f"{spec.title} states no licence, so nothing says that its data may be passed on."
    return f"{spec.title} declares the licence {spec.license!r}, which doesn't say that its data may be passed on."
