"""`reelbench compare`: two results held against each other. `reelbench judge`: judges, against others and people."""

from dataclasses import asdict, dataclass
from itertools import combinations, product
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.errors import InputError, number_of
from reelbench.base.text_tables import interval, number, p_value
from reelbench.base.values import as_text
from reelbench.houses import of_house
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json, Kind
from reelbench.terminal.read_results import ResultRead, read_folders, read_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reelbench.registry.records import Result
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.scoring.judge_agreement import Ratings
    from reelbench.stats.calibration import Calibration

_RATINGS = 10
"""Ratings by both from which on a label has rows of its own: over fewer no kappa says anything."""
_BENCHMARK = attrgetter("benchmark.id", "benchmark.version", "benchmark.split")
"""What two results must share to be compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """What of two results is compared, and how it is shown, as it was typed."""

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
        bool, typer.Option("--anyway", help="Compare even if judges or judge prompts differ.")
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

    By bootstrap over videos, and by McNemar's test if items are right or wrong. Of a folder with
    several runs of one model each item counts with its mean, and the test has the runs' noise too.
    """
    if more and (how.as_json or how.picture is not None or how.items is not None):
        raise InputError("--json, --picture and --items are of two results; give two")
    for pair in combinations((a, b, *(more or ())), 2):
        _compare_two(*pair, how)
    if more:
        console.note(
            "each p is of its pair alone; a leaderboard's tables adjust them for all pairs (Holm)"
        )


def _compare_two(a: Path, b: Path, how: How) -> None:
    from reelbench.base.files import write_jsonl, write_text
    from reelbench.registry import discovery
    from reelbench.scoring import side_by_side
    from reelbench.scoring.comparison import compare_labels, judging_apart

    first, second = _read_both(a, b)
    ids = {read.result.benchmark.id for read in (first, second)}
    specs = [discovery.spec_of(read.result.benchmark) for read in (first, second)]
    twin = next((spec for spec in specs if {spec.id, spec.twin} == ids), None)
    if twin is not None and how.items is not None:
        raise InputError(
            "--items: the two results answer different questions, so no item is in both"
        )
    spec = twin or same_benchmark(first.result, second.result, a, b)
    videos = _on_common_videos(first, second, [read_one(path) for path in how.videos_of or ()])
    if not how.as_json and len(set(videos.values())) > 1:
        had = f"a had {number_of(videos['a'], 'video')}, b {videos['b']}"
        console.note(f"{had}; compared on the {videos['common']} that all had")
    apart = side_by_side.settings_apart([first.result, second.result])
    if not how.as_json:
        for name, values in apart.items():
            if name != "model.id":
                said = [
                    f"{value:,.10g}" if isinstance(value, float) else as_text(value)
                    for value in values
                ]
                console.write(f"{name}: a = {said[0]}, b = {said[1]}")
    why = judging_apart(first.result.judge, second.result.judge, twins=twin is not None)
    if why is not None and not how.anyway:
        raise InputError(
            f"{why}; judge both alike (reelbench score --judge), or compare them all the same by --anyway"
        )
    if how.without_shortcuts:
        _leave_out(first, second, how.without_shortcuts)
    if twin is not None:
        _by_video(spec, first, second, {"settings": apart, "videos": videos}, as_json=how.as_json)
        return
    if how.items is not None:
        write_jsonl(how.items, side_by_side.items(spec, first.samples, second.samples))
    if how.picture is not None and not how.labels:
        raise InputError("--picture: draws labels; give --labels too")
    results, samples = (first.result, second.result), (first.samples, second.samples)
    in_store = (
        {"among": of_house("compare --store")(how.store, *results)} if how.store is not None else {}
    )
    of_labels = {"labels": compare_labels(*samples, spec)} if how.labels else {}
    beside = {"settings": apart, "videos": videos, **in_store, **of_labels}
    if how.picture is not None:
        write_text(
            how.picture, _radars(spec, [result.model.id for result in results], beside["labels"])
        )
    _by_item(spec, first, second, beside, how)


def _leave_out(a: "ResultRead", b: "ResultRead", runs: list[Path]) -> None:
    """Take the questions that `runs` show to be shortcuts out of both results."""
    from reelbench.cli.shortcuts import read_shortcuts

    shortcuts = {spec.id: found.questions() for spec, found in read_shortcuts(runs)}
    for read in (a, b):
        easy = shortcuts.get(read.result.benchmark.id)
        if easy is None:
            raise InputError(
                f"--without-shortcuts: {runs[0]} has no run of {read.result.benchmark.id}"
            )
        kept = [sample for sample in read.samples if sample.id not in easy]
        console.note(
            f"{read.result.model.id}: {len(read.samples) - len(kept)} of {len(read.samples)} items left out"
        )
        read.samples = kept


def _by_item(
    spec: "BenchmarkSpec", a: "ResultRead", b: "ResultRead", beside: dict[str, Any], how: How
) -> None:
    from reelbench.scoring.comparison import compare as compare_items

    comparison = compare_items(a.samples, b.samples, spec)
    if how.as_json:
        several = {"runs": {"a": a.runs, "b": b.runs}} if max(a.runs, b.runs) > 1 else {}
        found = {
            "a": a.result.model.id,
            "b": b.result.model.id,
            **several,
            **asdict(comparison),
            **beside,
        }
        del found["names"]  # a and b, whose models stand first
        console.write_json(found)
        return
    told = [f"{read.name} ({read.place})" if a.name == b.name else read.name for read in (a, b)]
    names = f"a = {told[0]}, b = {told[1]}"
    printed = comparison.table(f"{spec.id} {a.result.benchmark.split}: {names}")
    if how.latex:
        console.write(printed.latex())
        return
    console.show(console.table(printed.title, *printed.columns, rows=printed.rows))
    for line in printed.below:
        console.note(line)
    if among := beside.get("among"):
        told = (
            "can't be told apart"
            if not among["told"]
            else f"{'a' if among['difference'] > 0 else 'b'} is better"
        )
        digits = spec.primary.in_unit.digits
        numbers = f"{among['difference']:+.{digits}f} ({interval(among['ci95'], digits)}), p = {p_value(among['p'])} (Holm)"
        console.write(
            f"among the {number_of(among['pairs'], 'pair')} of models of {spec.title}, {among['table']}: a - b in "
            f"{spec.primary.name} {numbers if among['p'] is not None else 'untested, on too few videos'}: {told}"
        )
    if "labels" in beside:
        table = console.table(
            f"{spec.primary.name} ({spec.primary.in_unit.range}) label by label, the largest difference first",
            *(
                "label",
                "#a",
                "#b",
                "#a - b",
                "#95 % interval",
                "#p",
                "#p (Holm)",
                "#items",
                "#videos",
            ),
        )
        digits = spec.primary.in_unit.digits
        for d in beside["labels"]:
            rates = (
                f"{d['a']:.{digits}f}",
                f"{d['b']:.{digits}f}",
                f"{d['difference']:+.{digits}f}",
            )
            tests = map(p_value, (d["p"], d["p_holm"]))
            table.add_row(
                d["label"],
                *rates,
                interval(d["ci95"], digits),
                *tests,
                str(d["n"]),
                str(d["videos"]),
            )
        console.show(table)


def _on_common_videos(
    a: "ResultRead", b: "ResultRead", others: "Sequence[ResultRead]"
) -> dict[str, int]:
    """Count the videos that both had, and all; with others keep of both the items on the videos that all had."""
    from reelbench.scoring.videos import videos_had

    had = [videos_had(read.samples) for read in (a, b, *others)]
    common = set[str].intersection(*had)
    if others and not common:
        raise InputError("--videos-of: there is no video that all of these results had")
    for read in (a, b) if others else ():
        read.samples = [sample for sample in read.samples if sample.video in common]
    return {"a": len(had[0]), "b": len(had[1]), "common": len(common)}


def _radars(spec: "BenchmarkSpec", models: list[str], by_label: list[dict[str, Any]]) -> str:
    """Draw both models' primary metric by label (CogME, Figure 3)."""
    from reelbench.pages.figures import radars
    from reelbench.scoring.cognitive_profile import COMPONENTS

    values = {row["label"]: (row["a"], row["b"]) for row in by_label}
    panels = {
        component.upper(): {
            label: values.get(f"{component}.{label}", (None, None)) for label in labels
        }
        for component, labels in COMPONENTS.items()
    }
    metric = spec.primary
    unit = f"{metric.title}, {metric.in_unit.label}, on the questions with each label that both answered"
    title, high, digits = (
        f"{spec.title}: what was understood",
        metric.in_unit.high,
        metric.in_unit.digits,
    )
    return radars(title, models, panels, unit=unit, high=high, digits=digits)


def _by_video(
    spec: "BenchmarkSpec",
    a: "ResultRead",
    b: "ResultRead",
    beside: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from reelbench.scoring.comparison import compare_by_video

    metric = spec.primary
    paired = compare_by_video(a.samples, b.samples, metric)
    names = [f"{read.result.benchmark.id}, {read.result.model.id}" for read in (a, b)]
    if as_json:
        console.write_json({"a": names[0], "b": names[1], **paired, **beside})
        return
    title = f"{metric.name} ({metric.in_unit.range}) on {paired['videos']} videos that both have, one mean a video"
    table = console.table(title, "", "#mean", "#scored 4 or 5, %", "#that x 5 / 100")
    for name, mean, (percent, converted) in zip(
        names, (paired["a"], paired["b"]), paired["right"], strict=True
    ):
        table.add_row(name, f"{mean:.2f}", f"{percent:.1f}", f"{converted:.2f}")
    console.show(table)
    between = interval(paired["ci95"])
    console.write(
        f"a - b: {paired['difference']:+.2f}"
        + (f" ({between})" if between else "")
        + f"; a is higher on {100 * paired['a_higher']:.0f} % of the videos"
    )
    if a.result.model.id != b.result.model.id:
        console.note(
            "the two results are of different models: the difference is theirs as much as the questions'"
        )


def agree(
    a: Annotated[Path, typer.Argument(help="A judged result: its folder, or its result.json.")],
    b: Annotated[
        Path,
        typer.Argument(
            help="The same answers by another judge, or people's scores as CSV (id,score)."
        ),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Show two judges' scores side by side, their exact agreement and Cohen's kappa, with intervals.

    Tables show labels with ten or more ratings by both; --json has all.
    """
    from reelbench.registry import discovery
    from reelbench.scoring.judge_agreement import compare_ratings as agreement
    from reelbench.scoring.judge_agreement import ratings_of, read_ratings

    first = read_one(a)
    spec = discovery.spec_of(first.result.benchmark)
    ratings: Ratings
    if b.suffix.lower() == ".csv":
        ratings, other = read_ratings(b, spec), b.name
    else:
        second = read_one(b)
        same_benchmark(first.result, second.result, a, b)
        ratings, other = (
            _of_the_same_answers(first, second, ratings_of(second.samples, spec), b),
            _judge(second.result),
        )
    report = agreement(first.samples, ratings_of(first.samples, spec), ratings, spec)
    if as_json:
        console.write_json({"a": _judge(first.result), "b": other, **report})
        return
    weighted = ", kappa by quadratic weights" if report["weights"] == "quadratic" else ""
    title = f"{spec.id}: a = {_judge(first.result)}, b = {other}; means of {report['both']} ratings by both{weighted}"
    table = console.table(title, "", "#a", "#b", "#exact %", "#95 %", "#kappa", "#95 %", "#n")
    by_label = [
        (facet, label, criterion, found)
        for facet, labels in report["labels"].items()
        for label, criteria in labels.items()
        for criterion, found in criteria.items()
    ]
    shown = {(facet, label) for facet, label, _, found in by_label if found["n"] >= _RATINGS}
    rows: list[tuple[str, Any]] = list(report["criteria"].items())
    rows += [
        (f"{label.replace('_', ' ')} · {name}", found)
        for facet, label, name, found in by_label
        if (facet, label) in shown
    ]
    for name, found in rows:
        kappa = "–" if found["kappa"] is None else f"{found['kappa']:.2f}"
        means = (f"{found['mean_a']:.2f}", f"{found['mean_b']:.2f}")
        exact = (f"{found['exact']:.1f}", interval(found["exact_ci95"]))
        table.add_row(name, *means, *exact, kappa, interval(found["kappa_ci95"]), str(found["n"]))
    console.show(table)
    scores = console.table("scores on the items rated by both", "metric", "#by a", "#by b")
    for name, (by_a, by_b) in report["metrics"].items():
        scores.add_row(name, f"{by_a:.2f}", f"{by_b:.2f}")
    for facet, labels in report["label_metrics"].items():
        for label, metrics in labels.items():
            for name, (by_a, by_b) in metrics.items() if (facet, label) in shown else ():
                scores.add_row(f"{label.replace('_', ' ')} · {name}", f"{by_a:.2f}", f"{by_b:.2f}")
    console.show(scores)
    if any(found["kappa"] is None for found in report["criteria"].values()):
        console.note("no kappa where both gave every answer the same score: it is undefined")
    if few := len({(facet, label) for facet, label, _, _ in by_label} - shown):
        labels = number_of(few, "label")
        console.note(
            f"not shown: {labels} with fewer than {_RATINGS} ratings by both; --json has them"
        )
    if report["only_a"] or report["only_b"]:
        console.note(
            f"left out: {number_of(report['only_a'], 'rating')} by a alone, {report['only_b']} by b alone"
        )


def calibrate(
    result: Annotated[
        Path, typer.Argument(help="A judged result: its folder, or its result.json.")
    ],
    people: Annotated[
        Path,
        typer.Argument(help="People's scores of a random sample, as CSV (id,score[,criterion])."),
    ],
    *,
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Save it beside the result, where `leaderboard add` reads it."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Correct the judge's mean with people's scores, on the judge's scale; shown beside the mean, never instead."""
    from reelbench.registry import discovery
    from reelbench.scoring import calibration_file, result_files
    from reelbench.scoring.judge_agreement import read_ratings

    folder = result_files.folder_of_one(result)
    record, samples = result_files.read(folder), list(result_files.read_samples(folder))
    spec = discovery.spec_of(record.benchmark)
    labels = read_ratings(people, spec)
    judge = spec.judge
    assert judge is not None  # noqa: S101 - read_ratings refused
    criteria = calibration_file.calibrations(spec, samples, labels)
    if not criteria:
        raise InputError(
            f"{people}: none of its {len(labels)} scores is of an answer that the judge of {folder} scored"
        )
    answers = {sample.id for sample in samples}
    strangers = sorted({item for item, _ in labels if item not in answers})
    if strangers:
        answers = number_of(len(strangers), "answer")
        console.note(
            f"left out: people's scores of {answers} that the result lacks (first: {strangers[0]})"
        )
    if write:
        of_answers = {place: score for place, score in labels.items() if place[0] in answers}
        path = calibration_file.write(
            folder, calibration_file.record(criteria, of_answers, people.name)
        )
        console.note(f"written to {path}")
    if as_json:
        by = record.judge.requested if record.judge else None
        made = {name: asdict(found) for name, found in criteria.items()}
        console.write_json(
            {"benchmark": spec.id, "judge": by, "people": people.name, "criteria": made}
        )
        return
    for name, found in criteria.items():
        _show_calibration(f"{spec.id}: {name}, {judge.low} to {judge.high}", found)


def _show_calibration(title: str, found: "Calibration") -> None:
    title = f"{title}; {found.labelled} of {found.items} answers scored by people"
    estimates = {
        "judge alone, all answers": found.judge,
        "people alone, their sample": found.people,
        f"calibrated (prediction-powered, weight {found.weight:.2f})": found.corrected,
        "calibrated (confusion matrix)": found.confusion_mean,
    }
    rows = [
        (name, number(of.value), interval(of.ci95))
        for name, of in estimates.items()
        if of is not None
    ]
    console.show(console.table(title, "mean", "#value", "#95 % interval", rows=rows))
    if found.confusion:
        steps = list(found.confusion)
        columns = ("people", *(f"#{step:g}" for step in steps), "#share of all, %")
        matrix = console.table("people (rows) and judge", *columns)
        for step, row in found.confusion.items():
            share = found.shares[step].value if found.shares else None
            percent = number(None if share is None else 100 * share, 1)
            matrix.add_row(f"{step:g}", *(str(row[to]) for to in steps), percent)
        console.show(matrix)
        same = sum(row[step] for step, row in found.confusion.items())
        console.write(
            f"the judge gave people's score on {same} of {found.labelled} answers ({same / found.labelled:.1%})"
        )
    more = found.labels_to_halve
    console.write(
        f"the judge: {found.verdict}; to halve the interval: "
        + (
            "more videos are needed, labels alone won't do it"
            if more is None
            else f"{more} more labels"
        )
    )


def _of_the_same_answers(a: ResultRead, b: ResultRead, ratings: "Ratings", path: Path) -> "Ratings":
    """Return the ratings of what both results answered alike; InputError where they share questions and no answer."""
    answers = {sample.id: sample.prediction for sample in a.samples}
    other = {
        sample.id
        for sample in b.samples
        if answers.get(sample.id, sample.prediction) != sample.prediction
    }
    alike = {place: score for place, score in ratings.items() if place[0] not in other}
    if ratings and not alike:
        raise InputError(
            f"{path}: its answers are others; give the same answers judged twice, or `reelbench compare`"
        )
    if other:
        console.note(
            f"left out: {number_of(len(other), 'item')} that the two results answer differently"
        )
    return alike


def _read_both(path_a: Path, path_b: Path) -> tuple[ResultRead, ResultRead]:
    """Read two results; of folders with several, those that are of one benchmark, version and split.

    Several runs of one model are one result.
    """
    from reelbench.scoring import result_files, runs

    folders_a, folders_b = (
        runs.group_repeats(result_files.folders(path), result_files.read)
        for path in (path_a, path_b)
    )
    if len(folders_a) == len(folders_b) == 1:
        return read_folders(folders_a[0]), read_folders(folders_b[0])
    pairs = [
        (a, b)
        for a, b in product(folders_a, folders_b)
        if _BENCHMARK(result_files.read(a[0])) == _BENCHMARK(result_files.read(b[0]))
    ]
    if len(pairs) != 1:
        raise InputError(
            f"{path_a} has {number_of(len(folders_a), 'result')}, {path_b} {len(folders_b)}, and "
            f"{len(pairs)} pairs of them are of the same benchmark, version and split; name one result of each"
        )
    return read_folders(pairs[0][0]), read_folders(pairs[0][1])


def same_benchmark(a: "Result", b: "Result", path_a: Path, path_b: Path) -> "BenchmarkSpec":
    """Return the benchmark of two results; InputError where it, its version or the split is not the same."""
    from reelbench.scoring import result_files

    if _BENCHMARK(a) != _BENCHMARK(b):
        of_a, of_b = (
            f"{one.id} {one.split} (version {one.version})" for one in (a.benchmark, b.benchmark)
        )
        raise InputError(
            f"{path_a} is {of_a}, {path_b} is {of_b}; only results on the same benchmark, version and split can be "
            "compared"
        )
    return result_files.shared_spec([a, b])


def _judge(result: "Result") -> str:
    from reelbench.judges.identity import judge_as_answered

    return judge_as_answered(result.judge) if result.judge else "no judge"
