"""An MCP server through which an agent looks at videos: what they hold, and exact frames of the seconds it names.

It reaches the videos that it was given, each by its id, and nothing else. Every look is logged
before it is answered.
"""

import asyncio
import json
import signal
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from reelbench.base.base_record import first_wrong_field
from reelbench.base.errors import InputError, MediaError, ReelbenchError, first_line, installing
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling
from reelbench.video import look_log
from reelbench.video.frame_store import FrameStore
from reelbench.video.library import Library
from reelbench.video.stored_frames import StoredFrames

if TYPE_CHECKING:
    from mcp import types

MOST = 64  # frames of one look at most: what a reply, and a model's context, hold

_NAMED = 20


class Named(BaseModel):
    """Say how long a video is, its size in pixels, its frames per second and their number."""

    model_config = ConfigDict(extra="forbid")

    video: str = Field(description="Id of the video.")


class Window(Named):
    """Look at n frames, evenly spread from start to end (seconds from the video's first frame), with their times."""

    start: float = Field(ge=0, allow_inf_nan=False, description="Seconds.")
    end: float = Field(allow_inf_nan=False, description="Seconds, after start.")
    n: int = Field(
        ge=1, le=MOST, description="Number of frames; a window that has fewer gives all it has."
    )

    @field_validator("end")
    @classmethod
    def _is_after_start(cls, end: float, known: ValidationInfo) -> float:
        if end <= known.data.get("start", 0):
            raise ValueError("must be after start")
        return end


@dataclass(frozen=True, slots=True)
class Served:
    """The videos that may be looked at, and where looks are written.

    A video is a file, or a row whose video lies as pictures with the library that finds them.
    `question` is the id of the one that is being answered, if anybody said; `size` the most pixels
    of a frame's short side.
    """

    videos: Mapping[str, Path | tuple[Library, Row]]
    log: Path
    question: str | None = None
    size: int | None = None
    store: FrameStore = field(default_factory=FrameStore)

    def info(self, named: Named) -> "list[types.ContentBlock]":
        """Return a video's description; InputError where it is not one of ours or can't be read."""
        from mcp import types

        video = self.videos.get(named.video)
        if isinstance(video, Path):
            from reelbench.video.decoder import VideoFile

            held = VideoFile(video).info.in_words
        else:
            from PIL import Image

            whole = self._stored(named.video, FrameSampling.parse("all,as=images"))
            rate = f"{whole.given} frames ({whole.given / whole.duration:.3f} per second)"
            with Image.open(whole.images[0]) as picture:
                held = (
                    f"pictures, {picture.width} x {picture.height}, {whole.duration:.3f} s, {rate}"
                )
        return [types.TextContent(text=f"{named.video}: {held}")]

    def look(self, window: Window) -> "list[types.ContentBlock]":
        """Return a window's frames with their times, logged; InputError where there is no such video or window."""
        from mcp import types

        spec = f"window:{window.start:.6f}-{window.end:.6f},{window.n},as=images"
        stored = self._stored(
            window.video, FrameSampling.parse(f"{spec},size={self.size}" if self.size else spec)
        )
        times = list(stored.timestamps)
        look = look_log.Look(
            question=self.question,
            video=window.video,
            start=window.start,
            end=window.end,
            times=times,
        )
        look_log.append(self.log, look)
        content: list[types.ContentBlock] = []
        for number, (at, picture) in enumerate(zip(times, stored.images, strict=True), start=1):
            kind = "image/png" if picture.suffix.lower() == ".png" else "image/jpeg"
            words = f"{window.video}: frame {number} of {stored.given}, at {at:.3f} s"
            content += [
                types.TextContent(text=words),
                types.ImageContent(data=b64encode(picture.read_bytes()).decode(), mime_type=kind),
            ]
        return [*content, *(types.TextContent(text=f"note: {note}") for note in stored.notes)]

    @property
    def names(self) -> str:
        """The ids, as many as fit in a line."""
        more = f", … ({len(self.videos)} in all)" if len(self.videos) > _NAMED else ""
        return ", ".join(list(self.videos)[:_NAMED]) + more

    def _stored(self, name: str, sampling: FrameSampling) -> StoredFrames:
        if name not in self.videos:
            raise InputError(f"no video {name!r}; there are {self.names}")
        video = self.videos[name]
        if isinstance(video, Path):
            return self.store.get(video, sampling)
        library, row = video
        stored = library.frames(row, sampling)
        if stored is None:
            raise InputError(f"{name}: none of its pictures can be read")
        return stored


def serve(served: Served) -> None:
    """Answer an agent on stdin and stdout until it hangs up; what goes wrong with a call is one line of its answer.

    InputError where the MCP SDK is not installed.
    """
    try:
        from mcp import types
        from mcp.server.lowlevel import Server
        from mcp.server.stdio import stdio_server
    except ImportError:
        raise InputError(
            f"frames serve: the MCP SDK is not installed; {installing('mcp')}"
        ) from None

    tools = {"info": Named, "frames": Window}

    async def list_tools(*_: object) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=of.__doc__, input_schema=of.model_json_schema())
                for name, of in tools.items()
            ]
        )

    async def call_tool(_: object, call: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            if call.name not in tools:
                raise InputError(f"no tool {call.name!r}; there are {', '.join(tools)}")
            asked = tools[call.name].model_validate(call.arguments or {})
            work = (
                partial(served.look, asked)
                if isinstance(asked, Window)
                else partial(served.info, asked)
            )
            return types.CallToolResult(content=await asyncio.to_thread(work))
        except (ReelbenchError, ValidationError, OSError) as error:
            # One line, without the places of files.
            line = error.reason if isinstance(error, MediaError) else first_line(error)
            line = first_wrong_field(error) if isinstance(error, ValidationError) else line
            return types.CallToolResult(content=[types.TextContent(text=line)], is_error=True)

    server = Server(
        "reelbench",
        version=version("reelbench"),
        instructions=f"Videos: {served.names}.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )

    async def run() -> None:
        async with stdio_server(stdin=_readable(sys.stdin.buffer)) as (requests, replies):  # type: ignore[arg-type]
            await server.run(requests, replies, server.create_initialization_options())

    # A Ctrl-C would else wait for the thread that reads stdin; each look is whole in the log by
    # then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(run())


async def _readable(stdin: BinaryIO) -> AsyncIterator[str]:
    """Yield a client's lines, with a mark for each half of a character: the SDK answers none that has one."""
    while line := await asyncio.to_thread(stdin.readline):
        text = line.decode("utf-8", "replace")
        if "\\u" in text:
            with suppress(ValueError, RecursionError):  # then it is no message at all
                text = (
                    json.dumps(json.loads(text), ensure_ascii=False)
                    .encode("utf-8", "replace")
                    .decode()
                )
        yield text
