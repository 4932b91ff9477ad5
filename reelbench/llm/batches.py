"""Batches: requests handed to a server's Batch API at a lower price, their replies collected by a later run.

A request has the key that it has when it is asked live, and a key is in one place at a time: kept,
claimed by a process, or in a batch. So live asking and batches mix, and nothing is paid twice. What
is under way stands in the file of replies before anything is sent: a batch is first put down under
a token of ours, which goes with it as metadata, so that one whose id never came back (the process
was killed) is found again by it.

How a batch ends (completed, expired, cancelled, failed) changes nothing: what it answered is kept,
the rest is free to be asked again. The protocol is OpenAI's (files, batches).
"""

import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.cache import stored_now
from reelbench.llm.client import (
    PLACEHOLDER_KEY,
    NotServedError,
    RejectedError,
    TransientError,
    one_line,
    reply_in,
    server_of,
)
from reelbench.llm.messages import Message, body_of
from reelbench.llm.store import SqlStore, StoredBatch, StoredReply

MOST_REQUESTS = 50_000
"""Requests in one batch, the server's limit."""
MOST_BYTES = 100_000_000
"""Bytes of one batch's file; the server's limit is 200 MB."""
ENDPOINT = "/v1/chat/completions"

_OPEN = {"validating", "in_progress", "finalizing", "cancelling"}
_FORGOTTEN = 172_800.0  # seconds, twice a batch's window: then one that the server no longer knows is given up

_METADATA = "reelbench"  # key of the token in a batch's metadata
_GROUP = 500  # replies kept in one transaction


@dataclass(eq=False, repr=False)
class Batches:
    """The batches of one model on one server, those of a store. Use it from one thread."""

    options: AskOptions
    store: SqlStore
    note: Callable[[str], None]
    tell: Callable[[], None]  # who is asked, before the first request
    _client: Any = None

    def close(self) -> None:
        """Close the connections to the server."""
        if self._client is not None:
            self._client.close()

    def collect(self) -> None:
        """Keep what batches have answered; ReelbenchError where the file of replies can't be written."""
        for batch in self.store.batches(self.options.model, self.options.host):
            try:
                self._collect_one(batch)
            except _server_errors() as error:
                why = one_line(self.options.redact(str(error)))
                self.note(
                    f"batch {batch.id or batch.token}: not looked at ({why}); run again later"
                )
                return

    def submit(
        self, requests: Mapping[bytes, Sequence[Message]], sampling: Mapping[str, Any]
    ) -> None:
        """Hand over requests, key -> messages, but for those that are kept, claimed or in a batch.

        ReelbenchError where the server does not take them; nothing is under way then.
        """
        options = self.options
        if options.budget_calls is not None and len(requests) > options.budget_calls:
            raise ReelbenchError(
                f"a batch of {len(requests)} requests is over the budget of {options.budget_calls} calls"
            )
        held: dict[bytes, bytes] = {}
        size = 0
        for key, messages in requests.items():
            request = json.dumps(
                {"custom_id": key.hex(), "method": "POST", "url": ENDPOINT}
            ).encode()
            line = request[:-1] + b', "body": %s}\n' % body_of(options.model, messages, sampling)
            if held and (len(held) >= MOST_REQUESTS or size + len(line) > MOST_BYTES):
                self._send(held)
                held, size = {}, 0
            held[key] = line
            size += len(line)
        self._send(held)

    def _send(self, lines: Mapping[bytes, bytes]) -> None:
        """Hand over one batch: those of the lines, by key, that nobody else has."""
        token = secrets.token_hex(16)
        mine = (
            self.store.begin_batch(token, self.options.model, self.options.host, list(lines))
            if lines
            else []
        )
        if not mine:
            return
        content = b"".join(lines[key] for key in mine)
        try:
            client = self._ready()
            file = client.files.create(
                file=(f"{_METADATA}-{token}.jsonl", content), purpose="batch"
            )
            batch = client.batches.create(
                input_file_id=file.id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata={_METADATA: token},
            )
        except NotServedError as error:
            self.store.end_batch(token)
            raise ReelbenchError(str(error)) from None
        except _server_errors() as error:
            what = (
                f"the batch could not be handed over ({one_line(self.options.redact(str(error)))})"
            )
            if isinstance(getattr(error, "status_code", None), int) and error.status_code < 500:  # type: ignore[attr-defined] # noqa: PLR2004
                self.store.end_batch(token)
                raise ReelbenchError(f"{what}; nothing is under way") from None
            raise ReelbenchError(
                f"{what}; run again: if the server has it, it is found there"
            ) from None
        self.store.name_batch(token, batch.id)
        handed_over = number_of(len(mine), "request")
        self.note(
            f"batch {batch.id}: {handed_over} handed over; rerun the command to collect the replies"
        )

    # --- collecting
    # --------------------------------------------------------------------------------------------------

    def _collect_one(self, batch: StoredBatch) -> None:
        import openai

        name = batch.id or self._id_at_server(batch)
        if name is None:
            return
        try:
            state = self._ready().batches.retrieve(name)
        except openai.NotFoundError:
            if time.time() - batch.at < _FORGOTTEN:
                self.note(
                    f"batch {name}: the server does not know it; is this the key that handed it over?"
                )
                return
            self.store.end_batch(batch.token)
            self.note(f"batch {name}: gone from the server; its requests are asked again")
            return
        counts = state.request_counts
        done = f"{counts.completed} of {counts.total} done" if counts else "not begun"
        if state.status in _OPEN:
            self.note(
                f"batch {name}: {state.status}, {done}; rerun the command to collect the replies"
            )
            return
        failures: Counter[str] = Counter()
        kept = 0
        for file_id in filter(None, (state.output_file_id, state.error_file_id)):
            kept += self._keep(file_id, failures)
        freed = self.store.end_batch(batch.token)
        why = (
            f" ({', '.join(f'{n} {what}' for what, n in failures.most_common(3))})"
            if failures
            else ""
        )
        if state.status == "failed" and state.errors and state.errors.data:
            why = f" ({one_line(self.options.redact(str(state.errors.data[0].message)))})"
        rest = f", {freed} without one{why}: they are free to be asked again" if freed else ""
        self.note(f"batch {name}: {state.status}, {kept} replies kept{rest}")

    def _keep(self, file_id: str, failures: Counter[str]) -> int:
        """Keep the replies in one of a batch's files -> how many there were."""
        kept = 0
        group: list[StoredReply] = []
        with self._ready().files.with_streaming_response.content(file_id) as response:
            for line in response.iter_lines():
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                    key = bytes.fromhex(row["custom_id"])
                    answered: dict[str, Any] = row.get("response") or {}
                    if answered.get("status_code") == 200:  # noqa: PLR2004
                        reply = reply_in(answered["body"], self.options, None)
                        group.append(stored_now(key, self.options.model, reply))
                    else:
                        body: dict[str, Any] = answered.get("body") or {}
                        error: dict[str, Any] = row.get("error") or body.get("error") or {}
                        code = str(error.get("code") or answered.get("status_code") or "failed")
                        failures[one_line(code, 60)] += 1
                except RejectedError:
                    failures["repeats the key"] += 1
                except TransientError:
                    failures["broken off"] += 1
                except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                    failures["unreadable line"] += 1
                if len(group) >= _GROUP:
                    kept += self.store.put_batched(group)
                    group = []
        # Only what we asked for is kept: a server can't put replies of its own choosing there.
        return kept + self.store.put_batched(group)

    def _id_at_server(self, batch: StoredBatch) -> str | None:
        """Return the id of a batch whose id never came back; None where another process is at it, or there is none."""
        if batch.held:
            return None
        for other in self._ready().batches.list(limit=100):
            metadata: dict[str, str] = other.metadata or {}
            if metadata.get(_METADATA) == batch.token:
                self.store.name_batch(batch.token, other.id)
                return other.id
            if other.created_at < batch.at - _FORGOTTEN:
                break
        self.store.end_batch(batch.token)
        return None

    # --- the file, the client
    # ----------------------------------------------------------------------------------------

    def _ready(self) -> Any:  # noqa: ANN401 - openai.OpenAI, imported late
        """Return the client for files and batches; NotServedError or InputError where the server has none for us."""
        if self._client is None:
            import openai

            options = self.options
            _, base, query, is_azure = server_of(options)
            if is_azure:
                raise InputError(
                    f"{options.option}-batch: on Azure give the URL that ends in /openai/v1"
                )
            self._client = openai.OpenAI(
                api_key=options.api_key or PLACEHOLDER_KEY,
                base_url=base,
                default_query=query,
                timeout=options.timeout,
                max_retries=options.tries - 1,
                http_client=openai.DefaultHttpxClient(
                    timeout=options.timeout, follow_redirects=False
                ),
            )
            self.tell()
        return self._client


def _server_errors() -> tuple[type[Exception], ...]:
    """What a server in trouble raises through its client, and a client that has no key."""
    import openai

    return openai.OpenAIError, NotServedError
