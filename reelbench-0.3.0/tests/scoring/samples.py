"""Samples as comparisons and agreements take them."""

from reelbench.registry.records import Sample


def sample(id_, scores, video=None, **facets):
    """A sample with a label of each facet; without scores it is unscored."""
    return Sample(
        id=id_,
        video=video or id_,
        prediction="p",
        target={"text": "t"},
        state="scored" if scores else "unscored",
        reason=None if scores else "judge_unparsable",
        scores=scores,
        facets={name: [label] for name, label in facets.items()},
    )
