"""Agreement of the judges of a panel, and the metrics by each judge alone."""

from collections.abc import Sequence

from reelbench.judges.verdicts import needs_no_judge, scores_of
from reelbench.registry.reasons import UNANSWERED
from reelbench.registry.records import JudgeRecord, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.stats.agreement import krippendorff_alpha


def with_agreement(
    spec: BenchmarkSpec, samples: Sequence[Sample], record: JudgeRecord | None
) -> JudgeRecord | None:
    """Return the record of a panel with what follows from the samples; any other record as it is.

    That is Krippendorff's alpha (ordinal) between the judges for each criterion, over the answers
    that were judged, and the judged metrics by each judge's scores alone.
    """
    if record is None or not record.panel or spec.judge is None:
        return record
    judge = spec.judge
    panel: list[JudgeRecord] = []
    for member in record.panel:
        own: list[Sample] = []
        for sample in samples:
            if sample.reason not in UNANSWERED:
                scores = {
                    name: score
                    for name, score in sample.scores.items()
                    if name not in judge.criteria
                }
                own.append(
                    sample.model_copy(
                        update={"scores": scores | scores_of(judge, member, sample, of_panel=True)}
                    )
                )
        metrics, _ = aggregation.aggregate(spec, own, overlap=False)
        judged = {name: value for name, value in metrics.items() if spec.metric(name).judged}
        panel.append(member.model_copy(update={"metrics": judged}))
    asked = [
        sample for sample in samples if sample.judge_replies and not needs_no_judge(sample.text)
    ]
    by_item = [
        [scores_of(judge, member, sample, of_panel=True) for member in record.panel]
        for sample in asked
    ]
    agreement = {
        criterion: krippendorff_alpha(
            [[own[criterion] for own in scores if criterion in own] for scores in by_item]
        )
        for criterion in judge.criteria
    }
    return record.model_copy(update={"panel": panel, "agreement": agreement})
