"""`reelbench data fetch`: annotations and videos from a spec's sources, planned first, then fetched in parallel.

A plan says what will be transferred and how much before it starts. Running it never stops at a failure: what could not
be had is reported at the end with its reason, and the next run continues from what is here.
"""

from reelbench.registry.data.fetch.planning import Failure, FetchPlan, plan, yt_dlp
from reelbench.registry.data.fetch.running import WORKERS, FetchReport, Progress, run
from reelbench.registry.data.fetch.transfers import Transfer, VerifiedFiles

__all__ = [
    "WORKERS",
    "Failure",
    "FetchPlan",
    "FetchReport",
    "Progress",
    "Transfer",
    "VerifiedFiles",
    "plan",
    "run",
    "yt_dlp",
]
