"""Two runs of a chain side by side: agents swapped, or left out, and what that makes of the questions.

Funnel beside funnel, how many questions are the same, and how the questions' texts differ (`question_sets`'s measures),
with intervals over the videos that both runs made questions of.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.registry.base_record import checked
from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json
from reelbench.studio.benchmark_files import FILES
from reelbench.studio.funnel import FunnelRecord
from reelbench.studio.question_sets import SIDES, difference, text_measures
from reelbench.studio.readability import Parser


@dataclass(frozen=True, slots=True)
class MadeRun:
    """What a chain wrote to a folder: its funnel, and video -> its questions with their answers."""

    folder: Path
    funnel: FunnelRecord
    questions: Mapping[str, list[dict[str, str]]]

    @property
    def count(self) -> int:
        """Questions of all videos."""
        return sum(map(len, self.questions.values()))


def read_run(folder: Path) -> MadeRun:
    """Read a folder that `make discussion` or `make moments` wrote; InputError names what is missing or wrong in it."""
    path = next((folder / name for name in FILES.values() if (folder / name).is_file()), None)
    if path is None or not (folder / "funnel.json").is_file():
        raise InputError(f"{folder}: has no funnel.json beside {' or '.join(FILES.values())}; give a chain's --out")
    funnel = checked(FunnelRecord, read_json(folder / "funnel.json"), str(folder / "funnel.json"))
    document = read_json(path)
    questions: dict[str, list[dict[str, str]]] = {}
    for place, entry in enumerate(document.values() if isinstance(document, dict) else document, start=1):
        known: dict[str, Any] = entry if isinstance(entry, dict) else {}
        texts = {side: known[side] for side in SIDES if isinstance(known.get(side), str)}
        video = str(known.get("video") or known.get("vid") or "")
        if not video or len(texts) < len(SIDES):
            raise InputError(f"{path}, entry {place}: not a question with its video, question and answer")
        questions.setdefault(video, []).append({**texts})
    return MadeRun(folder, funnel, questions)


def compared(a: MadeRun, b: MadeRun, parser: Parser | None = None) -> dict[str, Any]:
    """Return the document of `make compare --json`.

    `a` and `b` (folder, questions, videos, stages, models, what differs in their settings and prompts); `same`:
    questions that both have, on one video and word for word (case and space apart), and `same_answers`: those with the
    same answer too; `measures`: measure and side -> mean of `a`, of `b`, `difference` (b minus a) and `ci95` over the
    `videos` that both have (None under ten).

    Raises:
        InputError: They have no video in common.
    """
    videos = sorted(a.questions.keys() & b.questions.keys())
    if not videos:
        raise InputError(f"{a.folder} and {b.folder}: no video has questions in both")
    same = same_answers = 0
    for video in videos:
        theirs = {_plain(one["question"]): _plain(one["answer"]) for one in b.questions[video]}
        for one in a.questions[video]:
            known = theirs.get(_plain(one["question"]))
            same += known is not None
            same_answers += known == _plain(one["answer"])
    return {
        "a": _about(a, b),
        "b": _about(b, a),
        "videos": len(videos),
        "same": same,
        "same_answers": same_answers,
        "measures": {
            f"{name}_{side}": difference(
                [[[one[side] for one in run.questions[video]] for run in (a, b)] for video in videos],
                side,
                measure,
                ("a", "b"),
            )
            for name, measure in text_measures(parser).items()
            for side in SIDES
        },
    }


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _about(run: MadeRun, other: MadeRun) -> dict[str, Any]:
    document, others = (one.funnel.model_dump(mode="json", by_alias=True) for one in (run, other))
    changed = {
        part: {key: value for key, value in document[part].items() if others[part].get(key) != value}
        for part in ("settings", "thresholds", "prompts")
    }
    return {
        "folder": str(run.folder),
        "questions": run.count,
        "videos": len(run.questions),
        "stages": document["stages"],
        "models": {role: use["asked"] for role, use in document["models"].items()},
        "differs": {part: values for part, values in changed.items() if values},
    }
