"""A difference held against what a server answers otherwise when it is asked the same again."""

from reelbench.base.errors import number_of
from reelbench.registry.records import Result
from reelbench.registry.spec import Metric
from reelbench.scoring.comparison import Comparison


def noise_line(metric: Metric, compared: Comparison, results: tuple[Result, Result]) -> str | None:
    """Return a line where a server's own noise could make the whole difference.

    None where the difference is larger, or no question got a different answer when asked once more.

    Args:
        metric: The main metric.
        compared: The comparison of a and b.
        results: The results of a and b.
    """
    difference = compared.metrics.get(metric.name)
    if difference is None:
        return None
    unit = metric.in_unit
    noisiest: tuple[float, str] = (0.0, "")
    for name, result in zip("ab", results, strict=True):
        asked_record = result.provenance.asked
        if asked_record is None or not asked_record.repeats.number:
            continue
        repeats = asked_record.repeats
        otherwise = repeats.number - repeats.same
        answers = number_of(repeats.number, "kept answer")
        words = (
            f"of {name}'s {answers} that were asked once more {otherwise} gave a different answer"
        )
        noisiest = max(noisiest, (otherwise / repeats.number, words))
    share, words = noisiest
    if not share or abs(difference.difference) > share * (unit.high - unit.low):
        return None
    return f"{metric.name}: the server's own noise may make this difference: {words}"
