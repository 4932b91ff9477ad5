"""Further published formats, in rows of our own: what `reelbench new` says first, and what fits.

Forms (names of columns, kinds of values) as their owners published them up to November 2026.
"""

import json
from typing import Any

from tests.tasks.field_formats import Format

COUNT = 6

_NO_KEY: tuple[str, ...] = ()


def _rows(count: int = COUNT, /, **columns: Any) -> list[dict[str, Any]]:
    """Return rows whose columns are given as values, or as functions of a row's number."""
    made: list[dict[str, Any]] = []
    for n in range(count):
        made.append({key: value(n) if callable(value) else value for key, value in columns.items()})
    return made


def _option_columns(count: int, first: str) -> dict[str, Any]:
    """Return a column for each option, `a0` and on."""
    words = ["tea", "milk", "oil", "rain", "bread"]
    columns: dict[str, Any] = {}
    for place in range(count):
        columns[f"{first}{place}"] = lambda n, place=place: f"the {words[place]} {n}"
    return columns


def _query(video: int, clip: int, place: int) -> dict[str, Any]:
    return {
        "clip_start_sec": 3.5 + place,
        "clip_end_sec": 9.25 + place,
        "video_start_sec": 103.5 + place,
        "video_end_sec": 109.25 + place,
        "video_start_frame": 3105,
        "video_end_frame": 3277,
        "template": "Objects: Where is object X?",
        "query": f"Where did I put cup {video}{clip}{place}?",
        "slot_x": "cup",
        "verb_x": "put",
        "slot_y": "",
        "raw_tags": ["cup"],
    }


def _clip(video: int, clip: int) -> dict[str, Any]:
    queries = [_query(video, clip, place) for place in range(2)]
    return {
        "clip_uid": f"c{video}{clip}",
        "video_start_sec": 100.0,
        "video_end_sec": 580.0,
        "video_start_frame": 3000,
        "video_end_frame": 17400,
        "clip_start_sec": 0,
        "clip_end_sec": 480.0,
        "clip_start_frame": 0,
        "clip_end_frame": 14400,
        "source_clip_uid": f"s{video}{clip}",
        "annotations": [{"language_queries": queries, "annotation_uid": f"a{video}{clip}"}],
    }


_NLQ = {
    "version": "1",
    "videos": [
        {"video_uid": f"v{video}", "split": "val", "clips": [_clip(video, n) for n in range(2)]}
        for video in range(2)
    ],
}

_SOCIAL_IQ = _rows(
    8,
    qid=lambda n: f"v{n}_q1_0",
    q=lambda n: f"How does he feel in scene {n}?",
    vid_name=lambda n: f"v{n}",
    ts=lambda n: f"0.00-60.01{n}",
    ans_corr=lambda n: f"the {['tea', 'milk', 'oil', 'rain'][n % 4]} {n}",
    answer_idx=lambda n: n % 4,
    idx_types=["matched", "rewrite", "corr", "matched"],
    **_option_columns(4, "a"),
)

_HAVEN = _rows(
    8,
    Index=lambda n: n,
    Question=lambda n: (
        f"What is seen in scene {n}? A. Red tea. B. Cold milk. C. Hot oil."
        if n % 2
        else f"Is tea seen in scene {n}?"
    ),
    Answer=lambda n: "ABC"[n % 3] if n % 2 else ["Yes", "No"][n // 2 % 2],
    Causes="Conflict with prior",
    Form=lambda n: ["Binary-choice", "Multiple-choice"][n % 2],
    **{
        "Source Link": lambda n: f"https://example.org/films/{n}.mp4",
        "Begin": lambda n: f"0:0{n}",
        "End": lambda n: f"0:1{n}",
        "Video Path": lambda n: f"Coin{n:04d}",
    },
)

_POSSIBLE = (
    "{column: type, 1_Possible: possible, 2_Possible: possible, 1_Impossible: impossible, "
    "2_Impossible: impossible}"
)

_HIREST = {
    f"Make {word} tea": {
        f"{word}{n}.mp4": {
            "relevant": True,
            "clip": True,
            "v_duration": 90.5 + n,
            "bounds": [3 + n, 40],
            "steps": [{"index": 0, "heading": "Boil water", "absolute_bounds": [3, 9]}],
        }
        for n in range(2)
    }
    for word in ("green", "black", "white")
}

MORE_FORMATS = {
    # --- fitted before, as guessed or with options
    "Daily-Omni": Format(
        "qa.json",
        _rows(
            Question=lambda n: f"What is heard in scene {n}?",
            Choice=lambda n: [f"A. tea {n}", f"B. milk {n}", f"C. oil {n}", f"D. rain {n}"],
            Answer=lambda n: "BCDA"[n % 4],
            video_id=lambda n: f"Ec_lQgZ9w{n}g",
            Type="Event Sequence",
            video_duration="30s",
        ),
        (),
        "accuracy",
        "B",
    ),
    "IntentQA": Format(
        "test.csv",
        "video_id,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4,action,lemma\n"
        "61,400,640,480,why does he go,2,2,CW,to sit,to sing,to talk,to eat,to run,go,go\n"
        "61,400,640,480,how does he go,4,3,CH,far,fast,late,early,slowly,go,go\n"
        "62,390,640,480,why does she sit,0,2,CW,to rest,to sing,to talk,to eat,to run,sit,sit\n",
        (),
        "accuracy",
        "C",
    ),
    "NExT-QA, choice": Format(
        "val.csv",
        "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4\n"
        "40,369,640,480,how do they play,3,6,CH,roll,tap,strum,hit,pat\n"
        "40,369,640,480,why do they stop,0,7,CW,rest,sing,talk,eat,run\n"
        "41,300,640,480,how many sit,1,0,DC,one,two,three,four,five\n",
        (),
        "accuracy",
        "D",
    ),
    "MMR-V": Format(
        "questions.json",
        _rows(
            video=lambda n: f"Film number {n}.mp4",
            videoType="Animation",
            question=lambda n: f"What does scene {n} imply?",
            options=lambda n: [f"({letter}) idea {letter}{n}" for letter in "ABCDEFGHIJK"],
            correctAnswer=lambda n: f"({'KABCDE'[n]})",
            abilityType_L2=lambda n: ["Implicit", "Explicit"][n % 2],
        ),
        (),
        "accuracy",
        "K",
    ),
    "TVQA+": Format(
        "val.json",
        _rows(
            qid=lambda n: 133000 + n,
            q=lambda n: f"Why does he pour tea {n}?",
            answer_idx=lambda n: (3 + n) % 5,
            ts=lambda n: [4.5 + n, 9.5 + n],
            vid_name=lambda n: f"s01e02_seg02_clip_1{n}",
            bbox=lambda n: {str(at): [{"img_id": at, "label": "cup"}] for at in range(n, n + 9)},
            **_option_columns(5, "a"),
        ),
        (),
        "accuracy_at_iou_0.5",
        [4.5, 9.5],
    ),
    "TVBench": Format(
        "action_antonym.json",
        _rows(
            video=lambda n: f"S010C003P02{n}.avi",
            question=lambda n: f"What is done in scene {n}?",
            candidates=["Put on a hat", "Take off a hat"],
            answer=lambda n: ["Take off a hat", "Put on a hat"][n % 2],
        ),
        (),
        "accuracy",
        "B",
    ),
    "RTV-Bench": Format(
        "QA.json",
        _rows(
            video=lambda n: f"SportsCam_{n}.mp4",
            questionID=lambda n: f"q-group-7{n}-0-option1",
            type="Event-IA",
            field="sports_cam",
            start_time=0,
            end_time=lambda n: 20.5 + n,
            question=lambda n: f"Does shot {n} show the cup?",
            options={"A": "Yes", "B": "No", "C": "Unsure"},
            answer=lambda n: "CAB"[n % 3],
        ),
        ("--column clip=start_time,end_time",),
        "accuracy",
        "C",
        "--column clip=start_time,end_time",
    ),
    "EventHallusion": Format(
        "questions.json",
        _rows(
            id=lambda n: f"interleave_{n:03d}",
            category="pet&animal",
            length="00:05",
            event_info={"object": ["cat"], "scene": "In a hall.", "unexpected": "It falls."},
            questions=lambda n: [
                {"type": "x", "question": f"Did scene {n} surprise?", "answer": "Yes."}
            ],
        ),
        ("--set each=questions", "--column video=id"),
        "accuracy",
        "A",
        "'questions' contains whole questions: --set each=questions",
    ),
    "Ego4D NLQ": Format(
        "nlq_val.json",
        _NLQ,
        (
            "--set each=videos/{v}/clips/{c}/annotations/{a}/language_queries",
            "--column video=clip_uid",
            "--column question=query",
            "--column start=clip_start_sec",
            "--column end=clip_end_sec",
        ),
        "miou",
        [3.5, 9.25],
        "'clips' contains whole questions: --set "
        "each=videos/{n}/clips/{part0}/annotations/{part2}/language_queries",
    ),
    "VideoHallu": Format(
        "data.jsonl",
        _rows(
            RowID=lambda n: f"r{n}",
            Question=lambda n: f"How many cups are in scene {n}?",
            Answer=lambda n: f"There are {n} cups on it.",
            Model="Sora",
            Prompt=lambda n: f"A cup falls {n}",
            annotator=lambda n: "ab"[n % 2],
            video_path=lambda n: f"./Gen/{n}x.mp4",
            **{
                "Categorization-1": "Alignment",
                "Categorization-2": lambda n: ["Counting", "Order"][n % 2],
            },
        ),
        (),
        "score",
        "There are 0 cups on it.",
    ),
    "EgoTextVQA": Format(
        "total.json",
        [
            {
                "dataset": "egotextqa",
                "split": "outdoor",
                "task_setting": "open-ended",
                "data": _rows(
                    video_id=lambda n: f"v{n}",
                    question_id=1,
                    question=lambda n: f"what does sign {n} say?",
                    question_type="location",
                    correct_answer=lambda n: f"it says number {n}",
                    timestamp=lambda n: 10.3 + n,
                ),
            }
        ],
        ("--set each=data", "--column clip=[0, {timestamp}]"),
        "score",
        "it says number 0",
        "'data' contains whole questions: --set each=data",
    ),
    "OpenEQA": Format(
        "open-eqa-v0.json",
        [
            {
                "question": f"What is on shelf {n}?",
                "answer": f"Cup {n}",
                "category": "object recognition",
                "question_id": f"u{n}",
                "episode_history": f"scan-v0/{n:03d}-scene",
                **({"extra_answers": [f"Cup {n}", f"A cup {n}"]} if n > 3 else {}),
            }
            for n in range(COUNT)
        ],
        (
            "--column video=episode_history",
            "--column answer=answer,extra_answers",
            "--set answers=any",
        ),
        "exact_match",
        "Cup 0",
        "'extra_answers' contains further right answers: --column answer=answer,extra_answers "
        "--set "
        "answers=any",
    ),
    "VideoReasonBench": Format(
        "cup.json",
        {
            f"state3_{n}": {
                "video": f"videos/cup/{n}.mp4",
                "question": f"Which moves are made in puzzle {n}? Say them in order.",
                "answer": f"1st: (a{n}, b1), 2nd: (c2, b1)",
                "dim": "recall",
                "visible_time": "start",
                "num_state": 3,
                "states": [[0, 1, 0], [1, 0, 0]],
            }
            for n in range(COUNT)
        },
        (),
        "score",
        "1st: (a0, b1), 2nd: (c2, b1)",
    ),
    "FunQA": Format(
        "reference.json",
        _rows(
            instruction="What makes the entire video funny?",
            visual_input=lambda n: f"H_A_{n}.mp4",
            output=lambda n: f"A cat falls into glass {n}, and shakes its head.",
            task="H2",
            ID=lambda n: f"test_{n}",
        ),
        ("--column answer=output",),
        "score",
        "A cat falls into glass 0, and shakes its head.",
        "no column looks like the answer",
    ),
    "VCR-Bench": Format(
        "input.json",
        _rows(
            id=lambda n: n,
            video_path=lambda n: f"video/{n}.mp4",
            dimension="Plot",
            question=lambda n: f"Where is fight {n}?",
            choices=lambda n: (
                {"A": "Hall", "B": "Roof", "C": "Yard"} if n % 2 else dict.fromkeys("ABC", "")
            ),
            answer=lambda n: "ABC"[n % 3] if n % 2 else "Kitchen",
            reasoning=["1. They fight."],
            **{"multiple-choice": lambda n: bool(n % 2)},
        ),
        (
            "--column options=choices",
            "--set kind={column: multiple-choice, True: choice, False: exact}",
            "--set primary=right",
        ),
        "right",
        "Kitchen",
        "--set 'kind={column: multiple-choice, True: choice, False: exact}' --column "
        "options=choices",
    ),
    "HiREST": Format(
        "all_data_val.json",
        _HIREST,
        ("--set each={prompt}/{video}", "--column question=prompt"),
        "miou",
        [3, 40],
        "--set each={video}/{part} makes a row of each",
    ),
    "Charades-CON, ActivityNet": Format(
        "activitynet_test.json",
        {
            f"v_{n}": {
                "duration": 55.15,
                "timestamps": [[2.5, 9], [13.5, 54]],
                "sentences": ["A man stands.", "He climbs."],
            }
            for n in range(COUNT)
        },
        ("--set each={video}/timestamps+sentences",),
        "miou",
        [2.5, 9],
        "--set each={video}/timestamps+sentences",
    ),
    # --- became something else before
    "Social-IQ 2.0": Format(
        "qa_val.json",
        "".join(json.dumps(row) + "\n" for row in _SOCIAL_IQ),
        ("--column clip=ts",),
        "accuracy",
        "A",
        "'ts' begins at 0 in all rows",
    ),
    "ViLMA": Format(
        "relations.json",
        {
            str(n): {
                "dataset_idx": str(n),
                "youtube_id": None,
                "video_file": f"{63000 + n}",
                "start_time": None,
                "end_time": None,
                "time_unit": "sec",
                "caption": f"putting cup {n} on a table",
                "foils": [f"putting cup {n} under a table"],
                "foiling_methods": ["t5-top10", "gruen", "nli"],
                "mturk": {"caption": 3, "foil": 0, "other": n % 3},
            }
            for n in range(COUNT)
        },
        (
            "--kind choice",
            "--column question={always: Which caption describes the video?}",
            "--column clip=start_time,end_time",
            "--set options={right: caption, wrong: foils}",
        ),
        "accuracy",
        "A",  # drawn by the id
        "'foils' contains wrong options",
    ),
    "TVGBench": Format(
        "tvgbench.json",
        _rows(
            video=lambda n: f"v{n}.mp4",
            duration=60.0,
            qsemtype="human pose",
            qtext=lambda n: f"the man pours tea into cup {n}",
            start=lambda n: 30 + n if n % 2 else None,
            end=lambda n: 50 + n if n % 2 else None,
            answer=lambda n: [2.5 + n, 9.0 + n],
        ),
        (
            "--column clip=start,end",
            "--column span=answer",
            "--column question=qtext",
            "--set span_from=clip",
        ),
        "miou",
        [2.5, 9.0],
        "start and end bound the part that is shown",
    ),
    "THUMOS14": Format(
        "thumos14.json",
        _rows(
            video=lambda n: f"video_test_{n:07d}",
            duration=lambda n: 120.5 + n,
            query=lambda n: ["HighJump", "LongJump", "Diving"][n % 3],
            segments=lambda n: [[n + 1, n + 4], [n + 10, n + 15]],
        ),
        ("--set windows=f1",),
        "f1",
        [1, 4, 10, 15],
        "'segments' contains several windows in 6 of 6 rows",
    ),
    "HAVEN": Format(
        "test_data.json",
        _HAVEN,
        (
            "--column clip=Begin,End",
            "--kind choice",
            "--set options={in: question}",
            "--set skip=unreadable",
        ),
        "accuracy",
        "B",
        "--kind choice --set 'options={in: question}' takes them",
    ),
    "OmniMMI, states": Format(
        "dynamic_state_grounding.json",
        _rows(
            video=lambda n: f"v{n}.mp4",
            qa=lambda n: [
                {
                    "question": "What is the current action in the video?",
                    "answer": f"pour {n}{place}",
                    "timestamp": f"{place}0.0 -- {place}9.0",
                }
                for place in range(1, 4)
            ],
        ),
        ("--set each=qa", "--column clip=timestamp"),
        "exact_match",
        "pour 01",
        "'qa' contains whole questions: --set each=qa",
    ),
    "HD-EPIC, why": Format(
        "fine_grained_why_recognition.json",
        {
            f"why_{n}": {
                "inputs": {
                    "video 1": {
                        "id": f"P08-{n}",
                        "start_time": f"00:14:3{n}.289",
                        "end_time": f"00:14:4{n}.840",
                    }
                },
                "question": f"Why did the person pick up towel {n} in video 1?",
                "choices": [f"to dry {n}.", f"to fill {n}.", f"to wipe {n}."],
                "correct_idx": n % 3,
            }
            for n in range(COUNT)
        },
        (
            "--column video=inputs.video 1.id",
            "--column clip=inputs.video 1.start_time,inputs.video 1.end_time",
        ),
        "accuracy",
        "A",
        "inputs.video 1.start_time and inputs.video 1.end_time bound the part that is shown",
    ),
    "CG-AV-Counting": Format(
        "cgav.json",
        _rows(
            index=lambda n: n,
            video=lambda n: f"{n}.mp4",
            question=lambda n: f"How many cups fall in scene {n}?",
            answer=lambda n: 2 + n,
            category="event",
            query_interval=lambda n: [10.0 + n, 60.5 + n],
            clue=lambda n: [[11.0 + n, 13.5 + n], [20.0 + n, 22.0 + n]],
        ),
        ("--kind exact", "--column clip=query_interval"),
        "exact_match",
        "2",
        "'answer' contains answers: --kind open or exact asks for them",
    ),
    "IntPhys 2": Format(
        "metadata.csv",
        "SceneIndex,file_name,type,condition,Camera,Difficulty\n"
        "0,a.mp4,1_Possible,permanence,Fixed,Easy\n"
        "0,b.mp4,1_Impossible,permanence,Fixed,Easy\n"
        "1,c.mp4,2_Possible,continuity,Moving,Hard\n"
        "1,d.mp4,2_Impossible,continuity,Moving,Hard\n",
        (
            "--kind choice",
            "--column video=file_name",
            "--column question={always: Is the event in this video possible?}",
            f"--column answer={_POSSIBLE}",
            "--set options={are: [possible, impossible]}",
        ),
        "accuracy",
        "A",
        "no column looks like the question",
    ),
    "VITATECS": Format(
        "Sequence.jsonl",
        _rows(
            src_dataset="MSRVTT",
            video_name=lambda n: f"video960{n}.mp4",
            caption=lambda n: f"man {n} pours tea and then sits",
            counterfactual=lambda n: f"man {n} sits and then pours tea",
            aspect="Sequence",
        ),
        (
            "--kind choice",
            "--column question={always: Which caption describes the video?}",
            "--set options={right: caption, wrong: counterfactual}",
        ),
        "accuracy",
        "B",  # drawn by the row's number
        "'counterfactual' contains wrong options beside the right answer: --kind choice",
    ),
    # --- no key takes them
    "IV-Bench": Format(
        "iv_bench.json",
        _rows(
            video=lambda n: f"{n}.mp4",
            image=lambda n: f"{n}.jpg",
            question=lambda n: f"How many of what the picture shows are in scene {n}?",
            answer=lambda n: f"{n} of them",
            distractors=lambda n: [f"{n + other} of them" for other in range(1, 4)],
        ),
        (
            "--kind choice",
            "--column pictures=image",
            "--set options={right: answer, wrong: distractors}",
        ),
        "accuracy",
        "D",  # drawn by the row's number
        "'image' names pictures: --column pictures=image shows them after the video",
    ),
    "VidHal": Format(
        "annotations.json",
        _rows(
            video=lambda n: f"attribute_{n}",
            captions=lambda n: {"2": f"Two men pour {n}.", "1": f"One man pours {n}."},
            aspect="attribute",
        ),
        _NO_KEY,
        "",
        None,
        "no column looks like the answer",
    ),
    "DREAM-1K, FAVOR-Bench": Format(
        "DREAM-1k.jsonl",
        _rows(
            messages=lambda n: [
                {"role": "user", "content": [{"type": "text", "text": "Describe the video."}]},
                {"role": "assistant", "content": [{"text": "", "reference": f"He pours tea {n}."}]},
            ],
            idx=lambda n: n,
            extra_info={"events": ["He comes.", "He pours."], "n_events": 2},
            vid=lambda n: n,
        ),
        _NO_KEY,
        "",
        None,
        "'messages' contains the turns of a conversation, and no key takes them",
    ),
    "AutoEval-Video": Format(
        "AUTO-EVAL-VIDEO.json",
        _rows(
            ID=lambda n: n,
            Question=lambda n: f"What is the man doing in scene {n}?",
            Rule=lambda n: f"A right answer says that he pours tea into cup {n}.",
            **{
                "Video URL": lambda n: f"https://example.org/{n}",
                "Start time": "0:13",
                "End time": lambda n: f"0:3{n}",
            },
        ),
        _NO_KEY,
        "",
        None,
        "'Rule' contains what an answer is scored by, row by row: --column rubric=Rule gives it",
    ),
    "MECD": Format(
        "test.json",
        {
            f"v_{n}": {
                "duration": 60,
                "timestamps": [[2, 9], [10, 20], [22, 50]],
                "sentences": [f"A man sits {n}.", "He stands.", "He goes."],
                "relation": [0, 1],
            }
            for n in range(COUNT)
        },
        _NO_KEY,
        "",
        None,
        "'relation' marks several places with 0 or 1, and no key takes an answer of several marks",
    ),
}
"""Name -> format; without a metric, no key takes it whole, and it is refused."""
