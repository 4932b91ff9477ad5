"""Who serves a model, by its name: `provider/model`, or a name that can be one provider's alone.

The providers are data (`registry/providers.json`). Where a server's address is given, a name goes
out as it was typed, so that what is kept under it stays its own; only `vllm/`, `sglang/` and
`ollama/` are taken off.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base import settings
from reelbench.base.errors import InputError

LOCAL = "hf:"
"""How the name of a model begins that is loaded in this process, in the place of a server's."""

_URL = re.compile(r"(?P<model>.+?)(?:@(?P<url>https?://.+))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A provider, as `providers.json` has it.

    Attributes:
        title: What a sentence calls it.
        url: Base URL of its OpenAI-compatible server; `{VARIABLE}` stands for that variable's
            value.
        key: Variable of its key: it gets this one alone.
        source: Where its own documentation prints the address.
        media: Where it says what it takes, if not there.
        takes: What it takes beside words: `images`, `video`, `whole videos` alone, `batch`.
        most_images: Pictures of one request at most; None where it states no number.
        names: Pattern of the beginnings of names that are its own without its prefix.
        checkpoints: Pattern of the beginnings of names that, behind its prefix, are a checkpoint's
            on the Hub as well.
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
    """Read a model's name into the fields of `AskOptions`: model, url, api_key, key_from, provider.

    Args:
        option: The option that names it, for errors.
        text: `MODEL[@URL]`, `provider/model`, or `hf/MODEL`, which this process loads.
        url: The server of a model without one of its own.
        keys: Variables of the key of a server that is no provider's, the first that is set.
        url_option: The option that names the server, for errors; by default `option` with `-url`.

    InputError where the name is a folder, several models, a checkpoint's as well as a provider's,
    or a variable lacks.
    """
    url_option = url_option or f"{option}-url"
    match = _URL.fullmatch(text)
    model, url = (match["model"], match["url"] or url) if match else (text, url)
    prefix, slash, rest = model.partition("/")
    if "," in model:
        raise InputError(
            f"{option} {model}: one model at a time; several: `reelbench eval NAME --model A --model B`"
        )
    if url is not None:
        own = PROVIDERS.get(prefix)
        model = rest if slash and own is not None and own.own else model
    elif prefix == "hf" and rest:
        return {"model": LOCAL + rest}
    elif model.startswith((".", "/", "~")) or (Path(model) / "config.json").is_file():
        raise InputError(
            f"{option} {model}: is a folder; `reelbench eval NAME --model {model}` runs it by lmms-eval"
        )
    else:
        for name, provider in PROVIDERS.items():
            if slash and rest and prefix in {name, provider.alias}:
                if prefix == name and re.match(provider.checkpoints or "(?!)", rest):
                    at = (
                        f"{option} {provider.alias}/{rest} asks {provider.title}"
                        if provider.alias
                        else ""
                    )
                    here = (
                        f"{option} {model} {url_option} URL asks a server that has the checkpoint"
                    )
                    raise InputError(
                        f"{option} {model}: {at or f'{provider.title} has none of that name'}; {here}"
                    )
                return _of_provider(option, rest, name, provider)
            if name != "openai" and provider.names and re.match(provider.names, model):
                return _of_provider(option, model, name, provider)
    key = next((key for key in keys if key.get()), None)
    return {"model": model, "url": url, "api_key": key and key.get(), "key_from": key and key.name}


def _of_provider(option: str, model: str, name: str, provider: Provider) -> dict[str, Any]:
    url = provider.url
    for variable in re.findall(r"\{(\w+)\}", url):
        setting = next(setting for setting in settings.ALL if setting.name == variable)
        if not setting.get():
            raise InputError(f"{option} {name}/{model}: set {setting.name}, {setting.about}")
        url = url.replace(f"{{{variable}}}", setting.get().rstrip("/"))
    key = settings.PROVIDER_KEYS[name].get() or None
    return {
        "model": model,
        "url": url,
        "api_key": key,
        "key_from": key and provider.key,
        "provider": name,
    }
