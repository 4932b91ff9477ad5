"""The error of a video that can't be used."""

from pathlib import Path

from reelbench.registry.errors import InputError


class MediaError(InputError):
    """A video or image that can't be read, holds no picture, or takes too long; the message names the file.

    `reason` is the message without the file's name, for a sample's record.
    """

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = Path(path)
        self.reason = reason
        super().__init__(f"{path}: {reason}")


def said(error: Exception) -> str:
    """Return an error's own words in one line, without a file's name; its kind where it has none."""
    return " ".join(str(getattr(error, "strerror", None) or error).split()) or type(error).__name__
