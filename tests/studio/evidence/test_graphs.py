"""Evidence graphs: what is read, what is refused, and figures counted by hand."""

import json
import math
import random

import pytest
from pydantic import ValidationError

from reelbench.base.errors import InputError
from reelbench.studio.evidence import graphs
from reelbench.studio.evidence.graphs import (
    Graph,
    Node,
    count_warnings,
    read_graphs,
    read_nodes,
    statistics,
    warnings,
)
from tests.alarms import one_pass


def node(id_, *parents, evidence="seen", timestamp="N/A"):
    return {"id": id_, "evidence": evidence, "timestamp": timestamp, "parents": list(parents)}


def graph(*nodes, id_="q"):
    read, problems = read_nodes({"nodes": list(nodes)})
    assert problems == []
    return Graph(id=id_, nodes=tuple(read))


def file_of(tmp_path, *lines):
    path = tmp_path / "graphs.jsonl"
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines),
        encoding="utf-8",
    )
    return path


def test_a_node_is_what_it_was_read_as():
    (one,) = graph(node("a")).nodes
    with pytest.raises(ValidationError, match="frozen"):
        one.evidence = "another"
    with pytest.raises(ValidationError, match="Extra inputs"):
        Node(id="a", evidence="seen", colour="red")


def test_both_shapes_are_the_same_graph(tmp_path):
    paper = {
        "Node1": {"evidence": "A red book.", "timestamp": "0:59", "parent_nodes": []},
        "Node2": {"evidence": "Its writer.", "timestamp": "N/A", "parent_nodes": ["Node1"]},
    }
    ours = [
        node("Node1", evidence="A red book.", timestamp="0:59"),
        node("Node2", "Node1", evidence="Its writer."),
    ]
    path = file_of(tmp_path, {"id": "q1", "nodes": ours}, "", {"id": "q2", "solution_graph": paper})
    first, second = read_graphs(path)
    assert (first.id, second.id) == ("q1", "q2")
    assert first.nodes == second.nodes
    assert first.nodes[0].windows == ((59, 59),)
    assert second.model_dump(mode="json") == {"id": "q2", "nodes": ours}


def test_what_is_written_is_read_again(tmp_path):
    one = graph(node("b", "a"), node("a", timestamp="٠١:٠٢ – ٠١:٠٥"), node("c", "a", "b"))
    assert read_graphs(file_of(tmp_path, one.model_dump(mode="json"))) == [one]


def paper_line(text):
    return f'{{"id": "q7", "solution_graph": {{{text}}}}}'


MALFORMED = {
    "unknown parent": ([node("a"), node("b", "z")], ["'b'", "'z' does not exist"]),
    "cycle": ([node("a", "c"), node("b", "a"), node("c", "b")], ["cycle", "'a'", "'b'", "'c'"]),
    "self-edge": ([node("a", "a")], ["'a'", "its own parent"]),
    "double id": ([node("a"), node("a")], ["'a'", "2 times"]),
    "no node": ([], ["no node"]),
    "blank evidence": ([node("a", evidence=" \n")], ["'a'", "evidence is blank"]),
    "evidence missing": (
        [{"id": "a", "timestamp": "N/A", "parents": []}],
        ["'a'", "evidence is missing"],
    ),
    "unreadable time": ([node("a", timestamp="at the end")], ["'a'", "'at the end'", "N/A"]),
    "parents not a list": (
        [node("a"), node("b") | {"parents": "a"}],
        ["'b'", "parents is not a list"],
    ),
    "parents missing": (
        [{"id": "a", "evidence": "e", "timestamp": "N/A"}],
        ["'a'", "parents is not a list"],
    ),
    "a parent twice": ([node("a"), node("b", "a", "a")], ["'b'", "'a' is listed 2 times"]),
    "no node id": ([node(" ")], ["node number 1", "no id"]),
    "a node that is text": (["a"], ["node number 1", "not an object"]),
    "a node that is null": ([node("a"), None], ["node number 2", "not an object"]),
    "nodes that are a map": ({"a": node("a")}, ['"nodes" is not a list']),
}


@pytest.mark.parametrize(("nodes", "told"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_graph_names_line_id_and_node(tmp_path, nodes, told):
    path = file_of(tmp_path, {"id": "q1", "nodes": [node("a")]}, {"id": "q7", "nodes": nodes})
    with pytest.raises(InputError) as caught:
        read_graphs(path)
    message = str(caught.value)
    assert "\n" not in message
    assert all(text in message for text in [str(path), "line 2", "'q7'", *told])
    # A model is told the same of its reply.
    problems = read_nodes({"nodes": nodes})[1]
    assert all(text in problems[0] for text in told)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (paper_line('"Node1": {}, "Node1": {}'), ["line 1", "'Node1'", "twice"]),
        (
            paper_line(
                '"Node1": {"evidence": "e", "timestamp": "N/A", "parent_nodes": []}, '
                '"Node1": {"evidence": "half an emoji \\ud83d", "timestamp": "N/A", "parent_nodes": []}'
            ),
            ["line 1", "'Node1'", "twice"],
        ),
        ('{"id": "q7"}', ["line 1", "'q7'", "nodes", "solution_graph"]),
        ('{"id": "q7", "nodes": [], "solution_graph": {}}', ["line 1", "'q7'", "either"]),
        ('{"id": "q7", "solution_graph": {}}', ["line 1", "'q7'", "no node"]),
        ('{"id": "q7", "solution_graph": []}', ["line 1", "'q7'", "not a map"]),
        ('{"nodes": []}', ["line 1", "id"]),
        ("[1, 2]", ["line 1", "id"]),
        ('{"id": "q7", "nodes": [', ["line 1", "JSON"]),
        ("", ["no graph"]),
    ],
)
def test_a_line_that_is_not_a_graph(tmp_path, line, told):
    with pytest.raises(InputError) as caught:
        read_graphs(file_of(tmp_path, line))
    assert all(text in str(caught.value) for text in told)


def test_a_question_twice_names_both_lines(tmp_path):
    line = {"id": "q1", "nodes": [node("a")]}
    with pytest.raises(InputError, match=r"line 3, id 'q1'.* line 1 "):
        read_graphs(file_of(tmp_path, line, {"id": "q2", "nodes": [node("a")]}, line))


def test_all_problems_are_told_at_once():
    problems = read_nodes({"nodes": [node("a", "z"), node("b", "b"), node("c", evidence="")]})[1]
    assert len(problems) == 3


def test_hostile_ids_stay_on_one_line(tmp_path):
    with pytest.raises(InputError) as caught:
        read_graphs(
            file_of(tmp_path, {"id": "q\n\x1b[31m", "nodes": [node("a" * 5000, "\u2028\r\nz")]})
        )
    assert len(str(caught.value).splitlines()) == 1
    assert "\x1b" not in str(caught.value)


def test_numbers_may_be_ids():
    assert graph(node(1), node(2, 1)).order == ("1", "2")


# A diamond with a tail, listed out of order: a → b → d → e, a → c → d; f rests on a alone.
DIAMOND = [
    node("d", "b", "c"),
    node("a"),
    node("c", "a"),
    node("b", "a"),
    node("e", "d"),
    node("f", "a"),
]


def test_order_depth_and_layers_of_a_diamond():
    one = graph(*DIAMOND)
    assert one.order == ("a", "c", "b", "d", "e", "f")
    assert one.depths == {"a": 0, "b": 1, "c": 1, "f": 1, "d": 2, "e": 3}
    assert one.layers == [["a"], ["c", "b", "f"], ["d"], ["e"]]
    assert one.ends == ["e", "f"]
    assert one.children["a"] == ("c", "b", "f")


def test_random_graphs_as_networkx_has_them():
    networkx = pytest.importorskip("networkx")
    rng = random.Random(5)
    for _ in range(50):
        size = rng.randrange(1, 12)
        names = rng.sample(
            "abcdefghijkl", size
        )  # parents stand after their children as often as before
        above = {
            name: [other for other in names[:place] if rng.random() < 0.3]
            for place, name in enumerate(names)
        }
        one = graph(*(node(name, *above[name]) for name in sorted(names)))
        theirs = networkx.DiGraph()
        theirs.add_nodes_from(sorted(names))
        theirs.add_edges_from(
            (parent, child) for child, parents in above.items() for parent in parents
        )
        assert max(one.depths.values()) == networkx.dag_longest_path_length(theirs)
        assert list(one.order) == list(networkx.lexicographical_topological_sort(theirs))
        generations = [sorted(layer) for layer in networkx.topological_generations(theirs)]
        assert [sorted(layer) for layer in one.layers] == generations


def test_a_chain_as_long_as_a_graph_may_be():
    chain = graph(node("0"), *(node(str(n), str(n - 1)) for n in range(1, 500)))
    assert max(chain.depths.values()) == 499


def test_statistics_by_hand():
    # Nodes 1, 2, 6; times 0, 2, 1; edges 0, 1, 6; depth 0, 1, 3.
    times = {"a": "0:10, 0:20"}  # one node with a time, though it names two
    three = [
        graph(node("a"), id_="q1"),
        graph(node("a", timestamp="0:01"), node("b", "a", timestamp="0:01-0:02"), id_="q2"),
        graph(
            *(entry | {"timestamp": times.get(entry["id"], "N/A")} for entry in DIAMOND), id_="q3"
        ),
    ]
    figures = statistics(three)
    assert figures == {
        "questions": 3,
        "nodes": {"mean": 3, "sd": pytest.approx(math.sqrt(14 / 3)), "total": 9},
        "timestamps": {"mean": 1, "sd": pytest.approx(math.sqrt(2 / 3)), "total": 3},
        "edges": {"mean": pytest.approx(7 / 3), "sd": pytest.approx(math.sqrt(62 / 9)), "total": 7},
        "depth": {"mean": pytest.approx(4 / 3), "sd": pytest.approx(math.sqrt(14 / 9))},
    }
    by_locale = statistics(three, {"q1": "ta-IN", "q2": "en-GB", "q3": "ta-IN"})["locales"]
    assert list(by_locale) == ["en-GB", "ta-IN"]
    assert by_locale["ta-IN"]["questions"] == 2
    assert by_locale["ta-IN"]["nodes"] == {"mean": 3.5, "sd": 2.5, "total": 7}


def test_statistics_of_nothing_are_not_zero():
    assert statistics([])["nodes"] == {"mean": None, "sd": None, "total": 0}


def test_table_7_of_the_paper():
    """878 graphs with the printed totals (4351 nodes, 2743 timed, 3865 edges) have the printed means."""
    # 839 graphs of five nodes and 39 of four make 4351; some are given the edges and times that are
    # missing.
    sizes = [5] * 839 + [4] * 39
    timed = [3] * 769 + [4] * 109
    edges = [4] * 525 + [5] * 353
    assert (sum(sizes), sum(timed), sum(edges)) == (4351, 2743, 3865)
    edges.sort(reverse=True)  # five edges only where there are five nodes
    made = []
    for number, (size, times, links) in enumerate(zip(sizes, timed, edges, strict=True)):
        pairs = [(parent, child) for child in range(size) for parent in range(child)][:links]
        parents = {
            child: [str(parent) for parent, to in pairs if to == child] for child in range(size)
        }
        nodes = (
            node(str(n), *parents[n], timestamp="0:01" if n < times else "N/A") for n in range(size)
        )
        made.append(graph(*nodes, id_=str(number)))
    figures = statistics(made)
    assert figures["questions"] == 878
    assert [figures[name]["total"] for name in ("nodes", "timestamps", "edges")] == [
        4351,
        2743,
        3865,
    ]
    assert [round(figures[name]["mean"], 1) for name in ("nodes", "timestamps", "edges")] == [
        5.0,
        3.1,
        4.4,
    ]
    share = figures["timestamps"]["total"] / figures["nodes"]["total"]
    assert round(100 * share, 2) == 63.04


def test_warnings():
    answered = graph(node("a"), node("b", "a", evidence="So the answer is Twelve (12)."))
    assert warnings(answered, "twelve") == []
    assert warnings(answered, "thirteen") == [graphs.ANSWER_NOT_AT_END]
    assert warnings(graph(*DIAMOND)) == [graphs.SEVERAL_ENDS]
    apart = graph(node("a", timestamp="0:01, 0:09"), node("b"))
    assert warnings(apart) == [graphs.SEVERAL_ENDS, graphs.UNCONNECTED, graphs.SEVERAL_TIMES]
    assert count_warnings([answered, apart, graph(*DIAMOND)], {"q": "thirteen"}) == {
        "several_ends": 2,
        "answer_not_at_end": 3,
        "unconnected": 1,
        "several_times": 1,
    }


def test_a_graph_has_an_end():
    """A chain of thousands, or everything resting on everything, would take gigabytes to draw."""
    chain = [{"id": n, "evidence": "e", "parents": [n - 1] if n else []} for n in range(501)]
    assert graphs.read_nodes({"nodes": chain})[1] == ["1,001 nodes and edges; the maximum is 1,000"]
    assert graphs.read_nodes({"nodes": chain[:500]})[1] == []
    dense = [{"id": n, "evidence": "e", "parents": list(range(n))} for n in range(60)]
    assert graphs.read_nodes({"nodes": dense})[1] == ["1,830 nodes and edges; the maximum is 1,000"]


@pytest.mark.parametrize(
    "text", ["1:00" + " " * 1_000_000 + "x", "9" * 5000 + ":00", "1:00, " * 300_000]
)
def test_times_have_an_end(text):
    with one_pass():
        assert graphs.read_windows(text) is None
