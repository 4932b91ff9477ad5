"""What the user asks of a judge, beside what is asked of any language model."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from reelbench.llm.options import AskOptions, api_key, base_url
from reelbench.registry import settings
from reelbench.registry.errors import InputError

VoteRule = Literal["majority", "mean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions(AskOptions):
    """A judge and how to use it; InputError where a value makes no sense.

    Attributes:
        votes: Replies asked for per criterion.
        vote_rule: `majority` is the most frequent score, or the lower median of all votes where several are equally
            frequent; `mean` is their mean.
        prompts: `reelbench`, `official`, or a path to a file (see `reelbench.judges.llm.prompting`).
        temperature: `auto` is what the prompt set says (0 for ours, the owners' setting for theirs); `none` sends none,
            which reasoning models want.
    """

    option: ClassVar[str] = "--judge"
    who: ClassVar[str] = "the judge"
    key_variable: ClassVar[str] = settings.JUDGE_API_KEY.name

    votes: int = 1
    vote_rule: VoteRule = "majority"
    prompts: str = "reelbench"
    temperature: float | Literal["auto", "none"] = "auto"

    def __post_init__(self) -> None:
        AskOptions.__post_init__(self)
        if self.votes < 1:
            raise InputError(f"--judge-votes: {self.votes} is not a number from 1 up")
        if self.vote_rule not in {"majority", "mean"}:
            raise InputError(f"--judge-vote-rule: {self.vote_rule!r} is neither majority nor mean")

    @classmethod
    def from_environment(cls) -> "JudgeOptions | None":
        """Return the judge that `REELBENCH_JUDGE` names, or None where it is unset.

        `REELBENCH_JUDGE_URL` and `REELBENCH_JUDGE_API_KEY` go with it, else `OPENAI_BASE_URL` and `OPENAI_API_KEY`.
        These two alone never make a judge: they may belong to the model under test.
        """
        model = settings.JUDGE.get()
        if not model:
            return None
        return cls(model=model, url=default_url(), api_key=default_api_key())


def default_url() -> str | None:
    """Return the URL that the environment gives for a judge that was named, or None."""
    return base_url(settings.JUDGE_URL.name)


def default_api_key() -> str | None:
    """Return the key that the environment gives for a judge that was named, or None."""
    return api_key(settings.JUDGE_API_KEY.name)
