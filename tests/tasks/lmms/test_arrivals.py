"""What reached a model is counted where it arrives, by the rows that the thread was given."""

import threading

import pytest

from reelbench.tasks.lmms import arrivals

SPLIT = "of these tests"


def row(name):
    return {"id": name, "split": SPLIT}


@pytest.fixture(autouse=True)
def _anew():
    arrivals.forget_split(SPLIT)
    arrivals._thread.waiting.clear()
    arrivals._thread.rows.clear()


def test_one_questions_clip_and_pictures_are_counted():
    arrivals.hand_over(row("clip"), 8)
    arrivals.clips_arrived([6])
    arrivals.hand_over(row("pictures"), 4)
    arrivals.pictures_arrived(4)
    assert [arrivals.frames_arrived(row(name)) for name in ("clip", "pictures")] == [6, 4]


def test_pictures_that_come_one_by_one_are_added_up():
    arrivals.hand_over(row("a"), 3)
    for _ in range(3):
        arrivals.pictures_arrived(1)
    assert arrivals.frames_arrived(row("a")) == 3


def test_what_is_processed_twice_arrived_once():
    arrivals.hand_over(row("a"), 3)
    arrivals.pictures_arrived(3)
    arrivals.pictures_arrived(3)
    assert arrivals.frames_arrived(row("a")) == 3


def test_of_a_batch_each_clip_is_counted_in_its_place():
    for name in ("a", "b"):
        arrivals.hand_over(row(name), 9)
    arrivals.clips_arrived([9, 6])
    assert [arrivals.frames_arrived(row(name)) for name in ("a", "b")] == [9, 6]


def test_a_run_without_frames_leaves_the_next_one_of_its_process_alone():
    for name in ("a", "b"):
        arrivals.hand_over(row(name), 0)
    arrivals.forget_split(SPLIT)  # the next run loads the task
    arrivals.hand_over(row("a"), 3)
    arrivals.pictures_arrived(3)
    assert arrivals.frames_arrived(row("a")) == 3


@pytest.mark.parametrize("pictures", [7, 1])
def test_of_a_batch_that_lacks_pictures_nobody_knows_whose(pictures):
    for name in ("a", "b"):
        arrivals.hand_over(row(name), 4)
    arrivals.pictures_arrived(pictures)
    assert [arrivals.frames_arrived(row(name)) for name in ("a", "b")] == [None, None]


def test_what_nobody_counted_is_unknown_and_so_is_what_is_asked_anew():
    assert arrivals.frames_arrived(row("never")) is None
    arrivals.hand_over(row("a"), 2)
    arrivals.pictures_arrived(2)
    arrivals.hand_over(row("a"), 2)
    assert arrivals.frames_arrived(row("a")) is None


def test_a_message_counts_for_the_question_whose_text_it_has_in_any_thread():
    arrivals.hand_over(row("a"), 2, "Why?")
    arrivals.hand_over(row("b"), 3, "How?")
    picture, text = {"type": "image_url", "image_url": {}}, {"type": "text", "text": "Why?"}
    sent = [{"role": "user", "content": [{"type": "text", "text": "<0.0 seconds>"}, picture, text]}]
    thread = threading.Thread(target=arrivals.message_sent, args=[sent])
    thread.start()
    thread.join()
    assert [arrivals.frames_arrived(row(name)) for name in ("a", "b")] == [1, None]


def test_a_servers_own_reading_of_a_video_is_not_known():
    arrivals.hand_over(row("a"), 2, "Why?")
    arrivals.message_sent(
        [
            {
                "role": "user",
                "content": [
                    {"type": "video_url", "video_url": {}},
                    {"type": "text", "text": "Why?"},
                ],
            }
        ]
    )
    assert arrivals.frames_arrived(row("a")) is None


@pytest.mark.parametrize(
    "message", [None, [], "Why?", [{"role": "user", "content": "Why?"}], [{"role": "user"}]]
)
def test_any_other_message_is_passed_over(message):
    arrivals.message_sent(message)


def test_the_rows_of_a_thread_are_its_own():
    arrivals.hand_over(row("a"), 1)
    arrivals.hand_over(row("b"), 1)
    found = []
    thread = threading.Thread(target=lambda: found.append(arrivals.latest_rows(4)))
    thread.start()
    thread.join()
    assert found == [()]
    assert arrivals.latest_rows(1) == ((SPLIT, "b"),)
