"""The words of a board's page for what records say by a code: reasons, and counts of answers."""

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "parse_failed": "unreadable answers",
    "prediction_missing": "without an answer",
    "media_missing": "without their video",
    "judge_unavailable": "not judged",
    "judge_unparsable": "with an unreadable judgement",
    "judge_cut_off": "whose judgement was cut off",
    "judge_refused": "that the judge refused",
    "judge_rejected": "that the judge’s server rejected",
    "judge_budget": "beyond the judge’s budget",
    "judge_pending": "awaiting the judge",
    "judge_not_drawn": "not drawn for the judge",
    "media_unreadable": "with an unreadable video",
    "model_failed": "on which the model failed",
    "answers_hidden": "whose answers are hidden",
    "left_out": "left out by errata",
    "cut_off": "cut off",
    "refused": "that the server’s filter ended",
    "media_not_seen": "whose frames the model did not see",
    "prompt_cut": "whose prompt the server cut",
    "ended_unknown": "ended for an unknown reason",
    "scorer_failed": "on which the scorer failed",
    "empty": "empty answers",
}
"""Code -> its words, as they stand behind a number of questions."""
