"""Certificate length and QA-IoU at the edges of EgoSchema's rules, by hand."""

import pytest

from reelbench.scoring.certificate_length import certificate_length, certificates


@pytest.mark.parametrize(
    ("spans", "seconds"),
    [
        ([(10, 14), (30, 33)], 7),  # far apart: 4 + 3
        ([(10, 14), (14, 20)], 10),  # touching
        ([(10, 30), (12, 15)], 20),  # contained
        ([(12, 15), (10, 30)], 20),  # in the other order
        ([(10, 20), (15, 25)], 15),  # overlapping: what both have counts once
        ([(10, 20), (24.9, 30)], 20),  # a gap of 4.9 s is bridged and counts
        ([(10, 20), (25, 30)], 15),  # one of 5.0 s isn't
        ([(7, 7)], 0.1),  # without length: the minimum
        ([(7, 7), (50, 50)], 0.1),  # both without length: the minimum holds for the sum
        ([(7, 7), (11, 11)], 4),  # one clip of the gap
        ([(7, 7.05)], 0.1),
        ([(0, 4), (8, 9), (13, 20), (40, 41)], 21),  # 0 to 20 in a chain of gaps of 4 s, then 1
        (
            [(0, 30), (2, 3), (33, 34)],
            34,
        ),  # the gap counts from the latest end so far, not from the last span's
    ],
)
def test_certificate_length_by_hand(spans, seconds):
    assert certificate_length(spans) == pytest.approx(seconds, abs=1e-12)


@pytest.mark.parametrize(
    ("question", "answer", "iou"),
    [
        ((0, 10), (5, 15), 5 / 15),
        ((0, 10), (10, 20), 0),  # touching
        ((0, 10), (30, 40), 0),
        ((0, 20), (5, 10), 0.25),  # contained
        ((3, 8), (3, 8), 1),
        ((5, 5), (0, 10), 0),  # without length
        ((5, 5), (5, 5), 0),
    ],
)
def test_qa_miou_of_one_question_by_hand(question, answer, iou):
    report = certificates([(question, answer)], ["v1"])
    assert report.qa_miou.value == pytest.approx(iou)
    assert report.qa_miou.ci95 is None  # one video says nothing of others
    assert certificates([(answer, question)], ["v1"]) == report


def test_means_and_intervals_over_videos():
    # Lengths 10, 20 and 6 + 4; overlaps 1, 1/4 and 0; each in four videos.
    pairs = [((0, 10), (0, 10)), ((0, 20), (5, 10)), ((0, 6), (20, 24))] * 4
    report = certificates(pairs, [f"v{n}" for n in range(12)])
    assert report.n == 12
    assert report.length.value == pytest.approx(40 / 3)
    assert report.qa_miou.value == pytest.approx(1.25 / 3)
    # Four times 10, 20, 10: standard error 1.4213, t(11 degrees of freedom) 2.2010; from 1000
    # resamples.
    low, high = report.length.ci95
    assert (low + high) / 2 == pytest.approx(40 / 3)
    assert (high - low) / 2 == pytest.approx(2.2010 * 1.4213, rel=0.05)
    low, high = report.qa_miou.ci95
    assert 0 <= low < 1.25 / 3 < high <= 1


@pytest.mark.parametrize(
    ("spans", "message"), [([], "no span"), ([(0, 5), (9, 8)], "ends before it starts")]
)
def test_what_is_no_certificate_is_refused(spans, message):
    with pytest.raises(ValueError, match=message):
        certificate_length(spans)


def test_no_question_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        certificates([], [])
