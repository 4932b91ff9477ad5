"""Declare the questions that a chain wrote as a benchmark.

Writes the rows in splits, the `benchmark.yaml` that declares them, and a datasheet.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from reelbench.base import containment
from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_json, write_json, write_text
from reelbench.registry import benchmark_file, datasheet_form, discovery
from reelbench.studio.data_files import studio_data

MadeBy = Literal["moments", "discussion"]

FILES: dict[MadeBy, str] = {"moments": "rextime.json", "discussion": "annotations.json"}
"""The file with the rows of each chain."""

_VIDEO_FIELDS: dict[MadeBy, str] = {"moments": "vid", "discussion": "video"}
"""The field of a row that names its video, by chain."""

_REST = ("train", "test", "val", "rest")
"""Names for the split of the remaining videos: the first that no share was given for."""

_SLACK = 1e-9
"""Rounding error allowed where shares add up to 1, as 0.7, 0.2 and 0.1 do."""

_SPLIT_NAME = re.compile(r"[A-Za-z0-9][\w-]*")

_WINDOW = re.compile(r"_\d+(?:\.\d+)?_\d+(?:\.\d+)?$")
"""The ending of a part of a video (`<video>_60.0_210.0`, as QVHighlights names them)."""

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SplitShares:
    """Share of the videos by split. The remaining videos form one more split."""

    shares: Mapping[str, float]

    @classmethod
    def parse(cls, texts: Sequence[str]) -> "SplitShares":
        """Read `NAME=SHARE` texts.

        Raises:
            InputError: A text is malformed, a name occurs twice, or the shares exceed 1 together.
        """
        shares: dict[str, float] = {}
        for text in texts:
            name, _, share = text.partition("=")
            is_name = _SPLIT_NAME.fullmatch(name) and not name.startswith("mini")
            if not is_name or name in shares:
                raise InputError(
                    f"--split {text}: expected NAME=SHARE, such as test=0.2; use a name once, and "
                    "not mini"
                )
            try:
                shares[name] = float(share)
            except ValueError:
                raise InputError(
                    f"--split {text}: {share!r} is not a share; expected a number between 0 and 1"
                ) from None
        in_range = all(0 < share <= 1 for share in shares.values())
        if not in_range or sum(shares.values()) > 1 + _SLACK:
            raise InputError(
                f"--split {' '.join(texts)}: shares must be above 0 and add up to at most 1"
            )
        return cls(shares)

    def split_videos(self, videos: Iterable[str]) -> dict[str, str]:
        """Return the split of each video.

        The same videos always get the same splits. Parts of one video go into the same split.

        Raises:
            InputError: There are fewer videos than splits.
        """
        names = sorted(set(videos))
        whole_videos = set(map(_whole_video, names))
        draw_order = sorted(whole_videos, key=_draw_key)
        split_order = self._split_order(len(whole_videos))
        split_by_whole = dict(zip(draw_order, split_order, strict=True))
        splits: dict[str, str] = {}
        for name in names:
            whole_video = _whole_video(name)
            splits[name] = split_by_whole[whole_video]
        return splits

    def _split_order(self, videos: int) -> list[str]:
        """Return a split for each of so many videos, in drawing order."""
        splits = list(self.shares)
        whole = sum(self.shares.values())
        if whole < 1 - _SLACK:
            free_names = [name for name in _REST if name not in self.shares]
            splits.append(free_names[0])
        if videos < len(splits):
            raise InputError(
                f"{number_of(videos, 'video')} can't be split into {len(splits)} splits "
                f"({', '.join(splits)})"
            )
        counts: dict[str, int] = {}
        for split, share in self.shares.items():
            counts[split] = max(1, round(share * videos))
        most = videos
        if len(splits) > len(counts):  # the split of the remaining videos keeps at least one
            most -= 1
        while sum(counts.values()) > most:
            largest_split = max(counts, key=counts.__getitem__)
            counts[largest_split] -= 1
        order: list[str] = []
        for split, count in counts.items():
            order += [split] * count
        remaining = videos - len(order)
        order += [splits[-1]] * remaining
        return order


def _draw_key(name: str) -> bytes:
    """Return a key whose order looks random but never changes."""
    return hashlib.sha256(name.encode()).digest()


def _whole_video(name: str) -> str:
    """Return the name of the video that a part of it belongs to."""
    return _WINDOW.sub("", name)


def write(
    chain: MadeBy, folder: Path, shares: SplitShares, funnel: Mapping[str, Any], media: Path | None
) -> str | None:
    """Declare what a chain wrote to a folder as a benchmark.

    Returns:
        The benchmark's id, or None where the chain wrote no row.

    Raises:
        InputError: There are fewer videos than splits.
    """
    document = read_json(folder / FILES[chain])
    rows: Rows = list(document.values()) if isinstance(document, dict) else document
    if not rows:
        return None
    split_files = _write_splits(chain, folder, shares, rows)
    name = _free_id(folder)
    write_text(folder / benchmark_file.NAME, _benchmark_yaml_text(chain, name, split_files, rows))
    if media is not None:
        containment.allow_outside_folder(folder, media)
    categories = ["video-text-to-text"]
    if chain == "moments":
        categories.append("multiple-choice")
    datasheet = datasheet_form.as_text(
        _datasheet_sections(chain, funnel, split_files, rows),
        categories=categories,
        creators=["machine-generated"],
    )
    write_text(folder / datasheet_form.FILE, datasheet)
    return name


def _write_splits(chain: MadeBy, folder: Path, shares: SplitShares, rows: Rows) -> dict[str, str]:
    """Write the rows of each split, and return the name of its file."""
    if not shares.shares:
        return {"test": FILES[chain]}
    field = _VIDEO_FIELDS[chain]
    videos = [row[field] for row in rows]
    split_by_video = shares.split_videos(videos)
    rows_by_split: dict[str, list[Mapping[str, Any]]] = {split: [] for split in shares.shares}
    for video, row in zip(videos, rows, strict=True):
        split = split_by_video[video]
        rows_by_split.setdefault(split, []).append(row)
    files: dict[str, str] = {}
    for split, split_rows in rows_by_split.items():
        file = f"rows_{split}.json"
        write_json(folder / file, split_rows)
        files[split] = file
    return files


def _free_id(folder: Path) -> str:
    """Return an id after the folder's name that no installed benchmark or task has."""
    name = re.sub(r"\W+", "_", folder.resolve().name.lower(), flags=re.ASCII).strip("_")
    if not re.match(r"[a-z]", name):
        name = f"made_{name}".rstrip("_")
    declaration = (folder / benchmark_file.NAME).resolve()
    used_names: set[str] = set()
    for spec in discovery.specs().values():
        if Path(spec.file).resolve() == declaration:
            continue
        used_names.add(spec.id)
        for task in spec.tasks:
            used_names.add(task.name)
    if name in used_names:
        return f"made_{name}"
    return name


def _benchmark_yaml_text(
    chain: MadeBy, name: str, split_files: Mapping[str, str], rows: Rows
) -> str:
    """Return the text of `benchmark.yaml`."""
    texts = studio_data("made.yaml")
    kind: str = chain
    if chain == "moments" and any(row.get("options") for row in rows):
        kind = "moments with options"
    splits = ""
    if len(split_files) > 1:
        splits = "splits:\n"
        for split, file in split_files.items():
            splits += f"  {split}: {{source: {{file: {file}}}}}\n"
    return texts["declaration"].format(
        name=name,
        made=chain,
        rows=texts["rows"][kind],
        file=next(iter(split_files.values())),
        splits=splits,
    )


def _datasheet_sections(
    chain: MadeBy, funnel: Mapping[str, Any], split_files: Mapping[str, str], rows: Rows
) -> dict[str, str]:
    """Return the text of each section of the datasheet."""
    texts = studio_data("made.yaml")
    checked = texts["checked"]
    edited = funnel.get("edited_after")
    if edited:
        checked = texts["edited"].format(stages=", ".join(edited))
    splits = ""
    if len(split_files) > 1:
        splits = f", in the splits {', '.join(split_files)}, which share no video"
    videos = len({row[_VIDEO_FIELDS[chain]] for row in rows})
    noun = "video" if videos == 1 else "videos"
    prompts: list[str] = []
    for name, digest in funnel["prompts"].items():
        prompts.append(f"`{name}` {digest[:8]}")
    values = {
        "checked": checked,
        "rows": len(rows),
        "videos": f"{videos} {noun}",
        "splits": splits,
        "made": chain,
        "source": texts["source"][chain],
        "today": datetime.now(tz=UTC).date().isoformat(),
        "models": "; ".join(_model_lines(funnel)),
        "prompts": ", ".join(prompts),
        "stages": "\n".join(_stage_lines(funnel)),
    }
    return {section: text.format(**values) for section, text in texts["datasheet"].items()}


def _model_lines(funnel: Mapping[str, Any]) -> list[str]:
    """Return each role with the models that answered, or else the one that was asked."""
    lines: list[str] = []
    for role, use in funnel["models"].items():
        models = list(use["returned"])
        if not models:
            models = [use["asked"]]
        lines.append(f"{role}: {', '.join(models)}")
    return lines


def _stage_lines(funnel: Mapping[str, Any]) -> list[str]:
    """Return a line on each stage with its counts."""
    lines: list[str] = []
    for stage in funnel["stages"]:
        parts = [f"- {stage['name']}: {stage['in']} in, {stage['out']} out"]
        for reason, count in stage["dropped"].items():
            reason_text = reason.replace("_", " ")
            parts.append(f"{count} {reason_text}")
        lines.append("; ".join(parts))
    return lines
