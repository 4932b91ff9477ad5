"""Multiple choice: an answer is right when it equals the correct option's letter, case and all.

That is the rule of ReXTime's evaluator (`c` is not `C`) and of DramaQA's. Reading a letter from a
model's text is the task's work, not the scorer's.
"""

from collections.abc import Mapping
from typing import Any

from reelbench.base.errors import InputError
from reelbench.registry.records import Item


def score_item(parsed: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, float]:
    """Return `{"correct": 0.0 or 1.0}`.

    Args:
        parsed: `{"answer": "B" or None}`.
        target: `{"answer": "B"}`.

    Raises:
        InputError: The target has no answer, as in a split whose answers are hidden.
    """
    if target.get("answer") is None:
        raise InputError(
            "choice: the item has no correct answer to compare with; its split can't be scored here"
        )
    return {"correct": float(parsed.get("answer") == target["answer"])}


def columns(item: Item, *, any_of: bool = False) -> dict[str, float]:
    """Return the item's columns. None where the answers have no letters (no key `answer`).

    Args:
        item: The item.
        any_of: True where any of several right options counts: the target's letters stand together
            (`AC`).
    """
    if item.parsed is None or "answer" not in item.parsed:
        return {}
    scores = score_item(item.parsed, item.target)
    if any_of:
        answer = item.parsed["answer"]
        is_right = answer is not None and answer in item.target["answer"]
        return {"correct": float(is_right)}
    return scores
