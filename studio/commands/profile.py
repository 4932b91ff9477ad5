"""`reelbench profile`: what the papers measure of a dataset, as a table, JSON or plots."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.cli import console
from reelbench.cli.completion import task_names
from reelbench.cli.judging import takes_judge
from reelbench.cli.option_groups import Data, Json, Split, reports_status
from reelbench.registry.errors import InputError
from reelbench.registry.text_tables import interval, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.studio.profile import Dataset, Profile

_SHOWN_LABELS = 30


@takes_judge
@reports_status
def profile(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Benchmarks or tasks, shown side by side.",
            autocompletion=task_names,
        ),
    ] = None,
    *,
    input_files: Annotated[
        list[Path] | None,
        typer.Option("--input", metavar="FILE", help="Your own rows with question and answer (JSON, JSON Lines)."),
    ] = None,
    split: Split = None,
    data: Data = None,
    tags: Annotated[Path | None, typer.Option(help="CogME tags of the questions (JSON Lines).")] = None,
    question_spans: Annotated[
        Path | None, typer.Option(help="Spans of what questions ask about (JSON Lines: qid, span), for QA-IoU.")
    ] = None,
    result: Annotated[Path | None, typer.Option(help="A result's folder: adds the accuracy of each label.")] = None,
    spacy_model: Annotated[
        str | None, typer.Option(help="spaCy model, name or folder; default REELBENCH_SPACY_MODEL or en_core_web_sm.")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Show all datasets of MovieCORE's Table 1 beside yours.")
    ] = False,
    as_json: Json = False,
    output: Annotated[Path | None, typer.Option(help="Folder for profile.json, profile.md and plots.")] = None,
    judge: "JudgeOptions | None",
) -> None:
    """Measure datasets: readability, parse depth, words, labels, spans.

    With --judge also Bloom's levels.
    """
    from reelbench.studio import profile as profiling
    from reelbench.studio.readability import ParserUnavailableError, load_parser

    datasets = _datasets(names or [], input_files or [], split, data)
    if len(datasets) > 1 and (tags or question_spans or result):
        raise InputError("--tags, --question-spans and --result belong to one dataset; name only that one")
    try:
        parser = load_parser(spacy_model)
    except ParserUnavailableError as error:
        console.note(str(error))
        parser = None
    extras = profiling.Extras(
        parser=parser,
        judge=judge,
        tags=tags,
        question_spans=question_spans,
        result=result,
        note=console.note,
        bar=console.progress,
        all_published=published,
    )
    profiles = [profiling.profile(dataset, extras) for dataset in datasets]
    if output is not None:
        from reelbench.studio.commands.profile_plots import write

        write(output, profiles)
    if as_json:
        documents = [measured.document() for measured in profiles]
        console.write_json(documents[0] if len(documents) == 1 else documents)
        return
    _show(profiles, judged=extras.judge is not None)
    if output is not None:
        console.write(f"written to {output}")


def _datasets(names: list[str], files: list[Path], split: str | None, data: Path | None) -> "list[Dataset]":
    from reelbench.studio.profile import read_benchmark, read_file

    if not names and not files:
        raise InputError("nothing to profile: give a benchmark's name, or --input FILE with questions and answers")
    if len(names) != 1 and (split or data):
        raise InputError("--split and --data belong to one benchmark; name only that one")
    own = [read_file(path, name) for path, name in zip(files, _names(files), strict=True)]
    return [*(read_benchmark(name, split, data) for name in names), *own]


def _names(files: list[Path]) -> list[str]:
    """Return a name for each file: its stem, with its folders where another has that too, and whole if need be."""
    names = [path.stem for path in files]
    for longer in (lambda path: str(path.with_suffix("")), str):
        times = Counter(names)
        names = [name if times[name] == 1 else longer(path) for name, path in zip(names, files, strict=True)]
    return names


_MEASURES = {
    "parse_depth": "parse depth",
    "flesch_kincaid": "Flesch-Kincaid grade",
    "bloom": "Bloom's level",
    "higher_order": "higher order, %",
    "words": "words",
}


def _show(profiles: "list[Profile]", *, judged: bool) -> None:
    papers = list({row["dataset"]: row for measured in profiles for row in measured.published}.values())
    table = console.table(
        "", "measure", "of", *(f"#{p.name}" for p in profiles), *(f"#{row['dataset']} (paper)" for row in papers)
    )
    table.add_row("rows", "", *(str(measured.rows) for measured in profiles))
    for name, title in _MEASURES.items():
        measures = [getattr(measured, name) for measured in profiles]
        if any(measure is not None for measure in measures) or any(name in row for row in papers):
            for place, (side, head) in enumerate((("question", title), ("answer", ""), ("average", ""))):
                ours = (number(None if measure is None else getattr(measure, side)) for measure in measures)
                table.add_row(head, side, *ours, *(_published(row, name, place) for row in papers))
    table.add_row("vocabulary", "", *(str(len(measured.vocabulary)) for measured in profiles))
    console.show(table)
    if papers:
        from reelbench.studio.published import published

        source = published("profiles")
        tools = "; ".join(f"{_MEASURES[name]}: {tool}" for name, tool in source["made_with"].items())
        console.note(f"paper: {source['cite']}, of {source['of']} ({tools})")
    for measured in profiles:
        if measured.made_with:
            tools = "; ".join(f"{_MEASURES[name]}: {tool}" for name, tool in measured.made_with.items())
            console.note(f"{measured.name}: {tools}")
    if not judged:
        console.note("Bloom's levels need a judge: --judge MODEL")
    for measured in profiles:
        _show_more(measured)


def _published(row: "Mapping[str, Any]", name: str, place: int) -> str:
    """Return a printed number: of questions, answers and both; the paper has Bloom's level and shares of both alone."""
    value = row.get(name)
    if isinstance(value, list):
        return number(value[place])
    return number(value if place == 2 else None)  # noqa: PLR2004 - the average


def _show_more(profile: "Profile") -> None:
    if profile.spans is not None:
        spans = profile.spans
        table = console.table(f"{profile.name}: spans", "quantity", "#value", "#questions")
        table.add_row("answer span, s", number(spans.length), str(spans.n))
        table.add_row("share of the video, %", number(spans.share), str(spans.n))
        table.add_row("certificate length, s", number(spans.certificate_length), str(spans.question_spans))
        table.add_row("question-answer IoU", number(spans.qa_iou), str(spans.question_spans))
        console.show(table)
    if profile.reasoning_steps:
        counts = ", ".join(f"{steps}: {n}" for steps, n in sorted(profile.reasoning_steps.items()))
        console.write(f"{profile.name}: reasoning steps -> questions: {counts}")
    for facet, labels in profile.labels.items():
        link = profile.accuracy_link.get(facet)
        title = f"{profile.name}: {facet}" + (
            "" if link is None else f" (frequency and accuracy: Spearman's rho {link:.2f})"
        )
        linked = any(label.accuracy is not None for label in labels.values())
        known = ["#accuracy", "#95 % interval", ""] if linked else []
        table = console.table(title, "label", "#questions", "#%", *known)
        for name, label in list(labels.items())[:_SHOWN_LABELS]:
            accuracy = (number(label.accuracy, 1), interval(label.ci95, 1), "weak" if label.weak else "")
            table.add_row(name, str(label.n), f"{label.share:.1f}", *(accuracy if linked else ()))
        if len(labels) > _SHOWN_LABELS:
            table.add_row(f"and {len(labels) - _SHOWN_LABELS} more")
        console.show(table)
