"""The base of every record on disk, and the likelihood of an option, which several records hold."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from reelbench.base import bounds
from reelbench.base.credentials import without_secrets
from reelbench.base.errors import InputError
from reelbench.base.values import is_array, is_object

ModelT = TypeVar("ModelT", bound=BaseModel)

LARGEST = 2**53 - 1
"""The largest whole number that every reader of JSON has exactly, far above any count of ours."""

_LARGEST_SETTING = 2**64  # seeds have 64 bits
_NO_FIELDS: set[str] = set()
_ATTRIBUTES_OF_PYDANTIC = {
    "__pydantic_fields_set__": _NO_FIELDS,
    "__pydantic_extra__": None,
    "__pydantic_private__": None,
}


def _check_scalar(value: object) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a number that JSON has")
    if isinstance(value, int) and abs(value) > _LARGEST_SETTING:
        raise ValueError("a whole number in it is larger than 2^64")
    if isinstance(value, str) and len(value) > bounds.TEXT:
        raise ValueError(
            f"a text in it has {len(value)} characters, at most {bounds.TEXT} are taken"
        )


def _checked_json_value(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value unchanged where every reader can hold it.

    Raises:
        ValueError: A number is not finite or larger than any setting, or a text is too long.
    """
    level: list[Any] = [value]
    while level:
        next_level: list[Any] = []
        for part in level:
            _check_scalar(part)
            if is_object(part):
                next_level.extend(part.keys())
                next_level.extend(part.values())
            elif is_array(part):
                next_level.extend(part)
        level = next_level
    return value


Count = Annotated[int, Field(ge=0, le=LARGEST)]
"""A number of things."""

Amount = Annotated[float, Field(ge=0, le=LARGEST)]
"""Seconds or dollars: finite, and never negative."""

Name = Annotated[str, Field(max_length=bounds.NAME)]
"""A text that a page or a table shows in one line."""

Plain = Annotated[Any, AfterValidator(_checked_json_value)]
"""Any JSON value whose numbers and texts every reader can hold."""

Free = Annotated[
    dict[str, Plain], Field(max_length=bounds.ENTRIES), AfterValidator(without_secrets)
]
"""What was sent or set, by free names. Keys and passwords are taken out, at any depth."""

_OMITTED = "left out of the file at its default"
FieldT = TypeVar("FieldT")

Omittable = Annotated[FieldT, _OMITTED]
"""A field that is left out of the file where it has its default."""


def absent(description: str) -> Any:  # noqa: ANN401 - as pydantic's own
    """Return a field that is null where nothing is known."""
    return Field(default=None, description=description)


class KeyCount:
    """The keys of JSON objects that became records, counted where it is pydantic's context."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = 0


class Record(BaseModel):
    """Base of all records.

    A record is frozen, and a field that it does not know is an error. Numbers are finite, and
    texts have a largest length. An `Omittable` field is left out of the file at its default.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, str_max_length=bounds.TEXT
    )
    omittable: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:  # noqa: ANN401 - as pydantic gives it
        cls.omittable = frozenset(
            name for name, field in cls.model_fields.items() if _OMITTED in field.metadata
        )

    def model_post_init(self, keys: "KeyCount | None", /) -> None:
        """Forget which fields were set, but for their number where keys are counted.

        Nobody reads it, and the set of their names is larger than most records.
        """
        if keys is not None:
            keys.number += len(self.__pydantic_fields_set__)
        object.__setattr__(self, "__pydantic_fields_set__", _NO_FIELDS)

    @classmethod
    def from_checked(cls, fields: Mapping[str, Any]) -> Self:
        """Return the record of all its fields, which were checked before.

        It does what `model_construct` does. But set one by one, the attributes of many records
        share one table of names, and a record takes half the memory.
        """
        record = cls.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(record, name, value)
        for name, value in _ATTRIBUTES_OF_PYDANTIC.items():
            object.__setattr__(record, name, value)
        return record

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        document = serialize(self)
        for name in self.omittable:
            if name in document and document[name] == fields[name].default:
                del document[name]
        return document


_PLACE_CHARACTERS = 200  # of a field's place: a key in it may be anybody's


def wrong_fields(error: ValidationError) -> list[str]:
    """Return a line for each field that is wrong: `FIELD: MESSAGE`."""
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        place = ".".join(map(str, problem["loc"]))[:_PLACE_CHARACTERS]
        lines.append(f"{place or 'the object'}: {problem['msg']}")
    return lines


def first_wrong_field(error: ValidationError) -> str:
    """Return the first field that is wrong and its value: `field FIELD: MESSAGE (found VALUE)`."""
    problem = error.errors()[0]
    line = wrong_fields(error)[0]
    if problem["loc"]:
        line = f"field {line}"
    if problem["type"] == "missing":
        return line
    value = problem["input"]
    try:
        shown_value = f"{value!r:.60}"
    except (ValueError, RecursionError):
        # Python writes no number of more than 4,300 digits, and no list within lists.
        shown_value = f"{type(value).__name__}, too long to be shown"
    return f"{line} (found {shown_value})"


def record_of(
    model: type[ModelT], value: object, where: str, more: str = "", *, mark: str = ", "
) -> ModelT:
    """Return the record of a value.

    Raises:
        InputError: It is no such record: `where`, `mark`, the first wrong field, and `more`.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InputError(f"{where}{mark}{first_wrong_field(error)}{more}") from None


class Likelihood(Record):
    """The probability of some words of an answer, after the words before them."""

    sum: float = Field(le=0, description="Natural logarithm of the words' probability.")
    tokens: Count = Field(ge=1)
    characters: Count = Field(ge=1)


class OptionScore(Record):
    """The likelihood of one option: of its whole sentence, and of the option's own words."""

    sentence: Likelihood
    option: Likelihood = Field(
        description="From the first token in which the options' sentences differ; "
        "its characters are the option's own."
    )
