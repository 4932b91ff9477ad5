"""An alarm for what would take hours where it is read in more than one pass; what it takes in one, nobody asks."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def one_pass(seconds: int = 60) -> Iterator[None]:
    """Fail where a reading goes on for so long; skip where there are no alarms."""
    if not hasattr(signal, "alarm"):
        pytest.skip("no alarm here")
    before = signal.signal(signal.SIGALRM, lambda *_: pytest.fail("still reading"))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
