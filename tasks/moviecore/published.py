"""Numbers that others published on MovieCORE, with where they stand."""

from reelbench.registry.spec import PublishedResult

PUBLISHED: tuple[PublishedResult, ...] = ()
