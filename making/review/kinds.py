"""All kinds of pages by name, and saved files merged whatever they were asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from reelbench.making.moment_pairs import WAGE
from reelbench.making.review import label_studio
from reelbench.making.review.answers import ANSWERS
from reelbench.making.review.audits import AUDITS
from reelbench.making.review.graphs import GRAPHS
from reelbench.making.review.kind_names import KindName
from reelbench.making.review.nodes import NODES
from reelbench.making.review.preferences import PREFERENCES
from reelbench.making.review.ratings import RATINGS
from reelbench.making.review.review_files import Review, Reviews, merge, parse_review
from reelbench.making.review.review_kind import ReviewKind, ReviewSummary
from reelbench.making.review.scores import SCORES
from reelbench.making.review.spans import QUESTION_SPANS, SPANS
from reelbench.making.review.tags import TAGS
from reelbench.making.review.written import WRITTEN
from reelbench.registry.files import read_json

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
        if label_studio.is_export(document):
            export = label_studio.parse(document, path)
            files += [(path, review) for review in export.reviews]
            ignored.update(export.ignored)
        else:
            files.append((path, _checked(parse_review(document, path), path)))
    return merge(files, dict(ignored), data, wage)


def summarize(paths: Sequence[Path], data: Path | None = None, wage: float = WAGE) -> ReviewSummary:
    """Merge reviewers' files of one page; arguments and errors as of `read`."""
    reviews = read(paths, data, wage)
    return KINDS[reviews.kind].summarize(reviews)


def _checked(review: Review, path: Path) -> Review:
    KINDS[review.ask].check(review, path)
    return review
