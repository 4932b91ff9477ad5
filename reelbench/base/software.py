"""The versions of Python and of the packages that made the numbers."""

from collections.abc import Iterable
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
        try:
            installed_versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed_versions
