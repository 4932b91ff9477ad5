"""ReXTime: questions whose answer lies in another part of the video than the question; a span and an option each."""

from dataclasses import replace

from reelbench.registry.rows import DURATION, SPAN_FACETS
from reelbench.tasks.declarations import of_package

_SPEC = of_package(__name__, __file__)
SPEC = replace(_SPEC, columns=(DURATION, *_SPEC.columns), facets=(*_SPEC.facets, *SPAN_FACETS))
