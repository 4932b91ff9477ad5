"""Score the answers of every benchmark here by its owners' code and by ours, and write both numbers down."""

import argparse
import ast
import contextlib
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import reelbench

HERE = Path(__file__).parent
GALLERY = Path(reelbench.__file__).parent / "tasks" / "gallery"
SEED = 20261125
Numbers = dict[str, float]
Answers = dict[str, str]


@dataclass(frozen=True)
class Clone:
    """An owners' repository at a commit."""

    git: Path
    commit: str

    def read(self, path: str) -> str:
        """Return a file's text."""
        show = ["git", f"--git-dir={self.git}", "show", f"{self.commit}:{path}"]
        return subprocess.run(show, check=True, capture_output=True).stdout.decode()

    def functions(self, path: str, names: Iterable[str], **known: Any) -> dict[str, Any]:  # noqa: ANN401 - modules
        """Return functions of theirs by name, run from the file's own text; `known` is what else they use."""
        wanted = [
            part
            for part in ast.parse(self.read(path)).body
            if getattr(part, "name", None) in set(names)
        ]
        module = ast.Module(wanted, [])
        exec(compile(module, path, "exec"), known)  # noqa: S102 - the owners' scorer, by the person who runs this
        return known


@dataclass(frozen=True)
class Parity:
    """One comparison: whose scorer, which files are the rows, and how both come to their numbers.

    `measure` gets the clone and the folder with the rows and returns answers by id and the owners'
    numbers by metric.
    """

    repository: str
    commit: str
    scorer: str
    answers: str
    measure: Callable[[Clone, Path], tuple[Answers, Numbers]]
    digits: int = 9
    note: str = ""


def qvhighlights(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """The owners' own prediction file and the numbers that they publish of it."""
    rows = "highlight_val_release.jsonl"
    (folder / rows).write_text(clone.read(f"data/{rows}"))
    lines = map(json.loads, clone.read("standalone_eval/sample_val_preds.jsonl").splitlines())
    answers = {str(line["qid"]): json.dumps(line["pred_relevant_windows"]) for line in lines}
    brief = json.loads(clone.read("standalone_eval/sample_val_preds_metrics_raw.json"))["brief"]
    theirs = {
        "recall_at_0.5": "R1@0.5",
        "recall_at_0.7": "R1@0.7",
        "map": "mAP",
        "map_at_0.5": "mAP@0.5",
    }
    theirs["map_at_0.75"] = "mAP@0.75"
    return answers, {ours: brief[f"MR-full-{name}"] for ours, name in theirs.items()}


def nextgqa(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made windows near the right ones and drawn options, for every question that both read."""
    import numpy as np

    truth = clone.read("datasets/nextgqa/gsub_test.json")
    (folder / "gsub_test.json").write_text(truth)
    (folder / "test.csv").write_text(clone.read("datasets/nextgqa/test.csv"))
    rng = random.Random(SEED)
    known = json.loads(truth)
    ground, chosen, answers = {}, {}, {}
    for row in reelbench.load(str(folder), data=folder):
        video, question = row["id"].split("_")
        start, end = rng.choice(known[video]["location"][question])
        span = [round(max(0, start + rng.gauss(0, 3)), 1), round(max(0, end + rng.gauss(0, 3)), 1)]
        ground[row["id"]] = span = [min(span), max(span)]
        letter = row["answer"] if rng.random() < 0.6 else rng.choice("ABCDE")
        chosen[row["id"]] = {"answer": row["answer"], "prediction": letter}
        answers[row["id"]] = f"{letter} [{span[0]}, {span[1]}]"
    used = clone.functions("code/TempGQA/eval_ground.py", ("get_tIoU", "eval_ground"), np=np)
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        used["eval_ground"](known, ground, chosen)
    names = (
        "accuracy_at_iop_0.5",
        "miop",
        "iop_at_0.3",
        "iop_at_0.5",
        "miou",
        "recall_at_0.3",
        "recall_at_0.5",
    )
    return answers, dict(
        zip(names, map(float, told.getvalue().splitlines()[1].split()), strict=True)
    )


def cgbench(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made lists of one to three windows against the owners' clues."""
    (folder / "rows.json").write_text(text := clone.read("cgbench_mini.json"))
    rng = random.Random(SEED)
    used = clone.functions("run/utils.py", ("merge_intervals", "calculate_intervals_iou"))
    answers: Answers = {}
    shares: list[float] = []
    for row in json.loads(text):
        around = [rng.choice(row["clue_intervals"]) for _ in range(rng.randint(1, 3))]
        drawn = [sorted(round(max(0, end + rng.gauss(0, 4)), 2) for end in clue) for clue in around]
        answers[str(row["qid"])] = json.dumps({"result": drawn})
        shares.append(
            used["calculate_intervals_iou"](
                [list(part) for part in drawn], [list(c) for c in row["clue_intervals"]]
            )
        )
    recalls = {
        f"recall_at_{at}": 100 * sum(share >= at for share in shares) / len(shares)
        for at in (0.3, 0.5)
    }
    return answers, {"miou": 100 * sum(shares) / len(shares)} | recalls


def videomme_v2(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made groups: every outcome of four questions under each of the owners' structures."""
    import pandas as pd

    used = clone.functions(
        "evaluation/test_video_mme_v2.py",
        ("cal_relevance", "cal_logic", "get_final_rating"),
        ast=ast,
    )
    structures = [
        ("relevance", "None"),
        *(("logic", text) for text in ("[1,2,3,4]", "[1,[2,3],4]", "[[1,2],3,4]")),
    ]
    rows: list[dict[str, Any]] = []
    answers: Answers = {}
    for number, ((kind, levels), right) in enumerate(
        product(structures, product((0, 1), repeat=4))
    ):
        for place, score in enumerate(right):
            name = f"{number:03}-{place + 1}"
            rows.append({"video_id": f"{number:03}", "question_id": name, "question": "Which?", "options": "A. x\nB. y",
                         "answer": "A", "group_type": kind, "group_structure": levels})  # fmt: skip
            rows[-1] |= {
                "score": score,
                "level": "None",
                "second_head": "None",
                "third_head": "None",
            }
            answers[name] = "A" if score else "B"
    _write_parquet(folder, rows)
    rating = used["get_final_rating"](pd.DataFrame(rows))["final_rating"]
    return answers, {"group_accuracy": rating["total"], "accuracy": 50.0}


def _tempcompass(clone: Clone, folder: Path, part: str, file: str) -> tuple[Answers, Numbers]:
    """Three models' published answers, those that the owners' rules read without a judge."""
    answers: Answers = {}
    rows: dict[str, dict[str, list[dict[str, str]]]] = {}
    right = 0
    for model in ("video-llava", "gemini", "reka-core-20240501"):
        document = json.loads(clone.read(f"auto_eval_results/{model}/{part}.json"))
        for video, skills in document.items():
            film = rows[f"{model}|{video}"] = {}
            for skill, results in skills.items():
                film[skill] = []
                for result in results:
                    if not result.get("match_success"):
                        continue
                    film[skill].append(
                        {"question": result["question"], "answer": result["gt-answer"]}
                    )
                    name = f"{model}|{video}-{skill}-{len(film[skill])}"
                    answers[name] = result["video-llm-prediction"]
                    right += result["rating"]
    (folder / file).write_text(json.dumps(rows))
    return answers, {"accuracy": 100 * right / len(answers)}


def tempcompass(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Its questions with options."""
    return _tempcompass(clone, folder, "multi-choice", "multi-choice.json")


def tempcompass_yes_no(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Its questions of yes or no."""
    return _tempcompass(clone, folder, "yes_no", "yes_no.json")


def videohallucer(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made answers in several words to the owners' pairs of five kinds."""
    import re

    rng = random.Random(SEED)
    said = {"yes": ("Yes, it does.", "yes", "Yes"), "no": ("No, it doesn't.", "no", "No.")}
    pairs: list[dict[str, Any]] = []
    for part in (
        "temporal",
        "semantic_detail",
        "object_relation",
        "external_factual",
        "external_nonfactual",
    ):
        pairs += json.loads(clone.read(f"videohallucer_datasets/{part}/{part}.json"))
    answers: Answers = {}
    for number, pair in enumerate(pairs, start=1):
        for part in ("basic", "hallucination"):
            word = pair[part]["answer"].lower() if rng.random() < 0.7 else rng.choice(("yes", "no"))
            pair[part]["predict"] = answers[f"{number}-{part}"] = rng.choice(said[word])
    (folder / "rows.json").write_text(json.dumps(pairs))
    scores = clone.functions("evaluations/evaluation_utils.py", ("cal_score",), re=re)["cal_score"](
        pairs
    )
    items = (scores["basic_accuracy"] + scores["halluc_accuracy"]) / 2
    return answers, {"group_accuracy": 100 * scores["accuracy"], "accuracy": 100 * items}


def activitynet_qa(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """The owners' example of a prediction file."""
    (folder / "test_q.json").write_text(clone.read("dataset/val_q.json"))
    (folder / "test_a.json").write_text(right := clone.read("dataset/val_a.json"))
    given = json.loads(clone.read("evaluation/pred_val_example.json"))
    corrects, counts = clone.functions("evaluation/eval.py", ("eval",))["eval"](
        given, json.loads(right)
    )
    answers = {entry["question_id"]: entry["answer"] for entry in given}
    return answers, {"exact_match": 100 * sum(corrects.values()) / sum(counts.values())}


def nextqa(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """The owners' example of a result file."""
    import pandas as pd

    (folder / "test.csv").write_text(rows := clone.read("dataset/nextqa/val.csv"))
    given = json.loads(clone.read("results/HGA-bert-ft-h256-val-example.json"))
    tables = {"rows": pd.read_csv(io.StringIO(rows)), "given": given}
    named = {
        "map_name": dict.fromkeys(("CW", "CH", "TN", "TC", "DC", "DL", "DO", "C", "T", "D"), ""),
        "load_file": tables.get,
    }
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        clone.functions("eval_mc.py", ("accuracy_metric",), **named)["accuracy_metric"](
            "rows", "given"
        )
    answers = {name: "ABCDE"[entry["prediction"]] for name, entry in given.items()}
    return answers, {"accuracy": float(told.getvalue().split("Acc: ")[1])}


def charades_sta(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made rows as lmms-eval has them and made answers, by its task."""
    del clone
    from lmms_eval.tasks.charades_sta.utils import iou

    rng = random.Random(SEED)
    rows: list[dict[str, Any]] = []
    answers: Answers = {}
    shares: list[float] = []
    for number in range(1, 1001):
        start = round(rng.uniform(0, 25), 1)
        true = [start, round(start + rng.uniform(1, 12), 1)]
        ours = sorted(round(max(0, end + rng.gauss(0, 2)), 1) for end in true)
        caption = f"a person does thing number {number}."
        rows.append({"video": f"V{number % 100}.mp4", "caption": caption, "timestamp": true})
        answers[str(number)] = f"{ours[0]} - {ours[1]} seconds"
        shares.append(iou(true, ours))
    _write_parquet(folder, rows)
    recalls = {
        f"recall_at_{at}": 100 * sum(share >= at for share in shares) / len(shares)
        for at in (0.3, 0.5, 0.7)
    }
    return answers, {"miou": 100 * sum(shares) / len(shares)} | recalls


def mvbench(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made rows in the published form and answers in four forms, by lmms-eval's task."""
    del clone
    from lmms_eval.tasks.mvbench.utils import mcq_acc

    rng = random.Random(SEED)
    words = ("a cup", "the jar", "two tins", "nobody")
    rows: dict[str, list[dict[str, Any]]] = {"action": [], "order": [], "scene": [], "state": []}
    answers: Answers = {}
    right = 0
    for number in range(1000):
        options = rng.sample(words, 4)
        at = rng.randrange(4)
        task = list(rows)[number % 4]
        rows[task].append(
            {
                "video": f"v{number % 90}.mp4",
                "question": "What is seen?",
                "candidates": options,
                "answer": options[at],
                "start": 1.5,
                "end": 8.0,
            }
        )
        letter = "ABCD"[at] if rng.random() < 0.6 else rng.choice("ABCD")
        forms = (
            letter,
            f"({letter})",
            f"{letter}. {options['ABCD'.index(letter)]}",
            f"Answer: {letter}",
        )
        # Rows are counted through all files, which hold 250 each.
        answers[f"{task}-{250 * (number % 4) + len(rows[task])}"] = said = rng.choice(forms)
        right += mcq_acc("ABCD"[at], said)
    (folder / "json").mkdir()
    for task, of_task in rows.items():
        (folder / "json" / f"{task}.json").write_text(json.dumps(of_task))
    # The four tasks are as large as each other: the mean over them is the share of all.
    share = 100 * right / len(answers)
    return answers, {"accuracy_macro": share, "accuracy": share}


def ovobench(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """One model's answers that the owners publish, of the two parts that are asked once."""
    (folder / "ovo_bench_new.json").write_text(clone.read("data/ovo_bench_new.json"))
    scorer = clone.functions("utils/OVOBenchScore.py", ["OVOBenchOfflineScore"])
    offline = scorer["OVOBenchOfflineScore"](None, None)
    results: dict[str, list[dict[str, Any]]] = {"backward": [], "realtime": []}
    for tasks in ("ASI_HLD", "EPM", "OCR_ACR_ATR", "OJR", "STU_FPD", "STU_FPD_OJR"):
        with contextlib.suppress(subprocess.CalledProcessError):
            path = f"results/LLaVA_Video/LLaVA_Video_{tasks}_offline.json"
            document = json.loads(clone.read(path))
            for part, entries in results.items():
                entries += [entry for entry in document.get(part, []) if entry]
    answers: Answers = {}
    means: list[float] = []
    for entries in results.values():
        answers |= {str(entry["id"]): str(entry["response"] or "") for entry in entries}
        _, scores = offline.calculate_score_backward_realtime(entries)
        of_tasks = [sum(values) / len(values) for values in scores.values()]
        means.append(100 * sum(of_tasks) / len(of_tasks))
    return answers, {"accuracy_macro": sum(means) / len(means)}


def mlvu(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made rows of seven tasks of unlike size, and drawn answers."""
    path = "evaluation/multiple_choice_evaluation/choice_bench.py"
    is_right = clone.functions(path, ["check_ans"])["check_ans"]
    draw = random.Random(SEED)
    words = ["tea", "milk", "oil", "rain"]
    listed = "".join(f"\n({letter}) {word}" for letter, word in zip("ABCD", words, strict=True))
    rows: list[dict[str, Any]] = []
    answers: Answers = {}
    shares: list[float] = []
    for place, task in enumerate(("plotQA", "needle", "ego", "count", "order", "anomaly", "topic")):
        right = 0
        number = 11 * (place + 1)
        for _ in range(number):
            best, chosen = draw.randrange(4), draw.randrange(4)
            chosen = draw.choice([best, chosen])
            rows.append({"video_name": "v.mp4", "question": f"Which?{listed}", "task_type": task,
                         "answer": "ABCD"[best]})  # fmt: skip
            answer = f"({'ABCD'[chosen]}) {words[chosen]}"
            answers[str(len(rows))] = answer
            right += bool(is_right(pred=answer, gt=f"({'ABCD'[best]}) {words[best]}"))
        shares.append(100 * right / number)
    _write_parquet(folder, rows)
    return answers, {"accuracy_macro": sum(shares) / len(shares)}


def vsibench(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made rows of its ten kinds of question, and drawn letters and numbers."""
    draw = random.Random(SEED)
    kinds_of_choice = ["object_rel_direction_easy", "object_rel_direction_medium",
                       "object_rel_direction_hard", "object_rel_distance", "route_planning",
                       "obj_appearance_order"]  # fmt: skip
    kinds_of_number = ["object_abs_distance", "object_counting", "object_size_estimation",
                       "room_size_estimation"]  # fmt: skip
    rows: list[dict[str, Any]] = []
    answers: Answers = {}
    for place, kind in enumerate(kinds_of_choice + kinds_of_number):
        for _ in range(9 + 4 * place):
            row = {"id": len(rows), "dataset": "a", "scene_name": "s", "question_type": kind,
                   "question": "Which?", "options": ["A. left", "B. right", "C. back"]}  # fmt: skip
            if kind in kinds_of_choice:
                row["ground_truth"] = draw.choice("ABC")
                answers[str(len(rows))] = draw.choice([row["ground_truth"], "A", "B."])
            else:
                row["options"] = None
                right = round(draw.uniform(0.5, 30), 1)
                row["ground_truth"] = str(right)
                answers[str(len(rows))] = draw.choice(
                    [f"{right * draw.uniform(0.4, 1.6):.2f}", f"{right}", "many"]
                )
            rows.append(row)
    _write_parquet(folder, rows)
    return answers, {"right_macro": _vsibench_overall(clone, rows, answers)}


def _vsibench_overall(clone: Clone, rows: list[dict[str, Any]], answers: Answers) -> float:
    """Return the overall number of the owners' own task code."""
    import logging
    from collections import OrderedDict
    from functools import partial

    import numpy as np
    import pandas as pd

    path = "lmms_eval/tasks/vsibench/utils.py"
    names = ["fuzzy_matching", "exact_match", "abs_dist_norm", "mean_relative_accuracy", "to_float",
             "vsibench_process_results", "vsibench_aggregate_results"]  # fmt: skip
    constants: dict[str, Any] = {}
    for part in ast.parse(clone.read(path)).body:
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
            with contextlib.suppress(ValueError):
                constants[part.targets[0].id] = ast.literal_eval(part.value)
    known = {"np": np, "pd": pd, "partial": partial, "OrderedDict": OrderedDict,
             "eval_logger": logging.getLogger("parity")}  # fmt: skip
    scorer = clone.functions(path, names, **known, **constants)
    scored = [
        scorer["vsibench_process_results"](dict(row), [answers[str(row["id"])]])["vsibench_score"]
        for row in rows
    ]
    return float(scorer["vsibench_aggregate_results"](scored)["overall"])


def sitebench_video(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made rows of two to six options and drawn letters, by lmms-eval's task."""
    del clone
    from lmms_eval.tasks.sitebench import utils

    draw = random.Random(SEED)
    categories = sorted(utils.Categories)
    rows: list[dict[str, Any]] = []
    answers: Answers = {}
    results: list[dict[str, float]] = []
    for number in range(1, 601):
        letters = "ABCDEF"[: draw.randint(2, 6)]
        row = {"visual": [f"{number % 90}.mp4"], "question": f"Which way, {number}?",
               "options": [f"way {letter}" for letter in letters], "answer": draw.choice(letters),
               "category": draw.choice(categories), "dataset": "drawn"}  # fmt: skip
        letter = row["answer"] if draw.random() < 0.3 else draw.choice(letters)
        rows.append(row)
        answers[str(number)] = letter
        results.append(utils.spatial_process_results(row, [letter])["chance_adjusted_acc"])
    (folder / "video_test").mkdir()
    _write_parquet(folder / "video_test", rows)
    return answers, {"above_chance": utils.spatial_aggregate_results(results)}


def cg_av_counting(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made counts and numbers near them, by lmms-eval's task."""
    del clone
    from lmms_eval.tasks.cgav_counting import utils

    draw = random.Random(SEED)
    rows: list[dict[str, Any]] = []
    answers: Answers = {}
    results: list[dict[str, Any]] = []
    for number in range(400):
        right = draw.randint(1, 40)
        row = {"index": number, "video": f"{number % 90}.mp4", "question": "How many?",
               "answer": str(right), "category": "event", "type": "A2V"}  # fmt: skip
        answered = max(0, round(right + draw.gauss(0, 2)))
        rows.append(row)
        answers[str(number)] = draw.choice([str(answered), f"There are {answered}."])
        results.append(utils.cgav_process_results_long(row, [answers[str(number)]]))
    (folder / "cg-av-counting.json").write_text(json.dumps(rows))
    columns = {metric: [result[metric] for result in results] for metric in ("acc", "oboa", "mae")}
    return answers, {
        "number_right": 100 * utils.aggregate_acc(columns["acc"]),
        "within_one": 100 * utils.aggregate_oboa(columns["oboa"]),
        "mae": utils.aggregate_mae(columns["mae"]),
    }


def omtg_bench(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Made windows, and answers of as many or other windows that do not touch."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    names = ("calculate_iou", "merge_segments", "calculate_total_length",
             "compute_one_to_many_metrics")  # fmt: skip
    known = {"np": np, "linear_sum_assignment": linear_sum_assignment, "List": list, "Tuple": tuple}
    scorer = clone.functions("vlmeval/dataset/omtgbench.py", names, **known)
    draw = random.Random(SEED)
    lines = ["index\tvideo\tquestion\tanswer"]
    answers: Answers = {}
    scores: list[dict[str, float]] = []
    for number in range(1, 501):
        starts = [20 * place + draw.randint(0, 4) for place in range(draw.randint(1, 5))]
        true = [[float(start), start + draw.randint(4, 10) + 0.5] for start in starts]
        drawn = [[start + draw.randint(0, 2), end + draw.randint(-1, 1)] for start, end in true]
        if draw.random() < 0.3:
            drawn = drawn[: draw.randint(1, len(drawn))]
        text = ", ".join(f"<time>{start} - {end} seconds</time>" for start, end in true)
        lines.append(f"{number}\t{number % 90}.mp4\tFind each door.\t{text}")
        answers[str(number)] = json.dumps(drawn)
        scores.append(scorer["compute_one_to_many_metrics"](drawn, true))
    (folder / "OMTGBench.tsv").write_text("\n".join([*lines, ""]))
    theirs = {"etf1": "EtF1", "count_right": "C-Acc", "miou": "tIoU"}
    theirs |= {f"tf1_at_{at}": f"tF1@{at}" for at in (0.3, 0.5, 0.7)}
    return answers, {
        ours: 100 * float(np.mean([score[name] for score in scores]))
        for ours, name in theirs.items()
    }


def _write_parquet(folder: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), folder / "test-00000-of-00001.parquet")


LMMS_EVAL = ("EvolvingLMMs-Lab/lmms-eval", "v0.7.3")
ALL: Mapping[str, Parity] = {
    "qvhighlights": Parity(
        "jayleicn/moment_detr", "b7e553ac3b0c898ee6b85e03ee507c064eab89ca", "standalone_eval/eval.py",
        "the owners' own predictions and the numbers that they publish of them", qvhighlights, 2),
    "nextgqa": Parity(
        "doc-doc/NExT-GQA", "63772e0256ad9e34b83d6a108f1ba2041b924607", "code/TempGQA/eval_ground.py",
        "made up: near the right windows", nextgqa, 1),
    "cgbench": Parity(
        "CG-Bench/CG-Bench", "f826608752443a13b21f214c2d9c4156c526f030", "run/utils.py",
        "made up: one to three windows near the clues", cgbench),
    "videomme_v2": Parity(
        "MME-Benchmarks/Video-MME-v2", "b24176a14506c48a9f3e156d9f20068db6c4782b", "evaluation/test_video_mme_v2.py",
        "made up: every outcome of four questions under each structure", videomme_v2),
    "tempcompass": Parity(
        "llyx97/TempCompass", "e1b463166400633e6061962d890a9ae85db29f70", "eval_multi-choice.py",
        "three models' published answers, as the owners' rules rated them", tempcompass),
    "tempcompass_yes_no": Parity(
        "llyx97/TempCompass", "e1b463166400633e6061962d890a9ae85db29f70", "eval_yes_no.py",
        "three models' published answers, as the owners' rules rated them", tempcompass_yes_no),
    "videohallucer": Parity(
        "patrick-tssn/VideoHallucer", "ae4c2f25e9cfc7808591489b829d1bf977163db6", "evaluations/evaluation_utils.py",
        "made up: yes and no in three phrasings each", videohallucer),
    "activitynet_qa": Parity(
        "MILVLG/activitynet-qa", "2cf80aeb4e45955e53404e1716d3b9c0b1cbd72f", "evaluation/eval.py",
        "the owners' example of predictions", activitynet_qa),
    "nextqa": Parity(
        "doc-doc/NExT-QA", "6b92588ab4496268fa1caab9414a8b998ee063c5", "eval_mc.py",
        "the owners' example of results", nextqa, 2),
    "charades_sta": Parity(*LMMS_EVAL, "lmms_eval/tasks/charades_sta/utils.py", "made up", charades_sta),
    "mvbench": Parity(*LMMS_EVAL, "lmms_eval/tasks/mvbench/utils.py", "made up: four phrasings", mvbench),
    "ovobench": Parity(
        "JoeLeelyf/OVO-Bench", "c34093f9a072d93f9e1c6b923446dfba71f4528e", "utils/OVOBenchScore.py",
        "LLaVA-Video's, as the owners publish them", ovobench),
    "mlvu": Parity(
        "JUNJIE99/MLVU", "fd060c10a43ea48a35100a22688a927b8e531199",
        "evaluation/multiple_choice_evaluation/choice_bench.py", "made up: seven tasks of unlike size", mlvu),
    "vsibench": Parity(
        "vision-x-nyu/thinking-in-space", "51e089c3ae69b9435e9489058610f5b3964c56a8",
        "lmms_eval/tasks/vsibench/utils.py", "made up: letters and numbers of ten kinds", vsibench),
    "sitebench_video": Parity(
        *LMMS_EVAL, "lmms_eval/tasks/sitebench/utils.py", "made up: two to six options", sitebench_video, 5),
    "cg_av_counting": Parity(
        *LMMS_EVAL, "lmms_eval/tasks/cgav_counting/utils.py", "made up: numbers near the counts", cg_av_counting),
    "omtg_bench": Parity(
        "open-compass/VLMEvalKit", "e8e78f05f3080fe28154f2130321f17951c3be94", "vlmeval/dataset/omtgbench.py",
        "made up: windows near the right ones that do not touch", omtg_bench),
}  # fmt: skip


def folder_of(name: str) -> Path:
    """Return the folder of a benchmark: of this tool, or of the gallery."""
    own_folder = HERE / name
    return own_folder if own_folder.is_dir() else GALLERY / name


def clone_of(parity: Parity, material: Path) -> Clone:
    """Return the owners' repository, found below `material` or fetched there."""
    name = parity.repository.replace("/", "+")
    for git in (material / name / "repo", material / name / ".git", material / name):
        if (git / "objects").is_dir():
            return Clone(git, parity.commit)
    subprocess.run(
        [  # noqa: S607
            "git",
            "clone",
            "--quiet",
            "--bare",
            f"https://github.com/{parity.repository}",
            str(material / name),
        ],
        check=True,
    )
    return Clone(material / name, parity.commit)


def compared(name: str, parity: Parity, material: Path) -> dict[str, Any]:
    """Return what `parity.json` holds of a benchmark: n, and per metric theirs, ours and the difference."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / name
        shutil.copytree(folder_of(name), folder)
        clone = (
            Clone(Path(), "") if parity.repository == LMMS_EVAL[0] else clone_of(parity, material)
        )
        answers, theirs = parity.measure(clone, folder)
        file = Path(work) / "answers.json"
        file.write_text(json.dumps(answers))
        data = folder if folder_of(name).parent == GALLERY else None
        result = reelbench.score(str(folder), file, data=data)
    if result.counts.missing or result.counts.extra:
        sys.exit(f"{name}: the answers aren't those of the questions: {result.counts}")
    ours = {metric: result.metrics[metric].value or 0.0 for metric in theirs}
    numbers = {
        metric: {
            "theirs": round(value, parity.digits),
            "ours": round(ours[metric], parity.digits),
            "difference": round(
                round(ours[metric], parity.digits) - round(value, parity.digits), parity.digits
            ),
        }
        for metric, value in theirs.items()
    }
    said = {
        "repository": parity.repository,
        "commit": parity.commit,
        "scorer": parity.scorer,
        "answers": parity.answers,
    }
    note = {"note": parity.note} if parity.note else {}
    counted = {"n": result.counts.items, "numbers": numbers, "command": f"make parity ONLY={name}"}
    return {"benchmark": name, **said, **counted, **note}


def main() -> int:
    """Compare all benchmarks, or those named; return 1 where a number differs and nothing explains it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", choices=[*ALL, []])
    default = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "reelbench-parity"
    parser.add_argument("--material", type=Path, default=default, help="folder of clones")
    given = parser.parse_args()
    given.material.mkdir(parents=True, exist_ok=True)
    differs = False
    for name in given.only or ALL:
        found = compared(name, ALL[name], given.material)
        (folder_of(name) / "parity.json").write_text(
            json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        )
        for metric, each in found["numbers"].items():
            sys.stdout.write(
                f"{name} {metric}: theirs {each['theirs']}, ours {each['ours']}, n {found['n']}\n"
            )
            differs |= bool(each["difference"]) and not ALL[name].note
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
