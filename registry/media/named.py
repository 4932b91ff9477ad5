"""Videos by what a user calls them: a file, a folder of files, a benchmark, or one of its tasks."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reelbench.registry import discovery
from reelbench.registry.data import loading
from reelbench.registry.errors import InputError
from reelbench.registry.media.library import SUFFIXES, Library
from reelbench.registry.rows import Row


@dataclass(frozen=True, slots=True)
class Videos:
    """What the names stand for, each once and in their order.

    Attributes:
        files: Video files, each with its id: the benchmark's, or its path in the folder without suffix. One that the
            user named need not be there.
        scenes: Rows whose videos lie as pictures, by the name of the video, with the library that finds them.
        missing: Videos of a benchmark that are not here, as `benchmark: video`.
    """

    files: dict[Path, str] = field(default_factory=dict[Path, str])
    scenes: dict[str, tuple[Library, Row]] = field(default_factory=dict[str, tuple[Library, Row]])
    missing: dict[str, None] = field(default_factory=dict[str, None])

    def __len__(self) -> int:
        return len(self.files) + len(self.scenes)

    def by_id(self) -> dict[str, "Path | tuple[Library, Row]"]:
        """Return each file, or row of a video in pictures, by its id; InputError where two have the same."""
        every: list[tuple[str, Path | tuple[Library, Row]]] = [(name, path) for path, name in self.files.items()]
        every += [(row["video"], (library, row)) for library, row in self.scenes.values()]
        if len(ids := dict(every)) < len(every):
            twice, _ = Counter(name for name, _ in every).most_common(1)[0]
            raise InputError(f"two videos are called {twice!r}; name them in two calls")
        return ids


def videos(
    names: Sequence[str], split: str | None = None, data: Path | None = None, *, question: str | None = None
) -> Videos:
    """Return the videos that the names stand for; `data` is a benchmark's own, `question` the one whose video is meant.

    A benchmark or a task goes before a file or folder of that name here (`./moviecore` is the folder).

    Raises:
        InputError: A folder holds no video; a split or the question is unknown; or there are a split or data and no
            benchmark.
        DataUnavailableError: A benchmark's rows are not here.
    """
    wanted = Videos()
    benchmarks = [name for name in names if discovery.knows(name)]
    if (split is not None or data is not None) and not benchmarks:
        raise InputError("--split and --data are a benchmark's; name one")
    for name in names:
        if name in benchmarks:
            located = loading.locate(name, split, data)
            library = Library(located.spec, located.split, data)
            for row in (row for row in located.read() if question in (None, row["id"])):
                path, said = library.find(row), f"{located.spec.id}: {row['video']}"
                if path is None:
                    wanted.missing[said] = None
                elif library.in_pictures:
                    wanted.scenes.setdefault(said, (library, row))
                else:
                    wanted.files.setdefault(path, row["video"])
        elif Path(name).is_dir():
            files = sorted(path for path in Path(name).rglob("*") if path.suffix in SUFFIXES and path.is_file())
            if not files:
                raise InputError(f"{name}: no video in that folder; looked for {', '.join(SUFFIXES)}")
            for path in files:
                wanted.files.setdefault(path, path.relative_to(name).with_suffix("").as_posix())
        else:
            wanted.files.setdefault(Path(name), Path(name).stem)
    if question is not None and len(benchmarks) == len(names) and not (wanted or wanted.missing):
        raise InputError(f"no question {question!r} in {', '.join(names)}")
    return wanted
