"""Agreement of the judges of a panel, and the metrics by each judge alone."""

from collections.abc import Sequence

from reelbench.judges.verdicts import needs_no_judge, scores_of
from reelbench.registry.reasons import UNANSWERED
from reelbench.registry.records import JudgeRecord, Sample
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec
from reelbench.scoring import aggregation
from reelbench.stats.agreement import krippendorff_alpha


def with_agreement(
    spec: BenchmarkSpec, samples: Sequence[Sample], record: JudgeRecord | None
) -> JudgeRecord | None:
    """Return the record of a panel with the figures that follow from the samples.

    They are Krippendorff's alpha (ordinal) between the judges for each criterion, over the answers
    that were judged, and the judged metrics by each judge's scores alone. Any other record is
    returned unchanged.
    """
    if record is None or not record.panel or spec.judge is None:
        return record
    panel = [_with_metrics(spec, spec.judge, samples, member) for member in record.panel]
    judged = [
        sample for sample in samples if sample.judge_replies and not needs_no_judge(sample.text)
    ]
    panel_scores = [_panel_scores(spec.judge, record.panel, sample) for sample in judged]
    agreement: dict[str, float | None] = {}
    for criterion in spec.judge.criteria:
        agreement[criterion] = krippendorff_alpha(_ratings(panel_scores, criterion))
    return record.model_copy(update={"panel": panel, "agreement": agreement})


def _with_metrics(
    spec: BenchmarkSpec, judge: JudgeSpec, samples: Sequence[Sample], member: JudgeRecord
) -> JudgeRecord:
    """Return a member's record with the judged metrics by its scores alone."""
    member_samples: list[Sample] = []
    for sample in samples:
        if sample.reason in UNANSWERED:
            continue
        scores = {
            name: score for name, score in sample.scores.items() if name not in judge.criteria
        }
        scores |= scores_of(judge, member, sample, of_panel=True)
        member_samples.append(sample.model_copy(update={"scores": scores}))
    metrics = aggregation.aggregate(spec, member_samples, overlap=False).metrics
    judged_metrics = {name: value for name, value in metrics.items() if spec.metric(name).judged}
    return member.model_copy(update={"metrics": judged_metrics})


def _panel_scores(
    judge: JudgeSpec, panel: Sequence[JudgeRecord], sample: Sample
) -> list[dict[str, float]]:
    """Return each judge's scores of a sample, by criterion."""
    return [scores_of(judge, member, sample, of_panel=True) for member in panel]


def _ratings(
    panel_scores: Sequence[Sequence[dict[str, float]]], criterion: str
) -> list[list[float]]:
    """Return the ratings of each sample on one criterion."""
    ratings: list[list[float]] = []
    for scores_by_judge in panel_scores:
        sample_ratings = [scores[criterion] for scores in scores_by_judge if criterion in scores]
        ratings.append(sample_ratings)
    return ratings
