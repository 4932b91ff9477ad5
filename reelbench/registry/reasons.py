"""The reasons why an item has no score, and what follows from each."""

from enum import StrEnum
from typing import Literal, Self

Fault = Literal["video", "submission", "model", "owners", "judge", "scorer"]

_CUT_OFF_ADVICE = (
    "were cut off by the limit on their length before a readable answer and are not scored; raise "
    "it with --max-tokens N or --thinking (lmms-eval: --gen_kwargs max_new_tokens=N)"
)
_NOT_SEEN_ADVICE = (
    "are not scored: the server counted fewer tokens than pictures, so the model did not see them "
    "all; raise its context (Ollama: num_ctx; llama.cpp: -c; vLLM: --max-model-len), send fewer "
    "--frames, or name a model that takes pictures, and ask again with --only unscored --from "
    "RESULT --output OTHER"
)
_CUT_ADVICE = (
    "are not scored: the server cut their prompts, according to its token counts; raise its "
    "context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx; llama.cpp: -c; vLLM: --max-model-len) or "
    "send fewer --frames, and ask again with --only unscored --from RESULT --output OTHER"
)


class Reason(StrEnum):
    """A reason why an item is unscored, by its name in samples and counts."""

    fault: Fault  # with whom it lies: no model is the worse for a video that is gone
    answered: bool  # True where an answer is there that another judge or another day could score
    returns: bool  # True where the same command, run again, asks again, and may have more luck
    about: str  # what happened
    advice: str  # what to say of the answers that have it, after their number; "" where it is clear

    def __new__(  # noqa: PLR0917 - members are declared by place
        cls,
        value: str,
        fault: Fault,
        answered: bool,
        returns: bool,
        about: str,
        advice: str = "",
    ) -> Self:
        """Make a member of its value and its fields."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.fault = fault
        member.answered = answered
        member.returns = returns
        member.about = about
        member.advice = advice
        return member

    MEDIA_MISSING = "media_missing", "video", False, True, "its video is not here"
    MEDIA_UNREADABLE = (
        "media_unreadable",
        "video",
        False,
        True,
        "its video is here but can't be shown",
    )
    PREDICTION_MISSING = (
        "prediction_missing",
        "submission",
        False,
        True,
        "no answer, and no reason given",
    )
    CUT_OFF = (
        "cut_off",
        "model",
        False,
        False,
        "the output limit ended the answer before anything readable",
        _CUT_OFF_ADVICE,
    )
    REFUSED = (
        "refused",
        "model",
        False,
        False,
        "the server's content filter ended the answer, or the server calls it a refusal",
        "were refused, by a content filter or in the field for refusals, and are not scored",
    )
    ENDED_UNKNOWN = (
        "ended_unknown",
        "model",
        False,
        False,
        "the server ended the answer for an unknown reason, and it can't be read",
        "can't be read and are not scored: the server ended them for an unknown reason",
    )
    MEDIA_NOT_SEEN = (
        "media_not_seen",
        "model",
        False,
        True,
        "the server counted fewer tokens than pictures, so the model did not see them all",
        _NOT_SEEN_ADVICE,
    )
    PROMPT_CUT = (
        "prompt_cut",
        "model",
        False,
        False,
        "the server counted too few tokens for the text, or the same number for all: it was cut",
        _CUT_ADVICE,
    )
    MODEL_FAILED = (
        "model_failed",
        "model",
        False,
        True,
        "the model was asked, and gave no answer",
        "are missing: the model failed",
    )
    ANSWERS_HIDDEN = (
        "answers_hidden",
        "owners",
        True,
        False,
        "only the owners have the right answer",
    )
    LEFT_OUT = (
        "left_out",
        "owners",
        True,
        False,
        "the benchmark's errata leave it out",
    )
    JUDGE_UNAVAILABLE = (
        "judge_unavailable",
        "judge",
        True,
        True,
        "the judge's server did not answer, or none was named",
    )
    JUDGE_UNPARSABLE = (
        "judge_unparsable",
        "judge",
        True,
        False,
        "the judge replied, but its reply could not be read",
    )
    JUDGE_CUT_OFF = (
        "judge_cut_off",
        "judge",
        True,
        False,
        "the limit on the judge's reply cut it off",
    )
    JUDGE_BUDGET = "judge_budget", "judge", True, True, "the judge's budget was used up"
    JUDGE_REFUSED = "judge_refused", "judge", True, True, "the judge's server refuses all requests"
    JUDGE_REJECTED = (
        "judge_rejected",
        "judge",
        True,
        False,
        "the judge's server does not accept this request",
    )
    JUDGE_PENDING = (
        "judge_pending",
        "judge",
        True,
        True,
        "the judge's reply is pending in a batch",
    )
    JUDGE_NOT_DRAWN = "judge_not_drawn", "judge", True, False, "not in the judged sample"
    SCORER_FAILED = (
        "scorer_failed",
        "scorer",
        True,
        True,
        "the program failed while scoring the answer",
    )


NO_VIDEO = frozenset(reason for reason in Reason if reason.fault == "video")
"""Its video was not there, or could not be read."""

OF_JUDGE = frozenset(reason for reason in Reason if reason.fault == "judge")
"""Reasons why an answered item can have no score of a judge."""

UNREAD_BY_JUDGE = frozenset({Reason.JUDGE_UNPARSABLE, Reason.JUDGE_CUT_OFF})
"""The judge replied, and there is no score in what it said."""

NO_ANSWER = frozenset(reason for reason in Reason if not reason.answered)
"""There is no answer."""

UNANSWERED = NO_ANSWER | {Reason.ANSWERS_HIDDEN, Reason.LEFT_OUT}
"""There is no answer, or nothing to compare it with."""

NOT_ASKED = frozenset(reason for reason in Reason if reason.fault in ("video", "submission"))
"""The model was never asked."""

NOT_ALL_SEEN = frozenset({Reason.MEDIA_NOT_SEEN, Reason.PROMPT_CUT})
"""The model did not see all that was sent, by the server's count of tokens."""

EXCUSED = frozenset({Reason.ANSWERS_HIDDEN, Reason.LEFT_OUT, Reason.MEDIA_MISSING})
"""Reasons that a whole run may have.

It is of fewer videos then, or of a split whose answers only the owners have, or which has errata.
"""
