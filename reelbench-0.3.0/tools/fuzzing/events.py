"""What strangers may send to the webhook's server: a real process, told by damaged events, which lives on."""

import atexit
import functools
import json
import queue
import tempfile
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.servers.hub import HubServer, Token
from tests.servers.pull_requests import PullRequest
from tools.fuzzing import damage
from tools.fuzzing.holding import require

DATASET, SECRET = "museum/results", "open sesame"
_SECRETS = (
    SECRET,
    SECRET,
    SECRET,
    SECRET,
    None,
    "",
    "open sesam",
    "\xff" * 9,
    "x" * 4000,
)  # aiohttp itself logs and refuses what is longer than 8,190 bytes


@functools.cache
def served() -> Any:  # noqa: ANN401 - `Served` of the webhook's tests
    """Start the server once for a process, beside a local Hub with an empty results dataset."""
    from tests.leaderboard import test_webhook

    hub = HubServer()
    hub.__enter__()
    hub.tokens["hf_bot"] = Token("bot")
    hub.add(DATASET)
    patch = pytest.MonkeyPatch()
    home = Path(tempfile.mkdtemp(prefix="webhook-"))
    hub.use(patch, home / "hf")
    server = test_webhook.Served(hub, home)
    server.until("0 open pull requests")
    atexit.register(hub.__exit__, None, None, None)
    atexit.register(patch.undo)
    atexit.register(server.stop)
    return server


def write(draw: Random, folder: Path) -> None:
    """Write one event, damaged as a value, as text or as bytes, and the secret that it is sent with."""
    pull_request = PullRequest(draw.choice((1, 7, 10**9)), "mine", "", "me")
    event = draw.choice(pull_request.payloads(DATASET, "dataset", "http://127.0.0.1:1", "0" * 40))
    (folder / "body").write_bytes(damage.json_text(event, draw, lines=False))
    (folder / "input.json").write_text(
        json.dumps({"secret": draw.choice(_SECRETS)}), encoding="utf-8"
    )


def check(folder: Path) -> None:
    """Send it: an answer, no traceback from the server, and the next honest event is taken."""
    server = served()
    secret = json.loads((folder / "input.json").read_text(encoding="utf-8"))["secret"]
    status = _post(server.url, (folder / "body").read_bytes(), secret)
    allowed = (202, 400, 413) if secret == SECRET else (400, 401, 403, 413)
    require(status in allowed, f"answered with {status}")
    comment = {
        "event": {"scope": "discussion.comment"},
        "repo": {"type": "dataset", "name": DATASET},
    }
    require(
        _post(server.url, json.dumps(comment).encode(), SECRET) == 202,  # noqa: PLR2004
        "an honest event is not taken any more",
    )
    lines = []
    while True:
        try:
            lines.append(server._lines.get_nowait())  # noqa: SLF001
        except queue.Empty:
            break
    require(not any("Traceback" in line for line in lines), f"the server: {''.join(lines)}")


def _post(url: str, body: bytes, secret: str | None) -> int:
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=30)
    headers = {
        "Content-Type": "application/json",
        **({} if secret is None else {"X-Webhook-Secret": secret}),
    }
    connection.request("POST", address.path, body, headers)
    status = connection.getresponse().status
    connection.close()
    return status
