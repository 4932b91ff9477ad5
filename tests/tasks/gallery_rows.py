"""Made-up rows for each benchmark of the gallery, in the form that its owners publish.

Columns are those that lmms-eval 0.7.3's task code reads, or of the owners' own files on GitHub.
"""

from typing import Any

Rows = list[dict[str, Any]]

_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b550000000a49444154789c63"
    "6000000002000148afa4710000000049454e44ae426082"
)
"""One black pixel."""

_WORDS = ("tea", "milk", "oil", "rain", "bread")


def _rows(count: int = 4, /, **columns: Any) -> Rows:
    """Return rows whose columns are values, or functions of a row's number."""
    made: Rows = []
    for n in range(count):
        made.append(
            {name: value(n) if callable(value) else value for name, value in columns.items()}
        )
    return made


def _letter(n: int) -> str:
    return "ABCD"[n % 4]


def _lettered(n: int) -> list[str]:
    return [f"{letter}. {word} {n}" for letter, word in zip("ABCD", _WORDS, strict=False)]


def _plain(n: int) -> list[str]:
    return [f"{word} {n}" for word in _WORDS[:4]]


def _in_text(n: int) -> str:
    options = "\n".join(
        f"({letter}) {word} {n}" for letter, word in zip("ABCD", _WORDS, strict=False)
    )
    return f"What is seen in scene {n}?\n{options}"


def _numbered(first: str, count: int = 5) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for place in range(count):
        columns[f"{first}{place}"] = lambda n, place=place: f"{_WORDS[place]} {n}"
    return columns


def _question(n: int) -> str:
    return f"What is seen in scene {n}?"


_DAY = {"time": "[0:00:00 - 0:01:00]", "video_categories": "sport"}


def _stream(n: int) -> dict[str, Any]:
    question = {
        "task_type": "Clips Summarize", "question": _question(n), "time_stamp": f"00:00:{31 + n}",
        "answer": _letter(n), "options": _lettered(n), "required_ability": "memory",
    }  # fmt: skip
    return {**_DAY, "video_path": f"./videos/s_{n}.mp4", "questions": [question]}


def _hallucination(n: int) -> dict[str, Any]:
    asked = {"type": "hallucination", "question": _question(n), "answer": ["Yes.", "No."][n % 2]}
    return {"id": f"entire_00{n}", "category": "sport", "length": "00:02", "questions": [asked]}


FILES: dict[str, dict[str, Any]] = {
    "videomme": {"test-00000-of-00001.jsonl": _rows(
        video_id=lambda n: f"00{n}", duration="short", domain="Knowledge", sub_category="Biology",
        url="https://example.org", videoID=lambda n: f"yt{n}", question_id=lambda n: f"00{n}-1",
        task_type="Counting", question=_question, options=_lettered, answer=_letter,
    )},
    "lvbench": {"train-00000-of-00001.jsonl": _rows(
        video_path=lambda n: f"yt{n}.mp4", question=_question, options=_plain, answer=_letter,
    )},
    "longvideobench": {"lvb_val.json": _rows(
        id=lambda n: f"v_{n}", video_path=lambda n: f"v{n}.mp4", question=_question, duration=20.5,
        question_category="T2A", duration_group=15, correct_choice=lambda n: n % 4,
        subtitle_path="s.json", starting_timestamp_for_subtitles=0,
        **{**_numbered("option", 4), "option4": "N/A"},
    )},
    "egoschema": {"Subset/test-00000-of-00001.jsonl": _rows(
        question_idx=lambda n: n, video_idx=lambda n: f"uid-{n}", question=_question,
        option=lambda n: [*_lettered(n), f"E. bread {n}"], answer=lambda n: str(n % 4),
    )},
    "nextqa": {"test.csv": _rows(
        video=lambda n: 2574374895 + n, frame_count=719, width=320, height=240, question=_question,
        answer=lambda n: n % 5, qid=8, type="TN", **_numbered("a"),
    )},
    "nextgqa": {
        "test.csv": _rows(
            video_id=lambda n: 2574374895 + n, frame_count=719, width=320, height=240,
            question=_question, answer=lambda n: f"{_WORDS[n % 5]} {n}", qid=8, type="TN",
            **_numbered("a"),
        ),
        "gsub_test.json": {
            str(2574374895 + n): {"duration": 40, "fps": 30.0, "location": {"8": [[3.5, 9.25]]}}
            for n in range(4)
        },
    },
    "mvbench": {
        "json/action_sequence.json": _rows(
            video=lambda n: f"a{n}.mp4", question=_question, candidates=_plain, start=3.5, end=9.0,
            answer=lambda n: f"tea {n}", fps=3.0,
        ),
        "json/object_existence.json": _rows(
            video=lambda n: f"b{n}.mp4", question=_question, candidates=["yes", "no", "not sure"],
            answer="no",
        ),
    },
    "tvbench": {
        "json/action_count.json": _rows(
            video=lambda n: f"a{n}.mp4", question=_question, candidates=["1", "2", "3", "4"],
            answer=lambda n: str(1 + n % 4),
        ),
        "json/action_localization.json": _rows(
            video=lambda n: f"b{n}.mp4", question=_question, candidates=_plain, start=3.5, end=9.0,
            answer=lambda n: f"tea {n}",
        ),
    },
    "tomato": {"test-00000-of-00001.jsonl": _rows(
        id=lambda n: f"human-count-{n}", video_path=lambda n: f"human/{n}.mp4", question=_question,
        options=_plain, answer=lambda n: n % 4, reason_type="count", demonstration_type="human",
    )},
    "worldsense": {"test-00000-of-00001.jsonl": _rows(
        index=lambda n: n, video_path=lambda n: f"v{n}.mp4", question=_question,
        candidates=_lettered, answer=_letter, task_type="Counting", task_domain="Sports",
        duration="<1min", audio_class=["Speech"], subtitle_path="s.srt",
    )},
    "mmr_v": {"test-00000-of-00001.jsonl": _rows(
        video=lambda n: f"v{n}.mp4", videoType="TV", question_idx=lambda n: n, question=_question,
        options=lambda n: [f"({x}) {w} {n}" for x, w in zip("ABCD", _WORDS, strict=False)],
        correctAnswer=lambda n: f"({_letter(n)})", abilityType_L2="Metaphor Understanding",
            abilityType_L3="x",
    )},
    "cinepile": {"test-00000-of-00001.jsonl": _rows(
        videoID=lambda n: f"yt{n}", question=_question, choices=lambda n: [*_plain(n), f"bread {n}"],
        answer_key=lambda n: f"{_WORDS[n % 5]} {n}", answer_key_position=lambda n: n % 5,
        subtitles="Good day.", question_category="Theme", hard_split="False",
    )},
    "neptune": {"full/test-00000-of-00001.jsonl": _rows(
        key=lambda n: f"k{n}", video_path=lambda n: f"yt{n}.mp4", question=_question,
        answer_id=lambda n: n % 5, question_type="Counting", **_numbered("answer_choice_"),
    )},
    "scivideobench": {"test-00000-of-00001.jsonl": _rows(
        video_id=lambda n: f"500{n}", question=_question, answer=_letter, question_type="Concept",
        options=lambda n: dict(zip("ABCD", _plain(n), strict=False)), category="Biology",
        video_duration=300,
    )},
    "lsdbench": {"test-00000-of-00001.jsonl": _rows(
        video_id=lambda n: f"v{n}", question=_question, correct_answer=_letter,
        options=lambda n: dict(zip("ABCD", _plain(n), strict=False)),
    )},
    "perceptiontest": {"mc_question_val/validation-00000-of-00001.jsonl": _rows(
        video_name=lambda n: f"video_{n}", question=_question, question_id="0", area="physics",
        options=lambda n: _plain(n)[:3], answer_id=lambda n: str(n % 3), reasoning="descriptive",
        tag=["motion"],
    )},
    "mlvu": {"test-00000-of-00001.jsonl": _rows(
        5, video_name=lambda n: f"{n}.mp4", question=_in_text, answer=_letter,
        task_type=lambda n: ["count", "ego"][n > 2],
    )},
    "ovobench": {"ovo_bench_new.json": [
        *_rows(
            3, id=lambda n: n, task="EPM", video=lambda n: f"v{n}.mp4", realtime=215.0,
            question=_question, options=_plain, gt=lambda n: n % 4, answer="tea",
        ),
        {"id": 7, "task": "OCR", "video": "v.mp4", "realtime": 9, "question": "Which?",
         "options": ["tea", "milk"], "gt": 1, "answer": "milk"},
        {"id": 8, "task": "REC", "video": "v.mp4", "activity": "jump",
         "test_info": [{"realtime": 3, "count": 1}]},
    ]},
    "vsibench": {"full/test-00000-of-00001.jsonl": [
        {"id": 0, "dataset": "arkit", "scene_name": "s1", "question_type": "object_counting",
         "question": "How many chairs?", "ground_truth": "4", "options": None},
        {"id": 1, "dataset": "arkit", "scene_name": "s1", "question_type": "room_size_estimation",
         "question": "How large?", "ground_truth": "20.5", "options": None},
        {"id": 2, "dataset": "arkit", "scene_name": "s1", "question_type": "object_rel_direction_easy",
         "question": "Where?", "ground_truth": "B", "options": ["A. left", "B. right"]},
        {"id": 3, "dataset": "arkit", "scene_name": "s2", "question_type": "object_rel_direction_hard",
         "question": "Where?", "ground_truth": "C",
         "options": ["A. left", "B. right", "C. front-left", "D. back"]},
    ]},
    "videomme_v2": {"test-00000-of-00001.jsonl": _rows(
        video_id=lambda n: f"00{n // 4}", question_id=lambda n: f"00{n // 4}-{n % 4}",
        question=_question, options=lambda n: "\n".join(_lettered(n)), answer=_letter, level="1",
        second_head="a",
        third_head="b", group_type="logic", group_structure="[1,[2,3],4]",
    )},
    "mvp": {"intuitive_physics/mini-00000-of-00001.jsonl": _rows(
        video_id=lambda n: f"my_pair_{n // 2}_{n % 2}", video_path=lambda n: f"v{n}.mp4",
        source="intphys", question=lambda n: _question(n // 2), candidates=["yes", "no"],
        answer=lambda n: ["yes", "no"][n % 2],
    )},
    "temporalbench": {"test_short_qa-00000-of-00001.jsonl": _rows(
        idx=lambda n: f"{n}", video_name=lambda n: f"v{n // 2}.mp4", dataset="ActivityNet",
        question=lambda n: f"Which caption is right {n}?\nA. tea {n}\nB. milk {n}",
        GT=lambda n: "AB"[n % 2],
    )},
    "videomathqa": {"mcq/test-00000-of-00001.jsonl": _rows(
        question_id=lambda n: f"q{n}", videoID=lambda n: f"yt{n}", question=_question,
        options=lambda n: [*_lettered(n), f"E. bread {n}"], answer=_letter, category="counting",
        length="short",
    )},
    "videomathqa_pairs": {"multi_binary/test-00000-of-00001.jsonl": _rows(
        question_id=lambda n: f"q{n // 2}", videoID=lambda n: f"yt{n // 2}", question=_question,
        options=lambda n: _lettered(n)[:2], answer=lambda n: "AB"[n % 2], category="counting",
        length="short",
    )},
    "mmvu": {"validation.json": [
        *_rows(
            3, id=lambda n: f"validation_{n}", video_path=lambda n: f"Art/{n}.mp4",
            question=_question, question_type="multiple-choice", answer=_letter,
            choices=lambda n: dict(zip("ABCDE", [*_plain(n), f"bread {n}"], strict=True)),
        ),
        {"id": "validation_7", "video_path": "Art/7.mp4", "question": "What is it?",
         "question_type": "open-ended", "answer": "a quick sort", "choices": dict.fromkeys("ABCDE", "")},
    ]},
    "videommmu": {
        "Comprehension/test-00000-of-00001.jsonl": _rows(
            id=lambda n: f"dev_Art_{n}", question=_question, options=_plain, answer=_letter,
        ),
    },
    "videommmu_adaptation": {
        "Adaptation/test-00000-of-00001.jsonl": [
            {"id": "validation_Art_1", "question": "What is <image 1>?", "options": ["oil", "tea"],
             "answer": "B", "question_type": "multiple-choice", "image": {"bytes": _PNG, "path": "1.png"}},
            {"id": "validation_Art_2", "question": "How many?", "options": [], "answer": "7.5",
             "question_type": "open", "image": {"bytes": _PNG, "path": "2.png"}},
        ],
    },
    "omtg_bench": {"OMTGBench.tsv": _rows(
        index=lambda n: n, video=lambda n: f"v{n}.mp4", question=lambda n: f"Find each door {n}.",
        answer=lambda n: f"<time>{n} - 9.5 seconds</time>, <time>20.0 - 31.5 seconds</time>",
    )},
    "cg_av_counting": {"cg-av-counting.json": _rows(
        index=lambda n: n, video=lambda n: f"v{n}.mp4", question=_question, answer=str,
        category=lambda n: "event" if n else "object", type="A2V", query_interval=[0, 60.5],
        clue='[{"timestamp": "3.5"}]',
    )},
    "sitebench_video": {"video_test/test-00000-of-00001.jsonl": _rows(
        visual=lambda n: [f"videos/{n}.mp4"], question=_question, options=_plain, answer=_letter,
        category="counting & existence", dataset="EgoExo",
    )},
    "videoevalpro": {"test-00000-of-00001.jsonl": _rows(
        video=lambda n: f"v{n}.mp4", question=_question, options=_lettered, answer=_letter,
        answer_text=lambda n: f"tea {n}", qa_type="Local Perception",
    )},
    "charades_sta": {"test-00000-of-00001.jsonl": _rows(
        video=lambda n: f"v{n}.mp4", caption=lambda n: f"a person opens door {n}",
        timestamp=lambda n: [3.5, 9.25 + n],
    )},
    "extremewhenbench": {"test-00000-of-00001.jsonl": _rows(
        qid=lambda n: f"q{n}", video_id=lambda n: f"yt{n}", source_corpus="lvbench",
        question=_question, correct_interval=lambda n: [3600.5, 3650 + n], video_duration_s=4000.0,
    )},
    "openeqa": {"open-eqa-v0.json": _rows(
        question_id=lambda n: f"u{n}", episode_history=lambda n: f"hm3d-v0/00{n}",
        question=_question, answer="a red cup", extra_answers=lambda n: ["a cup"] if n else None,
        category="object recognition",
    )},
    "qvhighlights": {"highlight_val_release.jsonl": _rows(
        qid=lambda n: n, vid=lambda n: f"yt_{n}_0.0_150.0", query=_question, duration=150,
        relevant_windows=lambda n: [[3, 9], [20, 31 + n]], relevant_clip_ids=[1], saliency_scores=[[1]],
    )},
    "activitynet_qa": {
        "test_q.json": _rows(
            question_id=lambda n: f"v_{n}", video_name=lambda n: f"yt{n}", question=_question,
        ),
        "test_a.json": _rows(question_id=lambda n: f"v_{n}", answer="no", type=3),
    },
    "streamingbench": {"questions_real.json": [_stream(n) for n in range(4)]},
    "streamingbench_omni": {"questions_omni.json": [_stream(n) for n in range(4)]},
    "eventhallusion": {"entire_questions.json": [_hallucination(n) for n in range(4)]},
    "tempcompass": {"multi-choice.json": {
        "103": {"action": [{"question": "What?\nA. tea\nB. milk", "answer": "B. milk"}]},
    }},
    "tempcompass_yes_no": {"yes_no.json": {
        "103": {"action": [{"question": "Is it tea?", "answer": "yes"}], "speed": []},
    }},
    "daily_omni": {"qa.json": _rows(
        Question=_question, Choice=_lettered, Answer=_letter, video_id=lambda n: f"yt{n}",
        Type="Event Sequence", content_parent_category="Lifestyle", video_duration="30s",
    )},
    "intentqa": {"test.csv": _rows(
        video_id=lambda n: 610298219 + n, frame_count=719, question=_question,
        answer=lambda n: n % 5, qid=2, type="CW", action="play", lemma="play", lemma_id=141,
        **_numbered("a"),
    )},
    "rtvbench": {"QA.json": _rows(
        video="Sports_010.mp4", questionID=lambda n: f"q-group-77w-{min(n, 2)}-option{n}",
        type="Event-IA", field="sports", start_time=0, end_time=27.5, question=_question,
        options=lambda n: dict(zip("ABCD", _plain(n), strict=False)), answer=_letter,
    )},
}  # fmt: skip
"""Id -> the owners' files by their paths."""
