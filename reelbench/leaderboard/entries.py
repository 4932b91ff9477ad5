"""The rows of the leaderboard: runs from the store and published numbers, in one shape.

Rows are comparable when they are of one *group*: each is a column of the overall table and a
ranking of its own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from reelbench.base.files import read_text
from reelbench.judges.identity import judge_as_answered, other_than_requested
from reelbench.leaderboard.community import Community
from reelbench.leaderboard.standing import Standing, bound_in_words, of_runs, standing, stated_score
from reelbench.leaderboard.store import StoredResult, refusal_of
from reelbench.registry.prompts import prompt_sha256
from reelbench.registry.records import (
    BASELINE_ADAPTER,
    PEOPLE_ADAPTER,
    About,
    Breakdowns,
    Metrics,
    MetricValue,
    Sample,
    SettingsRecord,
)
from reelbench.registry.sampling import SUBTITLED
from reelbench.registry.spec import BenchmarkSpec, Mean, MeanOf, Metric
from reelbench.registry.splits import is_mini
from reelbench.scoring import calibration_file, result_files, runs
from reelbench.stats import intervals

Kind = Literal["run", "published", "community", "baseline", "human"]
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
"""A repository's id on the Hub."""
_SIZES = (4, 10, 40, 100)  # 1e9 parameters


@dataclass(frozen=True, slots=True)
class RankingGroup:
    """What a score must share with another to be compared with it: groups are never mixed.

    `subset` is the part of the split, where it is not all of it; `judge` who judged, by the id that
    the server returned; `protocol` how the model was asked, where that is not the plain way:
    candidates, a language, a label, another prompt; `setting` what it brought with it beyond
    itself: fine-tuned, tools. `data` is whose questions and references they are, where not the
    owners'; `differs` how what was asked, or how it was scored, differs from what was filed first
    of the benchmark; `readers` the version of the rules that read the answers, where today's can't
    read them again.
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
    readers: int | None = None
    setting: str | None = None

    @property
    def id(self) -> str:
        """A name for links and columns, unique to the group: of other parts with a slash than judges' their digest."""
        start = (self.benchmark, f"v{self.version}", self.split, self.subset)
        how = (self.setting, self.protocol, self.data and f"data {self.data}", *self._apart)
        parts = (*start, self.judge, self.prompts, *how)
        odd = any("/" in part for part in (*start, self.prompts, *how) if part)
        odd |= any(
            "/" in judge and not HUB_ID.fullmatch(judge) for judge in (self.judge or "").split(", ")
        )
        digest = f"~{sha256(repr(parts).encode()).hexdigest()[:12]}" if odd else ""
        return "/".join(part for part in parts if part) + digest

    @property
    def label(self) -> str:
        """What a reader needs to tell the groups of one benchmark apart."""
        data = "data of one's own" if self.data else None
        how = (self.setting, self.protocol, data, *self._apart)
        split = ", ".join(part for part in (self.split, self.subset, *how) if part)
        judge = (
            "" if self.judge is None else f" · {self.judge}, {self.prompts or 'unknown'} prompts"
        )
        return f"{split}{judge}" + ("" if self.version == 1 else f" · version {self.version}")

    @property
    def _apart(self) -> tuple[str | None, str | None]:
        return (
            self.differs,
            f"answers as version {self.readers} of the rules read them" if self.readers else None,
        )

    @property
    def plain(self) -> bool:
        """Whether it is of a whole split of the owners' data, asked in the plain way: no other counts overall."""
        return not any(
            (self.subset, self.setting, self.protocol, self.data, self.differs, self.readers)
        )

    @property
    def mini(self) -> bool:
        """Whether it is on the mini data, which is for trying things out."""
        return is_mini(self.split)


_APART = {"fine-tuned", "tools"}
"""Settings whose rows have a table of their own; in any other a model is as it is, reasoning or not."""


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A row: one model under one setting on one benchmark.

    `unranked` is why a run is listed and not ranked, `lowest`, by which one with unscored items is
    ranked, its primary metric with each of them at the scale's lowest. `facts` are what a run's
    record says beside that, by the id of the column.
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
    def is_reference(self) -> bool:
        """Whether it is a reference point, which is never ranked: a floor, people, what the Hub's own board states."""
        return self.kind in ("baseline", "human", "community")

    @property
    def brief(self) -> str:
        """The model's name without who made it, for where room is short."""
        return self.model.partition("/")[2] or self.model

    @property
    def billions(self) -> float | None:
        """The model's parameters, in 1e9, where its people state them."""
        return None if self.about.parameters is None else self.about.parameters / 1e9

    @property
    def size(self) -> str | None:
        """The same in steps, for a filter."""
        if (billions := self.billions) is None:
            return None
        return next(
            (f"under {top} B" for top in _SIZES if billions < top), f"{_SIZES[-1]} B and more"
        )


def run_entries(
    kept: Iterable[StoredResult], left_out: Callable[[str, str], None]
) -> Iterator[BoardEntry]:
    """Yield the rows of stored results on benchmarks that are known.

    Several runs of one model in one setting are one row. `left_out` is called with the key of each
    result that can't be a row, and why.
    """
    known = [stored for stored in kept if stored.benchmark is not None]
    for one_or_more in runs.group_repeats(known, lambda stored: stored.result):
        try:
            yield run_entry(one_or_more[0] if len(one_or_more) == 1 else of_runs(one_or_more))
        except Exception as error:  # noqa: BLE001 - one bad result never stops the others
            for stored in one_or_more:
                left_out(stored.key, refusal_of(stored.folder, error))


def run_entry(stored: StoredResult) -> BoardEntry:
    """Return the row of a stored result."""
    spec, result = stored.spec, stored.result
    about, note, account = (
        result.model.about or About(),
        result.provenance.note,
        stored.check.account,
    )
    note = f"as stated by {account}: {note}" if note and account else note
    shown = standing(stored)
    ours = account is None  # floors and people, against which others are read, are the maintainers'
    baseline = ours and result.model.adapter == BASELINE_ADAPTER
    human = (ours and result.model.adapter == PEOPLE_ADAPTER) or about.setting == "human"
    trained = spec.id in {name.lower() for name in about.trained_on or ()}
    frames, given = result.settings.frames, result.settings.frames_given
    if len(given) == 1 and not frames.startswith("uniform"):
        frames = f"{frames} ({next(iter(given))})"
    of_first = (
        f"the mean of {len(stored.runs)} runs; the answers shown are the first one's"
        if stored.runs
        else None
    )
    weights = result.model.args.get("pretrained")
    from_hub = isinstance(weights, str) and HUB_ID.fullmatch(weights)
    setting = (
        "floor"
        if baseline
        else "human"
        if human
        else about.setting or ("fine-tuned" if trained else "run")
    )
    benchmark, judge = stored.result.benchmark, stored.result.judge
    prompts = None
    if judge:  # only the owners' set is one text for good (its hash is pinned); any other is told by its text as well
        prompts = (
            judge.prompt
            if judge.prompt == "official"
            else f"{judge.prompt}@{judge.prompt_sha256[:8]}"
        )
    return BoardEntry(
        key=stored.key,
        model=result.model.id,
        revision=result.model.revision,
        kind="baseline" if baseline else "human" if human else "run",
        setting=setting,
        group=RankingGroup(
            benchmark=benchmark.id,
            version=benchmark.version,
            split=benchmark.split,
            subset=", ".join(filter(None, (stored.check.subset, shown.media))) or None,
            judge=judge_as_answered(judge) if judge else None,
            prompts=prompts,
            protocol=protocol(stored.spec, stored.result.settings),
            data="own" if stored.result.data == "own" else None,
            differs=stored.differs,
            readers=shown.readers,
            setting=setting if setting in _APART else None,
        ),
        frames=frames,
        metrics=shown.metrics,
        breakdowns=shown.breakdowns,
        date=result.provenance.date,
        unranked=shown.unranked,
        lowest=shown.lowest,
        open_weights=True if from_hub else None,  # others can't be told
        url=result.provenance.url,
        cite=result.provenance.citation or "",
        note="; ".join(filter(None, (note, result.settings.shown_otherwise, of_first))),
        about=about,
        facts=facts(stored, shown),
        stored=stored,
    )


def published_entries(spec: BenchmarkSpec) -> Iterable[BoardEntry]:
    """Yield the rows of what others published on a benchmark."""
    for number, row in enumerate(spec.published):
        prompts, how = (
            row.prompts if row.judge else None,
            f"label {row.label}" if row.label else None,
        )
        apart = row.setting if row.setting in _APART else None
        yield BoardEntry(
            key=f"published/{spec.id}/{number}",
            model=row.model,
            revision=None,
            kind=row.setting if row.setting in ("baseline", "human") else "published",
            setting={"baseline": "floor"}.get(row.setting, row.setting),
            group=RankingGroup(
                spec.id, spec.version, row.split, row.subset, row.judge, prompts, how, setting=apart
            ),
            frames=row.frames or "unknown",
            unranked=row.unranked,
            metrics=_without_items(row.metrics),
            breakdowns={
                facet: {label: _without_items(metrics) for label, metrics in labels.items()}
                for facet, labels in row.breakdowns.items()
            },
            open_weights=row.open_weights,
            cite=row.cite + (" (as a third party quotes it)" if row.verified == "3P" else ""),
            url=row.url,
            note=row.note,
        )


def community_entries(spec: BenchmarkSpec, community: Community) -> Iterable[BoardEntry]:
    """Yield the rows of the Hub's own board of a benchmark."""
    protocol = f"as stated on the Hub, {community.dataset}"
    for number, row in enumerate(community.rows):
        pending = (
            f"pull request {row.pull_request} of the model's repository"
            if row.pull_request is not None
            else ""
        )
        yield BoardEntry(
            key=f"community/{spec.id}/{number}",
            model=row.model,
            revision=None,
            kind="community",
            setting="community",
            group=RankingGroup(spec.id, spec.version, spec.default_split, protocol=protocol),
            frames="unknown",
            metrics=_without_items({spec.primary.name: row.value}),
            date=community.fetched,
            url=row.url,
            cite="the Hub's board" + (", verified there" if row.verified else ""),
            note="; ".join(filter(None, (pending, row.notes))),
        )


def _without_items(values: Mapping[str, float]) -> Metrics:
    return {name: MetricValue(value=number, n=0) for name, number in values.items()}


_NOT_PROTOCOL = {
    *("frames", "frames_given", "frames_unlike", "audio", "preset", "prompt_sha256", "generation"),
    *("seed", "run", "limit"),
}
"""Settings that a model chooses for itself, or that have their own place; any other is a way of asking of its own."""


def protocol(spec: BenchmarkSpec, settings: SettingsRecord) -> str | None:
    """Return in words how a run was asked, or None where that is the plain way."""
    prompts = {prompt_sha256(spec, task.prompt): task.prompt for task in spec.tasks if task.prompt}
    prompt = prompts.get(settings.prompt_sha256 or "")
    parts = [Path(prompt).stem.removeprefix("prompt_")] if prompt else []
    parts += [SUBTITLED] if SUBTITLED in settings.frames.split(",") else []
    for name, setting in settings.model_dump(mode="json", exclude=_NOT_PROTOCOL).items():
        if setting not in (None, "", [], {}):
            parts.append(f"{name} {_in_words(setting)}")
    return ", ".join(parts) or None


def _in_words(setting: object) -> str:
    if not isinstance(setting, Mapping):
        return "+".join(map(str, setting)) if isinstance(setting, list) else str(setting)
    words = {name: _in_words(part) for name, part in setting.items() if part is not None}
    # Of a hash as much as tells it from another.
    return " ".join(
        f"{name}={text[:8] if 'sha256' in name else text}" for name, text in words.items()
    )


def frame_count(frames: str) -> int | None:
    """Return the number of frames in a setting (`uniform:32`, `256`, `native (8)`), or None where it names none."""
    match = re.fullmatch(
        r"(?:uniform:|keyframe:)?(\d+)(?:,.*)?|[a-z]+ \((\d+)\)|none()(?:,.*)?", frames
    )
    return None if match is None else int(match[1] or match[2] or 0)


def metric_value(metrics: Mapping[str, MetricValue], name: str) -> float | None:
    """Return a metric's value, or None where it is absent or not scored."""
    return metrics[name].value if name in metrics else None


# --- what a run's record says, for the columns of its row (`columns.yaml`)
# -------------------------------------------


def facts(stored: StoredResult, shown: Standing) -> dict[str, Any]:
    """Return the facts of a run's record, by the names of the columns that show them."""
    spec, result, check, counts = stored.spec, stored.result, stored.check, stored.result.counts
    about, frames, preset = (
        result.model.about or About(),
        result.settings.frames,
        result.settings.preset,
    )
    calibrated = calibrated_primary(spec, stored.folder) if stored.videos is None else None
    other_judge = other_than_requested(result.judge) if result.judge else []
    times = re.search(r",times=(\w+)", frames)
    without_ours = frames.partition(",")[0] in ("native", "none", "unknown")
    with_intervals = any(metric.ci95 for metric in result.metrics.values())
    # The mean usage of the items that state it, of all runs; InputError where the samples can't be
    # read.
    costs = [one.result.judge and one.result.judge.cost_usd for one in stored.each]
    items = sum(one.result.counts.items for one in stored.each)
    known = [cost for cost in costs if cost is not None]
    usage: dict[str, float | None] = {
        "judge_cost": sum(known) / items if items and len(known) == len(costs) else None
    }
    samples: list[Sample] = []
    for folder in (one.folder for one in stored.each):
        text = read_text(folder / result_files.SAMPLES_FILE)
        if '"tokens"' in text or '"seconds"' in text:
            samples += result_files.read_samples(folder)
    if samples:
        spent = [sample.tokens or {} for sample in samples]
        said: dict[str, list[float]] = {
            "tokens_in": [tokens["prompt"] for tokens in spent if "prompt" in tokens],
            "tokens_out": [tokens["completion"] for tokens in spent if "completion" in tokens],
            "seconds": [sample.seconds for sample in samples if sample.seconds is not None],
        }
        usage |= {
            name: sum(numbers) / len(numbers) if numbers else None for name, numbers in said.items()
        }
    return {
        "items": shown.items,
        "scored": shown.scored,
        "ids": check.ids,
        "stated": ", ".join(check.stated or ()) or None,
        "stated_by": check.account,
        "rejudged": str(check.rejudged) if check.rejudged else None,
        "unreadable": 100 * shown.unread / counts.items
        if counts.items and spec.row_kind != "open"
        else None,
        "calibrated": calibrated and calibrated[0],
        "calibration": calibrated and calibrated[1],
        "trained_on": ", ".join(about.trained_on or ()) or None,
        "sound": result.settings.sound,
        "label": result.settings.label,
        "preset": preset
        and preset.name + (f" (but for {', '.join(preset.changed)})" if preset.changed else ""),
        "unscored": shown.unscored or None,
        "runs": len(stored.runs) or None,
        "bound": bound_in_words(spec.primary, stored, shown),
        "stated_score": stated_score(spec.primary, stored, shown),
        "readers": result.answers,
        "judge_asked": ", ".join(dict.fromkeys(requested for requested, _ in other_judge)) or None,
        "data": result.data,
        "questions": (result.benchmark.questions_sha256 or "not stated")[:10],
        "intervals": result.interval
        if with_intervals and result.interval != intervals.METHOD
        else None,
        "times": None if without_ours else times[1] if times else "none",
        "videos": shown.videos,
        **usage,
    }


def means_of(spec: BenchmarkSpec, metric: Metric) -> list[Mean]:
    """Return the means over items that a metric is, or is the mean of; none where it follows from items otherwise."""
    how = metric.aggregate
    if isinstance(how, Mean):
        return [how]
    return (
        [mean for name in how.metrics for mean in means_of(spec, spec.metric(name))]
        if isinstance(how, MeanOf)
        else []
    )


def calibrated_primary(spec: BenchmarkSpec, folder: Path) -> tuple[float, str] | None:
    """Return a result's primary score with the judge corrected, in its own unit, and how that was made.

    Each answer counts once. None where people did not score all that goes into it.
    """
    kept = calibration_file.read(folder)
    means = means_of(spec, spec.primary)
    if kept is None or not means or not all(mean.column in kept.criteria for mean in means):
        return None
    parts = [kept.criteria[mean.column] for mean in means]
    values = [
        part.value * mean.scale
        for part, mean in zip(parts, means, strict=True)
        if part.value is not None
    ]
    if len(values) < len(parts):
        return None
    labelled = min(len(part.labels) for part in parts)
    how = f"prediction-powered mean; people scored {labelled} of {parts[0].items} answers ({kept.people})"
    return sum(values) / len(values), how
