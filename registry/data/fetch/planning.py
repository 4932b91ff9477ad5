"""Planning a fetch: what will be transferred and how much, what is here already, and what is not available."""

import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rich.filesize import decimal

from reelbench.registry.data import download, hub, sources
from reelbench.registry.data.fetch.transfers import Annotations, Archive, HubVideo, OnlineVideo, Transfer, place
from reelbench.registry.data.fetch.verified import VerifiedFiles
from reelbench.registry.data.loading import imported
from reelbench.registry.errors import DataUnavailableError, InputError
from reelbench.registry.media import library as media
from reelbench.registry.media import playable
from reelbench.registry.spec import BenchmarkSpec, HubFile, MediaSource, Source, UrlFile

_NO_YT_DLP = "yt-dlp is not installed: pip install yt-dlp"

Failure = tuple[str, str]
"""What could not be had, and why."""


@dataclass(frozen=True)
class FetchPlan:
    """What a run will transfer, what is here already, and what is not available as things stand."""

    spec: BenchmarkSpec
    split: str
    items: tuple[Transfer, ...]
    here: tuple[str, ...] = ()
    problems: tuple[Failure, ...] = ()

    @property
    def size(self) -> int:
        """Bytes to transfer, as far as known."""
        return sum(item.size or 0 for item in self.items)

    @property
    def unknown(self) -> int:
        """Transfers whose size upstream doesn't say."""
        return sum(item.size is None for item in self.items)

    def summary(self) -> str:
        """Say in one line what is about to happen."""
        total = sum(len(item.names) for item in self.items)
        unknown = f" and {self.unknown} of unknown size" if self.unknown else ""
        return (
            f"{self.spec.id} {self.split}: {total} to fetch, {decimal(self.size)}{unknown}; "
            f"{len(self.here)} here already" + (f"; {len(self.problems)} can't be fetched" if self.problems else "")
        )


def plan(
    spec: BenchmarkSpec,
    split: str,
    *,
    wanted: Sequence[str] = (),
    limit: int | None = None,
    data: Path | None = None,
    refresh: bool = False,
) -> FetchPlan:
    """Plan a fetch: the split's annotations, and the videos of `wanted`.

    The rows name the videos, so a fetch with videos takes two plans: the first without `wanted` brings the annotations.

    Args:
        spec: The benchmark.
        split: One of its splits.
        wanted: Media keys of the rows, as they come; none for annotations only.
        limit: Take only the first so many different videos.
        data: The user's own annotations: nothing is fetched in their place.
        refresh: Ask upstream anew (see `sources.resolve`): annotations, and videos on the Hub that have changed there.

    Raises:
        InputError: The split is unknown, or the user's own data isn't as expected.
    """
    builder = _Builder(spec, split, refresh=refresh)
    builder.annotations(data)
    builder.videos(list(dict.fromkeys(wanted))[:limit], data)
    return FetchPlan(spec, split, tuple(builder.items), tuple(builder.here), tuple(builder.problems))


class _Builder:
    def __init__(self, spec: BenchmarkSpec, split: str, *, refresh: bool) -> None:
        self.spec = spec
        self.split = split
        self.refresh = refresh
        self.items: list[Transfer] = []
        self.here: list[str] = []
        self.problems: list[Failure] = []

    def annotations(self, data: Path | None) -> None:
        source = sources.split_spec(self.spec, self.split).source
        what = f"annotations ({' or '.join(sources.published_files(source))})"
        if not self.refresh and sources.present(self.spec, self.split, data) is not None:
            self.here.append(what)
            return
        if sources.user_data(self.spec, data) is not None:
            sources.resolve(self.spec, self.split, data)
            self.here.append(what)
            return
        try:
            size = self._annotation_size(source)
        except DataUnavailableError as error:
            self.problems.append((what, str(error)))
        else:
            self.items.append(Annotations((what,), size, self.spec, self.split, self.refresh))

    def _annotation_size(self, source: Source) -> int | None:
        if isinstance(source, HubFile) and self.spec.open_data:
            commit = hub.resolve_commit(source.repo_id, source.revision, refresh=self.refresh)
            files = hub.list_files(source.repo_id, commit).files
            return next((files[name].size for name in source.filenames if name in files), None)
        if isinstance(source, UrlFile) and self.spec.open_data:
            if hub.offline():
                raise DataUnavailableError(f"{source.url}: not here and HF_HUB_OFFLINE is set; unset it")
            return download.head(source.url).size
        raise DataUnavailableError(sources.how_to_supply(self.spec, source))

    def videos(self, wanted: list[str], data: Path | None) -> None:
        library = media.Library(self.spec, self.split, data)
        verified = VerifiedFiles(media.fetched_root(self.spec))
        by_source: dict[int, list[str]] = {}
        for key in wanted:
            try:
                found = library.find({"video": key})
            except InputError as error:
                self.problems.append((key, str(error)))
                continue
            number = next((n for n, source in enumerate(self.spec.media) if _is_from(source, key, self.split)), None)
            hashed = number is not None and self.spec.media[number].kind == "hub"
            stale = self.refresh and hashed and found is not None and found.is_relative_to(verified.root)
            if found is not None and not stale and _is_good(found, verified, hashed=hashed):
                self.here.append(key)
            elif number is None:
                self.problems.append((key, f"{self.spec.id} names no place where this video can be had"))
            else:
                by_source.setdefault(number, []).append(key)
        for number, keys in by_source.items():
            source = self.spec.media[number]
            try:
                _PLANNERS[source.kind](self, source, keys, verified)
            except DataUnavailableError as error:
                self.problems.append((_several(keys, source), str(error)))

    def from_hub(self, source: MediaSource, keys: list[str], verified: VerifiedFiles) -> None:
        commit = hub.resolve_commit(source.location, source.revision, refresh=self.refresh)
        listing = hub.list_files(source.location, commit)
        hub.check_access(source.location)
        for key in keys:
            names = _names(source, key)
            name = next((name for name in names if name in listing.files), None)
            if name is None:
                self.problems.append((key, f"{hub.page(source.location)} at {commit[:12]} has no {names[0]}"))
                continue
            target = place(verified.root, source, key, PurePosixPath(name).suffix)
            stated = listing.files[name]
            self.items.append(HubVideo((key,), stated.size, source.location, commit, name, stated, target, verified))

    def from_archive(self, source: MediaSource, keys: list[str], verified: VerifiedFiles) -> None:
        path = download.place(source.location)
        size: int | None = 0
        if download.recorded(path) is None:
            _refuse_offline(source)
            size = download.head(source.location).size
        self.items.append(Archive(tuple(keys), size, source, verified))

    def from_youtube(self, source: MediaSource, keys: list[str], verified: VerifiedFiles) -> None:
        _refuse_offline(source)
        command = yt_dlp()
        if command is None:
            raise DataUnavailableError(_NO_YT_DLP)
        self.items.extend(OnlineVideo((key,), None, source, tuple(command), verified) for key in keys)

    def from_form(self, source: MediaSource, keys: list[str], verified: VerifiedFiles) -> None:
        layout = source.layouts[0] if source.layouts else "{video}"
        folders = source.images and imported(source.images.folders)({"video": keys[0]})
        example = layout.format(video=folders[0] if folders else keys[0])
        self.problems.append(
            (
                _several(keys, source),
                f"ask for them at {source.location}, then put them into {verified.root} "
                f"or a folder of REELBENCH_MEDIA, as {example}" + (f" ({source.note})" if source.note else ""),
            )
        )


_PLANNERS: Mapping[str, Callable[[_Builder, MediaSource, list[str], VerifiedFiles], None]] = {
    "hub": _Builder.from_hub,
    "archive": _Builder.from_archive,
    "youtube": _Builder.from_youtube,
    "form": _Builder.from_form,
}


def _is_good(found: Path, verified: VerifiedFiles, *, hashed: bool) -> bool:
    # Files in the user's own folders are the user's business. In the folder for fetched ones a file must be as it was
    # when it was verified; one that was put there by hand is probed, or compared with the Hub's hash by its transfer.
    if not found.is_relative_to(verified.root) or verified.holds(found):
        return True
    if hashed or playable.broken(found) is not None:
        return False
    verified.add(found)
    return True


def _is_from(source: MediaSource, key: str, split: str) -> bool:
    return (not source.splits or split in source.splits) and (
        source.matches is None or re.search(source.matches, key) is not None
    )


def _several(keys: Sequence[str], source: MediaSource) -> str:
    return f"{keys[0]} ({source.title})" if len(keys) == 1 else f"{len(keys)} videos ({source.title})"


def _names(source: MediaSource, key: str) -> list[str]:
    # A repository may hold a few of its videos in another container than the rest.
    path = (source.path or source.layouts[0]).format(video=key)
    bare = path.removesuffix(PurePosixPath(path).suffix) if PurePosixPath(path).suffix in media.SUFFIXES else path
    return list(dict.fromkeys((path, *(bare + suffix for suffix in media.SUFFIXES))))


def _refuse_offline(source: MediaSource) -> None:
    if hub.offline():
        raise DataUnavailableError(f"{source.title}: not fetched, because HF_HUB_OFFLINE is set; unset it")


def yt_dlp() -> list[str] | None:
    """Return the command of the yt-dlp that is installed (on PATH, or beside this Python); None where there is none."""
    found = shutil.which("yt-dlp") or shutil.which("yt-dlp", path=str(Path(sys.executable).parent))
    return [found] if found else None
