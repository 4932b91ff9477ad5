"""Count the pictures and the frames of clips that reach a model's processor, or its server.

An adapter may sample a clip once more, take the first pictures alone, or count one video's frames
for a whole batch. So each thread's rows are noted as their video is handed over, and the frames are
counted where they arrive: at Hugging Face's processors, at a chat completion of openai's client,
and at vLLM's own. Elsewhere nobody knows.

On the way to a server stored pictures go out as their files lie (`StoredPicture`): lmms-eval would
decode each and encode it again as a PNG of several times the bytes, in the thread that all requests
wait for.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reelbench.base.attachment import Attachment
from reelbench.registry.rows import Row
from reelbench.tasks.lmms.wrapping import wrap

Key = tuple[str, str]
"""A row's split and id."""

_MOST = 256
"""Rows that a thread's list holds: more than any batch."""


class _Thread(threading.local):
    """A thread's rows.

    `rows` are those that it was given, `waiting` those of them since something arrived, and
    `arriving` those that something arrived for.
    """

    def __init__(self) -> None:
        self.rows = deque[Key](maxlen=_MOST)
        self.waiting = list[Key]()
        self.arriving = list[Key]()


_thread = _Thread()
_handed: dict[Key, int] = {}
_texts: dict[str, Key] = {}
_arrived: dict[Key, int | None] = {}


def key_of(row: Row) -> Key:
    """Return a row's key within its benchmark."""
    return row["split"], row["id"]


def hand_over(row: Row, frames: int, text: str = "") -> None:
    """Note that an adapter is given a row.

    Args:
        row: The row.
        frames: The number of its frames; 0 for none, or for a whole video.
        text: The text that asks.
    """
    install()
    key = key_of(row)
    if key in _thread.rows:
        _thread.rows.remove(key)
    _thread.rows.append(key)
    if key not in _thread.waiting:
        _thread.waiting.append(key)
    _handed[key] = frames
    _arrived.pop(key, None)
    if text:
        _texts[text] = key


def latest_rows(count: int) -> tuple[Key, ...]:
    """Return the last rows that this thread was given, at most so many, oldest first."""
    return tuple(_thread.rows)[-count:]


def frames_arrived(row: Row) -> int | None:
    """Count the frames that arrived, with repeats. None where nobody knows."""
    return _arrived.get(key_of(row))


def forget_split(split: str) -> None:
    """Start anew: the split's task is being loaded."""
    for counts in (_handed, _arrived):
        for key in list(counts):
            if key[0] == split:
                del counts[key]


def _rows_of_this_call() -> list[Key]:
    """Return the rows for which something arrives now.

    They are those handed over since the last time, else those of the last time.
    """
    if _thread.waiting:  # of the run before too, where nothing arrived
        _thread.arriving = [key for key in _thread.waiting if key in _handed]
        _thread.waiting = []
    return _thread.arriving


def clips_arrived(counts: Sequence[int]) -> None:
    """Note the frames of clips that reach a model's processor, in order."""
    group = _rows_of_this_call()
    if len(counts) == len(group):
        _arrived.update(zip(group, counts, strict=True))
    else:
        _arrived.update(dict.fromkeys(group))


def pictures_arrived(count: int) -> None:
    """Note the pictures that reach a model's processor.

    They are one question's, all at once or one by one, or a batch's.
    """
    group = _rows_of_this_call()
    handed = [_handed[key] for key in group]
    if count == sum(handed):
        _arrived.update(zip(group, handed, strict=True))
    elif len(group) == 1:
        before = _arrived.get(group[0]) or 0
        if before >= handed[0]:
            before = 0
        _arrived[group[0]] = before + count
    else:
        _arrived.update(dict.fromkeys(group))


def message_sent(messages: object) -> None:
    """Note the pictures of a chat message that goes to a server.

    A video's frames only the server counts.
    """
    content = None
    if isinstance(messages, list) and messages:
        content = messages[-1].get("content")
    parts: list[Mapping[str, Any]] = []
    text = content
    if isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping):
                parts.append(part)
                if part.get("type") == "text":
                    text = part.get("text")
    key = _texts.get(text) if isinstance(text, str) else None
    if key is not None:
        kinds = [part.get("type") for part in parts]
        _arrived[key] = None if "video_url" in kinds else kinds.count("image_url")


class StoredPicture(str):
    """The path of a picture for an adapter that sends it on.

    The server gets the file's own bytes, as from `ask`.
    """

    __slots__ = ("attachment",)

    attachment: Attachment

    @classmethod
    def of(cls, attachment: Attachment) -> "StoredPicture":
        """Make one of an attachment that is a file."""
        picture = cls(attachment.data)
        picture.attachment = attachment
        return picture


# --- where frames are counted, and pictures go out
# -----------------------------------------------------------


def install() -> None:
    """Count at each place that is loaded by now. Once each."""
    for place, ours in _PLACES.items():
        module, owner, name = place.rsplit(".", 2)
        wrap(getattr(sys.modules.get(module), owner, None), name, ours)


def _clips_made(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    clips = original(*args, **kwargs)
    clips_arrived(list(map(len, clips)))
    return clips


def _pictures_made(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    pictures = original(*args, **kwargs)
    count = 0
    for part in pictures:
        count += len(part) if isinstance(part, list | tuple) else 1
    pictures_arrived(count)
    return pictures


def _send_and_record(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    messages: Any = kwargs.get("messages")
    if "messages" not in kwargs and args:
        messages = args[0]
    if isinstance(messages, list) and messages and isinstance(messages[0], list):
        for conversation in messages:
            message_sent(conversation)
    else:
        message_sent(messages)
    return original(self, *args, **kwargs)


def _to_url(original: Callable[..., str], self: Any, image: Any, *args: Any, **kwargs: Any) -> str:  # noqa: ANN401
    if isinstance(image, StoredPicture):
        return image.attachment.data_url()
    return original(self, image, *args, **kwargs)


def _with_stored(
    original: Callable[..., list[dict[str, Any]]],
    *args: Any,  # noqa: ANN401
    **kwargs: Any,  # noqa: ANN401
) -> list[dict[str, Any]]:
    messages = original(*args, **kwargs)
    for message in messages:
        for part in message["content"]:
            if part["type"] == "image_url":
                url = part["image_url"]["url"]
                # A stored picture's own stands behind the head that lmms-eval writes.
                place = url.find("data:", 1)
                if place > 0:
                    part["image_url"]["url"] = url[place:]
    return messages


_COMPLETIONS = "openai.resources.chat.completions.completions"
_IMAGE_PROCESSOR = "transformers.image_processing_utils.BaseImageProcessor"

_PLACES = {
    "lmms_eval.protocol.ChatMessages.encode_image": _to_url,
    "lmms_eval.protocol.ChatMessages.to_openai_messages": _with_stored,
    "transformers.video_processing_utils.BaseVideoProcessor._prepare_input_videos": _clips_made,
    f"{_IMAGE_PROCESSOR}._prepare_image_like_inputs": _pictures_made,
    f"{_COMPLETIONS}.Completions.create": _send_and_record,
    f"{_COMPLETIONS}.AsyncCompletions.create": _send_and_record,
    "vllm.entrypoints.llm.LLM.chat": _send_and_record,
}
