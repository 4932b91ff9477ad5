"""Whether a benchmark's data and media are on this machine: a quick look that fetches and parses nothing."""

from dataclasses import dataclass
from pathlib import Path

from reelbench.registry.data import sources
from reelbench.registry.home import home
from reelbench.registry.media import library as media
from reelbench.registry.spec import BenchmarkSpec, FileBeside


@dataclass(frozen=True, slots=True)
class Presence:
    """One word or two each, for a table."""

    data: str
    media: str


def find_local(spec: BenchmarkSpec) -> Presence:
    """Return the files of a benchmark that are on this machine."""
    folders = [str(root) for root in media.roots(spec) if root.is_dir() and any(root.iterdir())]
    videos = ", ".join(folders) or "none found; mini clips are made on first use"
    beside = [Path(split.source.path) for split in spec.splits.values() if isinstance(split.source, FileBeside)]
    saved = home() / "rows" / spec.id
    cached = [split for split in spec.splits if any(saved.glob(f"{split}-*"))]
    if (named := sources.user_data(spec, None)) is not None:
        path, origin = named
        return Presence(origin if path.exists() else f"{origin}: {path} is not there", videos)
    if absent := [path for path in beside if not path.is_file()]:
        return Presence(f"{absent[0]} is not there", videos)
    if beside:
        return Presence(", ".join(dict.fromkeys(map(str, beside))), videos)
    if cached:
        return Presence(f"cached: {', '.join(cached)}", videos)
    return Presence("fetched on first use" if spec.open_data else f"on request: set {sources.variable(spec)}", videos)
