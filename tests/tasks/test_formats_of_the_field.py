"""Published formats of video benchmarks, in made-up rows: what each needs of `benchmark.yaml`, and what is scored."""

# ruff: noqa: ISC004 - files as they are written

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

import reelbench as face
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.data.loading import locate
from reelbench.leaderboard import site
from reelbench.registry import benchmark_file, discovery
from reelbench.registry.benchmark_keys import KEYS
from reelbench.registry.parity import Parity, parity, sentence
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.round_trip import round_trip
from reelbench.video.library import Library
from reelbench.video.mini_clips import draw_clip
from reelbench.video.shown_media import show
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

ROOT = Path(__file__).resolve().parents[2]


def declare(folder, text, **files):
    """A benchmark of a file's text and of files by name (`rows__json` is rows.json)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "benchmark.yaml").write_text(f"id: {folder.name}\n{text}", encoding="utf-8")
    for name, content in files.items():
        lines = isinstance(content, list) and name.endswith("jsonl")
        text = content if isinstance(content, str) else json.dumps(content)
        text = "".join(json.dumps(row) + "\n" for row in content) if lines else text
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def scored(folder, answers):
    """The metrics of answers by id."""
    file = folder / "answers.json"
    file.write_text(json.dumps(answers), encoding="utf-8")
    return {name: metric.value for name, metric in face.score(str(folder), file).metrics.items()}


GROUPED = """\
kind: choice
source: {file: rows.jsonl}
columns: {id: question_id, video: video_id, question: question, options: options, answer: answer}
group:
  by: video_id
  rule: {column: group_type, relevance: quadratic, logic: chain}
  levels: group_structure
"""


def test_the_chains_of_video_mme_v2_by_hand(tmp_path):
    # Three right of four each. Relevance: (3/4)^2 = 56.25. Two chains [1,[2,3],4], whose last
    # question is wrong: (1 + 3 + 3) of 1 + 3 + 3 + 5 = 58.33 each. The mean of the three is 57.64;
    # of the questions it is 75.
    groups = [
        ("a", "relevance", "None"),
        ("b", "logic", "[1,[2,3],4]"),
        ("c", "logic", "[1,[2,3],4]"),
    ]
    rows = [
        {
            "question_id": f"{video}-{n}", "video_id": video, "question": "Which?", "answer": "A",
            "options": "A. one\nB. two", "group_type": kind, "group_structure": levels,
        }
        for video, kind, levels in groups
        for n in range(1, 5)
    ]  # fmt: skip
    folder = declare(tmp_path / "mme", GROUPED, rows__jsonl=rows)
    made = scored(
        folder,
        {row["question_id"]: "B" if row["question_id"].endswith("4") else "A" for row in rows},
    )
    assert next(iter(made)) == "group_accuracy"
    assert round(made["group_accuracy"], 2) == 57.64
    assert made["accuracy"] == 75


IDS = "columns: {id: n, video: v, question: q, "
ROW = {"n": 1, "v": "a.mp4", "q": "What is seen?"}
PAIRS = [
    {
        "basic": {"video": f"{n}.mp4", "question": "Is it a cup?", "answer": "yes"},
        "hallucination": {"video": f"{n}b.mp4", "question": "Is it a jar?", "answer": "no"},
        "type": "object",
    }
    for n in range(3)
]
FORMATS = {
    # VideoHallucer: pairs of yes and no in one object, which count only together.
    "pairs": (
        "kind: choice\nsource: {file: rows.json}\neach: '{row_of}/{part}'\noptions: {are: [yes, no]}\n"
        "columns: {id: '{row_of}-{part}', video: video, question: question, answer: answer}\n"
        "group: {by: row_of, rule: all}\n",
        {"rows__json": {str(n): pair for n, pair in enumerate(PAIRS)}},
        {f"{n}-{part}": "Yes, it does." for n in range(3) for part in ("basic", "hallucination")},
        {"group_accuracy": 0, "accuracy": 50},
    ),
    # CG-Bench: all clues count, each side merged; of 10 seconds one half is found.
    "union": (
        "kind: span\nwindows: union\nsource: {file: rows.json}\n" + IDS + "span: clues}\n",
        {"rows__json": [{**ROW, "clues": [[0, 5], [3, 6], [20, 24]]}]},
        {"1": "[[0, 1], [1, 3], [20, 22]]"},
        {"miou": 50, "recall_at_0.3": 100, "recall_at_0.5": 100, "recall_at_0.7": 0},
    ),
    # NExT-GQA: a table of questions and a file of windows by video and question; precision ranks.
    "iop": (
        "kind: grounded_choice\noverlap: iop\nsource: {file: rows.csv}\n"
        "join: {file: spans.json, by: [video_id, qid], each: '{video_id}/location/{qid}'}\n"
        "columns: {id: '{video_id}_{qid}', video: video_id, question: question, options: [a0, a1], answer: answer, "
        "span: value}\n",
        {
            "rows__csv": "video_id,qid,question,answer,a0,a1\n7,1,what?,sit,sit,run\n7,2,who?,run,sit,run\n",
            "spans__json": {
                "7": {"duration": 30, "location": {"1": [[2, 12]], "2": [[-0.1, 4], [8, 9]]}}
            },
        },
        {"7_1": "A [2, 4]", "7_2": "B [0, 8]"},
        {"accuracy_at_iop_0.5": 100, "miop": 75, "iop_at_0.5": 100, "miou": 35, "accuracy": 100},
    ),
    # QVHighlights: windows in order of confidence. AP is 1/2 up to IoU 0.5 to 0.95: the second
    # window is right.
    "ranked": (
        "kind: span\nwindows: ranked\nsource: {file: rows.jsonl}\n"
        "columns: {id: qid, video: vid, question: query, span: relevant_windows}\n",
        {"rows__jsonl": [{"qid": 1, "vid": "a", "query": "a cup", "relevant_windows": [[10, 20]]}]},
        {"1": "[[0, 5, 0.9], [10, 20, 0.5]]"},
        {"miou": 0, "map": 50, "map_at_0.5": 50, "map_at_0.75": 50},
    ),
    # MMVU: options or a word, by row; the owners' number is of both.
    "mixed": (
        "kind: {column: question_type, multiple-choice: choice, open-ended: exact}\nprimary: right\n"
        "source: {file: rows.json}\ncolumns: {id: id, video: video, question: question, options: choices, answer: answer}\n",
        {
            "rows__json": [
                {
                    **(row := {"video": "a.mp4", "question": "Which?"}),
                    "id": "1",
                    "question_type": "multiple-choice",
                    "choices": {"A": "a cup", "B": "a jar"},
                    "answer": "B",
                },
                {
                    **row,
                    "id": "2",
                    "question_type": "open-ended",
                    "choices": {"A": "", "B": ""},
                    "answer": "the jar",
                },
                {
                    **row,
                    "id": "3",
                    "question_type": "open-ended",
                    "choices": {"A": "", "B": ""},
                    "answer": "a tin",
                },
            ]
        },
        {"1": "B", "2": "The jar.", "3": "a jar"},
        {"right": 200 / 3, "accuracy": 100, "exact_match": 50},
    ),
    # The same with several right options.
    "several": (
        "kind: choice\nanswers: all\nsource: {file: rows.json}\n"
        + IDS
        + "options: o, answer: a}\n",
        {
            "rows__json": [
                {**ROW, "n": n, "o": ["red", "blue", "green"], "a": "AC"} for n in range(3)
            ]
        },
        {"0": "A and C", "1": "The answer is A.", "2": '{"answer": ["C", "A"]}'},
        {"accuracy": 200 / 3},
    ),
    "any": (
        "kind: choice\nanswers: any\nsource: {file: rows.json}\n"
        + IDS
        + "options: o, answer: a}\n",
        {
            "rows__json": [
                {**ROW, "n": n, "o": ["red", "blue", "green"], "a": ["red", "green"]}
                for n in range(3)
            ]
        },
        {"0": "A", "1": "B", "2": "green"},
        {"accuracy": 200 / 3},
    ),
    # NExT-QA (open): two references.
    "references": (
        "kind: exact\nanswers: any\nsource: {file: rows.json}\n" + IDS + "answer: [a, b]}\n",
        {"rows__json": [{**ROW, "a": "sofa", "b": "couch"}]},
        {"1": "Couch"},
        {"exact_match": 100},
    ),
    # ActivityNet-QA: questions and answers in two files.
    "two_files": (
        "kind: exact\nsource: {file: q.json}\njoin: {file: a.json, by: question_id}\n"
        "columns: {id: question_id, video: video_name, question: question, answer: answer}\n",
        {
            "q__json": [{"question_id": "v_1", "video_name": "v", "question": "is it red"}],
            "a__json": [{"question_id": "v_1", "answer": "yes", "type": 3}],
        },
        {"v_1": "yes"},
        {"exact_match": 100},
    ),
    # ActivityNet Captions: lists beside each other, by video.
    "parallel": (
        "kind: span\nsource: {file: val.json}\neach: '{video}/timestamps+sentences'\n"
        "columns: {id: '{video}_{row}', video: video, question: sentences, span: timestamps}\n",
        {
            "val__json": {
                "v_1": {
                    "duration": 9,
                    "timestamps": [[0, 4], [4, 8]],
                    "sentences": ["He sits.", "He eats."],
                }
            }
        },
        {"v_1_1": "0 to 4 s", "v_1_2": "6 to 8 s"},
        {"miou": 75},
    ),
    # STAR: options as objects.
    "objects": (
        "kind: choice\nsource: {file: rows.json}\n" + IDS + "options: choices.choice, answer: a}\n",
        {
            "rows__json": [
                {
                    **ROW,
                    "choices": [{"choice_id": 0, "choice": "x"}, {"choice_id": 1, "choice": "y"}],
                    "a": "y",
                }
            ]
        },
        {"1": "B"},
        {"accuracy": 100},
    ),
    # Charades-STA: a line a question.
    "lines": (
        "kind: span\nsource: {file: test.txt}\nline: '{v} {s} {e}##{q}'\n"
        "columns: {id: '{row}', video: v, question: q, start: s, end: e}\n",
        {"test__txt": "AB12 0.0 10.0##a person sits down.\nAB12 5 9.5##they drink 2 cups.\n"},
        {"1": "0 - 5 s", "2": "from 5 to 9.5 seconds"},
        {"miou": 75},
    ),
    # HourVideo, VRBench: questions nested by video.
    "nested": (
        "kind: choice\nsource: {file: rows.json}\neach: '{film}/benchmark_dataset/{n}'\n"
        "columns: {id: '{film}_{n}', video: film, question: q, options: [a, b], answer: right}\n",
        {
            "rows__json": {
                "f1": {
                    "length": 9,
                    "benchmark_dataset": [{"q": "who?", "a": "x", "b": "y", "right": "B"}] * 2,
                }
            }
        },
        {"f1_1": "B", "f1_2": "A"},
        {"accuracy": 50},
    ),
    # TempCompass: by video and skill, options in the question.
    "by_skill": (
        "kind: choice\nsource: {file: rows.json}\neach: '{film}/{skill}/{n}'\noptions: {in: question}\nfacets: [skill]\n"
        "columns: {id: '{film}-{skill}-{n}', video: film, question: question, answer: answer}\n",
        {
            "rows__json": {
                "7": {"action": [{"question": "What?\nA. sits\nB. runs", "answer": "B. runs"}]},
                "8": {
                    "speed": [{"question": "How?\nA. slow\nB. fast", "answer": "A. slow"}],
                    "order": [],
                },
            }
        },
        {"7-action-1": "B", "8-speed-1": "(B)"},
        {"accuracy": 50},
    ),
    # LongVideoBench: a fifth option that most rows lack.
    "absent": (
        "kind: choice\nabsent: N/A\nanswer_is: index0\nsource: {file: rows.json}\n"
        + IDS
        + "options: [o0, o1, o2], answer: a}\n",
        {"rows__json": [{**ROW, "o0": "x", "o1": "y", "o2": "N/A", "a": 1}]},
        {"1": "C"},
        {"accuracy": 0},
    ),
    # Vinoground, MVP: two texts by two videos, right where all four are.
    "two_by_two": (
        "kind: choice\nsource: {file: rows.json}\ngroup: {by: idx, rule: all}\n"
        "columns: {id: '{idx}_{side}', video: v, question: q, options: o, answer: a}\n",
        {
            "rows__json": [
                {**ROW, "idx": n // 4, "side": "abcd"[n % 4], "o": ["x", "y"], "a": "A"}
                for n in range(8)
            ]
        },
        {
            f"{idx}_{side}": "B" if (idx, side) == (1, "d") else "A"
            for idx in (0, 1)
            for side in "abcd"
        },
        {"group_accuracy": 50, "accuracy": 87.5},
    ),
    # Video-MME: short, medium and long are a facet, in the column `duration`.
    "lengths": (
        "kind: choice\nsource: {file: rows.json}\nfacets: [length]\n"
        + IDS
        + "options: options, answer: answer, length: duration}\n",
        {"rows__json": [{**ROW, "options": ["A. x", "B. y"], "answer": "B", "duration": "short"}]},
        {"1": "B."},
        {"accuracy": 100},
    ),
    # OVO-Bench: a question at a time, shown what came before it.
    "until": (
        "kind: choice\nanswer_is: index0\nsource: {file: rows.json}\n"
        + IDS
        + "options: o, answer: gt, clip: '[0, {realtime}]'}\n",
        {"rows__json": [{**ROW, "o": ["x", "y"], "gt": 1, "realtime": 12.5}]},
        {"1": "B"},
        {"accuracy": 100},
    ),
    # CinePile: subtitles in the row, which a prompt of one's own names.
    "subtitles": (
        "kind: choice\nprompt: ask.txt\nsource: {file: rows.json}\n"
        + IDS
        + "options: o, answer: a, subtitles: subs}\n",
        {
            "ask__txt": "{subtitles}\n{question}\n{options}\n",
            "rows__json": [{**ROW, "o": ["x", "y"], "a": "x", "subs": "<s> Hello."}],
        },
        {"1": "x"},
        {"accuracy": 100},
    ),
    # Six that were found later. EgoSchema's subset: questions, and a mapping of ids to places.
    "egoschema": (
        "kind: choice\nanswer_is: index0\nsource: {file: questions.json}\njoin: {file: right.json, by: q_uid, each: '{q_uid}'}\n"
        "skip: unreadable\n"
        "columns: {id: q_uid, video: q_uid, question: question, options: [option 0, option 1], answer: value}\n",
        {
            "questions__json": [
                {"q_uid": uid, "question": "Why?", "option 0": "x", "option 1": "y"}
                for uid in "abc"
            ],
            "right__json": {"a": 1, "b": 0},
        },
        {"a": "B", "b": "B"},
        {"accuracy": 50},
    ),
    # TemporalBench: options in the question, and a video counts where all its questions are right.
    "temporalbench": (
        "kind: choice\noptions: {in: question}\nprimary: group_accuracy\nsource: {file: rows.json}\n"
        "group: {by: video_name, rule: all}\n"
        "columns: {id: idx, video: video_name, question: question, answer: GT}\n",
        {
            "rows__json": [
                {
                    "idx": n,
                    "video_name": f"v{n // 2}",
                    "question": "Which is right?\nA. one\nB. two",
                    "GT": "AB"[n % 2],
                }
                for n in range(4)
            ]
        },
        {"0": "A", "1": "B", "2": "A", "3": "A"},
        {"group_accuracy": 50, "accuracy": 75},
    ),
    # FALCON-Bench: an option's place and the window that shows it.
    "falcon": (
        "kind: grounded_choice\nanswer_is: index0\nsource: {file: rows.json}\n"
        "columns: {id: question_id, video: path, question: question, options: options, answer: gt_option_idx, "
        "span: gt_time_interval}\n",
        {
            "rows__json": [
                {
                    "question_id": "q1",
                    "path": "a",
                    "question": "What?",
                    "options": ["x", "y"],
                    "gt_option_idx": 1,
                    "gt_answer": "y",
                    "gt_time_interval": [10, 20],
                }
            ]
        },
        {"q1": "B [10, 15]"},
        {"accuracy_at_iou_0.5": 100, "miou": 50},
    ),
    # CameraBench: yes and no and options by row, two questions by two videos.
    "camerabench": (
        "kind: choice\noptions: {are: [yes, no]}\nsource: {file: rows.json}\ngroup: {by: pair, rule: all}\n"
        "columns: {id: Index, video: Video, question: Question, answer: Answer}\n",
        {
            "rows__json": [
                {
                    "Index": f"{n}",
                    "pair": n // 2,
                    "Video": f"{n}.mp4",
                    "Question": "Does it pan?",
                    "Answer": "Yes" if n % 2 else "No",
                }
                for n in range(4)
            ]
        },
        {"0": "No, it doesn't.", "1": "yes", "2": "No", "3": "No."},
        {"group_accuracy": 50, "accuracy": 75},
    ),
    # Video-EvalPro: one row holds the options, their letter, and the answer in words.
    "evalpro": (
        "kind: exact\nsource: {file: rows.json}\n" + IDS + "answer: answer_text}\n",
        {"rows__json": [{**ROW, "options": ["x", "y"], "answer": "B", "answer_text": "y"}]},
        {"1": "Y."},
        {"exact_match": 100},
    ),
    # MultiHop-EgoQA: several windows as evidence.
    "multihop": (
        "kind: span\nwindows: union\nsource: {file: rows.json}\n" + IDS + "span: evidence}\n",
        {"rows__json": [{**ROW, "evidence": [[0, 2], [4, 6]]}]},
        {"1": '{"spans": [[4, 6], [0, 2]]}'},
        {"miou": 100},
    ),
    # SITE-Bench: two and three options; one of two right is (1 - 5/6) / (2 - 5/6).
    "chance": (
        "kind: choice\nchance: adjusted\nsource: {file: rows.json}\n"
        + IDS
        + "options: o, answer: a}\n",
        {
            "rows__json": [
                {**ROW, "o": ["x", "y"], "a": "A"},
                {**ROW, "n": 2, "o": ["x", "y", "z"], "a": "A"},
            ]
        },
        {"1": "A", "2": "C"},
        {"above_chance": 100 / 7, "accuracy": 50},
    ),
    # CG-AV-Counting: of 4 and 9, 5 and no number, which is 0.
    "counts": (
        "kind: exact\nnumbers: mae\nsource: {file: rows.json}\n" + IDS + "answer: a}\n",
        {"rows__json": [{**ROW, "a": "4"}, {**ROW, "n": 2, "a": "9"}]},
        {"1": "5", "2": "many"},
        {"within_one": 50, "number_right": 0, "mae": 5, "relative_mae": (1 / 4.1 + 9 / 9.1) / 2},
    ),
    # OMTG-Bench: two of two windows, at IoU 1 and 0.6.
    "matched": (
        "kind: span\nwindows: matched\nsource: {file: rows.json}\n" + IDS + "span: answer}\n",
        {"rows__json": [{**ROW, "answer": "<time>0 - 10 seconds</time>, <time>20 - 30 s</time>"}]},
        {"1": "0 to 10 s and 20 to 26 s"},
        {"etf1": 250 / 3, "count_right": 100, "tf1_at_0.3": 100, "tf1_at_0.7": 50, "miou": 80},
    ),
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_said_in_one_file_and_scored_by_its_rule(name, tmp_path):
    text, files, answers, expected = FORMATS[name]
    made = scored(declare(tmp_path / name, text, **files), answers)
    assert {metric: made[metric] for metric in expected} == pytest.approx(expected)
    assert next(iter(made)) == next(iter(expected))
    spec = discovery.open_file(tmp_path / name)
    trip = round_trip(spec, "test", locate(spec.id).read())
    if trip is not None:
        assert (trip.perfect, trip.misread) == (pytest.approx(100), ())
        assert trip.empty <= 0  # below chance, where that is 0


def test_what_is_shown_of_a_video_may_be_a_part_of_it(tmp_path, monkeypatch):
    # MVBench: `start` and `end` bound what is shown; the times of frames stay the video's.
    text = (
        "kind: choice\nsource: {file: rows.json}\n"
        + IDS
        + "options: o, answer: a, clip: [start, end]}\n"
    )
    row = {**ROW, "v": "a.mp4", "o": ["up", "down"], "a": "up", "start": 1, "end": 3}
    folder = declare(tmp_path / "part", text, rows__json=[row])
    (read,) = face.load(str(folder))
    assert read["clip"] == [1, 3]
    library = Library(discovery.find(str(folder)), "test")
    asked = []
    monkeypatch.setattr(
        "reelbench.video.shown_media.frames_of_row",
        lambda _library, _row, sampling, **__: asked.append(str(sampling)),
    )
    for spec in ("uniform:4", "fps:2", "fps:2,max=3"):
        with pytest.raises(ReelbenchError, match="is not here any more"):
            show(library, read, FrameSampling.parse(spec))
    assert asked == [f"{FrameSampling.parse(f'window:1-3,{number}')}" for number in (4, 4, 3)]
    with pytest.raises(InputError, match=r"part 1 to 3 s of the video.*uniform:N or fps:F"):
        show(library, read, FrameSampling.parse("native"))


REFUSED = {
    "several_videos": (
        "kind: exact\nsource: {file: rows.json}\n" + IDS + "answer: a}\n",
        [{**ROW, "v": ["a.mp4", "b.mp4"], "a": "x"}],
        r"line 1 \(row 1\): video \(v\) is a list, expected text",
    ),
    "parallel_lists": (
        "kind: span\nsource: {file: rows.json}\neach: '{film}'\ncolumns: {id: '{row}', video: film, question: sentences, span: timestamps}\n",
        {
            "v_1": {"timestamps": [[0, 3], [4, 9]], "sentences": ["One.", "Two."]},
            "v_2": {"timestamps": [], "sentences": []},
        },
        r"question \(sentences\) is a list, expected text",
    ),
    "unequal_lists": (
        "kind: span\nsource: {file: rows.json}\neach: '{film}/timestamps+sentences'\n"
        "columns: {id: '{row}', video: film, question: sentences, span: timestamps}\n",
        {
            "v_1": {"timestamps": [[0, 3]], "sentences": ["One.", "Two."]},
            "v_2": {"timestamps": [], "sentences": []},
        },
        r"the lists timestamps, sentences are of different lengths \(each: timestamps\+sentences\)",
    ),
    "three_kinds": (
        "kind: {column: t, mc: choice, oe: open, w: exact}\nsource: {file: rows.json}\n"
        + IDS
        + "options: o, answer: a}\n",
        [{**ROW, "t": "mc", "o": ["x", "y"], "a": "x"}],
        r"kind\.w is 'exact': rows of several kinds are choice and exact, or choice and open",
    ),
    "a_misspelt_answer": (
        "kind: exact\nanswers: any\nsource: {file: rows.json}\n" + IDS + "answer: [a, bee]}\n",
        [{**ROW, "a": "sofa", "b": "couch"}, {**ROW, "n": 2, "a": "sofa", "b": "couch"}],
        r"no row has the column 'bee', which `answer` names",
    ),
    "part_of_several": (
        "kind: exact\nsource: {file: rows.json}\ncolumns: {id: n, videos: v, question: q, answer: a, clip: [s, e]}\n",
        [{**ROW, "v": ["a.mp4", "b.mp4"], "a": "x", "s": 1, "e": 2}],
        r"columns\.clip is a part of one video; leave out `videos`",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_key_says_is_refused_in_a_line(name, tmp_path):
    text, rows, said = REFUSED[name]
    folder = declare(tmp_path / name, text, rows__json=rows)
    with pytest.raises(InputError, match=said):
        face.load(str(folder))


def test_every_key_is_declared_read_and_in_the_schema():
    """The keys that the parser asks for are those of the table, and our own files and those of parity are valid by it."""
    schema = json.loads((ROOT / "docs" / "schemas" / "benchmark.json").read_text("utf-8"))
    recipe = (ROOT / "docs" / "recipes" / "add_benchmark.md").read_text("utf-8")
    assert [path for path in KEYS if f"| `{path}`" not in recipe] == []
    modules = (ROOT / "reelbench" / "registry").glob("benchmark_*.py")
    source = "".join(path.read_text("utf-8") for path in modules if path.stem != "benchmark_keys")
    assert [path for path in KEYS if f'"{path.rpartition(".")[2]}"' not in source] == []
    folders = ("tasks/*", "reelbench/tasks/gallery/*", "tools/parity/*")
    for file in [file for folder in folders for file in ROOT.glob(f"{folder}/benchmark.yaml")]:
        benchmark_file.read(file, installed=True)
        jsonschema.validate(yaml.safe_load(file.read_text("utf-8")), schema)
    with pytest.raises(jsonschema.ValidationError, match="windows"):
        jsonschema.validate(
            {"id": "x", "kind": "span", "source": {}, "columns": {}, "windows": "all"}, schema
        )


def test_parity_is_on_record_and_each_difference_is_explained():
    paths = [
        *ROOT.glob("tools/parity/*/parity.json"),
        *ROOT.glob("reelbench/tasks/gallery/*/parity.json"),
    ]
    found = [json.loads(path.read_text("utf-8")) for path in paths]
    assert len(found) >= 14
    spec = discovery.get("qvhighlights")
    said = parity(spec)
    assert site.benchmark(spec)["parity"] == said
    assert said == (
        "The owners' scorer (standalone_eval/eval.py of jayleicn/moment_detr at b7e553ac3b0c) gives the same numbers as "
        "ours on 1,550 answers (the owners' own predictions and the numbers that they publish of them): Recall@1, IoU ≥ "
        "0.5 = 53.94; Recall@1, IoU ≥ 0.7 = 34.84; mAP = 32.2; mAP, IoU ≥ 0.5 = 54.96; mAP, IoU ≥ 0.75 = 31.01."
    )
    other = next(one for one in found if one["benchmark"] == "nextqa")
    other = other | {
        "note": "two rows",
        "numbers": {"accuracy": {"theirs": 49.74, "ours": 50, "difference": 0.26}},
    }
    said = sentence(Parity.model_validate(other), {"accuracy": "Accuracy"})
    assert "different numbers from ours on 4,996 answers" in said
    assert said.endswith("Accuracy = 49.74 and 50 (theirs and ours). The difference: two rows.")
    for one in found:
        for number in one["numbers"].values():
            assert one.get("note") or number["difference"] == 0


@pytest.mark.parametrize(
    "name", ["mixed", "ranked", "several", "two_by_two", "chance", "counts", "matched"]
)
def test_a_board_computes_again_what_such_a_result_says(name, tmp_path):
    text, files, answers, expected = FORMATS[name]
    folder = declare(tmp_path / name, text, **files)
    file = folder / "answers.json"
    file.write_text(json.dumps(answers), encoding="utf-8")
    face.score(str(folder), file, model="org/one").save(tmp_path / "run")
    done = CliRunner().invoke(
        app, ["leaderboard", "add", str(tmp_path / "run"), "--store", str(tmp_path / "store")]
    )
    assert done.exit_code == 0, (done.output, done.exception)
    table = face.results(tmp_path / "store")
    for metric, value in expected.items():
        assert table.loc[table["metric"] == metric, "value"].tolist() == [pytest.approx(value)]


JUDGED = """\
kind: {column: question_type, multiple-choice: choice, open-ended: open}
primary: right
source: {file: rows.json}
columns: {id: id, video: video, question: question, options: choices, answer: answer}
judge: {prompts: marks, scale: [0, 1]}
"""


def test_judged_questions_beside_ones_with_options_have_their_own_number_and_one_of_all(
    tmp_path, monkeypatch
):
    """MMVU's owners have a model say of open answers whether they are right, and one number of all questions."""
    monkeypatch.setenv("REELBENCH_JUDGE_API_KEY", "x")
    form = {**ROW, "video": "a.mp4", "question": "Which?"}
    rows = [
        {
            **form,
            "id": str(n),
            "question_type": "multiple-choice",
            "choices": ["x", "y"],
            "answer": "B",
        }
        for n in (1, 2)
    ]
    rows += [
        {**form, "id": str(n), "question_type": "open-ended", "choices": [], "answer": "the jar"}
        for n in (3, 4, 5)
    ]
    folder = declare(tmp_path / "judged", JUDGED, rows__json=rows)
    (folder / "marks").mkdir()
    for name in ("user", "correct"):
        (folder / "marks" / f"{name}.txt").write_text(
            "{question} {reference} {answer}", encoding="utf-8"
        )
    file = folder / "answers.json"
    file.write_text(
        json.dumps({"1": "B", "2": "A", "3": "a jar", "4": "a tin", "5": ""}), encoding="utf-8"
    )
    with JudgeServer(lambda call: Answer(f'{{"score": {int("a jar" in call.user)}}}')) as server:
        result = face.score(str(folder), file, judge=f"marker@{server.url}", model="org/one")
        assert len(server.calls) == 2  # none about options, and none about an answer that is empty
    numbers = {name: (metric.value, metric.n) for name, metric in result.metrics.items()}
    # Of 5 questions 1 option of 2 and 1 open answer of 3 are right.
    assert numbers == {
        "right": (40, 5),
        "accuracy": (50, 2),
        "correct": (pytest.approx(100 / 3), 3),
    }
    result.save(tmp_path / "run")
    done = CliRunner().invoke(
        app, ["leaderboard", "add", str(tmp_path / "run"), "--store", str(tmp_path / "store")]
    )
    assert done.exit_code == 0, (done.output, done.exception)
    alone = face.score(str(folder), file)
    assert {name: metric.value for name, metric in alone.metrics.items()}["accuracy"] == 50
    assert alone.counts.unscored == {"judge_unavailable": 3}


def test_several_videos_are_shown_one_after_another_each_by_its_number(tmp_path):
    text = "kind: choice\nsource: {file: rows.json}\ncolumns: {id: n, videos: v, question: q, options: o, answer: a}\n"
    row = {**ROW, "v": ["a.mp4", "b.mp4"], "o": ["x", "y"], "a": "x"}
    folder = declare(tmp_path / "several", text, rows__json=[row])
    for name in ("a", "b"):
        draw_clip(folder / f"{name}.mp4", name, 4)
    (read,) = face.load(str(folder))
    assert (read["video"], read["videos"]) == ("a.mp4", ["a.mp4", "b.mp4"])
    library = Library(discovery.find(str(folder)), "test")
    assert library.missing([read]) == []
    shown = show(library, read, FrameSampling.parse("uniform:2,as=images,times=text"))
    pieces = [
        piece if isinstance(piece, str) else type(piece).__name__
        for piece in shown.attachments("en")
    ]
    times = [f"<{at:.1f} seconds>" for at in shown.timestamps]
    one = [word for time in times[:2] for word in (time, "Attachment")]
    assert pieces == ["Video 1:", *one, "Video 2:", *one]
    assert len(set(shown.images)) == 4
    with pytest.raises(ReelbenchError, match="several videos are shown as pictures"):
        show(library, read, FrameSampling.parse("native"))
    with pytest.raises(InputError, match="several: name frames, such as --frames uniform:8"):
        face.ask("m@http://127.0.0.1:9", str(folder), frames="native")
    (folder / "b.mp4").unlink()
    (lacking,) = Library(discovery.find(str(folder)), "test").missing([read])
    assert lacking.video == "b.mp4"


def test_a_span_that_begins_a_little_before_0_is_read_as_0_and_said(tmp_path):
    text = "kind: span\nsource: {file: rows.jsonl}\n" + IDS + "span: s}\n"
    rows = [
        {**ROW, "n": n, "s": span} for n, span in enumerate([[1, 2], [-0.1, 3], [-0.2, 4], [-2, 4]])
    ]
    folder = declare(tmp_path / "early", text + "skip: unreadable\n", rows__jsonl=rows)
    assert [row["span"] for row in face.load(str(folder))] == [[1, 2], [0, 3], [0, 4]]
    done = CliRunner().invoke(app, ["check", str(folder), "--no-media"])
    assert done.exit_code == 0
    said = done.stderr.splitlines()
    assert "3 of 4 rows readable, the others are left out (skip: unreadable)" in said[0]
    assert "which begins before 0" in said[1]
    assert said[2].endswith(
        "rows.jsonl, line 2 (row 2): 2 rows with a span that begins up to 0.5 s before 0, read as 0"
    )
