"""What a result says of a benchmark that a file declares, so that whoever gets the result can read and rank it.

It has what numbers are read by: metrics, facets, the judge's scale, the names of splits and tasks.
Where the rows and videos lie on the machine that made it is not in it.
"""

import hashlib
import json
import math
import re
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError, first_line
from reelbench.registry.benchmark_file import FORMATS
from reelbench.registry.entry_points import our_room
from reelbench.registry.spec import BenchmarkSpec, FileBeside, SplitSpec

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


def declaration(spec: BenchmarkSpec) -> dict[str, Any] | None:
    """Return a benchmark as JSON; None for one that a package declares, which is known by its name."""
    if spec.package:
        return None
    whole = asdict(spec)
    judge = whole["judge"]
    if judge and not judge["prompts"].startswith(f"{our_room()}."):
        judge["prompts"] = ""
    splits = {
        name: {"hidden_answers": split.hidden_answers}
        | ({"answers_kept": True} if split.answers_kept else {})
        for name, split in spec.splits.items()
    }
    tasks = [task for task in whole["tasks"] if not task["prompt"]]
    return {name: whole[name] for name in (*_TEXTS, *_PARTS)} | {"splits": splits, "tasks": tasks}


def scoring_sha256(spec: BenchmarkSpec) -> str:
    """Return the sha256 of what makes scores of answers: kinds, metrics, the judge's criteria and scale.

    No words, facets or languages: who changes these changes no number of the whole. A judge's
    prompts are in its own record, by their hash.
    """
    judge = spec.judge
    how = {
        "kinds": [spec.row_kind, *spec.kinds],
        "ranks": spec.primary.name,
        "metrics": {
            metric.name: [metric.unit, asdict(metric.aggregate)] for metric in spec.metrics
        },
        "judge": judge and [judge.criteria, judge.low, judge.high],
    }
    return hashlib.sha256(json.dumps(how, sort_keys=True).encode()).hexdigest()


@lru_cache(maxsize=256)
def declared_benchmark(text: str) -> BenchmarkSpec:
    """Return the benchmark that a result declares as JSON, without its rows and media; InputError where it is none."""
    document: dict[str, Any] = json.loads(text)
    try:
        _check(document)
        splits = {
            name: SplitSpec(
                source=FileBeside(path=""), **{key: split.get(key, False) for key in _SECRETS}
            )
            for name, split in document.get("splits", {}).items()
        }
        known = {
            name: document[name] for name in (*_TEXTS, *_PARTS) if document.get(name) is not None
        }
        if judge := known.get("judge"):
            known["judge"] = {
                **judge,
                "official_prompts": None,
            }  # nothing is fetched from where a stranger says
        return BenchmarkSpec(
            **known,
            splits=splits,
            default_split=next(iter(splits), ""),
            reader="mapping:",
            formats=f"{our_room()}.{FORMATS}",
            media=(),
        )
    except (TypeError, AttributeError, LookupError, ValueError) as error:
        raise InputError(f"is not a declaration of a benchmark ({first_line(error)})") from None


def _check(document: dict[str, Any]) -> None:
    """Refuse what a stranger's word may not do: be endless, lead out of our folders, or open an address."""
    bounds.hold("characters of it", len(json.dumps(document)), bounds.DECLARATION)
    for name in _TEXTS:
        bounds.hold(
            f"characters of {name}", len(str(document.get(name) or "")), bounds.DECLARED_TEXT
        )
    titled = [document, *(document.get("metrics") or ()), *(document.get("facets") or ())]
    bounds.hold(
        "characters of a title",
        max(len(str(part.get("title") or "")) for part in titled),
        bounds.TITLE,
    )
    for name in (*_PARTS, "splits"):
        bounds.hold(f"{name} of it", len(document.get(name) or ()), bounds.PARTS)
    for part in titled[1:]:
        for metric in (part, *(part.get("metrics") or ())):  # a facet's own metrics as well
            aggregate: dict[str, Any] = metric.get("aggregate") or {}
            scale = aggregate.get("scale", 1.0)
            if not isinstance(scale, int | float) or not 0 < scale < math.inf:
                raise InputError(
                    f"metric {str(metric.get('name'))[:80]}: scale is {scale!s:.40}, expected one above 0"
                )
    named = [part.get("name") for kind in ("metrics", "tasks") for part in document.get(kind) or ()]
    for name in (*named, *(document.get("splits") or ())):
        if not re.fullmatch(r"[^\W_][\w .-]*", str(name)):
            raise InputError(
                f"the name {str(name)[:80]!r} has other signs than letters, digits, spaces and _ . -"
            )
    if not re.match(r"https?://|$", document.get("homepage") or ""):
        raise InputError("homepage is not an address that begins with https://")
    judge = document.get("judge") or {"prompts": ""}
    ours = rf"{re.escape(our_room())}(\.\w+)*:\w+"
    if judge["prompts"] and not re.fullmatch(ours, judge["prompts"]):
        raise InputError(f"judge.prompts is {judge['prompts'][:80]!r}, which is not one of ours")
    for task in document.get("tasks") or ():
        options: dict[str, Any] = task.get("options") or {}
        if task.get("prompt") or options.get("locate"):
            raise InputError(
                f"task {str(task.get('name'))[:80]} names a file, which no result brings"
            )
