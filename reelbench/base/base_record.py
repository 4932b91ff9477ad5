"""What every record on disk is, and one that stands in several: how likely a model holds an option."""

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

LARGEST = (
    2**53 - 1
)  # the largest whole number that every reader of JSON has exactly; no count of ours comes near
_LARGEST_SETTING = 2**64  # seeds have 64 bits
_NO_FIELDS: set[str] = set()
_OF_PYDANTIC = (
    ("__pydantic_fields_set__", _NO_FIELDS),
    ("__pydantic_extra__", None),
    ("__pydantic_private__", None),
)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value; ValueError where a number in it is not finite or larger than any setting, or a text long."""
    level: list[Any] = [value]
    while level:
        for part in level:
            if isinstance(part, float) and not math.isfinite(part):
                raise ValueError(f"{part} is not a number that JSON has")
            if isinstance(part, int) and abs(part) > _LARGEST_SETTING:
                raise ValueError("a whole number in it is larger than 2^64")
            if isinstance(part, str) and len(part) > bounds.TEXT:
                raise ValueError(
                    f"a text in it has {len(part)} characters, at most {bounds.TEXT} are taken"
                )
        objects = [inner for part in level if is_object(part) for inner in (*part, *part.values())]
        level = [*objects, *(inner for part in level if is_array(part) for inner in part)]
    return value


Count = Annotated[int, Field(ge=0, le=LARGEST)]  # how many of something
Amount = Annotated[float, Field(ge=0, le=LARGEST)]  # seconds, dollars: finite, and never negative
Name = Annotated[str, Field(max_length=bounds.NAME)]  # what a page or a table shows in one line
Plain = Annotated[
    Any, AfterValidator(_plain)
]  # any JSON value whose numbers and texts every reader can hold
Free = Annotated[
    dict[str, Plain], Field(max_length=bounds.ENTRIES), AfterValidator(without_secrets)
]
"""What was sent or set, in its own words: without keys and passwords, whoever wrote it, at any depth."""

_LATER = "later"
FieldT = TypeVar("FieldT")
Later = Annotated[FieldT, _LATER]  # a field that older records lack


def absent(description: str) -> Any:  # noqa: ANN401 - as pydantic's own
    """Return a field that is null where nobody said."""
    return Field(default=None, description=description)


class Record(BaseModel):
    """Base of all records: frozen, and a field it does not know is an error; numbers are finite, texts have an end.

    What older records lack is declared as `Later`: at its default it is left out of what is
    written, so that an older record keeps its bytes and its hashes.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, str_max_length=bounds.TEXT
    )
    later: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:  # noqa: ANN401 - as pydantic gives it
        cls.later = frozenset(
            name for name, field in cls.model_fields.items() if _LATER in field.metadata
        )

    def model_post_init(self, _: Any, /) -> None:  # noqa: ANN401 - as pydantic gives it
        """Forget which fields were given: nobody asks, and the set of their names is larger than most records."""
        object.__setattr__(self, "__pydantic_fields_set__", _NO_FIELDS)

    @classmethod
    def from_checked(cls, fields: Mapping[str, Any]) -> Self:
        """Return the record of all its fields, which were checked before, as `model_construct` does.

        Set one by one, the attributes of many records share one table of names: a record takes half
        the memory.
        """
        made = cls.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        for name, value in _OF_PYDANTIC:
            object.__setattr__(made, name, value)
        return made

    @model_serializer(mode="wrap")
    def _without_defaults(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {
            name: value
            for name, value in whole(self).items()
            if name not in self.later or value != fields[name].default
        }


_SHOWN = 200  # characters of a field's place: a key in it may be anybody's


def wrong_fields(error: ValidationError) -> list[str]:
    """Return a line for each thing that is wrong with what was read: `FIELD: MESSAGE`."""
    problems = error.errors(include_url=False)
    places = [(".".join(map(str, problem["loc"]))[:_SHOWN], problem["msg"]) for problem in problems]
    return [f"{place or 'the object'}: {message}" for place, message in places]


def first_wrong_field(error: ValidationError) -> str:
    """Return the first thing that is wrong, and what is there in its place: `field FIELD: MESSAGE (found VALUE)`."""
    first = error.errors()[0]
    try:
        value = f"{first['input']!r:.60}"
    except (
        ValueError,
        RecursionError,
    ):  # Python writes no number of more than 4,300 digits, and no list within lists
        value = f"{type(first['input']).__name__}, too long to be shown"
    found = "" if first["type"] == "missing" else f" (found {value})"
    return ("field " if first["loc"] else "") + wrong_fields(error)[0] + found


def record_of(
    model: type[ModelT], value: object, where: str, more: str = "", *, mark: str = ", "
) -> ModelT:
    """Return the record of a value; InputError (`WHERE`, `mark`, `field FIELD: …` and `more`) where it isn't one."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise InputError(f"{where}{mark}{first_wrong_field(error)}{more}") from None


class Likelihood(Record):
    """How likely a model holds some words of its answer, after the words before them."""

    sum: float = Field(le=0, description="Natural logarithm of the words' probability.")
    tokens: Count = Field(ge=1)
    characters: Count = Field(ge=1)


class OptionScore(Record):
    """How likely a model holds one option: as a whole sentence, and from where the options' sentences differ."""

    sentence: Likelihood
    option: Likelihood = Field(
        description="From the first token in which the options' sentences differ; its characters are the option's own."
    )
