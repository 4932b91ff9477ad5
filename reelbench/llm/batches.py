"""Batches: requests handed to a server's Batch API at a lower price.

A later run collects the replies. A request has the key that it has when it is asked live, and a key
is in one place at a time: kept, claimed by a process, or in a batch. So live asking and batches
mix, and nothing is paid twice. A batch is written into the store before anything is sent, under a
token of ours, which goes with it as metadata. By it a batch is found again whose id never came back
(the process was killed).

The way in which a batch ends (completed, expired, cancelled, failed) changes nothing: its replies
are kept, the rest is free to be asked again. The protocol is OpenAI's (files, batches).
"""

import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import Request
from reelbench.llm.cache import stored_now
from reelbench.llm.client import (
    PLACEHOLDER_KEY,
    one_line,
    parsed_reply,
    server_of,
)
from reelbench.llm.messages import body_of
from reelbench.llm.reply_bound import giver_of_cut
from reelbench.llm.retry_rules import NotServedError, RejectedError, TransientError
from reelbench.llm.store import SqlStore, StoredBatch, StoredReply

MOST_REQUESTS = 50_000
"""Requests in one batch, the server's limit."""
MOST_BYTES = 100_000_000
"""Bytes of one batch's file. The server's limit is 200 MB."""
ENDPOINT = "/v1/chat/completions"

_OPEN = {"validating", "in_progress", "finalizing", "cancelling"}
# Seconds, twice a batch's window, after which a batch that the server no longer knows is given up.
_FORGOTTEN = 172_800.0

# Keys in a batch's metadata.
_METADATA = "reelbench"
_BOUND = "bound"

_LONGEST_BOUND = 9  # digits
_GROUP = 500  # replies kept in one transaction


@dataclass(eq=False, repr=False)
class Batches:
    """The batches of one model on one server. Use it from one thread."""

    options: AskOptions
    store: SqlStore
    note: Callable[[str], None]
    tell: Callable[[], None]
    """Says which server is asked, before the first request."""
    _client: Any = None

    def close(self) -> None:
        """Close the connections to the server."""
        if self._client is not None:
            self._client.close()

    def collect(self) -> None:
        """Keep the replies of batches.

        Raises:
            ReelbenchError: The file of replies can't be written.
        """
        for batch in self.store.batches(self.options.model, self.options.host):
            try:
                self._collect_one(batch)
            except _server_errors() as error:
                reason = one_line(self.options.redact(str(error)))
                name = batch.id or batch.token
                self.note(f"batch {name}: not checked ({reason}); run again later")
                return

    def submit(
        self,
        requests: Mapping[bytes, Request],
        settings_of: Callable[[Request], Mapping[str, Any]],
        bound: int | None,
    ) -> None:
        """Hand over requests, but not those that are kept, claimed or in a batch.

        Args:
            requests: Key -> request.
            settings_of: Returns the settings that go out with a request.
            bound: The bound on replies among them, kept beside those that it cuts off.

        Raises:
            ReelbenchError: The server does not take them. Nothing is under way then.
        """
        options = self.options
        if options.budget_calls is not None and len(requests) > options.budget_calls:
            raise ReelbenchError(
                f"a batch of {len(requests)} requests is over the budget of "
                f"{options.budget_calls} calls"
            )
        lines: dict[bytes, bytes] = {}
        size = 0
        for key, request in requests.items():
            head = json.dumps({"custom_id": key.hex(), "method": "POST", "url": ENDPOINT}).encode()
            body = body_of(options.model, request.messages, settings_of(request))
            line = head[:-1] + b', "body": %s}\n' % body
            is_full = len(lines) >= MOST_REQUESTS or size + len(line) > MOST_BYTES
            if lines and is_full:
                self._send_batch(lines, bound)
                lines = {}
                size = 0
            lines[key] = line
            size += len(line)
        if lines:
            self._send_batch(lines, bound)

    def _send_batch(self, lines: Mapping[bytes, bytes], bound: int | None) -> None:
        """Hand over one batch of those lines, by key, that nobody else has."""
        token = secrets.token_hex(16)
        keys = self.store.begin_batch(token, self.options.model, self.options.host, list(lines))
        if not keys:
            return
        content = b"".join(lines[key] for key in keys)
        metadata = {_METADATA: token}
        if bound is not None:
            metadata[_BOUND] = str(bound)
        try:
            client = self._batch_client()
            file = client.files.create(
                file=(f"{_METADATA}-{token}.jsonl", content), purpose="batch"
            )
            batch = client.batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata=metadata,
            )
        except NotServedError as error:
            self.store.end_batch(token)
            raise ReelbenchError(str(error)) from None
        except _server_errors() as error:
            reason = one_line(self.options.redact(str(error)))
            line = f"the batch could not be submitted ({reason})"
            status = getattr(error, "status_code", None)
            if isinstance(status, int) and status < 500:  # noqa: PLR2004
                self.store.end_batch(token)
                raise ReelbenchError(f"{line}; nothing is in progress") from None
            raise ReelbenchError(
                f"{line}; run again: if the server has it, it is found there"
            ) from None
        self.store.name_batch(token, batch.id)
        handed_over = number_of(len(keys), "request")
        self.note(
            f"batch {batch.id}: {handed_over} submitted; rerun the command to collect the replies"
        )

    # --- collecting

    def _collect_one(self, batch: StoredBatch) -> None:
        """Keep the replies of a batch that has ended, and remove it."""
        import openai

        name = batch.id or self._id_at_server(batch)
        if name is None:
            return
        try:
            state = self._batch_client().batches.retrieve(name)
        except openai.NotFoundError:
            self._note_unknown(batch, name)
            return
        if state.status in _OPEN:
            progress = "not begun"
            counts = state.request_counts
            if counts:
                progress = f"{counts.completed} of {counts.total} done"
            self.note(
                f"batch {name}: {state.status}, {progress}; "
                "rerun the command to collect the replies"
            )
            return
        self._end_batch(batch, name, state)

    def _note_unknown(self, batch: StoredBatch, name: str) -> None:
        """Note a batch that the server does not know, and remove an old one."""
        if time.time() - batch.at < _FORGOTTEN:
            self.note(
                f"batch {name}: the server does not know it; is this the key that submitted it?"
            )
            return
        self.store.end_batch(batch.token)
        self.note(f"batch {name}: gone from the server; its requests are asked again")

    def _end_batch(self, batch: StoredBatch, name: str, state: Any) -> None:  # noqa: ANN401 - openai's Batch
        """Keep the replies of a batch that has ended, remove it, and note both."""
        failures: Counter[str] = Counter()
        replies = 0
        for file_id in filter(None, (state.output_file_id, state.error_file_id)):
            replies += self._keep_replies(file_id, _bound_in(state.metadata), failures)
        freed = self.store.end_batch(batch.token)
        line = f"batch {name}: {state.status}, {replies} replies kept"
        if freed:
            line += f", {freed} without one"
            reasons = self._failure_reasons(state, failures)
            if reasons:
                line += f" ({reasons})"
            line += ": they can be asked again"
        self.note(line)

    def _failure_reasons(self, state: Any, failures: Counter[str]) -> str:  # noqa: ANN401 - openai's Batch
        """Return the reasons for which requests of a batch have no reply."""
        if state.status == "failed" and state.errors and state.errors.data:
            return one_line(self.options.redact(str(state.errors.data[0].message)))
        return ", ".join(f"{number} {reason}" for reason, number in failures.most_common(3))

    def _keep_replies(self, file_id: str, bound: int | None, failures: Counter[str]) -> int:
        """Keep the replies in one of a batch's files.

        Only replies to our requests are kept: a server can't put replies of its own choosing there.

        Args:
            file_id: The file.
            bound: The bound on the replies, if any.
            failures: Reason -> requests without a reply. Counted up.

        Returns:
            How many replies there were.
        """
        number = 0
        group: list[StoredReply] = []
        with self._batch_client().files.with_streaming_response.content(file_id) as response:
            for line in filter(str.strip, response.iter_lines()):
                try:
                    group.append(self._reply_of(line, bound))
                except _FailedRequestError as error:
                    failures[str(error)] += 1
                if len(group) >= _GROUP:
                    number += self.store.put_batched(group)
                    group = []
        return number + self.store.put_batched(group)

    def _reply_of(self, line: str, bound: int | None) -> StoredReply:
        """Return the reply in a line of a batch's file, with its bound.

        Raises:
            _FailedRequestError: It has none.
        """
        try:
            row = json.loads(line)
            key = bytes.fromhex(row["custom_id"])
            response: dict[str, Any] = row.get("response") or {}
            status = response.get("status_code")
            if status == 200:  # noqa: PLR2004
                reply = parsed_reply(response["body"], self.options, None)
                giver = giver_of_cut(reply, bound)
                return stored_now(key, self.options.model, reply, giver)
            body: dict[str, Any] = response.get("body") or {}
            error: dict[str, Any] = row.get("error") or body.get("error") or {}
            code = str(error.get("code") or status or "failed")
        except RejectedError:
            raise _FailedRequestError("repeats the key") from None
        except TransientError:
            raise _FailedRequestError("broken off") from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise _FailedRequestError("unreadable line") from None
        raise _FailedRequestError(one_line(code, 60))

    def _id_at_server(self, batch: StoredBatch) -> str | None:
        """Return the id of a batch whose id never came back.

        None where another process hands it over, or the server does not have it.
        """
        if batch.elsewhere:
            return None
        for server_batch in self._batch_client().batches.list(limit=100):
            metadata: dict[str, str] = server_batch.metadata or {}
            if metadata.get(_METADATA) == batch.token:
                self.store.name_batch(batch.token, server_batch.id)
                return server_batch.id
            if server_batch.created_at < batch.at - _FORGOTTEN:
                break
        self.store.end_batch(batch.token)
        return None

    # --- the client

    def _batch_client(self) -> Any:  # noqa: ANN401 - openai.OpenAI, imported late
        """Return the client for files and batches.

        Raises:
            NotServedError, InputError: The server has no batches for us.
        """
        if self._client is None:
            import openai

            options = self.options
            server = server_of(options)
            if server.is_azure:
                raise InputError(
                    f"{options.option}-batch: on Azure give the URL that ends in /openai/v1"
                )
            self._client = openai.OpenAI(
                api_key=options.sent_key or PLACEHOLDER_KEY,
                base_url=server.base,
                default_query=server.query,
                timeout=options.time_limit,
                max_retries=options.tries - 1,
                http_client=openai.DefaultHttpxClient(
                    timeout=options.time_limit, follow_redirects=False
                ),
            )
            self.tell()
        return self._client


def _server_errors() -> tuple[type[Exception], ...]:
    """Return the errors of a server in trouble, and of a client without a key."""
    import openai

    return openai.OpenAIError, NotServedError


def _bound_in(metadata: Mapping[str, str] | None) -> int | None:
    """Return the bound on a batch's replies, which its metadata have."""
    digits = str((metadata or {}).get(_BOUND))
    if not digits.isdecimal() or len(digits) > _LONGEST_BOUND:
        return None
    return int(digits)


class _FailedRequestError(Exception):
    """A request of a batch has no reply. The message is the reason."""
