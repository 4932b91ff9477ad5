"""Two models compared label by label (as CogME, Figure 3): where one leads, and whether that is chance."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from reelbench.registry.errors import InputError
from reelbench.registry.records import Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.cognitive_profile import COMPONENTS
from reelbench.scoring.comparison import Paired, metric_difference, on_both
from reelbench.stats.power import holm


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDifference(Paired):
    """The questions with one label (`component.Label`): the primary metric, and `p` adjusted for all (Holm 1979)."""

    label: str
    p_holm: float | None = None


def compare_labels(
    samples_a: Sequence[Sample], samples_b: Sequence[Sample], spec: BenchmarkSpec
) -> list[LabelDifference]:
    """Return the primary metric of both models on each CogME label's questions, the largest difference first.

    Labels are a's where its samples have them, else b's: tags are the question's, not the agent's.

    Raises:
        InputError: No question was answered by both, or none has a label.
    """
    a, b = on_both(samples_a, samples_b)
    of_b = {sample.id: sample.facets for sample in samples_b}
    rows: list[tuple[str, list[tuple[Sample, Sample]]]] = []
    for component, names in COMPONENTS.items():
        labels = [x.facets.get(component) or of_b[x.id].get(component) or () for x in a]
        rows += [
            (f"{component}.{name}", [(x, y) for x, y, given in zip(a, b, labels, strict=True) if name in given])
            for name in names
        ]
    rows = [(label, tagged) for label, tagged in rows if tagged]
    if not rows:
        raise InputError("--labels: these results have no CogME labels; score both with --tags FILE")
    differences: list[LabelDifference] = []
    for label, tagged in rows:
        d = metric_difference(spec, spec.primary, [x for x, _ in tagged], [y for _, y in tagged])
        if d is not None:
            shared = {field.name: getattr(d, field.name) for field in fields(Paired)}
            differences.append(LabelDifference(label=label, **shared))
    if not differences:
        raise InputError(f"--labels: no tagged question has {spec.primary.name} in both results")
    adjusted = holm([d.p for d in differences])
    done = [replace(d, p_holm=p) for d, p in zip(differences, adjusted, strict=True)]
    return sorted(done, key=lambda d: -abs(d.difference))
