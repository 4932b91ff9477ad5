"""A diagnosis as one static page: figures, and every question's graph round by round. It needs no server.

The data stand as JSON in the page; a graph is drawn when its question is looked at.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from reelbench.pages.shell_page import in_script, page_asset, page_head, shell_page
from reelbench.registry import discovery
from reelbench.registry.errors import MediaError
from reelbench.registry.files import address, write_text
from reelbench.registry.media.library import Library
from reelbench.studio.diagnosis.folder import Attempt, Folder
from reelbench.studio.evidence.findings import LABELS
from reelbench.studio.evidence.graphs import Graph
from reelbench.studio.evidence.isolation import NodeTag, Stop

PAGE = "report.html"
_LINKS = (
    ("#questions", "Questions"),
    ("#errors", "Errors"),
    ("#locales", "Locales"),
    ("#rates", "Skills"),
    ("#ends", "How it ended"),
)
_ROOM = "studio.diagnosis"
_LATER = {"hint_ignored": "wrong again though told", "recovered": "found later without being told"}


def write(folders: Sequence[Folder], figures: Sequence[dict[str, Any]], out: Path) -> None:
    """Write the page of one diagnosis, or of several side by side, each with its `report.figures`."""
    settings = [folder.settings() for folder in folders]
    names = [str(each.get("benchmark")) for each in settings]
    first = discovery.specs().get(names[0])
    shown: dict[str, dict[str, Any]] = {}
    for place, folder in enumerate(folders):
        spec = discovery.specs().get(names[place])
        library = spec and Library(spec, str(settings[place].get("split") or spec.default_split))
        graphs, records, cues = folder.graphs, folder.rounds(), dict[str, str | None]()
        attempts = {number: folder.answers(number) for number in {record.round for record in records}}
        rounds: dict[str, list[dict[str, Any]]] = {}
        for record in records:
            attempt = attempts[record.round].get(record.id, Attempt(id=record.id))
            graph = graphs.get(record.id)
            rounds.setdefault(record.id, []).append(
                {
                    **record.model_dump(include={"round", "stop"}),
                    "cue": cues.get(record.id),
                    **attempt.model_dump(include={"answer", "output", "right"}),
                    "nodes": [_node(graph, key, record.nodes.get(key)) for key in graph.order] if graph else [],
                }
            )
            cues[record.id] = record.cue
        for question in folder.questions:
            if question.id not in rounds:
                continue
            if question.id not in shown:
                path = None  # the video's, where it is here
                if library is not None and question.video:
                    with suppress(MediaError, KeyError):
                        path = library.clip({"id": question.id, "video": question.video})
                shown[question.id] = {
                    **question.model_dump(include={"id", "language", "question", "answer", "steps"}),
                    "locale": question.group,
                    "video": None if path is None else address(path, out),
                    "diagnoses": [None] * len(folders),
                }
            shown[question.id]["diagnoses"][place] = rounds[question.id]
    data = {
        "diagnoses": [
            {"name": folder.path.absolute().name, "settings": setting, "figures": each}
            for folder, setting, each in zip(folders, settings, figures, strict=True)
        ],
        "benchmark": first.title if first else names[0],
        "labels": LABELS,
        "stops": get_args(Stop),
        "questions": list(shown.values()),
    }
    page = shell_page(
        "Where answers went wrong",
        page_asset("page.html", _ROOM),
        style=page_asset("page.css", _ROOM),
        script=page_asset("plots.js") + page_asset("page.js", _ROOM),
        data=in_script(data),
        head=page_head(_LINKS),
    )
    write_text(out, page)


def _node(graph: Graph, key: str, tag: NodeTag | None) -> dict[str, Any]:
    node = graph.by_id[key]
    about = {
        "id": key,
        "evidence": node.evidence,
        "time": node.timestamp,
        "seconds": node.windows[0][0] if node.windows else None,
        "parents": node.parents,
        "depth": graph.depths[key],
    }
    if tag is None:
        return about
    return about | {
        "status": tag.status,
        "label": tag.label,
        "sub_cause": tag.sub_cause,
        "settled": tag.settled,
        "why": next((vote.why for vote in tag.votes if vote and vote.why and vote.label == tag.label), None),
        "later": _LATER.get(tag.later or ""),
    }
