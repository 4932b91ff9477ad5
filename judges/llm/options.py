"""What the user asks of a judge: which model, where, how often, and at what cost at most."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from reelbench.registry.errors import InputError
from reelbench.registry.home import home

OPENAI_URL = "https://api.openai.com/v1"

VoteRule = Literal["majority", "mean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """A judge and how to use it; InputError where a value makes no sense.

    Attributes:
        model: Model asked, as the server knows it; on Azure the deployment.
        url: Base URL of an OpenAI-compatible server; None is OpenAI itself. A query in it (Azure's `api-version`) is
            sent with every call.
        api_key: Never shown, logged or stored; None sends a placeholder, which local servers take.
        concurrency: Calls in flight at most; the engine goes below it while the server answers 429.
        votes: Replies asked for per criterion.
        vote_rule: `majority` is the most frequent score, or the lower median of all votes where several are equally
            frequent; `mean` is their mean.
        prompts: `reelbench`, `official`, or a path to a file (see `reelbench.judges.llm.prompting`).
        temperature: `auto` is what the prompt set says (0 for ours, the owners' setting for theirs); `none` sends none,
            which reasoning models want.
        budget_calls: Replies paid for at most in this run.
        budget_usd: Dollars at most in this run; needs both prices.
        usd_per_million_prompt: Price of a million prompt tokens, in dollars.
        usd_per_million_completion: Price of a million completion tokens, in dollars.
        retry_unscored: Ask again, up to 3 times more, where all replies in the cache fail to parse.
        timeout: Seconds for one call, from sending to the last byte.
        tries: Calls at most for one reply where the server fails (429 is not counted).
        backoff: Seconds before the first retry at most; doubled for each further one.
        patience: Seconds without a single reply, under 429, after which judging stops; also the longest `Retry-After`
            that is waited for.
        cache: SQLite file; None is `judge.sqlite` in `$REELBENCH_HOME`.
    """

    model: str
    url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    concurrency: int = 32
    votes: int = 1
    vote_rule: VoteRule = "majority"
    prompts: str = "reelbench"
    temperature: float | Literal["auto", "none"] = "auto"
    budget_calls: int | None = None
    budget_usd: float | None = None
    usd_per_million_prompt: float | None = None
    usd_per_million_completion: float | None = None
    retry_unscored: bool = False
    timeout: float = 120.0
    tries: int = 5
    backoff: float = 0.5
    patience: float = 300.0
    cache: Path | None = None

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise InputError(
                "--judge: the judge's model name is empty; name one, for example --judge gpt-4o-mini-2024-07-18"
            )
        if self.url is not None:
            parts = urlsplit(self.url)
            if parts.scheme not in {"http", "https"} or not parts.hostname or not self.host:
                raise InputError(
                    "--judge-url: not an http(s) URL; give the server's base, like http://127.0.0.1:8000/v1"
                )
        for name in ("concurrency", "votes", "tries"):
            if getattr(self, name) < 1:
                raise InputError(f"--judge-{name}: {getattr(self, name)} is not a number from 1 up")
        if self.vote_rule not in {"majority", "mean"}:
            raise InputError(f"--judge-vote-rule: {self.vote_rule!r} is neither majority nor mean")
        if self.timeout <= 0:
            raise InputError(f"--judge-timeout: {self.timeout} is not a number of seconds above 0")
        prices = (self.usd_per_million_prompt, self.usd_per_million_completion)
        if (prices[0] is None) != (prices[1] is None):
            raise InputError(
                "the judge's price needs both numbers: dollars per million prompt and per million completion tokens"
            )
        if self.budget_usd is not None and prices[0] is None:
            raise InputError(
                "a judge budget in dollars needs the judge's price per million tokens; or give it in calls"
            )

    @classmethod
    def from_environment(cls) -> "JudgeOptions | None":
        """Return the judge that `REELBENCH_JUDGE` names, or None where it is unset.

        `REELBENCH_JUDGE_URL` and `REELBENCH_JUDGE_API_KEY` go with it, else `OPENAI_BASE_URL` and `OPENAI_API_KEY`.
        These two alone never make a judge: they may belong to the model under test.
        """
        model = os.environ.get("REELBENCH_JUDGE", "").strip()
        if not model:
            return None
        return cls(model=model, url=default_url(), api_key=default_api_key())

    @property
    def host(self) -> str:
        """Host (and port) of the server: all of the URL that may be shown or stored."""
        parts = urlsplit(self.url or OPENAI_URL)
        try:
            port = parts.port
        except ValueError:
            raise InputError("--judge-url: the port is not a number") from None
        return f"{parts.hostname}:{port}" if port else str(parts.hostname)

    @property
    def cache_path(self) -> Path:
        """Where replies are kept."""
        return self.cache if self.cache is not None else home() / "judge.sqlite"

    def cost_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return what tokens cost, in dollars; None where no price was given."""
        if self.usd_per_million_prompt is None or self.usd_per_million_completion is None:
            return None
        return (prompt_tokens * self.usd_per_million_prompt + completion_tokens * self.usd_per_million_completion) / 1e6

    def redact(self, text: str) -> str:
        """Return `text` without the key, which a server may echo."""
        return text.replace(self.api_key, "[key]") if self.api_key else text


def default_url() -> str | None:
    """Return the URL that the environment gives for a judge that was named, or None."""
    return os.environ.get("REELBENCH_JUDGE_URL") or os.environ.get("OPENAI_BASE_URL") or None


def default_api_key() -> str | None:
    """Return the key that the environment gives for a judge that was named, or None."""
    return os.environ.get("REELBENCH_JUDGE_API_KEY") or os.environ.get("OPENAI_API_KEY") or None
