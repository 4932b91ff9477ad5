"""The declaration of a benchmark in a result, for those who have the result alone.

It is there where a file declares the benchmark. It has what numbers are read by: metrics, facets,
the judge's scale, the names of splits and tasks. The places of rows and videos on the machine that
made the result are not in it.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError, first_line
from reelbench.registry.benchmark_file import FORMATS
from reelbench.registry.entry_points import our_room
from reelbench.registry.spec import BenchmarkSpec, FileNextToDeclaration, SplitSpec

_TEXTS = (
    "id",
    "title",
    "version",
    "summary",
    "homepage",
    "license",
    "citation",
    "languages",
    "row_kind",
    "twin",
)
_SECRETS = ("hidden_answers", "answers_kept")
_PARTS = ("columns", "tasks", "kinds", "metrics", "facets", "judge")
_DECLARED = (*_TEXTS, *_PARTS)
_LATER_FIELDS = {"lowest": 0.0, "within": None}
"""Fields of aggregates that enter their hash only where they are set: older hashes hold."""
_SHOWN_NAME = 80
_NAME = re.compile(r"[^\W_][\w .-]*")


def declaration(spec: BenchmarkSpec) -> dict[str, Any] | None:
    """Return a benchmark as JSON. None for a package's, which is known by its name."""
    if spec.package:
        return None
    fields = asdict(spec)
    judge = fields["judge"]
    our_prefix = f"{our_room()}."
    if judge and not judge["prompts"].startswith(our_prefix):
        judge["prompts"] = ""
    document = {name: fields[name] for name in _DECLARED}
    document["splits"] = {name: _declared_split(split) for name, split in spec.splits.items()}
    document["tasks"] = [task for task in fields["tasks"] if not task["prompt"]]
    return document


def _declared_split(split: SplitSpec) -> dict[str, bool]:
    declared = {"hidden_answers": split.hidden_answers}
    if split.answers_kept:
        declared["answers_kept"] = True
    return declared


def scoring_sha256(spec: BenchmarkSpec) -> str:
    """Return the sha256 of all that turns answers into scores.

    These are kinds, metrics, the judge's criteria and scale. Words, facets and languages are not
    among them: who changes these changes no number of the whole. A judge's prompts are in its own
    record, by their hash.
    """
    metrics: dict[str, Any] = {}
    for metric in spec.metrics:
        aggregate = asdict(metric.aggregate)
        for name, default in _LATER_FIELDS.items():
            if name in aggregate and aggregate[name] == default:
                del aggregate[name]
        metrics[metric.name] = [metric.unit, aggregate]
    judge = None
    if spec.judge is not None:
        judge = [spec.judge.criteria, spec.judge.low, spec.judge.high]
    scoring = {
        "kinds": [spec.row_kind, *spec.kinds],
        "ranks": spec.primary.name,
        "metrics": metrics,
        "judge": judge,
    }
    document = json.dumps(scoring, sort_keys=True)
    return hashlib.sha256(document.encode()).hexdigest()


@lru_cache(maxsize=256)
def declared_benchmark(text: str) -> BenchmarkSpec:
    """Return the benchmark that a result declares as JSON, without its rows and media.

    Raises:
        InputError: It declares none.
    """
    document: dict[str, Any] = json.loads(text)
    try:
        _check(document)
        fields: dict[str, Any] = {}
        for name in _DECLARED:
            if document.get(name) is not None:
                fields[name] = document[name]
        if fields.get("judge"):
            # Nothing is fetched from where a stranger says.
            fields["judge"] = {**fields["judge"], "official_prompts": None}
        splits: dict[str, SplitSpec] = {}
        for name, split in document.get("splits", {}).items():
            secrets = {key: split.get(key, False) for key in _SECRETS}
            splits[name] = SplitSpec(source=FileNextToDeclaration(path=""), **secrets)
        return BenchmarkSpec(
            **fields,
            splits=splits,
            default_split=next(iter(splits), ""),
            reader="mapping:",
            formats=f"{our_room()}.{FORMATS}",
            media=(),
        )
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        raise InputError(f"is not a declaration of a benchmark ({first_line(error)})") from None


def _check(document: Mapping[str, Any]) -> None:
    """Refuse a stranger's declaration that is endless, leaves our folders or opens an address."""
    _check_sizes(document)
    for part in _metrics_and_facets(document):
        _check_scale(part)
        for metric in part.get("metrics") or ():  # a facet's own
            _check_scale(metric)
    for name in _names(document):
        if not _NAME.fullmatch(name):
            raise InputError(
                f"the name {name[:_SHOWN_NAME]!r} has characters other than letters, digits, "
                "spaces and _ . -"
            )
    if not re.match(r"https?://|$", document.get("homepage") or ""):
        raise InputError("homepage is not an address that begins with https://")
    judge = document.get("judge") or {"prompts": ""}
    our_folder = rf"{re.escape(our_room())}(\.\w+)*:\w+"
    if judge["prompts"] and not re.fullmatch(our_folder, judge["prompts"]):
        shown_prompts = judge["prompts"][:_SHOWN_NAME]
        raise InputError(f"judge.prompts is {shown_prompts!r}, which is not one of Reelbench's")
    for task in document.get("tasks") or ():
        options: dict[str, Any] = task.get("options") or {}
        if task.get("prompt") or options.get("locate"):
            name = str(task.get("name"))[:_SHOWN_NAME]
            raise InputError(f"task {name} names a file, which a result doesn't contain")


def _check_sizes(document: Mapping[str, Any]) -> None:
    bounds.hold("characters of it", len(json.dumps(document)), bounds.DECLARATION)
    for name in _TEXTS:
        text = str(document.get(name) or "")
        bounds.hold(f"characters of {name}", len(text), bounds.DECLARED_TEXT)
    for titled_part in (document, *_metrics_and_facets(document)):
        title = str(titled_part.get("title") or "")
        bounds.hold("characters of a title", len(title), bounds.TITLE)
    for name in (*_PARTS, "splits"):
        entries = document.get(name) or ()
        bounds.hold(f"{name} of it", len(entries), bounds.PARTS)


def _metrics_and_facets(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*(document.get("metrics") or ()), *(document.get("facets") or ())]


def _check_scale(metric: Mapping[str, Any]) -> None:
    aggregate: dict[str, Any] = metric.get("aggregate") or {}
    scale = aggregate.get("scale", 1.0)
    lowest = aggregate.get("lowest", 0.0)
    shown_name = str(metric.get("name"))[:_SHOWN_NAME]
    if not isinstance(scale, int | float) or not 0 < scale < math.inf:
        raise InputError(f"metric {shown_name}: scale is {scale!s:.40}, expected one above 0")
    if not isinstance(lowest, int | float) or not math.isfinite(lowest):
        raise InputError(f"metric {shown_name}: lowest is {lowest!s:.40}, expected a number")


def _names(document: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("metrics", "tasks"):
        for part in document.get(kind) or ():
            yield str(part.get("name"))
    for split in document.get("splits") or ():
        yield str(split)
