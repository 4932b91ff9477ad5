"""Profiles of benchmarks and of the user's own rows."""

import json
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.studio.profile import Extras, Label, count_steps, profile, read_benchmark, read_file
from tests.servers.judge import Answer, JudgeServer

ROWS = [
    {"question": "The cat sat on the mat.", "answer": "It stopped. The square moved."},
    {
        "question": "Why does the woman forgive her brother?",
        "answer": "The detective hesitates. He remembers everything.",
    },
]
# Worked by hand as in tests/studio/test_readability.py; the first answer: 5 words, 5 syllables, 2
# sentences.
GRADES = {
    "question": ((0.39 * 6 + 11.8 - 15.59) + (0.39 * 7 + 11.8 * 10 / 7 - 15.59)) / 2,
    "answer": ((0.39 * 2.5 + 11.8 - 15.59) + (0.39 * 3 + 11.8 * 14 / 6 - 15.59)) / 2,
}


@pytest.fixture
def rows(tmp_path):
    def write(rows, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


def test_the_command_prints_table_1s_numbers_for_ones_own_rows(reelbench, rows):
    done = reelbench(
        "profile", "--input", rows(ROWS), "--json", env={"REELBENCH_SPACY_MODEL": "no_such_model"}
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == 2
    assert found["flesch_kincaid"] == pytest.approx({**GRADES, "average": sum(GRADES.values()) / 2})
    assert found["words"]["question"] == 6.5
    assert found["words"]["answer"] == 5.5
    assert found["words"]["top"]["the"] == 5
    # What could not be computed is null, with the command that mends it, and the rest is there.
    assert found["parse_depth"] is None
    assert found["bloom"] is None
    assert "python -m spacy download no_such_model" in done.stderr


def test_bloom_levels_come_from_the_judge(reelbench, rows):
    levels = {
        "The cat sat": "1",
        "Why does": "4",
        "It stopped": '{"score": 2}',
        "The detective": "6",
    }

    def script(call):
        return Answer(next(level for start, level in levels.items() if start in call.user))

    with JudgeServer(script) as server:
        done = reelbench(
            "profile",
            "--input",
            rows(ROWS),
            "--json",
            "--judge",
            "gpt-4o-mini",
            "--judge-url",
            server.url,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["bloom"] == {"question": 2.5, "answer": 4.0, "average": 3.25}
        assert found["higher_order"] == {"question": 50.0, "answer": 50.0, "average": 50.0}
        assert len(server.calls) == 4
        assert all("Bloom" in call.system for call in server.calls)
        # Paid once: a second profile asks nothing.
        again = reelbench(
            "profile",
            "--input",
            rows(ROWS),
            "--json",
            "--judge",
            "gpt-4o-mini",
            "--judge-url",
            server.url,
        )
        assert json.loads(again.stdout)["bloom"] == found["bloom"]
        assert len(server.calls) == 4


def test_a_prompt_for_blooms_levels_needs_a_place_for_the_text_alone(reelbench, rows, tmp_path):
    prompt = tmp_path / "taxonomy.txt"
    prompt.write_text("On which of the six levels is this? {answer}\n")
    with JudgeServer(lambda _call: Answer("Level: 3")) as server:
        command = [
            "profile",
            "--input",
            rows(ROWS[:1]),
            "--judge",
            "m",
            "--judge-url",
            server.url,
            "--json",
        ]
        done = reelbench(*command, "--judge-prompts", prompt)
        assert done.returncode == 0, done.stderr
        assert {call.user for call in server.calls} == {
            f"On which of the six levels is this? {ROWS[0][side]}"
            for side in ("question", "answer")
        }
        assert {len(call.body["messages"]) for call in server.calls} == {1}
        prompt.write_text("On which of the six levels is this?\n")
        refused = reelbench(*command, "--judge-prompts", prompt)
    assert refused.returncode == 2
    assert "does not say where {answer} go" in refused.stderr


def test_a_level_that_the_judge_does_not_plainly_give_is_left_out_of_the_mean(rows):
    from reelbench.judges.judge_options import JudgeOptions

    def script(call):
        return Answer(
            "Probably level 5."
            if "The cat" in call.user
            else "7"
            if "It stopped" in call.user
            else "5"
        )

    notes = []
    with JudgeServer(script) as server:
        judge = JudgeOptions(model="m", url=server.url)
        found = profile(read_file(rows(ROWS)), Extras(judge=judge, note=notes.append)).model_dump()
    assert found["bloom"] == {"question": 5.0, "answer": 5.0, "average": 5.0}
    assert any("2 of 4 texts have no level" in note for note in notes)


def test_a_level_is_asked_for_again_with_the_error_at_temperature_0(rows):
    from reelbench.judges.judge_options import JudgeOptions

    def script(call):
        return Answer("Certainly! It is hard to say." if len(call.body["messages"]) == 2 else "4")

    with JudgeServer(script) as server:
        judge = JudgeOptions(model="m", url=server.url)
        found = profile(read_file(rows(ROWS[:1])), Extras(judge=judge)).model_dump()
    assert found["bloom"] == {"question": 4.0, "answer": 4.0, "average": 4.0}
    again = [call.body["messages"] for call in server.calls if len(call.body["messages"]) > 2]
    assert [message["role"] for message in again[0]] == ["system", "user", "assistant", "user"]
    assert "one whole number from 1 to 6" in again[0][-1]["content"]
    assert {call.body["temperature"] for call in server.calls} == {0}


@pytest.mark.parametrize(
    ("reply", "level"),
    [
        *[
            (reply, 4)
            for reply in (
                "4",
                " 4\n",
                "4.",
                "**4**",
                "4 - Analyze",
                "4 – analyze.",
                "Level 4: Analyze",
                "(4)",
            )
        ],
        ('{"score": 4}', 4),
        ("```\n4\n```", 4),
        *[
            (reply, None)
            for reply in (
                "4 - Apply",
                "0",
                "7",
                "4 or 5",
                "45",
                "It may be 3.",
                "4 because of its why",
                "",
            )
        ],
    ],
)
def test_a_level_is_a_number_with_or_without_its_name(reply, level):
    from reelbench.llm.reading import UnreadableError
    from reelbench.studio.bloom import read_level

    if level is None:
        with pytest.raises(UnreadableError):
            read_level(reply)
    else:
        assert read_level(reply) == level


def test_nothing_is_asked_unless_a_judge_is_named(rows, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert profile(read_file(rows(ROWS)), Extras()).model_dump()["bloom"] is None


def test_answers_that_are_not_there_leave_the_average_open(rows):
    found = profile(read_file(rows([{"question": "Why?"}])), Extras()).model_dump()
    assert found["flesch_kincaid"]["answer"] is None
    assert found["flesch_kincaid"]["average"] is None
    assert found["flesch_kincaid"]["question"] == pytest.approx(0.39 + 11.8 - 15.59)


def test_other_languages_have_words_but_no_english_grade(rows):
    notes = []
    own = [
        {"question": "Warum geht er heim?", "answer": "Er ist müde.", "language": "de-DE"},
        {"question": "四角形はどちらへ動きますか。", "answer": "右", "language": "ja-JP"},
    ]
    found = profile(read_file(rows(own)), Extras(note=notes.append)).model_dump()
    assert found["flesch_kincaid"] is None
    assert found["words"]["question"] == 4
    assert found["languages"] == {"de-DE": 1, "ja-JP": 1}
    assert any("no question is in English" in note for note in notes)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"answer": "x"}', "line 2, field question"),
        ('{"question": "Why?", "answer": 3}', "line 2, field answer"),
        ('{"question": "Why?", "span": [3, 1]}', "line 2, field span"),
        ("[1]", "line 2: expected an object"),
        ('{"question": ', "line 2"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, line, says):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"question": "Why?"}\n' + line + "\n")
    with pytest.raises(InputError) as error:
        read_file(path)
    assert says in str(error.value)


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "rows.jsonl").write_text("\n")
    with pytest.raises(InputError, match="no rows"):
        read_file(tmp_path / "rows.jsonl")


@pytest.mark.parametrize(
    "name", ["moviecore_mini", "curve_mini", "rextime_mini", "dramaqa_cogme_mini"]
)
def test_every_benchmark_has_a_profile(name):
    found = profile(read_benchmark(name), Extras()).model_dump()
    assert found["rows"] > 5
    assert found["flesch_kincaid"]["question"] is not None
    assert found["words"]["answer"] > 1  # of a choice, the right option's words, not its letter
    assert found["labels"]


def test_curves_locales_skills_and_steps_are_counted():
    found = profile(read_benchmark("curve_mini"), Extras()).model_dump()
    assert sum(label["n"] for label in found["labels"]["locale"].values()) == found["rows"]
    assert "Spatial Perception" in found["labels"]["skills"]
    assert found["reasoning_steps"]["n"] > 0


def test_steps_are_counted_by_their_numbers_else_by_their_lines():
    assert count_steps(["1. Look.\n2. Count the\nbowls.\n3. Add."]) == 3
    assert count_steps(["00:01 → 00:04: a man\n00:05 → 00:08: a dog"]) == 2
    assert count_steps(["look", "count"]) == 2


def test_spans_certificate_length_and_question_answer_iou(rows):
    own = [
        # 2 to 6 and 4 to 10: together 8 s, in common 2 of 8.
        {"question": "Why?", "span": [4, 10], "question_span": [2, 6], "duration": 60},
        # Apart: 3 + 2 s, nothing in common.
        {"question": "What then?", "span": [20, 22], "question_span": [10, 13], "duration": 20},
        {"question": "Where?", "span": [0, 4]},
    ]
    found = profile(read_file(rows(own)), Extras()).model_dump()["spans"]
    assert found["certificate_length_ci95"] is None  # no videos are named: they may all be of one
    assert found["n"] == 3
    assert found["length"] == pytest.approx((6 + 2 + 4) / 3)
    assert found["share"] == pytest.approx((10 + 10) / 2)
    assert found["question_spans"] == 2
    assert found["certificate_length"] == pytest.approx((8 + 5) / 2)
    assert found["qa_iou"] == pytest.approx((2 / 8 + 0) / 2)


def test_question_spans_come_from_a_file_of_their_own(tmp_path):
    path = tmp_path / "spans.jsonl"
    path.write_text('{"qid": "mini1", "span": [0, 5]}\n{"qid": "gone", "span": [0, 5]}\n')
    notes = []
    found = profile(
        read_benchmark("rextime_mini"), Extras(question_spans=path, note=notes.append)
    ).model_dump()["spans"]
    assert found["question_spans"] == 1
    assert found["certificate_length"] == 10  # the answer's span is 0 to 10
    assert found["qa_iou"] == 0.5
    assert any("1 spans without a question: gone" in note for note in notes)


def test_cogme_tags_are_counted_and_linked_to_accuracy(reelbench, tmp_path):
    from reelbench.tasks import dramaqa_cogme

    folder = Path(next(iter(dramaqa_cogme.__path__))) / "mini"
    right = {1: 0, 2: 1, 3: 0}  # 3's right option is 2
    predictions = tmp_path / "predictions.json"
    predictions.write_text(
        json.dumps([{"qid": qid, "correct_idx": index} for qid, index in right.items()])
    )
    questions = [
        row
        for row in json.loads((folder / "AnotherMissOhQA_val_set.json").read_text())
        if row["qid"] in right
    ]
    references = tmp_path / "AnotherMissOhQA_val_set.json"
    references.write_text(json.dumps(questions))
    scored = reelbench(
        "score",
        "dramaqa_cogme",
        "--predictions",
        predictions,
        "--references",
        references,
        "--output",
        tmp_path / "result",
    )
    assert scored.returncode == 0, scored.stderr
    done = reelbench(
        "profile",
        "dramaqa_cogme_mini",
        "--tags",
        folder / "cogme_tags.jsonl",
        "--result",
        tmp_path / "result",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Questions 1, 2 and 3 are about Character, 1 about Behavior too; 1 and 2 are right.
    assert found["labels"]["target"]["Character"]["n"] == 7
    assert found["labels"]["target"]["Character"]["accuracy"] == pytest.approx(200 / 3)
    assert found["labels"]["target"]["Behavior"]["accuracy"] == 100
    assert found["labels"]["content"]["Identity"]["accuracy"] == 100
    assert found["labels"]["target"]["Event"]["accuracy"] is None
    assert found["labels"]["target"]["Event"]["weak"] is None
    assert found["labels"]["target"]["Character"]["weak"] is False


def test_shares_are_of_the_tagged_questions(reelbench, tmp_path):
    from reelbench.tasks import dramaqa_cogme

    folder = Path(next(iter(dramaqa_cogme.__path__))) / "mini"
    lines = (folder / "cogme_tags.jsonl").read_text().splitlines()[:4]
    labels = [["Character"], ["Character", "Object"], ["Character"], []]
    tags = [
        {**json.loads(line), "target": target} for line, target in zip(lines, labels, strict=True)
    ]
    some = tmp_path / "some.jsonl"
    some.write_text("".join(json.dumps(row) + "\n" for row in tags))
    done = reelbench("profile", "dramaqa_cogme_mini", "--tags", some, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["rows"] == 12
    # Three and one of the four tagged questions, of which one has no target; eight are not tagged.
    shares = {
        name: (label["n"], label["share"]) for name, label in found["labels"]["target"].items()
    }
    assert shares == {"Character": (3, 75.0), "Object": (1, 25.0)}
    assert "8 questions without tags" in done.stderr


@pytest.mark.parametrize(
    ("share", "accuracy", "weak"),
    [(4.9, 49.9, True), (5, 49.9, False), (4.9, 50, False), (4.9, None, None)],
)
def test_weak_labels_are_rare_and_answered_badly(share, accuracy, weak):
    assert Label(n=3, share=share, accuracy=accuracy).weak is weak


def test_several_datasets_stand_side_by_side_with_plots(reelbench, rows, tmp_path):
    done = reelbench(
        "profile", "moviecore_mini", "--input", rows(ROWS), "--json", "--output", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    assert [found["name"] for found in json.loads(done.stdout)] == ["moviecore_mini", "rows"]
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"profile.json", "profile.md", "words-answer.svg", "flesch_kincaid-question.svg"} <= made
    assert (tmp_path / "out" / "profile.md").read_text().count("\n") == 4
    assert "moviecore_mini" in (tmp_path / "out" / "words-answer.svg").read_text()
    terms = (tmp_path / "out" / "terms-moviecore_mini.svg").read_text()
    assert ">figure</text>" in terms  # whom most of the mini questions are about
    assert ">the</text>" not in terms


def test_two_files_of_one_name_and_a_made_set_stand_side_by_side(reelbench, rows, tmp_path):
    names = [tmp_path / which / "annotations.json" for which in ("a", "b")]
    for path in names:
        path.parent.mkdir()
        path.write_text(
            json.dumps({f"film_{n}": {**row, "video": "film"} for n, row in enumerate(ROWS)})
        )
    done = reelbench(
        "profile", "--input", names[0], "--input", names[1], "--input", rows(ROWS), "--json"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["name"] for one in found] == [
        *(str(path.with_suffix("")) for path in names),
        "rows",
    ]
    assert [one["rows"] for one in found] == [2, 2, 2]
    other = names[0].with_suffix(".jsonl")  # beside one of the same stem
    other.write_text(json.dumps(ROWS[0]))
    done = reelbench("profile", "--input", names[0], "--input", other, "--json")
    assert [one["name"] for one in json.loads(done.stdout)] == [str(names[0]), str(other)]


def test_nothing_named_is_an_error_of_the_call(reelbench):
    done = reelbench("profile")
    assert done.returncode == 2
    assert "--input FILE" in done.stderr


def test_table_1_stands_beside_ours_with_what_each_was_made_with(reelbench, tmp_path):
    (measured,) = json.loads(f"[{reelbench('profile', 'moviecore_mini', '--json').stdout}]")
    (own,) = measured["published"]
    assert (own["dataset"], own["parse_depth"], own["flesch_kincaid"]) == (
        *("MovieCORE", [5.38, 6.39, 5.88], [12.98, 15.07, 14.03]),
    )
    assert (own["bloom"], own["higher_order"]) == (4.9, 99.2)
    assert own["made_with"]["bloom"].startswith("gpt-4o-mini-2024-07-18")
    assert "syllables" in measured["made_with"]["flesch_kincaid"]
    rows = tmp_path / "mine.jsonl"
    rows.write_text(
        '{"question": "Why does the dog bark at the moon?", "answer": "It is afraid."}\n'
    )
    done = reelbench("profile", "--input", rows, "--published")
    assert all(
        name in done.stdout
        for name in ("MovieChat-1k", "ActivityNetQA", "MVBench", "EgoSchema", "MovieCORE")
    )
    assert "Table 1, of whole data sets" in done.stderr
    assert "(parse depth: spaCy; the paper names no model" in done.stderr
    assert json.loads(reelbench("profile", "--input", rows, "--json").stdout)["published"] == []
