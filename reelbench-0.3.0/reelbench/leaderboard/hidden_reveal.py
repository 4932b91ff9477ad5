"""Recompute the rows of a hidden test once its answers are public, from the predictions kept.

The rows of the version that hides them stay in their own table. Those of the new version are
results as any others, and each is held against the total that was published.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from reelbench.base.errors import InputError
from reelbench.leaderboard import board_state, hidden_rows, store
from reelbench.leaderboard.hidden_rows import ShownFile
from reelbench.leaderboard.ledger import Received
from reelbench.leaderboard.store import Filing
from reelbench.registry import discovery
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, MetricValue
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import aggregation
from reelbench.scoring.value_bounds import with_unscored_at
from reelbench.tasks import hidden_submission, predictions
from reelbench.tasks.predictions import Columns
from reelbench.tasks.score import Answers, Evaluation, Options, evaluation
from reelbench.tasks.submissions import PredictionSet, Questions


@dataclass(frozen=True, slots=True)
class Revealed:
    """One metric of a row, as it was published and as anybody computes it now.

    `recomputed` is None where the row was refused. `why` then says it.
    """

    model: str
    metric: str
    digits: int
    published: MetricValue
    recomputed: float | None
    why: str = ""

    @property
    def is_same(self) -> bool:
        """True where both are the same to the step of what was published."""
        if self.recomputed is None or self.published.value is None:
            return False
        step = 10.0**-self.digits
        return abs(self.recomputed - self.published.value) <= step / 2 + 1e-9


def reveal(name: str, place: Path) -> Iterator[Revealed]:
    """Recompute and file each row of a hidden test. Yield its metrics.

    Args:
        name: The benchmark, or its folder, with the answers in its rows and a higher version.
        place: The store.

    Raises:
        InputError: The benchmark still hides its answers or can't be read, or it has no row.
    """
    spec = discovery.find(name)
    state = board_state.read(place)
    rows = [row for row in hidden_rows.shown_files(state) if row.received.benchmark == spec.id]
    if not rows:
        raise InputError(f"{place}: has no row of a hidden test of {spec.id}")
    questions = _public_questions(name, spec, [row.received for row in rows])
    for row in rows:
        try:
            yield from _revealed(row, questions.get(row.received.split), place)
        except InputError as error:  # one broken row never stops the others
            metric = spec.primary
            total = row.scored.totals[metric.name]
            digits = metric.in_unit.digits
            yield Revealed(row.received.model, metric.name, digits, total, None, str(error))


def _public_questions(
    name: str, spec: BenchmarkSpec, files: Iterable[Received]
) -> dict[str, Questions]:
    """Return the questions that files were on, by split, with their answers.

    Raises:
        InputError: The answers are not public yet, or can't be read.
    """
    questions: dict[str, Questions] = {}
    for received in files:
        split = spec.splits.get(received.split)
        if spec.version <= received.version or (split is not None and split.secret):
            raise InputError(
                f"{spec.id}: its answers join the rows without `hidden_answers`, "
                f"and its version rises above {received.version}"
            )
        if split is not None and received.split not in questions:
            questions[received.split] = Questions.named(name, received.split)
            questions[received.split].references()
    return questions


def _revealed(row: ShownFile, questions: Questions | None, place: Path) -> Iterator[Revealed]:
    """File a row's result anew, and yield each metric beside what was published."""
    received = row.received
    if questions is None:
        raise InputError(f"{received.benchmark}: has no split {received.split} any more")
    evaluated = _evaluated(received, questions, place)
    with TemporaryDirectory(prefix="reelbench-revealed-") as run:
        result = evaluated.write(Path(run)).result
        filing = Filing(account=received.who, at=received.at)
        [added] = store.add(Path(run), place, filing=filing)
    spec = questions.spec
    for metric in spec.metrics:
        published = row.scored.totals.get(metric.name)
        if published is None:
            continue
        recomputed: float | None = None
        if added.outcome != "refused":
            recomputed = result.metrics[metric.name].value
            if received.unanswered:
                samples = with_unscored_at("lowest", spec, metric, evaluated.scored.samples)
                recomputed = aggregation.metric_value(spec, metric, samples)
        digits = metric.in_unit.digits
        yield Revealed(result.model.id, metric.name, digits, published, recomputed, added.why)


def _evaluated(received: Received, questions: Questions, place: Path) -> Evaluation:
    """Score the predictions that were kept of a file, as any others are."""
    record = hidden_rows.record_of(place, received)
    folder = place / received.key
    unanswered = hidden_submission.read_submission(folder).unanswered
    file = folder / hidden_submission.PREDICTIONS_FILE
    given_answers = predictions.read(questions, file, Columns())
    given_answers = _with_stated_reasons(given_answers, unanswered)
    return evaluation(Answers(given_answers, record.model, record.settings), Options())


def _with_stated_reasons(
    submission: PredictionSet, unanswered: Mapping[str, Reason]
) -> PredictionSet:
    """Return predictions with the reasons that were stated where there is none."""
    items: list[Item] = []
    for item in submission.items:
        reason = unanswered.get(item.id, item.reason)
        items.append(item.model_copy(update={"reason": reason}))
    return replace(submission, items=items)
