"""What spans are counted in, and options that stand in the question: asked for, read, and held to the video."""

import json

import pytest
from typer.testing import CliRunner

import reelbench
from reelbench.base.errors import InputError
from reelbench.data.loading import locate
from reelbench.registry import benchmark_file, discovery
from tests.program import app

WHERE = [
    {"id": n, "video": f"v{n % 3}.mp4", "question": f"When is number {n} seen?"} for n in range(6)
]


def refusal(*arguments):
    """What a command says that is refused: one line, and the exit status 2."""
    done = CliRunner().invoke(app, arguments)
    assert isinstance(done.exception, InputError)
    assert done.exception.exit_code == 2
    return str(done.exception)


def run(*arguments):
    return CliRunner().invoke(app, arguments)


def written(folder, rows, name="rows.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def declared(folder, rows, *keys, columns="start: start, end: end"):
    written(folder, rows)
    text = ["id: units_tried", "kind: span", "source: {file: rows.jsonl}", *keys]
    text.append(f"columns: {{id: id, video: video, question: question, {columns}}}")
    (folder / "benchmark.yaml").write_text("\n".join(text) + "\n")
    return discovery.open_file(folder)


@pytest.mark.parametrize(
    ("keys", "start"),
    [
        (["span_unit: milliseconds"], "3s"),
        (["span_unit: milliseconds"], "0:03"),
        (["span_unit: frames", "fps: 25"], "3 seconds"),
    ],
)
def test_a_time_that_states_its_own_unit_is_counted_in_no_other(keys, start, tmp_path):
    spec = declared(tmp_path, [{**WHERE[0], "start": start, "end": 12}], *keys)
    with pytest.raises(InputError, match=f"'{start}' is in seconds, and its unit is "):
        locate(spec.id).read()


UNITS = [
    (["span_unit: frames", "fps: 25"], {"start": 75, "end": 300}, "start: start, end: end"),
    (
        ["span_unit: frames", "fps: rate"],
        {"start": 75, "end": 300, "rate": 25},
        "start: start, end: end",
    ),
    (["span_unit: milliseconds"], {"start": 3000, "end": 12000}, "start: start, end: end"),
    (["span_unit: ratio"], {"at": [0.1, 0.4], "long": 30}, "span: at, duration: long"),
    (["span_unit: percent"], {"at": [10, 40], "long": 30}, "span: at, duration: long"),
    (["span_unit: minutes"], {"start": 0.05, "end": 0.2}, "start: start, end: end"),
    (
        ["span_unit: percent", "duration_unit: minutes"],
        {"at": [10, 40], "long": 0.5},
        "span: at, duration: long",
    ),
    (["span_unit: clock"], {"start": "0:03", "end": "0:12"}, "start: start, end: end"),
    ([], {"start": "0:03", "end": 12}, "start: start, end: end"),
]


@pytest.mark.parametrize(
    ("keys", "cells", "columns"), UNITS, ids=[" ".join(keys) or "none" for keys, *_ in UNITS]
)
def test_spans_become_seconds(keys, cells, columns, tmp_path):
    spec = declared(tmp_path, [{**row, **cells} for row in WHERE], *keys, columns=columns)
    assert locate(spec.id).read()[0]["span"] == pytest.approx([3, 12])


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["span_unit: frames"], "needs `fps: NUMBER` or `fps: COLUMN`"),
        (["fps: 25"], "needs `fps: NUMBER` or `fps: COLUMN`"),
        (["span_unit: ratio"], "needs columns.duration"),
        (
            ["span_unit: fortnights"],
            "expected seconds, milliseconds, minutes, frames, ratio, percent, clock",
        ),
    ],
)
def test_a_unit_without_what_it_needs_is_refused(keys, said, tmp_path):
    with pytest.raises(InputError, match=said):
        declared(tmp_path, [{**row, "start": 1, "end": 2} for row in WHERE], *keys)


@pytest.mark.parametrize(
    ("keys", "cells", "clip", "length"),
    [
        (["clip_unit: frames", "fps: 25"], {"part": [75, 300], "long": 60}, [3, 12], 60),
        (["clip_unit: frames", "fps: rate"], {"part": [75, 300], "rate": 25}, [3, 12], 60),
        (["clip_unit: percent"], {"part": [5, 20]}, [3, 12], 60),
        (["clip_unit: minutes", "duration_unit: minutes"], {"part": [0.05, None]}, [3, 60], 60),
        (["duration_unit: milliseconds"], {"part": [3, 12], "long": 60000}, [3, 12], 60),
        ([], {"part": "[0, 0:12]", "long": "1:00"}, [0, 12], 60),
    ],
)
def test_the_part_shown_and_the_length_have_units_too(keys, cells, clip, length, tmp_path):
    long = 1 if "duration_unit: minutes" in keys else 60
    rows = [{**row, "start": 1, "end": 2, "long": long, **cells} for row in WHERE]
    columns = "start: start, end: end, clip: part, duration: long"
    read = locate(declared(tmp_path, rows, *keys, columns=columns).id).read()[0]
    assert read["clip"] == pytest.approx(clip)
    assert read["duration"] == pytest.approx(length)


@pytest.mark.parametrize(
    ("keys", "cells", "said"),
    [
        (["duration_unit: minutes"], {"long": "2:30"}, "'2:30' is in seconds, and its unit is m"),
        (["duration_unit: minutes"], {"long": "90 s"}, "'90 s' is in seconds, and its unit is m"),
        (["clip_unit: percent"], {"part": [5, None], "long": 0}, "has no end, and the video's"),
    ],
)
def test_a_length_of_another_unit_or_of_nothing_is_refused(keys, cells, said, tmp_path):
    rows = [{**row, "start": 1, "end": 2, "part": [1, 2], "long": 1, **cells} for row in WHERE]
    columns = "start: start, end: end, clip: part, duration: long"
    spec = declared(tmp_path, rows, *keys, columns=columns)
    with pytest.raises(InputError, match=said):
        locate(spec.id).read()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["clip_unit: frames", "fps: 25"], "clip_unit: columns.clip is missing"),
        (["duration_unit: minutes"], "duration_unit: columns.duration is missing"),
        (["duration_unit: percent"], "expected seconds, milliseconds, minutes, frames"),
    ],
)
def test_a_unit_of_a_column_that_is_not_there_is_refused(keys, said, tmp_path):
    with pytest.raises(InputError, match=said):
        declared(tmp_path, [{**row, "start": 1, "end": 2} for row in WHERE], *keys)


@pytest.mark.parametrize(
    ("cell", "span"),
    [
        ("<time>3.0 - 7.5 seconds</time>, <time>20 - 25.5 seconds</time>", [3, 7.5, 20, 25.5]),
        ("0:03 - 0:07 and 0:20 - 0:25", [3, 7, 20, 25]),
        ("3-7; 20-25", [3, 7, 20, 25]),
        ("3.5 to 7 s", [3.5, 7]),
    ],
)
def test_a_text_of_ranges_is_several_windows(cell, span, tmp_path):
    # OMTG-Bench's answers are such texts.
    rows = [{**row, "at": cell} for row in WHERE]
    assert locate(declared(tmp_path, rows, columns="span: at").id).read()[0]["span"] == span


@pytest.mark.parametrize("cell", ["3 - 7 and the end", "the first 3 - 7 seconds", "3 - 7, 9"])
def test_a_text_that_states_more_than_ranges_is_none(cell, tmp_path):
    rows = [{**row, "at": cell} for row in WHERE]
    with pytest.raises(InputError, match=r"expected \[start, end\] in seconds"):
        locate(declared(tmp_path, rows, columns="span: at").id).read()


def test_what_says_no_unit_has_the_reader_it_had(tmp_path):
    """Kept answers and results name the reader: a key that a file doesn't have changes no fingerprint."""
    declared(tmp_path, [{**row, "start": 1, "end": 2} for row in WHERE])
    file = tmp_path / "benchmark.yaml"
    plain = benchmark_file.read(file).reader
    file.write_text(file.read_text() + "span_unit: seconds\n")
    assert benchmark_file.read(file).reader == plain
    file.write_text(file.read_text().replace("seconds", "milliseconds"))
    assert benchmark_file.read(file).reader != plain


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"Start Frame": 72, "End Frame": 168}, "a name that says frames"),
        ({"start_ms": 3000, "end_ms": 7000}, "a name that says milliseconds"),
        ({"span": [0.1, 0.4]}, "all are between 0 and 1, as ratios are"),
        ({"start": 72, "end": 168, "fps": 24}, "there is a column fps"),
    ],
)
def test_new_asks_what_spans_are_counted_in(cells, said, tmp_path):
    rows = written(tmp_path, [{**row, **cells} for row in WHERE])
    line = refusal("new", "units_asked", "--from", str(rows), "--out", str(tmp_path / "made"))
    assert said in line
    assert "--span-unit" in line
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("cells", "padded"),
    [
        ({"span": "01.30-01.50"}, "01.30"),
        ({"span": "0100-0120"}, "0100"),
        ({"start": "00.05", "end": "00.50"}, "00.05"),
    ],
)
def test_times_with_leading_zeros_may_be_minutes_and_are_asked_about(cells, padded, tmp_path):
    rows = written(tmp_path, [{**row, **cells} for row in WHERE])
    new = ("new", "zeros_asked", "--from", str(rows), "--out", str(tmp_path / "made"))
    line = refusal(*new)
    assert f"{padded!r} has a leading zero, as minutes and seconds do" in line
    assert "--span-unit" in line
    made = run(*new, "--span-unit", "seconds")
    assert made.exit_code == 0, made.output


@pytest.mark.parametrize("key", ["", "span_unit: seconds"])
def test_check_notes_leading_zeros_where_no_unit_is_stated(key, tmp_path):
    declared(tmp_path, [{**row, "start": "01.30", "end": "01.50"} for row in WHERE], key)
    checked = run("check", str(tmp_path), "--no-media")
    assert checked.exit_code == 0, checked.output
    line = "'01.30' has a leading zero and is counted in seconds, and so in 6 rows"
    assert (line in checked.output) == (not key)


@pytest.mark.parametrize("end", ["01:75", "1:75:00", "0:01:60.5"])
def test_a_clock_s_parts_end_at_59(end, tmp_path):
    spec = declared(tmp_path, [{**WHERE[0], "start": "0:01", "end": end}])
    with pytest.raises(InputError, match=f"'{end}', expected a clock whose parts end at 59"):
        locate(spec.id).read()


def test_minutes_without_hours_may_be_many(tmp_path):
    spec = declared(tmp_path, [{**WHERE[0], "start": "75:10", "end": "75:20,500"}])
    assert locate(spec.id).read()[0]["span"] == [4510, 4520.5]


def test_new_writes_the_unit_that_it_is_told(tmp_path):
    rows = written(tmp_path, [{**row, "Start Frame": 72, "End Frame": 168} for row in WHERE])
    made = run(
        *("new", "units_told", "--from", str(rows), "--out", str(tmp_path / "made")),
        *("--span-unit", "frames", "--fps", "24"),
    )
    assert made.exit_code == 0, made.output
    assert locate(discovery.open_file(tmp_path / "made").id).read()[0]["span"] == [3.0, 7.0]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            {"start": 72, "end": 168, "long": 10},
            "6 of 6 spans end after their video (168 > 10 s): are these frames",
        ),
        (
            {"start": 0.1, "end": 0.4, "long": 10},
            "all 6 spans end within the first second of their video",
        ),
    ],
)
def test_check_holds_spans_to_their_video(cells, said, tmp_path):
    declared(
        tmp_path,
        [{**row, **cells} for row in WHERE],
        columns="start: start, end: end, duration: long",
    )
    checked = run("check", str(tmp_path), "--no-media")
    assert checked.exit_code == 2
    assert said in checked.output


def test_single_spans_behind_the_end_are_left_to_the_linter(tmp_path):
    rows = [{**row, "start": 3, "end": 7, "long": 10} for row in WHERE]
    rows[2]["end"] = 168
    declared(tmp_path, rows, columns="start: start, end: end, duration: long")
    checked = run("check", str(tmp_path), "--no-media")
    assert checked.exit_code == 0, checked.output
    linted = run("data", "lint", str(tmp_path))
    assert linted.exit_code == 1
    assert "late_span: test" in linted.output
    assert "ends at 168 s, and the video at 10 s" in linted.output


def test_spans_within_their_video_pass_a_check_without_media(tmp_path):
    rows = [{**row, "start": 3, "end": 10.5, "long": 10} for row in WHERE]
    declared(tmp_path, rows, columns="start: start, end: end, duration: long")
    checked = run("check", str(tmp_path), "--no-media")
    assert checked.exit_code == 0, checked.output


def test_a_start_just_before_zero_is_zero_and_one_before_it_is_said(tmp_path):
    spec = declared(tmp_path, [{**row, "start": -0.1, "end": 5} for row in WHERE])
    assert locate(spec.id).read()[0]["span"] == [0.0, 5.0]
    written(tmp_path, [{**WHERE[0], "start": -3, "end": 5}])
    with pytest.raises(InputError, match="which begins before 0"):
        locate(spec.id).read()


# --- options in the question
# -----------------------------------------------------------------------------------------

ASKED = [
    {
        "id": n,
        "video": f"v{n}.mp4",
        "question": f"What is done in part {n}?\nA. roping\nB. throwing a ball\nC. resting",
        "answer": "B. throwing a ball",
    }
    for n in range(6)
]


def test_options_in_the_question_are_parted(tmp_path):
    rows = written(tmp_path, ASKED)
    made = run("new", "within_made", "--from", str(rows), "--out", str(tmp_path / "made"))
    assert made.exit_code == 0, made.output
    assert "options <- {in: question}, as the questions end in them" in made.output
    row = locate(discovery.open_file(tmp_path / "made").id).read()[0]
    assert row["question"] == "What is done in part 0?"
    assert row["options"] == ["roping", "throwing a ball", "resting"]
    assert row["answer"] == "B"


@pytest.mark.parametrize("reply", ["B", "throwing a ball", "B. throwing a ball"])
def test_each_way_of_naming_an_option_in_the_question_counts(reply, tmp_path):
    rows = written(tmp_path, ASKED)
    run("new", "within_scored", "--from", str(rows), "--out", str(tmp_path / "made"))
    replies = written(
        tmp_path, [{"id": str(row["id"]), "text": reply} for row in ASKED], "replies.jsonl"
    )
    scored = run("score", str(tmp_path / "made"), "--predictions", str(replies), "--json")
    assert scored.exit_code == 0, scored.output
    assert '"value": 100.0' in scored.output


def test_captions_that_are_numbered_are_options_too(tmp_path):
    rows = [
        {
            **row,
            "question": "Which fits?\nOption 1: It rains.\nOption 2: It snows.",
            "answer": "Option 2: It snows.",
        }
        for row in ASKED
    ]
    made = run(
        "new",
        "within_numbered",
        "--from",
        str(written(tmp_path, rows)),
        "--out",
        str(tmp_path / "made"),
    )
    assert made.exit_code == 0, made.output
    row = locate(discovery.open_file(tmp_path / "made").id).read()[0]
    assert (row["options"], row["answer"]) == (["It rains.", "It snows."], "B")


def test_captions_whose_answers_are_their_numbers_alone_are_options_too(tmp_path):
    rows = [
        {**row, "question": "Which fits?\nOption 1: Rain.\nOption 2: Snow.", "answer": "Option 2"}
        for row in ASKED
    ]
    made = run(
        "new",
        "within_named",
        "--from",
        str(written(tmp_path, rows)),
        "--out",
        str(tmp_path / "made"),
    )
    assert made.exit_code == 0, made.output
    row = locate(discovery.open_file(tmp_path / "made").id).read()[0]
    assert (row["options"], row["answer"]) == (["Rain.", "Snow."], "B")


def test_questions_by_video_and_kind_are_asked_by_the_steps_that_new_names(tmp_path):
    asked = [{"question": row["question"], "answer": row["answer"]} for row in ASKED]
    path = tmp_path / "nested.json"
    path.write_text(
        json.dumps({f"v{n}": {"action": asked[:2], "order": asked[2:]} for n in range(3)})
    )
    line = refusal("new", "by_video", "--from", str(path), "--out", str(tmp_path / "made"))
    assert (
        line.count(
            "'action', 'order' contain whole questions: --set each={video}/{part} makes a row of each"
        )
        == 1
    )
    advice = ["--set", "each={video}/{part}", "--out", str(tmp_path / "made")]
    made = run("new", "by_video", "--from", str(path), *advice)
    assert made.exit_code == 0, made.output
    asked = reelbench.load(str(tmp_path / "made"))
    assert (len(asked), set(asked["video"]), set(asked["answer"])) == (
        18,
        {"v0", "v1", "v2"},
        {"B"},
    )


def test_check_says_where_questions_of_another_kind_end_in_options(tmp_path):
    rows = written(tmp_path, ASKED)
    run(
        "new",
        "within_exact",
        "--from",
        str(rows),
        "--kind",
        "exact",
        "--out",
        str(tmp_path / "made"),
    )
    checked = run("check", str(tmp_path / "made"), "--no-media")
    assert "6 of 6 questions end in their options" in checked.output


def test_several_right_options_are_named(tmp_path):
    rows = [
        {
            **row,
            "question": "Which?",
            "options": ["a cup", "a tin", "a jar"],
            "answer": "A,C" if row["id"] % 2 else "B",
        }
        for row in ASKED
    ]
    line = refusal(
        "new",
        "several_right",
        "--from",
        str(written(tmp_path, rows)),
        "--out",
        str(tmp_path / "made"),
    )
    assert (
        "3 of 6 answers name several of them: --set answers=all, or any, and --column "
        "options=options" in line
    )
    advice = ["--set", "answers=all", "--column", "options=options"]
    made = run(
        "new",
        "several_right",
        "--from",
        str(tmp_path / "rows.jsonl"),
        "--out",
        str(tmp_path / "made"),
        *advice,
    )
    assert made.exit_code == 0, made.output
    assert set(reelbench.load(str(tmp_path / "made"))["answer"]) == {"AC", "B"}


def test_whole_questions_in_a_cell_are_asked_by_the_key_that_new_names(tmp_path):
    path = tmp_path / "nested.json"
    path.write_text(
        json.dumps([{"film": "v.mp4", "qa": [{"question": "Why is it so?", "answer": "So."}] * 2}])
    )
    line = refusal("new", "nested_rows", "--from", str(path), "--out", str(tmp_path / "made"))
    assert "'qa' contains whole questions: --set each=qa makes a row of each" in line
    advice = ["--set", "each=qa", "--kind", "exact"]
    made = run("new", "nested_rows", "--from", str(path), "--out", str(tmp_path / "made"), *advice)
    assert made.exit_code == 0, made.output
    assert reelbench.load(str(tmp_path / "made"))["question"] == ["Why is it so?"] * 2


PLAIN = {"video": "v.mp4", "question": "Which?", "answer": "a cup"}
DROPPED = {
    # Some rows have options (MMVU), or pairs of questions in one object (VideoHallucer), or a text
    # to mark by.
    "'choices' contains options in 2 of 6 rows; with `kind: {column": lambda n: {
        **PLAIN, "choices": ["a cup", "a tin"] if n < 2 else []
    },
    "'hallucination' contains whole questions: --set each={part}": lambda _: {
        "basic": {**PLAIN, "answer": "yes"}, "hallucination": {**PLAIN, "answer": "no"}
    },
    "'rubric' contains what an answer is scored by, row by row: --column rubric=rubric": lambda _: {
        **PLAIN, "answer": "Somebody is still to come in.", "rubric": ["names the door"]
    },
    "start and end bound the part that is shown (--column clip=start,end), or are": lambda n: {
        **PLAIN, "candidates": ["a cup", "a tin"], "start": n, "end": n + 3.5
    },
}  # fmt: skip


@pytest.mark.parametrize("said", DROPPED)
def test_new_drops_nothing_in_silence(said, tmp_path):
    rows = written(tmp_path, [{"id": n, **DROPPED[said](n)} for n in range(6)])
    assert said in refusal("new", "dropped", "--from", str(rows), "--out", str(tmp_path / "made"))
    assert not (tmp_path / "made").exists()


def test_start_and_end_become_what_new_is_told(tmp_path):
    rows = written(
        tmp_path,
        [
            {"id": n, **PLAIN, "candidates": ["a cup", "a tin"], "start": n, "end": 9}
            for n in range(6)
        ],
    )
    for name, said in (("shown", ["clip=start,end"]), ("asked", ["start=start", "end=end"])):
        columns = [part for column in said for part in ("--column", column)]
        made = run("new", name, "--from", str(rows), "--out", str(tmp_path / name), *columns)
        assert made.exit_code == 0, made.output
        spec = discovery.find(str(tmp_path / name))
        assert spec.asks_span == (name == "asked")


def test_one_odd_row_stops_nothing_where_the_file_says_so(tmp_path):
    rows = [{"id": n, **PLAIN, "options": ["a cup", "a tin"]} for n in range(4)]
    rows.append({**rows[0], "id": 4, "options": ["a cup", "a cup"]})
    advice = ["--out", str(tmp_path / "made"), "--kind", "choice", "--column", "options=options"]
    made = run("new", "odd", "--from", str(written(tmp_path, rows)), *advice)
    assert made.exit_code == 0, made.output
    checked = run("check", str(tmp_path / "made"), "--no-media")
    assert checked.exit_code == 2
    assert "4 of 5 rows readable; `skip: unreadable` goes on without the others" in checked.output
    assert "the answer 'a cup' is 2 of its options, which are alike" in checked.output
    with (tmp_path / "made" / "benchmark.yaml").open("a") as file:
        file.write("skip: unreadable\n")
    checked = run("check", str(tmp_path / "made"), "--no-media")
    assert checked.exit_code == 0, checked.output
    assert "4 of 5 rows readable, the others are left out (skip: unreadable)" in checked.output
    assert len(reelbench.load(str(tmp_path / "made"))) == 4
