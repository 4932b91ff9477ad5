"""Holding a result to its samples: every number computed again, and what does not match named.

Nothing in `result.json` is believed. What was read from an answer follows from its words,
deterministic per-item scores from that and the target, judged ones from the judge's raw replies,
and metrics, breakdowns and counts from those. Where the benchmark's data is on this machine, ids,
targets, videos and labels are its own, and the replies' keys are held to the very questions they
answer.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

from reelbench.base import bounds
from reelbench.base.errors import InputError, cut_in_the_middle, first_line, first_of
from reelbench.base.files import sha256_of, sha256_of_names
from reelbench.judges.verdicts import is_judged
from reelbench.leaderboard import against_data, identity, replies, rereading
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.checks import Check, Stated
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
from reelbench.registry.records import Metrics, Result, Sample
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

AHEAD = timedelta(days=1)
"""How far a date may lie ahead: clocks differ, and so do days."""


@dataclass(frozen=True, slots=True)
class VerifiedResult:
    """A result that holds, with what was checked of it, and its metrics as its samples give them."""

    result: Result
    samples: list[Sample]
    check: Check
    metrics: Metrics


def verify(
    folder: Path, *, known_rows: KnownRows | None = None, result: Result | None = None
) -> VerifiedResult:
    """Read a result and its samples and compute everything again, items held to the rows that are `known`.

    Raises:
        MismatchError: Something does not match.
        InputError: A file is missing, a link, or not of the schema.
    """
    path = result_files.samples_of(folder)
    for file in (folder / result_files.RESULT_FILE, path, folder / calibration_file.FILE):
        if file.is_symlink():
            raise MismatchError(f"{file}: is a link; a result is taken with files of its own")
    result = result or result_files.read(folder)
    spec = _spec(folder, result)
    if not path.is_file():
        raise InputError(
            f"{path}: not there; a result is taken with the samples that it was computed from"
        )
    digest = sha256_of(path)
    if digest != result.provenance.samples_sha256:
        stated = result.provenance.samples_sha256 or "none"
        raise MismatchError(
            f"{folder}: samples.jsonl has the sha256 {digest[:12]}…, result.json states {stated[:12]}…; "
            "the file was changed after scoring"
        )
    samples: list[Sample] = []
    labels: dict[str, set[str]] = defaultdict(set)
    for sample in result_files.read_samples(folder):
        samples.append(sample)
        for facet, of_item in sample.facets.items():
            if labels[facet].issuperset(of_item):
                continue
            labels[facet].update(of_item)
            bounds.hold(f"{path}: labels of {facet[:80]!r}", len(labels[facet]), bounds.LABELS)
            bounds.hold(
                f"{path}: labels of all facets", sum(map(len, labels.values())), bounds.ALL_LABELS
            )
            characters = sum(len(label) for of in labels.values() for label in of)
            bounds.hold(f"{path}: characters of all labels", characters, bounds.LABEL_TEXTS)
        bounds.hold(f"{path}: facets", len(labels), bounds.PARTS)
    rows_here = (known_rows or KnownRows()).rows_of(result)
    items = _Recomputed(spec, result, samples, rows_here)
    problems = [cut_in_the_middle(one, bounds.NAME) for one in items.problems()]
    if not problems and (people := calibration_file.read(folder)) is not None:
        problems = list(calibration_file.problems(people, spec, samples))
    if problems:
        raise MismatchError(
            f"{folder}: {first_of(problems, SHOWN, '; ')}", items.metrics if items.hold else None
        )
    subset = None if rows_here is None else against_data.subset(spec, samples, rows_here)
    wanted = len(samples) if subset else None if rows_here is None else len(rows_here)
    check = Check(
        ids="unchecked" if rows_here is None else "checked",
        subset=subset,
        partial=against_data.partial(spec, result, wanted),
        stated=tuple(name for name in get_args(Stated) if name in items.stated),
        result_sha256=sha256_of(folder / result_files.RESULT_FILE),
        samples_sha256=digest,
        calibration_sha256=calibration_sha256(folder),
        answers_sha256=sha256_of_names(
            json.dumps([one.id, one.target], sort_keys=True) for one in samples
        ),
    )
    return VerifiedResult(result, samples, check, items.metrics)


def calibration_sha256(folder: Path) -> str | None:
    """Return the hash of people's scores beside a result; None where there are none."""
    path = folder / calibration_file.FILE
    return sha256_of(path) if path.is_file() else None


def mismatches(
    spec: BenchmarkSpec, result: Result, samples: list[Sample], rows_here: Mapping[str, Row] | None
) -> list[str]:
    """Return the statements of a result that its samples don't bear out; text overlap isn't computed again."""
    if result.benchmark.version != spec.version:
        return []  # the rules of another version made these numbers
    items = _Recomputed(spec, result, samples, rows_here)
    return list(items.item_problems()) or list(items.number_problems(overlap=False))


def _spec(folder: Path, result: Result) -> BenchmarkSpec:
    spec = discovery.spec_of(result.benchmark)
    split = result.benchmark.split
    if upstream_split(spec, split) not in spec.splits:
        raise MismatchError(
            f"{folder}: {spec.id} has no split {split!r}; it has {', '.join(spec.splits)}"
        )
    today = discovery.specs().get(spec.id, spec).version
    if result.benchmark.version != today:
        raise MismatchError(
            f"{folder}: scored by version {result.benchmark.version} of {spec.id}, this is version {today}; "
            "score its predictions again"
        )
    if result.provenance.kind != "run":
        raise MismatchError(
            f"{folder}: provenance.kind is {result.provenance.kind}; only runs can be computed again"
        )
    return spec


def date_of(result: Result) -> datetime:
    """Return the moment at which a result was made; a date without a zone is UTC. ValueError where it is not a date."""
    date = datetime.fromisoformat(result.provenance.date)
    return date if date.tzinfo else date.replace(tzinfo=UTC)


class _Recomputed:
    """A result held to its samples: each item to its own words, and the numbers to the items.

    `stated` grows with what can't be held to anything; `metrics` are what the samples give, once
    they were computed; `hold` says whether every item is what its own words say.
    """

    def __init__(
        self,
        spec: BenchmarkSpec,
        result: Result,
        samples: list[Sample],
        rows_here: Mapping[str, Row] | None,
    ) -> None:
        self.samples = samples
        self.stated: set[Stated] = set() if rows_here is not None else {"references"}
        self.metrics: Metrics = {}
        self.hold = False
        self._spec = spec
        self._rows = rows_here or {}
        self._result = result
        self._split = result.benchmark.split
        self._hidden = spec.splits[upstream_split(spec, self._split)].hidden_answers
        self._reasons = aggregation.reasons(spec, hidden=self._hidden)
        if result.judge is None:
            self._reasons -= OF_JUDGE - {Reason.JUDGE_UNAVAILABLE}
        elif any(sample.judge_replies for sample in samples):
            self.stated.add("judge replies")
        if result.settings.ranker is not None:
            self.stated.add("ranker replies")
        self._judged = frozenset(spec.judge.criteria if spec.judge else ())
        prompts = replies.own_prompts(spec, result.judge) if spec.judge and rows_here else None
        # Replies to an older text of our prompts can't be held to the present one; they are a group
        # of their own.
        fit = prompts and result.judge and prompts.sha256 == result.judge.prompt_sha256
        self._prompts = prompts if fit else None
        self._settings = result.settings
        try:
            self._most_frames = FrameSampling.parse(result.settings.frames).frames
        except InputError:  # another's name for a sampling
            self._most_frames = None
        self._same_reader = rereading.is_current(result)
        self._from_tags = cognitive_profile.from_tags(spec)
        # What answers are scored on is a matter of the whole file: none of them may lack what
        # others have.
        self._offered = {
            kind: {
                name for sample in samples if is_judged(sample) == kind for name in sample.scores
            }
            - (self._judged if kind else set[str]())
            for kind in (True, False)
        }

    def problems(self) -> Iterator[str]:
        """Yield all that does not match."""
        result, spec, samples = self._result, self._spec, self.samples
        yield from identity.problems(result)
        if not 1 <= result.answers <= answers.VERSION:
            yield (
                f"answers is {result.answers}, and this version of Reelbench knows how versions 1 to {answers.VERSION} "
                "read answers; score its predictions again, with this version"
            )
        try:
            if date_of(result) > datetime.now(UTC) + AHEAD:
                yield f"provenance.date {result.provenance.date} lies in the future"
        except ValueError:
            yield f"provenance.date {result.provenance.date[:40]!r} is not an ISO date"
        stated = result.benchmark.scoring_sha256
        if stated is not None and not spec.package and stated != (scoring := scoring_sha256(spec)):
            yield f"benchmark.scoring_sha256 is {stated[:12]}…, what the result declares has {scoring[:12]}…"
            return
        if "references" not in self.stated:  # the data is on this machine
            yield from against_data.problems(spec, result, samples, self._rows)
            if len(samples) > len(
                self._rows
            ):  # most are of no question: nothing is computed of them
                return
        yield from replies.record_problems(spec, result.judge)
        of_items = list(self.item_problems())
        self.hold = not of_items
        yield from of_items
        yield from self.number_problems()

    def item_problems(self) -> Iterator[str]:
        """Yield the contradictions, item by item."""
        if self._hidden and (
            scored := [sample.id for sample in self.samples if sample.state == "scored"]
        ):
            yield (
                f"the answers of split {self._split!r} are hidden, so no score can be known; "
                f"{listing('item', scored)} scored"
            )
            return
        for sample in self.samples:
            if any(sample.facets.get(name) for name in self._from_tags):
                self.stated.add("labels")
            problems = [*self._state_problems(sample), *self._asked(sample)] or self._scores(sample)
            yield from (f"item {sample.id!r}: {line}" for line in problems)

    def _state_problems(self, sample: Sample) -> Iterator[str]:
        if (sample.state == "scored") != (sample.reason is None):
            yield f"state {sample.state} with reason {sample.reason}"
        elif sample.reason is not None and sample.reason not in self._reasons:
            yield (
                f"unscored for the reason {sample.reason[:80]!r}, which {self._spec.id} "
                f"{self._split} can't have; it has {', '.join(sorted(self._reasons))}"
            )
        elif (
            sample.state == "scored" and sample.prediction is None and sample.option_scores is None
        ):
            yield "scored, but it has no prediction"
        elif (
            sample.reason in (Reason.PREDICTION_MISSING, Reason.MEDIA_MISSING)
            and sample.prediction is not None
        ):
            yield f"unscored ({sample.reason}), but it has a prediction"
        elif sample.reason == Reason.MODEL_FAILED and not (
            sample.prediction is None or aggregation.is_failure(str(sample.prediction))
        ):
            yield "unscored (model_failed), but its prediction is not the mark of a failed request"

    def _scores(self, sample: Sample) -> Iterator[str]:
        answered = sample.reason not in UNANSWERED
        try:
            read = list(self._reading(sample)) if answered else []
            # A reason that came after scoring by rule (a judge's) leaves the deterministic columns
            # in place.
            [known] = against_data.as_the_data_has_them(self._spec, [sample], self._rows)
            expected = aggregation.item_columns(self._spec, known.item("", sample.reason))
            row, judge = self._rows.get(sample.id), self._result.judge
            chosen = [
                *replies.problems(self._spec.judge, judge, sample, self._prompts, row),
                *self._choice_problems(sample),
            ]
        except Exception as error:  # noqa: BLE001 - whatever a stranger's values lead to is their item's problem
            yield f"can't be scored again ({first_line(error)})"
            return
        yield from read
        kind = is_judged(sample)
        stated = {
            name: value
            for name, value in sample.scores.items()
            if not kind or name not in self._judged
        }
        if (
            not self._same_reader
        ):  # what another version read from the words is read again by the board
            again = READ_WHILE_SCORED & stated.keys() & expected.keys()
            if any(stated[name] != expected[name] for name in again):
                self.stated.add("answers")
            stated |= {name: expected[name] for name in again}
        yield from score_mismatches(stated, expected)
        if answered and (lacking := sorted(self._offered[kind] - expected.keys())):
            yield f"answered, but not scored on {', '.join(lacking)}, which other items are"
        yield from chosen

    def _reading(self, sample: Sample) -> Iterator[str]:
        if sample.parsed is not None:
            read = read_again(self._spec, self._settings, sample, self._rows.get(sample.id))
            edited = [name for name, value in read.items() if sample.parsed[name] != value]
            if edited and (self._same_reader or isinstance(sample.prediction, Mapping)):
                yield from (
                    f"parsed.{name} is {sample.parsed[name]!r}, its prediction reads {read[name]!r}; "
                    "the answer was edited"
                    for name in edited
                )
            elif (
                read.keys() != sample.parsed.keys() or edited
            ):  # read by an earlier reader, or nobody can tell here
                self.stated.add("answers")
        elif self._same_reader and (
            read := read_again(
                self._spec,
                self._settings,
                sample.model_copy(update={"parsed": {"text": None}, "option_scores": None}),
                None,
            )
        ):
            yield f"parsed is null, its prediction reads {str(read['text'])[:80]!r}; the answer was edited"
        if (flags := rereading.flags(sample)) != sample.flags:
            yield f"flags are {sample.flags}, its answer has {flags}"

    def _asked(self, sample: Sample) -> Iterator[str]:
        """Yield the items that were not asked as the settings say: a way of asking is a row of its own."""
        settings = self._settings
        if sample.reason in UNANSWERED:
            return
        if bool(sample.option_scores) != (settings.answering is not None):
            has = "option scores" if sample.option_scores else "no option scores"
            yield f"has {has}, and settings.answering is {settings.answering}"
        shown = len(sample.frame_timestamps or ()) - sample.frame_padding
        if self._most_frames is not None and shown > self._most_frames:
            yield f"was shown {shown} frames, and settings.frames is {settings.frames}"
        if sample.candidates and settings.candidates is None:
            yield "has candidates, and settings.candidates is absent"
        if sample.candidates and sample.prediction not in sample.candidates:
            yield "its prediction is none of its candidates"

    def _choice_problems(self, sample: Sample) -> Iterator[str]:
        """Yield the contradictions of one item; none where no ranker chose."""
        ranker, texts, replies = self._settings.ranker, sample.candidates, sample.ranker_replies
        if ranker is None:
            if replies is not None:
                yield "has replies of a ranker, and settings.ranker names none"
            return
        if sample.prediction is None:
            return
        mode, votes = ranker.mode, ranker.votes
        if not texts or replies is None:
            yield "has no candidates, or none of the ranker's replies, though a ranker chose its answer"
        elif len(replies) != (1 if mode == "listwise" else len(texts)) or any(
            len(cast) != votes for cast in replies
        ):
            yield f"has other replies of the ranker than {votes} votes on {len(texts)} candidates ({mode})"
        else:
            index = candidates.choose(mode, sample.id, len(texts), replies).index
            if texts[index] != sample.prediction:
                yield f"its prediction is not candidate {index}, which the ranker's replies choose"

    def number_problems(self, *, overlap: bool = True) -> Iterator[str]:
        """Yield the metrics, breakdowns and counts that are not what the samples give."""
        spec, result, samples = self._spec, self._result, self.samples
        corpus = {metric.name for metric in spec.metrics if metric.aggregate.how == "corpus"}
        stated = {
            name: metric for name, metric in result.metrics.items() if overlap or name not in corpus
        }
        overlap = bool(corpus & stated.keys())
        known = against_data.as_the_data_has_them(spec, samples, self._rows)
        unlabelled = known != list(samples)
        try:
            metrics, breakdowns = aggregation.aggregate(
                spec, known, overlap=overlap, interval=result.interval
            )
            panel = list(replies.panel_problems(spec, result.judge, known))
            if unlabelled:
                # A references file without labels: the metrics are the data's, and it has no
                # breakdowns to state.
                _, breakdowns = aggregation.aggregate(
                    spec, samples, overlap=False, interval=result.interval
                )
        except Exception as error:  # noqa: BLE001 - whatever a stranger's values lead to refuses their result alone
            yield f"its metrics can't be computed again ({first_line(error)})"
            return
        self.metrics = metrics
        wrong = list(metric_mismatches("metrics", stated, metrics))
        if wrong and unlabelled:
            yield f"its references lack labels that the data of {spec.id} has; score it again without --references"
        yield from wrong
        yield from panel
        yield from metric_mismatches("breakdowns", result.breakdowns, breakdowns)
        media = media_record(samples)
        if result.media is not None and result.media != media:
            said, here = (
                f"{len(one.videos)} of {one.of} videos @{one.sha256[:8]}"
                for one in (result.media, media)
            )
            yield f"media is {said}, the samples say {here}"
        beside = {
            name: getattr(result.counts, name)
            for name in ("extra", "duplicate", "tags_without_question")
        }
        if (
            result.settings.ranker is not None and result.counts.unread_candidates
        ):  # older results don't count them
            beside["unread_candidates"] = candidates.unread(result.settings.ranker.mode, samples)
        from_tags = cognitive_profile.from_tags(spec)
        untagged = sum(not any(sample.facets.get(name) for name in from_tags) for sample in samples)
        if untagged == len(samples):  # no tags were given
            beside["tags_without_question"] = untagged = 0
        beside["questions_without_tags"] = untagged
        counts = aggregation.ScoredItems(spec, samples, beside=beside).counts
        for name, value in counts:
            said = getattr(result.counts, name)
            if said != value:
                yield f"counts.{name} is {said}, the samples say {value}"
