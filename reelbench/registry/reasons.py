"""Why an item has no score: every reason there is, and what follows from each."""

from enum import StrEnum
from typing import Literal, Self

Fault = Literal["video", "submission", "model", "owners", "judge", "scorer"]


class Reason(StrEnum):
    """Why an item is unscored, as samples and counts name it."""

    fault: Fault  # with whom it lies: no model is the worse for a video that is gone
    answered: (
        bool  # whether an answer is there that could be scored: by another judge, or on another day
    )
    returns: bool  # whether the same command, run again, asks again, and may have more luck
    about: str  # what happened
    advice: str  # what to say of the answers that have it, behind their number; "" where the number says all

    def __new__(cls, value: str, *fields: bool | str) -> Self:
        """Make a member of its value and its fields, in the order above."""
        member = str.__new__(cls, value)
        member._value_ = value
        vars(member).update(
            zip(("fault", "answered", "returns", "about", "advice"), (*fields, ""), strict=False)
        )
        return member

    MEDIA_MISSING = "media_missing", "video", False, True, "its video is not here"
    MEDIA_UNREADABLE = (
        "media_unreadable",
        "video",
        False,
        True,
        "its video is here, and can't be shown",
    )
    PREDICTION_MISSING = (
        "prediction_missing",
        "submission",
        False,
        True,
        "neither an answer nor why there is none",
    )
    CUT_OFF = (
        *(
            "cut_off",
            "model",
            False,
            False,
            "a limit on the output ended the answer before it said anything readable",
        ),
        (
            "were cut off by the limit on their length before they said anything readable and are not scored; "
            "raise it with --max-tokens N or --thinking (lmms-eval: --gen_kwargs max_new_tokens=N)"
        ),
    )
    REFUSED = (
        *("refused", "model", False, False, "the server's content filter ended the answer"),
        "were refused by the server's content filter, and are not scored",
    )
    MODEL_FAILED = (
        *("model_failed", "model", False, True, "the model was asked, and gave no answer"),
        "are missing: the model failed",
    )
    ANSWERS_HIDDEN = (
        "answers_hidden",
        "owners",
        True,
        False,
        "only the owners have the right answer",
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
        "the judge replied, and nothing could be read",
    )
    JUDGE_BUDGET = "judge_budget", "judge", True, True, "the judge's budget was used up"
    JUDGE_REFUSED = "judge_refused", "judge", True, True, "the judge's server serves us not at all"
    JUDGE_REJECTED = (
        "judge_rejected",
        "judge",
        True,
        False,
        "the judge's server does not take this request",
    )
    JUDGE_PENDING = (
        "judge_pending",
        "judge",
        True,
        True,
        "the judge's reply is under way in a batch",
    )
    JUDGE_NOT_DRAWN = "judge_not_drawn", "judge", True, False, "not of the sample that was judged"
    SCORER_FAILED = (
        "scorer_failed",
        "scorer",
        True,
        True,
        "scoring the answer ended in an error of the program's",
    )


NO_VIDEO = frozenset(reason for reason in Reason if reason.fault == "video")
"""Its video was not there, or could not be read."""

OF_JUDGE = frozenset(reason for reason in Reason if reason.fault == "judge")
"""Why an answered item can have no score of a judge."""

NO_ANSWER = frozenset(reason for reason in Reason if not reason.answered)  # there is no answer

UNANSWERED = NO_ANSWER | {
    Reason.ANSWERS_HIDDEN
}  # there is no answer, or nothing to hold it against

NOT_ASKED = frozenset(reason for reason in Reason if reason.fault in ("video", "submission"))
"""The model was never asked."""

EXCUSED = frozenset({Reason.ANSWERS_HIDDEN, Reason.MEDIA_MISSING})
"""What a whole run may lack: it is of fewer videos then, or of a split whose answers only the owners have."""
