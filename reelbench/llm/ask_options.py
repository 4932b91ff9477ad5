"""What the user asks of a language model: which, where, how many calls at once, and at what cost at most."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

from reelbench.base import bounds, settings
from reelbench.base.credentials import refuse_in_words, refuse_secrets, without
from reelbench.base.errors import InputError
from reelbench.base.settings import home
from reelbench.llm.defaults import CACHE_FILE, CACHE_PATIENCE, CONCURRENCY, PATIENCE, TIMEOUT, TRIES
from reelbench.llm.model_names import LOCAL, PROVIDERS

if TYPE_CHECKING:
    from reelbench.llm.store import StoredReply

OPENAI_URL = settings.OPENAI_BASE_URL.otherwise

THINKING_TOKENS = 32_768
"""Most tokens of an answer of a model that thinks before it answers, unless a limit is given."""
SHORTEST_SECRET = 12
"""Characters of the shortest key that is looked for in texts: a shorter one is part of common words."""

_LIMITS = ("max_tokens", "max_completion_tokens")
_COMPLETION_LIMITED = (
    "o1",
    "o3",
    "o4",
    "gpt-5",
)  # in a model's name: OpenAI's that refuse `max_tokens`

_HALF = 16  # characters of a part of a key that no other text has
_ASKED_AT = "/chat/completions"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """A language model and how to ask it; InputError where a value makes no sense.

    Attributes:
        model: Model asked, as the server knows it; on Azure the deployment.
        url: Base URL of an OpenAI-compatible server; None is OpenAI itself. A query in it (Azure's
            `api-version`) is sent with every call.
        api_key: Never shown, logged or stored; None sends a placeholder, which local servers take.
        key_from: Variable that the key is of, to be named to the user.
        provider: Name of the provider that is asked, in `model_names.PROVIDERS`; None where a
            server was named.
        concurrency: Maximum concurrent calls; fewer while the server answers 429.
        extra: Sent with every request as it is (`reasoning_effort`, `chat_template_kwargs`, …);
            part of the key.
        max_tokens: Most tokens of an answer, thinking included; None is the caller's own limit, or
            none.
        thinking: The model thinks before it answers: `THINKING_TOKENS` unless `max_tokens` says
            otherwise, and no temperature.
        budget_calls: Replies paid for at most in this run.
        budget_usd: Dollars at most in this run; needs both prices.
        usd_per_million_prompt: Price of a million prompt tokens, in dollars.
        usd_per_million_completion: Price of a million completion tokens, in dollars.
        usd_per_million_cached: Of a million prompt tokens that the server had in its cache; None is
            as others.
        usd_per_million_reasoning: Of a million completion tokens that were reasoning; None is as
            others.
        batch: Hand requests over to the server's Batch API, and collect replies from there.
        retry_unread: Ask again, up to `defaults.ATTEMPTS` times more, where all replies in the
            cache can't be read.
        outdated: Says of a reply in the cache that it is not taken, but asked for once more.
        timeout: Seconds for one call, from sending to the last byte.
        tries: Calls at most for one reply where the server fails (429 is not counted).
        backoff: Seconds before the first retry at most; doubled for each further one.
        patience: Seconds without a single reply, under 429, after which asking stops; also the
            longest `Retry-After` that is waited for.
        cache: Where replies are kept: a file, or the address of a PostgreSQL database
            (`postgresql://…`); None is `REELBENCH_CACHE`, else `judge.sqlite` in `$REELBENCH_HOME`,
            which all askers share.
        cache_patience: Seconds for which a database that can't be reached is waited for.
    """

    option: ClassVar[str] = "--llm"
    """The beginning of the command-line options of a request, which errors name."""
    who: ClassVar[str] = "the model"
    """What a sentence to the user calls it."""
    key_variable: ClassVar[str] = settings.LLM_API_KEY.name

    model: str
    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    key_from: str | None = None
    provider: str | None = None
    concurrency: int = CONCURRENCY
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
    timeout: float = TIMEOUT
    tries: int = TRIES
    backoff: float = 0.5
    patience: float = PATIENCE
    cache: Path | str | None = field(default=None, repr=False)  # an address may hold a password
    cache_patience: float = CACHE_PATIENCE
    local: bool = field(init=False, repr=False, compare=False)
    """Whether the model runs in this process (`llm.providers`)."""
    host: str = field(init=False, repr=False, compare=False)
    """Host (and port) of the server: all of the URL that may be shown or stored; `local` of one in this process."""
    secrets: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """What must never be shown: the key, and what else the URL's query holds."""
    halves: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Either half of what is long among them: a server may repeat a part."""

    def __post_init__(self) -> None:
        option = self.option
        if not self.model.strip():
            raise InputError(
                f"{self.model_option}: the name of {self.who} is empty; name one, as its server knows it"
            )
        refuse_in_words(self.model_option, self.model)
        object.__setattr__(self, "local", self.model.startswith(LOCAL))
        object.__setattr__(self, "host", "local" if self.local else self._checked_host())
        values = (
            value
            for name, value in parse_qsl(urlsplit("" if self.local else self.url or "").query)
            if name != "api-version"
        )
        secrets = tuple(
            secret for secret in (self.api_key or "", *values) if len(secret) >= SHORTEST_SECRET
        )
        object.__setattr__(self, "secrets", secrets)
        halves = (
            half
            for whole in secrets
            for half in (whole[: len(whole) // 2], whole[len(whole) // 2 :])
        )
        object.__setattr__(self, "halves", tuple(half for half in halves if len(half) >= _HALF))
        refuse_secrets(f"{option}-extra", dict(self.extra))
        if self.batch and self.local:
            raise InputError(
                f"{option}-batch: {self.model} runs on this machine, which has no batches; leave it out"
            )
        self.check_taken("batch", self.batch)
        for name in ("concurrency", "tries", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(
                    f"{option}-{name.replace('_', '-')}: {value} is not a number from 1 up"
                )
        bounds.hold(f"{option}-concurrency", self.concurrency, bounds.CONCURRENCY)
        if not self.cache_patience >= 0:
            raise InputError(
                f"--cache-patience: {self.cache_patience} is not a number of seconds from 0 up"
            )
        if not self.timeout > 0:
            raise InputError(f"{option}-timeout: {self.timeout} is not a number of seconds above 0")
        prices = (self.usd_per_million_prompt, self.usd_per_million_completion)
        if (prices[0] is None) != (prices[1] is None):
            raise InputError(
                f"the price of {self.who} needs two numbers: dollars per million prompt and per million completion "
                "tokens"
            )
        if self.budget_usd is not None and prices[0] is None:
            raise InputError(
                f"a budget in dollars needs the price of {self.who} per million tokens; or give it in calls"
            )

    @property
    def model_option(self) -> str:
        """The command-line option that names the model."""
        return self.option

    @property
    def url_option(self) -> str:
        """The command-line option that names the model's server."""
        return f"{self.option}-url"

    def _checked_host(self) -> str:
        where = self.url_option
        try:
            parts = urlsplit(self.url or OPENAI_URL)
        except ValueError:
            parts = None
        if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(
                f"{where}: not an http(s) URL; give the server's base, like http://127.0.0.1:8000/v1"
            )
        try:
            host = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
        except ValueError:
            raise InputError(f"{where}: the port is not a number") from None
        if parts.username is not None or parts.password is not None:
            raise InputError(
                f"{where}: leave user and password out of the URL; the key belongs into {self.key_variable}"
            )
        if parts.path.rstrip("/").endswith(_ASKED_AT):
            raise InputError(f"{where}: leave {_ASKED_AT} out of the URL; it is added to it")
        return host

    def check_taken(self, what: str, wanted: bool | int | None = True) -> None:
        """Raise InputError where a provider doesn't take what is wanted: `batch`, `video`, or so many `images`.

        `whole videos` are those of which the server chooses the frames; who takes a video of ours
        takes these too.
        """
        if self.provider is None or not wanted:
            return
        provider = PROVIDERS[self.provider]
        most = provider.most_images if what == "images" else None
        taken = {*provider.takes, *(["whole videos"] if "video" in provider.takes else [])}
        if what not in taken or (most is not None and wanted > most):
            can = (
                f"at most {most} pictures a request"
                if most
                else " and ".join(provider.takes) or "words alone"
            )
            asked = {"batch": "a batch", "video": "a clip of chosen frames"}.get(what, what)
            asked = f"{wanted} pictures" if most else asked
            raise InputError(
                f"{self.model_option} {self.provider}/{self.model}: {provider.title} takes {can}, and not {asked} "
                f"({provider.media or provider.source}); with {self.url_option} nothing is assumed of a server"
            )

    def cost_usd(
        self,
        prompt_tokens: int,
        completion_tokens: int,
        cached_tokens: int = 0,
        reasoning_tokens: int = 0,
    ) -> float | None:
        """Return the cost of tokens, in dollars; None where no price was given.

        Cached tokens are among the prompt's, reasoning tokens among the completion's.
        """
        prompt, completion = self.usd_per_million_prompt, self.usd_per_million_completion
        if prompt is None or completion is None:
            return None
        cached = prompt if self.usd_per_million_cached is None else self.usd_per_million_cached
        reasoning = (
            completion if self.usd_per_million_reasoning is None else self.usd_per_million_reasoning
        )
        cached_tokens, reasoning_tokens = (
            min(cached_tokens, prompt_tokens),
            min(reasoning_tokens, completion_tokens),
        )
        dollars = (prompt_tokens - cached_tokens) * prompt + cached_tokens * cached
        dollars += (
            completion_tokens - reasoning_tokens
        ) * completion + reasoning_tokens * reasoning
        return dollars / 1e6

    def sampling(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings sent with each call beside model and messages: the caller's `own` under these."""
        sent = dict(own)
        limit = self.max_tokens or (THINKING_TOKENS if self.thinking else None)
        if self.thinking:
            sent.pop("temperature", None)
        if limit is not None:
            name = next(
                (name for name in _LIMITS if name in sent),
                _LIMITS[takes_completion_limit(self.model)],
            )
            sent[name] = limit
        return sent | dict(self.extra)

    def redact(self, text: str) -> str:
        """Return a line without the key, or what else the URL's query holds, which a server may echo.

        For error lines, logs and records; a reply is never edited.
        """
        text = without(text, self.secrets, "[key]")
        return " ".join(
            "[key]" if any(half in word for half in self.halves) else word
            for word in text.split(" ")
        )


def cache_place() -> Path | str:
    """Return the default place of replies: a file, or a database's address."""
    return settings.CACHE.get() or home() / CACHE_FILE


def takes_completion_limit(model: str) -> bool:
    """Whether a model takes `max_completion_tokens` and no temperature, by its name, as lmms-eval tells it."""
    return any(part in model for part in _COMPLETION_LIMITED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModelOptions(AskOptions):
    """A served model that `reelbench eval` names, by `--model` and `--base-url`."""

    @property
    def model_option(self) -> str:
        """The command-line option that names the model."""
        return "--model"

    @property
    def url_option(self) -> str:
        """The command-line option that names the model's server."""
        return "--base-url"
