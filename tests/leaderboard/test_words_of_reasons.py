"""The board and the viewer have words for each reason for which an item is unscored."""

from pathlib import Path

import pytest

from reelbench import leaderboard
from reelbench.leaderboard import code_words
from reelbench.registry.reasons import Reason

_FOLDER = Path(leaderboard.__file__).parent


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_has_words(reason):
    assert reason in code_words.WORDS
    assert f"    {reason}: " in (_FOLDER / "view/items.js").read_text(encoding="utf-8")
