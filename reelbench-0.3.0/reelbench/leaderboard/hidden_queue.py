"""Pull requests that wait for a quota of a hidden test, in the order of their numbers."""

import threading
from collections.abc import Collection

FOR_ACCOUNT = "all files of this account's week are used"
FOR_ALL = "all files of this month are used"


class Queue:
    """The pull requests that wait, each with what it waits for.

    A webhook looks in several threads.
    """

    def __init__(self) -> None:
        self._reasons: dict[int, str] = {}
        self._lock = threading.Lock()

    def enter(self, number: int, why: str) -> int:
        """Let a pull request wait, and return its place."""
        with self._lock:
            self._reasons[number] = why
            return len(self._earlier(number)) + 1

    def leave(self, number: int) -> None:
        """Let a pull request wait no more."""
        with self._lock:
            self._reasons.pop(number, None)

    def drop_others(self, numbers: Collection[int]) -> None:
        """Let none wait but these."""
        with self._lock:
            for number in self._reasons.keys() - set(numbers):
                del self._reasons[number]

    def earlier_for_all(self, number: int) -> int:
        """Return the number of earlier ones that wait for the quota of all accounts."""
        with self._lock:
            reasons = [self._reasons[earlier] for earlier in self._earlier(number)]
        return reasons.count(FOR_ALL)

    def _earlier(self, number: int) -> list[int]:
        return [waiting for waiting in self._reasons if waiting < number]
