"""Some questions of an earlier result asked again: the other answers stay, and the new result says what it merged."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from reelbench.judges.judge_options import JudgeOptions
from reelbench.llm.reply import Reply
from reelbench.llm.retry_cursor import unfinished
from reelbench.methods.questions import QuestionSet
from reelbench.registry.errors import InputError
from reelbench.registry.records import MergedRecord, Result, Sample, SettingsRecord
from reelbench.registry.rows import Row
from reelbench.scoring import result_files
from reelbench.scoring.aggregation import ANSWERS_HIDDEN, UNANSWERED
from reelbench.tasks.score import Evaluation, Options
from reelbench.tasks.submissions import Prediction, answered

Only = Literal["cut_off", "refused", "unscored", "other-judge"]
"""Which questions are asked again: those of one reason, of every reason, or judged by another model than most."""

OTHER_JUDGE: Only = "other-judge"
_KEPT = ("tokens", "seconds", "candidates", "frame_timestamps", "frame_padding")
_EQUAL = ("frames", "candidates", "language", "prompt_sha256", "limit")


def unusable(reply: Reply) -> bool:
    """Whether a reply in the cache is no whole answer: it has no text, or was cut short."""
    return reply.raw is None or unfinished(reply) is not None


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """A result of which the questions `ids` are asked again."""

    folder: Path
    only: Only
    result: Result
    samples: Mapping[str, Sample]
    ids: frozenset[str]

    @classmethod
    def read(cls, folder: Path, only: str) -> "EarlierResult":
        """Read a result; InputError where it is none, or has no such question."""
        if only not in get_args(Only):
            raise InputError(f"--only {only!r}: give {', '.join(get_args(Only))}")
        result = result_files.read(folder)
        samples = {sample.id: sample for sample in result_files.read_samples(folder)}
        most = _most_returned(samples)
        ids = frozenset(name for name, sample in samples.items() if _is_meant(sample, only, most))
        if not ids:
            raise InputError(f"{folder}: none of its {len(samples)} questions is {only}; there is nothing to ask again")
        return cls(folder, only, result, samples, ids)  # type: ignore[arg-type] - held to its values above

    def check(self, questions: QuestionSet, settings: SettingsRecord, model: str, judge: JudgeOptions | None) -> None:
        """Raise InputError where what is asked now can't stand in one result with what was asked then."""
        then, spec = self.result, questions.spec
        pairs: dict[str, tuple[object, object]] = {
            "benchmark": (then.benchmark.id, spec.id),
            "version": (then.benchmark.version, spec.version),
            "split": (then.benchmark.split, questions.located.split),
            "model": (then.model.id, model),
            **{name: (getattr(then.settings, name), getattr(settings, name)) for name in _EQUAL},
        }
        if then.judge is not None or self.only == OTHER_JUDGE:
            pairs["judge"] = (then.judge.requested if then.judge else None, judge.name if judge else None)
        differing = next((name for name, (before, now) in pairs.items() if before != now), None)
        if differing is not None:
            before, now = pairs[differing]
            raise InputError(f"{self.folder}: was made with {differing} {before}, now it is {now}; ask the same way")
        if {row["id"] for row in questions.rows} != self.samples.keys():
            raise InputError(f"{self.folder}: is not of the same questions; give the same data")

    def settings(self, settings: SettingsRecord) -> SettingsRecord:
        """Return the settings of the new result: what it merged is among them."""
        then = self.result
        merged = MergedRecord(
            samples_sha256=then.provenance.samples_sha256 or "",
            only=self.only,
            asked_again=len(self.ids),
            generation=then.settings.generation,
        )
        return settings.model_copy(
            update={"merged": merged, "audio": then.settings.audio, "label": then.settings.label}
        )

    def prediction(self, questions: QuestionSet, row: Row) -> Prediction:
        """Return the answer to a question that is not asked again, read by today's rules."""
        sample = self.samples[row["id"]]
        if sample.reason in UNANSWERED - {ANSWERS_HIDDEN}:
            return Prediction(sample.prediction, reason=sample.reason)
        return answered(questions.spec, str(sample.prediction), row.get("options", ()))

    def beside(self, name: str) -> dict[str, Any]:
        """Return the further fields of the sample of a question that is not asked again."""
        return {field: getattr(self.samples[name], field) for field in _KEPT}


def judged_again(questions: QuestionSet, earlier: EarlierResult, options: Options) -> Evaluation:
    """Ask the judge again about the answers that another model than its usual one judged; the answers stay.

    Raises:
        InputError: No judge is named, or another one, or the questions are not the result's.
    """
    then = earlier.result
    settings = questions.settings().model_copy(update={"candidates": then.settings.candidates})
    earlier.check(questions, settings, then.model.id, options.judge)
    most = _most_returned(earlier.samples)

    def once_more(judge: JudgeOptions) -> JudgeOptions:
        usual = most.get(judge.model, most.get(None))
        return replace(judge, outdated=lambda reply: usual is not None and reply.returned != usual)

    if options.judge is not None:
        first, *others = [once_more(judge) for judge in options.judge.members]
        options = replace(options, judge=replace(first, others=tuple(others)))
    generation = {"generation": then.settings.generation}
    return questions.scored(
        {row["id"]: earlier.prediction(questions, row) for row in questions.rows},
        {},
        options,
        model=then.model,
        settings=earlier.settings(settings).model_copy(update=generation),
        beside={name: earlier.beside(name) for name in earlier.samples},
    )


def _is_meant(sample: Sample, only: str, most: Mapping[str | None, str | None]) -> bool:
    if only == OTHER_JUDGE:
        return any(reply.model != most[reply.judge] for reply in sample.judge_replies)
    if sample.reason == ANSWERS_HIDDEN:
        return False
    return sample.state == "unscored" if only == "unscored" else sample.reason == only


def _most_returned(samples: Mapping[str, Sample]) -> dict[str | None, str | None]:
    """Return the id under which each judge (None: the only one) answered most often."""
    counts: dict[str | None, Counter[str | None]] = {}
    for sample in samples.values():
        for reply in sample.judge_replies:
            counts.setdefault(reply.judge, Counter())[reply.model] += 1
    return {judge: ids.most_common(1)[0][0] for judge, ids in counts.items()}
