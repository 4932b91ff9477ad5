"""Write results as the Hub shows them on a model's page: `.eval_results/*.yaml`.

The files are for the model's repository: one for each benchmark and setting, with one entry in it.
The Hub ranks by one value, which is the primary metric's. Frames, judge, interval and the unscored
items stand in the entry's notes. A result that has no place on the Hub is left out, with the
reason.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_text
from reelbench.data import hub
from reelbench.judges.identity import judge_as_answered
from reelbench.leaderboard.entries import HUB_ID, BoardEntry, metric_value, run_entry
from reelbench.leaderboard.exports import Exported
from reelbench.leaderboard.store import StoredResult
from reelbench.registry.records import Result
from reelbench.registry.spec import BenchmarkSpec, HubFile
from reelbench.registry.splits import is_mini, upstream_split

_HASH = 12  # characters of a revision in a file's name


def export(
    stored: Sequence[StoredResult],
    out: Path,
    datasets: Mapping[str, str] | None = None,
    board_of: Callable[[str], object] = hub.leaderboard,
) -> Iterator[Exported]:
    """Write `<out>/<org>__<model>/.eval_results/<benchmark>-<settings>.yaml` for each result.

    Each folder in `out` is for one model's repository. The Hub shows a result only where its
    dataset has a leaderboard.

    Args:
        stored: The results.
        out: The folder.
        datasets: The dataset repository whose `eval.yaml` has a benchmark's tasks, by benchmark.
            By default it is the repository with the benchmark's data.
        board_of: Returns the leaderboard of a dataset repository, None where it has none.

    Raises:
        ReelbenchError: The Hub can't be asked, or huggingface_hub doesn't know these files.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError:
        raise ReelbenchError(
            "the installed huggingface_hub can't write .eval_results; "
            "pip install --upgrade 'huggingface_hub>=1.4'"
        ) from None
    import yaml

    cached_board_of = cache(board_of)
    for stored_result in stored:
        row = run_entry(stored_result)
        spec = stored_result.spec
        repository = _repository(stored_result, datasets or {})
        task = _task(stored_result)
        value = metric_value(row.metrics, spec.primary.name)
        reason = _reason_to_skip(row, repository=repository, task=task, value=value)
        if not reason and repository is not None and cached_board_of(repository) is None:
            reason = (
                f"{repository} has no leaderboard on the Hub; its owners make one with eval.yaml"
            )
        if reason or repository is None or task is None:
            yield Exported(row.key, why=reason)
            continue
        entry = EvalResultEntry(
            dataset_id=repository,
            task_id=task,
            value=value,
            notes=notes(spec, row, stored_result.result),
            **_source_fields(stored_result.result, repository),
        )
        model, revision, benchmark, settings = row.key.split("/")
        name = f"{benchmark}-{settings}-{revision[:_HASH]}.yaml"
        path = out / model / ".eval_results" / name
        document = eval_result_entries_to_yaml([entry])
        write_text(path, yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
        yield Exported(row.key, (path,))


def _repository(stored: StoredResult, datasets: Mapping[str, str]) -> str | None:
    """Return a result's dataset repository: the named one, or its data's."""
    spec = stored.spec
    if datasets.get(spec.id):
        return datasets[spec.id]
    split = upstream_split(spec, stored.result.benchmark.split)
    source = spec.splits[split].source
    if isinstance(source, HubFile):
        return source.repo_id
    return None


def _task(stored: StoredResult) -> str | None:
    """Return the id that the benchmark's `eval.yaml` has for a whole split."""
    spec = stored.spec
    split = stored.result.benchmark.split
    if is_mini(split) or spec.splits[split].secret:
        return None
    for task in spec.tasks:
        if task.split == split and not task.only and task.prompt is None:
            return task.name
    return None


def _reason_to_skip(
    row: BoardEntry, *, repository: str | None, task: str | None, value: float | None
) -> str:
    """Return why the Hub can't show a result, "" where it can."""
    group = row.group
    covered_part = group.subset or row.unranked
    reason = ""
    if group.mini:
        reason = "it is on the mini data, which is for trying things out"
    elif group.data is not None:
        reason = "it is on data of one's own"
    elif row.is_reference:
        reason = f"the Hub would rank it, and it is {row.reference}"
    elif covered_part is not None:
        reason = f"it covers a part of the split only ({covered_part})"
    elif task is None:
        reason = f"the split {group.split} has no task of its own on the Hub"
    elif repository is None:
        reason = (
            "its dataset has no repository on the Hub; name one with --dataset BENCHMARK=ORG/NAME"
        )
    elif value is None:
        reason = "its primary metric is not scored"
    elif not HUB_ID.fullmatch(row.model):
        reason = f"{row.model!r} is not a model repository; score it with --model ORG/NAME"
    return reason


def _source_fields(result: Result, repository: str | None) -> dict[str, Any]:
    """Return the fields of an entry that say where a result comes from."""
    source = result.benchmark.source
    provenance = result.provenance
    dataset_revision = None
    if repository is not None and source.location.startswith(repository):
        dataset_revision = source.revision
    return {
        "dataset_revision": dataset_revision,
        "date": provenance.date,
        "source_url": provenance.url,
        "source_name": "Reelbench" if provenance.url else None,
    }


def notes(spec: BenchmarkSpec, row: BoardEntry, result: Result) -> str:
    """Return the basis of a value in one line.

    That is its metric, frames, judge and interval, and the unscored items.
    """
    parts = [
        spec.primary.title,
        f"version {result.benchmark.version}",
        f"frames {result.settings.frames}",
    ]
    judge = result.judge
    if judge is not None:
        prompt_hash = judge.prompt_sha256[:8]
        parts.append(f"judge {judge_as_answered(judge)}, prompts {judge.prompt} {prompt_hash}")
    if row.lowest is not None:
        parts.append(row.facts["bound"])
    ends = row.metrics[spec.primary.name].ci95
    if ends is not None:
        low, high = ends
        parts.append(f"95% interval {low:.2f} to {high:.2f}")
    scored = f"{row.facts['scored']} of {result.counts.items} items scored"
    unscored = [f"{number} {reason}" for reason, number in result.counts.unscored.items()]
    if unscored:
        scored += f" ({', '.join(unscored)})"
    parts.append(scored)
    version = result.software.get("reelbench", "unknown")
    parts.append(f"reelbench {version}")
    return "; ".join(parts)
