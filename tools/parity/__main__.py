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
    (folder / "rows.jsonl").write_text(clone.read("data/highlight_val_release.jsonl"))
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
    (folder / "spans.json").write_text(truth)
    (folder / "rows.csv").write_text(clone.read("datasets/nextgqa/test.csv"))
    rng = random.Random(SEED)
    known = json.loads(truth)
    ground, chosen, answers = {}, {}, {}
    for row in reelbench.load(str(folder)):
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
    (folder / "rows.json").write_text(json.dumps(rows))
    rating = used["get_final_rating"](pd.DataFrame(rows))["final_rating"]
    return answers, {"group_accuracy": rating["total"], "accuracy": 50.0}


def _tempcompass(clone: Clone, folder: Path, part: str) -> tuple[Answers, Numbers]:
    """Three models' published answers, those that the owners' rules read without a judge."""
    answers: Answers = {}
    rows: list[dict[str, str]] = []
    right = 0
    for model in ("video-llava", "gemini", "reka-core-20240501"):
        for video, skills in json.loads(
            clone.read(f"auto_eval_results/{model}/{part}.json")
        ).items():
            for skill, results in skills.items():
                for number, result in enumerate(results):
                    if result.get("match_success"):
                        name = f"{model}|{video}|{skill}|{number}"
                        rows.append(
                            {
                                "id": name,
                                "video": video,
                                "question": result["question"],
                                "answer": result["gt-answer"],
                            }
                        )
                        answers[name] = result["video-llm-prediction"]
                        right += result["rating"]
    (folder / "rows.json").write_text(json.dumps(rows))
    return answers, {"accuracy": 100 * right / len(rows)}


def tempcompass(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Its questions with options."""
    return _tempcompass(clone, folder, "multi-choice")


def tempcompass_yes_no(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """Its questions of yes or no."""
    return _tempcompass(clone, folder, "yes_no")


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
    (folder / "rows.json").write_text(clone.read("dataset/val_q.json"))
    (folder / "answers.json").write_text(right := clone.read("dataset/val_a.json"))
    given = json.loads(clone.read("evaluation/pred_val_example.json"))
    corrects, counts = clone.functions("evaluation/eval.py", ("eval",))["eval"](
        given, json.loads(right)
    )
    answers = {entry["question_id"]: entry["answer"] for entry in given}
    return answers, {"exact_match": 100 * sum(corrects.values()) / sum(counts.values())}


def nextqa(clone: Clone, folder: Path) -> tuple[Answers, Numbers]:
    """The owners' example of a result file."""
    import pandas as pd

    (folder / "rows.csv").write_text(rows := clone.read("dataset/nextqa/val.csv"))
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
    """Made lines in the published form and made answers, by lmms-eval's task."""
    del clone
    from lmms_eval.tasks.charades_sta.utils import iou

    rng = random.Random(SEED)
    lines: list[str] = []
    answers: Answers = {}
    shares: list[float] = []
    for number in range(1, 1001):
        start = round(rng.uniform(0, 25), 1)
        true = [start, round(start + rng.uniform(1, 12), 1)]
        ours = sorted(round(max(0, end + rng.gauss(0, 2)), 1) for end in true)
        lines.append(f"V{number % 100} {true[0]} {true[1]}##a person does thing number {number}.")
        answers[str(number)] = f"{ours[0]} - {ours[1]} seconds"
        shares.append(iou(true, ours))
    (folder / "rows.txt").write_text("\n".join(lines))
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
    rows: list[dict[str, Any]] = []
    answers: Answers = {}
    right = 0
    for number in range(1000):
        options = rng.sample(words, 4)
        at = rng.randrange(4)
        rows.append(
            {
                "video": f"v{number % 90}.mp4",
                "question": "What is seen?",
                "candidates": options,
                "answer": options[at],
            }
        )
        rows[-1] |= {"start": 1.5, "end": 8.0}
        letter = "ABCD"[at] if rng.random() < 0.6 else rng.choice("ABCD")
        forms = (
            letter,
            f"({letter})",
            f"{letter}. {options['ABCD'.index(letter)]}",
            f"Answer: {letter}",
        )
        answers[str(number + 1)] = said = rng.choice(forms)
        right += mcq_acc("ABCD"[at], said)
    (folder / "rows.json").write_text(json.dumps(rows))
    return answers, {"accuracy": 100 * right / len(rows)}


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
}  # fmt: skip


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
        shutil.copytree(HERE / name, folder)
        clone = (
            Clone(Path(), "") if parity.repository == LMMS_EVAL[0] else clone_of(parity, material)
        )
        answers, theirs = parity.measure(clone, folder)
        file = Path(work) / "answers.json"
        file.write_text(json.dumps(answers))
        result = reelbench.score(str(folder), file)
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
        (HERE / name / "parity.json").write_text(
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
