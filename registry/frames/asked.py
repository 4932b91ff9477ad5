"""Which frame sampling this process was asked for: `REELBENCH_FRAMES`, which `reelbench run --frames` sets too."""

import os

from reelbench.registry.frames.sampling import FrameSampling

ENV = "REELBENCH_FRAMES"


def from_environment() -> FrameSampling | None:
    """Return the sampling in `REELBENCH_FRAMES`, or None where it is not set; InputError where it is no sampling."""
    spec = os.environ.get(ENV, "").strip()
    return FrameSampling.parse(spec) if spec else None
