"""The metric that ranks is the owners': means over tasks, a judge's marks from the lowest up."""

import json

import pytest
from typer.testing import CliRunner

import reelbench as face
from reelbench.base.errors import InputError
from reelbench.registry import benchmark_file
from reelbench.registry.declaration import declaration, declared_benchmark, scoring_sha256
from reelbench.scoring.number_match import number_of
from tests.declared import declared
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

CHOICE = """\
id: tasks_apart
kind: choice
source: {file: rows.jsonl}
columns: {id: id, video: video, question: question, options: options, answer: answer}
facets: [part, task]
"""


def choice_rows(folder, head, tasks):
    """Rows of choice, one for each pair of part and task, all of which have A for answer."""
    rows = []
    for number, (part, task) in enumerate(tasks):
        row = {
            "id": f"q{number}", "video": f"v{number}", "question": "Which?",
            "options": ["tea", "milk"], "answer": "A", "part": part, "task": task,
        }  # fmt: skip
        rows.append(row)
    return declared(folder, head, rows)


def values(folder, answers):
    file = folder / "answers.json"
    file.write_text(json.dumps(answers), encoding="utf-8")
    return {name: metric.value for name, metric in face.score(str(folder), file).metrics.items()}


# Three tasks of 4, 2 and 2 questions; 1, 2 and 0 are right. Of all questions 3 in 8 are right.
TASKS = [*[("past", "find")] * 4, *[("past", "tell")] * 2, *[("now", "read")] * 2]
ANSWERS = {f"q{n}": letter for n, letter in enumerate("ABBBAABB")}


@pytest.mark.parametrize(
    ("primary", "expected"),
    [
        # The mean of 25, 100 and 0.
        ("{macro: task}", 125 / 3),
        # The past has the mean of 25 and 100, which is 62.5, and now has 0.
        ("{macro: [part, task]}", 125 / 4),
        ("{macro: part}", 25.0),
    ],
)
def test_labels_count_alike_whatever_their_questions(primary, expected, tmp_path):
    folder = choice_rows(tmp_path / "b", f"{CHOICE}primary: {primary}\n", TASKS)
    numbers = values(folder, ANSWERS)
    assert next(iter(numbers)) == "accuracy_macro"
    assert numbers["accuracy_macro"] == pytest.approx(expected)
    assert numbers["accuracy"] == pytest.approx(37.5)


@pytest.mark.parametrize(
    ("primary", "line"),
    [
        ("{macro: colour}", "line 6: primary.macro: 'colour' is not a facet; there are part, task"),
        ("{macro: [part, task, part]}", "primary.macro is a facet, or two"),
        ("{macro: task, of: miou}", "primary.of is 'miou'; there are accuracy"),
        ("{mean: task}", "unknown key 'primary.mean'; there are macro, of"),
    ],
)
def test_a_mean_over_what_is_no_facet_is_a_line(primary, line, tmp_path):
    folder = choice_rows(tmp_path / "b", f"{CHOICE}primary: {primary}\n", TASKS)
    with pytest.raises(InputError) as caught:
        benchmark_file.read(folder)
    assert line in str(caught.value)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def written_rows(path, tasks, **more):
    """Rows for `new`, of these tasks."""
    rows = [
        {"id": f"q{n}", "video": f"v{n}.mp4", "question": "Which is it?", "task": task}
        | {"options": ["tea", f"milk {n}"], "answer": "AB"[n % 2], **more}
        for n, task in enumerate(tasks)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_new_says_which_key_makes_a_facet_and_shows_it(tmp_path):
    rows = written_rows(tmp_path / "rows.json", ["find"] * 3 + ["tell"] * 3)
    new = ("new", "apart", "--from", rows, "--out", tmp_path / "b", "--set", "facets=[]")
    refused = run(*new, "--set", "primary={macro: task}")
    assert "--set 'facets=[task]'" in str(refused.exception)
    made = run(*new[:-2], "--set", "facets=[task]", "--set", "primary={macro: task}")
    assert made.exit_code == 0, made.output
    assert "facets: task\n" in made.output


def test_a_mean_over_labels_of_two_kinds_says_what_it_is_of(tmp_path):
    head = CHOICE.replace("kind: choice", "kind: {column: sort, mc: choice, words: exact}")
    folder = choice_rows(tmp_path / "b", f"{head}primary: {{macro: task}}\n", TASKS)
    line = "there are two kinds of questions, and accuracy is for one of them only; `of: right` is the mean over all"
    assert line in str(run("check", folder, "--no-media").exception)


def test_a_label_without_any_scored_answer_is_told(tmp_path):
    folder = choice_rows(tmp_path / "b", f"{CHOICE}primary: {{macro: task}}\n", TASKS)
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({f"q{n}": "A" for n in range(6)}), encoding="utf-8")
    done = run("score", folder, "--predictions", file, "--output", tmp_path / "out")
    line = "accuracy_macro is over 2 of 3 labels of task: no scored answer in read"
    assert line in " ".join(done.output.split())
    file.write_text(json.dumps({f"q{n}": "A" for n in range(7)}), encoding="utf-8")
    done = run("score", folder, "--predictions", file, "--output", tmp_path / "out2")
    assert "no scored answer in" not in done.output


@pytest.mark.parametrize(
    ("primary", "line"),
    [
        ("{macro: task}", "the mean over 4 labels: find 4, raed 1, read 1, tell 2; 1 question"),
        (
            "{macro: [part, task]}",
            "4 labels: now / raed 1, now / read 1, past / find 4, past / tell 2; 1 question",
        ),
    ],
)
def test_check_lists_the_labels_whose_mean_ranks(primary, line, tmp_path):
    tasks = [*TASKS[:-1], ("now", "raed"), ("now", "")]
    folder = choice_rows(tmp_path / "b", f"{CHOICE}primary: {primary}\n", tasks)
    done = run("check", folder, "--no-media")
    assert f"{line} without a label count in none" in done.output


MARKED = """\
id: marked
kind: open
source: {file: rows.jsonl}
columns: {id: id, video: video, question: question, answer: answer}
judge: {prompts: marks, scale: [1, 5]}
"""


def marked_benchmark(folder):
    rows = [{"id": f"q{n}", "video": "v", "question": "Why?", "answer": "so"} for n in range(4)]
    declared(folder, MARKED, rows)
    (folder / "marks").mkdir()
    (folder / "marks" / "match.txt").write_text("Mark it 1 to 5 as JSON.", encoding="utf-8")
    (folder / "marks" / "user.txt").write_text("{question} {reference} {answer}", encoding="utf-8")
    (folder / "answers.json").write_text(json.dumps({f"q{n}": "so" for n in range(4)}))
    return folder


@pytest.mark.parametrize(
    # As OpenEQA's evaluate-predictions.py has it: 100 * (mark - 1) / 4.
    ("mark", "percent"),
    [(1, 0.0), (2, 25.0), (5, 100.0)],
)
def test_a_judges_lowest_mark_is_nothing(mark, percent, tmp_path, monkeypatch):
    monkeypatch.setenv("REELBENCH_JUDGE_API_KEY", "x")
    folder = marked_benchmark(tmp_path / "b")
    with JudgeServer(lambda _: Answer(json.dumps({"score": mark}))) as server:
        scored = face.score(str(folder), folder / "answers.json", judge=f"marker@{server.url}")
    assert scored.metrics["match"].value == pytest.approx(percent)


NUMBERS = """\
id: counted
kind: {column: kind, number: exact, letter: choice}
numbers: mra
source: {file: rows.jsonl}
columns: {id: id, video: video, question: question, options: options, answer: answer}
"""


def counted(folder, head, answers):
    rows = []
    for number, answer in enumerate(answers):
        row = {"id": f"q{number}", "video": "v", "question": "How many?", "answer": answer}
        row["kind"] = "letter" if answer == "A" else "number"
        row["options"] = ["tea", "milk"] if answer == "A" else None
        rows.append(row)
    return declared(folder, head, rows)


@pytest.mark.parametrize(
    ("right", "answer", "share"),
    [
        ("10", "10", 1.0),
        ("10", "There are ten of them.", 1.0),
        ("10", "9.6 metres", 1.0),  # 4 % off: within all of 50, 45, ..., 5 %
        ("10", "About 8.9", 0.8),  # 11 % off: 5 and 10 % are not kept
        ("10", "14", 0.3),  # 40 % off: within 50, 45 and 40 %
        ("4", "2", 0.1),  # 50 % off
        ("0.5", "About .5 m.", 1.0),
        ("4", "7", 0.0),
        ("4", "many", 0.0),
        ("4", "<answer>4</answer> of the 7", 1.0),
        ("4", "Of 7 chairs I leave 3.\nAnswer: 4", 1.0),
        ("4", "perhaps 3 or 5", 0.0),
        ("4", "3 of the 5", 0.6),  # the owners read the first word
    ],
)
def test_numbers_count_by_the_tolerances_they_keep(right, answer, share, tmp_path):
    numbers = values(counted(tmp_path / "b", NUMBERS, [right, "A"]), {"q0": answer, "q1": "A"})
    assert numbers["mra"] == pytest.approx(100 * share)
    assert numbers["accuracy"] == 100
    assert numbers["right"] == pytest.approx((100 * share + 100) / 2)


@pytest.mark.parametrize(
    ("text", "locale", "number"),
    [("1.200 m", "de-DE", 1200.0), ("1.200 m", "en-US", 1.2), ("zw\u00f6lf", "de-DE", 12.0)],
)
def test_a_number_is_read_as_its_language_writes_it(text, locale, number):
    assert number_of(text, locale) == number


def test_counts_may_be_one_off(tmp_path):
    head = NUMBERS.replace("{column: kind, number: exact, letter: choice}", "exact")
    head = head.replace("mra", "within_one").replace("options: options, ", "")
    folder = counted(tmp_path / "b", head, ["4", "4", "4", "4"])
    numbers = values(folder, {"q0": "3", "q1": "five", "q2": "6", "q3": "4"})
    assert (numbers["within_one"], numbers["exact_match"]) == (75, 25)
    assert next(iter(numbers)) == "within_one"


def test_errors_of_numbers_stand_beside_the_share_that_is_one_off(tmp_path):
    head = NUMBERS.replace("{column: kind, number: exact, letter: choice}", "exact")
    head = head.replace("mra", "mae").replace("options: options, ", "")
    folder = counted(tmp_path / "b", head, ["4", "4", "4", "4"])
    # As CG-AV-Counting and PushUpBench count, an answer without a number is 0.
    numbers = values(folder, {"q0": "4", "q1": "six", "q2": "I can't tell", "q3": "3"})
    assert list(numbers) == ["within_one", "number_right", "mae", "relative_mae"]
    assert numbers["number_right"] == 25
    assert numbers["within_one"] == 50
    assert numbers["mae"] == pytest.approx((0 + 2 + 4 + 1) / 4)
    # TransRAC: |answered - right| / (right + 0.1).
    assert numbers["relative_mae"] == pytest.approx((0 + 2 + 4 + 1) / 4.1 / 4)


def test_an_error_has_an_interval_and_no_greatest_value(tmp_path):
    head = NUMBERS.replace("{column: kind, number: exact, letter: choice}", "exact")
    head = head.replace("mra", "mae").replace("options: options, ", "")
    folder = counted(tmp_path / "b", head, ["4"] * 12)
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    for number, row in enumerate(rows):
        row["video"] = f"v{number}"
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    file = folder / "answers.json"
    file.write_text(json.dumps({f"q{n}": str(4 + n % 3) for n in range(12)}), encoding="utf-8")
    error = face.score(str(folder), file).metrics["mae"]
    # Errors of 0, 1 and 2, four of each: 1 ± t(11) * 0.8528 / sqrt(12).
    assert error.value == pytest.approx(1.0)
    assert error.ci95 == pytest.approx((0.46, 1.54), abs=0.06)
    file.write_text(json.dumps({f"q{n}": "6" for n in range(12)}), encoding="utf-8")
    assert face.score(str(folder), file).metrics["mae"].ci95 is None


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("numbers: mae\nprimary: mae\n", "mae is an error, for which lower is better"),
        (
            "numbers: mae\nfacets: [kind]\nprimary: {macro: kind, of: mae}\n",
            "primary.of: mae is an error, and tables rank from the highest",
        ),
    ],
)
def test_an_error_ranks_nothing(keys, line, tmp_path):
    head = NUMBERS.replace("{column: kind, number: exact, letter: choice}", "exact")
    head = head.replace("numbers: mra\n", keys).replace("options: options, ", "")
    with pytest.raises(InputError, match=line):
        benchmark_file.read(counted(tmp_path / "b", head, ["4"]))


def options_of(folder, counts, keys="chance: adjusted\n"):
    """Rows of choice with so many options each, all of which have A for answer."""
    choice_rows(folder, CHOICE + keys, [("p", "t")] * len(counts))
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    for row, count in zip(rows, counts, strict=True):
        row["options"] = [f"option {number}" for number in range(count)]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def test_accuracy_above_chance_is_that_of_site_bench(tmp_path):
    folder = options_of(tmp_path / "b", [2, 2, 3, 4, 4])
    numbers = values(folder, {f"q{n}": letter for n, letter in enumerate("ABAAD")})
    # (right - sum of 1/n) / (N - sum of 1/n), as its `spatial_aggregate_results` counts.
    chance = 1 / 2 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 4
    assert next(iter(numbers)) == "above_chance"
    assert numbers["above_chance"] == pytest.approx(100 * (3 - chance) / (5 - chance))
    assert numbers["accuracy"] == 60


def test_below_chance_is_below_zero(tmp_path):
    folder = options_of(tmp_path / "b", [2, 4])
    numbers = values(folder, {"q0": "B", "q1": "B"})
    assert numbers["above_chance"] == pytest.approx(100 * -(1 / 2 + 1 / 4) / (1 / 2 + 3 / 4))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (
            "answers: any\n",
            "chance: needs one right option for each question, and no `group`",
        ),
        ("group: {by: part, rule: all}\n", "chance: needs one right option for each question"),
        ("primary: {macro: task}\n", "above_chance is not a plain mean over questions"),
    ],
)
def test_chance_is_of_plain_choices(keys, line, tmp_path):
    with pytest.raises(InputError, match=line):
        benchmark_file.read(options_of(tmp_path / "b", [2], f"chance: adjusted\n{keys}"))


def test_a_right_answer_that_is_no_number_is_a_line(tmp_path):
    folder = counted(tmp_path / "b", NUMBERS, ["4", "some"])
    with pytest.raises(InputError, match=r"row 2\): the answer 'some' is not a number"):
        face.load(str(folder))


WINDOWS = """\
id: windows
kind: span
windows: f1
source: {file: rows.jsonl}
columns: {id: id, video: video, question: question, span: span}
"""


def test_windows_count_by_f1(tmp_path):
    rows = [
        {"id": f"q{n}", "video": "v", "question": "When?", "span": span}
        for n, span in enumerate([[[0, 10], [20, 30], [40, 50]], [[0, 10]], [[0, 10], [20, 30]]])
    ]
    declared(tmp_path, WINDOWS, rows)
    answers = {
        "q0": "[[0, 10]]",  # precision 1, recall 1/3: F1 50 at each threshold
        "q1": "from 0 to 4 seconds, and from 60 to 70 seconds",  # 0.4: 1/2 and 1 at 0.1 and 0.3
        "q2": "[[0, 10], [20, 30]]",
    }
    numbers = values(tmp_path, answers)
    assert next(iter(numbers)) == "f1"
    assert numbers["f1_at_0.1"] == pytest.approx(100 * (1 / 2 + 2 / 3 + 1) / 3)
    assert numbers["f1_at_0.5"] == pytest.approx(100 * (1 / 2 + 0 + 1) / 3)
    assert numbers["f1"] == pytest.approx(100 * (1 / 2 + (2 / 3 + 2 / 3) / 4 + 1) / 3)


def test_windows_are_matched_one_to_one(tmp_path):
    head = WINDOWS.replace("windows: f1", "windows: matched")
    (tmp_path / "benchmark.yaml").write_text(head, encoding="utf-8")
    rows = [
        {"id": f"q{n}", "video": "v", "question": "When?", "span": [[0, 10], [20, 30]]}
        for n in range(4)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    answers = {
        "q0": "[[0, 10], [20, 26]]",  # IoU 1 and 0.6: F1 1, 1 and 1/2
        "q1": "[[0, 10]]",  # F1 2/3, and the number is wrong: 0
        "q2": "[[21, 30], [0, 4]]",  # IoU 0.9 and 0.4: F1 1, 1/2 and 1/2
        "q3": "[[0, 10], [1, 10]]",  # one right window is met twice, and counts once
    }
    numbers = values(tmp_path, answers)
    assert next(iter(numbers)) == "etf1"
    assert numbers["etf1"] == pytest.approx(100 * (5 / 6 + 0 + 2 / 3 + 1 / 2) / 4)
    assert numbers["count_right"] == 75
    assert numbers["tf1_at_0.5"] == pytest.approx(100 * (1 + 2 / 3 + 1 / 2 + 1 / 2) / 4)


def test_a_declaration_in_a_result_keeps_lowest_and_labels(tmp_path):
    folder = choice_rows(tmp_path / "b", f"{CHOICE}primary: {{macro: [part, task]}}\n", TASKS)
    for spec in (
        benchmark_file.read(folder),
        benchmark_file.read(marked_benchmark(tmp_path / "m")),
    ):
        declared = declared_benchmark(json.dumps(declaration(spec)))
        assert scoring_sha256(declared) == scoring_sha256(spec)
        assert declared.metrics == spec.metrics
