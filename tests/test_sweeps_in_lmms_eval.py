"""Several settings in one `reelbench run`: languages and arguments, with a model that is loaded once."""

import json
import re
import shutil
import xml.etree.ElementTree as ET

import pytest

from reelbench.data import loading
from tests import lmms_runs
from tests.servers.judge import Answer, JudgeServer

pytestmark = [pytest.mark.lmms, pytest.mark.slow]

LANGUAGES = ("native", "en", "es", "ja")
TOLD = re.compile(r"In (\w+): (.+)")


def play(call):
    """Be the translator, the model under test (right in the question's own words and in English), and the judge."""
    text = call.body["messages"][-1]["content"]
    text = text if isinstance(text, str) else " ".join(part.get("text", "") for part in text)
    match call.body["model"]:
        case "translator":
            language = re.search(r"tag (\w+)", call.system)[1]
            return Answer(f"In {language}: {text.splitlines()[1]}")
        case "judge":
            return Answer(
                "2" if "zebra" in text else "0"
            )  # a word of no question, reference or rubric
        case _:
            told = TOLD.search(text)
            return Answer("a zebra" if told is None or told[1] == "en" else "wrong")


@pytest.fixture(scope="module")
def server():
    with JudgeServer(play) as server:
        yield server


@pytest.fixture
def here(monkeypatch):
    """Run the command, and its lmms-eval, in this process; returns what it printed."""
    lmms_runs.worker_here(monkeypatch)
    return lambda *words, **_: lmms_runs.run_here(monkeypatch, *words)


def run(reelbench, server, out, *options, model_args="", limit=2):
    judge = ("--judge", "judge", "--judge-url", server.url)
    model = f"model=under-test,base_url={server.url}{model_args}"  # without a key: one's own server needs none
    return reelbench(
        "run", "--frames", "none", *judge, *options, "--", "--tasks", "curve_mini", "--model", "openai",
        "--model_args", model, "--limit", str(limit), "--output_path", str(out), timeout=900,
    )  # fmt: skip


def test_two_locales_in_three_languages(reelbench, here, server, tmp_path):
    out = tmp_path / "out"
    languages = (
        "--languages",
        "en,es,ja",
        "--llm",
        f"translator=translator@{server.url}",
        "--label",
        "web search",
    )
    done = run(reelbench, server, out, *languages)
    assert done.returncode == 0, done.stderr
    assert "models loaded: 1" in done.stderr
    rows = loading.load("curve_mini")
    lines = [
        json.loads(line)
        for line in (out / "translations.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    # The English question into two languages, the Japanese one into two.
    assert [(line["id"], line["language"]) for line in lines] == [
        ("mini1", "es"), ("mini1", "ja"), ("mini2", "en"), ("mini2", "es"),
    ]  # fmt: skip
    assert lines[0]["question"] == f"In es: {rows['question'][0]}"
    (task,) = json.loads((out / "languages.json").read_text())["tasks"]
    cells = {
        name: {tag: cell["value"] for tag, cell in row.items()}
        for name, row in task["locales"].items()
    }
    assert cells == {
        "all": dict(zip(LANGUAGES, (100, 100, 0, 50), strict=True)),
        "en-GB": dict(zip(LANGUAGES, (100, 100, 0, 0), strict=True)),
        "ja-JP": dict(zip(LANGUAGES, (100, 100, 0, 100), strict=True)),
    }
    drawn = ET.parse(out / "languages_curve_mini.svg").getroot()  # noqa: S314 - our own file
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}title"))) == 1 + 3 * 4
    results = {
        tag: json.loads(
            next((out / f"language-{tag}").rglob("reelbench/*/result.json")).read_text()
        )
        for tag in LANGUAGES
    }
    assert [result["settings"].get("language") for result in results.values()] == [
        None,
        "en",
        "es",
        "ja",
    ]
    assert {result["settings"]["label"] for result in results.values()} == {"web search"}
    asked = [call for call in server.calls if call.body["model"] == "under-test"]
    assert "In es: " in json.dumps(asked[-4].body, ensure_ascii=False)
    run(here, server, tmp_path / "plain")
    alone = json.loads(next((tmp_path / "plain").rglob("reelbench/*/result.json")).read_text())
    assert alone["metrics"] == results["native"]["metrics"]
    assert alone["breakdowns"] == results["native"]["breakdowns"]
    # The label stays where the run is scored again.
    folder = next((out / "language-es").rglob("*_results.json")).parent
    again = reelbench("score", "--run", folder, "--judge", "judge", "--judge-url", server.url)
    assert again.returncode == 0, again.stderr
    scored = json.loads(next(folder.rglob("reelbench/*/result.json")).read_text())
    assert (scored["settings"]["label"], scored["settings"]["language"]) == ("web search", "es")


def test_an_argument_of_generation_shares_the_model_and_one_of_the_adapter_does_not(
    reelbench, here, server, tmp_path
):
    lengths = ("--sweep", "gen_kwargs.max_new_tokens=8,16", "--sweep-by", "locale")
    done = run(reelbench, server, tmp_path, *lengths, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(
        (tmp_path / "sweep.json").read_text()
    )  # and nothing else
    assert "models loaded: 1" in done.stderr
    points = json.loads((tmp_path / "sweep.json").read_text())["points"]
    assert [point["setting"] for point in points] == [
        {"gen_kwargs.max_new_tokens": "8"}, {"gen_kwargs.max_new_tokens": "16"},
    ]  # fmt: skip
    drawn = ET.parse(tmp_path / "sweep_curve_mini_by_locale.svg").getroot()  # noqa: S314 - our own file
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}title"))) == 1 + 4
    other = run(here, server, tmp_path / "b", "--sweep", "max_retries=1,2", limit=1)
    assert re.search(r"^max_retries +all\n1 +100\.00\n2 +100\.00$", other, re.MULTILINE)
    assert "models loaded: 2" in other


def test_a_real_model_takes_more_frames_without_being_loaded_again(here, tiny_vlm, tmp_path):
    done = here(
        "run", "--frames", "uniform:N,size=56", "--frames-sweep", "0,2,4", "--", "--tasks", "rextime_mini",
        "--model", "qwen2_5_vl",
        "--model_args", f"pretrained={tiny_vlm},device=cpu,device_map=cpu,attn_implementation=eager",
        "--gen_kwargs", "max_new_tokens=4", "--limit", "1", "--output_path", str(tmp_path / "swept"), timeout=1800,
    )  # fmt: skip
    assert "models loaded: 1" in done
    points = json.loads((tmp_path / "swept" / "sweep.json").read_text())["points"]
    assert [point["frames_given"] for point in points] == [{"0": 1}, {"2": 1}, {"4": 1}]


def test_several_runs_are_asked_apart_and_those_that_ended_are_not_asked_again(here, tmp_path):
    rows = loading.load("rextime_mini")
    asked = []

    def answer(call):
        asked.append(call.body)
        text = json.dumps(call.body["messages"], ensure_ascii=False)
        right = [
            row["answer"]
            for row in rows
            if row["question"] in text and row["options"] == sorted(row["options"], key=text.find)
        ]
        return Answer(
            right[-1] if (len(asked) - 1) // len(rows) == 1 else "A"
        )  # the second run has all right

    out = tmp_path / "out"
    with JudgeServer(answer) as server:

        def run_thrice():
            return here(
                *(
                    "run",
                    "--frames",
                    "none",
                    "--runs",
                    "3",
                    "--seed",
                    "5",
                    "--",
                    "--tasks",
                    "rextime_mini",
                ),
                *(
                    "--model",
                    "openai",
                    "--model_args",
                    f"model=under-test,base_url={server.url},api_key=none",
                ),
                *("--gen_kwargs", "temperature=0.7", "--output_path", str(out)),
                timeout=900,
            )

        run_thrice()
        assert len(asked) == 3 * len(rows)
        [path] = out.rglob("runs.json")
        runs = json.loads(path.read_text(encoding="utf-8"))
        assert (runs["runs"], runs["seeds"]) == (3, [5, 6, 7])
        assert runs["metrics"]["accuracy"]["values"] == [
            25,
            100,
            25,
        ]  # each letter is right of 3 of 12
        assert runs["metrics"]["accuracy"]["mean"] == pytest.approx(50)
        shutil.rmtree(out / "run-2")
        asked.clear()
        run_thrice()
    assert len(asked) == len(rows)  # the second run's, which had A this time
    assert json.loads(path.read_text(encoding="utf-8"))["metrics"]["accuracy"]["values"] == [
        25,
        25,
        25,
    ]
