"""The two records that scoring leaves on disk: `result.json` and `samples.jsonl`.

They are versioned, refuse unknown fields, and hold all that is needed to compute every number again
without the benchmark's data: `result.json` names what was run and what came out, `samples.jsonl`
has one line per item.
"""

from collections.abc import Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field

from reelbench.base import bounds
from reelbench.base.base_record import (
    LARGEST,
    Amount,
    Count,
    Free,
    Name,
    Omittable,
    OptionScore,
    Plain,
    Record,
    absent,
)
from reelbench.base.credentials import without_secrets
from reelbench.base.errors import InputError
from reelbench.registry.reasons import Reason

RESULT_SCHEMA = 1
"""Version of both records, of release 0.3.0. A change that a reader must know about raises it."""

State = Literal["scored", "unscored"]

Audio = Literal["kept", "dropped", "none", "unknown"]
"""The sound of the videos: given to the model, left out, absent from all videos, or unknown."""

Data = Literal["owners", "own", "unstated"]
"""The source of a benchmark's rows: its owners, somebody else, or unknown."""

Score = Annotated[float, Field(ge=-bounds.SCORE, le=bounds.SCORE)]
Prediction = Annotated[Any, AfterValidator(partial(without_secrets, words=False))]
Counted = Annotated[dict[Name, Count], Field(max_length=bounds.ENTRIES)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]  # a sha256


class SourceRecord(Record):
    """The source of the items' references."""

    kind: Literal["hub", "url", "local", "mini", "files", "samples"]
    location: str = Field(
        description="Repository, URL, or file name (never a private path's parents)."
    )
    revision: str | None = absent("The resolved commit; null if there is none.")
    unpinned: Omittable[bool] = Field(
        default=False,
        description="True if the benchmark's file pins no commit: the commit of the first use.",
    )
    fingerprint: str = Field(description="SHA-256 of the upstream bytes and the reader's version.")


class ErrataRecord(Record):
    """The errata of the split that were applied."""

    sha256: Digest | None = absent(
        "Hash of the rows' ids and what is done with each; null if the right answers are secret."
    )
    left_out: Count = Field(description="Number of rows that are left out.")
    corrected: Count = Field(description="Number of rows with a corrected answer or span.")

    def __str__(self) -> str:
        text = f"{self.left_out} left out, {self.corrected} corrected"
        return text if self.sha256 is None else f"{text} @{self.sha256[:8]}"


class BenchmarkRecord(Record):
    """The benchmark, its comparability version and its split."""

    id: Name
    version: Count
    split: Name
    source: SourceRecord
    questions_sha256: Omittable[Digest | None] = absent(
        "Hash of the id, question, options and answer of the split's rows, whatever their order "
        "and file; absent if not all are known.",
    )
    scoring_sha256: Digest = Field(
        description="Hash of what determines scores: kinds, metrics, the judge's criteria and "
        "scale."
    )
    errata: Omittable[ErrataRecord | None] = absent(
        "The benchmark's errata, if they were applied; absent if it had none or they were ignored."
    )
    declaration: Omittable[dict[str, Plain] | None] = absent(
        "The benchmark itself, if a `benchmark.yaml` declares it: its metrics, facets and scale."
    )


PEOPLE_ADAPTER = "reelbench_people"
"""The adapter of a result that people made, by answering on a page of ours."""

BASELINE_ADAPTER = "reelbench_baseline"
"""The adapter of a floor: answers of no model."""

Setting = Literal["zero-shot", "fine-tuned", "reasoning", "tools", "agent", "ensemble", "human"]
"""The way a model meets a benchmark, as its people state it."""


def _check_date(day: str) -> str:
    first_of = "-01" * (2 - day.count("-"))  # a year or a month stands for its first day
    try:
        date.fromisoformat(day + first_of)
    except ValueError:
        raise ValueError(f"{day} is not a date") from None
    return day


Day = Annotated[str, Field(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$"), AfterValidator(_check_date)]
"""A year, a month or a day."""


Weights = Literal["open", "closed"]
"""Whether anybody can have a model's weights, as its people state it."""


class About(Record):
    """Facts about a model that its people state and no run can show.

    Each field is absent where nobody stated it.
    """

    setting: Omittable[Setting | None] = None
    trained_on: Omittable[tuple[Name, ...] | None] = Field(
        default=None, max_length=200, description="Names of datasets, such as a benchmark's id."
    )
    parameters: Omittable[float | None] = Field(
        default=None, gt=0, le=LARGEST, description="Total number of parameters."
    )
    organisation: Omittable[str | None] = None
    released: Omittable[Day | None] = absent("Year, month or day: 2025, 2025-09, 2025-09-23.")
    licence: Omittable[str | None] = None
    weights: Omittable[Weights | None] = absent("Whether the weights are public.")
    links: Omittable[dict[Name, Name] | None] = Field(
        default=None, max_length=50, description="Name -> address."
    )
    frames: Omittable[str | None] = absent(
        "Frames that it was shown, if the run doesn't record them."
    )
    revision: Omittable[str | None] = absent("Commit or version, if the run doesn't record it.")


class ModelRecord(Record):
    """The model whose answers these are. `adapter` is lmms-eval's name for how it was run."""

    id: Name
    revision: Name | None = None
    adapter: Name | None = None
    args: Free = Field(default_factory=dict)
    about: Omittable[About | None] = absent("What the submitter says about it; absent if nothing.")

    @property
    def setting_stated(self) -> Setting | None:
        """The stated setting."""
        return None if self.about is None else self.about.setting

    @property
    def setting_beyond(self) -> Setting | None:
        """The stated setting. None of a model that was asked as it is."""
        return None if self.setting_stated == "zero-shot" else self.setting_stated


class RankerRecord(Record):
    """The model that chose each answer among several candidates."""

    model: str
    k: Count = Field(description="Largest number of candidates of a question.")
    mode: Literal["pointwise", "listwise"]
    votes: Count = 1
    prompt_sha256: str
    sampling: Omittable[Free | None] = absent(
        "Parameters sent with every request (`temperature`, `seed`, …); absent if there were none."
    )


class ReaderRecord(Record):
    """The model that read the answers that the grammar left unread."""

    model: Name
    prompt_sha256: str
    extra: Omittable[Free | None] = absent("Further parameters sent with every request.")


_UNSCORED = frozenset({"cut_off", "refused", "unscored"})
"""Choices of questions that had no score: a second asking takes no answer's place."""


class MergedRecord(Record):
    """The earlier result of which only some questions were asked again.

    The answers to the other questions are that result's.
    """

    samples_sha256: str = Field(
        description="Hash of the earlier result's samples; it identifies that result."
    )
    only: str = Field(
        description="Which questions were asked again: `cut_off`, `refused`, `unscored`, "
        "`unreadable`, `disagree`, `other-judge`, or `ids` (those listed in a file)."
    )
    asked_again: Count = Field(description="How many.")
    generation: Free = Field(
        description="The earlier result's settings, with which the other questions were asked."
    )
    compared_with: Omittable[str | None] = absent(
        "For `disagree`, the hash of the other result's samples."
    )
    changed: Omittable[tuple[str, ...] | None] = absent(
        "Further settings that were others when these were asked again; absent where none."
    )


class PresetValue(Record):
    """One value of a preset."""

    value: str | int | float | bool
    source: str = Field(description="Address where the model's owners state it.")


class PresetRecord(Record):
    """The settings with which the owners of a model family ask it."""

    name: str
    about: Omittable[str | None] = None
    values: Annotated[dict[Name, PresetValue], Field(max_length=bounds.ENTRIES)]
    changed: Omittable[tuple[str, ...] | None] = absent(
        "Values that the user replaced; absent if none."
    )

    def get(self, name: str) -> Any:  # noqa: ANN401 - as the value is
        """Return the preset's value. None where it has none or the user gave another."""
        if name not in self.values or name in (self.changed or ()):
            return None
        return self.values[name].value

    def overridden_by(self, **user_values: object) -> Self:
        """Return the preset with those of its values marked as changed that the user gave.

        Args:
            user_values: The user's values by name. None where the user gave none.
        """
        changed = set(self.changed or ())
        for name, value in user_values.items():
            if value is not None and name in self.values:
                changed.add(name)
        return self.model_copy(update={"changed": tuple(sorted(changed)) or None})


class SettingsRecord(Record):
    """The settings that shape the answers. Equal settings make two results comparable."""

    frames: str = Field(
        default="native", description="Frame sampling asked for; `native` leaves it to the model."
    )
    frames_given: dict[Name, Count] = Field(
        default_factory=dict,
        max_length=bounds.FRAMES_GIVEN,
        description="Number of frames that reached the model, not counting repeats -> items; "
        "`unknown` if they couldn't be counted; empty if nothing is known.",
    )
    frames_unlike: Omittable[Counted | None] = absent(
        "Items that were not shown what was asked for: `frames` (other frames arrived), `times` "
        "(a clip's clock gave other times than the frames have, and the answer is a time); "
        "absent if none.",
    )
    audio: Omittable[Audio | None] = absent(
        "How the videos' sound was handled; absent if `frames` says so."
    )
    label: Omittable[str | None] = absent(
        "What the user says about how the answers were made, if no other field fits."
    )
    candidates: Omittable[str | None] = absent(
        "`beam:5`, `sample:5,t=0.7`, `file:5` (made elsewhere): several answers to each "
        "question; the first is scored unless a ranker chose; absent if there was one answer.",
    )
    answering: Omittable[str | None] = absent(
        "`options:norm=mean,over=sentence,span=predicted`: the most likely option is the answer; "
        "absent if the model wrote its answer.",
    )
    ranker: Omittable[RankerRecord | None] = absent(
        "Who chose among the candidates; absent if the first is the answer."
    )
    reader: Omittable[ReaderRecord | None] = absent(
        "The model that read the answers that the grammar could not read; absent if none did."
    )
    language: Omittable[str | None] = absent(
        "Language in which the questions were asked; absent if it is their original language."
    )
    merged: Omittable[MergedRecord | None] = absent(
        "The result that the other answers are from, if only some questions were asked."
    )
    preset: Omittable[PresetRecord | None] = absent("The preset that was used; absent if none.")
    prompt_sha256: str | None = absent("Hash of our prompt file; null for answers made elsewhere.")
    generation: Free = Field(default_factory=dict)
    seed: int | None = Field(default=None, ge=-(2**63), le=2**64)
    run: Omittable[Annotated[int, Field(ge=1, le=LARGEST)] | None] = absent(
        "Number of the run, if all questions were asked several times; otherwise absent."
    )
    limit: float | None = absent("lmms-eval's --limit; a partial run is never ranked.")
    offset: Omittable[int | None] = absent(
        "lmms-eval's --offset: how many questions were skipped at the start."
    )

    @property
    def asked_one_way(self) -> bool:
        """True where all questions were asked in one way.

        So they were where only unscored ones were asked again, by the same settings.
        """
        merged = self.merged
        if merged is None:
            return True
        if merged.only not in _UNSCORED or merged.changed:
            return False
        return merged.generation == self.generation

    @property
    def shown_otherwise(self) -> str:
        """The items that were shown something else than was asked for, in words.

        Empty where there are none, or nothing is known.
        """
        words_by_kind = {
            "frames": "were shown other frames than asked for",
            "times": "were told other times than shown",
        }
        parts: list[str] = []
        for kind, items in (self.frames_unlike or {}).items():
            parts.append(f"{items} {words_by_kind.get(kind, kind)}")
        return ", ".join(parts)

    @property
    def sound(self) -> Audio:
        """The sound of the videos: as stated, or as it follows from the frames.

        Clips of ours have no sound unless that is stated. Elsewhere it is unknown.
        """
        if self.audio is not None:
            return self.audio
        kind = self.frames.partition(",")[0]
        if kind == "none":
            return "none"
        if kind in {"native", "unknown"}:
            return "unknown"
        return "dropped"


class MetricValue(Record):
    """A metric: its value, its 95 % interval and the number of items behind it.

    A null value means that nothing was scored.
    """

    value: Score | None
    ci95: tuple[Score, Score] | None = None
    n: Count


Metrics = dict[str, MetricValue]
Breakdowns = dict[str, dict[str, Metrics]]


class Marks(Record):
    """The marks that a judge's replies gave, by the request that brought them."""

    all: Count = Field(description="Replies with a mark.")
    from_reasks: Count = Field(
        description="Of these, replies to a second or third request, when the first gave no mark."
    )
    by_schema: Count = Field(
        description="Of these, replies to a request with a reply schema, which makes any model "
        "give a mark."
    )


JUDGE_SETTINGS = frozenset(
    {
        "requested",
        "prompt_sha256",
        "temperature",
        "extra",
        "structured",
        "votes",
        "vote_rule",
    }
)
"""The fields of a judge's record that say who was asked, and how."""


class JudgeRecord(Record):
    """The judge that was asked, the models that answered, and the cost."""

    requested: Name = Field(
        description="The requested model; for a panel all of them, separated by commas."
    )
    renamed: Omittable[bool | None] = absent(
        "True if it was asked under another name, such as a path, which is not recorded: the "
        "keys of its replies are made with that name."
    )
    returned: Counted = Field(
        default_factory=dict,
        description=(
            "Model id that the server returned (of a path, the part that names the model) -> "
            "replies."
        ),
    )
    url: str | None = absent("Host of the server; never a key, a user name or a query.")
    prompt: str = Field(
        description="Name of the prompt set: reelbench, official, or a file's name."
    )
    prompt_sha256: str
    temperature: float | None = None
    extra: Omittable[Free | None] = absent("Further parameters sent with every request.")
    structured: Omittable[Literal["always"] | None] = absent(
        "`always` if every call had a reply schema."
    )
    votes: Count = 1
    vote_rule: Literal["single", "majority", "mean", "median"] = "single"
    calls: Count = 0
    cached: Count = 0
    kept_from: Omittable[str | None] = absent(
        "When the first of the saved replies came; absent if none was used."
    )
    kept_to: Omittable[str | None] = absent("When the last of them came.")
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    reasoning_tokens: Omittable[Count | None] = absent(
        "Part of the completion tokens; absent if no server reported it."
    )
    cached_tokens: Omittable[Count | None] = absent(
        "Part of the prompt tokens; absent if no server reported it."
    )
    cost_usd: Amount | None = absent("Null if no price was given.")
    marks: Omittable[Marks | None] = absent(
        "How many marks came from re-asking; absent if none did."
    )
    panel: Omittable[list[Self] | None] = absent(
        "Each judge of a panel; absent for a single judge."
    )
    panel_rule: Omittable[Literal["mean", "median"] | None] = absent(
        "How the panel's scores are combined; an item that not all judges scored has no score."
    )
    agreement: Omittable[
        Annotated[dict[Name, float | None], Field(max_length=bounds.ENTRIES)] | None
    ] = absent("Criterion -> Krippendorff's alpha (ordinal) between the panel's judges.")
    metrics: Omittable[Metrics | None] = absent(
        "For a judge of a panel: the judged metrics by its scores alone."
    )


class Counts(Record):
    """The numbers of items by their outcome. `scored` plus all of `unscored` is `items`."""

    items: Count
    scored: Count
    unscored: Counted = Field(default_factory=dict, description="Reason -> items.")
    parse_failed: Count = Field(
        default=0, description="Scored as wrong because the answer could not be parsed."
    )
    empty: Count = Field(default=0, description="Scored as wrong because the answer was empty.")
    media_missing: Count = Field(
        default=0,
        description="Not asked because the video was missing; part of `unscored`.",
    )
    missing: Count = Field(
        default=0, description="Ids of the references without a prediction; part of `unscored`."
    )
    unread_candidates: Omittable[Count] = Field(
        default=0,
        description="Candidates without a readable reply of the ranker, if a ranker chose.",
    )
    read_by_model: Omittable[Count] = Field(
        default=0,
        description="Answers that only a reader, and not the grammar, found to state an option.",
    )
    extra: Count = Field(
        default=0,
        description="Predictions for ids that the references don't have; not part of `items`.",
    )
    duplicate: Count = Field(
        default=0, description="Further predictions for the same id; the last one counts."
    )
    tags_without_question: Count = Field(
        default=0, description="Ids in the tags file that no item has."
    )
    questions_without_tags: Count = Field(
        default=0, description="Items that are not in the tags file."
    )


Facts = Annotated[dict[Name, Plain], Field(max_length=bounds.ENTRIES)]
"""Facts by name."""


class RepeatCounts(NamedTuple):
    """Kept questions that were asked once more.

    Attributes:
        number: How many were asked.
        same: How many of these read as before.
    """

    number: int
    same: int


Doubt = Literal["uncounted", "misnamed", "reordered"]
"""Why it is doubtful what a served model saw of its pictures.

The server counts no tokens. The model names the colours of small test pictures wrongly, or in
another order.
"""


class PriceRecord(Record):
    """The price that a run was told: dollars per million tokens."""

    prompt: Amount
    completion: Amount


class AskedRecord(Record):
    """The source of the answers of a run of `ask`: replies and server."""

    asked: Count = Field(description="Replies that this run requested.")
    kept: Count = Field(description="Replies that were saved before.")
    kept_from: str | None = absent(
        "When the first of the saved replies came; null if there are none."
    )
    kept_to: str | None = absent("When the last of those came.")
    server: str = Field(description="Host of the server; never a key, a user name or a query.")
    revision: str | None = absent("As given by `about`.")
    served: Facts | None = absent(
        "What the server's `/v1/models` says about the model (`id`, `root`, `owned_by`, "
        "`max_model_len`; of a path, the part that names the model); null if it says nothing.",
    )
    states: Omittable[Facts | None] = absent(
        "What a server of one's own says about itself: `software`, `context` (tokens of a prompt "
        "and its answer), `slots` (calls at a time), `takes_pictures`; absent if it says nothing."
    )
    returned: Omittable[Counted | None] = absent(
        "Model id that the server returned (of a path, the part that names the model) -> "
        "replies. Absent if it returned none."
    )
    in_flight: Omittable[Count | None] = absent(
        "Maximum number of concurrent calls; absent if there were none."
    )
    price: Omittable[PriceRecord | None] = absent("As given by `--llm-price`; absent without it.")
    per_second: Omittable[Annotated[float, Field(ge=0)] | None] = absent(
        "Replies per second at the end of the run; absent if unknown."
    )
    rechecked: tuple[str, ...] = Field(
        (), description="Questions asked again as a check, with the same answer."
    )
    unlike: Omittable[tuple[str, ...] | None] = absent(
        "Questions asked again as a check, with a different answer at first; absent if none."
    )
    firmly_unlike: Omittable[tuple[str, ...] | None] = absent(
        "Of these, questions with the same different answer four times; absent if none."
    )
    sent_instead: Omittable[
        Annotated[dict[Name, Name | None], Field(max_length=bounds.ENTRIES)] | None
    ] = absent(
        "Setting of `generation` that the server refused -> what was sent instead; null for "
        "nothing. Absent if it accepted all."
    )
    probed: Omittable[Count | None] = absent(
        "Calls for two small test questions with known pictures, made the first time that this "
        "server and model get pictures; not part of `asked`. Absent if none was made."
    )
    pictures: Omittable[Doubt | None] = absent(
        "Why it is uncertain what the model saw of its pictures: `uncounted` (the server counts "
        "no tokens), `misnamed` or `reordered` (the colours of small test pictures). Absent if "
        "there is no doubt or no picture."
    )

    @property
    def repeats(self) -> RepeatCounts:
        """The numbers of questions that were asked once more."""
        same = len(self.rechecked)
        return RepeatCounts(same + len(self.unlike or ()), same)


class ReadingRecord(Record):
    """The replies of a reader, and their cost."""

    unread: Count = Field(description="Answers that it was asked to read.")
    returned: Counted = Field(
        default_factory=dict,
        description=(
            "Model id that the server returned (of a path, the part that names the model) -> "
            "replies."
        ),
    )
    url: str | None = absent("Host of the server; never a key, a user name or a query.")
    calls: Count = 0
    cached: Count = 0
    kept_from: Omittable[str | None] = absent(
        "When the first of the saved replies came; absent if none was used."
    )
    kept_to: Omittable[str | None] = absent("When the last of them came.")
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    reasoning_tokens: Omittable[Count | None] = absent(
        "Part of the completion tokens; absent if no server reported it."
    )
    cached_tokens: Omittable[Count | None] = absent(
        "Part of the prompt tokens; absent if no server reported it."
    )
    cost_usd: Amount | None = absent("Null if no price was given.")


class Provenance(Record):
    """The origin of the numbers: computed here or published, and from which samples."""

    kind: Literal["run", "published"]
    url: str | None = None
    citation: str | None = None
    date: str
    samples_sha256: str | None = None
    note: str | None = Field(default=None, max_length=bounds.NOTE)
    asked: Omittable[AskedRecord | None] = absent("How the answers were obtained; only with `ask`.")
    reading: Omittable[ReadingRecord | None] = absent(
        "What reading by `settings.reader` cost; absent without a reader."
    )
    defaults: Omittable[Annotated[dict[Name, Name], Field(max_length=bounds.ENTRIES)] | None] = (
        absent("Option -> its value in `reelbench.toml`, for options set there.")
    )


IntervalMethod = Literal["percentile", "t", "wilson"]
"""A method of `stats.intervals`."""


class StatisticsRecord(Record):
    """The statistical methods of a result."""

    interval: IntervalMethod


class MediaRecord(Record):
    """The videos that a run had, and their hash."""

    sha256: str = Field(
        description="Hash of the keys of the videos that were there, sorted, one per line."
    )
    of: Count = Field(description="How many videos its questions are about.")
    videos: list[str] = Field(description="The keys of those that were there.")


class Result(Record):
    """`result.json`: one benchmark, one model, one setting."""

    schema_version: Literal[1] = RESULT_SCHEMA
    benchmark: BenchmarkRecord
    data: Omittable[Data] = Field(
        default="unstated",
        description="Whose rows were asked: `owners` (the benchmark's published bytes or rows), "
        "`own` (somebody else's); `unstated` or absent: unknown.",
    )
    model: ModelRecord
    settings: SettingsRecord
    judge: JudgeRecord | None
    metrics: Metrics
    breakdowns: Breakdowns
    counts: Counts
    software: Annotated[dict[Name, Name], Field(max_length=bounds.ENTRIES)]
    provenance: Provenance
    answers: int = Field(
        ge=-LARGEST, le=LARGEST, description="Version of the rules by which answers were read."
    )
    media: MediaRecord = Field(description="Which videos were there.")
    statistics: StatisticsRecord = Field(description="How the intervals were made.")

    @property
    def interval(self) -> IntervalMethod:
        """The method of the intervals."""
        return self.statistics.interval


def check_result_version(document: Mapping[str, Any], file: Path) -> None:
    """Refuse a `result.json` that was written before the first release. InputError."""
    # Those state the same `schema_version`, but not how their intervals were made.
    if "statistics" not in document:
        raise InputError(f"{file}: written by an earlier, unreleased version; score it again")


class JudgeReply(Record):
    """One reply of a judge, as it came, and what was read from it."""

    judge: Omittable[str | None] = absent("In a panel, the judge that was asked.")
    criterion: str = Field(description="The dimension, or `score` if there is only one question.")
    vote: Count = 0
    attempt: Count = 0
    raw: str | None = Field(description="The reply's text; null if the server gave none.")
    score: int | None = Field(
        ge=-LARGEST, le=LARGEST, description="The score in it, or null if it can't be parsed."
    )
    model: str | None = absent("Model id that the server returned.")
    key: str = Field(description="The reply's key in the cache.")
    turn_tokens: Omittable[bool] = Field(
        default=False,
        description="The answer contained chat-template tokens; they were defused before it was "
        "sent.",
    )
    by_schema: Omittable[bool] = Field(
        default=False,
        description="It is the reply to a second request, which had a reply schema.",
    )


class ReaderReply(Record):
    """The reply of a reader about one answer, as it came."""

    raw: str | None = Field(description="The reply's text; null if the server gave none.")
    model: str | None = absent("Model id that the server returned.")
    key: str = Field(description="The reply's key in the cache.")
    turn_tokens: Omittable[bool] = Field(
        default=False,
        description="The answer contained chat-template tokens; they were defused before it was "
        "sent.",
    )


_LABEL_SETS_KEPT = 1024
_Names = tuple[str, ...]
_LABELS: dict[tuple[_Names, tuple[_Names, ...]], dict[str, list[str]]] = {}


def shared_labels(facets: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return one object for equal labels: there are few, and items may be many."""
    if len(_LABELS) > _LABEL_SETS_KEPT:
        _LABELS.clear()
    labels = tuple(map(tuple, facets.values()))
    return _LABELS.setdefault((tuple(facets), labels), facets)


class Answer(Record):
    """A question's answer and its reference: what an item and its sample share.

    `target` and `parsed` are plain data by kind: `{"text"}` for open answers, `{"answer"}` for a
    choice, `{"spans"}` (list of [start, end] in seconds) for a span. `parsed` has `answer` and
    `span`. A set `reason` means unscored.
    """

    id: Name
    video: Name = Field(description="Media key; questions on one video are resampled together.")
    prediction: Prediction = absent(
        "As the model or the submission gave it; null if there is none."
    )
    parsed: dict[str, Any] | None = absent(
        "What was read from the prediction: `answer`, `span`; for an open answer its `text` "
        "without reasoning, or null if that equals the prediction.",
    )
    target: dict[str, Any] = Field(
        description="`text`, or `answer` and `spans`, by the benchmark's kinds."
    )
    reason: Reason | None = absent("Why it is unscored, or null.")
    flags: tuple[str, ...] = Field(default=(), description="`parse_failed`, `empty`.")
    facets: Annotated[dict[Name, list[Name]], AfterValidator(shared_labels)] = Field(
        default_factory=dict, description="Facet -> the item's labels, in order."
    )
    frame_timestamps: list[Amount] | None = absent(
        "Seconds; null if the model sampled the frames itself."
    )
    frame_padding: Count = Field(default=0, description="How many of the last frames are repeats.")
    frame_times_told: Omittable[list[Amount] | None] = absent(
        "Seconds that a clip's clock gave its frames, if they differ from `frame_timestamps`; "
        "otherwise absent.",
    )
    frames_arrived: Omittable[Count | Literal["unknown"] | None] = absent(
        "Frames that reached the model, counting repeats, if they differ from those sent; "
        "`unknown` if they couldn't be counted; otherwise absent.",
    )
    subtitles: Omittable[Count | None] = absent(
        "Lines of subtitles before the question, 0 if there were none for its frames; absent if "
        "subtitles were off.",
    )
    tokens: Omittable[Counted | None] = absent(
        "Tokens that the server counted: `prompt`, `completion`, and of these `cached`, "
        "`reasoning`; absent if it didn't report them.",
    )
    seconds: Omittable[Amount | None] = absent(
        "From sending the question to the answer's last byte; absent if not measured."
    )
    candidates: Omittable[list[str] | None] = absent(
        "All answers, in order, if there were several; the prediction is one of them."
    )
    option_scores: Omittable[list[OptionScore] | None] = absent(
        "Log-likelihood of each option, in order, if that chose the answer; `parsed.answer` "
        "follows."
    )
    ranker_replies: Omittable[list[list[str | None]] | None] = absent(
        "The ranker's replies, if one chose among the candidates: for each candidate one per "
        "vote, or in listwise mode one list with one per vote; null if none came.",
    )

    read_by: Omittable[ReaderReply | None] = absent(
        "The reply of the reader that was asked which option the prediction states, because the "
        "grammar found none; `parsed.answer` follows."
    )

    @property
    def text(self) -> str:
        """The open answer that is scored: the prediction, without the reasoning before it."""
        if self.parsed and "text" in self.parsed:
            return str(self.parsed["text"])
        return "" if self.prediction is None else str(self.prediction)

    def _shared_fields(self, reason: Reason | None) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in _SHARED_FIELDS}
        fields["reason"] = reason
        return fields


_SHARED_FIELDS = tuple(Answer.model_fields)
_NO_REPLIES: list[JudgeReply] = []


class Item(Answer):
    """One question with its answer, to be scored."""

    question: str = ""
    options: tuple[str, ...] = ()

    def sample(
        self,
        reason: Reason | None,
        scores: dict[str, float] | None = None,
        replies: list[JudgeReply] | None = None,
    ) -> "Sample":
        """Return the sample that this item becomes: scored, or unscored for a `reason`.

        It shares the item's values, which were checked when the item was made.
        """
        fields = self._shared_fields(reason)
        fields["state"] = "scored" if reason is None else "unscored"
        fields["scores"] = scores or {}
        fields["judge_replies"] = replies or _NO_REPLIES
        return Sample.from_checked(fields)


class Sample(Answer):
    """One line of `samples.jsonl`: all that the metrics need to know of one item."""

    # A line of a file that was written without secrets: it is not searched for them again.
    prediction: Any = Field(
        description="As the model or the submission gave it; null if there is none."
    )
    state: State
    scores: dict[str, Score] = Field(
        default_factory=dict, description="Per-item score by column, before scaling."
    )
    judge_replies: list[JudgeReply] = Field(default_factory=list[JudgeReply])

    def item(
        self,
        question: str,
        reason: Reason | None,
        options: tuple[str, ...] = (),
        **changes: Any,  # noqa: ANN401 - as the fields are
    ) -> Item:
        """Return the item that this sample was, to be scored again. `changes` replace fields.

        It shares the sample's values, which were checked when the sample was made.
        """
        fields: dict[str, Any] = self._shared_fields(reason)
        fields["question"] = question
        fields["options"] = options
        fields.update(changes)
        return Item(**fields) if changes else Item.from_checked(fields)
