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
