"""The two records that scoring leaves on disk: `result.json` and `samples.jsonl`.

They are versioned, refuse unknown fields, and hold all that is needed to compute every number again without the
benchmark's data: `result.json` names what was run and what came out, `samples.jsonl` has one line per item.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

RESULT_SCHEMA = 1
"""Version of both records; a change that a reader must know about raises it."""

State = Literal["scored", "unscored"]

Audio = Literal["kept", "dropped", "none", "unknown"]
"""What became of the videos' sound: given to the model, left out, not there in any of them, or nobody knows."""


class Record(BaseModel):
    """Base of all records: frozen, and a field it does not know is an error.

    `added` names the fields that older records lack. Where absent (None) they are left out of what is written, so that
    an older record keeps its bytes and its hashes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    added: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_what_is_absent(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in whole(self).items() if name not in self.added or value is not None}


class SourceRecord(Record):
    """Where an item's references came from."""

    kind: Literal["hub", "url", "local", "mini", "files", "samples"]
    location: str = Field(description="Repository, URL, or file name (never a private path's parents).")
    revision: str | None = Field(default=None, description="Commit as resolved; null where there is none.")
    fingerprint: str = Field(description="sha256 of the upstream bytes and the reader's version.")


class BenchmarkRecord(Record):
    """Which benchmark, at which comparability version, on which split."""

    id: str
    version: int
    split: str
    source: SourceRecord


PEOPLE_ADAPTER = "reelbench_people"
"""The adapter of a result that people made, by answering on a page of ours."""


class ModelRecord(Record):
    """The model whose answers these are; `adapter` is lmms-eval's name for how it was run."""

    id: str
    revision: str | None = None
    adapter: str | None = None
    args: dict[str, Any] = Field(default_factory=dict)


class SettingsRecord(Record):
    """What shapes the answers: equal settings make two results comparable."""

    added = frozenset({"answering", "audio", "candidates", "label"})

    frames: str = Field(default="native", description="Frame sampling asked for; `native` leaves it to the model.")
    frames_given: dict[str, int] = Field(
        default_factory=dict,
        description="Number of frames, repeats not counted -> items that were shown so many; empty where unknown.",
    )
    audio: Audio | None = Field(
        default=None, description="What became of the videos' sound; absent in older records, see `sound`."
    )
    label: str | None = Field(
        default=None, description="What the user says of how the answers were made and no other field can hold."
    )
    candidates: str | None = Field(
        default=None,
        description="`beam:5`, `sample:5,t=0.7`: answers to each question, of which the first is scored; absent where "
        "there was one.",
    )
    answering: str | None = Field(
        default=None,
        description="`options:norm=mean,over=sentence,span=predicted`: the likeliest option is the answer; absent "
        "where the model wrote one.",
    )
    prompt_sha256: str | None = Field(
        default=None, description="Hash of our prompt file; null for answers made elsewhere."
    )
    generation: dict[str, Any] = Field(default_factory=dict)
    seed: int | None = None
    limit: float | None = Field(default=None, description="lmms-eval's --limit; a partial run is never ranked.")

    @property
    def sound(self) -> Audio:
        """What became of the sound, of older records too: their clips had none, and of other answers nobody knows."""
        if self.audio is not None:
            return self.audio
        if self.frames == "none":
            return "none"
        return "unknown" if self.frames in {"native", "unknown"} else "dropped"


class MetricValue(Record):
    """A metric: its value, 95 % interval and the number of items behind it; a null value means not scored."""

    value: float | None
    ci95: tuple[float, float] | None = None
    n: int


Metrics = dict[str, MetricValue]
Breakdowns = dict[str, dict[str, Metrics]]


class JudgeRecord(Record):
    """The judge that was asked, what answered, and what it cost."""

    added = frozenset({"extra", "reasoning_tokens", "cached_tokens", "panel", "panel_rule", "agreement", "metrics"})

    requested: str = Field(description="The model asked; of a panel all of them, comma-separated.")
    returned: dict[str, int] = Field(default_factory=dict, description="Model id that the server returned -> replies.")
    url: str | None = Field(default=None, description="Host of the server; never a key, a user name or a query.")
    prompt: str = Field(description="Name of the prompt set: reelbench, official, or a file's name.")
    prompt_sha256: str
    temperature: float | None = None
    extra: dict[str, Any] | None = Field(default=None, description="What else was sent with every request.")
    votes: int = 1
    vote_rule: Literal["single", "majority", "mean", "median"] = "single"
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int | None = Field(
        default=None, description="Of the completion tokens; absent where no server said."
    )
    cached_tokens: int | None = Field(default=None, description="Of the prompt tokens; absent where no server said.")
    cost_usd: float | None = Field(default=None, description="Null where no price was given.")
    panel: list[Self] | None = Field(default=None, description="Each judge of a panel by itself; absent for one judge.")
    panel_rule: Literal["mean", "median"] | None = Field(
        default=None, description="How the panel's scores become one; an item that not all could score has none."
    )
    agreement: dict[str, float | None] | None = Field(
        default=None, description="Criterion -> Krippendorff's alpha (ordinal) between the panel's judges."
    )
    metrics: Metrics | None = Field(
        default=None, description="Of a panel's judge: the judged metrics by its scores alone."
    )


class Counts(Record):
    """How many items ended how; `scored` plus all of `unscored` is `items`."""

    items: int
    scored: int
    unscored: dict[str, int] = Field(default_factory=dict, description="Reason -> items.")
    parse_failed: int = Field(default=0, description="Scored as wrong because the answer could not be read.")
    empty: int = Field(default=0, description="Scored as wrong because the answer was empty.")
    media_missing: int = Field(
        default=0, description="Left out of the run because the video was not here; part of `unscored`."
    )
    missing: int = Field(default=0, description="Ids of the references without a prediction; part of `unscored`.")
    extra: int = Field(default=0, description="Predicted ids that the references do not have; not part of `items`.")
    duplicate: int = Field(default=0, description="Predictions for an id that had one already; the last one counts.")
    tags_without_question: int = Field(default=0, description="Tagged ids that no item has, where tags were given.")
    questions_without_tags: int = Field(default=0, description="Items that the tags leave out, where tags were given.")

    @property
    def unread_share(self) -> float:
        """Share of the items, 0 to 1, whose answer could not be read."""
        return self.parse_failed / self.items if self.items else 0.0


class Provenance(Record):
    """Whether these numbers were computed here, and from which samples."""

    kind: Literal["run", "published"]
    url: str | None = None
    citation: str | None = None
    date: str
    samples_sha256: str | None = None
    note: str | None = None


class StatisticsRecord(Record):
    """How a result's intervals were made."""

    interval: Literal["percentile", "t", "wilson"]


class Result(Record):
    """`result.json`: one benchmark, one model, one setting."""

    added = frozenset({"statistics"})

    schema_version: Literal[1] = RESULT_SCHEMA
    benchmark: BenchmarkRecord
    model: ModelRecord
    settings: SettingsRecord
    judge: JudgeRecord | None
    metrics: Metrics
    breakdowns: Breakdowns
    counts: Counts
    software: dict[str, str]
    provenance: Provenance
    answers: int = Field(default=1, description="Version of the rules by which answers were read; absent is 1.")
    statistics: StatisticsRecord | None = Field(
        default=None, description="How the intervals were made; absent is the percentiles of earlier versions."
    )

    @property
    def interval(self) -> Literal["percentile", "t", "wilson"]:
        """The method of the intervals."""
        return self.statistics.interval if self.statistics else "percentile"


class JudgeReply(Record):
    """One reply of a judge, as it came, and what was read from it."""

    added = frozenset({"judge"})

    judge: str | None = Field(default=None, description="Of a panel, the judge that was asked.")
    criterion: str = Field(description="The dimension asked about, or `score` where there is one question only.")
    vote: int = 0
    attempt: int = 0
    raw: str | None = Field(description="The reply's text; null where the server gave none.")
    score: int | None = Field(description="The score in it, or null where it does not parse.")
    model: str | None = Field(default=None, description="Model id that the server returned.")
    key: str = Field(description="The reply's key in the cache.")


class Likelihood(Record):
    """How likely a model holds some words of its answer, after the words before them."""

    sum: float = Field(allow_inf_nan=False, le=0, description="Natural logarithm of the words' probability.")
    tokens: int = Field(ge=1)
    characters: int = Field(ge=1)


class OptionScore(Record):
    """How likely a model holds one option: as a whole sentence, and from where the options' sentences differ."""

    sentence: Likelihood
    option: Likelihood = Field(
        description="From the first token in which the options' sentences differ; its characters are the option's own."
    )


class Sample(Record):
    """One line of `samples.jsonl`: everything that the metrics need to know of one item."""

    added = frozenset({"tokens", "seconds", "candidates", "option_scores"})

    id: str
    video: str = Field(description="Media key; questions on one video are resampled together.")
    prediction: Any = Field(description="As the model or the submission gave it; null where there is none.")
    parsed: dict[str, Any] | None = Field(
        default=None,
        description="What was read from the prediction: `answer`, `span`; of an open answer its `text` without "
        "reasoning, or null where that is the prediction as it stands.",
    )
    target: dict[str, Any] = Field(description="`text`, or `answer` and `spans`, by the benchmark's kinds.")
    state: State
    reason: str | None = Field(default=None, description="Why it is unscored, or null.")
    flags: list[str] = Field(default_factory=list, description="`parse_failed`, `empty`.")
    scores: dict[str, float] = Field(default_factory=dict, description="Per-item score by column, before scaling.")
    facets: dict[str, list[str]] = Field(default_factory=dict, description="Facet -> the item's labels, in order.")
    judge_replies: list[JudgeReply] = Field(default_factory=list)
    frame_timestamps: list[float] | None = Field(
        default=None, description="Seconds; null where the model sampled by itself."
    )
    frame_padding: int = Field(default=0, description="How many of the last frames repeat the one before them.")
    tokens: dict[str, int] | None = Field(
        default=None,
        description="What the server counted for the answer: `prompt`, `completion`, and of these `cached`, "
        "`reasoning`; absent where it did not say.",
    )
    seconds: float | None = Field(
        default=None, description="From sending the question to the answer's last byte; absent where not measured."
    )
    candidates: list[str] | None = Field(
        default=None,
        description="All answers, in order, where there were several; the prediction is among them.",
    )
    option_scores: list[OptionScore] | None = Field(
        default=None, description="Of each option, in order, where their likelihood chose; `parsed.answer` follows."
    )

    @property
    def text(self) -> str:
        """The open answer that is scored: the prediction, without the reasoning before it."""
        return _text(self.prediction, self.parsed)


@dataclass(frozen=True, slots=True)
class Item:
    """One question with its answer, ready to be scored.

    `target` and `parsed` are plain data by kind: `{"text"}` for open answers, `{"answer"}` for a choice, `{"spans"}`
    (list of [start, end] in seconds) for a span; `parsed` has `answer` and `span`. A set `reason` means unscored.
    """

    id: str
    video: str
    target: dict[str, Any]
    prediction: Any = None
    parsed: dict[str, Any] | None = None
    facets: dict[str, list[str]] = field(default_factory=dict)
    question: str = ""
    options: tuple[str, ...] = ()
    reason: str | None = None
    flags: tuple[str, ...] = ()
    frame_timestamps: list[float] | None = None
    frame_padding: int = 0
    tokens: dict[str, int] | None = None
    seconds: float | None = None
    candidates: list[str] | None = None
    option_scores: list[OptionScore] | None = None

    @property
    def text(self) -> str:
        """The open answer that is scored: the prediction, without the reasoning before it."""
        return _text(self.prediction, self.parsed)

    def sample(
        self, reason: str | None, scores: dict[str, float] | None = None, replies: list[JudgeReply] | None = None
    ) -> Sample:
        """Return the sample that this item became: scored, or unscored for a `reason`."""
        return Sample(
            **{name: getattr(self, name) for name in _OF_BOTH},
            flags=list(self.flags),
            state="scored" if reason is None else "unscored",
            reason=reason,
            scores=scores or {},
            judge_replies=replies or [],
        )

    @classmethod
    def of(cls, sample: Sample, question: str, reason: str | None) -> Self:
        """Return the item that a sample was, to be scored anew."""
        shared = {name: getattr(sample, name) for name in _OF_BOTH}
        return cls(**shared, flags=tuple(sample.flags), question=question, reason=reason)


_OF_BOTH = (
    "id",
    "video",
    "prediction",
    "parsed",
    "target",
    "facets",
    "frame_timestamps",
    "frame_padding",
    "tokens",
    "seconds",
    "candidates",
    "option_scores",
)


def _text(prediction: Any, parsed: dict[str, Any] | None) -> str:  # noqa: ANN401 - as the model or a file gave it
    return str((parsed or {}).get("text", "" if prediction is None else prediction))
