"""Who is next: an order of work that one submitter can't fill."""

MOST = 10_000
"""Pull requests that wait, of all submitters together."""


class Turns:
    """Pull requests that wait, by lane; in each lane submitters take turns, whatever number of theirs waits.

    What waits twice waits once, and nothing is looked at twice at a time. Where `most` wait, whoever has the most of
    them loses the newest.
    """

    def __init__(self, lanes: int, most: int = MOST) -> None:
        self._lanes: list[dict[str, dict[int, None]]] = [{} for _ in range(lanes)]
        self._busy: set[int] = set()
        self._most = most

    def __len__(self) -> int:
        """How many wait."""
        return sum(len(numbers) for lane in self._lanes for numbers in lane.values())

    def add(self, number: int, submitter: str, lane: int = 0) -> int | None:
        """Let a pull request wait in one lane, the first that it is told to; return what loses its place by it."""
        if any(number in earlier.get(submitter, ()) for earlier in self._lanes[:lane]):
            return None
        for later in self._lanes[lane + 1 :]:
            _leave(later, submitter, number)
        self._lanes[lane].setdefault(submitter, {})[number] = None
        if len(self) <= self._most:
            return None
        crowded = max(self._lanes, key=lambda lane: max(map(len, lane.values()), default=0))
        most = max(crowded, key=lambda name: len(crowded[name]))
        newest = next(reversed(crowded[most]))
        _leave(crowded, most, newest)
        return newest

    def take(self, lane: int) -> tuple[int, str] | None:
        """Return the next pull request of a lane and its submitter, who is then behind all others; None where none."""
        waiting = self._lanes[lane]
        for submitter, numbers in waiting.items():
            number = next((number for number in numbers if number not in self._busy), None)
            if number is not None:
                del waiting[submitter], numbers[number]
                if numbers:
                    waiting[submitter] = numbers
                self._busy.add(number)
                return number, submitter
        return None

    def done(self, number: int) -> None:
        """Say that a pull request that was taken is looked at no more."""
        self._busy.discard(number)


def _leave(lane: dict[str, dict[int, None]], submitter: str, number: int) -> None:
    numbers = lane.get(submitter, {})
    numbers.pop(number, None)
    if not numbers:
        lane.pop(submitter, None)
