"""Evidence graphs checked and mended: the page, its files put together, and what a diagnosis then takes."""

import json

import pytest
from typer.testing import CliRunner

from reelbench.data import loading
from reelbench.studio.evidence.graphs import read_graphs
from tests.program import app

GRAPHS = {
    "mini1": "n1 [0:00]: A lamp is lit.\nn2 <- n1: So it is night.",
    "mini2": "n1 [0:01]: A door opens.\nn2 <- n1: Somebody comes.",
    "mini3": "n1: Nothing.",
}


@pytest.fixture
def page_of_graphs(tmp_path):
    """Write the page of three questions of CURVE's mini data."""
    ids = [row["id"] for row in loading.locate("curve_mini").read()[:3]]
    assert ids == list(GRAPHS)
    nodes = {
        "mini1": [("n1", "0:00", [], "A lamp is lit."), ("n2", "N/A", ["n1"], "So it is night.")],
        "mini2": [("n1", "0:01", [], "A door opens."), ("n2", "N/A", ["n1"], "Somebody comes.")],
        "mini3": [("n1", "N/A", [], "Nothing.")],
    }
    path = tmp_path / "graphs.jsonl"
    path.write_text(
        "".join(
            json.dumps(
                {
                    "id": key,
                    "nodes": [
                        {"id": name, "timestamp": time, "parents": parents, "evidence": evidence}
                        for name, time, parents, evidence in graph
                    ],
                }
            )
            + "\n"
            for key, graph in nodes.items()
        )
    )

    def run(*more):
        out = tmp_path / "page.html"
        command = [
            "review",
            "page",
            "curve_mini",
            "--ask",
            "graphs",
            "--graphs",
            path,
            "--output",
            out,
            *more,
        ]
        done = CliRunner().invoke(app, list(map(str, command)), catch_exceptions=False)
        assert done.exit_code == 0
        return out

    return run


@pytest.fixture
def summarized(tmp_path):
    """Put files together; returns the figures, and the graphs that were written."""

    def run(*files):
        out = tmp_path / "mended.jsonl"
        command = ["review", "summarize", *files, "--write", out, "--json"]
        done = CliRunner().invoke(app, list(map(str, command)), catch_exceptions=False)
        return json.loads(done.stdout), {graph.id: graph for graph in read_graphs(out)}

    return run


def test_a_page_shows_steps_and_lines(page_of_graphs, data_of):
    places = {
        place["label"]: place["items"][0]
        for place in data_of(page_of_graphs("--sample", 30))["places"]
    }
    assert {name: item["asks"][0]["start"] for name, item in places.items()} == GRAPHS
    assert "A person's steps" in [show["heading"] for show in places["mini1"]["shows"]]


def test_files_are_put_together_and_what_mending_changed_is_counted(review, summarized):
    items = {name: {"video": "v", "graph": lines} for name, lines in GRAPHS.items()}
    about = {"ask": "graphs", "benchmark": "curve", "split": "mini", "items": items}
    mended = "n1 [0:02]: A lamp is lit.\nn2: A clock shows two.\nn3 <- n1, n2: So it is night."
    spaced = mended.replace("n3 <- n1", "n3  <-  n1") + "\n\n"
    said = {
        "mini1": {"state": "right", "graph": mended},
        "mini2": {"state": "right"},
        "mini3": {"state": "unusable"},
    }
    ada = review("Ada", said, **about)
    ben = {"mini1": {"state": "right", "graph": spaced}, "mini2": {"state": "unusable"}}
    figures, graphs = summarized(ada, review("Ben", ben, **about))
    # They differ on mini2; the same lines with other spaces are the same graph.
    assert figures["states"] == {"right": 0, "mended": 1, "unusable": 1}
    assert (figures["open"], figures["unusable"]) == (["mini2"], ["mini3"])
    # n1 has another time; n2 says another thing and rests on nothing; n3 is new.
    assert figures["changed"] == {
        "added": 1,
        "removed": 0,
        "reworded": 1,
        "retimed": 1,
        "rewired": 1,
    }
    assert [(node.id, node.parents) for node in graphs["mini1"].nodes] == [
        ("n1", ()),
        ("n2", ()),
        ("n3", ("n1", "n2")),
    ]
    assert graphs.keys() == {"mini1"}
    broken = review("Cy", {"mini1": {"state": "right", "graph": "n1 <- n2: x"}}, **about)
    done = CliRunner().invoke(app, ["review", "summarize", str(broken)])
    assert "field marks.mini1.graph: node 'n1': parent 'n2' does not exist" in str(done.exception)


@pytest.mark.browser
def test_a_graph_is_mended_on_the_page(opened, save, page_of_graphs, summarized):
    from playwright.sync_api import expect

    page = opened(page_of_graphs("--seed", 1))
    page.get_by_label("Question", exact=True).select_option(
        label=page.locator("option", has_text="mini1").inner_text()
    )
    box = page.get_by_label("Graph on mini1")
    expect(box).to_have_value(GRAPHS["mini1"])
    for lines, fault in (
        ("n1 a lamp", "Line 1 is not"),
        ("n1: a\nn1: b", "the name n1 is there already"),
        ("n1 <- n9: a", "n1 rests on n9, which is not there"),
        ("n1 <- n2: a\nn2 <- n1: b", "n1 rests on itself, by way of others"),
    ):
        box.fill(lines)
        expect(page.locator(".fault")).to_contain_text(fault)
    box.fill("n1 [0:03]: A lamp is lit.\nn2 <- n1: So it is night.")
    expect(page.locator(".fault")).to_have_text("")
    page.get_by_label("Right, with the lines as they are now").check()
    expect(page.get_by_role("status")).to_contain_text("1 of 3 checked")
    figures, graphs = summarized(save(page, "Ada"))
    assert (figures["states"]["mended"], figures["changed"]["retimed"]) == (1, 1)
    assert graphs["mini1"].by_id["n1"].timestamp == "0:03"
