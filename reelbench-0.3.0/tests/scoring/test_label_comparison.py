"""Two agents label by label: rates, differences and Holm's adjustment by hand."""

import pytest

from reelbench.base.errors import InputError
from reelbench.registry.records import Sample
from reelbench.scoring.comparison import compare_labels
from reelbench.tasks.dramaqa_cogme import SPEC


def sample(number, correct, target, thinking="Recall"):
    return Sample(
        id=f"q{number}",
        video=f"v{number}",
        prediction="A",
        target={"answer": "A"},
        state="scored",
        scores={"correct": float(correct)},
        facets={"target": target, "content": [], "thinking": [thinking]},
    )


def test_rates_and_differences_on_what_both_answered():
    a = [sample(n, n % 2 == 0, ["Character"] if n < 12 else ["Object"]) for n in range(14)]
    b = [sample(n, n % 4 == 0, [], "Recall") for n in range(13)]
    found = {one["label"]: one for one in compare_labels(a, b, SPEC)}
    assert set(found) == {"target.Character", "target.Object", "thinking.Recall"}
    # Of 0 to 11: a has 0, 2, 4, 6, 8, 10; b has 0, 4, 8. Of all thirteen: a 7, b 4.
    character = found["target.Character"]
    assert (
        character["n"],
        character["videos"],
        character["a"],
        character["b"],
        character["difference"],
    ) == (
        12,
        12,
        50,
        25,
        25,
    )
    assert found["thinking.Recall"]["difference"] == pytest.approx(100 * 3 / 13)
    # One question alone: both right, nothing to test.
    assert (found["target.Object"]["difference"], found["target.Object"]["p"]) == (0, None)
    # Holm over the two that were tested: the smaller p doubled, the other at least as large.
    tested = sorted([character, found["thinking.Recall"]], key=lambda one: one["p"])
    assert tested[0]["p_holm"] == pytest.approx(min(1, 2 * tested[0]["p"]))
    assert tested[1]["p_holm"] == pytest.approx(max(tested[1]["p"], tested[0]["p_holm"]))
    assert next(iter(found)) == "target.Character"


def test_results_without_labels_or_in_common_are_refused():
    bare = sample(1, 1, []).model_copy(update={"facets": {}})
    with pytest.raises(InputError, match="no CogME labels"):
        compare_labels([bare], [bare], SPEC)
    with pytest.raises(InputError, match="by both"):
        compare_labels([sample(1, 1, [])], [sample(2, 1, [])], SPEC)
