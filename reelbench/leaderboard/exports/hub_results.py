"""Results as the Hub shows them on a model's page: `.eval_results/*.yaml` for the model's repository.

One file per benchmark and setting, one entry in it: the Hub ranks by one value, so it is the
primary metric's; frames, judge, interval and whatever is unscored stand in the entry's notes. What
has no place on the Hub is left out and said.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

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

_HASH = 12


def export(
    stored: Sequence[StoredResult],
    out: Path,
    datasets: Mapping[str, str] | None = None,
    board_of: Callable[[str], object] = hub.leaderboard,
) -> Iterator[Exported]:
    """Write `<out>/<org>__<model>/.eval_results/<benchmark>-<settings>.yaml` for each result that the Hub can show.

    Each folder in `out` is what a model's repository gets. `datasets` names the dataset repository
    whose `eval.yaml` has a benchmark's tasks, by default where its data lies. A result that points
    to one without a leaderboard (`board_of`) is shown nowhere. ReelbenchError where the Hub can't
    be asked, or huggingface_hub doesn't know these files.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError:
        raise ReelbenchError(
            "the installed huggingface_hub can't write .eval_results; pip install --upgrade 'huggingface_hub>=1.4'"
        ) from None
    import yaml

    boards = cache(board_of)
    for result_here in stored:
        result, spec = result_here.result, result_here.spec
        row = run_entry(result_here)
        split = result.benchmark.split
        data = spec.splits[upstream_split(spec, split)].source
        repository = (datasets or {}).get(spec.id) or (
            data.repo_id if isinstance(data, HubFile) else None
        )
        # The id that the benchmark's `eval.yaml` has for a whole split.
        whole = [
            task
            for task in spec.tasks
            if task.split == split and not task.only and task.prompt is None
        ]
        task = (
            whole[0].name
            if whole and not is_mini(split) and not spec.splits[split].secret
            else None
        )
        value = metric_value(row.metrics, spec.primary.name)
        covers = row.group.subset or row.unranked
        reasons = {
            "it is on the mini data, which is for trying things out": row.group.mini,
            "it is on data of one's own": row.group.data is not None,
            f"it covers a part of the split only ({covers})": covers is not None,
            f"the split {row.group.split} has no task of its own on the Hub": task is None,
            "its dataset has no repository on the Hub; name one with --dataset BENCHMARK=ORG/NAME": repository
            is None,
            "its primary metric is not scored": value is None,
            f"{row.model!r} is not a model repository; score it with --model ORG/NAME": not HUB_ID.fullmatch(
                row.model
            ),
        }
        why = next((reason for reason, applies in reasons.items() if applies), "")
        if not why and repository is not None and boards(repository) is None:
            why = f"{repository} has no leaderboard on the Hub; its owners make one with eval.yaml"
        if why or repository is None or task is None or value is None:
            yield Exported(row.key, why=why)
            continue
        source = result.benchmark.source
        entry = EvalResultEntry(
            dataset_id=repository,
            task_id=task,
            value=value,
            dataset_revision=source.revision if source.location.startswith(repository) else None,
            date=result.provenance.date,
            source_url=result.provenance.url,
            source_name="Reelbench" if result.provenance.url else None,
            notes=notes(spec, row, result),
        )
        model, revision, benchmark, settings = row.key.split("/")
        path = out / model / ".eval_results" / f"{benchmark}-{settings}-{revision[:_HASH]}.yaml"
        write_text(
            path,
            yaml.safe_dump(
                eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True
            ),
        )
        yield Exported(row.key, (path,))


def notes(spec: BenchmarkSpec, row: BoardEntry, result: Result) -> str:
    """Return in one line what the value rests on: metric, frames, judge, interval, and what is unscored."""
    metric, counts, judge = row.metrics[spec.primary.name], result.counts, result.judge
    parts = [
        spec.primary.title,
        f"version {result.benchmark.version}",
        f"frames {result.settings.frames}",
    ]
    if judge is not None:
        parts.append(
            f"judge {judge_as_answered(judge)}, prompts {judge.prompt} {judge.prompt_sha256[:8]}"
        )
    if row.lowest is not None:
        parts.append(row.facts["bound"])
    if metric.ci95 is not None:
        parts.append(f"95% interval {metric.ci95[0]:.2f} to {metric.ci95[1]:.2f}")
    unscored = ", ".join(f"{number} {reason}" for reason, number in counts.unscored.items())
    parts.append(
        f"{row.facts['scored']} of {counts.items} items scored"
        + (f" ({unscored})" if unscored else "")
    )
    parts.append(f"reelbench {result.software.get('reelbench', 'unknown')}")
    return "; ".join(parts)
