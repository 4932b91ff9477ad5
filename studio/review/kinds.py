"""All kinds of pages by name, and saved files merged whatever they were asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from reelbench.registry.files import read_json
from reelbench.studio.moment_pairs import WAGE
from reelbench.studio.review import label_studio
from reelbench.studio.review.answers import ANSWERS
from reelbench.studio.review.audits import AUDITS
from reelbench.studio.review.graphs import GRAPHS
from reelbench.studio.review.kind_names import KindName
from reelbench.studio.review.nodes import NODES
from reelbench.studio.review.preferences import PREFERENCES
from reelbench.studio.review.ratings import RATINGS
from reelbench.studio.review.review_files import Review, Reviews, merge, parse_review
from reelbench.studio.review.review_kind import ReviewKind, ReviewSummary
from reelbench.studio.review.scores import SCORES
from reelbench.studio.review.spans import QUESTION_SPANS, SPANS
from reelbench.studio.review.tags import TAGS
from reelbench.studio.review.written import WRITTEN

KINDS: Mapping[KindName, ReviewKind] = {
    kind.name: kind
    for kind in (RATINGS, SPANS, QUESTION_SPANS, ANSWERS, TAGS, SCORES, NODES, PREFERENCES, GRAPHS, AUDITS, WRITTEN)
}


def read(paths: Sequence[Path], data: Path | None = None, wage: float = WAGE) -> Reviews:
    """Read files that pages saved, and exports of Label Studio; InputError names what is wrong, and where.

    `data` is the benchmark's own, where what people marked needs it; `wage` dollars an hour of their work.
    """
    files: list[tuple[Path, Review]] = []
    ignored: Counter[str] = Counter()
    for path in paths:
        document = read_json(path)
        if isinstance(document, list):  # Label Studio's, where a page of ours saves an object
            export = label_studio.parse(document, path)
            files += [(path, review) for review in export.reviews]
            ignored.update(export.ignored)
        else:
            review = parse_review(document, path)
            KINDS[review.ask].check(review, path)
            files.append((path, review))
    return merge(files, dict(ignored), data, wage)


def summarize(paths: Sequence[Path], data: Path | None = None, wage: float = WAGE) -> ReviewSummary:
    """Merge reviewers' files of one page; arguments and errors as of `read`."""
    reviews = read(paths, data, wage)
    return KINDS[reviews.kind].summarize(reviews)
