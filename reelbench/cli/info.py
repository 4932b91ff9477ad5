"""What there is: benchmarks (`list`, `path`), one of them on a page (`info NAME`), presets."""

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
    from reelbench.registry.spec import BenchmarkSpec


def list_benchmarks(*, as_json: Json = False) -> None:
    """List the benchmarks, their tasks, and the data on this machine."""
    from reelbench.registry import discovery
    from reelbench.video import media_roots

    found = {spec.id: (spec, *media_roots.presence(spec)) for spec in discovery.specs().values()}
    if as_json:
        listed = {
            name: {
                "title": spec.title,
                "tasks": [task.name for task in spec.tasks],
                "data": data,
                "media": media,
            }
            for name, (spec, data, media) in found.items()
        }
        console.write_json(listed, indent=1)
        return
    tasks = TextWrapper(
        100, "    tasks  ", " " * 11, break_on_hyphens=False, break_long_words=False
    )
    for name, (spec, data, media) in found.items():
        console.write(f"{name}  {spec.title}" + (f": {spec.summary}" if spec.summary else ""))
        console.write(tasks.fill(", ".join(task.name for task in spec.tasks)))
        console.write(f"    data   {data}")
        console.write(f"    media  {media}")


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
    from reelbench.data import loading
    from reelbench.registry.parity import parity
    from reelbench.video import media_roots

    spec, split, _ = loading.find_split(name)
    data, media = media_roots.presence(spec)
    facts: dict[str, Any] = {
        "id": spec.id,
        "title": spec.title,
        "version": spec.version,
        "asks": spec.summary,
        "licence": spec.license,
        "homepage": spec.homepage,
        "languages": list(spec.languages),
        "splits": {
            key: {
                name: getattr(part, name) for name in ("rows", "videos", "hidden_answers", "cite")
            }
            for key, part in spec.splits.items()
        },
        "default_split": split if split in spec.splits else spec.default_split,
        "metrics": {
            metric.name: f"{metric.title}, {metric.in_unit.label}" for metric in spec.metrics
        },
        "facets": {facet.name: facet.title for facet in spec.facets},
        "judge": spec.judge.suggested if spec.judge else None,
        "parity": parity(spec),
        "tasks": [task.name for task in spec.tasks],
        "data": data,
        "media": media,
        "citation": spec.paper.bibtex if spec.paper else spec.citation or None,
        **_example(spec),
    }
    if as_json:
        console.write_json(facts, indent=1)
        return
    console.write(
        f"{spec.id}  {spec.title}, version {spec.version}"
        + (f": {spec.summary}" if spec.summary else "")
    )
    for key, value in facts.items():
        if value and key not in _APART:
            title = f"{key} here" if key in ("data", "media") else key
            console.write(f"{title:<10} {_line(key, value)}")
    for key in (*(("question", "answer") if "question" in facts else ("prompt",)), "citation"):
        if facts.get(key):
            indented = str(facts[key]).strip().replace("\n", "\n    ")
            console.write(f"{_TITLES[key]}\n    {indented}")


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


def _line(key: str, value: Any) -> str:  # noqa: ANN401 - a string, a list, or a mapping
    if key == "splits":
        sizes = []
        for name, split in value.items():
            counts = [f"{split[what]:,} {what}" for what in ("rows", "videos") if split[what]] or [
                "size not stated"
            ]
            note = (
                "answers hidden"
                if split["hidden_answers"]
                else ""
                if split["rows"]
                else split["cite"]
            )
            sizes.append(f"{name}: {', '.join(counts)}" + (f" ({note})" if note else ""))
        return "; ".join(sizes)
    if key == "metrics":
        first, *rest = value.values()
        return "\n           ".join([f"{first} (ranks)", *rest])
    if isinstance(value, dict):
        return ", ".join(value)
    return ", ".join(value) if isinstance(value, list) else str(value)


def _example(spec: "BenchmarkSpec") -> dict[str, str]:
    """Return the prompt, and the first mini question with its reference.

    What can't be had is left out.
    """
    from reelbench.data.loading import locate
    from reelbench.registry.prompts import prompt_template
    from reelbench.registry.splits import MINI
    from reelbench.tasks.prompting import prompt_of

    language = spec.languages[0]
    shown = {"prompt": prompt_template(spec, language=language)}
    if not (spec.folder / MINI).is_dir():
        return shown
    try:
        row = locate(spec.id, MINI, fetch=False).read()[0]
    except ReelbenchError as error:
        console.note(str(error))
        return shown
    reference = [str(row[key]) for key in ("answer", "span") if row.get(key) not in (None, "", [])]
    return {**shown, "question": prompt_of(spec, row), "answer": ", ".join(reference)}


def show_judges(*, as_json: Json = False) -> None:
    """List the open judges with fixed versions: weights, server command, request settings, sources.

    None is validated, and none is ever a default: --judge-preset NAME is what asks one.
    """
    from reelbench.judges.presets import PRESETS

    if as_json:
        listed = [
            {**asdict(preset), "model": preset.model, "validated": False}
            for preset in PRESETS.values()
        ]
        console.write_json({"presets": listed})
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
        for what, source in preset.sources.items():
            console.write(f"  {what}: {source}")


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
    from reelbench.registry.presets import preset, shipped

    known = shipped() if named is None else {named: preset(named)}
    if as_json:
        console.write_json({name: one.model_dump(mode="json") for name, one in known.items()})
        return
    if named is not None:
        one = known[named]
        table = console.table(one.about or one.name, "value", "is", "source")
        for name, value in one.values.items():
            table.add_row(name, _shown(value.value), value.source)
    else:
        table = console.table("Presets", "name", "what", "values")
        for name, one in known.items():
            values = ", ".join(f"{key} {_shown(value.value)}" for key, value in one.values.items())
            table.add_row(name, one.about or "", values)
    console.show(table)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
