"""What a chain made, as a benchmark: its rows in splits, the `benchmark.yaml` that declares them, and a datasheet."""

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
"""Chain -> the file with its rows."""

_REST = ("train", "test", "val", "rest")
"""What the split is called that nobody named a share for: the first of these that is free."""

_SLACK = 1e-9
"""By which shares may miss 1 together, as 0.7 and 0.2 and 0.1 do."""

_WINDOW = re.compile(r"_\d+(?:\.\d+)?_\d+(?:\.\d+)?$")
"""What ends the name of a part of a video (`<video>_60.0_210.0`, as QVHighlights has them)."""


@dataclass(frozen=True, slots=True)
class SplitShares:
    """Share of the videos by split; what they leave is a split of its own."""

    shares: Mapping[str, float]

    @classmethod
    def parse(cls, given: Sequence[str]) -> "SplitShares":
        """Read `NAME=SHARE` texts; InputError where one is none, a name comes twice, or they are more than all."""
        shares: dict[str, float] = {}
        for text in given:
            name, _, share = text.partition("=")
            if (
                not re.fullmatch(r"[A-Za-z0-9][\w-]*", name)
                or name.startswith("mini")
                or name in shares
            ):
                raise InputError(
                    f"--split {text}: expected NAME=SHARE, such as test=0.2, each name once and none mini"
                )
            try:
                shares[name] = float(share)
            except ValueError:
                raise InputError(
                    f"--split {text}: {share!r} is no share; expected one between 0 and 1"
                ) from None
        if (
            any(not 0 < share <= 1 for share in shares.values())
            or sum(shares.values()) > 1 + _SLACK
        ):
            raise InputError(
                f"--split {' '.join(given)}: shares are above 0, and 1 together at most"
            )
        return cls(shares)

    def split_videos(self, videos: Iterable[str]) -> dict[str, str]:
        """Return the split of each video, the same whenever the videos are; parts of a video go together.

        Raises:
            InputError: There are fewer videos than splits.
        """
        names = sorted(set(videos))
        whole = {_WINDOW.sub("", name) for name in names}
        drawn = sorted(whole, key=lambda name: hashlib.sha256(name.encode()).digest())
        splits = list(self.shares)
        if sum(self.shares.values()) < 1 - _SLACK:
            splits.append(next(name for name in _REST if name not in self.shares))
        if len(whole) < len(splits):
            videos = number_of(len(whole), "video")
            raise InputError(
                f"{videos} can't be parted into {len(splits)} splits ({', '.join(splits)})"
            )
        counts = {split: max(1, round(share * len(whole))) for split, share in self.shares.items()}
        while sum(counts.values()) > len(whole) - (len(splits) - len(counts)):
            counts[max(counts, key=lambda split: counts[split])] -= 1
        taken = [split for split, count in counts.items() for _ in range(count)]
        places = dict(zip(drawn, taken + [splits[-1]] * len(drawn), strict=False))
        return {name: places[_WINDOW.sub("", name)] for name in names}


def write(
    made: MadeBy, folder: Path, shares: SplitShares, funnel: Mapping[str, Any], media: Path | None
) -> str | None:
    """Declare what a chain wrote to a folder as a benchmark; return its id, None where the chain made no row.

    Raises:
        InputError: There are fewer videos than splits.
    """
    rows = read_json(folder / FILES[made])
    entries = list(rows.values()) if isinstance(rows, dict) else rows
    if not entries:
        return None
    video = "vid" if made == "moments" else "video"
    files = {"test": FILES[made]}
    if shares.shares:
        places = shares.split_videos(entry[video] for entry in entries)
        files = {
            split: f"rows_{split}.json"
            for split in dict.fromkeys([*shares.shares, *places.values()])
        }
        for split, file in files.items():
            write_json(folder / file, [entry for entry in entries if places[entry[video]] == split])
    # The folder's name, unless an installed benchmark or task has it.
    name = re.sub(r"\W+", "_", folder.resolve().name.lower(), flags=re.ASCII).strip("_")
    name = name if re.match(r"[a-z]", name) else f"made_{name}".rstrip("_")
    here = str((folder / benchmark_file.NAME).resolve())
    taken = {
        spec.id for spec in discovery.specs().values() if str(Path(spec.file).resolve()) != here
    }
    taken |= {
        task.name for spec in discovery.specs().values() if spec.id in taken for task in spec.tasks
    }
    name = f"made_{name}" if name in taken else name
    said = studio_data("made.yaml")
    options = made == "moments" and any(entry.get("options") for entry in entries)
    by_split = "".join(
        f"  {split}: {{source: {{file: {file}}}}}\n" for split, file in files.items()
    )
    declaration = said["declaration"].format(
        name=name,
        made=made,
        rows=said["rows"]["moments with options" if options else made],
        file=next(iter(files.values())),
        splits=f"splits:\n{by_split}" if len(files) > 1 else "",
    )
    write_text(folder / benchmark_file.NAME, declaration)
    if media is not None:
        containment.allow(folder, media)
    videos = len({entry[video] for entry in entries})
    models = (
        f"{role}: {', '.join(use['returned']) or use['asked']}"
        for role, use in funnel["models"].items()
    )
    stages = (
        f"- {stage['name']}: {stage['in']} in, {stage['out']} out"
        + "".join(
            f"; {number} {reason.replace('_', ' ')}" for reason, number in stage["dropped"].items()
        )
        for stage in funnel["stages"]
    )
    edited = funnel.get("edited_after")
    texts = {
        "checked": said["edited"].format(stages=", ".join(edited)) if edited else said["checked"],
        "rows": len(entries),
        "videos": f"{videos} video{'s' * (videos != 1)}",
        "splits": f", in the splits {', '.join(files)}, which share no video"
        if len(files) > 1
        else "",
        "made": made,
        "source": said["source"][made],
        "today": datetime.now(tz=UTC).date().isoformat(),
        "models": "; ".join(models),
        "prompts": ", ".join(
            f"`{name}` {digest[:8]}" for name, digest in funnel["prompts"].items()
        ),
        "stages": "\n".join(stages),
    }
    written = {section: text.format(**texts) for section, text in said["datasheet"].items()}
    categories = ["video-text-to-text", *(["multiple-choice"] if made == "moments" else [])]
    write_text(
        folder / datasheet_form.FILE,
        datasheet_form.as_text(written, categories=categories, creators=["machine-generated"]),
    )
    return name
