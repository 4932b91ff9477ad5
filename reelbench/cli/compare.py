"""`reelbench compare` and `reelbench judge agree`: two results held against each other, item by item."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.cli import console
from reelbench.cli.app import App
from reelbench.registry.errors import InputError

if TYPE_CHECKING:
    from reelbench.judges.agreement import Ratings
    from reelbench.registry.records import Result, Sample
    from reelbench.registry.spec import BenchmarkSpec

app = App("How far two judges, or a judge and people, agree.")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def compare(
    a: Annotated[Path, typer.Argument(help="A result: its folder, or its result.json.")],
    b: Annotated[Path, typer.Argument(help="Another result on the same benchmark and split.")],
    *,
    labels: Annotated[bool, typer.Option("--labels", help="CogME's labels one by one, adjusted by Holm.")] = False,
    as_json: Json = False,
) -> None:
    """Test two models on the items both answered: bootstrap over videos, McNemar where items are right or wrong."""
    from reelbench.judges.compare import compare as tested

    first, second = _read(a), _read(b)
    if {first.result.benchmark.id, second.result.benchmark.id} == _TWINS:
        _by_video(first, second, as_json=as_json)
        return
    spec = _same_benchmark(first.result, second.result, a, b)
    found = tested(first.samples, second.samples, spec)
    by_label = _by_label(first.samples, second.samples) if labels else None
    if as_json:
        document = {"a": first.result.model.id, "b": second.result.model.id, **asdict(found)}
        console.write(json.dumps(document if by_label is None else {**document, "labels": by_label}))
        return
    title = f"{spec.id}: a = {first.result.model.id}, b = {second.result.model.id}; {found.both} items answered by both"
    table = console.table(
        title, "metric", "#a", "#b", "#a - b", "#95 % interval", "#p", "#McNemar p", "#items", "#videos"
    )
    for name, d in found.metrics.items():
        mcnemar = "" if d.mcnemar is None else f"{d.mcnemar.p:.4f}"
        p = "" if d.p is None else f"{d.p:.4f}"
        table.add_row(
            name,
            f"{d.a:.2f}",
            f"{d.b:.2f}",
            f"{d.difference:+.2f}",
            _interval(d.ci95),
            p,
            mcnemar,
            str(d.n),
            str(d.videos),
        )
    console.show(table)
    if found.only_a or found.only_b:
        console.note(f"left out: {found.only_a} items that only a answered, {found.only_b} that only b answered")
    if by_label is not None:
        table = console.table(
            "label by label, the largest difference first",
            *("label", "#a %", "#b %", "#a - b", "#95 % interval", "#p", "#p (Holm)", "#items", "#videos"),
        )
        for d in by_label:
            rates = (f"{d['a']:.1f}", f"{d['b']:.1f}", f"{d['difference']:+.1f}", _interval(d["ci95"], 1))
            tests = ("" if p is None else f"{p:.4f}" for p in (d["p"], d["p_holm"]))
            table.add_row(d["label"], *rates, *tests, str(d["n"]), str(d["videos"]))
        console.show(table)


def _by_label(a: "list[Sample]", b: "list[Sample]") -> list[dict[str, Any]]:
    from reelbench.judges.label_comparison import compare_labels

    return [asdict(difference) for difference in compare_labels(a, b)]


_TWINS = {"moviecore", "moviechat"}
"""Benchmarks that ask different questions about the same videos, judged for accuracy by one rubric."""


def _by_video(a: "_Read", b: "_Read", *, as_json: bool) -> None:
    from reelbench.judges.compare import compare_by_video

    paired = compare_by_video(a.samples, b.samples, "accuracy")
    names = [f"{read.result.benchmark.id}, {read.result.model.id}" for read in (a, b)]
    if as_json:
        console.write(json.dumps({"a": names[0], "b": names[1], **asdict(paired)}))
        return
    title = f"accuracy (0 to 5) on {paired.videos} videos that both have, one mean a video"
    table = console.table(title, "", "#mean", "#scored 4 or 5, %", "#that x 5 / 100")
    for name, mean, (percent, converted) in zip(names, (paired.a, paired.b), paired.right, strict=True):
        table.add_row(name, f"{mean:.2f}", f"{percent:.1f}", f"{converted:.2f}")
    console.show(table)
    interval = _interval(paired.ci95)
    console.write(
        f"a - b: {paired.difference:+.2f}"
        + (f" ({interval})" if interval else "")
        + f"; a is higher on {100 * paired.a_higher:.0f} % of the videos"
    )
    if a.result.model.id != b.result.model.id:
        console.note("the two results are of different models: the difference is theirs as much as the questions'")


@app.command()
def agree(
    a: Annotated[Path, typer.Argument(help="A judged result: its folder, or its result.json.")],
    b: Annotated[Path, typer.Argument(help="The same answers by another judge, or people's scores as CSV (id,score).")],
    *,
    as_json: Json = False,
) -> None:
    """Give the scores of two judges side by side, their exact agreement and Cohen's kappa, with intervals."""
    from reelbench.judges.agreement import agree as agreement
    from reelbench.judges.agreement import ratings_of, read_ratings
    from reelbench.registry import discovery

    first = _read(a)
    spec = discovery.get(first.result.benchmark.id)
    ratings: Ratings
    if b.suffix.lower() == ".csv":
        ratings, other = read_ratings(b, spec), b.name
    else:
        second = _read(b)
        _same_benchmark(first.result, second.result, a, b)
        ratings, other = ratings_of(second.samples, spec), _judge(second.result)
    report = agreement(first.samples, ratings_of(first.samples, spec), ratings, spec)
    if as_json:
        console.write(json.dumps({"a": _judge(first.result), "b": other, **asdict(report)}))
        return
    weighted = " (quadratic weights)" if report.weights == "quadratic" else ""
    title = f"{spec.id}: a = {_judge(first.result)}, b = {other}; {report.both} ratings by both"
    table = console.table(
        title, "", "#mean a", "#mean b", "#exact %", "#95 % interval", f"#kappa{weighted}", "#95 % interval", "#n"
    )
    rows: list[tuple[str, Any]] = list(report.criteria.items())
    rows += [
        (f"{label} · {criterion}", agreement)
        for labels in report.labels.values()
        for label, criteria in labels.items()
        for criterion, agreement in criteria.items()
    ]
    for name, found in rows:
        kappa = "undefined" if found.kappa is None else f"{found.kappa:.3f}"
        means = (f"{found.mean_a:.2f}", f"{found.mean_b:.2f}")
        exact = (f"{found.exact:.1f}", _interval(found.exact_ci95))
        table.add_row(name, *means, *exact, kappa, _interval(found.kappa_ci95, 3), str(found.n))
    console.show(table)
    scores = console.table("scores on the items rated by both", "metric", "#by a", "#by b")
    for name, (by_a, by_b) in report.metrics.items():
        scores.add_row(name, f"{by_a:.2f}", f"{by_b:.2f}")
    for labels in report.label_metrics.values():
        for label, metrics in labels.items():
            for name, (by_a, by_b) in metrics.items():
                scores.add_row(f"{label} · {name}", f"{by_a:.2f}", f"{by_b:.2f}")
    console.show(scores)
    if report.only_a or report.only_b:
        console.note(f"left out: {report.only_a} ratings by a alone, {report.only_b} by b alone")


class _Read:
    def __init__(self, result: "Result", samples: "list[Sample]") -> None:
        self.result = result
        self.samples = samples


def _read(path: Path) -> _Read:
    from reelbench.judges import results

    folder = path if path.is_dir() else path.parent
    return _Read(results.read(folder), list(results.read_samples(folder)))


def _same_benchmark(a: "Result", b: "Result", path_a: Path, path_b: Path) -> "BenchmarkSpec":
    from reelbench.registry import discovery

    first, second = a.benchmark, b.benchmark
    if (first.id, first.version, first.split) != (second.id, second.version, second.split):
        raise InputError(
            f"{path_a} is {first.id} {first.split} (version {first.version}), {path_b} is {second.id} {second.split} "
            f"(version {second.version}); only results on the same benchmark, version and split can be compared"
        )
    return discovery.get(first.id)


def _judge(result: "Result") -> str:
    return result.judge.requested if result.judge else "no judge"


def _interval(ci95: tuple[float, float] | None, digits: int = 2) -> str:
    return "" if ci95 is None else f"{ci95[0]:.{digits}f} to {ci95[1]:.{digits}f}"
