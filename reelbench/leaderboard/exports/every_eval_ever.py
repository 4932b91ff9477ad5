"""Results in the Every Eval Ever format 0.3.0: an aggregate file per result, and a file with its single answers.

    <out>/data/<benchmark>/<developer>/<model>/<uuid>.json, <uuid>_samples.jsonl

The format's instances must have a score: what was not scored of an answer has no row there, and the
aggregate says how many are unscored and why. Questions are not repeated, since datasets' licences
differ: an instance names its question by the dataset and the id. Samples of a benchmark whose data
is under an agreement are not written at all.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import sha256_of, write_jsonl, write_text
from reelbench.base.values import as_text, is_number
from reelbench.data.redistribution import why_withheld
from reelbench.judges.prompting import load_prompts
from reelbench.leaderboard.entries import means_of
from reelbench.leaderboard.exports import Exported
from reelbench.leaderboard.recompute import date_of
from reelbench.leaderboard.standing import bound_in_words, standing
from reelbench.leaderboard.store import StoredResult
from reelbench.pages.shell_page import page_asset
from reelbench.registry.records import JudgeRecord, MetricValue
from reelbench.registry.spec import BenchmarkSpec, HubFile, Mean, Metric, UrlFile
from reelbench.registry.splits import is_mini
from reelbench.scoring import result_files

Relationship = Literal["first_party", "third_party", "collaborative", "other"]

_TOKENS = ("max_new_tokens", "max_tokens", "max_gen_toks")
_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_PARTS = json.loads(page_asset("every_eval_ever.json", "leaderboard.exports"))


def export(
    stored: Sequence[StoredResult],
    out: Path,
    *,
    organization: str | None,
    relationship: str = "other",
) -> Iterator[Exported]:
    """Write both files for each result below `out`.

    The format asks for the organization that ran the evaluation and its relationship to the models'
    developers; InputError without the one, or where the other is unknown.
    """
    if not organization:
        raise InputError("--format eee: the format asks who evaluated; give --organization NAME")
    if relationship not in get_args(Relationship):
        raise InputError(
            f"--relationship {relationship}: is not one of the format's; give {', '.join(get_args(Relationship))}"
        )
    for one in stored:
        if is_mini(one.result.benchmark.split):
            yield Exported(one.key, why="it is on the mini data, which is for trying things out")
        elif not any(found.value is not None for found in one.result.metrics.values()):
            yield Exported(one.key, why="none of its metrics is scored")
        else:
            why = why_withheld(one.spec, one.result.benchmark.split)
            files = _write(
                one,
                out,
                withheld=why is not None,
                organization=organization,
                relationship=relationship,
            )
            yield Exported(one.key, tuple(files), f"its samples: {why}" if why else "")


def _fill(shape: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Return a part of the format with its values for `$name`; what has none is left out."""
    if isinstance(shape, str):
        return values[shape[1:]] if shape.startswith("$") else shape
    if isinstance(shape, list):
        return [_fill(part, values) for part in shape]
    if isinstance(shape, dict):
        made = {name: _fill(part, values) for name, part in shape.items()}
        return {name: part for name, part in made.items() if part is not None}
    return shape


def _part(part: str, /, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    return _fill(_PARTS[part], values)


def _write(one: StoredResult, out: Path, *, withheld: bool, **source: str) -> Iterator[Path]:
    """Write the aggregate, and the single answers unless they are `withheld`; `source` says who evaluated."""
    spec, result, model = one.spec, one.result, one.result.model
    developer, name = (
        _NAME.sub("_", part).strip("._") or "unknown" for part in model.id.rpartition("/")[::2]
    )
    # From the result, so that an export made again is the same file and not a second result.
    digest = hashlib.sha256(
        f"{one.key}\n{result.provenance.samples_sha256}\n{result.provenance.date}".encode()
    )
    place = (
        Path("data")
        / spec.id
        / developer
        / name
        / str(uuid.UUID(bytes=digest.digest()[:16], version=4))
    )
    try:
        stamp = str(int(date_of(result).timestamp()))
    except ValueError:
        raise InputError(f"provenance.date {result.provenance.date!r} is not an ISO date") from None
    evaluation = f"{spec.id}/{model.id.replace('/', '_')}/{stamp}"
    weights = isinstance(model.args.get("pretrained"), str)  # loaded here, so they could be had
    document = _part(
        "aggregate",
        **source,
        evaluation=evaluation,
        stamp=stamp,
        version=result.software.get("reelbench", "unknown"),
        library={name: version for name, version in result.software.items() if name != "reelbench"},
        name=model.id.rpartition("/")[2] or model.id,
        model=model.id,
        developer=model.id.rpartition("/")[0] or "unknown",
        deployment="self_deployed" if weights else "unknown",
        availability="open_weights" if weights else "unknown",
        revision=model.revision or "unknown",
        adapter=model.adapter or "unknown",
        args=json.dumps(model.args, ensure_ascii=False, sort_keys=True),
        results=[
            _metric_result(one, metric, found, evaluation)
            for metric in spec.metrics
            if (found := result.metrics.get(metric.name)) is not None and found.value is not None
        ],
    )
    if not withheld and (rows := list(instances(one, evaluation))):
        samples = place.with_name(f"{place.name}_samples.jsonl")
        write_jsonl(out / samples, rows)
        document["detailed_evaluation_results"] = _part(
            "instances",
            path=samples.as_posix(),
            sha256=sha256_of(out / samples),
            rows=len(rows),
            left_out=_details(one)["unscored"],
        )
        yield out / samples
    path = out / place.with_suffix(".json")
    write_text(path, json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    yield path


# --- the aggregate
# -------------------------------------------------------------------------------------------------


def _metric_result(
    one: StoredResult, metric: Metric, found: MetricValue, evaluation: str
) -> dict[str, Any]:
    spec, result = one.spec, one.result
    settings, generation = result.settings, result.settings.generation
    arguments = {
        n: generation[n] for n in ("temperature", "top_p", "top_k") if is_number(generation.get(n))
    }
    limits = [
        value for name in _TOKENS if isinstance(value := generation.get(name), int) and value > 0
    ]
    split, source, read = (
        result.benchmark.split,
        spec.splits[result.benchmark.split].source,
        result.benchmark.source,
    )
    on_hub, items = source if isinstance(source, HubFile) else None, result.counts.items
    interval = found.ci95 and _part(
        "interval",
        low=found.ci95[0],
        high=found.ci95[1],
        method=f"{result.interval}, bootstrap over videos, seeded",
    )
    return _part(
        "result",
        id=f"{evaluation}#{metric.name}",
        title=spec.title,
        source_type="hf_dataset" if on_hub else "url" if isinstance(source, UrlFile) else "other",
        repository=on_hub and on_hub.repo_id,
        repository_split=on_hub and split,
        samples=on_hub and items,
        urls=[source.url] if isinstance(source, UrlFile) else None,
        split=split,
        fingerprint=read.fingerprint,
        kind=read.kind,
        revision=read.revision or None,
        samples_elsewhere=None if on_hub else str(items),
        description=f"{spec.title}: {metric.title}",
        metric_id=f"{spec.id}.{metric.name}",
        metric=metric.title,
        how=metric.aggregate.how if metric.aggregate.how != "corpus" else metric.aggregate.scorer,
        unit=metric.in_unit.noun,
        low=metric.in_unit.low,
        high=metric.in_unit.high,
        primary=str(metric.name == spec.primary.name).lower(),
        cite=metric.cite,
        judged=_judge_entry(spec, result.judge)
        if metric.judged and result.judge is not None
        else None,
        score=found.value,
        details=_details(one),
        n=found.n,
        interval=interval,
        arguments=arguments | ({"max_tokens": limits[0]} if limits else {}),
        frames=settings.frames,
        prompt_sha256=settings.prompt_sha256 or "unknown",
        seed="unknown" if settings.seed is None else str(settings.seed),
        generation=json.dumps(generation, ensure_ascii=False, sort_keys=True),
    )


def _details(one: StoredResult) -> dict[str, str]:
    counts = {name: str(value) for name, value in one.result.counts if name != "unscored"}
    unscored = ", ".join(
        f"{number} {reason}" for reason, number in one.result.counts.unscored.items()
    )
    shown, primary = standing(one), one.spec.primary
    bound = bound_in_words(primary, one, shown)
    value = shown.metrics[primary.name].value if bound else None
    return {
        **counts,
        "unscored": unscored or "0",
        **({"ranked_by": f"{value:.{primary.in_unit.long_digits}f}, {bound}"} if bound else {}),
        "coverage": one.check.subset or one.check.partial or "the whole split",
        "benchmark_version": str(one.result.benchmark.version),
    }


def _judge_entry(spec: BenchmarkSpec, judge: JudgeRecord) -> dict[str, Any]:
    prompt = f"prompt set {judge.prompt}, sha256 {judge.prompt_sha256}"
    if judge.prompt == "reelbench":
        with suppress(ReelbenchError):
            ours = load_prompts(spec, "reelbench")
            if ours.sha256 == judge.prompt_sha256:  # ours, as it was sent
                prompt = "\n\n---\n\n".join(
                    f"{system}\n\n{ours.user[name]}" for name, system in ours.system.items()
                )
    rule = "average" if judge.vote_rule == "mean" else "majority_vote"
    host, temperature = judge.url or "unknown", judge.temperature
    return _part(
        "judged",
        judges=[
            _part("judge", model=model, host=host, temperature=temperature)
            for model in judge.returned or (judge.requested,)
        ],
        prompt=prompt,
        requested=judge.requested,
        prompt_set=judge.prompt,
        prompt_sha256=judge.prompt_sha256,
        votes=str(judge.votes),
        aggregation=rule if judge.votes > 1 else None,
    )


# --- the instances
# -------------------------------------------------------------------------------------------------


def instances(one: StoredResult, evaluation: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each score that an answer has; an answer is correct from the metric's `right_from` on."""
    spec, result = one.spec, one.result
    columns: dict[
        tuple[str, ...], tuple[Metric, float]
    ] = {}  # of the metrics that single answers have; none twice
    for metric in spec.metrics:
        found, means = result.metrics.get(metric.name), means_of(spec, metric)
        if found is not None and found.value is not None and means:
            scale = means[0].scale if isinstance(metric.aggregate, Mean) else 1.0
            columns.setdefault(tuple(mean.column for mean in means), (metric, scale))
    for sample in result_files.read_samples(one.folder):
        for names, (metric, scale) in columns.items():
            if not all(name in sample.scores for name in names):
                continue
            score = sum(sample.scores[name] for name in names) / len(names)
            target = sample.target
            references = [
                *(target[name] for name in ("text", "answer") if target.get(name)),
                *target.get("spans", ()),
            ]
            yield _part(
                "instance",
                evaluation=evaluation,
                model=result.model.id,
                metric_id=f"{spec.id}.{metric.name}",
                id=f"{evaluation}#{metric.name}",
                sample=sample.id,
                question=f"{spec.title}, {result.benchmark.split}: question {sample.id} on video {sample.video}",
                references=[as_text(value) for value in references],
                answer=as_text(sample.prediction),
                read=as_text(sample.prediction if sample.parsed is None else sample.parsed),
                reading="custom" if sample.parsed is not None else "none",
                score=score,
                right=metric.is_right(score * scale) is True,
                metadata={
                    "video": sample.video,
                    **{facet: ", ".join(labels) for facet, labels in sample.facets.items()},
                    **({"flags": ", ".join(sample.flags)} if sample.flags else {}),
                },
            )
