"""Results in the Every Eval Ever format 0.3.0: an aggregate file per result, and a file with its single answers.

    <out>/data/<benchmark>/<developer>/<model>/<uuid>.json, <uuid>_samples.jsonl

The format's instances must have a score: what was not scored of an answer has no row there, and the aggregate says how
many are unscored and why. Questions are not repeated, since datasets' licences differ: an instance names its question
by the dataset and the id. Samples of a benchmark whose data is under an agreement are not written at all.
"""

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args

from reelbench.judges.prompting import load_prompts
from reelbench.leaderboard.entries import means_of
from reelbench.leaderboard.exports import Exported
from reelbench.leaderboard.recompute import date_of
from reelbench.leaderboard.standing import bound_in_words, standing
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.data import loading
from reelbench.registry.data.passing_on import why_withheld
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.files import sha256_of, write_jsonl, write_text
from reelbench.registry.records import JudgeRecord, MetricValue
from reelbench.registry.spec import BenchmarkSpec, HubFile, Mean, Metric, UrlFile
from reelbench.registry.values import as_text, is_number
from reelbench.scoring import result_files

SCHEMA = "0.3.0"

Relationship = Literal["first_party", "third_party", "collaborative", "other"]

_TOKENS = ("max_new_tokens", "max_tokens", "max_gen_toks")
_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def export(
    stored: Sequence[StoredResult], out: Path, *, organization: str | None, relationship: str = "other"
) -> Iterator[Exported]:
    """Write both files for each result below `out`.

    The format asks for the organization that ran the evaluation and its relationship to the models' developers;
    InputError without the one, or where the other is unknown.
    """
    if not organization:
        raise InputError("--format eee: the format asks who evaluated; give --organization NAME")
    if relationship not in get_args(Relationship):
        raise InputError(
            f"--relationship {relationship}: is not one of the format's; give {', '.join(get_args(Relationship))}"
        )
    source = {
        "source_name": "Reelbench",
        "source_type": "evaluation_run",
        "source_organization_name": organization,
        "evaluator_relationship": relationship,
    }
    for one in stored:
        if loading.is_mini(one.result.benchmark.split):
            yield Exported(one.key, why="it is on the mini data, which is for trying things out")
        elif not any(found.value is not None for found in one.result.metrics.values()):
            yield Exported(one.key, why="none of its metrics is scored")
        else:
            why = why_withheld(one.spec, one.result.benchmark.split)
            yield Exported(one.key, tuple(_write(one, source, out)), f"its samples: {why}" if why else "")


def _write(one: StoredResult, source: Mapping[str, str], out: Path) -> Iterator[Path]:
    spec, result = one.spec, one.result
    developer, model = (_NAME.sub("_", part).strip("._") or "unknown" for part in result.model.id.rpartition("/")[::2])
    # From the result, so that an export made again is the same file and not a second result.
    digest = hashlib.sha256(f"{one.key}\n{result.provenance.samples_sha256}\n{result.provenance.date}".encode())
    name = str(uuid.UUID(bytes=digest.digest()[:16], version=4))
    folder = Path("data") / spec.id / developer / model
    document = aggregate(one, source)
    if why_withheld(spec, result.benchmark.split) is None:
        rows = list(instances(one, document["evaluation_id"]))
        if rows:
            samples = folder / f"{name}_samples.jsonl"
            write_jsonl(out / samples, rows)
            document["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": samples.as_posix(),
                "hash_algorithm": "sha256",
                "checksum": sha256_of(out / samples),
                "total_rows": len(rows),
                "additional_details": {"left_out": _details(one)["unscored"]},
            }
            yield out / samples
    write_text(
        out / folder / f"{name}.json", json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    )
    yield out / folder / f"{name}.json"


# --- the aggregate -------------------------------------------------------------------------------------------------


def aggregate(one: StoredResult, source: Mapping[str, str]) -> dict[str, Any]:
    """Return the aggregate file's content, without the reference to the instances; `source` says who evaluated."""
    spec, result, model = one.spec, one.result, one.result.model
    try:
        stamp = str(int(date_of(result).timestamp()))
    except ValueError:
        raise InputError(f"provenance.date {result.provenance.date!r} is not an ISO date") from None
    evaluation = f"{spec.id}/{model.id.replace('/', '_')}/{stamp}"
    library = {name: version for name, version in result.software.items() if name != "reelbench"}
    weights = isinstance(model.args.get("pretrained"), str)  # loaded here, so they could be had
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "evaluation_timestamp": stamp,
        "retrieved_timestamp": stamp,
        "source_metadata": source,
        "eval_library": {
            "name": "reelbench",
            "version": result.software.get("reelbench", "unknown"),
            "additional_details": library,
        },
        "model_info": {
            "name": model.id.rpartition("/")[2] or model.id,
            "id": model.id,
            "developer": model.id.rpartition("/")[0] or "unknown",
            "additional_details": {
                "deployment_type": "self_deployed" if weights else "unknown",
                "model_availability": "open_weights" if weights else "unknown",
                "revision": model.revision or "unknown",
                "adapter": model.adapter or "unknown",
                "args": json.dumps(model.args, ensure_ascii=False, sort_keys=True),
            },
        },
        "evaluation_results": [
            _metric_result(one, metric, found, evaluation)
            for metric in spec.metrics
            if (found := result.metrics.get(metric.name)) is not None and found.value is not None
        ],
    }


def _metric_result(one: StoredResult, metric: Metric, found: MetricValue, evaluation: str) -> dict[str, Any]:
    spec, result = one.spec, one.result
    config: dict[str, Any] = {
        "evaluation_description": f"{spec.title}: {metric.title}",
        "metric_id": f"{spec.id}.{metric.name}",
        "metric_name": metric.title,
        "metric_kind": metric.aggregate.how if metric.aggregate.how != "corpus" else metric.aggregate.scorer,
        "metric_unit": metric.in_unit.noun,
        "lower_is_better": False,
        "score_type": "continuous",
        "min_score": metric.low,
        "max_score": metric.high,
        "additional_details": {"primary": str(metric.name == spec.primary.name).lower(), "cite": metric.cite},
    }
    if metric.judged and result.judge is not None:
        config["llm_scoring"] = _llm_scoring(spec, result.judge)
    uncertainty: dict[str, Any] = {"num_samples": found.n}
    if found.ci95 is not None:
        uncertainty["confidence_interval"] = {
            "lower": found.ci95[0],
            "upper": found.ci95[1],
            "confidence_level": 0.95,
            "method": f"{result.interval}, bootstrap over videos, seeded",
        }
    settings, generation = result.settings, result.settings.generation
    arguments = {n: generation[n] for n in ("temperature", "top_p", "top_k") if is_number(generation.get(n))}
    limits = [value for name in _TOKENS if isinstance(value := generation.get(name), int) and value > 0]
    arguments |= {"max_tokens": limits[0]} if limits else {}
    details = {
        "frames": settings.frames,
        "prompt_sha256": settings.prompt_sha256 or "unknown",
        "seed": "unknown" if settings.seed is None else str(settings.seed),
        "generation": json.dumps(generation, ensure_ascii=False, sort_keys=True),
    }
    split, source, read = result.benchmark.split, spec.splits[result.benchmark.split].source, result.benchmark.source
    of_file = {"split": split, "fingerprint": read.fingerprint, "kind": read.kind}
    of_file |= {"revision": read.revision} if read.revision else {}
    data: dict[str, Any] = {"dataset_name": spec.title, "source_type": "other"}
    if isinstance(source, HubFile):
        data |= {"source_type": "hf_dataset", "hf_repo": source.repo_id, "hf_split": split}
        data |= {"samples_number": result.counts.items}
    else:
        data |= {"source_type": "url", "url": [source.url]} if isinstance(source, UrlFile) else {}
        of_file["samples_number"] = str(result.counts.items)
    return {
        "evaluation_result_id": f"{evaluation}#{metric.name}",
        "evaluation_name": f"{spec.id}.{metric.name}",
        "source_data": data | {"additional_details": of_file},
        "metric_config": config,
        "score_details": {"score": found.value, "details": _details(one), "uncertainty": uncertainty},
        "generation_config": {"generation_args": arguments, "additional_details": details},
    }


def _details(one: StoredResult) -> dict[str, str]:
    counts = {name: str(value) for name, value in one.result.counts if name != "unscored"}
    unscored = ", ".join(f"{number} {reason}" for reason, number in one.result.counts.unscored.items())
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


def _llm_scoring(spec: BenchmarkSpec, judge: JudgeRecord) -> dict[str, Any]:
    details = {"deployment_type": "unknown", "model_availability": "unknown", "host": judge.url or "unknown"}
    asked = {} if judge.temperature is None else {"temperature": judge.temperature}
    prompt = f"prompt set {judge.prompt}, sha256 {judge.prompt_sha256}"
    if judge.prompt == "reelbench":
        with suppress(ReelbenchError):
            ours = load_prompts(spec, "reelbench")
            if ours.sha256 == judge.prompt_sha256:  # ours, as it was sent
                prompt = "\n\n---\n\n".join(f"{system}\n\n{ours.user[name]}" for name, system in ours.system.items())
    scoring: dict[str, Any] = {
        "judges": [
            {"model_info": {"name": model, "id": model, "additional_details": details}, **asked}
            for model in judge.returned or (judge.requested,)
        ],
        "input_prompt": prompt,
        "additional_details": {
            "requested": judge.requested,
            "prompt_set": judge.prompt,
            "prompt_sha256": judge.prompt_sha256,
            "votes": str(judge.votes),
        },
    }
    if judge.votes > 1:
        scoring["aggregation_method"] = "average" if judge.vote_rule == "mean" else "majority_vote"
    return scoring


# --- the instances -------------------------------------------------------------------------------------------------


def instances(one: StoredResult, evaluation: str) -> Iterator[dict[str, Any]]:
    """Yield a row for each score that an answer has; an answer is correct from the metric's `right_from` on."""
    spec, result = one.spec, one.result
    columns: dict[tuple[str, ...], tuple[Metric, float]] = {}  # of the metrics that single answers have; none twice
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
            references = [*(target[name] for name in ("text", "answer") if target.get(name)), *target.get("spans", ())]
            yield {
                "schema_version": SCHEMA,
                "evaluation_id": evaluation,
                "model_id": result.model.id,
                "evaluation_name": f"{spec.id}.{metric.name}",
                "evaluation_result_id": f"{evaluation}#{metric.name}",
                "sample_id": sample.id,
                "interaction_type": "single_turn",
                "input": {
                    "raw": f"{spec.title}, {result.benchmark.split}: question {sample.id} on video {sample.video}",
                    "reference": [as_text(value) for value in references],
                },
                "output": {"raw": [as_text(sample.prediction)]},
                "answer_attribution": [
                    {
                        "turn_idx": 0,
                        "source": "output.raw",
                        "extracted_value": as_text(sample.prediction if sample.parsed is None else sample.parsed),
                        "extraction_method": "custom" if sample.parsed is not None else "none",
                        "is_terminal": True,
                    }
                ],
                "evaluation": {"score": score, "is_correct": metric.is_right(score * scale)},
                "metadata": {
                    "video": sample.video,
                    **{facet: ", ".join(labels) for facet, labels in sample.facets.items()},
                    **({"flags": ", ".join(sample.flags)} if sample.flags else {}),
                },
            }
