"""What a judge's record says of the samples: its marks, and a panel's agreement."""

from collections import Counter
from collections.abc import Iterable, Sequence

from reelbench.judges.verdicts import needs_no_judge, scores_of
from reelbench.registry.reasons import UNANSWERED
from reelbench.registry.records import JudgeRecord, Marks, Sample
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec
from reelbench.scoring import aggregation
from reelbench.stats.agreement import krippendorff_alpha


def with_agreement(
    spec: BenchmarkSpec, samples: Sequence[Sample], record: JudgeRecord | None
) -> JudgeRecord | None:
    """Return the record of a judge with the figures that follow from the samples.

    They are its marks by how they came about. Of a panel they are also Krippendorff's alpha
    (ordinal) between the judges for each criterion, over the answers that were judged, and the
    judged metrics by each judge's scores alone.
    """
    if record is None or spec.judge is None:
        return record
    if not record.panel:
        return record.model_copy(update={"marks": marks_of(samples)})
    panel = [_with_metrics(spec, spec.judge, samples, member) for member in record.panel]
    judged = [
        sample for sample in samples if sample.judge_replies and not needs_no_judge(sample.text)
    ]
    panel_scores = [_panel_scores(spec.judge, record.panel, sample) for sample in judged]
    agreement: dict[str, float | None] = {}
    for criterion in spec.judge.criteria:
        agreement[criterion] = krippendorff_alpha(_ratings(panel_scores, criterion))
    return record.model_copy(update={"panel": panel, "agreement": agreement})


def marks_of(samples: Iterable[Sample], judge: str | None = None) -> Marks | None:
    """Return a judge's marks by request. None where all are of first replies.

    Args:
        samples: The samples.
        judge: Of a panel, the judge. None of a single judge.
    """
    counts: Counter[str] = Counter()
    for sample in samples:
        for reply in sample.judge_replies:
            if reply.score is None or reply.judge != judge:
                continue
            counts["all"] += 1
            counts["from_reasks"] += reply.attempt > 0
            counts["by_schema"] += reply.by_schema
    if not counts["from_reasks"]:
        return None
    return Marks(**counts)


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
    marks = marks_of(samples, member.requested)
    return member.model_copy(update={"metrics": judged_metrics, "marks": marks})


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
