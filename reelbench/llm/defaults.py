"""The defaults of asking: calls at once, seconds for a call, and the number of tries."""

CACHE_FILE = "judge.sqlite"
"""Replies of models, in the user's home."""
CONCURRENCY = 64
"""Calls in flight at one server at most (`llm.pace`)."""
TIMEOUT = 120.0
"""Seconds in which a server has to finish something."""
LONG_TIMEOUT = 600.0
"""The same where answers are long: a model that thinks, or a limit above `LONG_ANSWER`."""
LONG_ANSWER = 4096
"""Tokens."""
PATIENCE = 300.0
"""Seconds after which asking stops, where a server asks for fewer calls and replies to none."""
CACHE_PATIENCE = 60.0
"""Seconds for which a database of replies that can't be reached is waited for."""

TRIES = 5
"""Calls at most for one reply where the server fails.

It fails with an error, a timeout or a dropped connection.
"""
ATTEMPTS = 3
"""Replies at most for one question where they came and could not be read."""
HOPELESS = 20
"""Failures of any kind, without one answer, after which asking on is of no use."""
REJECTIONS = 8
"""Refused requests, without one good reply, after which the server counts as refusing us."""
