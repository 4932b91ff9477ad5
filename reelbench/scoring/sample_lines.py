"""Lines of samples, decoded and checked in one step where nothing has to be said of them."""

from pydantic import ValidationError

from reelbench.base.base_record import KeyCount
from reelbench.base.quick_json import has_keys_once, is_plain, least_keys
from reelbench.base.values import is_object
from reelbench.registry.records import Sample


def quick_sample(line: str) -> Sample | None:
    """Return the sample in a line, or None where in doubt.

    In doubt is a line that is long, one in which a key may occur twice in an object, one that is
    nested deeply, and one that is no sample.
    """
    if not is_plain(line):
        return None
    keys = KeyCount()
    try:
        sample = Sample.model_validate_json(line, context=keys)
    except ValidationError:
        return None
    # Records count their own keys, and these fields are plain objects.
    number = keys.number + len(sample.target) + len(sample.facets) + len(sample.scores)
    if sample.parsed is not None:
        number += len(sample.parsed)
    if sample.tokens is not None:
        number += len(sample.tokens)
    if is_object(sample.prediction):
        number += least_keys(sample.prediction)
    return sample if has_keys_once(line, number) else None
