"""So many questions of each label: one draw, whoever is asked."""

import json

import pytest

from reelbench.data import loading
from reelbench.registry.strata import Strata
from reelbench.scoring.cognitive_profile import read_tags
from tests.servers.judge import Answer, JudgeServer

LABELS = {
    f"q{n}": {"locale": ["ja" if n % 3 else "sw"], "kinds": ["a", "b"][: n % 3]} for n in range(30)
}


def test_of_each_label_there_are_so_many_and_what_else_is_there_changes_nothing():
    drawn = Strata("locale", 4).draw("x", LABELS)
    assert sum(LABELS[name]["locale"] == ["sw"] for name in drawn) == 4
    assert len(drawn) == 8
    assert drawn == Strata("locale", 4).draw("x", dict(reversed(LABELS.items())))
    assert drawn != Strata("locale", 4).draw("x", LABELS, seed=1)
    # Fewer are among more; another label's questions, or some that were not drawn, may be away.
    assert Strata("locale", 2).draw("x", LABELS) < drawn
    japanese = {name: of for name, of in LABELS.items() if of["locale"] == ["ja"]}
    assert Strata("locale", 4).draw("x", japanese) == drawn & japanese.keys()
    fewer_labels = {name: of for name, of in LABELS.items() if name in drawn or int(name[1:]) % 2}
    assert Strata("locale", 4).draw("x", fewer_labels) == drawn
    assert Strata("locale", 99).draw("x", LABELS) == LABELS.keys()
    # A question may have several labels or none.
    assert all(LABELS[name]["kinds"] for name in Strata("kinds", 99).draw("x", LABELS))


@pytest.fixture
def drawn():
    """The ids of CURVE's mini rows, one of each category, as the helper draws them."""
    located = loading.locate("curve_mini")
    ids = {row["id"] for row in Strata("category", 1).draw_rows(located.spec, located.read())}
    assert 1 < len(ids) < len(list(located.read()))
    return ids


def test_a_model_is_asked_these_alone(reelbench, drawn, tmp_path):
    with JudgeServer(lambda _call: Answer("a carp")) as server:
        model = ["--llm", "m", "--llm-url", server.url, "--frames", "none", "--output", tmp_path]
        done = reelbench("ask", "curve_mini", *model, "--per", "category=1")
        assert done.returncode == 0, done.stderr
        both = reelbench("ask", "curve_mini", *model, "--per", "category=1", "--limit", 3)
    lines = (tmp_path / "curve_mini" / "samples.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"] for line in lines} == drawn
    assert (both.returncode, "--per and --limit: give one of them" in both.stderr) == (2, True)


def test_a_tagger_tags_these_alone(reelbench, drawn, tmp_path):
    tags = {"target": ["Character"], "content": ["Identity"], "thinking": "Recall", "why": "x"}
    with JudgeServer(lambda _call: Answer(json.dumps(tags))) as server:
        model = ["--llm", "m", "--llm-url", server.url, "--llm-votes", 1]
        done = reelbench(
            "make",
            "tags",
            "curve_mini",
            "--out",
            tmp_path / "t.jsonl",
            "--per",
            "category=1",
            *model,
        )
    assert done.returncode == 0, done.stderr
    assert read_tags(tmp_path / "t.jsonl").keys() == drawn


@pytest.mark.parametrize(
    "command",
    [
        ("review", "page", "curve_mini"),
        ("make", "tags", "curve_mini", "--plan", "--llm", "m"),
        ("ask", "curve_mini", "--llm", "m", "--llm-url", "http://127.0.0.1:9", "--frames", "none"),
    ],
)
@pytest.mark.parametrize(
    ("per", "says"),
    [("taste=1", "curve has the fields locale, category"), ("x", "as in locale=10")],
)
def test_the_fields_that_there_are_are_named(reelbench, command, per, says):
    done = reelbench(*command, "--per", per)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
