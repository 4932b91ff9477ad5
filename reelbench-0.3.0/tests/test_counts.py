"""What a sample costs is held by counting function calls, which are the same on every machine."""

import pytest

from perf import counts


@pytest.fixture(scope="module")
def most():
    return counts.bounds()


def _hold(measured, most):
    too_many = {way: calls for way, calls in measured.items() if calls > most[way]}
    assert not too_many
    # A bound far above what is taken holds nothing.
    loose = {way: calls for way, calls in measured.items() if calls < 0.7 * most[way]}
    assert not loose


def test_no_way_of_a_board_takes_more_calls_for_a_sample_than_its_bound(most, tmp_path):
    _hold(counts.measured_on_boards(tmp_path), most)


def test_no_way_of_answers_takes_more_calls_for_a_question_than_its_bound(most, tmp_path):
    _hold(counts.measured_on_answers(tmp_path), most)


def test_every_bound_is_of_a_way_that_is_measured(most):
    assert set(most) == {*counts.OF_BOARDS, *counts.OF_ANSWERS}
