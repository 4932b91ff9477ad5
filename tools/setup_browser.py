"""Puts Debian's Chromium in place for the browser tests; elsewhere says why not, and lets the tests skip."""

import os
import shutil
import subprocess
import sys
from pathlib import Path


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
        return "not root; run `sudo apt-get install chromium`"
    if shutil.which("apt-get") is None:
        return "there is no apt-get"
    return None


def _install() -> str | None:
    """Install it; return why that failed, or None."""
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        [
            "apt-get",
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "chromium",
            "fonts-noto-core",
        ],
    ):
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        if done.returncode and "install" in command:
            return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "apt-get failed"
    return None if shutil.which("chromium") else "apt-get installed no chromium"


def main() -> int:
    """Return the exit status: 1 only in CI, where browser tests must not be skipped."""
    if shutil.which("chromium") or shutil.which("chromium-browser"):
        return 0
    why = _why_not() or _install()
    if why is None:
        return 0
    sys.stderr.write(f"no Chromium for the browser tests: {why}\n")
    return 1 if os.environ.get("CI", "").lower() == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
