"""The board and the viewer have words for each reason for which an item is unscored."""

from pathlib import Path

import pytest

from reelbench import leaderboard
from reelbench.registry.reasons import Reason

_FOLDER = Path(leaderboard.__file__).parent


@pytest.mark.parametrize("script", ["assets/base.js", "view/items.js"])
@pytest.mark.parametrize("reason", Reason)
def test_a_reason_has_words(script, reason):
    assert f"    {reason}: " in (_FOLDER / script).read_text(encoding="utf-8")
