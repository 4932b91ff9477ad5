"""The providers of language models: which client answers for which model.

The prefix of a model's name chooses. To add a provider, write a `Client` and name it in `PROVIDERS`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from reelbench.llm.ask_options import LOCAL, AskOptions
from reelbench.llm.client import ChatClient
from reelbench.llm.local import LocalClient
from reelbench.llm.messages import Message
from reelbench.llm.reply import Reply


class Client(Protocol):
    """Asks one model; made, used and closed in one event loop."""

    async def ask(self, messages: Sequence[Message], sampling: Mapping[str, Any]) -> Reply:
        """Send one request, once; the errors are those of `ChatClient.ask`."""
        ...

    async def models(self) -> list[dict[str, Any]]:
        """Return the models that the server lists; the errors are those of `ChatClient.models`."""
        ...

    async def close(self) -> None:
        """Close what is open."""
        ...


PROVIDERS: dict[str, Callable[[AskOptions], Client]] = {LOCAL: LocalClient}
"""Prefix of a model's name -> its client. A name without one is asked for at an OpenAI-compatible server."""


def open_client(options: AskOptions) -> Client:
    """Return the client of a model.

    Raises:
        NotServedError: There is no key for the server.
        InputError: The URL, or the model's name, can't be used.
    """
    named = (client for prefix, client in PROVIDERS.items() if options.model.startswith(prefix))
    return next(named, ChatClient)(options)
