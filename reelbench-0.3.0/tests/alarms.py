"""How long tests wait for what never comes, and an alarm for what would be computed for hours."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PATIENCE_S = 600
"""How long what a test waits for may take on a busy machine; nothing that works is measured by it."""


@contextmanager
def one_pass(seconds: int = 60) -> Iterator[None]:
    """Fail where a reading takes so much of the processor's time; skip where there are no alarms.

    A busy machine is slow, and takes no more of its processor's time.
    """
    if not hasattr(signal, "setitimer"):
        pytest.skip("no alarm here")
    before = signal.signal(signal.SIGVTALRM, lambda *_: pytest.fail("still reading"))
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
