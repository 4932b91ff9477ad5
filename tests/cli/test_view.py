"""`reelbench view`: pages straight from run folders, without a store and without the network."""

import json

import pytest

from reelbench.data import loading
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.scored import score_files


@pytest.fixture
def run(tmp_path):
    """Score a letter for every question of a mini split; returns the result's folder."""

    def scored(place, name, letter):
        path = tmp_path / f"{letter}.csv"
        ids = [row["id"] for row in loading.locate(name, "mini").read()]
        path.write_text("id,prediction\n" + "".join(f'{one},"{letter} [0, 9]"\n' for one in ids))
        score_files(
            name, Inputs(path, split="mini"), tmp_path / place, Options(), model=f"org/{letter}"
        )
        return tmp_path / place

    return scored


def test_a_page_is_made_without_the_network_and_its_path_is_printed(
    run, reelbench, network_asked, tmp_path
):
    folder = run("one", "rextime", "A")
    done = reelbench("view", folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("index.html")
    page = (tmp_path / "home" / "views").glob("rextime-mini-*/index.html")
    assert [str(path) for path in page] == [done.stdout.strip()]
    assert reelbench("view", folder / "result.json").stdout == done.stdout
    assert not network_asked.exists()


def test_runs_of_several_tasks_get_a_page_each(run, reelbench, tmp_path):
    for letter in "AB":
        run(f"{letter}/rextime", "rextime", letter)
        run(f"{letter}/dramaqa", "dramaqa_cogme", letter)
    done = reelbench("view", tmp_path / "A", tmp_path / "B", "--out", tmp_path / "view")
    assert done.returncode == 0, done.stderr
    names = ["dramaqa_cogme-mini", "rextime-mini"]
    assert done.stdout.split() == [str(tmp_path / "view" / name / "index.html") for name in names]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere"], "nowhere: no such run"),
        (["."], "no result.json in it"),
        (
            ["one", "two"],
            "only results on the same benchmark, version and split stand side by side",
        ),
        (["one", "--out", "one"], "has other files in it"),
        (["one", "--pictures", "-1"], "--pictures"),
    ],
)
def test_a_wrong_call_is_told_in_a_line(run, reelbench, tmp_path, arguments, told):
    if "one" in arguments:
        run("one", "rextime", "A")
        run("two", "dramaqa_cogme", "A")
    (tmp_path / "empty").mkdir()
    done = reelbench("view", *arguments, cwd=tmp_path / "empty" if arguments == ["."] else tmp_path)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())


def test_items_of_two_runs_as_data(run, reelbench, tmp_path):
    first, second = run("one", "rextime", "A"), run("two", "rextime", "B")
    done = reelbench(
        "compare", first, second / "result.json", "--items", tmp_path / "items.jsonl", "--json"
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    rows = loading.locate("rextime", "mini").read()
    assert [line["id"] for line in lines] == [row["id"] for row in rows]
    for line, row in zip(lines, rows, strict=True):
        assert line["a"]["scores"]["correct"] == (row["answer"] == "A")
        assert line["difference"]["correct"] == (row["answer"] == "A") - (row["answer"] == "B")
        assert (line["a"]["state"], line["b"]["prediction"]) == ("scored", "B [0, 9]")
    document = json.loads(done.stdout)
    assert document["settings"] == {"model.id": ["org/A", "org/B"]}
    assert document["metrics"]["accuracy"]["difference"] == pytest.approx(
        100 * sum(line["difference"]["correct"] for line in lines) / 12
    )


def test_run_folders_are_compared_by_the_benchmark_that_both_have(run, reelbench, tmp_path):
    run("A/rextime", "rextime", "A")
    run("A/dramaqa", "dramaqa_cogme", "A")
    second = run("B", "rextime", "B")
    done = reelbench("compare", tmp_path / "A", second, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["both"] == 12
    done = reelbench("compare", tmp_path / "A", tmp_path / "A")
    assert done.returncode == 2
    assert "2 pairs of them share benchmark, version and split" in done.stderr
