"""`Attachment`: an image or a video of a message, as bytes or as the file that holds them."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from reelbench.base.files import sha256_once


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image or a video in a message, by the chat protocol's name: its bytes, or the file, read when it is sent.

    `extra` are further fields of the part, beside the URL, and part of the key.
    """

    kind: Literal["image_url", "video_url"]
    media_type: str
    data: bytes | Path
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def content(self) -> bytes:
        """Return the bytes."""
        return self.data.read_bytes() if isinstance(self.data, Path) else self.data

    def data_url(self) -> str:
        """Return the bytes as a data URL."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.content()).decode('ascii')}"

    def sha256(self) -> str:
        """Return the bytes' sha256, in hex; a file is read once, however many questions show it."""
        return (
            sha256_once(self.data)
            if isinstance(self.data, Path)
            else hashlib.sha256(self.data).hexdigest()
        )
