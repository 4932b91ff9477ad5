"""`make verification`: its document stands, says what didn't run, and a difference that there is would show."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from tools.verification import __main__ as verification
from tools.verification import proof, scorers, statistics

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "verification.md"


@pytest.mark.parametrize(
    "prove", [*statistics.PROOFS.values(), scorers.choice], ids=lambda prove: prove.__name__
)
def test_what_needs_no_network_differs_by_rounding_alone(prove):
    try:
        shown = prove()
    except proof.NotRunError as error:
        pytest.skip(str(error))
    assert shown.difference < 1e-9
    assert shown.versions


def test_a_difference_and_an_absence_show(monkeypatch):
    monkeypatch.setattr(statistics, "ROUNDS", 2)
    monkeypatch.setattr(
        statistics, "cohen_kappa", lambda *_, weights: 0.25 if weights == "none" else None
    )
    assert statistics.kappa().difference == float("inf")  # a number against none

    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(proof, "version", absent)
    shown, missing = verification.outcomes({"kappa": statistics.kappa})
    assert shown == []
    assert missing == ["kappa: scikit-learn is not installed"]
    text = verification.document([("Agreement", shown, missing)])
    assert "Not run here:\n\n- kappa: scikit-learn is not installed" in text


def test_the_document_has_every_section_and_no_figure_that_is_no_rounding():
    text = DOCUMENT.read_text(encoding="utf-8")
    for title, _ in verification.SECTIONS:
        assert f"## {title}" in text
    assert "inf" not in [cell.strip() for cell in text.split("|")]
    for owners in (scorers.REXTIME, scorers.MOVIECORE, scorers.TIMELENS):
        assert owners.shown in text


def test_what_cannot_run_now_keeps_its_figures_and_says_of_which_version():
    shown = proof.Proof("ours", "theirs", "3 items", 0.5, "by hand", "peer 1.0")
    before = verification.document([("Agreement", [shown], [])])
    after = verification.document(
        [("Agreement", [], ["kappa: is not here"])], verification.earlier(before)
    )
    row = f"| ours | theirs | 3 items | 5.0e-01 | by hand | peer 1.0; of Reelbench {verification.__version__} |"
    assert row in after
    assert after.count("of Reelbench") == 1
    again = verification.document(
        [("Agreement", [], ["kappa: is not here"])], verification.earlier(after)
    )
    assert again == after
    now = verification.document(
        [("Agreement", [shown], ["tau: is not here"])], verification.earlier(after)
    )
    assert "of Reelbench" not in now
