"""A benchmark in one file: rows of any shape, what is refused and where, and what is left out."""

import hashlib
import json
import re

import pytest

import reelbench as face
from reelbench.base.errors import InputError
from reelbench.registry import benchmark_file, discovery
from reelbench.registry.declaration import declaration
from reelbench.registry.discovery import Registry
from reelbench.registry.records import BenchmarkRecord, SourceRecord
from reelbench.scoring import result_files
from tests.servers.files import Response
from tests.servers.hub import HubServer, Token

CHOICE = "id: shapes\nkind: choice\nsource: {file: rows.jsonl}\n"
PLAIN = {"id": "n", "video": "clip", "question": "q", "options": "o", "answer": "a"}
ASKED = {"n": 7, "clip": "one.mp4", "q": "Which cup?"}


def write(folder, head, columns, rows, file="rows.jsonl"):
    folder.mkdir(exist_ok=True, parents=True)
    listed = "".join(f"  {name}: {json.dumps(column)}\n" for name, column in columns.items())
    (folder / "benchmark.yaml").write_text(f"{head}columns:\n{listed}", encoding="utf-8")
    text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    (folder / file).write_text(text, encoding="utf-8")
    return folder


ANSWERS = [
    ({"o": ["red", "blue", "green"], "a": "blue"}, PLAIN),
    ({"o": ["red", "blue", "green"], "a": " Blue "}, PLAIN),
    ({"o": ["red", "blue", "green"], "a": "B"}, PLAIN),
    ({"o": ["red", "blue", "green"], "a": "(b)"}, PLAIN),
    ({"o": ["A. red", "B. blue", "C. green"], "a": "B. blue"}, PLAIN),
    ({"o": ["(A) red", "(B) blue", "(C) green"], "a": "blue"}, PLAIN),
    ({"o": {"A": "red", "B": "blue", "C": "green"}, "a": "B"}, PLAIN),
    ({"o": {"first": "red", "second": "blue", "third": "green"}, "a": "second"}, PLAIN),
    ({"o": "['red', 'blue', 'green']", "a": "blue"}, PLAIN),
    ({"o": '["red", "blue", "green"]', "a": "B"}, PLAIN),
    ({"o": "A. red\nB. blue\nC. green", "a": "B"}, PLAIN),
    (
        {"x1": "red", "x2": "blue", "x3": "green", "x4": "", "a": "blue"},
        {**PLAIN, "options": ["x1", "x2", "x3", "x4"]},
    ),
    (
        {"in": {"o": ["red", "blue", "green"], "a": "B"}},
        {**PLAIN, "options": "in.o", "answer": "in.a"},
    ),
]


@pytest.mark.parametrize(("cells", "columns"), ANSWERS)
def test_a_choice_is_read_from_any_shape(cells, columns, tmp_path):
    write(tmp_path / "b", CHOICE, columns, [{**ASKED, **cells}])
    (row,) = face.load(str(tmp_path / "b"))
    assert (row["id"], row["video"], row["question"]) == ("7", "one.mp4", "Which cup?")
    assert (row["options"], row["answer"]) == (["red", "blue", "green"], "B")


@pytest.mark.parametrize(
    ("answer_text", "answers", "letters"),
    [
        ("", [0, 2], "AC"),
        ("", [1, 3], "AC"),
        ("answer_is: index0\n", [1, 2], "BC"),
        ("answer_is: index1\n", [1, 2], "AB"),
        ("", ["2", "1"], None),
    ],
)
def test_a_number_is_an_answer_where_only_one_reading_is_left(
    answer_text, answers, letters, tmp_path
):
    rows = [
        {**ASKED, "n": n, "o": ["red", "blue", "green"], "a": answer}
        for n, answer in enumerate(answers)
    ]
    folder = write(tmp_path, CHOICE + answer_text, PLAIN, rows)
    if letters is None:
        with pytest.raises(
            InputError, match=r"rows\.jsonl, line 1 .*index0 or as index1.*say which with answer_is"
        ):
            face.load(str(folder))
    else:
        assert "".join(face.load(str(folder))["answer"]) == letters


SPANS = [
    ({"w": [3, 9.5]}, {"span": "w"}, [3, 9.5]),
    ({"w": [[3, 9.5]]}, {"span": "w"}, [3, 9.5]),
    ({"w": [[3, 5], [8, 9]]}, {"span": "w"}, [3, 5, 8, 9]),
    ({"w": "[3, 9.5]"}, {"span": "w"}, [3, 9.5]),
    ({"w": {"from": "0:03", "to": "0:09.5"}}, {"span": "w"}, [3, 9.5]),
    ({"w": "3-9.5"}, {"span": "w"}, [3, 9.5]),
    ({"s": "3", "e": 9.5}, {"start": "s", "end": "e"}, [3, 9.5]),
    ({"s": 3, "e": "1:00:09"}, {"span": ["s", "e"]}, [3, 3609]),
]


@pytest.mark.parametrize(("cells", "columns", "ends"), SPANS)
def test_a_span_is_read_from_any_shape(cells, columns, ends, tmp_path):
    head = "id: found\nkind: span\nsource: {file: rows.jsonl}\n"
    named = {"id": "{clip}_{n}", "video": "films/{clip}", "question": "q", **columns}
    write(tmp_path, head, named, [{**ASKED, **cells}])
    (row,) = face.load(str(tmp_path / "benchmark.yaml"))
    assert (row["id"], row["video"], row["span"]) == ("one.mp4_7", "films/one.mp4", ends)


def test_ids_are_text_in_every_kind_of_file(tmp_path):
    import pandas as pd

    table = pd.DataFrame(
        {"n": [7, 8], "clip": ["c", "c"], "q": ["Why?", "How?"], "a": ["so", "thus"]}
    )
    for suffix, save in {
        "csv": "to_csv",
        "parquet": "to_parquet",
        "xlsx": "to_excel",
        "json": "to_json",
    }.items():
        folder = tmp_path / suffix
        columns = {name: PLAIN[name] for name in ("id", "video", "question", "answer")}
        head = f"id: asked_{suffix}\nkind: exact\nsource: {{file: rows.{suffix}}}\n"
        write(folder, head, columns, "", file="none.txt")
        more = {"orient": "records"} if suffix == "json" else {"index": False}
        getattr(table, save)(folder / f"rows.{suffix}", **more)
        assert face.load(str(folder))["id"] == ["7", "8"]


GOOD = CHOICE + "columns: {id: n, video: clip, question: q, options: o, answer: a}\n"
BROKEN = [
    ("kind: choice", "kind: chioce", "line 2: kind is 'chioce', expected choice, span"),
    ("columns:", "colums:", "line 4: unknown key 'colums'; did you mean 'columns'?"),
    ("id: shapes", "id: Shapes!", "line 1: id is 'Shapes!'"),
    ("id: shapes", "id: rextime", "'rextime' is also a name in reelbench.tasks.rextime"),
    (
        "{file: rows.jsonl}",
        "{fle: rows.jsonl}",
        "line 3: unknown key 'source.fle'; did you mean 'file'?",
    ),
    ("id: n, ", "", "line 4: columns.id is missing"),
    (
        "answer: a",
        "answer: a, anser: b",
        "line 4: unknown key 'columns.anser'; did you mean 'answer'?",
    ),
    ("id: shapes", "id: shapes\nid: again", "line 2: the key 'id' occurs twice"),
    ("id: shapes", "id: shapes\n? [a]\n: b", "line 2: a key is a list or a mapping"),
    ("kind: choice", "kind: choice\njudge: {prompts: curve}", "line 3: kind choice takes no judge"),
    (
        "kind: choice",
        "kind: choice\nprompt: ask.txt",
        "line 3: prompt: ask.txt is not next to this file",
    ),
    (
        "{file: rows.jsonl}",
        "{hub: a/b, revision: v1, file: r.json}",
        "line 3: source.revision is 'v1', expected a commit",
    ),
    (
        "{file: rows.jsonl}",
        "{url: 'http://a/b', sha256: abc}",
        "line 3: source.sha256 is 'abc', expected 64 hex digits",
    ),
    (
        "kind: choice",
        "kind: choice\nfacets: [video]",
        "line 3: facets: 'video' is one of Reelbench's columns",
    ),
    (
        "kind: choice",
        "kind: choice\nmedia: {roots: [$REELBENCH_HOME/$OTHER]}",
        "expected a folder, or one below $REELBENCH_",
    ),
    ("kind: choice", "kind: choice\ntask: 't$(x)'", "task is 't$(x)', expected letters"),
    (
        "kind: choice",
        "kind: choice\nmedia: {layouts: [videos]}",
        "line 3: media.layouts: 'videos' must name {video}",
    ),
    ("kind: choice", "kind: &k choice\ntitle: *k", "has YAML aliases"),
    (
        "kind: choice",
        "kind: choice\nversion: one",
        "line 3: version is 'one', expected a whole number",
    ),
    (
        "kind: choice",
        "kind: choice\nsplits: {a: {task: 'b c'}}",
        "line 3: splits.a.task is 'b c', expected letters",
    ),
    ("columns:", "- columns:", "not valid YAML"),
]


@pytest.mark.parametrize(("before", "after", "line"), BROKEN)
def test_what_is_wrong_in_the_file_is_one_line(before, after, line, tmp_path):
    (tmp_path / "benchmark.yaml").write_text(GOOD.replace(before, after), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        discovery.find(str(tmp_path))
    assert line in str(raised.value)
    assert str(tmp_path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_every_row_that_is_wrong_is_a_line_with_its_place(tmp_path, reelbench):
    good = {**ASKED, "o": ["red", "blue"], "a": "red"}
    rows = [
        good,
        {**good, "n": 8, "a": "pink"},
        {**good},
        {key: value for key, value in good.items() if key != "q"} | {"n": 9},
        {**good, "n": 10, "o": ["red"]},
        {**good, "n": None},
    ]
    write(tmp_path, CHOICE, PLAIN, rows)
    done = reelbench("check", tmp_path)
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    for line, what in {
        2: "the answer 'pink' is not one of its options (A: red; B: blue)",
        3: "the id '7' occurs twice, first at",
        4: "has no column 'q'; it has n, clip, o, a",
        5: "options has 1 options, expected 2 to 26",
        6: "id (n) is empty",
    }.items():
        assert any(
            f"rows.jsonl, line {line} (row {line})" in line_text and what in line_text
            for line_text in lines
        ), (what, lines)
    assert any("the video 'one.mp4' is missing" in line_text for line_text in lines)
    assert lines[0] == "1 of 6 rows readable; `skip: unreadable` goes on without the others"
    assert len(lines) == 7
    assert json.loads(reelbench("check", tmp_path, "--json").stdout)["splits"]["test"]["rows"] == 1


def test_letters_that_are_no_options_are_not_several_of_them(tmp_path):
    for answer, line_text in {
        "NA": "is not one of its options (A: red; B: blue)",
        "AB": "names several options",
    }.items():
        write(tmp_path, CHOICE, PLAIN, [{**ASKED, "o": ["red", "blue"], "a": answer}])
        with pytest.raises(InputError, match=re.escape(line_text)):
            face.load(str(tmp_path))


def test_a_prompt_takes_further_columns_of_the_rows_and_no_others(tmp_path):
    write(
        tmp_path,
        CHOICE + "prompt: ask.txt\n",
        PLAIN,
        [{**ASKED, "o": ["a", "b"], "a": "a", "subs": "Hello"}],
    )
    (tmp_path / "ask.txt").write_text("{subs} {question}\n{options}", encoding="utf-8")
    assert face.load(str(tmp_path))["subs"] == ["Hello"]
    (tmp_path / "ask.txt").write_text("{sbs} {question}", encoding="utf-8")
    with pytest.raises(InputError, match=r"rows\.jsonl, line 1 \(row 1\): has no column 'sbs'"):
        face.load(str(tmp_path))
    (tmp_path / "ask.txt").write_text("{question} }", encoding="utf-8")
    with pytest.raises(InputError, match=r"ask\.txt is not a template"):
        face.load(str(tmp_path))


def test_predictions_may_have_the_owners_column_of_ids_and_references_their_columns(
    tmp_path, score
):
    rows = [{**ASKED, "n": n, "o": ["red", "blue"], "a": "red"} for n in range(2)]
    folder = write(tmp_path, CHOICE, PLAIN, rows)
    answers = tmp_path / "answers.jsonl"
    answers.write_text(
        '{"n": 0, "prediction": "A"}\n{"n": 1, "prediction": "A"}\n', encoding="utf-8"
    )
    assert score(folder, "--predictions", answers)["metrics"]["accuracy"]["value"] == 100
    second_file = tmp_path / "other.jsonl"
    second_file.write_text(
        "".join(json.dumps({**row, "a": "blue"}) + "\n" for row in rows[:1]), encoding="utf-8"
    )
    document = score(folder, "--predictions", answers, "--references", second_file)
    assert (document["metrics"]["accuracy"]["value"], document["counts"]["items"]) == (0, 1)


def test_rows_come_from_the_hub_and_from_a_url_at_what_is_pinned(tmp_path, reelbench):
    rows = "".join(json.dumps({**ASKED, "n": n, "a": "so"}) + "\n" for n in range(2))
    columns = {name: PLAIN[name] for name in ("id", "video", "question", "answer")}
    with HubServer() as hub:
        row_lines = "".join(json.dumps({**ASKED, "n": n}) + "\n" for n in range(2))
        right = json.dumps([{"n": 0, "a": "so"}, {"n": 1, "a": "no"}])
        files = {
            "data/test.jsonl": rows,
            "dev.csv": "n,clip,q,a\n7,c,Why?,so\n",
            "asked.jsonl": row_lines,
            "right.json": right,
        }
        commit = hub.add("org/asked", files).head
        hub.files["/kept.jsonl"] = Response(body=rows.encode())
        hub.files["/two/asked.jsonl"] = Response(body=row_lines.encode())
        hub.files["/two/right.json"] = Response(body=right.encode())
        digest = hashlib.sha256(rows.encode()).hexdigest()
        heads = {
            "at_url": f"source: {{url: '{hub.url}/kept.jsonl', sha256: {digest}}}",
            "at_hub": f"source: {{hub: org/asked, revision: {commit}, files: {{test: data/test.jsonl, dev: dev.csv}}}}"
            "\nsplits: {test: {}, dev: {}}",
            "two_at_hub": f"source: {{hub: org/asked, revision: {commit}, file: asked.jsonl}}\n"
            "join: {file: right.json, by: n}",
            "two_at_url": f"source: {{url: '{hub.url}/two/asked.jsonl'}}\njoin: {{file: right.json, by: n}}",
        }
        environ = {**hub.env(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        environ["REELBENCH_ALLOW_HOSTS"] = "127.0.0.1"
        for name, source in heads.items():
            folder = write(
                tmp_path / name,
                f"id: {name}\nkind: exact\n{source}\n",
                columns,
                "",
                file="none.txt",
            )
            missing = reelbench("check", folder, env=environ)
            assert (missing.returncode, "reelbench data fetch" in missing.stderr) == (2, True)
            fetched = reelbench("data", "fetch", folder, env=environ)
            assert fetched.returncode == 0, fetched.stderr
            template = reelbench("score", folder, "--template", env=environ)
            assert [line.partition(",")[0] for line in template.stdout.splitlines()] == [
                "id",
                "0",
                "1",
            ]
        dev = (tmp_path / "at_hub", "--split", "dev")
        assert reelbench("data", "fetch", *dev, env=environ).returncode == 0
        assert reelbench("score", *dev, "--template", env=environ).stdout.count("7,c,") == 1


def test_a_folder_reads_a_private_dataset_only_where_its_user_allows_his_token(tmp_path, reelbench):
    rows = "".join(json.dumps({**ASKED, "n": n, "a": "so"}) + "\n" for n in range(2))
    columns = {name: PLAIN[name] for name in ("id", "video", "question", "answer")}
    with HubServer() as hub:
        commit = hub.add("owner/private", {"rows.jsonl": rows}, private=True).head
        hub.tokens["hf_of_the_owner"] = Token("owner")
        environ = hub.env(tmp_path / "hf") | {"HF_HUB_OFFLINE": "0", "HF_TOKEN": "hf_of_the_owner"}
        folder = write(
            tmp_path / "theirs",
            f"id: theirs\nkind: exact\nsource: {{hub: owner/private, revision: {commit}, "
            "file: rows.jsonl}\n",
            columns,
            "",
            file="none.txt",
        )
        refused = reelbench("data", "fetch", folder, env=environ)
        assert refused.returncode != 0
        assert "--allow-token" in refused.stderr
        assert not [each for each in hub.requests if each.token]
        reelbench("check", folder, "--allow-token", env=environ)
        fetched = reelbench("data", "fetch", folder, env=environ)
        assert fetched.returncode == 0, fetched.stderr
        # Another folder finds the file in the client's cache, and may not read it either.
        (tmp_path / "others").mkdir()
        other = tmp_path / "others" / "benchmark.yaml"
        other.write_text((tmp_path / "theirs" / "benchmark.yaml").read_text(encoding="utf-8"))
        told = reelbench("score", other, "--template", env=environ)
        assert (told.returncode != 0, '"so"' in told.stdout) == (True, False)


def test_facets_splits_and_a_folder_of_judge_prompts(tmp_path):
    head = (
        "id: asked\nkind: open\nsource: {file: rows.jsonl}\nfacets: [topic]\n"
        "splits: {dev: {source: {file: dev.jsonl}}, test: {}}\njudge: {prompts: marks, scale: [0, 10], criteria: [care, truth]}\n"
    )
    columns = {name: PLAIN[name] for name in ("id", "video", "question", "answer")}
    row = {**ASKED, "a": "so", "topic": "food"}
    write(tmp_path, head, columns, [row, {**row, "n": 8, "topic": ["art", "food"]}])
    (tmp_path / "dev.jsonl").write_text(json.dumps({**row, "topic": None}), encoding="utf-8")
    (tmp_path / "marks").mkdir()
    for name in ("care.txt", "truth.txt", "user.txt"):
        (tmp_path / "marks" / name).write_text("{question} {reference} {answer}", encoding="utf-8")
    spec = discovery.find(str(tmp_path))
    assert [metric.name for metric in spec.metrics] == ["average", "care", "truth", "exact_match"]
    assert spec.primary.unit == "percent"
    assert [task.name for task in spec.tasks] == ["asked", "asked_dev", "asked_test"]
    assert face.load("asked", "test")["topic"] == [["food"], ["art", "food"]]
    assert face.load("asked")["topic"] == [[]]
    (tmp_path / "benchmark.yaml").write_text(
        (tmp_path / "benchmark.yaml").read_text(encoding="utf-8").replace("marks", "nobody"),
        encoding="utf-8",
    )
    with pytest.raises(
        InputError,
        match=r"line 6: judge\.prompts is 'nobody', expected moviecore, curve, or a folder",
    ):
        discovery.find(str(tmp_path))


def test_broken_ones_are_a_line_each_and_everything_else_works(tmp_path, reelbench):
    for name, (before, after, _) in zip("abcdefg", BROKEN, strict=False):
        (tmp_path / name).mkdir()
        (tmp_path / name / "benchmark.yaml").write_text(
            GOOD.replace(before, after), encoding="utf-8"
        )
    write(tmp_path / "whole", CHOICE, PLAIN, [{**ASKED, "o": ["a", "b"], "a": "a"}])
    answers = tmp_path / "answers.csv"
    answers.write_text("id,prediction\nmini1,A\n", encoding="utf-8")
    environ = {"REELBENCH_BENCHMARKS": str(tmp_path)}
    done = reelbench("list", "--json", env=environ)
    assert done.returncode == 0
    assert json.loads(done.stdout)["shapes"]["tasks"] == ["shapes"]
    assert len(done.stderr.splitlines()) == 7
    assert all(
        "is left out: " in line and "benchmark.yaml" in line for line in done.stderr.splitlines()
    )
    scored = reelbench("score", "rextime_mini", "--predictions", answers, "--json", env=environ)
    assert json.loads(scored.stdout)["counts"]["items"] == 12
    missed = reelbench("info", "a", env=environ)
    assert (missed.returncode, missed.stderr.splitlines()[-1].count("left out, because")) == (2, 1)


def test_a_benchmark_whose_folder_is_gone_is_handed_to_no_other_process(tmp_path):
    folder = write(tmp_path / "b", CHOICE, PLAIN, [{**ASKED, "o": ["a", "b"], "a": "a"}])
    discovery.find(str(folder))
    assert discovery.opened_files() == [str(folder / "benchmark.yaml")]
    (folder / "benchmark.yaml").unlink()
    assert discovery.opened_files() == []


def test_a_result_declares_its_benchmark_and_can_claim_no_other(tmp_path, monkeypatch):
    folder = write(tmp_path / "b", CHOICE, PLAIN, [{**ASKED, "o": ["a", "b"], "a": "a"}])
    face.score(str(folder), [{"id": "7", "prediction": "A"}]).save(tmp_path / "out")
    assert str(tmp_path) not in (tmp_path / "out" / "result.json").read_text(encoding="utf-8")
    monkeypatch.setattr(discovery, "_registry", None)
    result = result_files.read(tmp_path / "out")
    assert discovery.spec_of(result.benchmark).primary.name == "accuracy"
    assert "shapes" not in discovery.specs()
    assert result.data == "owners"
    document = result.model_dump(mode="json")
    for name, declared in (
        ("rextime", {}),
        ("shapes", {"title": 7}),
        ("shapes", {"kinds": ["os"]}),
        ("x", {}),
    ):
        document["benchmark"] |= {
            "id": name,
            "declaration": {**result.benchmark.declaration, **declared},
        }
        (tmp_path / "out" / "result.json").write_text(json.dumps(document), encoding="utf-8")
        if name == "rextime":
            claimed = result_files.read(tmp_path / "out")
            assert discovery.spec_of(claimed.benchmark).package == "reelbench.tasks.rextime"
        else:
            with pytest.raises(InputError, match=r"field benchmark\.declaration"):
                result_files.read(tmp_path / "out")


@pytest.fixture
def shapes(tmp_path):
    """A benchmark of a file's, broken down by topic."""
    rows = [{**ASKED, "o": ["a", "b"], "a": "a", "t": "cups"}]
    return benchmark_file.read(
        write(tmp_path / "b", f"{CHOICE}facets: [topic]\n", {**PLAIN, "topic": "t"}, rows)
    )


def record(spec, **changes):
    """A result's record of the benchmark, declared with changes."""
    source = SourceRecord(kind="local", location="rows.jsonl", fingerprint="0" * 64)
    document = json.loads(json.dumps(declaration(spec))) | changes
    return BenchmarkRecord(
        id="shapes",
        version=1,
        split="test",
        source=source,
        scoring_sha256="0" * 64,
        declaration=document,
    )


HOSTILE = {
    "a link that runs": {"homepage": "javascript:alert(1)"},
    "prompts elsewhere": {
        "judge": {
            "criteria": ["score"],
            "low": 0,
            "high": 5,
            "default_model": "m",
            "prompts": "os:x",
        }
    },
    "prompts above": {
        "judge": {
            "criteria": ["s"],
            "low": 0,
            "high": 5,
            "default_model": "m",
            "prompts": "reelbench.tasks.curve:../..",
        }
    },
    "a prompt's path": {"tasks": [{"name": "x", "split": "test", "prompt": "../../secret"}]},
    "no splits": {"splits": 3},
    "a split that is a text": {"splits": {"test": "x"}},
    "tasks that are texts": {"tasks": ["x"]},
    "a title without end": {"title": "x" * 6_000},
    "metrics without end": {"metrics": [{"name": f"m{n}"} for n in range(100_000)]},
    "nothing": dict.fromkeys(("title", "version", "metrics", "kinds", "splits", "tasks")),
}


@pytest.mark.parametrize("changes", HOSTILE.values(), ids=HOSTILE)
def test_a_strangers_declaration_is_refused_in_a_line(shapes, changes, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", Registry({}))
    with pytest.raises(InputError) as refused:
        discovery.spec_of(record(shapes, **changes))
    assert len(str(refused.value)) < 500


def test_a_result_is_read_by_its_own_word_where_the_file_here_scores_otherwise(shapes, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", Registry({"shapes": shapes}))
    assert discovery.spec_of(record(shapes, title="Shapes, again", license="mit")) is shapes
    declared = json.loads(json.dumps(declaration(shapes)))
    metric, *other_metrics = declared["metrics"]
    assert (
        discovery.spec_of(record(shapes, metrics=[metric | {"title": "Best"}, *other_metrics]))
        is shapes
    )
    otherwise = discovery.spec_of(
        record(shapes, metrics=[metric | {"name": "share_right"}, *other_metrics])
    )
    assert (otherwise.primary.name, otherwise.file) == ("share_right", "")
    fewer = discovery.spec_of(record(shapes, facets=[]))
    assert (fewer.facets, fewer.file) == ((), "")
    assert discovery.get("shapes") is shapes


def test_a_name_is_never_suggested_for_itself():
    with pytest.raises(
        InputError, match="unknown benchmark 'rextime_mini'; did you mean 'rextime_test_mini'"
    ):
        discovery.get("rextime_mini")  # a task's
