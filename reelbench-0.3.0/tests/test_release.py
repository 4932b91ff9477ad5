"""A tag is published only when everything agrees on the version and the project has an address."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "check_release.py"
FILES = {
    "reelbench/__init__.py": '__version__ = "1.2.3"  # said here\n',
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.3\n",
    "CHANGELOG.md": "# Changelog\n\n## 1.2.3\n\n- Something.\n\n## 1.2.2\n",
    "setup.cfg": "[metadata]\nname = x\nproject_urls =\n    Source = https://example.org/x\n",
}


def check(root, tag, **changed):
    """Run the tool over a project of these files, some of them changed; return its status and its lines."""
    for name, text in {**FILES, **changed}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "tools").mkdir()
    (root / "tools" / TOOL.name).write_bytes(TOOL.read_bytes())
    command = [sys.executable, root / "tools" / TOOL.name, tag]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.splitlines()


def test_what_agrees_may_be_published(tmp_path):
    assert check(tmp_path, "v1.2.3") == (0, [])


@pytest.mark.parametrize(
    ("tag", "changed", "line"),
    [
        ("v1.2.4", {}, "reelbench/__init__.py says 1.2.3, the tag v1.2.4"),
        (
            "v1.2.3",
            {"CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.2\n"},
            "CITATION.cff says 1.2.2",
        ),
        (
            "v1.2.3",
            {"changes/+thing.new.md": "- A thing.\n"},
            "changes/ still has 1 files, the first is +thing.new.md: `make version`",
        ),
        (
            "v1.2.3",
            {"setup.cfg": "[metadata]\nname = x\nproject_urls =\n"},
            "setup.cfg has no project_urls",
        ),
    ],
)
def test_what_lacks_is_one_line(tmp_path, tag, changed, line):
    status, lines = check(tmp_path, tag, **changed)
    assert status == 1
    (only,) = lines
    assert only.startswith(line)


def test_what_stands_in_changes_is_in_the_next_changelog():
    root = TOOL.parent.parent
    fragments = sorted(path for path in (root / "changes").iterdir() if path.suffix == ".md")
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9.9"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "## 9.9.9" in done.stdout
    for path in fragments:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("- "), path.name
        assert all(line in done.stdout for line in lines), (
            f"{path.name}: name it +NAME.moves.md, .new.md or .mends.md"
        )
