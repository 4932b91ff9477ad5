"""Read the rows of DramaQA's question file, and of the script where it lies beside it.

A question is about a shot (`AnotherMissOh14_001_0025`) or about a scene, whose id ends in `_0000`
and whose shots `shot_contained` gives as first and last. Pictures lie in a folder per shot.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.base.values import is_whole
from reelbench.data.video_windows import seconds
from reelbench.registry.rows import LETTERS, Row, read_owners_questions, required_text_of

EXPECTED = (
    "qid, vid, videoType, que, answers (5), correct_idx (0 to 4), shot_contained, q_level_logic"
)
OPTIONS = 5
"""Of every question."""
_SCENE = "_0000"
_VID = re.compile(r"[^\W_]+_\d+_\d+")


def read(paths: Sequence[Path], split: str) -> Iterator[Row]:
    """Yield the rows of the question file, with their subtitles where the script is there.

    On `test` the answers stay hidden whatever the file holds.
    """
    questions_file, *script_files = paths
    subtitles: dict[str, str] = {}
    if script_files:
        subtitles = read_script(script_files[0])
    what = f"a DramaQA question; expected {EXPECTED}"
    for where, entry in read_owners_questions(questions_file, "qid", what, _has_video):
        vid = entry["vid"]
        level = entry.get("q_level_logic")
        question = required_text_of(entry, "que", where, EXPECTED)
        options = _five_options(entry, where)
        answer = ""
        if split != "test":
            answer = _right_letter(entry, where)
        difficulty: list[str] = []
        if level is not None:
            difficulty = [str(level)]
        usual_type = "shot"
        if vid.endswith(_SCENE):
            usual_type = "scene"
        yield {
            "id": entry["qid"],
            "video": vid,
            "question": question,
            "language": "en",
            "options": [str(option) for option in options],
            "answer": answer,
            "difficulty": difficulty,
            "video_type": str(entry.get("videoType") or usual_type),
            "shots": shots(entry, where),
            "subtitles": subtitles.get(vid, ""),
        }


def _has_video(entry: Mapping[str, Any]) -> bool:
    """Return True where the video is an episode, a scene and a shot.

    Anything else would point outside the pictures.
    """
    return _VID.fullmatch(str(entry.get("vid"))) is not None


def _five_options(entry: Mapping[str, Any], where: str) -> list[Any]:
    options = entry.get("answers")
    if isinstance(options, list) and len(options) == OPTIONS:
        return options
    what = repr(options)
    if isinstance(options, list):
        what = f"{len(options)} of them"
    raise InputError(f"{where}: expected {OPTIONS} 'answers', found {what}")


def _right_letter(entry: Mapping[str, Any], where: str) -> str:
    """Return the letter of the right option.

    `correct_idx` counts from 0, whatever older documents say.
    """
    index = entry.get("correct_idx")
    if index is None:
        raise InputError(f"{where} has no 'correct_idx'; the answers of this file are hidden")
    letter = option_letter(index)
    if letter is None:
        raise InputError(
            f"{where}: correct_idx is {index!r}, expected a whole number from 0 to {OPTIONS - 1}"
        )
    return letter


def option_letter(index: object) -> str | None:
    """Return the letter of an option's index, or None where it is not one."""
    if is_whole(index) and 0 <= index < OPTIONS:
        return LETTERS[index]
    return None


def shots(entry: dict[str, Any], where: str) -> list[str]:
    """Return the ids of the shots that make up the question's video, in order.

    A scene without `shot_contained` has none here: its folder has them all.
    """
    vid = entry["vid"]
    if not vid.endswith(_SCENE):
        return [vid]
    contained = entry.get("shot_contained")
    if contained is None:
        return []
    numbers = [contained]
    if isinstance(contained, list):
        numbers = contained
    if not all(map(is_whole, numbers)):
        raise InputError(
            f"{where}: shot_contained is {contained!r}, expected [first, last] as whole numbers"
        )
    if not numbers:
        return []
    scene = vid.removesuffix(_SCENE)
    first, last = numbers[0], numbers[-1]
    return [f"{scene}_{number:04d}" for number in range(first, last + 1)]


def folders(row: Mapping[str, Any]) -> list[str]:
    """Return the folders of a row's pictures.

    Of a media key alone it is the folder of its shot, or of its scene.
    """
    shot_ids = row.get("shots") or [str(row["video"]).removesuffix(_SCENE)]
    return [shot.replace("_", "/") for shot in shot_ids]


def read_script(path: Path) -> dict[str, str]:
    """Read the script: shot or scene -> its lines in order of time.

    Each line is `Speaker: words`. A scene has the lines of its shots, each once by its start, as
    the authors merge them (DramaQAChallenge2020 load_subtitle.py at 446efa5).
    """
    document = read_json(path, most=bounds.DATA_BYTES)
    if not isinstance(document, dict):
        raise InputError(f"{path}: holds a {type(document).__name__}, expected an object of shots")
    lines_by_name: dict[str, dict[float, str]] = {}
    for shot, entry in document.items():
        shot_lines = _lines_by_start(f"{path}: {shot!r}", entry)
        scene, _, _ = shot.rpartition("_")
        for name in (shot, scene + _SCENE):
            lines = lines_by_name.setdefault(name, {})
            lines.update(shot_lines)
    script: dict[str, str] = {}
    for name, lines in lines_by_name.items():
        script[name] = _in_order(lines)
    return script


def _in_order(lines: Mapping[float, str]) -> str:
    """Return lines in the order of their starts."""
    starts = sorted(lines)
    return "\n".join(lines[start] for start in starts)


def _lines_by_start(where: str, entry: Any) -> dict[float, str]:  # noqa: ANN401 - any JSON value
    """Return the lines of a shot, by their starts in seconds."""
    entries = None
    if isinstance(entry, dict):
        entries = entry.get("contained_subs")
    if not isinstance(entries, list) or not all(map(_is_line, entries)):
        raise InputError(f"{where} has no 'contained_subs' with speaker, st, et and utter")
    lines: dict[float, str] = {}
    for line in entries:
        speaker = line.get("speaker") or "Unknown"
        words = line.get("utter") or ""
        text = f"{speaker}: {words}"
        start = seconds(line["st"], f"{where}: st")
        lines[start] = text.strip()
    return lines


def _is_line(entry: object) -> bool:
    return isinstance(entry, dict) and "st" in entry
