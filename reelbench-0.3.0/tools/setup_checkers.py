"""Puts the checkers of the page's tests in place (axe-core, html-validate) with npm; without npm the tests skip."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".node"
PACKAGES = {"axe-core": "4.14.1", "html-validate": "10.5.0"}


def lacking() -> list[str]:
    """Return the packages that are not there yet, as npm names them with their versions."""
    return [
        f"{name}@{version}"
        for name, version in PACKAGES.items()
        if not (FOLDER / "node_modules" / name / "package.json").is_file()
    ]


def main() -> int:
    """Return the exit status: 1 only in CI, where these tests must not be skipped."""
    if not (wanted := lacking()):
        return 0
    npm = shutil.which("npm")
    if npm is None:
        why = "there is no npm"
    else:
        command = [
            npm,
            "install",
            "--prefix",
            FOLDER,
            "--no-save",
            "--no-audit",
            "--no-fund",
            "--silent",
            *wanted,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        why = (
            "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["npm failed"])[-1]
        )
    if why:
        sys.stderr.write(f"no axe-core and html-validate for the page's tests: {why}\n")
        return 1 if os.environ.get("CI", "").lower() == "true" else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
