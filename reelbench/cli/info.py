"""`reelbench list` and `reelbench info`: the benchmarks, one of them on a page, and presets."""

import json
import shlex
from dataclasses import asdict
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.errors import ReelbenchError
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reelbench.registry.presets import PresetRecord
    from reelbench.registry.spec import BenchmarkSpec


def list_benchmarks(
    *,
    show_gallery: Annotated[
        bool,
        typer.Option(
            "--gallery", help="Benchmarks that are declared here, without rows (`new --like ID`)."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the benchmarks, their tasks, and the data on this machine."""
    from reelbench.registry import discovery
    from reelbench.video import media_roots

    if show_gallery:
        _list_gallery(as_json=as_json)
        return
    if as_json:
        document: dict[str, Any] = {}
        for spec in discovery.specs().values():
            data, media = media_roots.presence(spec)
            document[spec.id] = {
                "title": spec.title,
                "tasks": [task.name for task in spec.tasks],
                "data": data,
                "media": media,
            }
        console.write_json(document, indent=1)
        return
    task_lines = TextWrapper(
        100, "    tasks  ", " " * 11, break_on_hyphens=False, break_long_words=False
    )
    for spec in discovery.specs().values():
        data, media = media_roots.presence(spec)
        console.write(_with_summary(f"{spec.id}  {spec.title}", spec))
        console.write(task_lines.fill(", ".join(task.name for task in spec.tasks)))
        console.write(f"    data   {data}")
        console.write(f"    media  {media}")


def _list_gallery(*, as_json: bool) -> None:
    """Print each benchmark of the gallery with its headline and what it was held against."""
    from reelbench.registry import gallery

    document: dict[str, Any] = {}
    for name in gallery.names():
        spec = gallery.spec_of(name)
        comparison = gallery.comparison(name)
        twins = [task.twin for task in spec.tasks if task.twin]
        document[name] = {
            "title": spec.title,
            "tasks": [task.name for task in spec.tasks],
            "ranked_by": spec.primary.name,
            "twins": twins,
            "held_against": comparison.against,
            "differs": comparison.differs,
            "pinned": gallery.is_pinned(spec),
        }
    if as_json:
        console.write_json(document, indent=1)
        return
    rows: list[tuple[str, ...]] = []
    for name, facts in document.items():
        pinned = "pinned" if facts["pinned"] else "unpinned"
        twins = ", ".join(facts["twins"])
        rows.append(
            (name, facts["title"], facts["ranked_by"], facts["held_against"], pinned, twins)
        )
    heads = ("id", "title", "ranked by", "held against", "source", "lmms-eval's")
    console.show(console.table("The gallery", *heads, rows=rows))
    console.note("`reelbench new NAME --like ID` copies one; its task is reelbench_ID")


def _with_summary(title: str, spec: "BenchmarkSpec") -> str:
    if not spec.summary:
        return title
    return f"{title}: {spec.summary}"


def path() -> None:
    """Print the folder for lmms-eval's --include-path.

    `lmms-eval tasks list` and `power` need it.
    """
    from reelbench.lmms_eval_plugin import tasks_folder

    console.write(str(tasks_folder()))


def info(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Benchmark or task.")],
    *,
    as_json: Json = False,
) -> None:
    """Show a benchmark's questions, its scoring, and its data on this machine.

    It asks no network and fetches nothing.
    """
    from reelbench.data.loading import find_split

    spec, split, _ = find_split(name)
    facts = _benchmark_facts(spec, split)
    if as_json:
        console.write_json(facts, indent=1)
        return
    console.write(_with_summary(f"{spec.id}  {spec.title}, version {spec.version}", spec))
    for key, value in facts.items():
        if value and key not in _APART:
            title = key
            if key in ("data", "media"):
                title = f"{key} here"
            elif key == "judge_successor":
                title = "  now"
            console.write(f"{title:<10} {_fact_line(key, value)}")
    blocks = ["prompt", "citation"]
    if "question" in facts:
        blocks = ["question", "answer", "citation"]
    for key in blocks:
        if facts.get(key):
            indented = str(facts[key]).strip().replace("\n", "\n    ")
            console.write(f"{_TITLES[key]}\n    {indented}")


def _benchmark_facts(spec: "BenchmarkSpec", split: str) -> dict[str, Any]:
    """Return the facts of a benchmark's page, as `--json` prints them."""
    from reelbench.registry.parity import parity
    from reelbench.video import media_roots

    data, media = media_roots.presence(spec)
    splits: dict[str, Any] = {}
    for name, part in spec.splits.items():
        splits[name] = {
            "rows": part.rows,
            "videos": part.videos,
            "hidden_answers": part.hidden_answers,
            "cite": part.cite,
        }
    default_split = spec.default_split
    if split in spec.splits:
        default_split = split
    metrics: dict[str, str] = {}
    for metric in spec.metrics:
        metrics[metric.name] = f"{metric.title}, {metric.in_unit.label}"
    judge = None
    successor = None
    if spec.judge:
        judge = spec.judge.default_model or None
        successor = spec.judge.successor
    citation = spec.citation or None
    if spec.paper:
        citation = spec.paper.bibtex
    return {
        "id": spec.id,
        "title": spec.title,
        "version": spec.version,
        "asks": spec.summary,
        "licence": spec.license,
        "homepage": spec.homepage,
        "languages": list(spec.languages),
        "splits": splits,
        "default_split": default_split,
        "metrics": metrics,
        "facets": {facet.name: facet.title for facet in spec.facets},
        "judge": judge,
        "judge_successor": successor,
        "parity": parity(spec),
        "tasks": [task.name for task in spec.tasks],
        "data": data,
        "media": media,
        "citation": citation,
        **_first_mini_question(spec),
    }


_APART = frozenset(
    ("id", "title", "version", "asks", "default_split", "citation", "prompt", "question", "answer")
)
"""Facts that have no line of their own below the first."""
_TITLES = {
    "prompt": "prompt (a model gets this text, with the row's own words in braces)",
    "question": "a mini question, as it is asked",
    "answer": "its reference",
    "citation": "cite",
}


def _fact_line(key: str, value: Any) -> str:  # noqa: ANN401 - a string, a list, or a mapping
    if key == "splits":
        return "; ".join(_split_line(name, split) for name, split in value.items())
    if key == "metrics":
        first, *rest = value.values()
        return "\n           ".join([f"{first} (ranks)", *rest])
    if isinstance(value, (dict, list)):
        return ", ".join(value)
    return str(value)


def _split_line(name: str, split: "Mapping[str, Any]") -> str:
    """Return a split's size, with where it is stated, or that its answers are hidden."""
    counts = [f"{split[unit]:,} {unit}" for unit in ("rows", "videos") if split[unit]]
    if not counts:
        counts.append("size not stated")
    note = ""
    if split["hidden_answers"]:
        note = "answers hidden"
    elif not split["rows"]:
        note = split["cite"]
    line = f"{name}: {', '.join(counts)}"
    if note:
        line += f" ({note})"
    return line


def _first_mini_question(spec: "BenchmarkSpec") -> dict[str, str]:
    """Return the prompt, and the first mini question with its reference.

    A question that can't be read is left out.
    """
    from reelbench.data.loading import locate
    from reelbench.registry.prompts import prompt_template
    from reelbench.registry.splits import MINI
    from reelbench.tasks.prompting import prompt_of

    prompt = prompt_template(spec, language=spec.languages[0])
    if not (spec.folder / MINI).is_dir():
        return {"prompt": prompt}
    try:
        row = locate(spec.id, MINI, fetch=False).read()[0]
    except ReelbenchError as error:
        console.note(str(error))
        return {"prompt": prompt}
    reference = [str(row[key]) for key in ("answer", "span") if row.get(key) not in (None, "", [])]
    return {"prompt": prompt, "question": prompt_of(spec, row), "answer": ", ".join(reference)}


def show_judges(*, as_json: Json = False) -> None:
    """List the open judges with fixed versions: weights, server command, request settings, sources.

    None is validated, and none is ever a default: --judge-preset NAME is what asks one.
    """
    from reelbench.judges.presets import PRESETS

    if as_json:
        documents = [
            {**asdict(preset), "model": preset.model, "validated": False}
            for preset in PRESETS.values()
        ]
        console.write_json({"presets": documents})
        return
    for preset in PRESETS.values():
        console.write(
            f"{preset.name}: {preset.repository} at {preset.revision}, {preset.licence}; "
            "unvalidated"
        )
        console.write(f"  serve: {shlex.join(preset.serve)}")
        console.write(
            f"  sent: temperature {preset.temperature:g}, {json.dumps(dict(preset.extra))}"
        )
        for subject, source in preset.sources.items():
            console.write(f"  {subject}: {source}")


def show_presets(
    named: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE", help="The preset to show.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """List the presets for --preset of `run` and `ask`.

    With NAME or FILE, show one with the source of each value.

    A preset of your own is a YAML file: `values`, each {value: ..., source: https://...}.
    """
    from reelbench.registry.presets import preset, shipped_presets

    presets = shipped_presets() if named is None else {named: preset(named)}
    if as_json:
        console.write_json({name: entry.model_dump(mode="json") for name, entry in presets.items()})
    elif named is None:
        _show_all_presets(presets)
    else:
        _show_preset(presets[named])


def _show_all_presets(presets: "Mapping[str, PresetRecord]") -> None:
    table = console.table("Presets", "name", "what", "values")
    for name, preset in presets.items():
        values: list[str] = []
        for key, value in preset.values.items():
            values.append(f"{key} {_shown_value(value.value)}")
        table.add_row(name, preset.about or "", ", ".join(values))
    console.show(table)


def _show_preset(preset: "PresetRecord") -> None:
    table = console.table(preset.about or preset.name, "value", "is", "source")
    for name, value in preset.values.items():
        table.add_row(name, _shown_value(value.value), value.source)
    console.show(table)


def _shown_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
