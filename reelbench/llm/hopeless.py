"""Whether asking on is of use: the outcomes of one model's new replies."""

from collections import Counter
from collections.abc import Mapping

from reelbench.base.errors import visible
from reelbench.llm.defaults import HOPELESS

_SHOWN = 80  # characters of a reply

_ADVICE = {
    "unreadable": "name another model",
    "cut_off": "allow longer answers, or switch the model's thinking off",
    "media_not_seen": (
        "the model doesn't see its pictures: send fewer frames, raise the server's context, or "
        "see what `reelbench doctor --model MODEL --base-url URL` says"
    ),
    "prompt_cut": "raise the server's context, or send fewer frames",
    "refused": "name another model",
}


class ReplyOutcomes:
    """The outcomes of a model's new replies so far.

    Attributes:
        has_answer: True once one of them was an answer.
    """

    def __init__(self) -> None:
        self.has_answer = False
        self._failures: Counter[str] = Counter()
        self._last_text: str | None = None
        self._findings: dict[str, str | None] = {}

    def note_failure(self, failure: str, text: str | None, finding: str | None = None) -> None:
        """Note a reply that is no answer, why, and what shows it."""
        self._failures[failure] += 1
        self._findings[failure] = finding
        if failure == "unreadable":
            self._last_text = text

    @property
    def is_hopeless(self) -> bool:
        """True where so many replies came and none was an answer."""
        return not self.has_answer and self._failures.total() >= HOPELESS

    def line(self, who: str, advice_of_asker: Mapping[str, str]) -> str:
        """Return one line for the user: what came, and what to do.

        Args:
            who: The model, in words.
            advice_of_asker: Failure -> the advice in place of the common one.
        """
        counts = ", ".join(f"{number} {name}" for name, number in self._failures.most_common())
        example = ""
        if self._last_text:
            text = visible(" ".join(self._last_text.split()))
            if len(text) > _SHOWN:
                text = f"{text[:_SHOWN]}…"
            example = f" (the last: {text!r})"
        advice = ""
        advice_on = {**_ADVICE, **advice_of_asker}
        for name, _ in self._failures.most_common(1):
            if name in advice_on:
                advice = f"; {advice_on[name]}"
            finding = self._findings[name]
            if finding is not None:
                advice = f"; {finding}{advice}"
        return (
            f"{who} gave no answer in {self._failures.total()} replies ({counts}){example}: asking "
            f"stopped; replies so far are kept{advice}; --keep-going continues"
        )
