"""Numbers that others published on DramaQA and CogME, with where they stand."""

from reelbench.registry.spec import PublishedResult

PUBLISHED: tuple[PublishedResult, ...] = ()
