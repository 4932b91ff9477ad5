"""Some questions of an earlier result answered anew: the other answers stay, and the new result says what it merged."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from reelbench.base.errors import InputError
from reelbench.judges.judge_options import JudgeOptions
from reelbench.registry.question_files import QuestionIds
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, MergedRecord, Result, Sample, SettingsRecord
from reelbench.registry.rows import UNTIMED
from reelbench.scoring import result_files
from reelbench.scoring.aggregation import reason_before_judging
from reelbench.scoring.answers import VERSION
from reelbench.tasks.submissions import Questions, answered

Only = Literal["cut_off", "refused", "unscored", "other-judge", "unreadable", "disagree"]
"""Which questions are asked again: those of one reason, of every reason, judged by another model than most, with an
answer that could not be read, or on which two results differ."""

OTHER_JUDGE: Only = "other-judge"
DISAGREE: Only = "disagree"
IDS = "ids"
"""In the record, where a file named the questions."""

_EQUAL = ("frames", "candidates", "language", "prompt_sha256", "limit", "offset")


@dataclass(frozen=True)
class EarlierResult:
    """A result of which the questions `ids` are asked again; `compared_with` is the other one's hash, if any."""

    folder: Path
    only: str
    result: Result
    samples: Mapping[str, Sample]
    ids: frozenset[str]
    compared_with: str | None = None

    @classmethod
    def read(
        cls, folder: Path, only: str | QuestionIds, other: Path | None = None
    ) -> "EarlierResult":
        """Read a result, and for `disagree` another one of the same; InputError where one is none, or nothing meant."""
        if not isinstance(only, QuestionIds) and only not in get_args(Only):
            raise InputError(f"--only {only!r}: give {', '.join(get_args(Only))}")
        if (only == DISAGREE) != (other is not None):
            raise InputError(
                "--only disagree needs --from twice, and no other does: the answers of the first stay"
            )
        folder = result_files.folder_of_one(folder)
        result = result_files.read(folder)
        samples = {sample.id: sample for sample in result_files.read_samples(folder)}
        if isinstance(only, QuestionIds):
            only.check(samples, str(folder))
            return cls(folder, IDS, result, samples, only.ids)
        compared_with = None
        if other is not None:
            other = result_files.folder_of_one(other)
            second = result_files.read(other)
            before, now = (
                (one.benchmark.id, one.benchmark.version, one.benchmark.split)
                for one in (result, second)
            )
            if before != now:
                raise InputError(
                    f"{other}: is of {now[0]} {now[2]}, version {now[1]}, and the first of {before[0]}"
                )
            others = {sample.id: sample for sample in result_files.read_samples(other)}
            if others.keys() != samples.keys():
                raise InputError(
                    f"{other}: is not of the same questions as the first; give two results of the same data"
                )
            compared_with = second.provenance.samples_sha256 or ""
            ids = {
                name for name, sample in samples.items() if _stand(sample) != _stand(others[name])
            }
        else:
            most = most_returned(samples)
            ids = {name for name, sample in samples.items() if _is_meant(sample, only, most)}
        if not ids:
            raise InputError(
                f"{folder}: none of its {len(samples)} questions is {only}; there is nothing to ask again"
            )
        return cls(folder, only, result, samples, frozenset(ids), compared_with)

    def refuse_unlike(
        self,
        questions: Questions,
        model: str,
        settings: SettingsRecord,
        *,
        judge: JudgeOptions | None,
        known: Collection[str] | None,
    ) -> None:
        """Raise InputError where what is asked now can't stand in one result with what was asked then.

        `known` are the ids of the questions as they are here now, where all of them are known.
        """
        then = self.result
        pairs: dict[str, tuple[object, object]] = {
            "benchmark": (then.benchmark.id, questions.spec.id),
            "version": (then.benchmark.version, questions.spec.version),
            "split": (then.benchmark.split, questions.split),
            "model": (then.model.id, model),
            **{name: (getattr(then.settings, name), getattr(settings, name)) for name in _EQUAL},
        }
        if then.judge is not None or self.only == OTHER_JUDGE:
            pairs["judge"] = (
                then.judge.requested if then.judge else None,
                judge.name if judge else None,
            )
        differing = next((name for name, (before, now) in pairs.items() if before != now), None)
        if differing is not None:
            before, now = pairs[differing]
            raise InputError(
                f"{self.folder}: was made with {differing} {before}, now it is {now}; ask the same way"
            )
        if known is not None and set(known) != self.samples.keys():
            raise InputError(f"{self.folder}: is not of the same questions; give the same data")

    def check_apart(self, output: Path, names: Collection[str] | None = None) -> None:
        """Raise InputError where several benchmarks are asked, or what is written to `output` may take its place."""
        if names is not None and len(names) != 1:
            raise InputError("--from: is one benchmark's result; name that one")
        if self.folder.resolve().is_relative_to(output.resolve()):
            raise InputError(
                f"--output {output}: has the result that is asked again in it; give another folder"
            )

    def merged(self, questions: Questions, items: Iterable[Item]) -> tuple[list[Item], int]:
        """Return an item for each question, and how many of them are new: those that were meant and have an answer.

        The other answers are the earlier result's, read by today's rules.
        """
        given = {item.id: item for item in items}
        new = {
            name
            for name in self.ids & given.keys()
            if given[name].reason != Reason.PREDICTION_MISSING
        }
        written = result_files.read_questions(self.folder) if new < self.samples.keys() else {}
        together: list[Item] = []
        for name, sample in self.samples.items():
            asked, line = given.get(name), written.get(name, {})
            if asked is None or name not in new:
                question = asked.question if asked else str(line.get("question", ""))
                options = asked.options if asked else tuple(line.get("options", ()))
                reason = reason_before_judging(sample)
                asked = sample.item(question, reason, options)
                could_be_read = reason in {None, Reason.ANSWERS_HIDDEN} and not sample.option_scores
                if (
                    could_be_read
                    and isinstance(sample.prediction, str)
                    and self.result.answers != VERSION
                ):
                    read = answered(
                        questions.spec,
                        sample.prediction,
                        options,
                        questions.timings.get(name, UNTIMED),
                    )
                    asked = asked.model_copy(update={"parsed": read.parsed, "flags": read.flags})
            together.append(asked)
        return together, len(new)

    def settings(self, settings: SettingsRecord, asked_again: int) -> SettingsRecord:
        """Return the settings of the new result: what it merged is among them."""
        then = self.result
        merged = MergedRecord(
            samples_sha256=then.provenance.samples_sha256 or "",
            only=self.only,
            asked_again=asked_again,
            generation=then.settings.generation,
            compared_with=self.compared_with,
        )
        return settings.model_copy(
            update={"merged": merged, "audio": then.settings.audio, "label": then.settings.label}
        )


def most_returned(samples: Mapping[str, Sample]) -> dict[str | None, str | None]:
    """Return the id under which each judge (None: the only one) answered most often."""
    counts: dict[str | None, Counter[str | None]] = {}
    for sample in samples.values():
        for reply in sample.judge_replies:
            counts.setdefault(reply.judge, Counter())[reply.model] += 1
    return {judge: ids.most_common(1)[0][0] for judge, ids in counts.items()}


def _is_meant(sample: Sample, only: str, most: Mapping[str | None, str | None]) -> bool:
    if only == OTHER_JUDGE:
        return any(reply.model != most[reply.judge] for reply in sample.judge_replies)
    if sample.reason == Reason.ANSWERS_HIDDEN:
        return False
    if only == "unreadable":
        return "parse_failed" in sample.flags
    return sample.state == "unscored" if only == "unscored" else sample.reason == only


def _stand(sample: Sample) -> Sequence[object]:
    """Return the parts of an answer that two must share to agree: state, letter, and scores."""
    return sample.state, (sample.parsed or {}).get("answer"), sample.scores
