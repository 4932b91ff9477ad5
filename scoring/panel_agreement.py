"""Agreement of the judges of a panel, and the metrics by each judge alone."""

from collections.abc import Sequence

from reelbench.judges.verdicts import needs_no_judge, scores_by
from reelbench.registry.reasons import UNANSWERED
from reelbench.registry.records import JudgeRecord, Metrics, Sample
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec
from reelbench.scoring import aggregation
from reelbench.stats.agreement import krippendorff_alpha


def completed(spec: BenchmarkSpec, samples: Sequence[Sample], record: JudgeRecord | None) -> JudgeRecord | None:
    """Return the record of a panel with what follows from the samples; any other record as it is.

    That is Krippendorff's alpha (ordinal) between the judges for each criterion, over the answers that were judged,
    and the judged metrics by each judge's scores alone.
    """
    if record is None or not record.panel or spec.judge is None:
        return record
    judge = spec.judge
    panel = [member.model_copy(update={"metrics": metrics_by(spec, samples, member)}) for member in record.panel]
    return record.model_copy(update={"panel": panel, "agreement": _agreement(judge, samples, record.panel)})


def metrics_by(spec: BenchmarkSpec, samples: Sequence[Sample], member: JudgeRecord) -> Metrics:
    """Return the judged metrics by the scores of one judge of a panel."""
    judge = spec.judge
    if judge is None:
        return {}
    own: list[Sample] = []
    for sample in samples:
        if sample.reason in UNANSWERED:
            continue
        scores = {name: score for name, score in sample.scores.items() if name not in judge.criteria}
        own.append(sample.model_copy(update={"scores": scores | scores_by(judge, member, sample)}))
    metrics, _ = aggregation.aggregate(spec, own, overlap=False)
    return {name: value for name, value in metrics.items() if spec.metric(name).judged}


def _agreement(judge: JudgeSpec, samples: Sequence[Sample], panel: Sequence[JudgeRecord]) -> dict[str, float | None]:
    judged = [sample for sample in samples if sample.judge_replies and not needs_no_judge(sample.text)]
    by_item = [[scores_by(judge, member, sample) for member in panel] for sample in judged]
    return {
        criterion: krippendorff_alpha([[own[criterion] for own in scores if criterion in own] for scores in by_item])
        for criterion in judge.criteria
    }
