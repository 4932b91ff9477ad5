"""Graphs as DOT, Mermaid and SVG: what other programs make of them, hostile words included."""

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import pytest

from reelbench.studio.evidence.graph_svg import to_dot, to_mermaid, to_svg
from reelbench.studio.evidence.graphs import Graph, Node
from tests.alarms import PATIENCE_S

SVG = "{http://www.w3.org/2000/svg}"
DIAMOND = Graph(
    id="q1",
    nodes=(
        Node(id="Node1", evidence="A red book.", timestamp="0:59"),
        Node(id="Node2", evidence="Its writer.", parents=("Node1",)),
        Node(id="Node3", evidence="Its corner is torn.", parents=("Node1",)),
        Node(id="Node4", evidence="The college.", parents=("Node2", "Node3")),
    ),
)
HOSTILE = [
    '"]; evil -> n0; subgraph x {',
    'end"]\nclick n0 href "javascript:alert(1)"',
    "</text><script>alert(1)</script>",
    "' onload='alert(1)",
    "\\N \\G \\",
    "<b>bold</b> &amp; &#60; #quot; #35;",
    '%%{init: {"securityLevel": "loose"}}%%',
    "`**bold**` 1. list - item",
    "style a fill: x#fff;",
    "\x00\x1b[31m\x0b \ud83d \ufffe \u2028 tab\t",
    "நடுவர் 審判はここで笛を吹いた ٠١:٠٢ \u202e evil",
]


def hostile(text):
    return Graph(
        id=text,
        nodes=(Node(id=text, evidence=text), Node(id="b", evidence="plain", parents=(text,))),
    )


def layout(dot):
    """Return what Graphviz itself reads: its nodes' labels by name, and the edges."""
    program = shutil.which("dot")
    if program is None:
        pytest.skip("Graphviz is not installed here")
    read = subprocess.run(
        [program, "-Tjson0"],
        input=dot,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=True,
    )
    assert read.stderr == ""
    parsed = json.loads(read.stdout)
    names = {thing["_gvid"]: thing["name"] for thing in parsed["objects"]}
    edges = [(names[edge["tail"]], names[edge["head"]]) for edge in parsed.get("edges", [])]
    return {thing["name"]: thing["label"] for thing in parsed["objects"]}, edges


@pytest.mark.parametrize(
    "sign", [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
)
def test_no_sign_turns_round_what_stands_behind_it_and_marks_that_help_stay(sign):
    for drawn in (to_dot, to_mermaid):
        assert sign not in drawn(hostile(f"a{sign}b\u200f"))
        assert f"#{ord(sign)};" not in drawn(hostile(f"a{sign}b\u200f"))
    assert "\u200f" in to_dot(hostile(f"a{sign}b\u200f"))


def test_what_stands_beside_those_signs_stays():
    for drawn in (to_dot, to_mermaid):
        assert "10 000" in drawn(hostile("10\u202f000"))  # a narrow blank is a blank
    assert "\u206a" in to_dot(hostile("a\u206ab"))


def test_dot_as_graphviz_reads_it():
    labels, edges = layout(to_dot(DIAMOND))
    assert labels == {
        "n0": "Node1 · 0:59\\nA red book.",
        "n1": "Node2\\nIts writer.",
        "n2": "Node3\\nIts corner is torn.",
        "n3": "Node4\\nThe college.",
    }
    assert sorted(edges) == [("n0", "n1"), ("n0", "n2"), ("n1", "n3"), ("n2", "n3")]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_are_only_words_to_graphviz(text):
    labels, edges = layout(to_dot(hostile(text)))
    assert set(labels) == {"n0", "n1"}
    assert edges == [("n0", "n1")]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_in_their_dot_string(text):
    lines = to_dot(hostile(text)).splitlines()
    assert len(lines) == 7
    for line in lines[3:5]:
        assert re.fullmatch(r'  n\d \[label="(?:[^"\\]|\\.)*"\];', line)


def test_mermaid_of_a_diamond():
    assert to_mermaid(DIAMOND).splitlines() == [
        "flowchart LR",
        '  n0["Node1 #183; 0#58;59<br/>A red book#46;"]',
        '  n1["Node2<br/>Its writer#46;"]',
        '  n2["Node3<br/>Its corner is torn#46;"]',
        '  n3["Node4<br/>The college#46;"]',
        "  n0 --> n1",
        "  n0 --> n2",
        "  n1 --> n3",
        "  n2 --> n3",
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_mermaid_sees_only_letters_and_codes(text):
    lines = to_mermaid(hostile(text)).splitlines()
    assert len(lines) == 4
    label = re.fullmatch(r'  n0\["(.*)<br/>(.*)"\]', lines[1])
    for part in label.groups():
        rest = re.sub(r"#\d+;", "", part)
        assert not set(rest) & set("\"'`#<>&;:%{}[]()|\\*_-.~$@")


def pictured(svg):
    root = ET.fromstring(svg)  # noqa: S314 - our own drawing
    groups = {group.get("data-node"): group for group in root.iter(f"{SVG}g")}
    return root, groups


def test_an_svg_has_a_column_for_each_depth():
    root, groups = pictured(to_svg(DIAMOND))
    boxes = {key: group.find(f"{SVG}rect") for key, group in groups.items()}
    across = {key: float(box.get("x")) for key, box in boxes.items()}
    assert across["Node1"] < across["Node2"] == across["Node3"] < across["Node4"]
    top, below = boxes["Node2"], boxes["Node3"]
    assert float(top.get("y")) + float(top.get("height")) < float(below.get("y"))
    assert len(root.findall(f"{SVG}path")) == 2 * 4  # a line and a head for each edge
    assert (root.find(f"{SVG}title").text, root.get("role")) == ("q1", "img")


def test_an_edge_that_skips_a_column_passes_beside_its_boxes():
    """a → b → c, a → c, and d beside b: the long edge runs level through the second column, between or below boxes."""
    nodes = (("a", ()), ("b", ("a",)), ("d", ("a",)), ("c", ("a", "b", "d")))
    root, groups = pictured(
        to_svg(
            Graph(
                id="q",
                nodes=tuple(Node(id=key, evidence=key * 90, parents=above) for key, above in nodes),
            )
        )
    )
    level = [
        re.search(r" ([\d.]+)H([\d.]+)C", path.get("d")) for path in root.findall(f"{SVG}path")
    ]
    heights = [float(match[1]) for match in level if match]
    assert len(heights) == 1
    for box in (groups[key].find(f"{SVG}rect") for key in "bd"):
        assert (
            not float(box.get("y")) <= heights[0] <= float(box.get("y")) + float(box.get("height"))
        )


def test_what_rests_on_the_upper_box_stands_above():
    nodes = (("a", ()), ("b", ()), ("below", ("b",)), ("above", ("a",)))
    _, groups = pictured(
        to_svg(
            Graph(
                id="q", nodes=tuple(Node(id=key, evidence=key, parents=ids) for key, ids in nodes)
            )
        )
    )
    height = {key: float(group.find(f"{SVG}rect").get("y")) for key, group in groups.items()}
    assert height["above"] < height["below"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_are_only_words_in_an_svg(text):
    svg = to_svg(hostile(text))
    root, _ = pictured(svg)
    svg.encode("utf-8")
    assert not set(svg) & set("\u202e\x1b\x0b")
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg",
        "title",
        "rect",
        "text",
        "g",
        "path",
    }
    names = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in names if name.startswith("on") or name in ("id", "href", "style")}


def test_long_evidence_is_cut_to_its_box_and_kept_whole_in_its_title():
    long = "審判はここで笛を吹いた。" * 40
    root, groups = pictured(to_svg(Graph(id="q", nodes=(Node(id="a", evidence=long),))))
    lines = [text.text for text in groups["a"].iter(f"{SVG}text")][1:]
    assert len(lines) == 5
    assert lines[-1].endswith("…")
    assert all(len(line) <= 15 for line in lines)  # each takes two of the box's thirty columns
    assert groups["a"].find(f"{SVG}title").text == long
    assert root.find(f"{SVG}text").text == "q"


def test_the_same_bytes_each_time():
    assert to_svg(DIAMOND) == to_svg(DIAMOND.model_copy())
