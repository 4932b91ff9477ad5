from collections.abc import Callable
from pathlib import Path

import pytest

from tests.video import clips


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make a numbered clip, once per session: clip("libx264", "mp4", gop=12, frames=300)."""
    folder = tmp_path_factory.mktemp("clips")
    made: dict[str, Path] = {}

    def make(
        codec: str, container: str, *, gop: int = 12, frames: int = 300, even: bool = True
    ) -> Path:
        name = f"{codec}-{gop}-{frames}-{'even' if even else 'uneven'}.{container}"
        if name not in made:
            ticks = clips.constant(frames) if even else clips.varying(frames)
            made[name] = clips.encode(folder / name, codec=codec, gop=gop, ticks=ticks)
        return made[name]

    return make
