"""An MCP server through which an agent looks at videos: their content, and frames of a window.

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
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from reelbench.base.base_record import first_wrong_field
from reelbench.base.errors import (
    InputError,
    MediaError,
    ReelbenchError,
    first_line,
    installing,
    printable,
)
from reelbench.base.picture_files import opened
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling
from reelbench.video import look_log
from reelbench.video.frame_store import FrameStore
from reelbench.video.library import Library
from reelbench.video.row_frames import frames_of_row
from reelbench.video.stored_frames import StoredFrames

if TYPE_CHECKING:
    from mcp import types

MOST = 64
"""Frames of one look at most: what a reply, and a model's context, hold."""

_NAMED = 20


class Named(BaseModel):
    """The arguments of the tool `info`."""

    model_config = ConfigDict(extra="forbid")

    video: str = Field(description="Id of the video.")


class Window(Named):
    """The arguments of the tool `frames`."""

    start: float = Field(ge=0, allow_inf_nan=False, description="Seconds.")
    end: float = Field(allow_inf_nan=False, description="Seconds, after start.")
    n: int = Field(
        ge=1, le=MOST, description="Number of frames; a window that has fewer gives all it has."
    )

    @field_validator("end")
    @classmethod
    def _is_after_start(cls, end: float, info: ValidationInfo) -> float:
        if end <= info.data.get("start", 0):
            raise ValueError("must be after start")
        return end


class _Tool(NamedTuple):
    """A tool's arguments, and what an agent is told of it."""

    arguments: type[Named]
    description: str


_TOOLS = {
    "info": _Tool(
        Named,
        "Say how long a video is, its size in pixels, its frames per second and their number.",
    ),
    "frames": _Tool(
        Window,
        "Look at n frames, evenly spread from start to end (seconds from the video's first frame), "
        "with their times.",
    ),
}


@dataclass(frozen=True, slots=True)
class Served:
    """The videos that may be looked at, and where looks are written."""

    videos: Mapping[str, Path | tuple[Library, Row]]
    """A file each, or a row whose video lies as pictures with the library that finds them."""

    log: Path

    question: str | None = None
    """Id of the question that is being answered, if anybody said."""

    size: int | None = None
    """The most pixels of a frame's short side."""

    store: FrameStore = field(default_factory=FrameStore)

    def info(self, named: Named) -> "list[types.ContentBlock]":
        """Return a video's description.

        Raises:
            InputError: It is not one of ours or can't be read.
        """
        from mcp import types

        video = self.videos.get(named.video)
        if isinstance(video, Path):
            from reelbench.video.decoder import VideoFile

            content = VideoFile(video).info.in_words
        else:
            content = self._describe_pictures(named.video)
        return [types.TextContent(text=f"{named.video}: {content}")]

    def _describe_pictures(self, name: str) -> str:
        stored = self._stored_frames(name, FrameSampling.parse("all,as=images"))
        fps = stored.given / stored.duration
        with opened(stored.images[0]) as picture:
            size = f"{picture.width} x {picture.height}"
        return (
            f"pictures, {size}, {stored.duration:.3f} s, {stored.given} frames "
            f"({fps:.3f} per second)"
        )

    def look(self, window: Window) -> "list[types.ContentBlock]":
        """Return a window's frames with their times, and log the look.

        Raises:
            InputError: There is no such video or window.
        """
        from mcp import types

        spec = f"window:{window.start:.6f}-{window.end:.6f},{window.n},as=images"
        if self.size:
            spec += f",size={self.size}"
        stored = self._stored_frames(window.video, FrameSampling.parse(spec))
        look = look_log.Look(
            question=self.question,
            video=window.video,
            start=window.start,
            end=window.end,
            times=list(stored.timestamps),
        )
        look_log.append(self.log, look)
        content: list[types.ContentBlock] = []
        frames = zip(stored.timestamps, stored.images, strict=True)
        for number, (seconds, picture) in enumerate(frames, start=1):
            text = f"{window.video}: frame {number} of {stored.given}, at {seconds:.3f} s"
            content.append(types.TextContent(text=text))
            mime_type = "image/jpeg"
            if picture.suffix.lower() == ".png":
                mime_type = "image/png"
            data = b64encode(picture.read_bytes()).decode()
            content.append(types.ImageContent(data=data, mime_type=mime_type))
        content += [types.TextContent(text=f"note: {note}") for note in stored.notes]
        return content

    @property
    def names(self) -> str:
        """The ids, as many as fit in a line."""
        names = ", ".join(map(printable, list(self.videos)[:_NAMED]))
        if len(self.videos) > _NAMED:
            names += f", … ({len(self.videos)} in all)"
        return names

    def _stored_frames(self, name: str, sampling: FrameSampling) -> StoredFrames:
        if name not in self.videos:
            raise InputError(f"no video {name!r}; there are {self.names}")
        video = self.videos[name]
        if isinstance(video, Path):
            return self.store.get(video, sampling)
        library, row = video
        stored = frames_of_row(library, row, sampling)
        if stored is None:
            raise InputError(f"{name}: none of its pictures can be read")
        return stored


def serve(served: Served) -> None:
    """Answer an agent on stdin and stdout until it hangs up.

    A failure of a call is one line of its answer.

    Raises:
        InputError: The MCP SDK is not installed.
    """
    try:
        from mcp import types
        from mcp.server.lowlevel import Server
        from mcp.server.stdio import stdio_server
    except ImportError:
        raise InputError(
            f"frames serve: the MCP SDK is not installed; {installing('mcp')}"
        ) from None

    async def list_tools(*_: object) -> types.ListToolsResult:
        tools: list[types.Tool] = []
        for name, tool in _TOOLS.items():
            schema = tool.arguments.model_json_schema()
            # The schema has the description of the tool too.
            schema["description"] = tool.description
            tools.append(types.Tool(name=name, description=tool.description, input_schema=schema))
        return types.ListToolsResult(tools=tools)

    async def call_tool(_: object, call: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            content = await _answer_call(served, call)
        except (ReelbenchError, ValidationError, OSError) as error:
            text = types.TextContent(text=_line_of(error))
            return types.CallToolResult(content=[text], is_error=True)
        return types.CallToolResult(content=content)

    server = Server(
        "reelbench",
        version=version("reelbench"),
        instructions=f"Videos: {served.names}.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )

    async def run() -> None:
        async with stdio_server(stdin=_read_client_lines(sys.stdin.buffer)) as (requests, replies):  # type: ignore[arg-type]
            await server.run(requests, replies, server.create_initialization_options())

    # A Ctrl-C would else wait for the thread that reads stdin; each look is whole in the log by
    # then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(run())


async def _answer_call(
    served: Served, call: "types.CallToolRequestParams"
) -> "list[types.ContentBlock]":
    if call.name not in _TOOLS:
        raise InputError(f"no tool {call.name!r}; there are {', '.join(_TOOLS)}")
    arguments = _TOOLS[call.name].arguments.model_validate(call.arguments or {})
    if isinstance(arguments, Window):
        return await asyncio.to_thread(partial(served.look, arguments))
    return await asyncio.to_thread(partial(served.info, arguments))


def _line_of(error: Exception) -> str:
    """Return an error in one line, without the places of files."""
    if isinstance(error, ValidationError):
        return first_wrong_field(error)
    if isinstance(error, MediaError):
        return error.reason
    return first_line(error)


async def _read_client_lines(stdin: BinaryIO) -> AsyncIterator[str]:
    """Yield a client's lines, with a mark for each half of a character.

    The SDK answers no line that has such a half.
    """
    while True:
        line = await asyncio.to_thread(stdin.readline)
        if not line:
            return
        text = line.decode("utf-8", "replace")
        if "\\u" in text:
            with suppress(ValueError, RecursionError):  # then it is no message at all
                message = json.dumps(json.loads(text), ensure_ascii=False)
                text = message.encode("utf-8", "replace").decode()
        yield text
