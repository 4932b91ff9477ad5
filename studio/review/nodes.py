"""Re-tagging a diagnosis: what a model has of each piece of evidence, by people who don't see what a tagger said."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from reelbench.registry.errors import InputError, number_of
from reelbench.registry.files import write_jsonl
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.text_tables import Table, number
from reelbench.studio.evidence.tagger_agreement import CODES, DIVERGENT, RIGHT, Judged, Node
from reelbench.studio.review import KindName
from reelbench.studio.review import review_items as parts
from reelbench.studio.review.pages import Content, Draw
from reelbench.studio.review.review_items import Item, Place
from reelbench.studio.review.review_kind import Marks, ReviewKind, Reviews, ReviewSummary, choice_alpha

MEANINGS = {
    RIGHT: "the model has it",
    "Temporal Localization": "it did not look at that part of the video",
    "Spatial Grounding": "it looked there and missed it, or counted too few",
    "Attribute Misidentification": "the right thing with a wrong colour, text, kind or name",
    "Spurious Object/Event": "it saw or heard what is not there, or counted too many",
    "Knowledge-Dependent Issue": "a fact from outside the video was lacking or wrong",
    "Reasoning": "no plan that finds it, or a wrong conclusion from what it had",
    DIVERGENT: "it goes another way to the answer, and a good one",
}
"""What can be said of a node, in our words (after CURVE, supplement, Tab. 8)."""


class EvidenceNodes(ReviewKind):
    """What went wrong at each node of an evidence graph."""

    name = KindName.NODES
    title = "Evidence"
    verb = "tagged"
    unit = "Attempt"
    consensus_unit = "Node"
    source = "diagnosis"
    choices = (("code", CODES),)
    advice = (
        "For each piece of evidence say whether the model's words hold it, in whatever words, language or order.",
        "Judge each by itself, also where what it rests on went wrong. What the model was told it may take up.",
        "The notes of the person who answered, and the evidence, are the truth about the video.",
    )

    def said(self, marks: Marks) -> str | None:
        """The code."""
        return marks.get("code")

    def settled(self, reviews: Reviews) -> tuple[dict[Node, str], list[str], float | None]:
        """Return the code of each node, the ids of open ones, and the alpha of what each gave before they talked.

        A node's code is what was decided, or what more than half of those who judged it gave; InputError where nothing
        is tagged.
        """
        codes: dict[Node, str] = {}
        still_open: list[str] = []
        units: list[list[str]] = []
        for name, by_reviewer in reviews.marks().items():
            given = [marks["code"] for marks in by_reviewer.values() if marks.get("code")]
            about = reviews.items.get(name, {})
            if not given or "node" not in about:
                continue
            units.append(given)
            code, most = Counter(given).most_common(1)[0]
            decided = reviews.decisions.get(name, {}).get("code")
            if decided or 2 * most > len(given):
                codes[str(about["question"]), str(about["node"])] = decided or code
            else:
                still_open.append(name)
        if not units:
            raise InputError("nothing is tagged in these files yet")
        return codes, still_open, choice_alpha(units, CODES)

    def summarize(self, reviews: Reviews) -> ReviewSummary:
        """Return the count of each code, and agreement; what is written is `{"id", "node", "code"}` in JSON Lines."""
        codes, still_open, alpha = self.settled(reviews)
        counts = Counter(codes.values())

        def write(path: Path) -> str:
            write_jsonl(path, ({"id": key, "node": node, "code": code} for (key, node), code in codes.items()))
            return f"{number_of(len(codes), 'node')} written to {path}, {len(still_open)} open"

        figures = {
            "nodes": len(codes) + len(still_open),
            "codes": {code: counts[code] for code in CODES},
            "open": still_open,
            "alpha": alpha,
        }
        rows = [*((code, str(counts[code])) for code in CODES), ("open", str(len(still_open)))]
        table = Table(f"{reviews.heading}, Krippendorff's alpha {number(alpha)}", ("code", "#nodes"), rows)
        return ReviewSummary(self, reviews, figures, [table], write)


NODES = EvidenceNodes()


def draw_nodes(spec: BenchmarkSpec, split: str, judged: Sequence[Judged], draw: Draw | None = None) -> Content:
    """Draw questions, each with all its attempts (which follow one another) and the nodes that were settled on them.

    The draw's seed decides which questions; without a draw it is all of them, every node at a place of its own.
    """
    by_question = {key: list(attempts) for key, attempts in groupby(judged, key=lambda attempt: attempt.question)}
    if not by_question:
        raise InputError("nothing to tag again: the tagger settled no node in this diagnosis")
    rows = {attempt.video: {"id": attempt.question, "video": attempt.video} for attempt in judged}
    if draw is None:
        alone = [Place(each.video, item["id"], [item]) for each in judged for item in _node_items(each, alone=True)]
        return Content(NODES, spec, split, alone, rows)
    drawn = random.Random(draw.seed).sample(sorted(by_question), min(draw.sample, len(by_question)))  # noqa: S311 - no secret
    places = [
        Place(attempt.video, f"{key}, attempt {attempt.round}", _node_items(attempt))
        for key in drawn
        for attempt in by_question[key]
    ]
    return Content(NODES, spec, split, places, {place.video: rows[place.video] for place in places})


def _node_items(attempt: Judged, *, alone: bool = False) -> list[Item]:
    texts = {  # whatever node is judged: nothing that a tagger said
        "Question": attempt.texts["question"],
        "Answer": attempt.texts["answer"],
        "A person's notes": attempt.texts["notes"],
        "The model was told": attempt.cue,
        "The model wrote": attempt.output or "(nothing)",
    }
    of_attempt = [parts.shown_text(heading, text, attempt.language) for heading, text in texts.items() if text]
    items: list[Item] = []
    for key in attempt.labels:
        node = attempt.graph.by_id[key]
        parents = [attempt.graph.by_id[parent].evidence for parent in node.parents]
        # What is one for all nodes of an attempt stands above the first of them.
        shows = [] if items and not alone else list(of_attempt)
        shows.append(parts.shown_text("Evidence", node.evidence, others=[f"rests on: {text}" for text in parents]))
        if node.windows:
            shows.append(parts.shown_span("Its time", node.windows[0]))
        options = [(code, f"{parts.capitalised(code)} – {meaning}") for code, meaning in MEANINGS.items()]
        asks = [parts.choice_ask("code", "In the model's words", options), parts.note_ask()]
        item = parts.review_item(f"{attempt.question} {node.id}", attempt.video, shows, asks)
        item["about"] |= {"question": attempt.question, "node": node.id, "round": attempt.round}
        items.append(item)
    return items
