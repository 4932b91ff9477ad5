"""`reelbench compare`: two results held against each other."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.errors import InputError, number_of
from reelbench.base.text_tables import interval, p_value
from reelbench.base.values import as_text
from reelbench.houses import of_house
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json, Kind, reports_status
from reelbench.terminal.read_results import ResultRead, read_folders, read_one

if TYPE_CHECKING:
    from reelbench.registry.records import Result
    from reelbench.registry.spec import BenchmarkSpec

_BENCHMARK = attrgetter("benchmark.id", "benchmark.version", "benchmark.split")
"""What two results must share to be compared."""
_ABOUT = "model.about."
_STATED_SETTINGS = ("setting", "frames", "trained_on")
"""Of what people state of a model, what shapes its answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """The options of `compare`: the parts that are compared, and how they are shown."""

    labels: Annotated[
        bool,
        typer.Option("--labels", help="Compare label by label (CogME), with Holm's correction."),
        Kind.FORMAT,
    ] = False
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture", metavar="FILE", help="With --labels: draw both profiles as radars (SVG)."
        ),
    ] = None
    items: Annotated[
        Path | None,
        typer.Option(
            "--items", metavar="FILE", help="Write both results of each item to FILE (JSON Lines)."
        ),
    ] = None
    videos_of: Annotated[
        list[Path] | None,
        typer.Option(
            "--videos-of",
            metavar="RESULT",
            help="Compare only on videos that this result had too (repeat).",
        ),
    ] = None
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            help="Results store with both: also show the result of the correction "
            "over all pairs of their table.",
        ),
    ] = None
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Compare even if judges, their prompts or readers differ."),
    ] = False
    without_shortcuts: Annotated[
        list[Path] | None,
        typer.Option(
            "--without-shortcuts",
            metavar="RUN",
            help="Leave out questions that this run, without frames or with one, "
            "answers right (repeat).",
        ),
    ] = None
    latex: Annotated[
        bool, typer.Option("--latex", help="Print the table as LaTeX (booktabs)."), Kind.FORMAT
    ] = False
    as_json: Json = False


@reports_status
def compare(
    a: Annotated[Path, typer.Argument(help="A result: its folder, or its result.json.")],
    b: Annotated[Path, typer.Argument(help="Another result on the same benchmark and split.")],
    more: Annotated[
        list[Path] | None, typer.Argument(help="More results: each pair is compared.")
    ] = None,
    *,
    how: How,
) -> None:
    """Compare two models on the items that both answered.

    By bootstrap over videos, and by McNemar's test if items are right or wrong. Where a folder has
    several runs of one model, each question counts with its mean, and the test includes their
    noise.
    """
    if more and (how.as_json or how.picture is not None or how.items is not None):
        raise InputError("--json, --picture and --items take two results")
    for path_a, path_b in combinations((a, b, *(more or ())), 2):
        _compare_two(path_a, path_b, how)
    if more:
        console.note(
            "each p is for its pair alone; a leaderboard's tables adjust for all pairs (Holm)"
        )


def _compare_two(path_a: Path, path_b: Path, how: How) -> None:
    from reelbench.scoring import side_by_side

    a, b = _read_both(path_a, path_b)
    twin = _benchmark_of_twin(a, b)
    if twin is not None and how.items is not None:
        raise InputError(
            "--items: the two results answer different questions, so no item is in both"
        )
    spec = twin
    if spec is None:
        spec = same_benchmark(a.result, b.result, path_a, path_b)
    videos = _keep_common_videos(a, b, [read_one(path) for path in how.videos_of or ()])
    different_settings = side_by_side.settings_apart([a.result, b.result])
    if not how.as_json:
        _tell_videos(videos)
        _write_settings(different_settings)
        _write_readers(a, b)
    if not how.anyway:
        _check_judges(a, b, twins=twin is not None)
        _check_readers(a, b)
    if how.without_shortcuts:
        _leave_out_shortcuts(a, b, how.without_shortcuts)
    facts: dict[str, Any] = {"settings": different_settings, "videos": videos}
    if twin is not None:
        _compare_by_video(twin, a, b, facts, as_json=how.as_json)
    else:
        _compare_by_item(spec, a, b, facts, how)


def _benchmark_of_twin(a: ResultRead, b: ResultRead) -> "BenchmarkSpec | None":
    """Return the benchmark whose twin the other result is on, or None."""
    from reelbench.registry import discovery

    ids = {a.result.benchmark.id, b.result.benchmark.id}
    for read in (a, b):
        spec = discovery.spec_of(read.result.benchmark)
        if {spec.id, spec.twin} == ids:
            return spec
    return None


def _tell_videos(videos: Mapping[str, int]) -> None:
    if len(set(videos.values())) > 1:
        console.note(
            f"a had {number_of(videos['a'], 'video')}, b {videos['b']}; compared on the "
            f"{videos['common']} that all had"
        )


def _write_settings(different_settings: Mapping[str, Sequence[Any]]) -> None:
    """Print how the runs were made differently. What the models are stands on the board."""
    for name, values in different_settings.items():
        words = name.removeprefix(_ABOUT)
        is_fact = words != name and words not in _STATED_SETTINGS
        if name != "model.id" and not is_fact:
            value_a, value_b = map(_setting_text, values)
            console.write(f"{words}: a = {value_a}, b = {value_b}")


def _write_readers(*results: ResultRead) -> None:
    """Print how many answers of each result a model read."""
    for name, read in zip("ab", results, strict=True):
        reader = read.result.settings.reader
        if reader is not None:
            counts = read.result.counts
            answers = f"{counts.read_by_model} of {counts.items} answers"
            console.write(f"{name}: {answers} read by {reader.model}")


def _setting_text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    if isinstance(value, float):
        return f"{value:,.10g}"
    return as_text(value)


def _check_judges(a: ResultRead, b: ResultRead, *, twins: bool) -> None:
    from reelbench.scoring.comparison import judging_apart

    reason = judging_apart(a.result.judge, b.result.judge, twins=twins)
    if reason is not None:
        raise InputError(
            f"{reason}; judge both the same way (reelbench score --judge), or compare them anyway "
            "with --anyway"
        )


def _check_readers(a: ResultRead, b: ResultRead) -> None:
    from reelbench.scoring.comparison import reading_apart

    reason = reading_apart(a.result.settings.reader, b.result.settings.reader)
    if reason is not None:
        raise InputError(
            f"{reason}; read both the same way (reelbench score --reader), or compare them anyway "
            "with --anyway"
        )


def _leave_out_shortcuts(a: ResultRead, b: ResultRead, runs: list[Path]) -> None:
    """Take the questions that `runs` show to be shortcuts out of both results."""
    from reelbench.cli.shortcuts import read_shortcuts

    shortcut_ids = {
        benchmark.spec.id: benchmark.shortcuts.questions() for benchmark in read_shortcuts(runs)
    }
    for read in (a, b):
        benchmark_id = read.result.benchmark.id
        if benchmark_id not in shortcut_ids:
            raise InputError(f"--without-shortcuts: {runs[0]} has no run of {benchmark_id}")
        number_before = len(read.samples)
        left_out = shortcut_ids[benchmark_id]
        read.samples = [sample for sample in read.samples if sample.id not in left_out]
        console.note(
            f"{read.result.model.id}: {number_before - len(read.samples)} of {number_before} items "
            "left out"
        )


def _keep_common_videos(
    a: ResultRead, b: ResultRead, further_results: Sequence[ResultRead]
) -> dict[str, int]:
    """Return the numbers of videos that a had, b had, and all had.

    With further results, both results keep only the items on the videos that all had.
    """
    from reelbench.scoring.videos import videos_had

    videos_of_result = [videos_had(read.samples) for read in (a, b, *further_results)]
    common = set[str].intersection(*videos_of_result)
    if further_results and not common:
        raise InputError("--videos-of: there is no video that all of these results had")
    if further_results:
        for read in (a, b):
            read.samples = [sample for sample in read.samples if sample.video in common]
    return {
        "a": len(videos_of_result[0]),
        "b": len(videos_of_result[1]),
        "common": len(common),
    }


def _compare_by_item(
    spec: "BenchmarkSpec", a: ResultRead, b: ResultRead, facts: dict[str, Any], how: How
) -> None:
    """Compare two results on one benchmark, and print or write what the options ask for."""
    from reelbench.base.files import write_jsonl, write_text
    from reelbench.scoring import comparison, prompt_growth, server_noise, side_by_side

    if how.items is not None:
        write_jsonl(how.items, side_by_side.items(spec, a.samples, b.samples))
    if how.picture is not None and not how.labels:
        raise InputError("--picture: draws labels; give --labels too")
    if how.store is not None:
        pair_in_store = of_house("compare --store")
        facts["among"] = pair_in_store(how.store, a.result, b.result, bar=console.progress)
    if how.labels:
        facts["labels"] = comparison.compare_labels(a.samples, b.samples, spec, console.progress)
    if how.picture is not None:
        models = [a.result.model.id, b.result.model.id]
        write_text(how.picture, _draw_by_label(spec, models, facts["labels"]))
    compared = comparison.compare(a.samples, b.samples, spec, console.progress)
    if how.as_json:
        _write_json(a, b, asdict(compared), facts)
        return
    name_a, name_b = _shown_names(a, b)
    printed = compared.table(f"{spec.id} {a.result.benchmark.split}: a = {name_a}, b = {name_b}")
    if how.latex:
        console.write(printed.latex())
        return
    console.show(console.table(printed.title, *printed.columns, rows=printed.rows))
    for line in printed.below:
        console.note(line)
    lines = [
        prompt_growth.no_growth_line(a.result, a.samples, b.result, b.samples),
        server_noise.noise_line(spec.primary, compared, (a.result, b.result)),
    ]
    for line in filter(None, lines):
        console.note(line)
    if facts.get("among"):
        _write_test_in_store(spec, facts["among"])
    if "labels" in facts:
        _show_labels(spec, facts["labels"])


def _write_json(
    a: ResultRead, b: ResultRead, compared: dict[str, Any], facts: Mapping[str, Any]
) -> None:
    document: dict[str, Any] = {"a": a.result.model.id, "b": b.result.model.id}
    if a.runs > 1 or b.runs > 1:
        document["runs"] = {"a": a.runs, "b": b.runs}
    del compared["names"]  # a and b, whose models stand first
    console.write_json({**document, **compared, **facts})


def _shown_names(a: ResultRead, b: ResultRead) -> tuple[str, str]:
    """Return the models' names; of two runs of one model with their folders."""
    if a.name != b.name:
        return a.name, b.name
    return f"{a.name} ({a.place})", f"{b.name} ({b.place})"


def _write_test_in_store(spec: "BenchmarkSpec", test: Mapping[str, Any]) -> None:
    """Write the test of the pair among all pairs of its table in a store."""
    digits = spec.primary.in_unit.digits
    verdict = "can't be told apart"
    if test["told"] and test["difference"] > 0:
        verdict = "a is better"
    elif test["told"]:
        verdict = "b is better"
    numbers = "untested, on too few videos"
    if test["p"] is not None:
        ends = interval(test["ci95"], digits)
        numbers = f"{test['difference']:+.{digits}f} ({ends}), p = {p_value(test['p'])} (Holm)"
    console.write(
        f"among the {number_of(test['pairs'], 'pair')} of models of {spec.title}, "
        f"{test['table']}: a - b in {spec.primary.name} {numbers}: {verdict}"
    )


def _show_labels(spec: "BenchmarkSpec", labels: Sequence[Mapping[str, Any]]) -> None:
    """Print the differences label by label."""
    unit = spec.primary.in_unit
    columns = (
        "label",
        "#a",
        "#b",
        "#a - b",
        "#95 % interval",
        "#p",
        "#p (Holm)",
        "#items",
        "#videos",
    )
    title = f"{spec.primary.name} ({unit.range}) label by label, the largest difference first"
    table = console.table(title, *columns)
    for row in labels:
        table.add_row(
            row["label"],
            f"{row['a']:.{unit.digits}f}",
            f"{row['b']:.{unit.digits}f}",
            f"{row['difference']:+.{unit.digits}f}",
            interval(row["ci95"], unit.digits),
            p_value(row["p"]),
            p_value(row["p_holm"]),
            str(row["n"]),
            str(row["videos"]),
        )
    console.show(table)


def _draw_by_label(
    spec: "BenchmarkSpec", models: list[str], by_label: Sequence[Mapping[str, Any]]
) -> str:
    """Draw both models' primary metric by label (CogME, Figure 3)."""
    from reelbench.pages.figures import radars
    from reelbench.scoring.cognitive_profile import COMPONENTS

    values = {row["label"]: (row["a"], row["b"]) for row in by_label}
    panels: dict[str, dict[str, Any]] = {}
    for component, labels in COMPONENTS.items():
        panel: dict[str, Any] = {}
        for label in labels:
            panel[label] = values.get(f"{component}.{label}", (None, None))
        panels[component.upper()] = panel
    metric = spec.primary
    return radars(
        f"{spec.title}: what was understood",
        models,
        panels,
        unit=f"{metric.title}, {metric.in_unit.label}, on the questions with each label that both "
        "answered",
        high=metric.in_unit.high,
        digits=metric.in_unit.digits,
    )


def _compare_by_video(
    spec: "BenchmarkSpec", a: ResultRead, b: ResultRead, facts: dict[str, Any], *, as_json: bool
) -> None:
    """Compare results on two benchmarks of the same videos, and print the comparison."""
    from reelbench.scoring.comparison import compare_by_video

    metric = spec.primary
    paired = compare_by_video(a.samples, b.samples, metric)
    names = [f"{read.result.benchmark.id}, {read.result.model.id}" for read in (a, b)]
    if as_json:
        console.write_json({"a": names[0], "b": names[1], **paired, **facts})
        return
    title = (
        f"{metric.name} ({metric.in_unit.range}) on {paired['videos']} videos that both have, one "
        "mean a video"
    )
    columns = ("", "#mean", "#scored 4 or 5, %", "#that x 5 / 100")
    table = console.table(title, *columns)
    means = (paired["a"], paired["b"])
    for name, mean, (percent, converted) in zip(names, means, paired["right"], strict=True):
        table.add_row(name, f"{mean:.2f}", f"{percent:.1f}", f"{converted:.2f}")
    console.show(table)
    difference = f"{paired['difference']:+.2f}"
    ends = interval(paired["ci95"])
    if ends:
        difference = f"{difference} ({ends})"
    higher_share = 100 * paired["a_higher"]
    console.write(f"a - b: {difference}; a is higher on {higher_share:.0f} % of the videos")
    if a.result.model.id != b.result.model.id:
        console.note(
            "the results are from different models, so the difference is theirs as much as the "
            "questions'"
        )


def _read_both(path_a: Path, path_b: Path) -> tuple[ResultRead, ResultRead]:
    """Read two results; of folders with several, those on one benchmark, version and split.

    Several runs of one model are one result.
    """
    from reelbench.scoring import result_files, runs

    groups_a = runs.group_repeats(result_files.folders(path_a), result_files.read)
    groups_b = runs.group_repeats(result_files.folders(path_b), result_files.read)
    if len(groups_a) == 1 and len(groups_b) == 1:
        return read_folders(groups_a[0]), read_folders(groups_b[0])
    pairs: list[tuple[list[Path], list[Path]]] = []
    for group_a in groups_a:
        for group_b in groups_b:
            result_a = result_files.read(group_a[0])
            result_b = result_files.read(group_b[0])
            if _BENCHMARK(result_a) == _BENCHMARK(result_b):
                pairs.append((group_a, group_b))
    if len(pairs) != 1:
        raise InputError(
            f"{path_a} has {number_of(len(groups_a), 'result')}, {path_b} {len(groups_b)}, and "
            f"{len(pairs)} pairs of them share benchmark, version and split; name one result of "
            "each"
        )
    group_a, group_b = pairs[0]
    return read_folders(group_a), read_folders(group_b)


def same_benchmark(a: "Result", b: "Result", path_a: Path, path_b: Path) -> "BenchmarkSpec":
    """Return the benchmark of two results.

    Raises:
        InputError: It, its version or the split is not the same.
    """
    from reelbench.scoring import result_files

    if _BENCHMARK(a) != _BENCHMARK(b):
        raise InputError(
            f"{path_a} is {_benchmark_text(a)}, {path_b} is {_benchmark_text(b)}; only results on "
            "the same benchmark, version and split can be compared"
        )
    return result_files.shared_spec([a, b])


def _benchmark_text(result: "Result") -> str:
    benchmark = result.benchmark
    return f"{benchmark.id} {benchmark.split} (version {benchmark.version})"
