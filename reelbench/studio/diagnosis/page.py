"""The page of a diagnosis, or of several side by side: every question's graph, round by round.

It is one static file. Its data are JSON, and it needs no server.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from reelbench.base.errors import MediaError
from reelbench.base.files import address, write_text
from reelbench.pages.shell_page import in_script, page_asset, page_head, shell_page
from reelbench.registry import discovery
from reelbench.studio.diagnosis.folder import Folder, ReasonedQuestion, Step
from reelbench.studio.evidence.findings import LABELS
from reelbench.studio.evidence.graphs import Graph, Node
from reelbench.studio.evidence.isolation import NodeTag, Stop
from reelbench.video.library import Library
from reelbench.video.row_frames import clip_of_row

PAGE = "report.html"
_LINKS = (
    ("#questions", "Questions"),
    ("#errors", "Errors"),
    ("#locales", "Locales"),
    ("#rates", "Skills"),
    ("#ends", "How it ended"),
)
_ROOM = "studio.diagnosis"
_CHART_SCRIPTS = ("drawing.js", "plots.js", "bars.js")
_LATER = {"hint_ignored": "wrong again though told", "recovered": "found later without being told"}


def write_page(
    folders: Sequence[Folder], figures: Sequence[Mapping[str, object]], out: Path
) -> None:
    """Write the page of the diagnoses, each with its `report.figures`."""
    settings = [folder.settings() for folder in folders]
    benchmark = str(settings[0].get("benchmark"))
    spec = discovery.specs().get(benchmark)
    diagnoses: list[dict[str, object]] = []
    for place, folder in enumerate(folders):
        name = folder.path.absolute().name
        diagnoses.append({"name": name, "settings": settings[place], "figures": figures[place]})
    data = {
        "diagnoses": diagnoses,
        "benchmark": spec.title if spec else benchmark,
        "labels": LABELS,
        "stops": get_args(Stop),
        "questions": _question_rounds(folders, out),
    }
    scripts = [page_asset(name) for name in _CHART_SCRIPTS]
    scripts.append(page_asset("page.js", _ROOM))
    page = shell_page(
        "Where answers went wrong",
        page_asset("page.html", _ROOM),
        style=page_asset("page.css", _ROOM),
        script="".join(scripts),
        data=in_script(data),
        head=page_head(_LINKS),
    )
    write_text(out, page)


def _question_rounds(folders: Sequence[Folder], out: Path) -> list[dict[str, Any]]:
    """Return the page's questions, each with its rounds in each diagnosis.

    They are None in a diagnosis that lacks the question.
    """
    questions: dict[str, dict[str, Any]] = {}
    for place, folder in enumerate(folders):
        library = _video_library(folder.settings())
        for step in folder.steps():
            question = step.question
            if question.id not in questions:
                video = _video_address(question, library, out)
                questions[question.id] = {
                    **_question_data(question, video),
                    "diagnoses": [None] * len(folders),
                }
            diagnoses = questions[question.id]["diagnoses"]
            rounds = diagnoses[place] or []
            diagnoses[place] = [*rounds, _round_data(step)]
    return list(questions.values())


def _video_library(settings: Mapping[str, Any]) -> Library | None:
    spec = discovery.specs().get(str(settings.get("benchmark")))
    if spec is None:
        return None
    return Library(spec, str(settings.get("split") or spec.default_split))


def _video_address(question: ReasonedQuestion, library: Library | None, out: Path) -> str | None:
    """Return the address of the question's video.

    None where it is not here.
    """
    if library is None or not question.video:
        return None
    with suppress(MediaError, KeyError):
        path = clip_of_row(library, {"id": question.id, "video": question.video})
        return None if path is None else address(path, out)
    return None


def _question_data(question: ReasonedQuestion, video: str | None) -> dict[str, Any]:
    fields = question.model_dump(include={"id", "language", "question", "answer", "steps"})
    return {**fields, "locale": question.group, "video": video}


def _round_data(step: Step) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    for key in step.graph.order:
        node = step.graph.by_id[key]
        tag = step.record.nodes.get(key)
        nodes.append(_node_data(node, step.graph, tag))
    return {
        **step.record.model_dump(include={"round", "stop"}),
        "cue": step.cue,
        **step.attempt.model_dump(include={"answer", "output", "right"}),
        "nodes": nodes,
    }


def _node_data(node: Node, graph: Graph, tag: NodeTag | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": node.id,
        "evidence": node.evidence,
        "time": node.timestamp,
        "seconds": node.windows[0][0] if node.windows else None,
        "parents": node.parents,
        "depth": graph.depths[node.id],
    }
    if tag is not None:
        data |= tag.model_dump(include={"status", "label", "sub_cause", "settled"})
        data["why"] = _reason_of_first_vote(tag)
        data["later"] = _LATER.get(tag.later or "")
    return data


def _reason_of_first_vote(tag: NodeTag) -> str | None:
    """Return the reason of the first vote that has the tag's label, and gives one."""
    for verdict in tag.votes:
        if verdict and verdict.why and verdict.label == tag.label:
            return verdict.why
    return None
