"""The defaults of asking: calls at once, seconds for a call, and the number of tries."""

CACHE_FILE = "judge.sqlite"
"""Replies of models, in the user's home."""
CONCURRENCY = 32
"""Calls in flight at one server."""
TIMEOUT = 120.0
"""Seconds for one call, from sending to the last byte."""
PATIENCE = 300.0
"""Seconds without a single reply, under 429, after which asking stops."""
CACHE_PATIENCE = 60.0
"""Seconds for which a database of replies that can't be reached is waited for."""

# None of these counts a 429: the server asks for less, no more.
TRIES = 5
"""Calls at most for one reply where the server fails.

It fails with an error, a timeout or a dropped connection.
"""
ATTEMPTS = 3
"""Replies at most for one question where they came and could not be read."""
REJECTIONS = 8
"""Refused requests, without one good reply, after which the server counts as refusing us."""
