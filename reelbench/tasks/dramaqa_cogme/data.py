"""DramaQA's question file, and the script where it lies beside it -> rows.

A question is about a shot (`AnotherMissOh14_001_0025`) or about a scene, whose id ends in `_0000`
and whose shots `shot_contained` gives as first and last. Pictures lie in a folder per shot.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.base.values import is_whole
from reelbench.data.mapped_rows import seconds
from reelbench.registry.rows import LETTERS, Row, questions_of, text_of

EXPECTED = (
    "qid, vid, videoType, que, answers (5), correct_idx (0 to 4), shot_contained, q_level_logic"
)
OPTIONS = 5
"""Of every question."""
_SCENE = "_0000"
_VID = re.compile(r"[^\W_]+_\d+_\d+")


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of the question file, with what is said in each where the script is given too.

    On `test` the answers stay hidden whatever the file holds.
    """
    questions, *joined = paths
    said = read_script(joined[0]) if joined else {}
    what = f"a DramaQA question; expected {EXPECTED}"
    # Episode, scene and shot: anything else would point outside the pictures.
    for where, entry in questions_of(
        questions, "qid", what, lambda entry: _VID.fullmatch(str(entry.get("vid")))
    ):
        vid, level = entry["vid"], entry.get("q_level_logic")
        question, options = text_of(entry, "que", where, EXPECTED), entry.get("answers")
        if not isinstance(options, list) or len(options) != OPTIONS:
            given = f"{len(options)} of them" if isinstance(options, list) else repr(options)
            raise InputError(f"{where}: expected {OPTIONS} 'answers', found {given}")
        # `correct_idx` counts from 0, whatever older documents say.
        right, index = (
            "" if split == "test" else option_letter(entry.get("correct_idx")),
            entry.get("correct_idx"),
        )
        if right is None and index is None:
            raise InputError(f"{where} has no 'correct_idx'; the answers of this file are hidden")
        if right is None:
            raise InputError(
                f"{where}: correct_idx is {index!r}, expected a whole number from 0 to {OPTIONS - 1}"
            )
        yield {
            "id": entry["qid"],
            "video": vid,
            "question": question,
            "language": "en",
            "options": [str(option) for option in options],
            "answer": right,
            "difficulty": [] if level is None else [str(level)],
            "video_type": str(
                entry.get("videoType") or ("scene" if vid.endswith(_SCENE) else "shot")
            ),
            "shots": shots(entry, where),
            "subtitles": said.get(vid, ""),
        }


def option_letter(index: object) -> str | None:
    """Return the letter of an option's index, or None where it is not one."""
    return LETTERS[index] if is_whole(index) and 0 <= index < OPTIONS else None


def shots(entry: dict[str, Any], where: str) -> list[str]:
    """Return the ids of the shots that make up the question's video, in order.

    A scene without `shot_contained` has none here: its folder has them all.
    """
    vid = entry["vid"]
    if not vid.endswith(_SCENE):
        return [vid]
    contained = entry.get("shot_contained")
    numbers = contained if isinstance(contained, list) else [] if contained is None else [contained]
    if not all(map(is_whole, numbers)):
        raise InputError(
            f"{where}: shot_contained is {contained!r}, expected [first, last] as whole numbers"
        )
    if not numbers:
        return []
    return [
        f"{vid.removesuffix(_SCENE)}_{number:04d}" for number in range(numbers[0], numbers[-1] + 1)
    ]


def folders(row: Mapping[str, Any]) -> list[str]:
    """Return the folders of a row's pictures; of a media key alone, its shot's or its scene's."""
    return [
        shot.replace("_", "/")
        for shot in row.get("shots") or [str(row["video"]).removesuffix(_SCENE)]
    ]


def read_script(path: Path) -> dict[str, str]:
    """Read the script: shot or scene -> what is said in it, a line each as `Speaker: words`, in order of time.

    A scene has what its shots have, each line once by its start, as the authors merge it
    (DramaQAChallenge2020 load_subtitle.py at 446efa5).
    """
    document = read_json(path)
    if not isinstance(document, dict):
        raise InputError(f"{path}: holds a {type(document).__name__}, expected an object of shots")
    lines: dict[str, dict[float, Mapping[str, Any]]] = {}
    for shot, entry in document.items():
        said = entry.get("contained_subs") if isinstance(entry, dict) else None
        if not isinstance(said, list) or not all(
            isinstance(line, dict) and "st" in line for line in said
        ):
            raise InputError(
                f"{path}: {shot!r} has no 'contained_subs' with speaker, st, et and utter"
            )
        by_start = {seconds(line["st"], f"{path}: {shot!r}: st"): line for line in said}
        for vid in (shot, shot.rpartition("_")[0] + _SCENE):
            lines.setdefault(vid, {}).update(by_start)
    return {
        vid: "\n".join(
            f"{line.get('speaker') or 'Unknown'}: {line.get('utter') or ''}".strip()
            for _, line in sorted(of_vid.items())
        )
        for vid, of_vid in lines.items()
    }
