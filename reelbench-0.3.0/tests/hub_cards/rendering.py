"""Cards as the tests render them, and how the gold files are written anew.

    .venv/bin/python -m tests.hub_cards.rendering        # then read the difference before you commit it

`gold/<benchmark>` is the card without the data; `gold/<benchmark>.counted` is counted in the mini
files, as if they were the owners'. Two benchmarks have them, a judged one and one of options and
spans: the others differ in their words.
"""

import functools
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

GOLD = Path(__file__).parent / "gold"
HELD = ("curve", "rextime")
NAMES = (
    "curve",
    "dramaqa_cogme",
    "minerva",
    "moviechat",
    "moviecore",
    "rextime",
    "timelens",
    "video_holmes",
)


def render(name: str, folder: Path, *, counted: bool) -> dict[str, bytes]:
    """Render a card to a folder and return its files."""
    from reelbench.hub_cards import card_material, merge
    from reelbench.registry import discovery
    from reelbench.scoring.cognitive_profile import read_tags

    spec, mini = with_mini_as_owners(discovery.get(name))
    tags = mini / "cogme_tags.jsonl"
    labels = (
        {key: found.facets for key, found in read_tags(tags).items()}
        if counted and tags.is_file()
        else None
    )
    merge.write(card_material.gather(spec, mini if counted else None, labels=labels), folder)
    return content(folder)


@functools.cache
def rendered(name: str, *, counted: bool) -> dict[str, bytes]:
    """A card's files, rendered once for all tests that read it."""
    with tempfile.TemporaryDirectory() as folder:
        return render(name, Path(folder) / "card", counted=counted)


def with_mini_as_owners(spec):
    """Return a benchmark's spec as if its mini rows were the owners', and their folder."""
    from reelbench.data import ownership
    from reelbench.hub_cards import card_material

    mini = spec.folder / "mini"
    splits = dict(spec.splits)
    for name, located in card_material.locate_splits(spec, mini).items():
        known = ownership.rows_sha256(ownership.entry_of(spec, row) for row in located.read())
        splits[name] = replace(splits[name], owners_rows=known)
    return replace(spec, splits=splits), mini


def content(folder: Path) -> dict[str, bytes]:
    """Return a folder's files by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def gold(name: str, *, counted: bool) -> Path:
    """Return where a card's gold files are."""
    return GOLD / (f"{name}.counted" if counted else name)


def main() -> None:
    """Write the gold files anew."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["REELBENCH_HOME"] = home
        for name in HELD:
            for counted in (False, True):
                shutil.rmtree(gold(name, counted=counted), ignore_errors=True)
                render(name, gold(name, counted=counted), counted=counted)


if __name__ == "__main__":
    main()
