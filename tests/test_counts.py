"""The cost of a sample is held by counts, which are the same on every machine."""

import pytest

from perf import counts


@pytest.fixture(scope="module")
def most():
    return counts.bounds()


def _hold(measured, most):
    too_many = {}
    loose = {}
    for way, found in measured.items():
        for name, count, bound in zip(found._fields, found, most[way], strict=True):
            if count > bound:
                too_many[way, name] = count
            # A bound far above what is taken holds nothing. How many statements are written at once, threads decide.
            if count < 0.7 * bound and name != "statements":
                loose[way, name] = count
    assert not too_many
    assert not loose


def test_no_way_of_a_board_does_more_for_a_sample_than_its_bounds(most, tmp_path):
    _hold(counts.measured_on_boards(tmp_path), most)


def test_no_way_of_answers_does_more_for_a_question_than_its_bounds(most, tmp_path):
    _hold(counts.measured_on_answers(tmp_path), most)


def test_no_video_and_no_benchmark_of_a_user_costs_more_than_its_bounds(most, tmp_path):
    _hold(counts.measured_on_videos(tmp_path / "videos"), most)
    _hold(counts.measured_on_benchmarks(tmp_path / "benchmarks"), most)


def test_every_bound_is_of_a_way_that_is_measured(most):
    ways = {*counts.OF_BOARDS, *counts.OF_ANSWERS, *counts.OF_VIDEOS, *counts.OF_BENCHMARKS}
    assert set(most) == ways
