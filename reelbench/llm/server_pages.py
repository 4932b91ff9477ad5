"""What one's own server says of itself, by its own pages.

Which server it is, its list of models tells (`owned_by`), or Ollama's version. Pages that are
absent, late or of another shape say nothing, and that is no error. They are asked of the server
that is asked the questions, and of no other.

Sources: llama.cpp, tools/server/README.md (`/props`); Ollama, docs/api.md (`/api/show`, `/api/ps`);
LM Studio, docs/developer/rest (`/api/v0/models`); vLLM, `ModelCard` (`max_model_len`).
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reelbench.base.values import is_array, is_object

GetPage = Callable[[str, Mapping[str, Any] | None], Awaitable[Any]]
"""(path, body to post or None) -> the page's JSON. None where there is none."""

_MOST = 2**40
"""A number above it is none that a server means."""

_SOFTWARE = {
    "llamacpp": "llama.cpp",
    "organization_owner": "LM Studio",
    "vllm": "vLLM",
    "sglang": "SGLang",
}
"""`owned_by` in a list of models -> the server."""

_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ServerStatement:
    """A server's statement of itself and of one model. None is unstated.

    Attributes:
        software: The server's name.
        context: Tokens that a prompt and its answer may have together.
        slots: Calls that it works on at a time.
        takes_pictures: True where the model takes pictures, False where it takes text alone.
    """

    software: str | None = None
    context: int | None = None
    slots: int | None = None
    takes_pictures: bool | None = None

    def record_fields(self) -> dict[str, str | int | bool] | None:
        """Return the stated fields, as records have them. None where there are none."""
        fields: dict[str, str | int | bool] = {}
        if self.software is not None:
            fields["software"] = self.software
        if self.context is not None:
            fields["context"] = self.context
        if self.slots is not None:
            fields["slots"] = self.slots
        if self.takes_pictures is not None:
            fields["takes_pictures"] = self.takes_pictures
        return fields or None


async def statement_of(
    model: str, models: Sequence[Mapping[str, Any]], page: GetPage
) -> ServerStatement:
    """Return a server's statement.

    Args:
        model: The model's name.
        models: The models that the server lists.
        page: Fetches a page.
    """
    listed = _listed_model(model, models)
    if not listed:
        return ServerStatement()
    software = _SOFTWARE.get(str(listed.get("owned_by")))
    if software == "llama.cpp":
        return _statement_of_llama_cpp(await page("/props", None))
    if software == "LM Studio":
        return _of_lm_studio(model, await page("/api/v0/models", None))
    if software is not None or "max_model_len" in listed:
        return ServerStatement(software=software, context=_number(listed.get("max_model_len")))
    version = await page("/api/version", None)
    if is_object(version) and isinstance(version.get("version"), str):
        return await _statement_of_ollama(model, page)
    return ServerStatement()


def takes_pictures(listed: Mapping[str, Any]) -> bool | None:
    """Return True where a list says that a model takes pictures, False for text alone.

    llama.cpp and OpenRouter have it as `architecture.input_modalities`.
    """
    architecture = listed.get("architecture")
    if not is_object(architecture):
        return None
    modalities = architecture.get("input_modalities")
    if not is_array(modalities) or "text" not in modalities:
        return None
    return "image" in modalities or "video" in modalities


def _listed_model(model: str, models: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return a model's entry in a list, or the only one there is."""
    for listed in models:
        if listed.get("id") == model:
            return listed
    if len(models) == 1:  # such a server answers under any name
        return models[0]
    return {}


def _statement_of_llama_cpp(props: object) -> ServerStatement:
    """Return the statement in llama.cpp's `/props`."""
    if not is_object(props):
        return ServerStatement(software="llama.cpp")
    context = None
    generation = props.get("default_generation_settings")
    if is_object(generation):
        context = _number(generation.get("n_ctx"))
    can_see = None
    modalities = props.get("modalities")
    if is_object(modalities) and isinstance(modalities.get("vision"), bool):
        can_see = modalities["vision"]
    return ServerStatement(
        software="llama.cpp",
        context=context,
        slots=_number(props.get("total_slots")),
        takes_pictures=can_see,
    )


def _of_lm_studio(model: str, page: object) -> ServerStatement:
    """Return the statement in LM Studio's own list of models."""
    unstated = ServerStatement(software="LM Studio")
    if not is_object(page) or not is_array(page.get("data")):
        return unstated
    for listed in page["data"]:
        if is_object(listed) and listed.get("id") == model:
            can_see = None
            if listed.get("type") in {"llm", "vlm"}:
                can_see = listed["type"] == "vlm"
            return ServerStatement(
                software="LM Studio",
                context=_number(listed.get("loaded_context_length")),
                takes_pictures=can_see,
            )
    return unstated


async def _statement_of_ollama(model: str, page: GetPage) -> ServerStatement:
    """Return the statement in Ollama's pages on a model.

    Its context is that of the model in memory, or the one that its file sets. What the weights
    could take (`model_info`) is not what the server gives them.
    """
    details = await page("/api/show", {"model": model})
    can_see = None
    context = None
    if is_object(details):
        capabilities = details.get("capabilities")
        if is_array(capabilities) and "completion" in capabilities:
            can_see = "vision" in capabilities
        match = _NUM_CTX.search(str(details.get("parameters")))
        if match is not None:
            context = _number(int(match[1]))
    running = await page("/api/ps", None)
    if is_object(running) and is_array(running.get("models")):
        for loaded in running["models"]:
            if is_object(loaded) and loaded.get("name") in {model, f"{model}:latest"}:
                context = _number(loaded.get("context_length")) or context
    return ServerStatement(software="Ollama", context=context, takes_pictures=can_see)


def _number(value: object) -> int | None:
    """Return a number from 1 up, or None."""
    if type(value) is int and 0 < value < _MOST:
        return value
    return None
