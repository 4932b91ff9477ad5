"""The versions of Python and of the packages that made the numbers."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

PACKAGES = (
    "reelbench",
    "lmms_eval",
    "numpy",
    "pycocoevalcap",
    "openai",
    "av",
    "transformers",
    "torch",
)


def versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Return name -> version of Python and of the packages that are installed."""
    installed_versions = {"python": python_version()}
    for package in packages:
        installed = _installed_version(package)
        if installed is not None:
            installed_versions[package] = installed
    return installed_versions


@cache
def _installed_version(package: str) -> str | None:
    """Return the version of a package; None where it isn't installed.

    It is read once: each result records eight of them.
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return None
