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
    return Presence(_data(spec), _media(spec))


def _data(spec: BenchmarkSpec) -> str:
    if (named := sources.user_data(spec, None)) is not None:
        path, origin = named
        return f"{origin}" if path.exists() else f"{origin}: {path} is not there"
    beside = [Path(split.source.path) for split in spec.splits.values() if isinstance(split.source, FileBeside)]
    if beside:
        absent = [path for path in beside if not path.is_file()]
        return f"{absent[0]} is not there" if absent else ", ".join(dict.fromkeys(map(str, beside)))
    saved = home() / "rows" / spec.id
    here = [split for split in spec.splits if any(saved.glob(f"{split}-*"))]
    if here:
        return f"cached: {', '.join(here)}"
    return "fetched on first use" if spec.open_data else f"on request: set {sources.variable(spec)}"


def _media(spec: BenchmarkSpec) -> str:
    folders = [root for root in media.roots(spec) if root.is_dir() and any(root.iterdir())]
    return ", ".join(str(root) for root in folders) if folders else "none found; mini clips are made on first use"
