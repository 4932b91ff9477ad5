"""Numbers that others published on CURVE, with where they stand."""

from reelbench.registry.spec import PublishedResult

PUBLISHED: tuple[PublishedResult, ...] = ()
