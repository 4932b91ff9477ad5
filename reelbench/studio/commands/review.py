"""`reelbench review`: write pages for people to work on, and merge their answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.errors import InputError, first_of, number_of
from reelbench.base.text_tables import Table, interval, number
from reelbench.studio.review import KindName
from reelbench.terminal import console
from reelbench.terminal.option_groups import (
    Data,
    Json,
    Per,
    Split,
    TaskName,
    reports_status,
    strata,
)

if TYPE_CHECKING:
    from reelbench.studio.review.pages import Clips


_SHOWN = 10


class Form(StrEnum):
    """The form of what is written."""

    PAGE = "page"
    FOLDER = "folder"
    LABEL_STUDIO = "label-studio"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewMaterial:
    """The material beside the benchmark's rows, as it was typed."""

    answers: Annotated[
        Path | None,
        typer.Option("--answers", metavar="RESULT", help="With --ask scores: the result's folder."),
    ] = None
    diagnosis: Annotated[
        Path | None,
        typer.Option("--diagnosis", metavar="DIR", help="With --ask nodes: the diagnosis' folder."),
    ] = None
    made: Annotated[
        Path | None,
        typer.Option(
            "--made",
            metavar="DIR",
            help="With --ask preference: folder that `make discussion` wrote.",
        ),
    ] = None
    graphs: Annotated[
        Path | None,
        typer.Option(
            "--graphs",
            metavar="FILE",
            help="With --ask graphs: the graphs.jsonl to check and correct.",
        ),
    ] = None
    tags: Annotated[
        Path | None,
        typer.Option(
            "--tags", metavar="FILE", hidden=True, help="CogME tags; --per draws by their labels."
        ),
    ] = None
    consensus: Annotated[
        list[Path] | None,
        typer.Option(
            "--consensus",
            metavar="FILE",
            help="A rater's saved file (repeat): write a page to settle "
            "disagreements (ratings: low-rated questions).",
        ),
    ] = None


@reports_status
def page(
    name: TaskName,
    *,
    ask: Annotated[KindName, typer.Option("--ask", help="Kind of task.")] = KindName.RATINGS,
    sample: Annotated[
        int,
        typer.Option(
            "--sample",
            min=1,
            help="Videos, each with all its questions (nodes, graphs: questions).",
        ),
    ] = 30,
    per: Per = None,
    seed: Annotated[
        int, typer.Option("--seed", help="Seed of the draw; files of the same draw can be merged.")
    ] = 0,
    raters: Annotated[
        int, typer.Option("--raters", min=1, help="Number of pages, one per rater.")
    ] = 1,
    overlap: Annotated[int, typer.Option("--overlap", min=1, help="Raters per video.")] = 1,
    split: Split = None,
    data: Data = None,
    material: ReviewMaterial,
    strips: Annotated[
        bool, typer.Option("--strips", help="Add a strip of frames to each video.")
    ] = False,
    embed: Annotated[
        bool,
        typer.Option(
            "--embed",
            help="Put small clips of the videos into the page (18 MB at most). They "
            "belong to the owners: send it only to reviewers.",
        ),
    ] = False,
    form: Annotated[
        Form,
        typer.Option(
            "--as",
            help="A page; with --embed, a folder to zip; or tasks for a Label Studio server.",
        ),
    ] = Form.PAGE,
    media_url: Annotated[
        str | None,
        typer.Option(
            "--media-url",
            metavar="PREFIX",
            help="Address before the videos' paths. Without it: videos beside the "
            "page, or chosen by reviewers from their disks.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="The page's file (default review-NAME.html), or its folder."),
    ] = None,
) -> None:
    """Write a page on which people review a benchmark, or one per rater.

    They rate, answer, audit, tag, score, choose or write.

    With --tags FILE, a file of CogME tags, --per draws by its labels too (content=5).
    """
    from reelbench.registry import discovery
    from reelbench.studio.review import kinds, label_studio, pages
    from reelbench.studio.review.review_kind import SOURCES, Draw, Sources

    labels = None
    if material.tags is not None:
        labels = _labels_to_draw_by(material.tags, per)
    draw = Draw(sample, seed, raters, overlap, strips, strata(per), labels)
    name = discovery.plain_name(name)
    _check_form(form, embed=embed, strips=strips, media_url=media_url)
    paths_by_source: dict[str, Path] = {}
    for source in SOURCES:
        path = getattr(material, source)
        if path is not None:
            paths_by_source[source] = path
    sources = Sources(name=name, split=split, data=data, beside=paths_by_source)
    content = kinds.draw_content(ask, sources, draw, material.consensus or ())
    if form is Form.LABEL_STUDIO and media_url is not None:
        folder = output or Path(f"label-studio-{name}")
        tasks, missing = label_studio.write(content, folder, media_url, data)
        _report_missing(missing)
        console.note(
            f"{number_of(tasks, 'task')}; make a project with {folder / label_studio.CONFIG}, "
            f"and import {folder / label_studio.TASKS}"
        )
        console.write(str(folder))
        return
    if output is None:
        output = _default_output(name, ask, form)
    clips: Clips | None = None
    if embed:
        clips = "folder" if form is Form.FOLDER else "page"
    written = pages.write(
        content,
        output,
        draw,
        data=data,
        clips=clips,
        media_url=media_url,
        note=console.note,
        bar=console.progress,
    )
    if written.videos < sample and not material.consensus and per is None:
        console.note(f"{name} has {number_of(written.videos, 'video')}: all on the page")
    _report_missing(written.missing)
    questions = number_of(written.questions, "question")
    console.note(f"{number_of(written.videos, 'video')}, {questions}; open the page in a browser")
    if embed:
        action = "zip the folder, and send" if form is Form.FOLDER else "send"
        title = content.spec.title
        console.note(
            f"{action} it only to your reviewers: {title}'s videos belong to their owners "
            "(the page says this too)"
        )
    for path in written.paths:
        console.write(str(path))


def _labels_to_draw_by(tags: Path, per: str | None) -> dict[str, dict[str, list[str]]]:
    """Return the labels of questions in a tags file."""
    from reelbench.scoring.cognitive_profile import read_tags

    if per is None:
        raise InputError("--tags is for draws by its labels; give --per too, as in --per content=5")
    labels: dict[str, dict[str, list[str]]] = {}
    for question, question_tags in read_tags(tags).items():
        labels[question] = question_tags.facets
    return labels


def _check_form(form: Form, *, embed: bool, strips: bool, media_url: str | None) -> None:
    """Refuse options of a page that exclude each other."""
    if form is Form.LABEL_STUDIO and media_url is None:
        raise InputError(
            "--as label-studio: name where its server has the videos, with --media-url PREFIX"
        )
    if (form is Form.FOLDER and not embed) or (embed and form is Form.LABEL_STUDIO):
        raise InputError(
            "--as folder goes with --embed: page and clips in one folder; "
            "Label Studio has its own videos"
        )
    if embed and media_url is not None:
        raise InputError(
            "--embed and --media-url: give one of them; embedded clips come from the page itself"
        )
    if embed and strips:
        raise InputError("--strips and --embed: give one of them; browsers play the clips")


def _default_output(name: str, ask: KindName, form: Form) -> Path:
    """Return the page's file, or its folder, in the working folder."""
    kind = "review" if ask is KindName.RATINGS else ask.value
    if form is Form.FOLDER:
        return Path(f"{kind}-{name}")
    return Path(f"{kind}-{name}.html")


def agree(
    a: Annotated[Path, typer.Argument(help="A tags file (JSON Lines).")],
    b: Annotated[Path, typer.Argument(help="Another tags file, by another person or a model.")],
    *,
    result: Annotated[
        Path | None,
        typer.Option(
            "--result",
            metavar="DIR",
            help="A result on these questions: compare its profile under both files.",
        ),
    ] = None,
    machine: Annotated[
        Path | None,
        typer.Option(
            "--machine",
            metavar="FILE",
            help="A model's tags: can it replace these people (alternative annotator test)?",
        ),
    ] = None,
    person: Annotated[
        list[Path] | None,
        typer.Option(
            "--person", metavar="FILE", help="Another person's tags, besides A and B (repeat)."
        ),
    ] = None,
    epsilon: Annotated[
        float,
        typer.Option(
            "--epsilon",
            help="With --machine: 0.2 for experts, 0.15 for skilled people, 0.1 for a crowd.",
        ),
    ] = 0.2,
    benchmark: Annotated[
        str,
        typer.Option(
            "--benchmark", help="Benchmark of the questions, for intervals over its videos."
        ),
    ] = ("dramaqa_cogme"),
    split: Split = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Measure the agreement of two taggers, by label and by set.

    There are intervals over videos if the data is here.
    """
    from reelbench.scoring import result_files
    from reelbench.scoring.cognitive_profile import read_tags
    from reelbench.scoring.profile_difference import profile_difference
    from reelbench.scoring.tag_agreement import annotator_tests, tag_agreement
    from reelbench.studio.review import tags

    if person and machine is None:
        raise InputError(
            "--person names people besides A and B for the test of --machine; give --machine "
            "FILE too"
        )

    first = read_tags(a)
    second = read_tags(b)
    common_ids = first.keys() & second.keys()
    videos = tags.videos_by_question(benchmark, common_ids, console.note, split=split, data=data)
    agreement = tag_agreement(first, second, videos)
    if result is not None:
        samples = list(result_files.read_samples(result))
        agreement["profile"] = profile_difference(samples, first, second)
    if machine is not None:
        people = {str(a): first, str(b): second}
        for path in person or ():
            people[str(path)] = read_tags(path)
        tests = annotator_tests(read_tags(machine), people, epsilon=epsilon)
        agreement["alternative_annotator"] = {"epsilon": epsilon, **tests}
    if as_json:
        console.write_json(agreement)
        return
    title = f"a = {a.name}, b = {b.name}: {agreement['both']} items tagged by both"
    show_tables(tags.agreement_tables(title, agreement))
    if "profile" in agreement:
        show_profile_difference(agreement["profile"])
    if "alternative_annotator" in agreement:
        show_annotator_tests(agreement["alternative_annotator"])
    if agreement["only_a"] or agreement["only_b"]:
        by_a = number_of(agreement["only_a"], "item")
        console.note(f"left out: {by_a} tagged only by a, {agreement['only_b']} only by b")


def _report_missing(missing: Sequence[str]) -> None:
    if missing:
        console.note(f"{number_of(len(missing), 'video')} not found: {first_of(missing, _SHOWN)}")


def summarize(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Files that reviewers saved, or an export from Label Studio."
        ),
    ],
    *,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", help="Write the agreed values (rows, tags, scores; a folder for answers)."
        ),
    ] = None,
    wage: Annotated[
        float,
        typer.Option(
            "--wage", help="People's hourly wage in dollars, for the cost per kept question."
        ),
    ] = 6.0,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Merge reviewers' files and report their agreement."""
    from reelbench.studio.review import kinds

    summary = kinds.summarize(files, data, wage)
    if write is not None:
        console.note(summary.write(write))
    for reason, times in summary.reviews.ignored.items():
        results = number_of(times, "result")
        reason_text = reason.replace("_", " ")
        console.note(f"left out: {results} of Label Studio, {reason_text}")
    if as_json:
        console.write_json(summary.document())
        return

    for name, progress in summary.document()["progress"].items():
        marked = str(progress["marked"])
        if progress["total"] is not None:
            marked += f" of {progress['total']}"
        minutes = progress["seconds"] / 60
        console.note(f"{name}: {marked} done in {minutes:.0f} min")
    show_tables(summary.tables)
    for line in summary.notes:
        console.note(line)


def show_tables(tables: Iterable[Table]) -> None:
    """Print tables."""
    for table in tables:
        console.show(console.table(table.title, *table.columns, rows=table.rows))


def show_profile_difference(difference: dict[str, Any]) -> None:
    """Print one result's profile under two tag files."""
    title = (
        f"one result's profile under both tag files, {difference['answers']} answers: percent right"
    )
    heads = ("label", "#n a", "#n b", "#a", "#b", "#a - b", "#95 % interval", "weak")
    table = console.table(title, *heads)
    for name, label in difference["labels"].items():
        weak_in = [file for file in ("a", "b") if label[f"weak_{file}"]]
        weak = f"by {' and '.join(weak_in)}" if weak_in else ""
        table.add_row(
            name,
            str(label["n_a"]),
            str(label["n_b"]),
            number(label["a"]["value"], 1),
            number(label["b"]["value"], 1),
            number(label["difference"]["value"], 1),
            interval(label["difference"]["ci95"], 1),
            weak,
        )
    console.show(table)
    mean = number(difference["mean_absolute"], 1)
    largest = difference["largest"] or "–"
    rho = number(difference["spearman"])
    console.write(
        f"mean absolute difference {mean} points, largest on {largest}; "
        f"the labels' order: Spearman's rho {rho}"
    )


def show_annotator_tests(tests: dict[str, Any]) -> None:
    """Print the tests of replacing people's tags by a machine's."""
    title = f"alternative-annotator test, epsilon {tests['epsilon']:g}"
    heads = ("component", "#winning rate", "#advantage", "passes", "people (advantage, items)")
    table = console.table(title, *heads)
    for component, test in tests.items():
        if component == "epsilon":
            continue
        people: list[str] = []
        for name, person in test["people"].items():
            advantage = number(person["advantage_model"])
            people.append(f"{Path(name).stem} ({advantage}, {person['n']})")
        if test["winning_rate"] is None:
            verdict = "too few items"
        else:
            verdict = "yes" if test["passes"] else "no"
        table.add_row(
            component,
            number(test["winning_rate"]),
            number(test["advantage"]),
            verdict,
            ", ".join(people),
        )
    console.show(table)
