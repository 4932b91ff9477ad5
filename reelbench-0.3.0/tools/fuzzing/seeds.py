"""Honest inputs, to be damaged: predictions in all formats, results, cards, archives, small real videos.

What takes long to make is made once and kept under `$REELBENCH_HOME`, which the processes of a run
share.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from reelbench.base.files import sha256_of, write_text, written_aside
from reelbench.base.settings import home
from reelbench.data import loading
from reelbench.registry import discovery

FILES = {
    "curve": "curve.json",
    "dramaqa_cogme": "AnotherMissOhQA_val_set.json",
    "moviechat": "test.json",
    "moviecore": "test.json",
    "rextime": "rextime_val.json",
}
REFERENCES = {name: discovery.get(name).folder / "mini" / file for name, file in FILES.items()}
TAGS = discovery.get("dramaqa_cogme").folder / "mini" / "cogme_tags.jsonl"
FILMS = ("a", "b", "c")
CLIPS = (
    ("libx264", "mp4"),
    ("libx264", "mkv"),
    ("libx264", "avi"),
    ("libx264", "ts"),
    ("libx265", "mov"),
)
CLIPS += (("libvpx-vp9", "webm"), ("mpeg4", "avi"))

ANSWERS = (
    "B",
    "(B) it rained",
    "The answer is B, from 3.0 to 12.5 seconds.",
    '{"answer": "B", "span": [3.0, 12.5]}',
    '```json\n{"choice": "B", "relevant_windows": [[3, 12]], "score": 3}\n```',
    "<think>A is wrong.\nC is wrong.</think>\n<answer>B</answer><span>[3.0, 12.5]</span>",
    "\\boxed{B}, between 00:03 and 1:02:12,500",
    "Start: 3.0 s, End: 12.0 s. So the final answer is **B**.",
    "答案是B，从第3秒到第12秒。",
    '{"score": 3}',
    "[THINK]Good.[/THINK]{'score': 3}",
)
YAML = (
    "a: &a [*a]",
    "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]",
    "date: 2001-02-30",
    "n: !!int foo",
    "? [a]\n: b",
    "license: [mit, null, {a: b}]",
    "configs: 7",
    "configs:\n- config_name: [default]\n  data_files: x",
    "language: {en: 1}",
    "x: " + "[" * 60 + "]" * 60,
    "- a",
    "null",
    "tags: !!python/object/apply:os.getcwd []",
)


def rows(name: str) -> list[dict[str, Any]]:
    """Return a benchmark's mini rows."""
    return list(loading.locate(name, "mini").read())


def predictions(name: str, draw: Random) -> Any:  # noqa: ANN401 - any JSON value
    """Return answers, right ones and others, as the owners' file has them."""
    asked = rows(name)
    if name == "rextime":
        return [
            {
                "qid": row["id"],
                "pred_relevant_windows": [row["span"]],
                "ans": draw.choice((row["answer"], "A")),
            }
            for row in asked
        ]
    if name == "dramaqa_cogme":
        return [{"qid": row["id"], "correct_idx": draw.randrange(5)} for row in asked]
    if name == "curve":
        return [{"key": row["id"], "pred": draw.choice((row["answer"], "x"))} for row in asked]
    if draw.random() < 0.5:  # noqa: PLR2004
        return {
            row["id"]: {"video": row["video"], "question": row["question"], "pred": "x"}
            for row in asked
        }
    return [
        {"question_id": row["id"], "video": row["video"], "pred": row["answer"]} for row in asked
    ]


def table(name: str, draw: Random) -> list[dict[str, Any]]:
    """Return answers as texts, under any of the names that their columns may have."""
    identity, text = draw.choice(
        (("id", "prediction"), ("question_id", "response"), ("qid", "prediction"))
    )
    return [{identity: row["id"], text: draw.choice(ANSWERS), "note": "x"} for row in rows(name)]


@cache
def result(name: str, model: str = "org/model") -> Path:
    """Return an honest result's folder."""
    from reelbench.tasks.score import Options, RunMetadata, score_files
    from reelbench.tasks.submissions import Inputs

    folder = home() / "fuzz" / f"{name}-{model.replace('/', '-')}"
    if not folder.is_dir():
        path = folder.with_suffix(".json")
        write_text(path, json.dumps(predictions(name, Random(1))))  # noqa: S311
        made = score_files(
            name,
            Inputs(path, split="mini"),
            Options(overlap=False),
            metadata=RunMetadata(model=model),
        )
        with written_aside(folder) as aside:
            made.write(aside)
    return folder


def fit_hashes(folder: Path) -> None:
    """Make a result's hashes fit its files again, as somebody would who edits them on purpose."""
    for name, states in (("result.json", {"samples.jsonl": ("provenance", "samples_sha256")}),):
        try:
            document = json.loads((folder / name).read_bytes())
            for file, path in states.items():
                place = document
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = sha256_of(folder / file)
            (folder / name).write_text(json.dumps(document), encoding="utf-8")
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            continue  # damaged beyond that


@cache
def rendered(name: str) -> Any:  # noqa: ANN401 - a Card
    """Return a benchmark's card."""
    from reelbench.hub_cards import card, card_material

    spec = discovery.get(name)
    return card.render(card_material.gather(spec, None))


@cache
def card(name: str) -> str:
    """Return a README that has a card of ours, with words of people's around it."""
    from reelbench.hub_cards import merge

    text = merge.merge_card(
        rendered(name), "---\nlicense: mit\nextra: [1, 2]\n---\n# Mine\n\nWords of people.\n"
    ).text
    return f"{text}\nMore words.\n"


@cache
def clips() -> list[Path]:
    """Return small real videos, 60 frames in each container and codec."""
    from tests.video import clips as made

    folder = home() / "fuzz" / "clips"
    folder.mkdir(parents=True, exist_ok=True)
    for codec, container in CLIPS:
        path = folder / f"{codec}.{container}"
        if not path.is_file():
            with written_aside(path) as aside:
                # FFmpeg tells the container by the suffix.
                whole = made.encode(
                    aside.with_suffix(path.suffix),
                    codec=codec,
                    gop=12,
                    ticks=made.constant(60, fps=10),
                )
                whole.replace(aside)
    return sorted(folder.glob("*.*"))


def tar(draw: Random) -> bytes:
    """Return an archive of the films, with some that nobody asked for and members that are not files."""
    data = next(path for path in clips() if path.name == "libx264.mp4").read_bytes()
    packed = io.BytesIO()
    kinds = (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT)
    with tarfile.open(fileobj=packed, mode="w", format=draw.choice(kinds)) as made:
        for name in (*FILMS, "../../a", "/b", "c" * 90):
            member = tarfile.TarInfo(draw.choice(("", "release/")) + f"videos/{name}.mp4")
            member.type = draw.choice(
                (*(tarfile.REGTYPE,) * 8, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE)
            )
            member.linkname = draw.choice(("/etc/passwd", "videos/a.mp4", "../../x"))
            member.size = len(data) if member.isreg() else 0
            made.addfile(member, io.BytesIO(data) if member.isreg() else None)
    return packed.getvalue()


def pack(data: bytes, kind: str) -> bytes:
    """Return bytes packed as `kind` says, "" for not at all."""
    return {"": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind](data)


@contextmanager
def home_in(folder: Path) -> Iterator[None]:
    """Let Reelbench's home be elsewhere for a while."""
    before = os.environ["REELBENCH_HOME"]
    os.environ["REELBENCH_HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ["REELBENCH_HOME"] = before
