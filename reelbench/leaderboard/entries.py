"""The rows of the leaderboard: runs from the store and published numbers, in one shape.

Rows are comparable when they are of one *group*: each is a column of the overall table and a
ranking of its own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from reelbench.judges.identity import judge_as_answered, other_than_requested
from reelbench.leaderboard.community import Community
from reelbench.leaderboard.identity import models_other_than_asked
from reelbench.leaderboard.standing import (
    Standing,
    bound_in_words,
    of_runs,
    standing,
    stated_score,
    usage_of,
)
from reelbench.leaderboard.store import StoredResult, is_secret, refusal_of
from reelbench.registry.prompts import prompt_sha256
from reelbench.registry.records import (
    BASELINE_ADAPTER,
    PEOPLE_ADAPTER,
    About,
    Breakdowns,
    Doubt,
    JudgeRecord,
    Metrics,
    MetricValue,
    ModelRecord,
    PresetRecord,
    PriceRecord,
    Result,
    SettingsRecord,
)
from reelbench.registry.sampling import SUBTITLED
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini
from reelbench.scoring import calibration_file, runs
from reelbench.scoring.shortcuts import column_of
from reelbench.stats import intervals

Kind = Literal["run", "blind", "published", "community", "baseline", "human", "owner"]
"""What a row is.

`blind` is a run that showed nothing of the videos that it was asked about. `owner` is a total of a
hidden test, which its owner alone can compute.
"""


class KindWords(NamedTuple):
    """A kind of rows, in words.

    Attributes:
        title: Its name.
        reference: Why its rows are reference points, which are never ranked. None where they are
            none.
    """

    title: str
    reference: str | None = None


KINDS: Mapping[Kind, KindWords] = {
    "run": KindWords("Run"),
    "blind": KindWords("Without the video", "a reference point, shown no video"),
    "published": KindWords("Published"),
    "community": KindWords("On the Hub", "a reference point, as the Hub's own board states it"),
    "baseline": KindWords("Floor", "a reference point, answered by a rule"),
    "human": KindWords("People", "a reference point, answered by people"),
    "owner": KindWords("Scored by the owner"),
}
WITH_SCHEMA = ", with a schema"
"""Behind the name of prompts that each carried the schema of its reply."""
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
"""A repository's id on the Hub."""
_SIZES = (4, 10, 40, 100)  # 1e9 parameters


@dataclass(frozen=True, slots=True)
class RankingGroup:
    """The facts that scores must share to be compared: groups are never mixed.

    Attributes:
        benchmark: Its id.
        version: Its version.
        split: Its split.
        subset: The part of the split, where it is not all of it.
        judge: Who judged, by the id that the server returned.
        prompts: The judge's prompts.
        protocol: How the model was asked, where that is not the plain way: candidates, a language,
            a label, another prompt.
        data: Whose questions and references they are, where not the owners'.
        differs: How what was asked, or how it was scored, differs from what was filed first of the
            benchmark.
        setting: What the model brought with it beyond itself: fine-tuned, tools, other models.
        errata: The errata that were applied, in words.
    """

    benchmark: str
    version: int
    split: str
    subset: str | None = None
    judge: str | None = None
    prompts: str | None = None
    protocol: str | None = None
    data: Literal["own"] | None = None
    differs: str | None = None
    setting: str | None = None
    errata: str | None = None

    @property
    def id(self) -> str:
        """A name for links and columns, unique to the group.

        Where a part other than a judge has a slash, it ends with the parts' hash.
        """
        task = [self.benchmark, f"v{self.version}", self.split, self.subset]
        data = "data own" if self.data else None
        protocol = [self.setting, self.protocol, self.errata, data, self.differs]
        parts = (*task, self.judge, self.prompts, *protocol)
        name = "/".join(part for part in parts if part)
        unjudged_parts = [part for part in (*task, self.prompts, *protocol) if part]
        judges = (self.judge or "").split(", ")
        odd_judges = [judge for judge in judges if "/" in judge and not HUB_ID.fullmatch(judge)]
        if odd_judges or any("/" in part for part in unjudged_parts):
            digest = sha256(repr(parts).encode()).hexdigest()[:12]
            name += f"~{digest}"
        return name

    @property
    def label(self) -> str:
        """The words that tell the groups of one benchmark apart."""
        data = "data of one's own" if self.data else None
        parts = (
            self.split,
            self.subset,
            self.setting,
            self.protocol,
            data,
            self.differs,
            self.errata,
        )
        text = ", ".join(part for part in parts if part)
        if self.judge is not None:
            text += f" · {self.judge}, {prompts_in_words(self.prompts)}"
        if self.version != 1:
            text += f" · version {self.version}"
        return text

    @property
    def plain(self) -> bool:
        """True of a whole split of the owners' data, asked in the plain way.

        No other group counts overall.
        """
        return not any((self.subset, self.setting, self.protocol, self.data, self.differs))

    @property
    def mini(self) -> bool:
        """True of the mini data, which is for trying things out."""
        return is_mini(self.split)


_SETTINGS_APART = {"fine-tuned", "tools", "agent", "ensemble"}
"""Settings whose rows have a table of their own.

In any other a model is as it is, reasoning or not.
"""
_DOUBT_IN_WORDS: dict[Doubt, str] = {
    "uncounted": "not verified that it saw its pictures: this server reports no token counts",
    "misnamed": "it names the colours of small test pictures wrongly",
    "reordered": "it names three small test pictures in the wrong order",
}


def prompts_in_words(prompts: str | None) -> str:
    """Return a judge's prompt set as a reader calls it, without its hash."""
    if prompts is None:
        return "unknown prompts"
    name, _, rest = prompts.partition("@")
    _, comma, schema = rest.partition(", ")
    names = {"official": "the authors’", "reelbench": "Reelbench’s"}
    return f"{names.get(name, name)} prompts{comma}{schema}"


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A row: one model under one setting on one benchmark.

    Attributes:
        key: Its key, unique on the board.
        model: The model's name.
        revision: The model's revision.
        kind: Where its numbers come from.
        setting: How the model was prepared.
        group: The rows with which it can be compared.
        frames: How frames were sampled.
        metrics: Its metrics.
        breakdowns: Its metrics by facet and label.
        date: When it was scored.
        unranked: Why a run is listed and not ranked.
        lowest: Of a run with unscored items, the primary metric with each of them at the scale's
            lowest: it is ranked by that.
        open_weights: True where the model's weights are open.
        cite: Where a published number stands.
        url: Its address.
        note: A note for readers.
        about: What is said of the model.
        facts: What a run's record says beside that, by the id of the column.
        stored: The result, where it is in the store.
    """

    key: str
    model: str
    revision: str | None
    kind: Kind
    setting: str
    group: RankingGroup
    frames: str
    metrics: Metrics
    breakdowns: Breakdowns = field(default_factory=dict)
    date: str | None = None
    unranked: str | None = None
    lowest: MetricValue | None = None
    open_weights: bool | None = None
    cite: str = ""
    url: str | None = None
    note: str = ""
    about: About = field(default_factory=About)
    facts: Mapping[str, Any] = field(default_factory=dict)
    stored: StoredResult | None = field(default=None, compare=False, repr=False)

    @property
    def reference(self) -> str | None:
        """Why it is a reference point, which is never ranked. None where it is none."""
        return KINDS[self.kind].reference

    @property
    def is_reference(self) -> bool:
        """True of a reference point, which is never ranked."""
        return self.reference is not None

    @property
    def why_unranked(self) -> str | None:
        """Why it is listed and not ranked, of a reference point too."""
        reasons = [self.unranked, self.reference]
        return "; ".join(reason for reason in reasons if reason) or None

    @property
    def brief(self) -> str:
        """The model's name without its owner, for where room is short."""
        return self.model.partition("/")[2] or self.model

    @property
    def billions(self) -> float | None:
        """The model's parameters, in 1e9, where its people state them."""
        parameters = self.about.parameters
        return None if parameters is None else parameters / 1e9

    @property
    def size(self) -> str | None:
        """The parameters in steps, for a filter."""
        if self.billions is None:
            return None
        for limit in _SIZES:
            if self.billions < limit:
                return f"under {limit} B"
        return f"{_SIZES[-1]} B and more"


# --- runs -----------------------------------------------------------------------------------------


def run_entries(
    results: Iterable[StoredResult], left_out: Callable[[str, str], None]
) -> Iterator[BoardEntry]:
    """Yield the rows of stored results on benchmarks that are known.

    Several runs of one model in one setting are one row. `left_out` is called with the key of each
    result that can't be a row, and why.
    """
    known_results = [stored for stored in results if stored.benchmark is not None]
    for repeats in runs.group_repeats(known_results, lambda stored: stored.result):
        try:
            stored = repeats[0] if len(repeats) == 1 else of_runs(repeats)
            yield run_entry(stored)
        except Exception as error:  # noqa: BLE001 - one bad result never stops the others
            for stored in repeats:
                left_out(stored.key, refusal_of(stored.folder, error))


def run_entry(stored: StoredResult, values: Standing | None = None) -> BoardEntry:
    """Return the row of a stored result.

    Args:
        stored: The result.
        values: Its values, where they are known.
    """
    result = stored.result
    if values is None:
        values = standing(stored)
    kind = _kind(stored)
    setting = _setting(stored, kind)
    return BoardEntry(
        key=stored.key,
        model=result.model.id,
        revision=result.model.revision,
        kind=kind,
        setting=setting,
        group=_group(stored, values, setting),
        frames=frames_text(result.settings),
        metrics=values.metrics,
        breakdowns=values.breakdowns,
        date=result.provenance.date,
        unranked=values.unranked,
        lowest=values.lowest,
        open_weights=has_open_weights(result.model),
        url=result.provenance.url,
        cite=result.provenance.citation or "",
        note=_note(stored),
        about=result.model.about or About(),
        facts=facts(stored, values),
        stored=stored,
    )


def has_open_weights(model: ModelRecord) -> bool | None:
    """Return True where a model's weights are open, False where they are stated as closed.

    None where nothing tells.
    """
    if model.about is not None and model.about.weights is not None:
        return model.about.weights == "open"
    checkpoint = model.args.get("pretrained")
    is_from_hub = isinstance(checkpoint, str) and HUB_ID.fullmatch(checkpoint) is not None
    return True if is_from_hub else None


def why_reference(stored: StoredResult) -> str | None:
    """Return why a stored result's row is a reference point. None where it is none."""
    return KINDS[_kind(stored)].reference


def _kind(stored: StoredResult) -> Kind:
    model = stored.result.model
    # Floors and people, against which others are read, are the maintainers'.
    is_ours = stored.filed_row.account is None
    if is_ours and model.adapter == BASELINE_ADAPTER:
        return "baseline"
    if is_ours and model.adapter == PEOPLE_ADAPTER:
        return "human"
    if model.setting_stated == "human":
        return "human"
    if _is_about_videos(stored) and column_of(stored.result.settings) == "blind":
        return "blind"
    return "run"


def _is_about_videos(stored: StoredResult) -> bool:
    """Return True where the questions are about videos, and not about text alone."""
    if stored.spec.package:
        return bool(stored.spec.media)
    # A declaration that a result brings has no media, so the questions' own videos decide.
    return stored.result.media.of > 0


def _setting(stored: StoredResult, kind: Kind) -> str:
    if kind == "baseline":
        return "floor"
    if kind == "human":
        return "human"
    return setting_of_model(stored.spec, stored.result.model)


def setting_of_model(spec: BenchmarkSpec, model: ModelRecord) -> str:
    """Return the setting of a model, as its people say."""
    if model.setting_stated is not None:
        return model.setting_stated
    about = model.about or About()
    training_sets = [name.lower() for name in about.trained_on or ()]
    return "fine-tuned" if spec.id in training_sets else "run"


def _group(stored: StoredResult, values: Standing, setting: str) -> RankingGroup:
    result = stored.result
    benchmark = result.benchmark
    judge = result.judge
    subset_parts = [part for part in (stored.filed_row.subset, values.media) if part]
    data: Literal["own"] | None = None
    if result.data == "own":
        data = "own"
    judge_name: str | None = None
    prompts: str | None = None
    if judge is not None:
        judge_name = judge_as_answered(judge)
        prompts = _prompts_text(judge)
    return RankingGroup(
        benchmark=benchmark.id,
        version=benchmark.version,
        split=benchmark.split,
        subset=", ".join(subset_parts) or None,
        judge=judge_name,
        prompts=prompts,
        protocol=protocol(stored.spec, result.settings),
        data=data,
        differs=stored.differs,
        setting=setting_apart(setting),
        errata=_errata_text(stored),
    )


def _errata_text(stored: StoredResult) -> str | None:
    errata = stored.result.benchmark.errata
    if errata is None:
        return None
    if is_secret(stored.result):  # a hash of right answers would tell a guess
        errata = errata.model_copy(update={"sha256": None})
    return f"errata: {errata}"


def setting_apart(setting: str) -> str | None:
    """Return a setting whose rows have a table of their own, or None."""
    return setting if setting in _SETTINGS_APART else None


def _prompts_text(judge: JudgeRecord) -> str:
    # Only the owners' set is one text for good, as its hash is pinned. Any other is told by its
    # text as well.
    prompts = judge.prompt
    if prompts != "official":
        prompts += f"@{judge.prompt_sha256[:8]}"
    if judge.structured is not None:
        prompts += WITH_SCHEMA
    return prompts


def frames_text(settings: SettingsRecord) -> str:
    """Return the sampling of frames, and their number where it is one."""
    frames = settings.frames
    if len(settings.frames_given) == 1 and not frames.startswith("uniform"):
        [number] = settings.frames_given
        return f"{frames} ({number})"
    return frames


def _note(stored: StoredResult) -> str:
    result = stored.result
    note = result.provenance.note
    if note and stored.filed_row.account:
        note = f"as stated by {stored.filed_row.account}: {note}"
    parts = [note, result.settings.shown_otherwise]
    merged = result.settings.merged
    if merged is not None and result.settings.asked_one_way:
        parts.append(f"{merged.asked_again} of {result.counts.items} asked again")
    other_models = models_other_than_asked(result)
    if other_models:
        parts.append(f"answered as {', '.join(other_models)}")
    asked_record = result.provenance.asked
    if asked_record is not None and asked_record.pictures is not None:
        parts.append(_DOUBT_IN_WORDS[asked_record.pictures])
    if stored.runs:
        number = len(stored.runs)
        parts.append(f"the mean of {number} runs; the answers shown are the first one's")
    return "; ".join(part for part in parts if part)


# --- numbers of others ----------------------------------------------------------------------------


def published_entries(spec: BenchmarkSpec) -> Iterable[BoardEntry]:
    """Yield the rows of published numbers on a benchmark."""
    for number, row in enumerate(spec.published):
        kind: Kind = "published"
        if row.setting in ("baseline", "human"):
            kind = row.setting
        setting = "floor" if row.setting == "baseline" else row.setting
        cite = row.cite
        if row.verified == "3P":
            cite += " (as a third party quotes it)"
        breakdowns: Breakdowns = {}
        for facet, labels in row.breakdowns.items():
            breakdowns[facet] = {
                label: _without_items(metrics) for label, metrics in labels.items()
            }
        prompts = row.prompts if row.judge else None
        protocol_text = f"label {row.label}" if row.label else None
        group = RankingGroup(
            benchmark=spec.id,
            version=spec.version,
            split=row.split,
            subset=row.subset,
            judge=row.judge,
            prompts=prompts,
            protocol=protocol_text,
            setting=setting_apart(row.setting),
        )
        yield BoardEntry(
            key=f"published/{spec.id}/{number}",
            model=row.model,
            revision=None,
            kind=kind,
            setting=setting,
            group=group,
            frames=row.frames or "unknown",
            metrics=_without_items(row.metrics),
            breakdowns=breakdowns,
            unranked=row.unranked,
            open_weights=row.open_weights,
            cite=cite,
            url=row.url,
            note=row.note,
        )


def community_entries(spec: BenchmarkSpec, community: Community) -> Iterable[BoardEntry]:
    """Yield the rows of the Hub's own board of a benchmark."""
    group = RankingGroup(
        benchmark=spec.id,
        version=spec.version,
        split=spec.default_split,
        protocol=f"as stated on the Hub, {community.dataset}",
    )
    for number, row in enumerate(community.rows):
        notes: list[str] = []
        if row.pull_request is not None:
            notes.append(f"pull request {row.pull_request} of the model's repository")
        if row.notes:
            notes.append(row.notes)
        cite = "the Hub's board"
        if row.verified:
            cite += ", verified there"
        yield BoardEntry(
            key=f"community/{spec.id}/{number}",
            model=row.model,
            revision=None,
            kind="community",
            setting="community",
            group=group,
            frames="unknown",
            metrics=_without_items({spec.primary.name: row.value}),
            date=community.fetched,
            url=row.url,
            cite=cite,
            note="; ".join(notes),
        )


def _without_items(values: Mapping[str, float]) -> Metrics:
    return {name: MetricValue(value=number, n=0) for name, number in values.items()}


# --- settings and metrics -------------------------------------------------------------------------

_NOT_PROTOCOL = {
    "frames",
    "frames_given",
    "frames_unlike",
    "audio",
    "preset",
    "prompt_sha256",
    "generation",
    "seed",
    "run",
    "limit",
}
"""Settings that a model chooses for itself, or that have their own place.

Any other is a way of asking of its own.
"""


_NAMES_OF_RESULTS = {"samples_sha256", "compared_with"}
"""Hashes that say which results were merged, and nothing of how they were asked."""


def protocol(spec: BenchmarkSpec, settings: SettingsRecord) -> str | None:
    """Return the way in which a run was asked. None of the plain way."""
    parts: list[str] = []
    for task in spec.tasks:
        if task.prompt and prompt_sha256(spec, task.prompt) == settings.prompt_sha256:
            parts = [Path(task.prompt).stem.removeprefix("prompt_")]
    if SUBTITLED in settings.frames.split(","):
        parts.append(SUBTITLED)
    not_shown = set(_NOT_PROTOCOL)
    if settings.asked_one_way:
        not_shown.add("merged")
    for name, value in settings.model_dump(mode="json", exclude=not_shown).items():
        if value not in (None, "", [], {}):
            parts.append(f"{name} {_setting_text(value)}")
    return ", ".join(parts) or None


def _setting_text(value: object) -> str:
    if isinstance(value, list):
        return "+".join(str(part) for part in value)
    if not isinstance(value, Mapping):
        return str(value)
    words: list[str] = []
    for name, part in value.items():
        if part is None or name in _NAMES_OF_RESULTS:
            continue
        text = _setting_text(part)
        if "sha256" in name:
            text = text[:8]  # enough to tell it from another
        words.append(f"{name}={text}")
    return " ".join(words)


def frame_count(frames: str) -> int | None:
    """Return the number of frames in a setting. None where it names none.

    Settings are as `uniform:32`, `256` and `native (8)`.
    """
    match = re.fullmatch(
        r"(?:uniform:|keyframe:)?(\d+)(?:,.*)?|[a-z]+ \((\d+)\)|none()(?:,.*)?", frames
    )
    if match is None:
        return None
    return int(match[1] or match[2] or 0)


def metric_value(metrics: Mapping[str, MetricValue], name: str) -> float | None:
    """Return a metric's value, or None where it is absent or not scored."""
    return metrics[name].value if name in metrics else None


# --- the facts of a run's record, for the columns of its row (`columns.yaml`) ---------------------


def facts(stored: StoredResult, values: Standing) -> dict[str, Any]:
    """Return the facts of a run's record by the names of their columns."""
    spec = stored.spec
    result = stored.result
    filed_row = stored.filed_row
    about = result.model.about or About()
    preset = result.settings.preset
    calibrated: CalibratedValue | None = None
    if stored.videos is None:
        calibrated = calibrated_primary(spec, stored.folder)
    return {
        "items": values.items,
        "scored": values.scored,
        "ids": filed_row.ids,
        "stated": ", ".join(filed_row.stated) or None,
        "stated_by": filed_row.account,
        "rejudged": str(filed_row.rejudged) if filed_row.rejudged else None,
        "unreadable": _unreadable_percentage(spec, result, values),
        "calibrated": calibrated.value if calibrated else None,
        "calibration": calibrated.method if calibrated else None,
        "trained_on": ", ".join(about.trained_on or ()) or None,
        "sound": result.settings.sound,
        "label": result.settings.label,
        "preset": _preset_text(preset) if preset else None,
        "read_by_model": _read_by_model(result),
        "unscored": values.unscored or None,
        "runs": len(stored.runs) or None,
        "bound": bound_in_words(spec.primary, stored, values),
        "stated_score": stated_score(spec.primary, stored, values),
        "readers": result.answers,
        "judge_asked": _requested_judges(result.judge) if result.judge else None,
        "data": result.data,
        "questions": (result.benchmark.questions_sha256 or "not stated")[:10],
        "intervals": _other_interval_method(result),
        "data_commit": _commit_of_data(result),
        "times": _times_text(result.settings.frames),
        "videos": values.videos,
        "judge_cost": _judge_cost(stored),
        **_usage_and_cost(stored),
    }


def _commit_of_data(result: Result) -> str | None:
    """Return the commit that the questions are of, and whether a declaration pins it."""
    source = result.benchmark.source
    if source.kind != "hub" or not source.revision:
        return None
    commit = source.revision[:12]
    return f"{commit}, unpinned" if source.unpinned else commit


def _unreadable_percentage(spec: BenchmarkSpec, result: Result, values: Standing) -> float | None:
    items = result.counts.items
    if not items or spec.row_kind == "open":
        return None
    return 100 * values.unread / items


def _read_by_model(result: Result) -> str | None:
    """Return the number of answers that a model read, and its name."""
    reader = result.settings.reader
    if reader is None:
        return None
    counts = result.counts
    return f"{counts.read_by_model} of {counts.items} by {reader.model}"


def _preset_text(preset: PresetRecord) -> str:
    text = preset.name
    if preset.changed:
        text += f" (but for {', '.join(preset.changed)})"
    return text


def _requested_judges(judge: JudgeRecord) -> str | None:
    """Return the judges that were asked for, where the servers returned others."""
    names: dict[str, None] = {}
    for requested, _ in other_than_requested(judge):
        names[requested] = None
    return ", ".join(names) or None


def _other_interval_method(result: Result) -> str | None:
    """Return the method of a result's intervals, where it is not today's."""
    has_intervals = any(metric.ci95 for metric in result.metrics.values())
    if has_intervals and result.interval != intervals.METHOD:
        return result.interval
    return None


def _times_text(frames: str) -> str | None:
    """Return the form of the frames' times. None where the frames aren't ours."""
    if frames.partition(",")[0] in ("native", "none", "unknown"):
        return None
    match = re.search(r",times=(\w+)", frames)
    return match[1] if match else "none"


def _judge_cost(stored: StoredResult) -> float | None:
    """Return the mean cost of judging an item, in $. None where it isn't known."""
    total_cost = 0.0
    items = 0
    for run in stored.each:
        judge = run.result.judge
        if judge is None or judge.cost_usd is None:
            return None
        total_cost += judge.cost_usd
        items += run.result.counts.items
    return total_cost / items if items else None


def _usage_and_cost(stored: StoredResult) -> dict[str, Any]:
    """Return the mean usage of an item, and its cost.

    The price is the one that the runs recorded.
    """
    facts: dict[str, Any] = dict(_mean_usage(stored))
    price = _price_of(stored)
    prompt_tokens = facts.get("tokens_in")
    completion_tokens = facts.get("tokens_out")
    if price is None or prompt_tokens is None or completion_tokens is None:
        return facts
    dollars = prompt_tokens * price.prompt + completion_tokens * price.completion
    facts["cost"] = dollars / 1e6
    day = stored.result.provenance.date[:10]
    facts["price"] = f"{price.prompt:g} in, {price.completion:g} out, {day}"
    account = stored.filed_row.account
    if account is not None:
        facts["price"] += f", as stated by {account}"
    return facts


def _price_of(stored: StoredResult) -> PriceRecord | None:
    """Return the price of a row's runs. None where one has none, or another."""
    prices: list[PriceRecord | None] = []
    for run in stored.each:
        asked_record = run.result.provenance.asked
        price: PriceRecord | None = None
        if asked_record is not None:
            price = asked_record.price
        prices.append(price)
    is_one = all(price == prices[0] for price in prices)
    return prices[0] if is_one else None


def _mean_usage(stored: StoredResult) -> dict[str, float | None]:
    """Return the mean usage of the items that state it, of all runs.

    Raises:
        InputError: If the samples can't be read.
    """
    usages = [usage_of(run) for run in stored.each]
    prompts: list[int] = []
    completions: list[int] = []
    seconds: list[float] = []
    for usage in usages:
        prompts += usage.tokens.get("prompt", [])
        completions += usage.tokens.get("completion", [])
        seconds += usage.seconds
    if not prompts and not completions and not seconds:
        return {}
    return {
        "tokens_in": _mean(prompts),
        "tokens_out": _mean(completions),
        "seconds": _mean(seconds),
    }


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


class CalibratedValue(NamedTuple):
    """A score with the judge corrected, in its own unit, and how that was made."""

    value: float
    method: str


def calibrated_primary(spec: BenchmarkSpec, folder: Path) -> CalibratedValue | None:
    """Return a result's primary score with the judge corrected by people's scores.

    Each answer counts once. None where people did not score all that goes into it.
    """
    scores_by_people = calibration_file.read(folder)
    means = spec.means_of(spec.primary)
    if scores_by_people is None or not means:
        return None
    criteria = scores_by_people.criteria
    values: list[float] = []
    labelled: list[int] = []
    for mean in means:
        part = criteria.get(mean.column)
        if part is None or part.value is None:
            return None
        values.append(mean.value_of(part.value))
        labelled.append(len(part.labels))
    items = criteria[means[0].column].items
    method = (
        f"prediction-powered mean; people scored {min(labelled)} of {items} answers "
        f"({scores_by_people.people})"
    )
    return CalibratedValue(sum(values) / len(values), method)
