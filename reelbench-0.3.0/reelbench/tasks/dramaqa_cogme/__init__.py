"""DramaQA with CogME: five options on scenes of a television drama.

Results are parted by difficulty and by what has to be understood.
"""

from dataclasses import replace

from reelbench.registry.spec import Mean, Metric
from reelbench.scoring import cognitive_profile as cogme
from reelbench.tasks.declarations import of_package

_CITE = 'CogME, section "Scoring the Questions and Prediction Results"'
# A label's points are those of its questions' THINKING, in what was achieved as in what could be.
_POINTS = Mean(column="correct", scale=100, weight_by="thinking", weights=cogme.THINKING_WEIGHTS)
_RATES = (
    Metric(
        name="rate",
        title="Questions answered right",
        unit="percent",
        aggregate=Mean(column="correct", scale=100),
        cite=_CITE,
    ),
    Metric(name="weighted_rate", title="Points won", unit="percent", aggregate=_POINTS, cite=_CITE),
)
_PROFILE = tuple(
    replace(facet, metrics=_RATES) for facet in cogme.FACETS if facet.name in cogme.COMPONENTS
)

_SPEC = of_package(__name__, __file__)
SPEC = replace(_SPEC, facets=(*_SPEC.facets, *_PROFILE))
