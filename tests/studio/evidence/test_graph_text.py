"""A graph as lines: written by hand from what they stand for, and read back."""

import pytest

from reelbench.studio.evidence.graphs import Graph, Node
from reelbench.studio.review.evidence import from_text, to_text

BOOK = Graph(
    id="q",
    nodes=(
        Node(id="n1", evidence="A book: red, [torn].", timestamp="1:02 - 1:10"),
        Node(id="n2", evidence="Its writer\nis known.", parents=("n1",)),
        Node(id="n3", evidence="عند الدقيقة", timestamp="0:05", parents=("n1", "n2")),
    ),
)
LINES = """\
n1 [1:02 - 1:10]: A book: red, [torn].
n2 <- n1: Its writer is known.
n3 [0:05] <- n1, n2: عند الدقيقة"""


def test_lines_by_hand_and_back():
    assert to_text(BOOK) == LINES
    nodes, problems = from_text(f"\n{LINES.replace('n2 <- n1:', '  n2  <-  n1 : ')}\n\n")
    assert problems == []
    second = BOOK.nodes[1].model_copy(update={"evidence": "Its writer is known."})
    assert nodes == [BOOK.nodes[0], second, BOOK.nodes[2]]


def test_ids_that_no_line_holds_get_names():
    graph = Graph(
        id="q",
        nodes=(Node(id="Node 1", evidence="a"), Node(id="x:y", evidence="b", parents=("Node 1",))),
    )
    assert to_text(graph) == "n1: a\nn2 <- n1: b"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("n1 A book.", "line 1: expected `id"),
        ("n1: a\nn2 <- n9: b", "parent 'n9' does not exist"),
        ("n1 <- n2: a\nn2 <- n1: b", "is in a cycle"),
        ("n1: a\nn1: b", "occurs 2 times"),
        ("n1 [soon]: a", "timestamp 'soon'"),
        ("", "no node"),
    ],
)
def test_what_is_wrong(text, told):
    assert told in from_text(text)[1][0]
