"""Puts Debian's Chromium in place for the browser tests; elsewhere says why not, and lets the tests skip."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
"""Chromium without its window: a page takes it a quarter of the processor's time."""
BROWSERS = (SHELL, "chromium", "chromium-browser")
"""Programs that drive the browser tests, the best first."""


def browser() -> str | None:
    """Return the path of the browser that tests drive, or None."""
    for name in BROWSERS:
        path = shutil.which(name)
        if path is not None:
            return path
    return None


def _os_release() -> dict[str, str]:
    path = Path("/etc/os-release")
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return {name: value.strip('"') for name, _, value in (line.partition("=") for line in lines)}


def _why_not() -> str | None:
    release = _os_release()
    if (
        "debian" not in {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
        or release.get("ID") == "ubuntu"
    ):
        return "this is not Debian (Ubuntu's package is a snap); install Chromium by hand"
    if os.geteuid() != 0:
        return "not root; run `sudo apt-get install chromium-headless-shell`"
    if shutil.which("apt-get") is None:
        return "there is no apt-get"
    return None


def _install() -> str | None:
    """Install one; return why that failed, or None."""
    _apt_get("update", "-qq")
    why = None
    for package in (SHELL, "chromium"):
        install = ("install", "-y", "-qq", "--no-install-recommends")
        why = _apt_get(*install, package, "fonts-noto-core")
        if why is None:
            break
    return why


def _apt_get(*words: str) -> str | None:
    """Run apt-get; return the last line of what it said where it failed, or None."""
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", *words]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else "apt-get failed"


def main() -> int:
    """Return the exit status: 1 only in CI, where browser tests must not be skipped."""
    if shutil.which(SHELL):
        return 0
    why = _why_not() or _install()
    if browser() is not None:
        return 0
    sys.stderr.write(f"no Chromium for the browser tests: {why}\n")
    return 1 if os.environ.get("CI", "").lower() == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
