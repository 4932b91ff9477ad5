"""The rows of the leaderboard: runs from the store and published numbers, in one shape.

Rows are comparable when they are of one *group*: the same benchmark version, split (or part of it), judge and judge's
prompts. Groups are never mixed: each is a column of the overall table and a ranking of its own.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from reelbench.judges import results
from reelbench.leaderboard.store import Stored
from reelbench.registry.data import loading
from reelbench.registry.records import Breakdowns, JudgeRecord, Metrics, MetricValue, Result, Sample
from reelbench.registry.spec import BenchmarkSpec, PublishedResult

Kind = Literal["run", "published", "baseline", "human"]
BASELINE_ADAPTER = "reelbench_baseline"
HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
"""A repository's id on the Hub."""


@dataclass(frozen=True, slots=True)
class Group:
    """What a score must share with another to be compared with it."""

    benchmark: str
    version: int
    split: str
    subset: str | None = None
    judge: str | None = None
    prompts: str | None = None

    @property
    def id(self) -> str:
        """A name for links and columns, unique to the group."""
        parts = (self.benchmark, f"v{self.version}", self.split, self.subset, self.judge, self.prompts)
        return "/".join(part for part in parts if part)

    @property
    def label(self) -> str:
        """What a reader needs to tell the groups of one benchmark apart."""
        split = self.split if self.subset is None else f"{self.split}, {self.subset}"
        judge = "" if self.judge is None else f" · {self.judge}, {self.prompts or 'unknown'} prompts"
        return f"{split}{judge}" + ("" if self.version == 1 else f" · version {self.version}")

    @property
    def mini(self) -> bool:
        """Whether it is on the mini data, which is for trying things out."""
        return loading.is_mini(self.split)


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: one model under one setting on one benchmark.

    `partial` says why it is not ranked although it is a run; `ids` is None for what can't be computed again.
    """

    key: str
    model: str
    revision: str | None
    kind: Kind
    setting: str
    group: Group
    frames: str
    metrics: Metrics
    breakdowns: Breakdowns
    items: int | None
    scored: int | None
    date: str | None
    partial: str | None = None
    ids: str | None = None
    open_weights: bool | None = None
    cite: str = ""
    url: str | None = None
    note: str = ""
    stored: Stored | None = field(default=None, compare=False, repr=False)

    @property
    def floor_or_human(self) -> bool:
        """Whether it stands apart from the ranking."""
        return self.kind in ("baseline", "human")


def of_run(spec: BenchmarkSpec, stored: Stored) -> Entry:
    """Return the row of a stored result."""
    result = stored.result
    baseline = result.model.adapter == BASELINE_ADAPTER
    return Entry(
        key=stored.key,
        model=result.model.id,
        revision=result.model.revision,
        kind="baseline" if baseline else "run",
        setting="floor" if baseline else "run",
        group=_group(spec, stored),
        frames=_frames(result),
        metrics=result.metrics,
        breakdowns=result.breakdowns,
        items=result.counts.items,
        scored=result.counts.scored,
        date=result.provenance.date,
        partial=stored.check.partial,
        ids=stored.check.ids,
        open_weights=_open_weights(result),
        url=result.provenance.url,
        cite=result.provenance.citation or "",
        note=result.provenance.note or "",
        stored=stored,
    )


def of_published(spec: BenchmarkSpec) -> Iterable[Entry]:
    """Yield the rows of what others published on a benchmark."""
    for number, published in enumerate(spec.published):
        yield Entry(
            key=f"published/{spec.id}/{number}",
            model=published.model,
            revision=None,
            kind=published.setting if published.setting in ("baseline", "human") else "published",
            setting={"baseline": "floor"}.get(published.setting, published.setting),
            group=Group(spec.id, spec.version, published.split, published.subset, published.judge, _prompts(published)),
            frames=published.frames or "unknown",
            metrics={name: MetricValue(value=value, n=0) for name, value in published.metrics.items()},
            breakdowns={
                facet: {
                    label: {name: MetricValue(value=value, n=0) for name, value in metrics.items()}
                    for label, metrics in labels.items()
                }
                for facet, labels in published.breakdowns.items()
            },
            items=None,
            scored=None,
            date=None,
            open_weights=published.open_weights,
            cite=published.cite + (" (as a third party quotes it)" if published.verified == "3P" else ""),
            url=published.url,
            note=published.note,
        )


def samples_of(stored: Stored) -> dict[str, Sample]:
    """Return a stored result's samples by id."""
    return {sample.id: sample for sample in results.read_samples(stored.folder)}


def _group(spec: BenchmarkSpec, stored: Stored) -> Group:
    benchmark, judge = stored.result.benchmark, stored.result.judge
    return Group(
        benchmark=spec.id,
        version=benchmark.version,
        split=benchmark.split,
        subset=stored.check.subset,
        judge=judge.requested if judge else None,
        prompts=_prompt_set(judge) if judge else None,
    )


def _prompts(published: PublishedResult) -> str | None:
    return published.prompts if published.judge else None


def _prompt_set(judge: JudgeRecord) -> str:
    # Only the owners' set is one text for good (its hash is pinned); any other is told by its text as well.
    return judge.prompt if judge.prompt == "official" else f"{judge.prompt}@{judge.prompt_sha256[:8]}"


def _frames(result: Result) -> str:
    given = result.settings.frames_given
    if len(given) == 1 and not result.settings.frames.startswith("uniform"):
        return f"{result.settings.frames} ({next(iter(given))})"
    return result.settings.frames


def _open_weights(result: Result) -> bool | None:
    """True where the weights were loaded from the Hub; None where that can't be told."""
    pretrained = result.model.args.get("pretrained")
    return True if isinstance(pretrained, str) and HUB_ID.fullmatch(pretrained) else None


def frame_count(frames: str) -> int | None:
    """Return the number of frames in a setting (`uniform:32`, `256`, `native (8)`), or None where it names none."""
    found = re.fullmatch(r"(?:uniform:|keyframe:)?(\d+)(?:,.*)?|[a-z]+ \((\d+)\)|none()", frames)
    if found is None:
        return None
    return int(found[1] or found[2] or 0)


def value(metrics: Mapping[str, MetricValue], name: str) -> float | None:
    """Return a metric's value, or None where it is absent or not scored."""
    found = metrics.get(name)
    return None if found is None else found.value
