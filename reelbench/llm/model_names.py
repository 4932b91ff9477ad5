"""The server of a model, from its name: `provider/model`, or a name of one provider alone.

The providers are data (`registry/providers.json`). Where a server's address is given, a name is
sent as it was typed, so that what is kept under it stays its own. Only `vllm/`, `sglang/` and
`ollama/` are removed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from reelbench.base import settings
from reelbench.base.errors import InputError
from reelbench.llm.server_keys import first_key

LOCAL = "hf:"
"""The beginning of the name of a model that is loaded in this process."""

_URL = re.compile(r"(?P<model>.+?)(?:@(?P<url>https?://.+))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider, as `providers.json` has it.

    Attributes:
        title: Its name in a sentence.
        url: Base URL of its OpenAI-compatible server. `{VARIABLE}` stands for that variable's
            value.
        key: Variable of its key: it gets this one alone.
        source: Where its own documentation prints the address.
        media: Where it documents the media that it accepts, if not there.
        takes: The media that it accepts beside words: `images`, `video`, `whole videos` alone,
            `batch`.
        most_images: Pictures of one request at most. None where it states no number.
        names: Pattern of the beginnings of names that are its own without its prefix.
        checkpoints: Pattern of the beginnings of names that, behind its prefix, are a checkpoint's
            on the Hub as well.
        completion_limited: Pattern of whole names of its own models that take
            `max_completion_tokens` and no temperature, by its own pages.
        alias: Another prefix, which is no organization's on the Hub.
        own: A server of the user's, which may need no key.
    """

    title: str
    url: str
    key: str
    source: str
    media: str | None = None
    takes: Sequence[str] = ()
    most_images: int | None = None
    names: str | None = None
    checkpoints: str | None = None
    completion_limited: str | None = None
    alias: str | None = None
    own: bool = False


PROVIDERS = {name: Provider(**entry) for name, entry in settings.PROVIDERS.items()}


def read_model_name(
    option: str,
    text: str,
    url: str | None,
    *keys: settings.Setting,
    url_option: str | None = None,
) -> dict[str, Any]:
    """Read a model's name into fields of `AskOptions`.

    The fields are model, url, api_key, key_from and provider.

    Args:
        option: The option that names it, for errors.
        text: `MODEL[@URL]`, `provider/model`, or `hf/MODEL`, which this process loads.
        url: The server of a model without one of its own.
        keys: Variables of the key of a server that is no provider's, the first that is set.
        url_option: The option that names the server, for errors; by default `option` with `-url`.
            Where it is given, a comma is part of a served model's name.

    Raises:
        InputError: The name is a folder, several models, a checkpoint's as well as a provider's, or
            a variable is missing.
    """
    model = text
    match = _URL.fullmatch(text)
    if match:
        model = match["model"]
        url = match["url"] or url
    is_exact = url_option is not None
    if "," in model and not (is_exact and url):
        raise InputError(
            f"{option} {model}: one model at a time; "
            "several: `reelbench eval NAME --model A --model B`"
        )
    if url is not None:
        return _at_server(_without_own_prefix(model), url, _keys_for(model, keys))
    if model.startswith("hf/") and model != "hf/":
        return {"model": LOCAL + model.removeprefix("hf/")}
    if model.startswith((".", "/", "~")) or (Path(model) / "config.json").is_file():
        raise InputError(
            f"{option} {model}: is a folder; "
            f"`reelbench eval NAME --model {model}` runs it by lmms-eval"
        )
    for name, provider in PROVIDERS.items():
        if _has_prefix(model, name, provider):
            _refuse_checkpoint(option, url_option or f"{option}-url", model, name, provider)
            _, _, model_at_provider = model.partition("/")
            return _at_provider(option, model_at_provider, name, provider)
        is_known_name = provider.names and re.match(provider.names, model)
        if name != "openai" and is_known_name:
            return _at_provider(option, model, name, provider)
    return _at_server(model, None, keys)


@lru_cache(maxsize=64)
def takes_completion_limit(model: str) -> bool:
    """Return True for a provider's own model that takes `max_completion_tokens` alone.

    It takes no temperature either. The name is one of an exact family, with or without the
    provider's prefix. Of any other model the server says it (`llm.parameters`).
    """
    for name, provider in PROVIDERS.items():
        if provider.completion_limited is None:
            continue
        if re.fullmatch(provider.completion_limited, model.removeprefix(f"{name}/")):
            return True
    return False


def _without_own_prefix(model: str) -> str:
    """Return a model's name without the prefix of a kind of server of the user's."""
    prefix, slash, name = model.partition("/")
    provider = PROVIDERS.get(prefix)
    if slash and provider is not None and provider.own:
        return name
    return model


def _has_prefix(model: str, name: str, provider: Provider) -> bool:
    prefix, _, model_at_provider = model.partition("/")
    return bool(model_at_provider) and prefix in {name, provider.alias}


def _is_checkpoint(model: str, provider: Provider) -> bool:
    """Return True for a name that is a checkpoint's on the Hub as well."""
    if provider.checkpoints is None:
        return False
    model_at_provider = model.partition("/")[2]
    return re.match(provider.checkpoints, model_at_provider) is not None


def _refuse_checkpoint(
    option: str, url_option: str, model: str, name: str, provider: Provider
) -> None:
    """Raise an InputError for a name that is a checkpoint's on the Hub as well."""
    prefix, _, model_at_provider = model.partition("/")
    if prefix != name or not _is_checkpoint(model, provider):
        return
    advice = f"{provider.title} has none of that name"
    if provider.alias:
        advice = f"{option} {provider.alias}/{model_at_provider} asks {provider.title}"
    raise InputError(
        f"{option} {model}: {advice}; "
        f"{option} {model} {url_option} URL asks a server that has the checkpoint"
    )


def _at_server(model: str, url: str | None, keys: Sequence[settings.Setting]) -> dict[str, Any]:
    """Return a model's fields at a server, with the first key that is set."""
    key = first_key(keys)
    return {"model": model, "url": url, "api_key": key.value, "key_from": key.variable}


def _keys_for(model: str, keys: Sequence[settings.Setting]) -> list[settings.Setting]:
    """Return the keys that a server at a stated address may get.

    Behind a provider's prefix, OpenAI's key is not among them, but that provider's.
    """
    for name, provider in PROVIDERS.items():
        if not _has_prefix(model, name, provider) or _is_checkpoint(model, provider):
            continue
        named_for_server = [key for key in keys if key is not settings.OPENAI_API_KEY]
        return [*named_for_server, settings.PROVIDER_KEYS[name]]
    return list(keys)


def _at_provider(option: str, model: str, name: str, provider: Provider) -> dict[str, Any]:
    """Return the fields of a provider's model. InputError where a variable is missing."""
    url = provider.url
    setting_by_name = {setting.name: setting for setting in settings.ALL}
    for variable in re.findall(r"\{(\w+)\}", url):
        setting = setting_by_name[variable]
        value = setting.get()
        if not value:
            raise InputError(f"{option} {name}/{model}: set {variable}, {setting.about}")
        place = f"{{{variable}}}"
        url = url.replace(place, value.rstrip("/"))
    fields = _at_server(model, url, [settings.PROVIDER_KEYS[name]])
    return {**fields, "provider": name}
