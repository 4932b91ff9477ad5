"""Write results in the Every Eval Ever format 0.3.0.

    <out>/data/<benchmark>/<developer>/<model>/<uuid>.json, <uuid>_samples.jsonl

Each result has an aggregate file, and a file with its single answers. The format's instances must
have a score: an answer without a score has no row there, and the aggregate says how many are
unscored and why. Questions are not repeated, since datasets' licences differ: an instance names its
question by the dataset and the id. Samples of a benchmark whose data is under an agreement are not
written at all.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import sha256_of, write_jsonl, write_text
from reelbench.base.values import as_text, is_number
from reelbench.data import ownership
from reelbench.data.redistribution import why_withheld
from reelbench.judges.prompting import load_prompts
from reelbench.leaderboard import hidden_totals
from reelbench.leaderboard.entries import why_reference
from reelbench.leaderboard.exports import Exported
from reelbench.leaderboard.recompute import date_of
from reelbench.leaderboard.standing import bound_in_words, standing
from reelbench.leaderboard.store import StoredResult
from reelbench.pages.shell_page import page_asset
from reelbench.registry.records import JudgeRecord, MetricValue, Result, Sample
from reelbench.registry.spec import BenchmarkSpec, Corpus, HubFile, Mean, Metric, UrlFile
from reelbench.registry.splits import is_mini
from reelbench.scoring import result_files

Relationship = Literal["first_party", "third_party", "collaborative", "other"]

_TOKEN_LIMITS = ("max_new_tokens", "max_tokens", "max_gen_toks")
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_PARTS = json.loads(page_asset("every_eval_ever.json", "leaderboard.exports"))


def export(
    stored: Sequence[StoredResult],
    out: Path,
    *,
    organization: str | None,
    relationship: str = "other",
) -> Iterator[Exported]:
    """Write both files for each result below `out`.

    Args:
        stored: The results.
        out: The folder.
        organization: The organization that ran the evaluation, which the format asks for.
        relationship: Its relationship to the models' developers.

    Raises:
        InputError: There is no organization, or the relationship is not one of the format's.
    """
    if not organization:
        raise InputError("--format eee: the format asks who evaluated; give --organization NAME")
    relationships = get_args(Relationship)
    if relationship not in relationships:
        raise InputError(
            f"--relationship {relationship}: is not one of the format's; "
            f"give {', '.join(relationships)}"
        )
    for result in stored:
        values = [metric_result.value for metric_result in result.result.metrics.values()]
        split = result.result.benchmark.split
        if is_mini(split):
            yield Exported(result.key, why="it is on the mini data, which is for trying things out")
        elif all(value is None for value in values):
            yield Exported(result.key, why="none of its metrics is scored")
        else:
            why = why_withheld(result.spec, split)
            exported_result = result
            if ownership.has_secret_answers(result.spec, split):
                totals = hidden_totals.result_of_totals(result.spec, result.result)
                exported_result = replace(result, result=totals)
            files = _write(
                exported_result,
                out,
                withheld=why is not None,
                organization=organization,
                relationship=relationship,
            )
            note = f"its samples: {why}" if why else ""
            yield Exported(result.key, tuple(files), note)


def _fill(shape: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Return a part of the format with its values in the place of `$name`.

    A field whose value is None is left out.
    """
    if isinstance(shape, str):
        return values[shape[1:]] if shape.startswith("$") else shape
    if isinstance(shape, list):
        return [_fill(part, values) for part in shape]
    if not isinstance(shape, dict):
        return shape
    document: dict[str, Any] = {}
    for name, part in shape.items():
        value = _fill(part, values)
        if value is not None:
            document[name] = value
    return document


def _part(part: str, /, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a part of the format, by its name in `every_eval_ever.json`."""
    return _fill(_PARTS[part], values)


def _write(
    stored: StoredResult, out: Path, *, withheld: bool, organization: str, relationship: str
) -> Iterator[Path]:
    """Write the aggregate, and the single answers unless they are `withheld`."""
    result = stored.result
    place = _place(stored)
    evaluation = _evaluation_id(stored)
    document = _aggregate(stored, evaluation, organization=organization, relationship=relationship)
    rows: list[dict[str, Any]] = []
    if not withheld:
        rows += instances(stored, evaluation)
    if rows:
        samples = place.with_name(f"{place.name}_samples.jsonl")
        write_jsonl(out / samples, rows)
        document["detailed_evaluation_results"] = _part(
            "instances",
            path=samples.as_posix(),
            sha256=sha256_of(out / samples),
            rows=len(rows),
            left_out=_unscored_text(result),
        )
        yield out / samples
    path = out / place.with_suffix(".json")
    write_text(path, json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n")
    yield path


def _place(stored: StoredResult) -> Path:
    """Return the path of a result's files, below the folder and without an ending.

    Its id is derived from the result: an export made again is the same file, and no second result.
    """
    result = stored.result
    developer, _, name = result.model.id.rpartition("/")
    identity = f"{stored.key}\n{result.provenance.samples_sha256}\n{result.provenance.date}"
    digest = hashlib.sha256(identity.encode()).digest()
    file_id = uuid.UUID(bytes=digest[:16], version=4)
    return Path("data", stored.spec.id, _folder_name(developer), _folder_name(name), str(file_id))


def _folder_name(name: str) -> str:
    return _NO_NAME.sub("_", name).strip("._") or "unknown"


def _timestamp(result: Result) -> str:
    """Return the date of a result in seconds since 1970."""
    try:
        return str(int(date_of(result).timestamp()))
    except ValueError:
        raise InputError(f"provenance.date {result.provenance.date!r} is not an ISO date") from None


def _evaluation_id(stored: StoredResult) -> str:
    model = stored.result.model.id.replace("/", "_")
    return f"{stored.spec.id}/{model}/{_timestamp(stored.result)}"


# --- the aggregate


def _aggregate(
    stored: StoredResult, evaluation: str, *, organization: str, relationship: str
) -> dict[str, Any]:
    """Return the aggregate document of a result."""
    result = stored.result
    model = result.model
    developer, _, name = model.id.rpartition("/")
    deployment = "unknown"
    availability = "unknown"
    if isinstance(model.args.get("pretrained"), str):  # weights that were loaded can be had
        deployment = "self_deployed"
        availability = "open_weights"
    library = dict(result.software)
    version = library.pop("reelbench", "unknown")
    metric_results: list[dict[str, Any]] = []
    for metric in stored.spec.metrics:
        metric_result = result.metrics.get(metric.name)
        if metric_result is not None and metric_result.value is not None:
            metric_results.append(_metric_result(stored, metric, metric_result, evaluation))
    return _part(
        "aggregate",
        organization=organization,
        relationship=relationship,
        evaluation=evaluation,
        stamp=_timestamp(result),
        version=version,
        library=library,
        name=name or model.id,
        model=model.id,
        developer=developer or "unknown",
        deployment=deployment,
        availability=availability,
        revision=model.revision or "unknown",
        adapter=model.adapter or "unknown",
        args=json.dumps(model.args, ensure_ascii=False, sort_keys=True),
        results=metric_results,
    )


def _metric_result(
    stored: StoredResult, metric: Metric, metric_result: MetricValue, evaluation: str
) -> dict[str, Any]:
    """Return the entry of one metric."""
    spec = stored.spec
    result = stored.result
    settings = result.settings
    how: str = metric.aggregate.how
    if isinstance(metric.aggregate, Corpus):
        how = metric.aggregate.scorer
    interval = None
    if metric_result.ci95:
        low, high = metric_result.ci95
        method = f"{result.interval}, bootstrap over videos, seeded"
        interval = _part("interval", low=low, high=high, method=method)
    judged = None
    if metric.judged and result.judge is not None:
        judged = _judge_entry(spec, result.judge)
    seed = "unknown" if settings.seed is None else str(settings.seed)
    return _part(
        "result",
        id=f"{evaluation}#{metric.name}",
        title=spec.title,
        **_source_fields(stored),
        description=f"{spec.title}: {metric.title}",
        metric_id=f"{spec.id}.{metric.name}",
        metric=metric.title,
        how=how,
        unit=metric.in_unit.noun,
        low=metric.in_unit.low,
        high=metric.in_unit.high,
        primary=str(metric.name == spec.primary.name).lower(),
        cite=metric.cite,
        judged=judged,
        score=metric_result.value,
        details=_details(stored),
        n=metric_result.n,
        interval=interval,
        arguments=_generation_arguments(settings.generation),
        frames=settings.frames,
        prompt_sha256=settings.prompt_sha256 or "unknown",
        seed=seed,
        generation=json.dumps(settings.generation, ensure_ascii=False, sort_keys=True),
    )


def _source_fields(stored: StoredResult) -> dict[str, Any]:
    """Return the fields on a result's data: on the Hub, at a URL or elsewhere."""
    benchmark = stored.result.benchmark
    items = stored.result.counts.items
    source = stored.spec.splits[benchmark.split].source
    fields: dict[str, Any] = {
        "source_type": "other",
        "repository": None,
        "repository_split": None,
        "samples": None,
        "urls": None,
        "split": benchmark.split,
        "fingerprint": benchmark.source.fingerprint,
        "kind": benchmark.source.kind,
        "revision": benchmark.source.revision or None,
        "samples_elsewhere": str(items),
    }
    if isinstance(source, HubFile):
        fields["source_type"] = "hf_dataset"
        fields["repository"] = source.repo_id
        fields["repository_split"] = benchmark.split
        fields["samples"] = items
        fields["samples_elsewhere"] = None
    elif isinstance(source, UrlFile):
        fields["source_type"] = "url"
        fields["urls"] = [source.url]
    return fields


def _generation_arguments(generation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of generation that the format has a field for."""
    arguments: dict[str, Any] = {}
    for name in ("temperature", "top_p", "top_k"):
        if is_number(generation.get(name)):
            arguments[name] = generation[name]
    for name in _TOKEN_LIMITS:
        limit = generation.get(name)
        if isinstance(limit, int) and limit > 0:
            arguments["max_tokens"] = limit
            break
    return arguments


def _unscored_text(result: Result) -> str:
    """Return the number of unscored answers by reason."""
    counts = [f"{number} {reason}" for reason, number in result.counts.unscored.items()]
    return ", ".join(counts) or "0"


def _details(stored: StoredResult) -> dict[str, str]:
    """Return a result's counts, the bound that it is ranked by, and its coverage."""
    details = {name: str(value) for name, value in stored.result.counts if name != "unscored"}
    details["unscored"] = _unscored_text(stored.result)
    values = standing(stored)
    primary = stored.spec.primary
    bound = bound_in_words(primary, stored, values)
    if bound:
        lower_bound = values.metrics[primary.name].value
        details["ranked_by"] = f"{lower_bound:.{primary.in_unit.long_digits}f}, {bound}"
    filed_row = stored.filed_row
    details["coverage"] = filed_row.subset or filed_row.partial or "the whole split"
    reference = why_reference(stored)
    if reference is not None:
        details["not_ranked"] = reference
    details["benchmark_version"] = str(stored.result.benchmark.version)
    return details


def _judge_entry(spec: BenchmarkSpec, judge: JudgeRecord) -> dict[str, Any]:
    """Return the entry of the judge."""
    judges: list[dict[str, Any]] = []
    for model in judge.returned or (judge.requested,):
        host = judge.url or "unknown"
        judges.append(_part("judge", model=model, host=host, temperature=judge.temperature))
    aggregation = None
    if judge.votes > 1:
        aggregation = "average" if judge.vote_rule == "mean" else "majority_vote"
    return _part(
        "judged",
        judges=judges,
        prompt=_judge_prompt(spec, judge),
        requested=judge.requested,
        prompt_set=judge.prompt,
        prompt_sha256=judge.prompt_sha256,
        votes=str(judge.votes),
        aggregation=aggregation,
    )


def _judge_prompt(spec: BenchmarkSpec, judge: JudgeRecord) -> str:
    """Return our prompts as they were sent, or the name and the hash of others."""
    name_and_hash = f"prompt set {judge.prompt}, sha256 {judge.prompt_sha256}"
    if judge.prompt != "reelbench":
        return name_and_hash
    try:
        prompts = load_prompts(spec, "reelbench")
    except ReelbenchError:
        return name_and_hash
    if prompts.sha256 != judge.prompt_sha256:
        return name_and_hash
    texts = [f"{system}\n\n{prompts.user[name]}" for name, system in prompts.system.items()]
    return "\n\n---\n\n".join(texts)


# --- the instances


class _Column(NamedTuple):
    """A metric of single answers: the mean of some of their scores."""

    metric: Metric
    score_names: tuple[str, ...]

    def is_right(self, score: float) -> bool:
        """Return True where an answer with this score is right."""
        value = score
        if isinstance(self.metric.aggregate, Mean):
            value = self.metric.aggregate.value_of(score)
        return self.metric.is_right(value) is True

    def score(self, sample: Sample) -> float | None:
        """Return the score of an answer. None where one of its scores is missing."""
        if not all(name in sample.scores for name in self.score_names):
            return None
        scores = [sample.scores[name] for name in self.score_names]
        return sum(scores) / len(scores)


def _columns(stored: StoredResult) -> Iterable[_Column]:
    """Return the metrics of single answers, the first of those with the same scores."""
    columns: dict[tuple[str, ...], _Column] = {}
    for metric in stored.spec.metrics:
        metric_result = stored.result.metrics.get(metric.name)
        means = stored.spec.means_of(metric)
        if metric_result is None or metric_result.value is None or not means:
            continue
        score_names = tuple(mean.column for mean in means)
        columns.setdefault(score_names, _Column(metric, score_names))
    return columns.values()


def instances(stored: StoredResult, evaluation: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each score that an answer has.

    An answer is correct from the metric's `right_from` on.
    """
    spec = stored.spec
    columns = _columns(stored)
    for sample in result_files.read_samples(stored.folder):
        for column in columns:
            score = column.score(sample)
            if score is None:
                continue
            metric = column.metric
            yield _part(
                "instance",
                evaluation=evaluation,
                model=stored.result.model.id,
                metric_id=f"{spec.id}.{metric.name}",
                id=f"{evaluation}#{metric.name}",
                question=f"{spec.title}, {stored.result.benchmark.split}: "
                f"question {sample.id} on video {sample.video}",
                score=score,
                right=column.is_right(score),
                **_answer_fields(sample),
            )


def _answer_fields(sample: Sample) -> dict[str, Any]:
    """Return the fields on an answer, whatever its score."""
    target = sample.target
    references = [target[name] for name in ("text", "answer") if target.get(name)]
    references += target.get("spans", ())
    read_answer = sample.prediction
    reading = "none"
    if sample.parsed is not None:
        read_answer = sample.parsed
        reading = "custom"
    metadata = {"video": sample.video}
    for facet, labels in sample.facets.items():
        metadata[facet] = ", ".join(labels)
    if sample.flags:
        metadata["flags"] = ", ".join(sample.flags)
    return {
        "sample": sample.id,
        "references": list(map(as_text, references)),
        "answer": as_text(sample.prediction),
        "read": as_text(read_answer),
        "reading": reading,
        "metadata": metadata,
    }
