"""Decoding beside the asking: the order of questions, how far ahead anything is made, what is said of the waiting."""

import os
import sys
import threading

import pytest

from reelbench.base.workers import usable_cores
from reelbench.video.decode_ahead import WINDOW, Ahead, Waits, by_video
from tests.alarms import PATIENCE_S


def test_a_videos_questions_stand_together_the_longest_video_first():
    rows = [
        {"video": "short", "duration": 5.0},
        {"video": "untold"},
        {"video": "long", "duration": 60.0},
        {"video": "short", "duration": 5.0},
        {"video": "long", "duration": 90.0},
        {"video": "untold", "duration": None},
    ]
    assert by_video(rows) == [2, 4, 0, 3, 1, 5]


def test_without_lengths_the_order_is_that_of_the_data():
    assert by_video([{"video": video} for video in "abab"]) == [0, 2, 1, 3]


def test_things_are_made_in_their_order_and_never_far_beyond_what_was_asked_for():
    number, bound = 20 * usable_cores(), WINDOW * usable_cores()
    reached, made, beyond = [0], [], []
    done = [threading.Event() for _ in range(number)]

    def make(place):
        beyond.append(place - reached[0])
        made.append(place)
        done[place].set()
        if place % 3 == 0:
            raise ValueError("whoever asks for it is told")

    with Ahead({place: lambda place=place: make(place) for place in range(number)}) as ahead:
        for place in range(number):
            if place:
                reached[0] = place
                ahead.reached(place)
            assert done[place].wait(PATIENCE_S)
    assert sorted(made) == list(range(number))
    assert max(beyond) <= bound


@pytest.mark.skipif(
    sys.platform != "linux", reason="a thread has a niceness of its own on Linux alone"
)
def test_whoever_asks_goes_before_what_is_made_ahead():
    def nice():
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    seen = []
    with Ahead({"film": lambda: seen.append(nice())}) as ahead:
        ahead.reached("film").result(60)
    assert seen == [min(19, nice() + 10)]


def test_shares_of_the_waiting_leave_out_the_runs_own_work():
    waits = Waits()
    assert str(waits) == ""
    for what, looks in (("the server", 92), ("frames", 3), (None, 5)):
        for _ in range(looks):
            waits[what] += 1
    assert str(waits) == "waiting for the server 92%, for frames 3%"
    assert waits.worth_saying()
