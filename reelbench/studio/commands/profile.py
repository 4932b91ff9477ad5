"""`reelbench profile`: what the papers measure of a dataset, as a table, JSON or plots."""

import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError
from reelbench.base.text_tables import interval, number
from reelbench.terminal import console
from reelbench.terminal.asking_options import Judge
from reelbench.terminal.option_groups import Data, Json, Split, reports_status, task_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reelbench.studio.profile import Measure, Profile


_SHOWN_LABELS = 30


@reports_status
def profile(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Benchmarks or tasks, shown side by side.", autocompletion=task_names),
    ] = None,
    *,
    input_files: Annotated[
        list[Path] | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="Your own rows with question and answer (JSON, JSON Lines).",
        ),
    ] = None,
    split: Split = None,
    data: Data = None,
    tags: Annotated[
        Path | None, typer.Option("--tags", help="CogME tags of the questions (JSON Lines).")
    ] = None,
    question_spans: Annotated[
        Path | None,
        typer.Option(
            "--question-spans",
            help="Spans of the events in the questions (JSON Lines: qid, span), for QA-IoU.",
        ),
    ] = None,
    result: Annotated[
        Path | None,
        typer.Option("--result", help="A result's folder: adds the accuracy of each label."),
    ] = None,
    spacy_model: Annotated[
        str | None,
        typer.Option(
            "--spacy-model",
            help="spaCy model, name or folder; default REELBENCH_SPACY_MODEL or en_core_web_sm.",
        ),
    ] = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="Show all datasets of MovieCORE's Table 1 beside yours."),
    ] = False,
    as_json: Json = False,
    output: Annotated[
        Path | None, typer.Option("--output", help="Folder for profile.json, profile.md and plots.")
    ] = None,
    judge: Judge,
) -> None:
    """Measure datasets: readability, parse depth, words, labels, spans.

    With --judge also Bloom's levels.
    """
    from reelbench.studio import profile as profiling
    from reelbench.studio.readability import ParserUnavailableError, load_parser

    given, files = names or [], input_files or []
    if not given and not files:
        raise InputError(
            "nothing to profile: give a benchmark's name, or --input FILE with questions and answers"
        )
    if len(given) != 1 and (split or data):
        raise InputError("--split and --data belong to one benchmark; name only that one")
    # A file is called by its stem, with its folders where another has that too, and whole if need
    # be.
    called = [path.stem for path in files]
    for longer in (lambda path: str(path.with_suffix("")), str):
        times = Counter(called)
        called = [
            name if times[name] == 1 else longer(path)
            for name, path in zip(called, files, strict=True)
        ]
    own = [profiling.read_file(path, name) for path, name in zip(files, called, strict=True)]
    datasets = [*(profiling.read_benchmark(name, split, data) for name in given), *own]
    if len(datasets) > 1 and (tags or question_spans or result):
        raise InputError(
            "--tags, --question-spans and --result belong to one dataset; name only that one"
        )
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
    documents = [measured.model_dump() for measured in profiles]
    document = documents[0] if len(documents) == 1 else documents
    if output is not None:
        write(output, document, profiles)
    if as_json:
        console.write_json(document)
        return
    _show(profiles, judged=extras.judge is not None)
    if output is not None:
        console.write(f"written to {output}")


_MEASURES: dict[str, tuple[str, str, tuple[str, str] | None]] = {
    "parse_depth": ("parse depth", "Parse depth", ("Depth of the parse tree", "steps")),
    "flesch_kincaid": ("Flesch-Kincaid grade", "F-K grade", ("Flesch-Kincaid grade", "grade")),
    "bloom": ("Bloom's level", "Bloom", ("Level of Bloom's taxonomy", "level")),
    "higher_order": ("higher order, %", "HO-QA %", None),
    "words": ("words", "", ("Words", "words")),
}
"""Measure of texts -> its name in the terminal, in the table for a paper, and above a plot, with its unit."""


def _tools(made_with: "Mapping[str, str]") -> str:
    return "; ".join(f"{_MEASURES[name][0]}: {tool}" for name, tool in made_with.items())


def _show(profiles: "list[Profile]", *, judged: bool) -> None:
    papers = list(
        {row["dataset"]: row for measured in profiles for row in measured.published}.values()
    )
    table = console.table(
        "",
        "measure",
        "of",
        *(f"#{p.name}" for p in profiles),
        *(f"#{row['dataset']} (paper)" for row in papers),
    )
    table.add_row("rows", "", *(str(measured.rows) for measured in profiles))
    for name, (title, _, _) in _MEASURES.items():
        # A paper's single value is of questions and answers together: the average.
        theirs = [
            value if isinstance(value := row.get(name), list) else (None, None, value)
            for row in papers
        ]
        columns = [*(measured.sides(name) for measured in profiles), *theirs]
        if any(value is not None for column in columns for value in column):
            for place, side in enumerate(("question", "answer", "average")):
                table.add_row(
                    "" if place else title, side, *(number(column[place]) for column in columns)
                )
    table.add_row("vocabulary", "", *(str(len(measured.vocabulary)) for measured in profiles))
    console.show(table)
    if papers:
        from reelbench.studio.data_files import from_papers

        source = from_papers("profiles")
        console.note(f"paper: {source['cite']}, of {source['of']} ({_tools(source['made_with'])})")
    for measured in profiles:
        if measured.made_with:
            console.note(f"{measured.name}: {_tools(measured.made_with)}")
    if not judged:
        console.note("Bloom's levels need a judge: --judge MODEL")
    for measured in profiles:
        _show_more(measured)


def _show_more(profile: "Profile") -> None:
    if profile.spans is not None:
        spans = profile.spans
        table = console.table(f"{profile.name}: spans", "quantity", "#value", "#questions")
        table.add_row("answer span, s", number(spans.length), str(spans.n))
        table.add_row("share of the video, %", number(spans.share), str(spans.n))
        table.add_row(
            "certificate length, s", number(spans.certificate_length), str(spans.question_spans)
        )
        table.add_row("question-answer IoU", number(spans.qa_iou), str(spans.question_spans))
        console.show(table)
    if profile.reasoning_steps:
        counts = ", ".join(f"{steps}: {n}" for steps, n in sorted(profile.reasoning_steps.items()))
        console.write(f"{profile.name}: reasoning steps -> questions: {counts}")
    for facet, labels in profile.labels.items():
        link = profile.accuracy_link.get(facet)
        rho = "" if link is None else f" (frequency and accuracy: Spearman's rho {link:.2f})"
        linked = any(label.accuracy is not None for label in labels.values())
        known = ["#accuracy", "#95 % interval", ""] if linked else []
        table = console.table(f"{profile.name}: {facet}{rho}", "label", "#questions", "#%", *known)
        for name, label in list(labels.items())[:_SHOWN_LABELS]:
            accuracy = (
                number(label.accuracy, 1),
                interval(label.ci95, 1),
                "weak" if label.weak else "",
            )
            table.add_row(name, str(label.n), f"{label.share:.1f}", *(accuracy if linked else ()))
        if len(labels) > _SHOWN_LABELS:
            table.add_row(f"and {len(labels) - _SHOWN_LABELS} more")
        console.show(table)


# --- files
# ----------------------------------------------------------------------------------------------------------

_TERMS = 25


def write(folder: Path, document: object, profiles: "Sequence[Profile]") -> None:
    """Write the numbers to `folder`, a table in the shape of MovieCORE's Table 1, and plots."""
    from reelbench.base.files import write_json, write_text

    write_json(folder / "profile.json", document)
    columns = {name: column for name, (_, column, _) in _MEASURES.items() if column}
    heads = [
        "Dataset",
        "Rows",
        *(f"{column} {side}" for column in columns.values() for side in ("Q", "A", "avg")),
    ]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for profile in profiles:
        cells = (number(value) for name in columns for value in profile.sides(name))
        lines.append(f"| {' | '.join([profile.name, str(profile.rows), *cells])} |")
    write_text(folder / "profile.md", "\n".join(lines) + "\n")
    for name, svg in plots(profiles).items():
        write_text(folder / f"{name}.svg", svg)


def plots(profiles: "Sequence[Profile]") -> dict[str, str]:
    """Return file name -> SVG: a histogram per measure and side, bars per facet of labels, and of the top terms."""
    from reelbench.pages.plots import bars, histogram
    from reelbench.studio.data_files import studio_data

    made = {}
    for (name, (_, _, plot)), side in product(_MEASURES.items(), ("question", "answer")):
        found: dict[str, Measure | None] = {
            profile.name: getattr(profile, name) for profile in profiles
        }
        series = {
            name: sorted(values)
            for name, of in found.items()
            if of is not None and (values := of.values[side])
        }
        if plot is not None and any(values[0] < values[-1] for values in series.values()):
            made[f"{name}-{side}"] = histogram(f"{plot[0]}, {side}s", series, plot[1])
    for facet in dict.fromkeys(facet for profile in profiles for facet in profile.labels):
        titled = facet.replace("_", " ")
        known = {
            profile.name: profile.labels[facet] for profile in profiles if facet in profile.labels
        }
        shares = {
            name: {label: found.share for label, found in labels.items()}
            for name, labels in known.items()
        }
        # Of how many questions a profile knows the facet: what its shares are of.
        largest = {
            name: max(labels.values(), key=lambda label: label.n) for name, labels in known.items()
        }
        of = {name: round(100 * label.n / label.share) for name, label in largest.items()}
        made[f"labels-{facet}"] = bars(f"Questions by {titled}", shares, n=of)
        for name, labels in known.items():
            # Frequency against rate, the rarest first: CogME's weak labels stand at the top (Figure
            # 4).
            judged = [
                (label, found) for label, found in labels.items() if found.accuracy is not None
            ]
            if rare := sorted(judged, key=lambda pair: pair[1].n):
                rates = {
                    "share of questions": {label: found.share for label, found in rare},
                    "answered right": {label: found.accuracy or 0.0 for label, found in rare},
                }
                made[f"rates-{facet}"] = bars(f"{name}: {titled}, %", rates)
    # Of English; what a data set in another language has most of stands as it is.
    joining = set(studio_data("words.yaml")["joining"].split())
    for profile in profiles:
        words = {
            word: n
            for word, n in profile.vocabulary.items()
            if len(word) > 1 and word not in joining
        }
        if terms := dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:_TERMS]):
            title = f"{profile.name}: the {len(terms)} most frequent words"
            made[f"terms-{profile.name}"] = bars(title, {"": terms}, counts=True)
        if (drawn := _radars(profile)) is not None:
            made["radars"] = drawn
    return {re.sub(r"[^\w.-]+", "_", name): svg for name, svg in made.items()}


def _radars(profile: "Profile") -> str | None:
    """Draw what a model understood, by CogME's labels (Figure 3); None where nothing is known of it."""
    from reelbench.pages.figures import radars
    from reelbench.scoring.cognitive_profile import COMPONENTS

    panels: dict[str, dict[str, tuple[float | None]]] = {}
    for component, names in COMPONENTS.items():
        known = profile.labels.get(component, {})
        panels[component.upper()] = {
            name: (known[name].accuracy if name in known else None,) for name in names
        }
    if all(accuracy is None for panel in panels.values() for (accuracy,) in panel.values()):
        return None
    return radars(
        f"{profile.name}: what was understood",
        [""],
        panels,
        unit="answered right, %",
        high=100,
        digits=1,
    )
