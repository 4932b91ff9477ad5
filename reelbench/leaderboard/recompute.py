"""Compute every number of a result again, and name what does not match.

Nothing in `result.json` is believed. What was read from an answer follows from its words. Scores by
rule follow from that and the target, judged ones from the judge's raw replies, and metrics,
breakdowns and counts from those. Where the benchmark's data is on this machine, ids, targets,
videos and labels are compared with it, and the replies' keys with the very questions they answer.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from reelbench.base import bounds
from reelbench.base.errors import InputError, cut_in_the_middle, first_line, first_of
from reelbench.base.files import hold_size, sha256_of, sha256_of_names
from reelbench.data import ownership
from reelbench.judges.verdicts import is_judged
from reelbench.leaderboard import against_data, identity, replies, rereading
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.ledger import Ids, Stated, Verification
from reelbench.leaderboard.mismatches import (
    SHOWN,
    MismatchError,
    listing,
    metric_mismatches,
    score_mismatches,
)
from reelbench.leaderboard.rereading import READ_WHILE_SCORED, read_again
from reelbench.registry import discovery
from reelbench.registry.declaration import scoring_sha256
from reelbench.registry.reasons import OF_JUDGE, UNANSWERED, Reason
from reelbench.registry.records import MediaRecord, Metrics, Result, Sample
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import upstream_split
from reelbench.scoring import (
    aggregation,
    answers,
    calibration_file,
    candidates,
    cognitive_profile,
    result_files,
)
from reelbench.scoring.videos import media_record

if TYPE_CHECKING:
    from reelbench.judges.prompting import PromptSet

AHEAD = timedelta(days=1)
"""How far a date may lie ahead: clocks differ, and so do days."""


@dataclass(frozen=True, slots=True)
class VerifiedResult:
    """A result that holds.

    Attributes:
        result: The result.
        samples: Its samples.
        verified: What was verified of it.
        files: The sha256 of each of its files, by name.
        metrics: Its metrics, as its samples give them.
    """

    result: Result
    samples: list[Sample]
    verified: Verification
    files: dict[str, str]
    metrics: Metrics


def verify(
    folder: Path, *, known_rows: KnownRows | None = None, result: Result | None = None
) -> VerifiedResult:
    """Read a result and its samples and compute everything again.

    Args:
        folder: The result's folder.
        known_rows: Rows of benchmarks, with which the items are compared.
        result: The result, where it was read already.

    Raises:
        MismatchError: If something does not match.
        InputError: If a file is missing, a link, or not of the schema.
    """
    samples_file = result_files.samples_of(folder)
    result_file = folder / result_files.RESULT_FILE
    for file in (result_file, samples_file, folder / calibration_file.FILE):
        if file.is_symlink():
            raise MismatchError(f"{file}: is a link; a result is taken with files of its own")
    if result is None:
        result = result_files.read(folder)
    spec = _spec(folder, result)
    samples_sha256 = _hash_of_samples(folder, result)
    samples = _bounded_samples(folder)
    value_count = aggregation.value_count(spec, samples)
    bounds.hold(f"{folder}: metrics and their labels", value_count, bounds.VALUES)
    local_rows = (known_rows or KnownRows()).rows_of(result)
    recomputed = _Recomputed(spec, result, samples, local_rows)
    _refuse_problems(folder, recomputed)
    subset: str | None = None
    task_items: int | None = None
    if local_rows is not None:
        subset = against_data.subset(spec, samples, local_rows)
        task_items = len(samples) if subset else len(local_rows)
    ids: Ids = "unchecked" if local_rows is None else "checked"
    data: str | None = None
    if local_rows is not None:
        data = result.benchmark.questions_sha256
    verified = Verification(
        ids=ids,
        subset=subset,
        partial=against_data.partial(spec, result, task_items),
        stated=tuple(name for name in get_args(Stated) if name in recomputed.unverified),
        answers_sha256=_hash_of_right_answers(spec, result, samples),
        data=data,
    )
    files = {
        result_files.RESULT_FILE: sha256_of(result_file),
        result_files.SAMPLES_FILE: samples_sha256,
    }
    digest = calibration_sha256(folder)
    if digest is not None:
        files[calibration_file.FILE] = digest
    return VerifiedResult(result, samples, verified, files, recomputed.metrics)


def _hash_of_right_answers(
    spec: BenchmarkSpec, result: Result, samples: Sequence[Sample]
) -> str | None:
    """Return the hash of the ids and right answers. None where these are secret."""
    if ownership.has_secret_answers(spec, result.benchmark.split):
        return None
    answers_of_items = (
        json.dumps([sample.id, sample.target], sort_keys=True) for sample in samples
    )
    return sha256_of_names(answers_of_items)


def _hash_of_samples(folder: Path, result: Result) -> str:
    """Return the sha256 of the samples. MismatchError where the result states another."""
    samples_file = result_files.samples_of(folder)
    if not samples_file.is_file():
        raise InputError(
            f"{samples_file}: not there; a result is taken with the samples that it was computed "
            "from"
        )
    hold_size(samples_file, bounds.SAMPLES_BYTES)
    digest = sha256_of(samples_file)
    result_digest = result.provenance.samples_sha256 or "none"
    if digest != result_digest:
        raise MismatchError(
            f"{folder}: samples.jsonl has the sha256 {digest[:12]}…, "
            f"result.json states {result_digest[:12]}…; the file was changed after scoring"
        )
    return digest


def _bounded_samples(folder: Path) -> list[Sample]:
    """Return the samples. InputError where they have more labels than can be shown."""
    path = result_files.samples_of(folder)
    samples: list[Sample] = []
    labels: dict[str, set[str]] = defaultdict(set)
    for sample in result_files.read_samples(folder):
        samples.append(sample)
        for facet, item_labels in sample.facets.items():
            if labels[facet].issuperset(item_labels):
                continue
            labels[facet].update(item_labels)
            bounds.hold(f"{path}: labels of {facet[:80]!r}", len(labels[facet]), bounds.LABELS)
            number = 0
            characters = 0
            for facet_labels in labels.values():
                number += len(facet_labels)
                characters += sum(len(label) for label in facet_labels)
            bounds.hold(f"{path}: labels of all facets", number, bounds.ALL_LABELS)
            bounds.hold(f"{path}: characters of all labels", characters, bounds.LABEL_TEXTS)
        bounds.hold(f"{path}: facets", len(labels), bounds.PARTS)
    return samples


def _refuse_problems(folder: Path, recomputed: "_Recomputed") -> None:
    problems = [cut_in_the_middle(line, bounds.NAME) for line in recomputed.problems()]
    if not problems:
        scores_by_people = calibration_file.read(folder)
        if scores_by_people is not None:
            faults = calibration_file.problems(
                scores_by_people, recomputed.spec, recomputed.samples
            )
            problems = list(faults)
    if problems:
        metrics = recomputed.metrics if recomputed.items_hold else None
        raise MismatchError(f"{folder}: {first_of(problems, SHOWN, '; ')}", metrics)


def calibration_sha256(folder: Path) -> str | None:
    """Return the hash of people's scores beside a result. None where there are none."""
    path = folder / calibration_file.FILE
    if not path.is_file():
        return None
    hold_size(path, bounds.RESULT_BYTES)
    return sha256_of(path)


def mismatches(
    spec: BenchmarkSpec, result: Result, samples: list[Sample], rows_here: Mapping[str, Row] | None
) -> list[str]:
    """Return the statements of a result that its samples contradict.

    Text overlap isn't computed again.
    """
    if result.benchmark.version != spec.version:
        return []  # the rules of another version made these numbers
    recomputed = _Recomputed(spec, result, samples, rows_here)
    problems = list(recomputed.item_problems())
    if not problems:
        problems = list(recomputed.number_problems(overlap=False))
    return problems


def _spec(folder: Path, result: Result) -> BenchmarkSpec:
    spec = discovery.spec_of(result.benchmark)
    split = result.benchmark.split
    if upstream_split(spec, split) not in spec.splits:
        splits = ", ".join(spec.splits)
        raise MismatchError(f"{folder}: {spec.id} has no split {split!r}; it has {splits}")
    version = discovery.specs().get(spec.id, spec).version
    if result.benchmark.version != version:
        raise MismatchError(
            f"{folder}: scored by version {result.benchmark.version} of {spec.id}, "
            f"this is version {version}; score its predictions again"
        )
    kind = result.provenance.kind
    if kind != "run":
        raise MismatchError(f"{folder}: provenance.kind is {kind}; only runs can be computed again")
    return spec


def date_of(result: Result) -> datetime:
    """Return the time when a result was made. A date without a zone is UTC.

    Raises:
        ValueError: If it is not a date.
    """
    date = datetime.fromisoformat(result.provenance.date)
    return date if date.tzinfo else date.replace(tzinfo=UTC)


class _OtherNamesError(Exception):
    """The metrics of a result are others than those of its samples."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(first_of(problems))
        self.problems = problems


class _Recomputed:
    """A result compared with its samples.

    Each item is compared with its own words, and the numbers with the items.

    Attributes:
        spec: The benchmark.
        samples: The samples.
        unverified: What can't be compared with anything. It grows while problems are read.
        metrics: What the samples give, once they were computed.
        items_hold: Every item is what its own words say.
    """

    def __init__(
        self,
        spec: BenchmarkSpec,
        result: Result,
        samples: list[Sample],
        rows: Mapping[str, Row] | None,
    ) -> None:
        self.spec = spec
        self.samples = samples
        self.unverified: set[Stated] = set()
        self.metrics: Metrics = {}
        self.items_hold = False
        self._result = result
        self._settings = result.settings
        self._split = result.benchmark.split
        self._rows = rows or {}
        if rows is None:
            self.unverified.add("references")
        if result.judge is not None and any(sample.judge_replies for sample in samples):
            self.unverified.add("judge replies")
        if result.settings.ranker is not None:
            self.unverified.add("ranker replies")
        if result.settings.reader is not None:
            self.unverified.add("reader replies")
        self._answers_are_hidden = spec.splits[upstream_split(spec, self._split)].hidden_answers
        self._reasons = aggregation.reasons(spec, hidden=self._answers_are_hidden)
        if result.benchmark.errata is None:
            self._reasons -= {Reason.LEFT_OUT}
        if result.judge is None:
            self._reasons -= OF_JUDGE - {Reason.JUDGE_UNAVAILABLE}
        self._judged_columns: frozenset[str] = frozenset()
        if spec.judge is not None:
            self._judged_columns = frozenset(spec.judge.criteria)
        self._prompts = self._prompts_of_today()
        try:
            self._most_frames = FrameSampling.parse(result.settings.frames).frames
        except InputError:  # another's name for a sampling
            self._most_frames = None
        self._same_reader = rereading.is_current(result)
        self._tag_facets = cognitive_profile.from_tags(spec)
        self._columns = self._columns_of_all()

    def _prompts_of_today(self) -> "PromptSet | None":
        """Return our prompts, where the judge was asked with them as they are today.

        Replies to another text of our prompts can't be compared with the present one. They are a
        group of their own.
        """
        judge = self._result.judge
        if self.spec.judge is None or judge is None or not self._rows:
            return None
        prompts = replies.own_prompts(self.spec, judge)
        if prompts is None or prompts.sha256 != judge.prompt_sha256:
            return None
        return prompts

    def _columns_of_all(self) -> dict[bool, set[str]]:
        """Return the columns that items are scored on by rule, by whether they are judged.

        That is a matter of the whole file: no item may lack a column that others have.
        """
        columns: dict[bool, set[str]] = {True: set(), False: set()}
        for sample in self.samples:
            columns[is_judged(sample)].update(sample.scores)
        columns[True] -= self._judged_columns
        return columns

    def problems(self) -> Iterator[str]:
        """Yield all that does not match."""
        result = self._result
        yield from identity.problems(result)
        if not 1 <= result.answers <= answers.VERSION:
            yield (
                f"answers is {result.answers}, and this version of Reelbench knows how versions "
                f"1 to {answers.VERSION} read answers; score its predictions again, with this "
                "version"
            )
        try:
            if date_of(result) > datetime.now(UTC) + AHEAD:
                yield f"provenance.date {result.provenance.date} is in the future"
        except ValueError:
            yield f"provenance.date {result.provenance.date[:40]!r} is not an ISO date"
        if not self.spec.package:
            digest = result.benchmark.scoring_sha256
            declared_digest = scoring_sha256(self.spec)
            if digest != declared_digest:
                yield (
                    f"benchmark.scoring_sha256 is {digest[:12]}…, "
                    f"what the result declares has {declared_digest[:12]}…"
                )
                return
        if "references" not in self.unverified:
            yield from against_data.problems(self.spec, result, self.samples, self._rows)
            if len(self.samples) > len(self._rows):
                # Most are of no question: nothing is computed of them.
                return
        yield from replies.record_problems(self.spec, result.judge)
        item_problems = list(self.item_problems())
        self.items_hold = not item_problems
        yield from item_problems
        yield from self.number_problems()

    # --- items

    def item_problems(self) -> Iterator[str]:
        """Yield the contradictions, item by item."""
        if self._answers_are_hidden:
            scored_ids = [sample.id for sample in self.samples if sample.state == "scored"]
            if scored_ids:
                yield (
                    f"the answers of split {self._split!r} are hidden, so no score can be known; "
                    f"{listing('item', scored_ids)} scored"
                )
                return
        for sample in self.samples:
            if any(sample.facets.get(name) for name in self._tag_facets):
                self.unverified.add("labels")
            problems = list(self._state_problems(sample))
            problems += self._protocol_problems(sample)
            if not problems:
                problems = list(self._score_problems(sample))
            for line in problems:
                yield f"item {sample.id!r}: {line}"

    def _state_problems(self, sample: Sample) -> Iterator[str]:
        reason = sample.reason
        is_scored = sample.state == "scored"
        if is_scored != (reason is None):
            yield f"state {sample.state} with reason {reason}"
        elif reason is not None and reason not in self._reasons:
            possible = ", ".join(sorted(self._reasons))
            yield (
                f"unscored for the reason {reason[:80]!r}, which {self.spec.id} {self._split} "
                f"can't have; it has {possible}"
            )
        elif sample.prediction is None:
            if is_scored and sample.option_scores is None:
                yield "scored, but it has no prediction"
        elif reason in (Reason.PREDICTION_MISSING, Reason.MEDIA_MISSING):
            yield f"unscored ({reason}), but it has a prediction"
        elif reason == Reason.MODEL_FAILED and not aggregation.is_failure(str(sample.prediction)):
            yield "unscored (model_failed), but its prediction is not the mark of a failed request"

    def _protocol_problems(self, sample: Sample) -> Iterator[str]:
        """Yield the ways in which an item was asked otherwise than the settings say.

        Another way of asking would be a row of its own.
        """
        settings = self._settings
        if sample.reason in UNANSWERED:
            return
        if bool(sample.option_scores) != (settings.answering is not None):
            scores_text = "option scores" if sample.option_scores else "no option scores"
            yield f"has {scores_text}, and settings.answering is {settings.answering}"
        frames = len(sample.frame_timestamps or ()) - sample.frame_padding
        if self._most_frames is not None and frames > self._most_frames:
            yield f"was shown {frames} frames, and settings.frames is {settings.frames}"
        if sample.read_by is not None and settings.reader is None:
            yield "has a reply of a reader, and settings.reader names none"
        if sample.candidates and settings.candidates is None:
            yield "has candidates, and settings.candidates is absent"
        if sample.candidates and sample.prediction not in sample.candidates:
            yield "its prediction is none of its candidates"

    def _score_problems(self, sample: Sample) -> Iterator[str]:
        is_answered = sample.reason not in UNANSWERED
        try:
            reading_problems: list[str] = []
            if is_answered:
                reading_problems = list(self._reading_problems(sample))
            expected = self._scores_by_rule(sample)
            row = self._rows.get(sample.id)
            reply_problems = list(
                replies.problems(self.spec.judge, self._result.judge, sample, self._prompts, row)
            )
            choice_problems = list(self._choice_problems(sample))
        except Exception as error:  # noqa: BLE001 - a stranger's values are their item's problem
            yield f"can't be scored again ({first_line(error)})"
            return
        yield from reading_problems
        scores = dict(sample.scores)
        if is_judged(sample):
            for name in self._judged_columns:
                scores.pop(name, None)
        if not self._same_reader:
            # What another version read from the words is read again by the board.
            for name in READ_WHILE_SCORED & scores.keys() & expected.keys():
                if scores[name] != expected[name]:
                    self.unverified.add("answers")
                scores[name] = expected[name]
        yield from score_mismatches(scores, expected)
        if is_answered:
            lacking = sorted(self._columns[is_judged(sample)] - expected.keys())
            if lacking:
                names = ", ".join(lacking)
                yield f"answered, but not scored on {names}, which other items are"
        yield from reply_problems
        yield from choice_problems

    def _scores_by_rule(self, sample: Sample) -> dict[str, float]:
        """Return the columns of an item that need no judge.

        A reason that came after scoring by rule (a judge's) leaves these in place.
        """
        [corrected] = against_data.as_the_data_has_them(self.spec, [sample], self._rows)
        item = corrected.item("", sample.reason)
        return aggregation.item_columns(self.spec, item)

    def _reading_problems(self, sample: Sample) -> Iterator[str]:
        if sample.parsed is None:
            yield from self._unread_problems(sample)
        else:
            row = self._rows.get(sample.id)
            reading = read_again(self.spec, self._settings, sample, row)
            edited = [name for name, value in reading.items() if sample.parsed[name] != value]
            if edited and (self._same_reader or isinstance(sample.prediction, Mapping)):
                for name in edited:
                    yield (
                        f"parsed.{name} is {sample.parsed[name]!r}, its prediction reads "
                        f"{reading[name]!r}; the answer was edited"
                    )
            elif edited or reading.keys() != sample.parsed.keys():
                # Another version read it, or nobody can tell on this machine.
                self.unverified.add("answers")
        flags = rereading.flags(sample)
        if flags != sample.flags:
            yield f"flags are {sample.flags}, its answer has {flags}"

    def _unread_problems(self, sample: Sample) -> Iterator[str]:
        """Yield a text that is said not to have been read, and can be."""
        if not self._same_reader:
            return
        unread = sample.model_copy(update={"parsed": {"text": None}, "option_scores": None})
        reading = read_again(self.spec, self._settings, unread, None)
        if reading:
            text = str(reading["text"])[:80]
            yield f"parsed is null, its prediction reads {text!r}; the answer was edited"

    def _choice_problems(self, sample: Sample) -> Iterator[str]:
        """Yield the contradictions in a ranker's choice. None where no ranker chose."""
        ranker = self._settings.ranker
        texts = sample.candidates
        ranker_replies = sample.ranker_replies
        if ranker is None:
            if ranker_replies is not None:
                yield "has replies of a ranker, and settings.ranker names none"
            return
        if sample.prediction is None:
            return
        if not texts or ranker_replies is None:
            yield (
                "has no candidates, or none of the ranker's replies, though a ranker chose its "
                "answer"
            )
            return
        questions = 1 if ranker.mode == "listwise" else len(texts)
        has_all_votes = all(len(votes) == ranker.votes for votes in ranker_replies)
        if len(ranker_replies) != questions or not has_all_votes:
            yield (
                f"has other replies of the ranker than {ranker.votes} votes on {len(texts)} "
                f"candidates ({ranker.mode})"
            )
            return
        choice = candidates.choose(ranker.mode, sample.id, len(texts), ranker_replies)
        if texts[choice.index] != sample.prediction:
            yield (
                f"its prediction is not candidate {choice.index}, which the ranker's replies choose"
            )

    # --- numbers

    def number_problems(self, *, overlap: bool = True) -> Iterator[str]:
        """Yield the metrics, breakdowns and counts that are not what the samples give."""
        spec = self.spec
        result = self._result
        overlap_names = {metric.name for metric in spec.metrics if metric.aggregate.how == "corpus"}
        metrics = dict(result.metrics)
        if not overlap:
            for name in overlap_names:
                metrics.pop(name, None)
        corrected = against_data.as_the_data_has_them(spec, self.samples, self._rows)
        are_unlabelled = corrected != list(self.samples)
        try:
            recomputed_metrics, breakdowns = aggregation.aggregate(
                spec,
                corrected,
                overlap=not overlap_names.isdisjoint(metrics),
                interval=result.interval,
                before_intervals=partial(self._refuse_other_names, metrics.keys() - overlap_names),
            )
            panel_problems = list(replies.panel_problems(spec, result.judge, corrected))
            if are_unlabelled:
                # A references file without labels: the metrics are the data's, and it has no
                # breakdowns to state.
                _, breakdowns = aggregation.aggregate(
                    spec, self.samples, overlap=False, interval=result.interval
                )
        except _OtherNamesError as error:
            if are_unlabelled:
                yield self._labels_lacking
            yield from error.problems
            yield from self._count_problems()
            return
        except Exception as error:  # noqa: BLE001 - a stranger's values refuse their result alone
            yield f"its metrics can't be computed again ({first_line(error)})"
            return
        self.metrics = recomputed_metrics
        metric_problems = list(metric_mismatches("metrics", metrics, recomputed_metrics))
        if metric_problems and are_unlabelled:
            yield self._labels_lacking
        yield from metric_problems
        yield from panel_problems
        yield from metric_mismatches("breakdowns", result.breakdowns, breakdowns)
        media = media_record(self.samples)
        if result.media != media:
            yield f"media is {_media_text(result.media)}, the samples say {_media_text(media)}"
        yield from self._count_problems()

    @property
    def _labels_lacking(self) -> str:
        return (
            f"its references lack labels that the data of {self.spec.id} has; "
            "score it again without --references"
        )

    def _refuse_other_names(self, names: AbstractSet[str], numbers: aggregation.Numbers) -> None:
        """Raise _OtherNamesError where the result has other metrics, or they are of other items.

        That is known before their intervals, which take the time. `names` are the metrics that the
        result has, without text overlap.
        """
        metrics_without_intervals: Metrics = {}
        for name in names:
            stated_metric = self._result.metrics[name]
            metrics_without_intervals[name] = stated_metric.model_copy(update={"ci95": None})
        problems = list(metric_mismatches("metrics", metrics_without_intervals, numbers.metrics))
        if problems:
            self.metrics = numbers.metrics
            raise _OtherNamesError(problems)

    def _count_problems(self) -> Iterator[str]:
        counts = self._result.counts
        # The samples don't tell these.
        beside = {"extra": counts.extra, "duplicate": counts.duplicate}
        beside["tags_without_question"] = counts.tags_without_question
        ranker = self._settings.ranker
        if ranker is not None:
            beside["unread_candidates"] = candidates.unread(ranker.mode, self.samples)
        untagged = 0
        for sample in self.samples:
            has_tags = any(sample.facets.get(name) for name in self._tag_facets)
            if not has_tags:
                untagged += 1
        if untagged == len(self.samples):  # no tags were given
            untagged = 0
            beside["tags_without_question"] = 0
        beside["questions_without_tags"] = untagged
        recomputed_counts = aggregation.ScoredItems(self.spec, self.samples, beside=beside).counts
        for name, value in recomputed_counts:
            result_value = getattr(counts, name)
            if result_value != value:
                yield f"counts.{name} is {result_value}, the samples say {value}"


def _media_text(media: MediaRecord) -> str:
    return f"{len(media.videos)} of {media.of} videos @{media.sha256[:8]}"
