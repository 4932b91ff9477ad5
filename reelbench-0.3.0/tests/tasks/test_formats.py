"""Every benchmark's `formats` module has what `tasks.submissions.Formats` says, and nothing half."""

import inspect

import pytest

from reelbench.base.lazy import import_object
from reelbench.registry import discovery
from reelbench.tasks import submissions


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


@pytest.mark.parametrize("name", discovery.specs())
def test_a_formats_module_keeps_to_the_protocol(name):
    spec = discovery.get(name)
    formats = import_object(spec.formats)
    if formats is not submissions:  # there predictions are tables
        assert parameters(formats.read) == parameters(submissions.Formats.read)
    if any(split.hidden_answers for split in spec.splits.values()):
        assert parameters(formats.submission_row) == parameters(submissions.submission_row)
