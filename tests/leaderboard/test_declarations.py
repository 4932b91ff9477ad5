"""Results on a benchmark whose file changed between two runs: which stand in one table, and that none goes missing."""

import copy
import csv
import json
import shutil

import pytest

import reelbench as reelbench_face
from reelbench.base.errors import InputError
from reelbench.leaderboard import board, site, store
from reelbench.leaderboard.exports import tables as export_tables
from reelbench.registry import discovery
from reelbench.registry.declaration import declared_benchmark, scoring_sha256
from tests.servers.judge import Answer, JudgeServer

N = 36
HEAD = "id: kitchen\ntitle: Kitchen films\nkind: choice\nsource: {file: rows.jsonl}\n"
COLUMNS = "columns: {id: qid, video: clip, question: q, options: choices, answer: gold"


def rows(n=N, changed=()):
    """The kitchen's questions, 3 a video; those that `changed` names have another right answer."""
    return [
        {
            "qid": f"q{number:02}",
            "clip": f"clip{number // 3}.mp4",
            "q": f"Which of four pans is used in scene {number}?",
            "choices": ["the red one", "the blue one", "the copper one", "the small one"],
            "gold": "BCDA"[number % 4] if number in changed else "ABCD"[number % 4],
            "topic": "pots" if number % 2 else "pans",
        }
        for number in range(n)
    ]


def kitchen(folder, table, head=HEAD, facet="topic", file="rows.jsonl"):
    """A `benchmark.yaml` and its rows; without a `facet` none."""
    folder.mkdir(parents=True)
    with_facet = (f"facets: [{facet}]\n", f", {facet}: topic") if facet else ("", "")
    (folder / "benchmark.yaml").write_text(
        head.replace("rows.jsonl", file) + with_facet[0] + COLUMNS + with_facet[1] + "}\n",
        encoding="utf-8",
    )
    if file.endswith(".csv"):
        with (folder / file).open("w", newline="") as out:
            writer = csv.DictWriter(out, fieldnames=list(table[0]))
            writer.writeheader()
            writer.writerows({**row, "choices": json.dumps(row["choices"])} for row in table)
    else:
        (folder / file).write_text(
            "".join(json.dumps(row) + "\n" for row in table), encoding="utf-8"
        )
    return folder


@pytest.fixture
def run(reelbench, tmp_path, monkeypatch):
    """Score a model on a benchmark's folder, give the result a date, and file it: -> what `add` said."""

    def scored(model, folder, day, wrong=5):
        answers = tmp_path / f"{model.replace('/', '-')}.jsonl"
        file = folder / "rows.jsonl"
        given = (
            [json.loads(line) for line in file.read_text().splitlines()]
            if file.is_file()
            else rows()
        )
        lines = [
            {
                "id": row["qid"],
                "prediction": row["choices"][0 if number < wrong else "ABCD".index(row["gold"])],
            }
            for number, row in enumerate(given)
        ]
        answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
        out = tmp_path / "runs" / model
        done = reelbench(
            "score", folder, "--predictions", answers, "--model", model, "--output", out
        )
        assert done.returncode == 0, done.stderr
        path = out / "result.json"
        document = json.loads(path.read_text())
        document["provenance"]["date"] = f"2026-03-{day:02}T00:00:00+00:00"
        path.write_text(json.dumps(document))
        added = reelbench("leaderboard", "add", out, "--store", tmp_path / "store")
        assert added.returncode == 0, added.stderr
        return added.stderr

    monkeypatch.setattr(discovery, "_registry", None)
    return scored


def tables(path):
    """Label of a table -> its models, from the best down."""
    made = board.make(path, published=False)
    assert made.left_out == {}
    return {
        group.label: [entry.model for entry in made.entries if entry.group == group]
        for group in made.groups["kitchen"]
    }


def test_a_run_without_frames_of_a_declared_benchmark_is_not_ranked(run, tamper, tmp_path):
    folder = kitchen(tmp_path / "a", rows())
    frames = {"org/seeing": "uniform:8", "org/blind": "none"}
    for model in frames:
        run(model, folder, 1)
        out = tamper(
            tmp_path / "runs" / model,
            result=lambda result: result["settings"].update(frames=frames[result["model"]["id"]]),
        )
        store.add(out, tmp_path / "board")
    made = board.make(tmp_path / "board", published=False)
    assert made.left_out == {}
    kinds = {entry.model: entry.kind for entry in made.entries}
    assert kinds == {"org/seeing": "run", "org/blind": "blind"}
    ranks = {entry.model: made.ranks.get(entry.key) for entry in made.entries}
    assert ranks == {"org/seeing": 1, "org/blind": None}


@pytest.mark.parametrize(("first", "second"), [("zeta/one", "beta/new"), ("beta/new", "zeta/one")])
@pytest.mark.parametrize("facet_first", [True, False])
def test_a_facet_more_or_less_parts_nothing_in_any_order_of_names(
    first, second, facet_first, run, tmp_path
):
    run(first, kitchen(tmp_path / "a", rows(), facet="topic" if facet_first else None), 1)
    said = run(
        second, kitchen(tmp_path / "b", rows(), facet=None if facet_first else "topic"), 2, wrong=20
    )
    assert "of its own" not in said
    assert tables(tmp_path / "store") == {"test": [first, second]}
    made = board.make(tmp_path / "store", published=False)
    assert [facet.name for facet in made.specs["kitchen"].facets] == ["topic"]
    assert sorted(bool(entry.breakdowns) for entry in made.entries) == [False, True]


def test_titles_licences_files_and_columns_part_nothing(run, tmp_path):
    run("zeta/one", kitchen(tmp_path / "a", rows()), 1)
    other = (
        HEAD.replace("Kitchen films", "Films of kitchens") + "licence: mit\nsummary: Reworded.\n"
    )
    run("beta/new", kitchen(tmp_path / "b", rows(), head=other, file="rows.csv"), 2, wrong=20)
    assert tables(tmp_path / "store") == {"test": ["zeta/one", "beta/new"]}
    made = board.make(tmp_path / "store", published=False)
    assert made.specs["kitchen"].title == "Kitchen films"


def test_changed_answers_have_a_table_of_their_own_named_by_what_differs(run, tmp_path):
    run("zeta/one", kitchen(tmp_path / "a", rows()), 1)
    said = run("beta/new", kitchen(tmp_path / "b", rows(30, changed=range(0, 30, 2))), 2)
    assert "a table of its own: 15 of 30 answers changed, 6 questions fewer @" in said
    found = tables(tmp_path / "store")
    assert list(found.values()) == [["zeta/one"], ["beta/new"]]
    assert next(iter(found)) == "test"
    assert "15 of 30 answers changed, 6 questions fewer" in list(found)[1]
    made = board.make(tmp_path / "store", published=False)
    assert made.main["kitchen"].differs is None


def test_changed_answers_are_told_by_check_and_never_take_the_first_ones_place(
    run, reelbench, tmp_path
):
    run("zeta/one", kitchen(tmp_path / "a", rows()), 1)
    run("zeta/one", kitchen(tmp_path / "b", rows(changed=range(15))), 2)
    assert len(tables(tmp_path / "store")) == 2
    out = tmp_path / "runs" / "zeta/one"
    report = tmp_path / "report.md"
    done = reelbench(
        "leaderboard", "check", out, "--store", tmp_path / "store", "--markdown", report
    )
    assert done.returncode == 0
    assert "15 of 36 answers changed" in done.stderr
    assert "15 of 36 answers changed" in report.read_text()


def test_another_metric_has_a_table_of_its_own(run, tmp_path):
    run("zeta/one", kitchen(tmp_path / "a", rows()), 1)
    result = tmp_path / "runs" / "zeta/one" / "result.json"
    document = json.loads(result.read_text())
    name = document["benchmark"]["declaration"]["metrics"][0]["name"]
    text = json.dumps(document).replace(f'"{name}"', '"share_right"')
    document = json.loads(text)
    document["model"]["id"] = "beta/new"
    document["provenance"]["date"] = "2026-03-02T00:00:00+00:00"
    result.write_text(json.dumps(document))
    [refused] = store.add(result.parent, tmp_path / "store")
    assert "scoring_sha256" in refused.why
    digest = scoring_sha256(declared_benchmark(json.dumps(document["benchmark"]["declaration"])))
    document["benchmark"]["scoring_sha256"] = digest
    result.write_text(json.dumps(document))
    [added] = store.add(result.parent, tmp_path / "store")
    assert added.outcome == "added", added.why
    assert f"scored without {name}, with share_right @{digest[:8]}" in added.why
    assert list(tables(tmp_path / "store").values()) == [["zeta/one"], ["beta/new"]]
    site.build(tmp_path / "store", tmp_path / "site", published=False)


@pytest.mark.parametrize("scale", [0, -100, float("inf"), "1", None])
def test_a_scale_that_no_board_could_rank_by_is_refused(scale, run, tmp_path):
    run("zeta/one", kitchen(tmp_path / "a", rows()), 1)
    path = tmp_path / "runs" / "zeta/one" / "result.json"
    document = json.loads(path.read_text())
    document["benchmark"]["declaration"]["metrics"][0]["aggregate"]["scale"] = scale
    with pytest.raises(InputError, match="expected one above 0"):
        declared_benchmark(json.dumps(document["benchmark"]["declaration"]))


@pytest.mark.parametrize(
    "name", ["=cmd|' /C calc'!A0", "<b>x</b>", "__proto__", "a|b", "../x", "a\x1b[2J", ""]
)
def test_a_name_that_heads_a_column_or_a_folder_is_a_word(name, run, tmp_path):
    run("zeta/one", kitchen(tmp_path / "a", rows()), 1)
    document = json.loads((tmp_path / "runs" / "zeta/one" / "result.json").read_text())
    for part in ("metrics", "tasks"):
        declaration = copy.deepcopy(document["benchmark"]["declaration"])
        declaration[part][0]["name"] = name
        with pytest.raises(InputError, match="characters other than letters"):
            declared_benchmark(json.dumps(declaration))


def test_a_title_of_several_lines_or_of_markup_is_one_cell(run, tmp_path):
    run("zeta/one", kitchen(tmp_path / "a", rows()), 1)
    path = tmp_path / "runs" / "zeta/one" / "result.json"
    document = json.loads(path.read_text())
    document["benchmark"]["declaration"]["metrics"][0]["title"] = "a\r\n<script>|b"
    path.write_text(json.dumps(document))
    store.add(path.parent, tmp_path / "other")
    text = export_tables.tables(board.make(tmp_path / "other", published=False), "markdown")
    assert "| a &lt;script&gt;&#124;b |" in text


def test_every_command_works_on_such_a_store(run, reelbench, tmp_path):
    run("zeta/one", kitchen(tmp_path / "a", rows()), 1)
    run("beta/new", kitchen(tmp_path / "b", rows(), facet=None), 2, wrong=20)
    run("eta/more", kitchen(tmp_path / "c", rows(30, changed=range(0, 30, 2)), facet="topic"), 3)
    for name in "abc":
        shutil.rmtree(tmp_path / name)
    at = tmp_path / "store"
    runs = [tmp_path / "runs" / name for name in ("zeta/one", "beta/new")]
    commands = [
        ("leaderboard", "list", "--store", at),
        ("leaderboard", "tables", "--store", at, "--benchmark", "kitchen"),
        ("leaderboard", "build", "--store", at, "--out", tmp_path / "site"),
        (
            "leaderboard",
            "export",
            at,
            "--out",
            tmp_path / "eee",
            "--format",
            "eee",
            "--organization",
            "us",
        ),
        ("leaderboard", "check", runs[1], "--store", at),
        ("view", *runs, "--out", tmp_path / "view"),
        ("compare", *runs),
        ("compare", *reversed(runs), "--json"),
        ("power", runs[0]),
    ]
    for words in commands:
        done = reelbench(*words)
        assert done.returncode == 0, (words, done.stderr)
        # It states no licence, so nobody else gets its answers.
        assert not [
            line
            for line in done.stderr.splitlines()
            if "left out" in line and ": its samples: " not in line
        ]
    assert set(reelbench_face.results(at).model) == {"zeta/one", "beta/new", "eta/more"}


def test_judging_again_works_on_such_a_store(reelbench, tmp_path, monkeypatch):
    """Two declarations of one judged benchmark, of which one has a facet more, in any order of names."""
    table = [
        {
            "qid": f"q{n}",
            "clip": f"clip{n}.mp4",
            "q": f"Why, in scene {n}?",
            "gold": "Tea.",
            "topic": "pots",
        }
        for n in range(12)
    ]
    said, at = "columns: {id: qid, video: clip, question: q, answer: gold", tmp_path / "store"
    with JudgeServer(lambda call: Answer('{"score": 2}', model=call.body["model"])) as server:
        for model, facet in (("zeta/one", "topic"), ("beta/new", None)):
            folder = kitchen(
                tmp_path / model.replace("/", "-"),
                table,
                head=HEAD.replace("choice", "open"),
                facet=facet,
            )
            document = (
                (folder / "benchmark.yaml").read_text(encoding="utf-8").replace(COLUMNS, said)
            )
            (folder / "benchmark.yaml").write_text(document, encoding="utf-8")
            answers = folder / "answers.jsonl"
            answers.write_text(
                "".join(
                    json.dumps({"id": row["qid"], "prediction": "For tea."}) + "\n" for row in table
                )
            )
            out = tmp_path / "runs" / model
            words = (
                "--predictions",
                answers,
                "--model",
                model,
                "--output",
                out,
                "--judge-url",
                server.url,
            )
            done = reelbench("score", folder, *words, "--judge", "earlier", "--no-overlap")
            assert done.returncode == 0, done.stderr
            added = reelbench("leaderboard", "add", out, "--store", at)
            assert added.returncode == 0, added.stderr
        monkeypatch.setenv("REELBENCH_BENCHMARKS", str(folder))
        done = reelbench(
            "leaderboard", "rejudge", "--store", at, "--judge", "later", "--judge-url", server.url, "--json",
            "--out", tmp_path / "again",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["kitchen"]["results"]
    assert {(one["model"], one["old"]["value"], one["new"]["value"]) for one in found} == {
        ("zeta/one", 100, 100), ("beta/new", 100, 100),
    }  # fmt: skip
    made = board.make(at, published=False)
    assert {group.judge for group in made.groups["kitchen"]} == {"earlier", "later"}
