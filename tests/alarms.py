"""How long tests wait for what never comes, and alarms for what would be waited for, or computed, for ever."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PATIENCE_S = 240
"""How long what a test waits for may take on a busy machine; nothing that works is measured by it."""
LIMIT_S = 300
"""How long a test may take on a busy machine, with what it makes for those after it."""
SLOW_LIMIT_S = 600
AGAIN_S = 60
"""After that, what waits on while its test is being cleaned up is ended as well."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Fail whatever waits once the time is up, and every minute from then on: cleaning up may hang as well."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(
        signal.SIGALRM, lambda *_: pytest.fail(f"it hangs: not done after {seconds:g} s")
    )
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
