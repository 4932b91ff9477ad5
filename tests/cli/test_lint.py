"""`data lint` as a user runs it: ids and numbers, exit status, JSON."""

import json
from importlib.util import find_spec

import pytest

from tests.declared import declared

COLUMNS = "source: {file: rows.json}\ncolumns: {id: n, video: film, question: q, "
CHOICE = f"kind: choice\n{COLUMNS}options: options, answer: answer}}\n"


def declare(folder, rows, text=CHOICE):
    return declared(folder, f"id: kit\n{text}", rows, "rows.json")


def choices(number):
    rows = []
    for n in range(number):
        rows.append(
            {
                "n": f"q{n}",
                "film": f"{n // 2}.mp4",
                "q": f"Which secret is number {n}?",
                "options": [f"red {n}", f"blue {n}", f"green {n}"],
                "answer": "ABC"[n % 3],
            }
        )
    return rows


def test_a_clean_set_ends_with_0(reelbench, tmp_path):
    done = reelbench("data", "lint", declare(tmp_path / "kit", choices(30)))
    assert (done.returncode, done.stderr) == (0, "")
    first, *_, last = done.stdout.splitlines()
    assert first == "kit test: 30 questions on 15 videos"
    assert last.startswith("nothing found by ")


def test_findings_end_with_1_and_show_no_text(reelbench, tmp_path):
    rows = choices(30)
    rows[4]["options"][2] = "BLUE  4"
    for row in rows:
        row["options"]["ABC".index(row["answer"])] += " indeed"
    folder = declare(tmp_path / "kit", rows)
    done = reelbench("data", "lint", folder)
    assert done.returncode == 1
    assert "equal_options: test q4: B = C" not in done.stdout  # the right one is longer now
    assert done.stdout.splitlines()[-1] == "1 finding: longest_option 1"
    document = json.loads(reelbench("data", "lint", folder, "--json").stdout)
    (measure,) = document["rules"]["longest_option"]["measures"]
    assert (measure["value"], measure["rows"], measure["finding"]) == (100, 30, True)
    assert measure["chance"] == pytest.approx(100 / 3)
    assert len(measure["ids"]) == 30
    for text in (done.stdout, json.dumps(document)):
        assert "secret" not in text
        assert "indeed" not in text


def test_equal_options_are_named_by_row_and_letters(reelbench, tmp_path):
    rows = choices(30)
    rows[5]["options"][1] = " RED 5"
    done = reelbench("data", "lint", declare(tmp_path / "kit", rows))
    assert done.returncode == 1
    assert "equal_options: test q5: A = B\n" in done.stdout


def test_equal_options_that_make_an_answer_unreadable_are_named(reelbench, tmp_path):
    rows = choices(30)
    for row in rows:
        row["answer"] = row["options"]["ABC".index(row["answer"])]
    rows[5]["options"][1] = "green 5"  # as its answer, which is now two of them
    done = reelbench("data", "lint", declare(tmp_path / "kit", rows))
    assert done.returncode == 1
    assert "1 further row can't be read" in done.stdout
    assert "equal_options: test q5: B = C\n" in done.stdout


def test_rows_that_cannot_be_read_are_counted(reelbench, tmp_path):
    rows = choices(30)
    rows[3]["answer"] = "Z"
    done = reelbench("data", "lint", declare(tmp_path / "kit", rows))
    assert done.returncode == 0
    assert "29 questions" in done.stdout
    assert "1 further row can't be read (`reelbench check` says why)" in done.stdout


def test_a_wrong_call_ends_with_2(reelbench, tmp_path):
    folder = declare(tmp_path / "kit", choices(3))
    assert reelbench("data", "lint", "no_such_benchmark").returncode == 2
    assert reelbench("data", "lint", folder, "--split", "val").returncode == 2


def test_of_answers_that_stay_secret_no_row_is_named(reelbench, tmp_path):
    rows = choices(30)
    for row in rows:
        row["options"]["ABC".index(row["answer"])] += " indeed"
    folder = declare(tmp_path / "kit", rows, CHOICE + "hidden_answers: true\n")
    done = reelbench("data", "lint", folder, "--json")
    assert done.returncode == 1
    (measure,) = json.loads(done.stdout)["rules"]["longest_option"]["measures"]
    assert measure["finding"]
    assert "ids" not in measure


def with_equal_options(folder):
    rows = choices(30)
    rows[5]["options"][1] = " RED 5"
    rows[8]["options"][2] = "red 8"
    return declare(folder, rows)


def test_what_the_author_accepts_is_counted_and_no_failure(reelbench, tmp_path):
    folder = with_equal_options(tmp_path / "kit")
    entries = "accept:\n- rule: equal_options\n  rows: [q5]\n  reason: A film of that name.\n"
    (folder / "lint.yaml").write_text(entries, encoding="utf-8")
    done = reelbench("data", "lint", folder)
    assert done.returncode == 1
    assert "q5" not in done.stdout
    assert done.stdout.endswith("2 findings: equal_options 2; 1 accepted in lint.yaml\n")

    entries += "- rule: equal_options\n  split: test\n  rows: [q8]\n  reason: Its sequel.\n"
    (folder / "lint.yaml").write_text(entries, encoding="utf-8")
    assert reelbench("data", "lint", folder).returncode == 0
    rule = json.loads(reelbench("data", "lint", folder, "--json").stdout)["rules"]["equal_options"]
    assert (rule["findings"], rule["accepted"]) == (2, 2)
    assert [fault["accepted"] for fault in rule["faults"]] == [
        "A film of that name.",
        "Its sequel.",
    ]


def test_a_whole_rule_may_be_accepted_and_an_idle_entry_is_told(reelbench, tmp_path):
    folder = with_equal_options(tmp_path / "kit")
    entries = "accept:\n- rule: equal_options\n  reason: So be it.\n"
    entries += "- rule: letters\n  reason: Too few.\n"
    (folder / "lint.yaml").write_text(entries, encoding="utf-8")
    done = reelbench("data", "lint", folder)
    assert done.returncode == 0
    assert "lint.yaml: entry 2: letters no longer finds anything there; remove it" in done.stderr


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ("- rule: letters", "the file is a list, expected keys and values"),
        ("accept: all", "expected `accept:` and a list"),
        ("accept:\n- rule: leters\n  reason: x", "entry 1: there is no rule 'leters'; there are"),
        ("accept:\n- rule: letters", "entry 1: reason is missing"),
        ("accept:\n- {rule: letters, reason: x, row: 3}", "entry 1: expected the keys rule, rows"),
        ("accept:\n- {rule: letters, reason: x, rows: 3}", "entry 1: rows is not a list of ids"),
        ("accept:\n- {rule: letters, reason: x, split: dev}", "no split 'dev'; there are test"),
    ],
)
def test_a_wrong_lint_yaml_ends_with_2(reelbench, tmp_path, entries, problem):
    folder = declare(tmp_path / "kit", choices(3))
    (folder / "lint.yaml").write_text(entries, encoding="utf-8")
    done = reelbench("data", "lint", folder)
    assert done.returncode == 2
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_ids_in_lint_yaml_are_the_text_that_stands_there(reelbench, tmp_path):
    rows = choices(30)
    rows[5]["n"] = "007"
    rows[5]["options"][1] = " RED 5"
    folder = declare(tmp_path / "kit", rows)
    entries = "accept:\n- {rule: equal_options, rows: [007], reason: x}\n"
    (folder / "lint.yaml").write_text(entries, encoding="utf-8")
    assert reelbench("data", "lint", folder).returncode == 0


def test_words_alone_stand_by_their_name(reelbench, tmp_path):
    if find_spec("sklearn") is None:
        pytest.skip("scikit-learn is not installed")
    rows = choices(120)
    for row in rows:
        place = "ABC".index(row["answer"])
        row["options"][place] = row["options"][place].replace(" ", "ish ")
    folder = declare(tmp_path / "kit", rows)
    done = reelbench("data", "lint", folder)
    assert done.returncode == 1
    assert "kit test: words alone, trained: 100.0 % (chance 33.3; interval " in done.stdout
    assert done.stdout.splitlines()[-1].endswith("words_alone 1")
    without = json.loads(reelbench("data", "lint", folder, "--json", "--no-baseline").stdout)
    assert without["words_alone"]["splits"] == {}

    entry = "accept:\n- {rule: words_alone, reason: x}\n- {rule: longest_option, reason: x}\n"
    (folder / "lint.yaml").write_text(entry, encoding="utf-8")
    done = reelbench("data", "lint", folder, "--json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    score = document["words_alone"]["splits"]["test"]
    assert (score["value"], score["rows"], score["finding"]) == (100, 120, True)
    assert document["accepted"] == 2


def test_the_page_shows_each_row_beside_its_fault(reelbench, tmp_path):
    rows = choices(30)
    rows[5]["options"][1] = " RED 5"
    rows[5]["q"] = "Which <b>secret</b> is it?"
    folder = declare(tmp_path / "kit", rows)
    page = tmp_path / "faults.html"
    done = reelbench("data", "lint", folder, "--page", page)
    assert done.returncode == 1
    assert f"written to {page}; it shows the rows' texts" in done.stderr
    text = page.read_text(encoding="utf-8")
    assert "equal_options: two options of a question are equal" in text
    assert "Which &lt;b&gt;secret&lt;/b&gt; is it?" in text
    assert "<b>secret" not in text
    # Row 5's right answer is C; of secret answers none is marked.
    assert '<bdi>green 5</bdi> <span class="right">right</span>' in text
    secret = declare(tmp_path / "secret", rows, CHOICE + "hidden_answers: true\n")
    reelbench("data", "lint", secret, "--page", page)
    text = page.read_text(encoding="utf-8")
    assert "equal_options" in text
    assert 'class="right"' not in text


def test_what_is_written_beside_the_benchmark_stands_on_its_card(reelbench, tmp_path):
    folder = with_equal_options(tmp_path / "kit")
    entries = "accept:\n- {rule: equal_options, rows: [q5], reason: So be it.}\n"
    (folder / "lint.yaml").write_text(entries, encoding="utf-8")
    card = tmp_path / "card"
    assert reelbench("cards", "render", folder, "--out", card).returncode == 0
    assert "data lint" not in (card / "README.md").read_text(encoding="utf-8")

    assert reelbench("data", "lint", folder, "--write").returncode == 1
    document = json.loads((folder / "lint.json").read_text(encoding="utf-8"))
    assert document["rules"]["equal_options"]["findings"] == 2
    assert "q5" not in json.dumps(document)
    assert reelbench("cards", "render", folder, "--out", card).returncode == 0
    text = (card / "README.md").read_text(encoding="utf-8")
    assert "looked at 30 questions: 2 findings, 1 of them accepted by the authors." in text
    assert "- two options of a question are equal: 2 (1 accepted)" in text

    (folder / "rows.json").write_text(json.dumps(choices(31)), encoding="utf-8")
    assert reelbench("cards", "render", folder, "--out", card).returncode == 0
    text = (card / "README.md").read_text(encoding="utf-8")
    assert "The rows of `test` have changed since." in text


def test_a_damaged_lint_json_is_told(reelbench, tmp_path):
    folder = declare(tmp_path / "kit", choices(3))
    (folder / "lint.json").write_text("[]", encoding="utf-8")
    done = reelbench("cards", "render", folder, "--out", tmp_path / "card")
    assert done.returncode == 2
    assert "lint.json: expected what `reelbench data lint --write` writes" in done.stderr


def test_a_part_of_the_splits_is_not_written(reelbench, tmp_path):
    text = CHOICE.replace("kind:", "splits: {test: {source: {file: rows.json}}, val: {}}\nkind:")
    folder = declare(tmp_path / "kit", choices(3), text)
    done = reelbench("data", "lint", folder, "--split", "test", "--write")
    assert done.returncode == 2
    assert "lint.json is of all splits; leave --split out" in done.stderr
    assert not (folder / "lint.json").exists()
