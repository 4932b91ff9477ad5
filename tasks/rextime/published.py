"""Numbers that others published on ReXTime, with where they stand."""

from reelbench.registry.spec import PublishedResult

PUBLISHED: tuple[PublishedResult, ...] = ()
