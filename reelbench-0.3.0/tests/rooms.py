"""The rooms, as the package has them: links in a checkout, folders in an sdist (where none lies at the top)."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "reelbench"
ROOMS = sorted(
    path.name
    for path in PACKAGE.iterdir()
    if path.name != "cli" and (path / "__init__.py").is_file()
)


def modules(folder: str) -> list[Path]:
    """The Python files of a room, or of a folder at the top: of `reelbench` those that are in no room."""
    top = PACKAGE / folder if folder in ROOMS else ROOT / folder
    others = {PACKAGE / room for room in ROOMS} - {top}
    return sorted(path for path in top.rglob("*.py") if others.isdisjoint(path.parents))
