"""Progress in a log: a line from time to time, whether anything was done or not."""

import queue

import pytest

from reelbench.base.progress import _log_line, log_lines


def test_a_line_comes_though_nothing_is_done_and_says_what_was_told_last():
    lines = queue.Queue()
    with log_lines("asking", 12, lines.put, pause_s=0.01) as show:
        assert lines.get(timeout=60).startswith("asking: 0 of 12 done, ")
        show(5, "7 calls, 3/s, $0.02", failed=2)
        while not (line := lines.get(timeout=60)).startswith("asking: 5 of 12 done"):
            pass
    assert "done, 2 failed, 7 calls, 3/s, $0.02, " in line
    assert line.endswith(" left")


def test_none_comes_before_the_first_minute():
    lines = []
    with log_lines("asking", 12, lines.append) as show:
        show(12, "")
    assert lines == []


@pytest.mark.parametrize(
    ("seconds", "total", "done", "in_bytes", "line"),
    [
        (60, 100, 20, False, "x: 20 of 100 done, 1 min so far, about 4 min left"),
        (5400, None, 7, False, "x: 7 done, 1 h 30 min so far"),
        (90, 4e6, 1e6, True, "x: 1 of 4 MB done, 1 min so far, about 4 min left"),
    ],
)
def test_a_line_has_what_is_done_and_the_time_left(seconds, total, done, in_bytes, line):
    assert _log_line("x", total, seconds, done=done, line="", failed=0, in_bytes=in_bytes) == line
