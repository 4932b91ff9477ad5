"""Answer some questions of an earlier result anew.

The other answers stay, and the new result records what it merged.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from reelbench.base.errors import InputError
from reelbench.judges.judge_options import JudgeOptions
from reelbench.registry.errata import Errata
from reelbench.registry.question_files import QuestionIds
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, MergedRecord, Result, Sample, SettingsRecord
from reelbench.registry.rows import UNTIMED
from reelbench.scoring import result_files
from reelbench.scoring.aggregation import reason_before_judging
from reelbench.scoring.answers import VERSION
from reelbench.tasks.submissions import Questions, Words, parse_answer

Only = Literal["cut_off", "refused", "unscored", "other-judge", "unreadable", "disagree"]
"""The questions to ask again: those that are unscored for one reason or for any, judged by another
model than most, with an answer that could not be read, or on which two results differ."""

OTHER_JUDGE: Only = "other-judge"
DISAGREE: Only = "disagree"
IDS = "ids"
"""In the record, where a file named the questions."""

_EQUAL = ("frames", "candidates", "language", "prompt_sha256", "limit", "offset")

_NOT_COMPARED = {
    "frames_given",
    "frames_unlike",
    "audio",
    "label",
    "merged",
    "generation",
    "run",
    "limit",
    "offset",
}
"""Settings that come of a run, those taken from the earlier result, and those recorded of it."""

Samples = Mapping[str, Sample]


class MergedAnswers(NamedTuple):
    """An item for each question, and the number of them with a new answer."""

    items: list[Item]
    new: int


class _OtherResult(NamedTuple):
    """The second result of `disagree`: the hash of its samples, and the samples by id."""

    sha256: str
    samples: Samples


@dataclass(frozen=True)
class EarlierResult:
    """A result of which the questions `ids` are asked again.

    `compared_with` is the hash of the other result, if there is one.
    """

    folder: Path
    only: str
    result: Result
    samples: Samples
    ids: frozenset[str]
    compared_with: str | None = None

    @classmethod
    def read(
        cls, folder: Path, only: str | QuestionIds, second_folder: Path | None = None
    ) -> "EarlierResult":
        """Read a result, and for `disagree` another one of the same questions.

        Raises:
            InputError: A folder holds no result, or no question is to be asked again.
        """
        if not isinstance(only, QuestionIds) and only not in get_args(Only):
            raise InputError(f"--only {only!r}: give {', '.join(get_args(Only))}")
        if (only == DISAGREE) != (second_folder is not None):
            raise InputError(
                "--only disagree needs --from twice, and no other does: "
                "the answers of the first stay"
            )
        folder = result_files.folder_of_one(folder)
        result = result_files.read(folder)
        samples = _samples_by_id(folder)
        if isinstance(only, QuestionIds):
            only.check(samples, str(folder))
            return cls(folder, IDS, result, samples, only.ids)
        compared_with = None
        if second_folder is not None:
            second = _read_second(second_folder, result, samples)
            compared_with = second.sha256
            ids = _differing_questions(samples, second.samples)
        else:
            usual_models = most_returned(samples)
            ids = [
                name for name, sample in samples.items() if _is_meant(sample, only, usual_models)
            ]
        if not ids:
            raise InputError(
                f"{folder}: none of its {len(samples)} questions is {only}; "
                "there is nothing to ask again"
            )
        return cls(folder, only, result, samples, frozenset(ids), compared_with)

    def refuse_unlike(
        self,
        questions: Questions,
        model: str,
        settings: SettingsRecord,
        *,
        judge: JudgeOptions | None,
        question_ids: Collection[str] | None,
        errata: Errata | None,
    ) -> None:
        """Raise InputError where new answers can't stand in one result with the earlier ones.

        `question_ids` are those of today, None where not all of them are known.
        """
        then = self.result
        pairs: dict[str, tuple[object, object]] = {
            "benchmark": (then.benchmark.id, questions.spec.id),
            "version": (then.benchmark.version, questions.spec.version),
            "split": (then.benchmark.split, questions.split),
            "errata": (then.benchmark.errata, errata and errata.record),
            "model": (then.model.id, model),
        }
        for name in _EQUAL:
            pairs[name] = (getattr(then.settings, name), getattr(settings, name))
        pairs["reader"] = (_reader_in_words(then.settings), _reader_in_words(settings))
        if then.judge is not None or self.only == OTHER_JUDGE:
            judge_before = then.judge.requested if then.judge else None
            judge_now = judge.name if judge else None
            pairs["judge"] = (judge_before, judge_now)
        for name, (before, now) in pairs.items():
            if before != now:
                raise InputError(
                    f"{self.folder}: was made with {name} {before}, now it is {now}; "
                    "ask the same way"
                )
        if question_ids is not None and set(question_ids) != self.samples.keys():
            raise InputError(f"{self.folder}: is not of the same questions; give the same data")

    def check_apart(
        self, output: Path, names: Collection[str] | None = None, place: Path | None = None
    ) -> None:
        """Raise InputError where a new result may replace this one.

        Args:
            output: The folder that the user names.
            names: The benchmarks. Several are an InputError too.
            place: Where in `output` the result will be. None is `output` itself.
        """
        if names is not None and len(names) != 1:
            raise InputError("--from: is one benchmark's result; name that one")
        if self.folder.resolve().is_relative_to((place or output).resolve()):
            raise InputError(
                f"--output {output}: {self.folder} is in it, and stays as it is; "
                f"give another folder: --output {_next_folder(output)}"
            )

    def merged(self, questions: Questions, items: Iterable[Item]) -> MergedAnswers:
        """Return an item for each question.

        It is new where the question was asked again and has an answer. The other answers are the
        earlier result's, read by today's rules.
        """
        new_items: dict[str, Item] = {}
        unused_items: dict[str, Item] = {}
        for item in items:
            if item.id in self.ids and item.reason != Reason.PREDICTION_MISSING:
                new_items[item.id] = item
            else:
                unused_items[item.id] = item
        question_lines: Mapping[str, Mapping[str, Any]] = {}
        if new_items.keys() < self.samples.keys():
            question_lines = result_files.read_questions(self.folder)
        all_items: list[Item] = []
        for name, sample in self.samples.items():
            if name in new_items:
                all_items.append(new_items[name])
                continue
            if name in unused_items:
                words = (unused_items[name].question, unused_items[name].options)
            else:
                line = question_lines.get(name, {})
                words = (str(line.get("question", "")), tuple(line.get("options", ())))
            all_items.append(self._earlier_item(questions, sample, words))
        return MergedAnswers(all_items, len(new_items))

    def _earlier_item(self, questions: Questions, sample: Sample, words: Words) -> Item:
        """Return an earlier answer as an item, read again where the rules have changed."""
        question, options = words
        reason = reason_before_judging(sample)
        item = sample.item(question, reason, options)
        is_up_to_date = self.result.answers == VERSION
        has_answer = reason in {None, Reason.ANSWERS_HIDDEN} and not sample.option_scores
        if is_up_to_date or not has_answer or not isinstance(sample.prediction, str):
            return item
        timing = questions.timings.get(sample.id, UNTIMED)
        answer = parse_answer(questions.spec, sample.prediction, options, timing, question)
        new_fields = {"parsed": answer.parsed, "flags": answer.flags, "read_by": None}
        return item.model_copy(update=new_fields)

    def settings(self, settings: SettingsRecord, asked_again: int) -> SettingsRecord:
        """Return the settings of the new result. They record what it merged."""
        then = self.result
        merged = MergedRecord(
            samples_sha256=then.provenance.samples_sha256 or "",
            only=self.only,
            asked_again=asked_again,
            generation=then.settings.generation,
            compared_with=self.compared_with,
            changed=self._changed_settings(settings) or None,
        )
        return settings.model_copy(
            update={"merged": merged, "audio": then.settings.audio, "label": then.settings.label}
        )

    def _changed_settings(self, settings: SettingsRecord) -> tuple[str, ...]:
        """Return the names of the settings that differ from the earlier result's."""
        then = self.result.settings
        before = then.model_dump(mode="json", exclude=_NOT_COMPARED)
        now = settings.model_dump(mode="json", exclude=_NOT_COMPARED)
        changed = {name for name in before | now if before.get(name) != now.get(name)}
        if not then.asked_one_way:
            changed.add("merged")
        return tuple(sorted(changed))


def _next_folder(folder: Path) -> Path:
    """Return a folder beside another, of the same name with a number, that isn't there."""
    number = 2
    while folder.with_name(f"{folder.name}-{number}").exists():
        number += 1
    return folder.with_name(f"{folder.name}-{number}")


def _reader_in_words(settings: SettingsRecord) -> str | None:
    """Return the reader's model, prompt and further fields. None without a reader."""
    reader = settings.reader
    if reader is None:
        return None
    words = f"{reader.model} with the prompt {reader.prompt_sha256[:12]}"
    if reader.extra:
        words += f" and {json.dumps(reader.extra, sort_keys=True)}"
    return words


def _samples_by_id(folder: Path) -> dict[str, Sample]:
    return {sample.id: sample for sample in result_files.read_samples(folder)}


def _read_second(folder: Path, first: Result, samples: Samples) -> _OtherResult:
    """Read the second result of `disagree`.

    Raises:
        InputError: It is not of the first one's benchmark, split and questions.
    """
    folder = result_files.folder_of_one(folder)
    second = result_files.read(folder)
    before = first.benchmark
    now = second.benchmark
    if (before.id, before.version, before.split) != (now.id, now.version, now.split):
        raise InputError(
            f"{folder}: is of {now.id} {now.split}, version {now.version}, "
            f"and the first of {before.id}"
        )
    second_samples = _samples_by_id(folder)
    if second_samples.keys() != samples.keys():
        raise InputError(
            f"{folder}: is not of the same questions as the first; "
            "give two results of the same data"
        )
    return _OtherResult(second.provenance.samples_sha256 or "", second_samples)


def _differing_questions(samples: Samples, second_samples: Samples) -> list[str]:
    """Return the ids of the questions on which two results differ."""
    ids: list[str] = []
    for name, sample in samples.items():
        if _compared_parts(sample) != _compared_parts(second_samples[name]):
            ids.append(name)
    return ids


def _compared_parts(sample: Sample) -> Sequence[object]:
    """Return the parts that two answers share where they agree."""
    return sample.state, (sample.parsed or {}).get("answer"), sample.scores


def most_returned(samples: Samples) -> dict[str | None, str | None]:
    """Return the model under whose id each judge answered most often.

    The key is None for the only judge.
    """
    models_by_judge: dict[str | None, Counter[str | None]] = {}
    for sample in samples.values():
        for reply in sample.judge_replies:
            models = models_by_judge.setdefault(reply.judge, Counter())
            models[reply.model] += 1
    most_frequent: dict[str | None, str | None] = {}
    for judge, models in models_by_judge.items():
        [(model, _)] = models.most_common(1)
        most_frequent[judge] = model
    return most_frequent


def _is_meant(sample: Sample, only: str, usual_models: Mapping[str | None, str | None]) -> bool:
    """Return True where `only` names the questions that this one is of."""
    if only == OTHER_JUDGE:
        return any(reply.model != usual_models[reply.judge] for reply in sample.judge_replies)
    if sample.reason in (Reason.ANSWERS_HIDDEN, Reason.LEFT_OUT):
        return False
    if only == "unreadable":
        return "parse_failed" in sample.flags
    if only == "unscored":
        return sample.state == "unscored"
    return sample.reason == only
