"""A ranker on 127.0.0.1: scores a candidate by the last number that its own text says it is `worth`.

As its own process:    python -m tests.servers.ranker --delay 0.2        (prints its URL; GET /calls counts)
"""

import re

from tests.servers.judge import Answer, Call, serve_with_delay

WORTH = re.compile(r"worth (-?\d+)")


def play(call: Call) -> Answer:
    """Pointwise the number itself; listwise the place of the highest number, the first of equal ones."""
    worth = [int(number) for number in WORTH.findall(call.user)]
    if "from 1 to" in call.system:
        return Answer(str(1 + worth.index(max(worth))) if worth else "none of them")
    return Answer(str(worth[-1]) if worth else "a fine answer")


if __name__ == "__main__":
    serve_with_delay(play, __doc__)
