"""Looks whether a tag may be published: the version is said alike everywhere, and the project has an address.

    python tools/check_release.py v1.2.3

It needs nothing but Python. Every point that lacks is one line on stderr; the status is then 1.
"""

import configparser
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAID = {
    "CITATION.cff": r"^version: (\S+)$",
    "CHANGELOG.md": r"^## (\d\S*)",  # the newest section that has a number
}


def lacking(tag: str, root: Path = ROOT) -> list[str]:
    """Return why `tag` (`v1.2.3`) can't be published from `root`, a line for each reason."""
    lines: list[str] = []
    version = _match(root / "reelbench" / "__init__.py", r'^__version__ = "(.+?)"')
    if tag != f"v{version}":
        lines.append(
            f"reelbench/__init__.py says {version}, the tag {tag}: tag the commit that sets the "
            "version"
        )
    for name, pattern in SAID.items():
        if (stated := _match(root / name, pattern)) != version:
            lines.append(f"{name} says {stated}, reelbench/__init__.py {version}: make them one")
    if fragments := sorted(path.name for path in (root / "changes").glob("*.md")):
        lines.append(
            f"changes/ still has {len(fragments)} files, the first is {fragments[0]}: `make "
            "version` puts them into CHANGELOG.md"
        )
    config = configparser.ConfigParser()
    config.read(root / "setup.cfg", encoding="utf-8")
    addresses = config["metadata"].get("project_urls", "").strip()
    if not addresses:
        lines.append(
            "setup.cfg has no project_urls: give the repository's address before anything is "
            "published"
        )
    return lines


def _match(path: Path, pattern: str) -> str | None:
    match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else None


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and one tag
        sys.exit("give one tag: python tools/check_release.py v1.2.3")
    sys.exit("\n".join(lacking(sys.argv[1])) or 0)
