"""`data lint` as a user runs it: ids and numbers, exit status, JSON."""

import json

import pytest

COLUMNS = "source: {file: rows.json}\ncolumns: {id: n, video: film, question: q, "
CHOICE = f"kind: choice\n{COLUMNS}options: options, answer: answer}}\n"


def declare(folder, rows, text=CHOICE):
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(f"id: kit\n{text}", encoding="utf-8")
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


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
