"""The order in which a process asks questions that other machines ask too.

Machines that share replies would all begin with the first question, and each would mostly wait for
replies that another one is asking for. So each takes blocks of questions in an order of its own,
and comes to the others' blocks once their replies are there. The results don't depend on it.
"""

import secrets
from collections.abc import Sequence
from itertools import chain

BLOCK = 64
"""Questions of a block at least. A video's questions stay together."""


def places_in_own_order(videos: Sequence[str]) -> list[int]:
    """Return the places of questions, block by block, in a random order of blocks.

    Args:
        videos: The video of each question. Those of one video stand together.
    """
    blocks: list[list[int]] = [[]]
    previous_video: str | None = None
    for place, video in enumerate(videos):
        if len(blocks[-1]) >= BLOCK and video != previous_video:
            blocks.append([])
        blocks[-1].append(place)
        previous_video = video
    secrets.SystemRandom().shuffle(blocks)
    return list(chain.from_iterable(blocks))
