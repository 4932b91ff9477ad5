"""A name that other libraries have is answered with ours, or it is there."""

from typing import Any

import pytest

import reelbench

# As a user's notebook, which no type checker reads.
REELBENCH: Any = reelbench


@pytest.fixture(scope="module")
def scored() -> Any:
    return REELBENCH.score("rextime_mini", [{"id": "mini1", "prediction": "(A)"}])


@pytest.fixture(scope="module")
def comparison(scored: Any) -> Any:
    return REELBENCH.compare(scored, scored)


@pytest.mark.parametrize(
    ("guess", "hint"),
    [
        (lambda scored: scored.metrics["acc"], "no metric 'acc'; there are .*accuracy, "),
        (lambda scored: scored.metrics.acc, "no attribute 'acc'; there are .*accuracy, "),
        (lambda scored: scored.metrics.accuracy, r"a metric is metrics\['accuracy'\]"),
        (lambda _: REELBENCH.tasks(), r"reelbench\.benchmarks\(\) lists all benchmarks"),
        (
            lambda _: REELBENCH.evaluate("rextime_mini", "gpt-6-luna"),
            r"'rextime_mini' is not a function; a served model: reelbench\.ask\('MODEL', 'NAME'",
        ),
    ],
)
def test_a_guess_about_a_result_is_told_the_right_name(guess: Any, hint: str, scored: Any) -> None:
    with pytest.raises((AttributeError, KeyError, TypeError), match=hint):
        guess(scored)


@pytest.mark.parametrize(
    ("guess", "hint"),
    [
        (lambda comparison: comparison.metrics["acc"], "no metric 'acc'; there are .*accuracy, "),
        (lambda comparison: comparison["accuracy"], r"metrics\[NAME\] has"),
        (lambda comparison: comparison.p_value, r"metrics\[NAME\] has .* and p"),
    ],
)
def test_a_guess_about_a_comparison_is_told_the_right_name(
    guess: Any, hint: str, comparison: Any
) -> None:
    with pytest.raises((AttributeError, KeyError, TypeError), match=hint):
        guess(comparison)


def test_the_length_of_a_result_is_its_number_of_items(scored: Any) -> None:
    assert len(scored) == scored.counts.items == 12


def test_a_comparison_is_a_frame_with_a_row_for_each_metric(comparison: Any) -> None:
    frame = comparison.to_frame().set_index("metric")
    assert list(frame.index) == list(comparison.metrics)
    assert frame.loc["accuracy", "difference"] == 0
    assert frame.loc["accuracy", "items"] == comparison.metrics["accuracy"].n
