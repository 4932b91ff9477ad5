"""`reelbench frames`: what a video holds, its frames decoded ahead of a run, and the store they are kept in."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base import settings
from reelbench.base.errors import InputError, number_of
from reelbench.terminal import console
from reelbench.terminal.option_groups import Engine, Kind, choice, reports_status

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reelbench.registry.rows import Row
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.fill_store import Filled
    from reelbench.video.frame_store import FrameStore
    from reelbench.video.library import Library


Videos = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="VIDEO|FOLDER|NAME...", help="Video files, folders, benchmarks or tasks."
    ),
]
Split = Annotated[
    str | None,
    typer.Option("--split", help="Split; default: each benchmark's main one."),
    Kind.ROWS,
]
Data = Annotated[
    Path | None,
    typer.Option("--data", help="Path of a benchmark's data, if it isn't found automatically."),
]
Spec = Annotated[
    str | None,
    typer.Option(
        "--frames",
        metavar="SPEC",
        help="uniform:N, fps:F[,max=N], keyframe:N, window:START-END,N or all; "
        "options size=PIXELS, as=clip|images, audio=keep|drop. By default "
        "REELBENCH_FRAMES.",
    ),
    Kind.FRAMES,
]


def info(
    videos: Videos = None, *, frames: Spec = None, split: Split = None, data: Data = None
) -> None:
    """Show what videos contain and which frames are stored.

    Without videos, how full the store is.
    """
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.decoder import VideoFile
    from reelbench.video.frame_store import FrameStore

    store = FrameStore()
    if not videos:
        state = store.info()
        full = f"{state.size_bytes / 1e9:.3f} GB of {state.cap_bytes / 1e9:.3f} GB"
        console.write(f"{state.root}: {number_of(state.entries, 'entry', 'entries')}, {full}")
        return
    sampling = choice(frames, settings.FRAMES, FrameSampling.parse)
    failed, stored = 0, store.samplings()
    for video in _files(videos, split, data):
        try:
            opened = VideoFile(video)
            lines = [
                f"{video}: {opened.info.in_words}",
                *(f"  note: {note}" for note in opened.info.notes),
            ]
            if sampling is not None and sampling.decodes:
                times = [
                    float(opened.timeline.timestamps[frame])
                    for frame in sampling.pick(opened.timeline)
                ]
                asked = f"{sampling.frames_asked(opened.timeline)} frames asked, {len(times)} given"
                lines.append(f"  {sampling}: {asked}, at {' '.join(f'{at:.3f}' for at in times)} s")
            for kept in store.find_all(video, stored):
                repeats = f", the last {kept.padding} repeated" if kept.padding else ""
                lines.append(f"  in the store: {kept.sampling}: {kept.given} frames{repeats}")
            console.write("\n".join(lines))
        except InputError as error:
            console.note(str(error))
            failed += 1
    if failed:
        raise typer.Exit(1)


@reports_status
def extract(
    videos: Videos = None,
    *,
    frames: Spec = None,
    split: Split = None,
    data: Data = None,
    shown_to: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="ADAPTER",
            help="Store the form in which this adapter of lmms-eval's is shown them,"
            " or `ask`, so that a run decodes nothing again.",
        ),
    ] = None,
    engine: Engine = "pool",
    workers: Annotated[int | None, typer.Option(help="Videos decoded at once.", min=1)] = None,
) -> None:
    """Decode frames into the store before a run; failures are listed at the end.

    Stored frames are not decoded again: rerun to resume.
    """
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.frame_store import FrameStore

    sampling = choice(frames, settings.FRAMES, FrameSampling.parse)
    if not videos:
        raise InputError("frames extract: no videos; give their paths, or a benchmark's name")
    if sampling is None or not sampling.decodes:
        raise InputError(
            "frames extract: no frames are asked for; give --frames, e.g. --frames uniform:32"
        )
    store, wanted, even = FrameStore(), _videos_of(videos, split, data), False
    if shown_to is not None:
        from reelbench.data.loading import find_split
        from reelbench.registry import discovery
        from reelbench.tasks.lmms.adapters import form_for

        kinds = {find_split(name, split)[0].row_kind for name in videos if discovery.knows(name)}
        (form, *others) = {form_for(shown_to, sampling, kind) for kind in kinds or {""}}
        if others:
            raise InputError(
                f"--for {shown_to}: these benchmarks are shown in different forms; name them in "
                "several calls"
            )
        sampling, even = form
    failed = [f"{video}: its video is not here" for video in wanted.missing]
    given = done = 0
    with console.progress(f"frames {sampling}", len(wanted)) as show:
        for filled in _fill_store(wanted, sampling, store, engine, workers, even=even):
            if filled.error is not None:
                failed.append(filled.error)
            else:
                done, given = done + 1, given + filled.given
                for note in filled.notes:
                    console.note(f"{filled.video}: {note}")
            show(done + len(failed) - len(wanted.missing), "", failed=len(failed))
    console.write(
        f"{number_of(given, 'frame')} of {number_of(done, 'video')} ({sampling}) are in "
        f"{store.root}"
    )
    for line in sorted(failed):
        console.note(f"failed: {line}")
    if failed:
        raise typer.Exit(1)


def clear(
    videos: Videos = None,
    *,
    split: Split = None,
    data: Data = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove everything in the store.")
    ] = False,
) -> None:
    """Remove the frames of videos from the store, or with --all everything in it."""
    from reelbench.video.frame_store import FrameStore

    store = FrameStore()
    if bool(videos) == everything:
        raise InputError(
            f"frames clear: name videos, or give --all to remove all {store.info().entries} entries"
        )
    gone, failed = store.clear() if everything else 0, 0
    stored = store.samplings() if videos else ()
    for video in _files(videos or (), split, data):
        try:
            gone += store.clear(video, stored)
        except InputError as error:
            console.note(str(error))
            failed += 1
    console.write(f"{number_of(gone, 'entry', 'entries')} removed from {store.root}")
    if failed:
        raise typer.Exit(1)


def serve_frames(
    videos: Videos,
    *,
    log: Annotated[
        Path,
        typer.Option(
            "--log", metavar="FILE", help="File to which each request is added (JSON Lines)."
        ),
    ],
    question: Annotated[
        str | None,
        typer.Option(
            "--question", metavar="ID", help="Question being answered: serve only its video."
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            "--size", metavar="PIXELS", min=16, help="Maximum pixels of a frame's short side."
        ),
        Kind.FRAMES,
    ] = None,
    split: Split = None,
    data: Data = None,
) -> None:
    """Serve videos to an agent: an MCP server on stdin and stdout, with the tools `info` and `frames`.

    The agent sees only these videos, by id: a benchmark's id, or the path in the folder without
    suffix.
    """
    from reelbench.video import mcp_server

    wanted = _videos_of(videos or (), split, data, question=question)
    for video in wanted.missing:
        console.note(f"{video}: its video is not here")
    if not wanted:
        raise InputError("frames serve: no video to look at")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.open("ab").close()  # what can't be written to is said before an agent looks
    every: list[tuple[str, Path | tuple[Library, Row]]] = [
        (name, path) for path, name in wanted.files.items()
    ]
    every += [(row["video"], (library, row)) for library, row in wanted.scenes.values()]
    if len(ids := dict(every)) < len(every):
        twice, _ = Counter(name for name, _ in every).most_common(1)[0]
        raise InputError(f"two videos are called {twice!r}; name them in two calls")
    mcp_server.serve(mcp_server.Served(ids, log, question, size))


def _files(names: "Sequence[str]", split: str | None, data: Path | None) -> list[Path]:
    """Return the video files that the names stand for.

    InputError where videos are pictures, or not here.
    """
    wanted = _videos_of(names, split, data)
    if wanted.scenes:
        raise InputError(
            f"{next(iter(wanted.scenes))}: is a folder of pictures, not a file; `frames extract` "
            "takes it"
        )
    for video in wanted.missing:
        console.note(f"{video}: its video is not here")
    return list(wanted.files)


@dataclass(frozen=True, slots=True)
class _Named:
    """What names of videos stand for, each once and in their order."""

    files: dict[Path, str] = field(
        default_factory=dict
    )  # with the benchmark's id, or the path without suffix
    scenes: "dict[str, tuple[Library, Row]]" = field(
        default_factory=dict
    )  # those that lie as pictures, by name
    missing: dict[str, None] = field(default_factory=dict)  # of a benchmark, as `benchmark: video`

    def __len__(self) -> int:
        return len(self.files) + len(self.scenes)


def _videos_of(
    names: "Sequence[str]",
    split: str | None = None,
    data: Path | None = None,
    *,
    question: str | None = None,
) -> _Named:
    """Return the videos of files, folders, benchmarks (of one `question`) and tasks.

    A benchmark or a task goes before a file or folder of that name here (`./moviecore` is the
    folder).
    """
    from reelbench.data import loading
    from reelbench.registry import discovery
    from reelbench.video.library import Library
    from reelbench.video.media_roots import VIDEO_SUFFIXES, has_video_suffix

    wanted = _Named()
    benchmarks = [name for name in names if discovery.knows(name)]
    if (split is not None or data is not None) and not benchmarks:
        raise InputError("--split and --data are a benchmark's; name one")
    for name in names:
        if name in benchmarks:
            located = loading.locate(name, split, data)
            library = Library(located.spec, located.split, data)
            for row in (row for row in located.read() if question in (None, row["id"])):
                path, video = library.find(row), f"{located.spec.id}: {row['video']}"
                if path is None:
                    wanted.missing[video] = None
                elif library.in_pictures:
                    wanted.scenes.setdefault(video, (library, row))
                else:
                    wanted.files.setdefault(path, row["video"])
        elif Path(name).is_dir():
            files = sorted(
                path
                for path in Path(name).rglob("*")
                if has_video_suffix(path.name) and path.is_file()
            )
            if not files:
                raise InputError(
                    f"{name}: no video in that folder; looked for {', '.join(VIDEO_SUFFIXES)}"
                )
            for path in files:
                wanted.files.setdefault(path, path.relative_to(name).with_suffix("").as_posix())
        else:
            wanted.files.setdefault(Path(name), Path(name).stem)
    if question is not None and len(benchmarks) == len(names) and not (wanted or wanted.missing):
        raise InputError(f"no question {question!r} in {', '.join(names)}")
    return wanted


def _fill_store(
    wanted: _Named,
    sampling: "FrameSampling",
    store: "FrameStore",
    engine: str,
    workers: int | None,
    *,
    even: bool,
) -> "Iterator[Filled]":
    from reelbench.base.errors import ReelbenchError
    from reelbench.video.fill_store import Filled, fill
    from reelbench.video.row_frames import frames_of_row

    if wanted.files:
        yield from fill(
            list(wanted.files), sampling, engine=engine, store=store, workers=workers, even=even
        )
    for name, (library, row) in wanted.scenes.items():
        try:
            stored = frames_of_row(library, row, sampling, even=even)
        except ReelbenchError as error:
            yield Filled(Path(name), error=f"{name}: {error}")
            continue
        if stored is None:
            yield Filled(Path(name), error=f"{name}: none of its pictures can be read")
        else:
            yield Filled(Path(name), stored.given, stored.notes)
