"""Get several answers to each question from an adapter that calls Hugging Face's `generate`.

No adapter reads `num_return_sequences`, and some mix up all later answers where one request gives
five. So a request is asked by itself, and the adapter's own call of `generate` is caught: it
searches with as many beams as are wanted and keeps all their sequences, and the adapter gets the
best one, as ever. Samples need no such thing: lmms-eval asks each question `repeats` times by
itself, and `AllAnswers` keeps what its own filters throw away.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import ReelbenchError, first_line
from reelbench.registry.rows import Row
from reelbench.scoring import aggregation

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance

Ask = Callable[[Any, "Sequence[Instance]"], list[Any]]
"""An adapter's own `generate_until`, unbound."""

FAILED = aggregation.FAILURE_MARKERS[0]


class AllAnswers:
    """A filter of lmms-eval's that keeps all answers to a question.

    Several are a list.
    """

    def apply(self, resps: Sequence[Sequence[Any]], docs: object) -> list[Any]:  # noqa: ARG002 - lmms-eval's own names
        """Return each question's answers."""
        return [_one_or_all(answers) for answers in resps]


def _one_or_all(answers: Sequence[Any]) -> Any:  # noqa: ANN401 - an answer, or a list of them
    return answers[0] if len(answers) == 1 else list(answers)


def beams(adapter: Any, request: "Instance", ask: Ask, *, k: int) -> "list[str] | str":  # noqa: ANN401 - lmms-eval's model
    """Return the `k` best sequences of one beam search, best first.

    They are written as the adapter would have written them. Where `generate` itself failed and the
    adapter does not report it, the one mark of a failed request is returned.

    Raises:
        ReelbenchError: The adapter has no beams, or edits its text, so that only it knows how
            another beam would read.
    """
    model = getattr(adapter, "model", None)
    name = type(adapter).__name__
    no_beams = (
        f"{name} has no beams: it doesn't call Hugging Face's generate; "
        f"try candidates sample:{k},t=0.7"
    )
    if not callable(getattr(model, "generate", None)):
        raise ReelbenchError(no_beams)
    search = _Search(model.generate, k)  # type: ignore[union-attr] - checked above
    with replacing_attribute(model, "generate", search):
        [answer] = ask(adapter, [request])
    sequences = search.outcome(text_of(answer), no_beams)
    is_failure_mark = isinstance(sequences, str)
    if is_failure_mark:
        return sequences
    return _decoded_as_adapter_does(adapter, sequences, text_of(answer).strip(), k)


_DECODINGS: tuple[dict[str, bool], ...] = ({"clean_up_tokenization_spaces": False}, {})
"""Options with which adapters turn tokens into text."""


def _decoded_as_adapter_does(
    adapter: Any,  # noqa: ANN401 - lmms-eval's model
    sequences: Any,  # noqa: ANN401 - a tensor
    adapter_text: str,
    k: int,
) -> list[str]:
    """Return the texts of beams, of which the best is the adapter's own text."""
    best_text = ""
    for decoding in _DECODINGS:
        tokenizer = tokenizer_of(adapter)
        decoded = tokenizer.batch_decode(sequences, skip_special_tokens=True, **decoding)
        texts = [text.strip() for text in decoded]
        best_text = texts[0]
        if best_text == adapter_text:
            return texts
    raise ReelbenchError(
        f"{type(adapter).__name__} edits its text: it says {adapter_text[:60]!r} where its best "
        f"beam is {best_text[:60]!r}, so the other beams can't be told; "
        f"try candidates sample:{k},t=0.7"
    )


@dataclass(eq=False, repr=False)
class StandIn:
    """A replacement of an adapter's call, with its `result` or the `error` that was raised."""

    result: Any = field(default=None, init=False)
    error: Exception | None = field(default=None, init=False)

    def outcome(self, answer: str, not_called: str) -> Any:  # noqa: ANN401
        """Return the result, or the mark of a failed request.

        Some adapters take an error for an empty answer. Others have a mark of their own for one.

        Raises:
            ReelbenchError: The `answer` came without the call.
        """
        if self.result is not None:
            return self.result
        if self.error is not None:
            return f"{FAILED}: {first_line(self.error)}]"
        if aggregation.is_failure(answer):
            return answer
        raise ReelbenchError(not_called)


@dataclass(eq=False, repr=False)
class _Search(StandIn):
    """A replacement of a model's `generate`: the same call with `k` beams.

    The caller gets the best of them.
    """

    generate: Callable[..., Any]
    k: int

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - Hugging Face's
        greedy = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
        several = {"num_beams": self.k, "num_return_sequences": self.k}
        try:
            out = self.generate(*args, **{**kwargs, **greedy, **several})
        except Exception as error:
            self.error = error
            raise
        sequences = getattr(out, "sequences", out)
        if len(sequences) != self.k:
            raise ReelbenchError(
                f"{len(sequences)} sequences where {self.k} beams of one question were asked for"
            )
        self.result = _without_prompt(sequences, prompt_ids(args, kwargs))
        if sequences is out:
            return sequences[:1]
        out.sequences = sequences[:1]
        return out


def _without_prompt(sequences: Any, prompt: Any) -> Any:  # noqa: ANN401 - tensors, imported late
    """Return sequences without the prompt.

    Models return it too, unless they were given embeddings of it.
    """
    if prompt is None:
        return sequences
    length = prompt.shape[1]
    if sequences.shape[1] < length:
        return sequences
    first_tokens = sequences[0, :length]
    begins_with_prompt = bool((first_tokens == prompt[0]).all())
    if not begins_with_prompt:
        return sequences
    return sequences[:, length:]


def prompt_ids(args: Sequence[Any], kwargs: Any) -> Any:  # noqa: ANN401 - a tensor, imported late
    """Return the prompt's tokens, 1 × length, of a call of `generate`.

    None where it was given embeddings.
    """
    for name in ("input_ids", "inputs"):
        if name in kwargs:
            return kwargs[name]
    return args[0] if args else None


def tokenizer_of(adapter: Any) -> Any:  # noqa: ANN401 - lmms-eval's model
    """Return an adapter's tokenizer, Hugging Face's."""
    for name in ("tokenizer", "processor", "_tokenizer", "_processor", "_image_processor"):
        part = getattr(adapter, name, None)
        part = getattr(part, "tokenizer", part)
        if hasattr(part, "batch_decode"):
            return part
    raise ReelbenchError(
        f"{type(adapter).__name__} has no tokenizer of Hugging Face's that is known here"
    )


def row_of(adapter: Any, request: "Instance") -> Row:  # noqa: ANN401 - lmms-eval's model
    """Return the row that a request is about."""
    arguments: tuple[Any, ...] = request.args
    number, task, split = arguments[-3:]
    return adapter.task_dict[task][split][number]


def text_of(answer: Any) -> str:  # noqa: ANN401 - a text or lmms-eval's GenerationResult
    """Return the text of an adapter's answer."""
    return str(getattr(answer, "text", answer))


@contextmanager
def replacing_attribute(owner: Any, name: str, stand_in: Any) -> Iterator[None]:  # noqa: ANN401
    """Replace an object's attribute for the block."""
    instance_value = vars(owner).get(name)
    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        if instance_value is None:
            delattr(owner, name)
        else:
            setattr(owner, name, instance_value)
