"""`reelbench compare` and `reelbench judge agree`, from results that `reelbench score` wrote."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from tests.program import app
from tests.servers.judge import Answer, JudgeServer

LOCALES = ("de-DE", "ja-JP")


@pytest.fixture
def judged(tmp_path, reelbench):
    """Score six CURVE answers by a judge that gives the scores in `scores`, in order; returns the result's folder."""
    references = tmp_path / "curve.json"
    rows = [
        {
            "key": f"k{n}",
            "video_id": f"video{n % 3:06}",
            "locale": LOCALES[n % 2],
            "question": f"Frage {n}?",
            "answer": f"Antwort {n}",
            "reasoning_steps": "",
            "external_links": "",
            "skills": "",
            "category": "Sports",
            "subcategory": "",
        }
        for n in range(6)
    ]
    references.write_text(json.dumps(rows), encoding="utf-8")
    predictions = tmp_path / "model.jsonl"
    predictions.write_text(
        "".join(json.dumps({"key": f"k{n}", "pred": f"p{n}"}) + "\n" for n in range(6)), "utf-8"
    )

    def run(name, scores, *more):
        def answer(call):
            number = next(
                n for n in range(6) if f"Frage {n}?" in json.dumps(call.body, ensure_ascii=False)
            )
            return Answer(str(scores[number]))

        with JudgeServer(answer) as server:
            done = reelbench(
                "score", "curve", "--predictions", predictions, "--references", references,
                "--judge", name, "--judge-url", server.url, "--output", tmp_path / name, *more,
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return tmp_path / name

    return run


def test_of_three_each_two_are_compared_and_a_table_goes_into_a_paper(judged, reelbench):
    folders = [judged("judge", [2, 2, 0, 0, 1, 1], "--model", "three")]
    folders += [under_another_name(folders[0], name) for name in ("four_%", "five")]
    done = reelbench("compare", *folders)
    assert done.returncode == 0, done.stderr
    pairs = [line for line in done.stdout.splitlines() if line.startswith("curve")]
    assert [line.split(": ")[1].split(";")[0] for line in pairs] == [
        "a = three, b = four_%", "a = three, b = five", "a = four_%, b = five",
    ]  # fmt: skip
    assert "each p is for its pair alone" in done.stderr
    again = shutil.copytree(folders[0], folders[0].with_name("again"))
    assert (
        f"a = three ({folders[0]}), b = three ({again});"
        in reelbench("compare", folders[0], again).stdout
    )
    assert "take two results" in reelbench("compare", *folders, "--json").stderr
    latex = reelbench("compare", *folders[:2], "--latex").stdout
    assert r"\begin{tabular}{lrrrr" in latex
    assert r"exact\_match & " in latex
    assert latex.rstrip().endswith(r"\end{tabular}")


def under_another_name(folder, model):
    """The same result under another model's name."""
    copy = folder.with_name(f"copy-{model.strip('%')}")
    shutil.copytree(folder, copy)
    result = json.loads((copy / "result.json").read_text("utf-8"))
    result["model"]["id"] = model
    (copy / "result.json").write_text(json.dumps(result), encoding="utf-8")
    return copy


def test_two_judges_side_by_side(judged, reelbench):
    first, second = judged("judge-a", [2, 2, 0, 0, 1, 1]), judged("judge-b", [2, 2, 0, 1, 1, 1])
    done = reelbench("judge", "agree", first, second / "result.json", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["a"], report["b"], report["both"]) == ("judge-a-0001", "judge-b-0001", 6)
    # 5 of 6 equal. a: two of each score; b: one 0, three 1, two 2. Chance (2·1 + 2·3 + 2·2)/36 =
    # 1/3.
    score = report["criteria"]["score"]
    assert score["exact"] == pytest.approx(100 * 5 / 6)
    assert report["metrics"]["score"] == pytest.approx([100 * 6 / 12, 100 * 7 / 12])
    assert report["labels"]["locale"].keys() == set(LOCALES)
    if report["weights"] == "none":
        assert score["kappa"] == pytest.approx((5 / 6 - 1 / 3) / (1 - 1 / 3))


def test_labels_with_few_ratings_are_counted_and_not_shown(judged, reelbench):
    """A dozen ratings of two locales had a table of a hundred lines, each by one or two of them."""
    first, second = judged("judge-a", [2, 2, 0, 0, 1, 1]), judged("judge-b", [2, 2, 0, 0, 1, 0])
    done = reelbench("judge", "agree", first, second)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 7  # two titles and headings, one criterion, two metrics
    assert not any(locale in done.stdout for locale in LOCALES)
    assert "not shown: 3 labels with fewer than 10 ratings by both; --json has them" in done.stderr
    for folder in (first, second):
        lines = [
            json.loads(line) for line in (folder / "samples.jsonl").read_text("utf-8").splitlines()
        ]
        many = [line | {"id": f"{line['id']}-{n}"} for n in range(5) for line in lines]
        (folder / "samples.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in many), "utf-8"
        )
    done = reelbench("judge", "agree", first, second)
    assert all(f"{locale} · score" in done.stdout for locale in LOCALES)
    assert "not shown" not in done.stderr


def test_only_the_same_answers_tell_how_far_judges_agree(judged, reelbench):
    """Scores of two models' answers were printed as two judges' agreement."""
    first, second = judged("judge-a", [2, 2, 0, 0, 1, 1]), judged("judge-b", [2, 2, 0, 1, 1, 1])
    path = second / "samples.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for alike in (4, 0):
        changed = [line | {"prediction": "another"} for line in lines[: 6 - alike]]
        path.write_text(
            "".join(json.dumps(line) + "\n" for line in changed + lines[len(changed) :]), "utf-8"
        )
        done = reelbench("judge", "agree", first, second, "--json")
        assert f"{path}: was changed after scoring" in done.stderr
        if alike:
            assert json.loads(done.stdout)["both"] == 4
            assert "left out: 2 items that the two results answer differently" in done.stderr
    assert done.returncode == 2
    assert f"{second}: its answers differ" in done.stderr


def test_a_judge_and_people(judged, tmp_path, reelbench):
    first = judged("judge-a", [2, 2, 0, 0, 1, 1])
    human = tmp_path / "human.csv"
    human.write_text("id,score\nk0,2\nk1,2\nk2,0\nk3,2\n", encoding="utf-8")
    report = json.loads(reelbench("judge", "agree", first, human, "--json").stdout)
    assert (report["both"], report["only_a"], report["only_b"]) == (4, 2, 0)
    assert report["criteria"]["score"]["exact"] == 75
    human.write_text("id,score\nk0,3\n", encoding="utf-8")
    done = reelbench("judge", "agree", first, human)
    assert done.returncode == 2
    assert f"{human}, line 2" in done.stderr


def test_two_models_and_what_can_not_be_compared(judged, reelbench):
    first, second = judged("judge-a", [2, 2, 0, 0, 1, 1]), judged("judge-b", [0, 0, 0, 0, 0, 0])
    refused = reelbench("compare", first, second)
    assert refused.returncode == 2
    assert "different judges: a has judge-a" in refused.stderr
    assert "--anyway" in refused.stderr
    assert "judge: a = judge-a-0001, b = judge-b-0001" in refused.stdout  # the settings come first
    report = json.loads(reelbench("compare", first, second, "--anyway", "--json").stdout)
    assert report["metrics"]["score"]["difference"] == pytest.approx(50)
    assert report["settings"]["judge"] == ["judge-a-0001", "judge-b-0001"]
    counts = ["both", "only_a", "only_b"]
    assert [*report] == [
        "a",
        "b",
        *counts,
        "metrics",
        "unscored",
        "settings",
        "videos",
    ]  # other programs read these
    table = reelbench("compare", first, second, "--anyway")
    assert table.stdout.index("judge: a") < table.stdout.index("score  ")
    assert reelbench("compare", first, first, "--json").returncode == 0
    result = json.loads((second / "result.json").read_text(encoding="utf-8"))
    result["benchmark"]["split"] = "mini"
    (second / "result.json").write_text(json.dumps(result), encoding="utf-8")
    done = reelbench("compare", first, second)
    assert done.returncode == 2
    assert "only results on the same benchmark" in done.stderr


def test_judged_scores_by_label(judged, reelbench, tmp_path):
    tags = tmp_path / "tags.jsonl"
    labels = {"k0": "Event", "k1": "Event", "k2": "Object"}
    lines = (
        {"qid": key, "target": [label], "content": [], "thinking": "Recall"}
        for key, label in labels.items()
    )
    tags.write_text("".join(json.dumps(line) + "\n" for line in lines))
    # CURVE's score: 100 · Σ / 2N. Of both events a has 2 + 1, b 0 + 1; of the object a has 0, b 2.
    first = judged("judge-a", [2, 1, 0, 0, 0, 0], "--tags", tags)
    second = judged("judge-b", [0, 1, 2, 0, 0, 0], "--tags", tags)
    breakdowns = json.loads((first / "result.json").read_text("utf-8"))["breakdowns"]
    assert breakdowns["target"]["Event"]["score"]["value"] == pytest.approx(75)
    assert (
        breakdowns["tagged"]["all"]["score"]["value"],
        breakdowns["tagged"]["all"]["score"]["n"],
    ) == (50, 3)
    found = json.loads(
        reelbench("compare", first, second, "--labels", "--anyway", "--json").stdout
    )["labels"]
    assert {row["label"]: row["difference"] for row in found} == {
        "target.Object": -100, "target.Event": 50, "thinking.Recall": 0
    }  # fmt: skip
    assert (
        "score (0 to 100) label by label"
        in reelbench("compare", first, second, "--labels", "--anyway").stdout
    )
    # The credit that answers earned stands by label in a profile, too: 2 and 1 of 2 points for the
    # events.
    done = CliRunner().invoke(
        app,
        [
            *map(
                str,
                (
                    "profile",
                    "curve",
                    "--data",
                    tmp_path,
                    "--tags",
                    tags,
                    "--result",
                    first,
                    "--json",
                ),
            )
        ],
        catch_exceptions=False,
    )
    events = json.loads(done.stdout)["labels"]["target"]["Event"]
    assert (events["accuracy"], events["share"]) == (75, pytest.approx(100 * 2 / 3))


def test_labels_of_two_agents_side_by_side(reelbench, tmp_path):
    from reelbench.data import loading

    located = loading.locate("dramaqa_cogme_mini")
    tags = located.spec.folder / "mini" / "cogme_tags.jsonl"
    folders = []
    for name, wrong in (("a", 0), ("b", 1)):
        rows = [
            {"qid": int(row["id"]), "correct_idx": ("ABCDE".index(row["answer"]) + wrong) % 5}
            for row in located.read()
        ]
        predictions = tmp_path / f"{name}.json"
        predictions.write_text(json.dumps(rows))
        folders.append(tmp_path / name)
        done = reelbench(
            "score", "dramaqa_cogme", "--split", "mini", "--predictions", predictions, "--tags", tags, "--output",
            folders[-1],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    found = json.loads(reelbench("compare", *folders, "--labels", "--json").stdout)
    assert {(row["a"], row["b"], row["difference"]) for row in found["labels"]} == {(100, 0, 100)}
    assert "label by label" in reelbench("compare", *folders, "--labels").stdout
    assert "labels" not in json.loads(reelbench("compare", *folders, "--json").stdout)
    radars = tmp_path / "radars.svg"
    command = ["compare", *map(str, folders), "--labels", "--picture", str(radars)]
    assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    # Three panels with a polygon for each agent; a is at the rim, b in the centre.
    assert radars.read_text().count("fill-opacity='0.100'") == 3 * 2
    assert "Recall, a: 100.0" in radars.read_text()
    assert "Recall, b: 0.0" in radars.read_text()
    # The rarer labels stand first in the plot of how often against how well.
    done = reelbench(
        "profile",
        "dramaqa_cogme_mini",
        "--tags",
        tags,
        "--result",
        folders[0],
        "--output",
        tmp_path / "profile",
    )
    assert done.returncode == 0, done.stderr
    assert "answered right" in (tmp_path / "profile" / "rates-thinking.svg").read_text()
    assert "THINKING" in (tmp_path / "profile" / "radars.svg").read_text()
