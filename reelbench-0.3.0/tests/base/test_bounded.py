"""Work in a process that is ended: by the deadline, by too much memory, by itself; and the other process goes on."""

import os
import signal
import sys
import time

import pytest

from reelbench.base import bounded
from reelbench.base.bounded import Bounds, EndedError, OverrunError, run_bounded
from reelbench.base.errors import InputError, ReelbenchError

LONG = Bounds(seconds=600)


def double(tell, number):
    tell("began")
    return 2 * number


def sleep(tell):
    tell(os.getpid())
    time.sleep(60)


def take_memory(_, size):
    return len(bytearray(size))


def die(_, number):
    os.kill(os.getpid(), number)


def refuse(_):
    raise InputError("samples.jsonl, line 3: is not a sample")


def fail(_):
    raise KeyError("x")


def test_what_is_done_comes_back_and_what_is_told_is_heard():
    heard = []
    assert run_bounded(double, 21, bounds=LONG, hear=heard.append) == 42
    assert heard == ["began"]


def test_at_the_deadline_the_process_is_gone():
    heard = []
    with pytest.raises(OverrunError, match=r"it took longer than 1 s"):
        run_bounded(sleep, bounds=Bounds(seconds=1), hear=heard.append)
    for pid in heard:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.skipif(not bounded.MEMORY_IS_BOUNDED, reason="this system has no bound of memory")
def test_more_memory_than_it_may_have_ends_it_and_less_does_not():
    bounds = Bounds(seconds=600, memory=1_000_000_000)
    assert run_bounded(take_memory, 200_000_000, bounds=bounds) == 200_000_000
    with pytest.raises(EndedError, match=r"it needed more than 1 GB of memory"):
        run_bounded(take_memory, 1_100_000_000, bounds=bounds)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGKILL, EndedError), (signal.SIGALRM, OverrunError)]
)
def test_a_process_that_ends_by_itself_is_said(number, error):
    """The system's own clock ends it, or the system kills it when memory runs out."""
    with pytest.raises(error) as raised:
        run_bounded(die, number, bounds=LONG)
    assert type(raised.value) is error


@pytest.mark.parametrize(
    ("work", "line"), [(refuse, "samples.jsonl, line 3: is not a sample"), (fail, "KeyError: 'x'")]
)
def test_a_failure_is_its_line(work, line):
    with pytest.raises(ReelbenchError) as raised:
        run_bounded(work, bounds=LONG)
    assert str(raised.value) == line
