"""An image or a video of a message, as bytes or as the file that holds them."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from reelbench.base.files import sha256_once


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image or a video in a message of the chat protocol.

    Attributes:
        kind: The protocol's name of it.
        media_type: Its media type, such as `image/png`.
        data: Its bytes, or the file, which is read when it is sent.
        extra: Further fields of the part, beside the URL. They are part of the key.
    """

    kind: Literal["image_url", "video_url"]
    media_type: str
    data: bytes | Path
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def content(self) -> bytes:
        """Return the bytes."""
        if isinstance(self.data, Path):
            return self.data.read_bytes()
        return self.data

    def data_url(self) -> str:
        """Return the bytes as a data URL."""
        encoded = base64.b64encode(self.content()).decode("ascii")
        return f"data:{self.media_type};base64,{encoded}"

    def sha256(self) -> str:
        """Return the bytes' sha256, in hex. A file is read once in a process."""
        if isinstance(self.data, Path):
            return sha256_once(self.data)
        return hashlib.sha256(self.data).hexdigest()
