"""Which client asks a model."""

from reelbench.llm.ask_options import AskOptions
from reelbench.llm.client import ChatClient
from reelbench.llm.gemini import GeminiClient
from reelbench.llm.local_client import LocalClient


def open_client(options: AskOptions) -> ChatClient:
    """Return the client of a model.

    Raises:
        NotServedError: There is no key.
        InputError: URL or name can't be used.
    """
    if options.local:
        return LocalClient(options)
    if options.provider == "google":
        return GeminiClient(options)
    return ChatClient(options)
