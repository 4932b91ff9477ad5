"""What others write has bounds, which are met before anything is computed, with both figures in the line."""

import pytest

from reelbench.registry import bounds
from reelbench.registry.errors import InputError


def test_the_line_has_both_figures():
    bounds.hold("labels", 300, 300)
    with pytest.raises(InputError, match="labels: 1,301, and at most 300 are taken"):
        bounds.hold("labels", 1301, 300)
