"""A table of predictions joined with its references, of which a batch is in memory at a time."""

from collections.abc import Iterable, Iterator
from itertools import tee
from pathlib import Path
from typing import NamedTuple

from reelbench.base.errors import InputError
from reelbench.base.tables import as_text
from reelbench.base.temporary_tables import IDS_PER_QUERY, IdWithLocation, KnownId, UniqueIds
from reelbench.base.values import batches
from reelbench.registry.question_files import QuestionIds
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, Sample
from reelbench.scoring import aggregation, answers
from reelbench.tasks.submissions import (
    Prediction,
    PredictionSet,
    Questions,
    Reference,
    parse_answers,
)

Cells = tuple[str, object, object]
"""A row's place, its id, and its text."""

_ADVICE = (
    "; --id-column names the column of the ids, and --template writes a table of the right ones"
)
_NO_PREDICTION = Prediction(None, reason=Reason.PREDICTION_MISSING)


class TablePredictions:
    """The predictions of a table, with the questions that they answer.

    Attributes:
        questions: The questions.
        set: What `items` found beside the items, once all are there; it has none of these.
        only: The questions that `items` is limited to. None for all.
    """

    def __init__(self, questions: Questions, path: Path, cells: Iterable[Cells]) -> None:
        """Read the texts of a table.

        Raises:
            InputError: A row can't be read, an id occurs twice, or there is none.
        """
        self.questions = questions
        self.set = PredictionSet(questions, [])
        self.only: QuestionIds | None = None
        self._path = path
        self._texts = _texts_by_id(path, cells)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._texts)

    def gathered(self) -> PredictionSet:
        """Return all items at once."""
        # Of many held at once, each takes half the memory.
        self.set.items.extend(Item.from_checked(vars(item)) for item in self.items())
        return self.set

    def items(self, samples_before: Iterable[Sample] = ()) -> Iterator[Item]:
        """Yield the items in the references' order.

        Args:
            samples_before: The samples of the first items, whose answers are not read again.

        Raises:
            InputError: No id matches, a result can't contain a question, or one of `only` is not
                there.
            DataUnavailableError: The references are not here.
        """
        joined = _Join(self.questions, self._texts, self.only)
        hidden = Reason.ANSWERS_HIDDEN if self.questions.hidden else None
        videos: dict[str, str] = {}  # a name that many questions share is held once
        for reference, prediction in joined.references_with_predictions(samples_before):
            video = videos.setdefault(reference.video, reference.video)
            yield reference.item(prediction, video=video, reason=prediction.reason or hidden)
        joined.check(self._path)
        joined.check_only()
        self.set.extra.extend(joined.extra())
        self.set.absent.extend(joined.absent)
        self.set.notes.extend(joined.notes())


class _Pair(NamedTuple):
    """A reference with its prediction, or with an answer that is still to be parsed."""

    reference: Reference
    prediction: Prediction | None
    unparsed: answers.Given | None = None


class _Join:
    """The references of questions matched with texts, and what is found on the way."""

    def __init__(self, questions: Questions, texts: UniqueIds, only: QuestionIds | None) -> None:
        self.absent: list[str] = []
        self._questions = questions
        self._texts = texts
        self._only = only
        self._wanted_ids_with_reference: set[str] = set()
        self._has_reference = bytearray(len(texts) + 1)  # by the number of a text's id
        self._reference_count = 0
        self._first_reference = ""
        self._has_options = False
        self._parsed_count = 0
        self._count_without_span = 0

    def references_with_predictions(
        self, samples_before: Iterable[Sample]
    ) -> Iterator[tuple[Reference, Prediction]]:
        """Yield each reference with its prediction. The samples of the first are known."""
        # Answers are parsed a batch ahead of `pairs`, which `tee` keeps until then.
        pairs_to_parse, pairs = tee(self._pairs(iter(samples_before)))
        unparsed_answers = (pair.unparsed for pair in pairs_to_parse if pair.unparsed is not None)
        parsed_answers = parse_answers(self._questions.spec, unparsed_answers)
        for pair in pairs:
            prediction = pair.prediction
            if prediction is None:
                prediction = next(parsed_answers)
            if prediction.parsed is not None:
                self._parsed_count += 1
                lacks_span = prediction.parsed.get("span", "") is None
                self._count_without_span += lacks_span
            yield pair.reference, prediction

    def _pairs(self, samples_before: Iterator[Sample]) -> Iterator[_Pair]:
        for references in batches(self._questions.each_reference(), IDS_PER_QUERY):
            known_ids = self._texts.find([reference.id for reference in references])
            for reference in references:
                known_id = known_ids.get(reference.id)
                self._note_match(reference, known_id)
                if self._is_wanted(reference.id):
                    yield self._pair(reference, known_id, next(samples_before, None))

    def _note_match(self, reference: Reference, known_id: KnownId | None) -> None:
        """Note a reference, and whether it has a text."""
        self._reference_count += 1
        self._first_reference = self._first_reference or reference.id
        self._has_options = self._has_options or any(reference.options)
        if known_id is None:
            self.absent.append(reference.id)
        else:
            self._has_reference[known_id.number] = True

    def _is_wanted(self, question_id: str) -> bool:
        """Return True where the result is to contain a question."""
        if self._only is None:
            return True
        if question_id in self._only.ids:
            self._wanted_ids_with_reference.add(question_id)
        return question_id in self._only.ids

    def _pair(self, reference: Reference, known_id: KnownId | None, sample: Sample | None) -> _Pair:
        """Return a reference with its text, or the answer that a sample has of it."""
        if known_id is None or known_id.text is None:
            return _Pair(reference, _NO_PREDICTION)
        if sample is not None:  # it was parsed before
            reason = aggregation.reason_in_text(known_id.text)
            prediction = Prediction(known_id.text, sample.parsed, sample.flags, reason)
            return _Pair(reference, prediction)
        answer = answers.Given(
            known_id.text, reference.options, reference.timing, reference.question
        )
        return _Pair(reference, None, unparsed=answer)

    def check(self, path: Path) -> None:
        """Raise InputError where no text is of a reference."""
        if any(self._has_reference):
            return
        first_id = next(iter(self._texts))
        raise InputError(
            f"{path}: none of its {len(self._texts)} ids (first: {first_id!r}) is among the "
            f"{self._reference_count} references (first: {self._first_reference!r}); are both of "
            f"the same benchmark and split?{_ADVICE}"
        )

    def check_only(self) -> None:
        """Raise InputError where a question that was named is none of the references."""
        if self._only is not None:
            spec = self._questions.spec
            self._only.check(self._wanted_ids_with_reference, f"{spec.id} {self._questions.split}")

    def extra(self) -> list[str]:
        """Return the ids that no reference has."""
        if sum(self._has_reference) == len(self._texts):
            return []
        names = enumerate(self._texts, start=1)
        return [name for number, name in names if not self._has_reference[number]]

    def notes(self) -> list[str]:
        """Return notes on answers that can't be read as the benchmark asks for them."""
        spec = self._questions.spec
        if spec.row_kind == "open":
            return []
        notes: list[str] = []
        if spec.asks_choice and not self._has_options:
            notes.append(
                "the references list no options: letters are read, an option's own words can't be"
            )
        if self._parsed_count and self._parsed_count == self._count_without_span:
            notes.append(
                "no answer contains a span of time; metrics that need one count these as wrong"
            )
        return notes


def _texts_by_id(path: Path, cells: Iterable[Cells]) -> UniqueIds:
    """Return the texts of a table. InputError where there are none."""
    texts = UniqueIds()
    texts.add_each(_texts_of(cells))
    if not len(texts):
        raise InputError(
            f"{path}: no predictions in it; expected a row per question with an id and a text"
        )
    return texts


def _texts_of(cells: Iterable[Cells]) -> Iterator[IdWithLocation]:
    """Yield the id and the text of each row of a table."""
    for where, id_cell, text_cell in cells:
        name = as_text(id_cell, f"{where}: the id")
        text = as_text(text_cell, f"{where}: the prediction")
        if name:
            yield IdWithLocation(name, where, text)
        elif text:
            raise InputError(f"{where}: the id is empty")
        # A row without both is what a spreadsheet leaves below its table.
