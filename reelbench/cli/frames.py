"""`reelbench frames`: show videos, decode frames ahead of a run, and manage the frame store."""

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
    from reelbench.tasks.lmms.adapters import DecodedForm
    from reelbench.video.decoder import VideoFile
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
        size = f"{state.size_bytes / 1e9:.3f} GB of {state.cap_bytes / 1e9:.3f} GB"
        line = f"{state.root}: {number_of(state.entries, 'entry', 'entries')}, {size}"
        if store.shared_address:
            line += f"; shared with {settings.FRAMES_STORE.shown}"
        console.write(line)
        return
    sampling = choice(frames, settings.FRAMES, FrameSampling.parse)
    stored_samplings = store.samplings()
    failed = 0
    for video in _files(videos, split, data):
        try:
            opened = VideoFile(video)
            lines = [f"{video}: {opened.info.in_words}"]
            lines.extend(f"  note: {note}" for note in opened.info.notes)
            if sampling is not None and sampling.decodes:
                lines.append(_line_on_sampling(opened, sampling))
            for stored in store.find_all(video, stored_samplings):
                line = f"  in the store: {stored.sampling}: {stored.given} frames"
                if stored.padding:
                    line += f", the last {stored.padding} repeated"
                lines.append(line)
            console.write("\n".join(lines))
        except InputError as error:
            console.note(str(error))
            failed += 1
    if failed:
        raise typer.Exit(1)


def _line_on_sampling(opened: "VideoFile", sampling: "FrameSampling") -> str:
    """Return a line on the frames that a sampling takes, with their times."""
    times: list[str] = []
    for frame in sampling.pick(opened.timeline):
        seconds = float(opened.timeline.timestamps[frame])
        times.append(f"{seconds:.3f}")
    frames_asked = sampling.frames_asked(opened.timeline)
    counts = f"{frames_asked} frames asked, {len(times)} given"
    return f"  {sampling}: {counts}, at {' '.join(times)} s"


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
    """Decode frames into the store before a run. Failures are listed at the end.

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
    store = FrameStore()
    videos_to_fill = _videos_of(videos, split, data)
    even = False
    if shown_to is not None:
        sampling, even = _form_shown_to(shown_to, sampling, videos, split)
    failures = [f"{video}: its video is not here" for video in videos_to_fill.missing]
    missing_count = len(failures)
    frame_count = 0
    done = 0
    with console.progress(f"frames {sampling}", len(videos_to_fill)) as show:
        for filled in _fill_store(videos_to_fill, sampling, store, engine, workers, even=even):
            if filled.error is not None:
                failures.append(filled.error)
            else:
                done += 1
                frame_count += filled.given
                for note in filled.notes:
                    console.note(f"{filled.video}: {note}")
            show(done + len(failures) - missing_count, "", failed=len(failures))
    counts = f"{number_of(frame_count, 'frame')} of {number_of(done, 'video')}"
    console.write(f"{counts} ({sampling}) are in {store.root}")
    for line in sorted(failures):
        console.note(f"failed: {line}")
    if failures:
        raise typer.Exit(1)


def _form_shown_to(
    adapter: str, sampling: "FrameSampling", names: "Sequence[str]", split: str | None
) -> "DecodedForm":
    """Return the form in which an adapter is shown the frames of all these videos.

    Raises:
        InputError: It is shown some benchmarks in one form and some in another.
    """
    from reelbench.data.loading import find_split
    from reelbench.registry import discovery
    from reelbench.tasks.lmms.adapters import form_for

    row_kinds: set[str] = set()
    for name in names:
        if discovery.is_known_name(name):
            row_kinds.add(find_split(name, split)[0].row_kind)
    if not row_kinds:
        row_kinds.add("")
    forms = {form_for(adapter, sampling, row_kind) for row_kind in row_kinds}
    if len(forms) > 1:
        raise InputError(
            f"--for {adapter}: these benchmarks need different forms; use separate calls"
        )
    return forms.pop()


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
    removed = 0
    if everything:
        removed = store.clear()
    stored_samplings: Sequence[FrameSampling] = ()
    if videos:
        stored_samplings = store.samplings()
    failed = 0
    for video in _files(videos or (), split, data):
        try:
            removed += store.clear(video, stored_samplings)
        except InputError as error:
            console.note(str(error))
            failed += 1
    console.write(f"{number_of(removed, 'entry', 'entries')} removed from {store.root}")
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
    """Serve videos to an agent: an MCP server on stdin and stdout.

    Its tools are `info` and `frames`. The agent sees only these videos, by id: a benchmark's id, or
    the path in the folder without suffix.
    """
    from reelbench.video import mcp_server

    named_videos = _videos_of(videos or (), split, data, question=question)
    for video in named_videos.missing:
        console.note(f"{video}: its video is not here")
    if not named_videos:
        raise InputError("frames serve: no video to look at")
    log.parent.mkdir(parents=True, exist_ok=True)
    # A file that can't be written to is reported before an agent looks.
    log.open("ab").close()
    served = mcp_server.Served(_videos_by_id(named_videos), log, question, size)
    mcp_server.serve(served)


def _videos_by_id(named_videos: "_NamedVideos") -> "dict[str, Path | tuple[Library, Row]]":
    """Return the videos by the ids that an agent names them by.

    Raises:
        InputError: Two have the same id.
    """
    videos: list[tuple[str, Path | tuple[Library, Row]]] = []
    for path, name in named_videos.files.items():
        videos.append((name, path))
    for library, row in named_videos.scenes.values():
        videos.append((row["video"], (library, row)))
    by_id: dict[str, Path | tuple[Library, Row]] = {}
    for name, video in videos:
        if name in by_id:
            raise InputError(f"two videos are called {name!r}; name them in two calls")
        by_id[name] = video
    return by_id


def _files(names: "Sequence[str]", split: str | None, data: Path | None) -> list[Path]:
    """Return the video files that the names stand for.

    A note tells of each video that is missing.

    Raises:
        InputError: Videos lie as folders of pictures.
    """
    named_videos = _videos_of(names, split, data)
    if named_videos.scenes:
        name = next(iter(named_videos.scenes))
        raise InputError(f"{name}: is a folder of pictures, not a file; `frames extract` takes it")
    for video in named_videos.missing:
        console.note(f"{video}: its video is not here")
    return list(named_videos.files)


@dataclass(frozen=True, slots=True)
class _NamedVideos:
    """The videos that names stand for, each once and in their order."""

    files: dict[Path, str] = field(default_factory=dict)
    """File -> the benchmark's id of it, or its path without suffix."""

    scenes: "dict[str, tuple[Library, Row]]" = field(default_factory=dict)
    """Videos that lie as pictures, by name."""

    missing: dict[str, None] = field(default_factory=dict)
    """Videos of a benchmark that are not here, as `benchmark: video`."""

    def __len__(self) -> int:
        return len(self.files) + len(self.scenes)


def _videos_of(
    names: "Sequence[str]",
    split: str | None = None,
    data: Path | None = None,
    *,
    question: str | None = None,
) -> _NamedVideos:
    """Return the videos of files, folders, benchmarks (of one `question`) and tasks.

    A benchmark or a task goes before a file or folder of that name here (`./moviecore` is the
    folder).
    """
    from reelbench.registry import discovery

    named_videos = _NamedVideos()
    benchmarks = [name for name in names if discovery.is_known_name(name)]
    if (split is not None or data is not None) and not benchmarks:
        raise InputError("--split and --data are a benchmark's; name one")
    for name in names:
        if name in benchmarks:
            _add_benchmark(named_videos, name, split, data, question)
        elif Path(name).is_dir():
            _add_folder(named_videos, Path(name), name)
        else:
            named_videos.files.setdefault(Path(name), Path(name).stem)
    is_empty = not named_videos and not named_videos.missing
    if question is not None and len(benchmarks) == len(names) and is_empty:
        raise InputError(f"no question {question!r} in {', '.join(names)}")
    return named_videos


def _add_benchmark(
    named_videos: _NamedVideos,
    name: str,
    split: str | None,
    data: Path | None,
    question: str | None,
) -> None:
    from reelbench.data import loading
    from reelbench.video.library import Library

    located = loading.locate(name, split, data)
    library = Library(located.spec, located.split, data)
    for row in located.read():
        if question is not None and row["id"] != question:
            continue
        path = library.find(row)
        video = f"{located.spec.id}: {row['video']}"
        if path is None:
            named_videos.missing[video] = None
        elif library.in_pictures:
            named_videos.scenes.setdefault(video, (library, row))
        else:
            named_videos.files.setdefault(path, row["video"])


def _add_folder(named_videos: _NamedVideos, folder: Path, name: str) -> None:
    from reelbench.video.media_roots import VIDEO_SUFFIXES, has_video_suffix

    named_as_videos = [path for path in folder.rglob("*") if has_video_suffix(path.name)]
    files = [path for path in named_as_videos if path.is_file()]
    if not files:
        suffixes = ", ".join(VIDEO_SUFFIXES)
        raise InputError(f"{name}: no video in that folder; looked for {suffixes}")
    for path in sorted(files):
        without_suffix = path.relative_to(folder).with_suffix("")
        named_videos.files.setdefault(path, without_suffix.as_posix())


def _fill_store(
    videos: _NamedVideos,
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

    if videos.files:
        yield from fill(
            list(videos.files), sampling, engine=engine, store=store, workers=workers, even=even
        )
    for name, (library, row) in videos.scenes.items():
        try:
            stored = frames_of_row(library, row, sampling, even=even)
        except ReelbenchError as error:
            yield Filled(Path(name), error=f"{name}: {error}")
            continue
        if stored is None:
            yield Filled(Path(name), error=f"{name}: none of its pictures can be read")
        else:
            yield Filled(Path(name), stored.given, stored.notes)
