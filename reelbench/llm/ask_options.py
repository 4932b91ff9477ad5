"""The options of asking a language model: which, where, how many calls at once, at what cost."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from reelbench.base import bounds, settings
from reelbench.base.credentials import refuse_in_words, refuse_secrets
from reelbench.base.errors import InputError
from reelbench.base.secret_traces import SecretTraces, is_like_a_key
from reelbench.base.settings import home
from reelbench.llm.defaults import (
    CACHE_FILE,
    CACHE_PATIENCE,
    CONCURRENCY,
    LONG_ANSWER,
    LONG_TIMEOUT,
    PATIENCE,
    TIMEOUT,
    TRIES,
)
from reelbench.llm.model_names import LOCAL, PROVIDERS, takes_completion_limit
from reelbench.llm.server_keys import ServerKey, refused_over_http
from reelbench.registry.model_ids import filed_id, filed_name
from reelbench.registry.name_faults import id_faults

if TYPE_CHECKING:
    from reelbench.llm.reply_bound import ReplyBound
    from reelbench.llm.store import StoredReply

OPENAI_URL = settings.OPENAI_BASE_URL.otherwise

THINKING_TOKENS = 32_768
"""Most tokens of an answer of a model that thinks before it answers, unless a limit is given."""
SHORTEST_SECRET = 12
"""Characters of the shortest key that is hidden: a shorter one is part of common words."""

LIMITS = ("max_tokens", "max_completion_tokens")
"""Names under which servers take a limit on a reply's tokens."""

_COMPLETIONS = "/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """A language model and how to ask it. InputError where a value makes no sense.

    Attributes:
        model: Model asked, as the server knows it; on Azure the deployment. Keys are made of it.
        file_as: The name under which it is filed. None is `model`, of a path its telling part.
        url: Base URL of an OpenAI-compatible server. None is OpenAI itself. A query in it (Azure's
            `api-version`) is sent with every call.
        api_key: Never shown, logged or stored. None sends a placeholder, which local servers take.
        key_from: Variable that the key is of, to be named to the user.
        allow_http_key: The key may go over plain HTTP to another machine.
        provider: Name of the provider that is asked, in `model_names.PROVIDERS`. None where a
            server was named.
        concurrency: Maximum concurrent calls. Fewer where the server would have a long line, or
            asks for fewer. None is 64, which are reached step by step.
        extra: Sent with every request as it is (`reasoning_effort`, `chat_template_kwargs`, …).
            Part of the key. One that is None is not sent, and neither is a setting of its name.
        max_tokens: Most tokens of an answer, thinking included. None is the caller's own limit, or
            none.
        thinking: The model thinks before it answers: `THINKING_TOKENS` unless `max_tokens` says
            otherwise, and no temperature.
        budget_calls: Replies paid for at most in this run.
        budget_usd: Dollars at most in this run. Needs both prices.
        usd_per_million_prompt: Price of a million prompt tokens, in dollars.
        usd_per_million_completion: Price of a million completion tokens, in dollars.
        usd_per_million_cached: Of a million prompt tokens that the server had in its cache. None is
            as others.
        usd_per_million_reasoning: Of a million completion tokens that were reasoning. None is as
            others.
        batch: Hand requests over to the server's Batch API, and collect replies from there.
        retry_unread: Ask again, up to `defaults.ATTEMPTS` times more, where all replies in the
            cache can't be read.
        outdated: Says of a reply in the cache that it is not taken, but asked for once more.
        timeout: Seconds in which the server has to finish something. None is `time_limit`'s.
        keep_going: Ask on where nothing but failures came back.
        tries: Calls at most for one reply where the server fails (`llm.retry_rules`).
        backoff: Seconds before the first retry at most. Doubled for each further one.
        patience: Seconds without a single reply from a server that asks for fewer calls, after
            which asking stops; also the longest `Retry-After` that is waited for.
        cache: Where replies are kept: a file, or the address of a PostgreSQL database
            (`postgresql://…`). None is `REELBENCH_CACHE`, else `judge.sqlite` in `$REELBENCH_HOME`,
            which all askers share.
        cache_patience: Seconds for which a database that can't be reached is waited for.
    """

    option: ClassVar[str] = "--llm"
    """The beginning of the command-line options of a request, which errors name."""
    who: ClassVar[str] = "the model"
    """Its name in a sentence to the user."""
    name_option: ClassVar[str | None] = None
    """The command-line option of `file_as`. None where a command has none."""
    key_variable: ClassVar[str] = settings.LLM_API_KEY.name
    advice: ClassVar[Mapping[str, str]] = {}
    """Failure of many replies -> what to do, where that is not the common advice."""

    model: str
    file_as: str | None = None
    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    key_from: str | None = None
    allow_http_key: bool = False
    provider: str | None = None
    concurrency: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    max_tokens: int | None = None
    thinking: bool = False
    budget_calls: int | None = None
    budget_usd: float | None = None
    usd_per_million_prompt: float | None = None
    usd_per_million_completion: float | None = None
    usd_per_million_cached: float | None = None
    usd_per_million_reasoning: float | None = None
    batch: bool = False
    retry_unread: bool = False
    outdated: "Callable[[StoredReply], bool] | None" = field(
        default=None, repr=False, compare=False
    )
    timeout: float | None = None
    keep_going: bool = False
    tries: int = TRIES
    backoff: float = 0.5
    patience: float = PATIENCE
    cache: Path | str | None = field(default=None, repr=False)  # an address may hold a password
    cache_patience: float = CACHE_PATIENCE
    local: bool = field(init=False, repr=False, compare=False)
    """True where the model runs in this process (`llm.local_client`)."""
    host: str = field(init=False, repr=False, compare=False)
    """Host (and port) of the server, the part of the URL that may be shown or stored.

    It is `local` for a model in this process.
    """
    filed_name: str = field(init=False, repr=False, compare=False)
    """The model's name in all that is filed."""
    unsent_key: str | None = field(init=False, repr=False, compare=False)
    """Why the key that there is isn't sent. None where it is, or there is none."""
    secrets: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Texts that must never be shown: the key, and the values in the URL's query."""

    def __post_init__(self) -> None:
        option = self.option
        if not self.model.strip():
            raise InputError(
                f"{self.model_option}: the name of {self.who} is empty; "
                "name one, as its server knows it"
            )
        refuse_in_words(self.model_option, self.model)
        is_local = self.model.startswith(LOCAL)
        object.__setattr__(self, "local", is_local)
        host = "local" if is_local else self._checked_host()
        object.__setattr__(self, "host", host)
        object.__setattr__(self, "filed_name", self._telling_name())
        self._check_filed_name()
        self._hold_back_key()
        secrets = self._secret_texts()
        object.__setattr__(self, "secrets", secrets)
        refuse_secrets(f"{option}-extra", dict(self.extra))
        if self.batch and self.local:
            raise InputError(
                f"{option}-batch: {self.model} runs on this machine, which has no batches; "
                "leave it out"
            )
        self.check_taken("batch", self.batch)
        self._check_numbers()
        self._check_prices()

    def _telling_name(self) -> str:
        """Return the name under which the model is filed.

        Raises:
            InputError: It is a path, of which no part says which model it is.
        """
        if self.file_as is not None:
            return self.file_as
        prefix = LOCAL if self.local else ""
        name = filed_name(self.model.removeprefix(prefix))
        if name is not None:
            return prefix + name
        advice = "serve it under a name of its own (vLLM: --served-model-name NAME)"
        if self.name_option is not None:
            advice = f"{self.name_option} NAME says what results call it"
        raise InputError(
            f"{self.model_option} {self.model}: no part of this path names a model; {advice}"
        )

    def _check_filed_name(self) -> None:
        """Raise an InputError where a result can't be filed under the model's name."""
        if self.name_option is None:
            return
        option = self.model_option if self.file_as is None else self.name_option
        for fault in self._name_faults():
            raise InputError(
                f"{option}: {fault}, so no board would accept its results; {self.name_option} NAME "
                "calls it otherwise"
            )

    def _name_faults(self) -> Iterator[str]:
        """Yield the faults of the model's name in results."""
        yield from id_faults("the name", self.filed_name)
        if self.filed_name.casefold().startswith("reelbench/"):
            yield "the name begins with reelbench/, which is for Reelbench's own baselines"

    def filed_id(self, returned: str) -> str:
        """Return an id that the server returned as records have it."""
        return filed_id(returned, requested=self.model, filed=self.filed_name)

    def _hold_back_key(self) -> None:
        """Hold the key back where it would go over plain HTTP to another machine.

        Raises:
            InputError: The key was given for this server.
        """
        unsent_key = None
        if not self.local and not self.allow_http_key:
            key = ServerKey(self.api_key, self.key_from)
            unsent_key = refused_over_http(self.url_option, self.url, key)
        object.__setattr__(self, "unsent_key", unsent_key)

    def _secret_texts(self) -> tuple[str, ...]:
        """Return the key, and the values in the URL's query, where they are long."""
        texts = [self.api_key or ""]
        if not self.local:
            for name, value in parse_qsl(urlsplit(self.url or "").query):
                if name != "api-version":
                    texts.append(value)
        return tuple(text for text in texts if len(text) >= SHORTEST_SECRET)

    @property
    def advice_on_timeouts(self) -> str:
        """The options that help where calls take longer than their time limit."""
        return (
            f"{self.option}-timeout S waits longer, {self.option}-concurrency N sends fewer at once"
        )

    def _check_numbers(self) -> None:
        """Raise an InputError where a number makes no sense."""
        option = self.option
        for name in ("concurrency", "tries", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                number_option = f"{option}-{name.replace('_', '-')}"
                raise InputError(f"{number_option}: {value} is not a number from 1 up")
        bounds.hold(f"{option}-concurrency", self.most_in_flight, bounds.CONCURRENCY)
        if not self.cache_patience >= 0:
            raise InputError(
                f"--cache-patience: {self.cache_patience} is not a number of seconds from 0 up"
            )
        if self.timeout is not None and not self.timeout > 0:
            raise InputError(f"{option}-timeout: {self.timeout} is not a number of seconds above 0")

    def _check_prices(self) -> None:
        """Raise an InputError where a price is missing."""
        has_prompt_price = self.usd_per_million_prompt is not None
        has_completion_price = self.usd_per_million_completion is not None
        if has_prompt_price != has_completion_price:
            raise InputError(
                f"the price of {self.who} needs two numbers: dollars per million prompt and "
                "per million completion tokens"
            )
        if self.budget_usd is not None and not has_prompt_price:
            raise InputError(
                f"a budget in dollars needs the price of {self.who} per million tokens; "
                "or give it in calls"
            )

    @property
    def is_self_hosted(self) -> bool:
        """True for a server of the user's, which is no provider's."""
        if self.url is None or self.local:
            return False
        if self.provider is not None:
            return PROVIDERS[self.provider].own
        hostname = urlsplit(self.url).hostname
        return hostname not in _provider_hosts() or hostname == "localhost"

    @property
    def sent_key(self) -> str | None:
        """The key that the server gets, if any."""
        return None if self.unsent_key else self.api_key

    @property
    def model_option(self) -> str:
        """The command-line option that names the model."""
        return self.option

    @property
    def url_option(self) -> str:
        """The command-line option that names the model's server."""
        return f"{self.option}-url"

    @property
    def most_in_flight(self) -> int:
        """The maximum of concurrent calls."""
        return self.concurrency or CONCURRENCY

    @property
    def time_limit(self) -> float:
        """Seconds in which the server has to finish something."""
        if self.timeout is not None:
            return self.timeout
        if self.thinking or (self.max_tokens or 0) > LONG_ANSWER:
            return LONG_TIMEOUT
        return TIMEOUT

    @property
    def probe_limit(self) -> float:
        """The same for one call that goes alone, after the server has finished nothing."""
        if self.timeout is not None:
            return self.timeout
        return 2 * self.time_limit

    def _checked_host(self) -> str:
        """Return the server's host and port. InputError where the URL can't be used."""
        where = self.url_option
        try:
            parts = urlsplit(self.url or OPENAI_URL)
        except ValueError:
            parts = None
        if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(
                f"{where}: not an http(s) URL; "
                "give the server's base, like http://127.0.0.1:8000/v1"
            )
        host = parts.hostname
        try:
            if parts.port:
                host = f"{host}:{parts.port}"
        except ValueError:
            raise InputError(f"{where}: the port is not a number") from None
        if parts.username is not None or parts.password is not None:
            raise InputError(
                f"{where}: leave user and password out of the URL; "
                f"the key belongs in {self.key_variable}"
            )
        if parts.path.rstrip("/").endswith(_COMPLETIONS):
            raise InputError(
                f"{where}: leave {_COMPLETIONS} out of the URL; it is added automatically"
            )
        return host

    def check_taken(self, what: str, number: bool | int | None = True) -> None:
        """Raise an InputError where a provider doesn't accept a kind of request.

        Args:
            what: `batch`, `video`, `images`, or `whole videos`, of which the server chooses the
                frames. A provider that accepts a video of ours accepts these too.
            number: The number of images; of any other kind, whether it is used at all.
        """
        if self.provider is None or not number:
            return
        provider = PROVIDERS[self.provider]
        accepted = set(provider.takes)
        if "video" in accepted:
            accepted.add("whole videos")
        most = provider.most_images if what == "images" else None
        if what in accepted and (most is None or number <= most):
            return
        accepted_text = " and ".join(provider.takes) or "words alone"
        rejected_text = {"batch": "a batch", "video": "a clip of chosen frames"}.get(what, what)
        if most:
            accepted_text = f"at most {most} pictures a request"
            rejected_text = f"{number} pictures"
        raise InputError(
            f"{self.model_option} {self.provider}/{self.model}: {provider.title} takes "
            f"{accepted_text}, and not {rejected_text} ({provider.media or provider.source}); "
            f"with {self.url_option} nothing is assumed of a server"
        )

    def cost_usd(
        self,
        prompt_tokens: int,
        completion_tokens: int,
        cached_tokens: int = 0,
        reasoning_tokens: int = 0,
    ) -> float | None:
        """Return the cost of tokens, in dollars. None where no price was given.

        Cached tokens are among the prompt's, reasoning tokens among the completion's.
        """
        prompt_price = self.usd_per_million_prompt
        completion_price = self.usd_per_million_completion
        if prompt_price is None or completion_price is None:
            return None
        cached_price = self.usd_per_million_cached
        if cached_price is None:
            cached_price = prompt_price
        reasoning_price = self.usd_per_million_reasoning
        if reasoning_price is None:
            reasoning_price = completion_price
        cached_tokens = min(cached_tokens, prompt_tokens)
        reasoning_tokens = min(reasoning_tokens, completion_tokens)
        plain_prompt = prompt_tokens - cached_tokens
        plain_completion = completion_tokens - reasoning_tokens
        dollars = plain_prompt * prompt_price + cached_tokens * cached_price
        dollars += plain_completion * completion_price + reasoning_tokens * reasoning_price
        return dollars / 1e6

    def sampling(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of each call beside model and messages.

        Keys are made of them. Those whose value is None are not sent, and neither are those that
        the server refuses (`llm.parameters`).

        Args:
            settings: The caller's settings. The options' ones replace them.
        """
        settings = dict(settings)
        limit = self.max_tokens
        if self.thinking:
            settings.pop("temperature", None)
            limit = limit or THINKING_TOKENS
        if limit is not None:
            settings[self.limit_name(settings)] = limit
        return settings | dict(self.extra)

    def reply_bound(self, sampling: Mapping[str, Any]) -> "ReplyBound | None":
        """Return the bound on replies outside their keys. None for none.

        Args:
            sampling: The settings of each call, which may have a limit of their own.
        """
        del sampling
        return None

    def limit_name(self, settings: Mapping[str, Any]) -> str:
        """Return the name under which the limit on tokens is sent."""
        for name in LIMITS:
            if name in settings:
                return name
        if takes_completion_limit(self.model):
            return "max_completion_tokens"
        return "max_tokens"

    def redact(self, text: str) -> str:
        """Return a line without the secrets, which a server may echo.

        It is for error lines, logs and records. A reply is never edited.
        """
        return _traces_of(self.secrets).masked(text, "[key]")

    def is_repeated_in(self, reply: str) -> bool:
        """Return True where a reply holds a key, whole, in part or encoded."""
        keys = tuple(filter(is_like_a_key, self.secrets))
        return _traces_of(keys).are_in(reply)


@cache
def _provider_hosts() -> frozenset[str | None]:
    """Return the hosts of all providers' servers."""
    return frozenset(urlsplit(provider.url).hostname for provider in PROVIDERS.values())


@lru_cache(maxsize=16)
def _traces_of(secrets: tuple[str, ...]) -> SecretTraces:
    """Return the traces of some secrets, made once for all replies and error lines."""
    return SecretTraces(secrets)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModelOptions(AskOptions):
    """A served model whose results have the name that the user gives it, by `--name`."""

    name_option: ClassVar[str | None] = "--name"
    advice: ClassVar[Mapping[str, str]] = {
        "cut_off": "allow longer answers (--max-tokens), or switch the model's thinking off"
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModelOptions(NamedModelOptions):
    """A served model that `reelbench eval` names, by `--model` and `--base-url`."""

    @property
    def model_option(self) -> str:
        """The command-line option that names the model."""
        return "--model"

    @property
    def url_option(self) -> str:
        """The command-line option that names the model's server."""
        return "--base-url"


def cache_location() -> Path | str:
    """Return the default place of replies: a file, or a database's address."""
    return settings.CACHE.get() or home() / CACHE_FILE
