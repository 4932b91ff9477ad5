"""`reelbench ace`: the ranker's choice, its controls by hand, and its result on the board."""

import json
import re
import xml.etree.ElementTree as ET
from statistics import fmean

import pytest

from reelbench.data import loading
from reelbench.scoring.candidates import shuffled_order
from tests.pages.drawn import mark_place
from tests.servers import ranker
from tests.servers.judge import Answer, JudgeServer

# Ten questions with three candidates each: what the ranker thinks of it, what the judge does (0 to
# 5), its words.
TABLE = [
    ((3, 9, 1), (1, 5, 2), (6, 7, 8)),
    ((8, 8, 2), (4, 2, 5), (6, 6, 6)),
    ((0, 0, 0), (3, 3, 3), (9, 7, 6)),
    ((1, 2, 10), (0, 1, 2), (6, 7, 10)),
    ((5, 4, 3), (5, 4, 3), (6, 6, 7)),
    ((2, 6, 6), (2, 3, 4), (7, 6, 8)),
    ((7, 1, 9), (3, 0, 1), (6, 12, 7)),
    ((4, 4, 5), (2, 2, 2), (6, 8, 7)),
    ((9, 3, 2), (1, 1, 5), (8, 6, 6)),
    ((6, 7, 8), (4, 3, 2), (6, 6, 6)),
]
CHOSEN = [1, 0, 0, 2, 0, 1, 2, 2, 0, 2]
LONGEST = [2, 0, 0, 2, 2, 2, 1, 1, 0, 0]
BEST = [1, 2, 0, 2, 0, 2, 0, 0, 2, 0]


def text(question, worth, quality, words):
    """A candidate: four words that are numbers or name them, and others up to `words`, told apart by the question."""
    return " ".join(
        [f"quality {quality} worth {worth}", *(f"q{question}w{n}" for n in range(words - 4))]
    )


@pytest.fixture
def candidates(tmp_path):
    rows = loading.locate("moviecore_mini").read()[: len(TABLE)]
    path = tmp_path / "candidates.jsonl"
    lines = [
        {"id": row["id"], "candidates": [text(n, *one) for one in zip(*TABLE[n], strict=True)]}
        for n, row in enumerate(rows)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def play(call):
    """Be the ranker, and the judge: what it says of an answer stands in the answer."""
    if call.body["model"] == "judge":
        return Answer(json.dumps({"score": int(re.findall(r"quality (\d)", call.user)[-1])}))
    return ranker.play(call)


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def ask(reelbench, server, *arguments, judged=False):
    judge = ("--judge", "judge", "--judge-url", server.url) if judged else ()
    return reelbench("ace", *arguments, "--llm", "ranker", "--llm-url", server.url, *judge)


@pytest.mark.parametrize("shape", ["lines", "lavis"])
def test_a_file_of_candidates_needs_nothing_but_a_ranker(shape, reelbench, tmp_path):
    given = {
        "7": ["worth 2, says the first", "worth 5", "worth 5 as well, in more words"],
        "8": ["nothing is said of this", "worth 0"],
        "9": ["the same worth 3", "the same worth 3"],
    }
    path = tmp_path / "given"
    if shape == "lines":
        write(path, [{"id": name, "candidates": texts} for name, texts in given.items()])
    else:
        path.write_text(
            json.dumps(
                [{"question_id": int(name), "answer": texts} for name, texts in given.items()]
            )
        )
    with JudgeServer(play) as server:
        done = ask(reelbench, server, "--candidates", path, "--json", "--output", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        calls = len(server.calls)
        for call in server.calls:
            assert any(text in call.user.split("\n") for texts in given.values() for text in texts)
        again = ask(reelbench, server, "--candidates", path, "--json")
        assert len(server.calls) == calls
    found, twice = json.loads(done.stdout), json.loads(again.stdout)
    assert (
        calls == 3 + (3 + 1) + 1
    )  # what does not read is asked three times in all; equal requests once
    assert found["chosen"] == twice["chosen"] == {"7": 1, "8": 1, "9": 0}
    assert [found[name] for name in ("k", "ties", "unparsed", "not_first")] == [3, 2, 1, 2]
    assert {name: control["metrics"] for name, control in found["controls"].items()} == {
        name: {} for name in ("first", "random", "longest", "ace")
    }
    words = {"first": (5 + 5 + 4) / 3, "longest": (7 + 5 + 4) / 3, "ace": (2 + 2 + 4) / 3}
    words["random"] = ((5 + 2 + 7) / 3 + (5 + 2) / 2 + 4) / 3
    assert {n: c["mean_words"] for n, c in found["controls"].items()} == pytest.approx(words)
    chosen = [
        json.loads(line)
        for line in (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()
    ]
    assert chosen[0] == {"id": "7", "prediction": "worth 5"}


def test_the_controls_of_ten_rows_by_hand(reelbench, candidates, tmp_path):
    where = (
        "--candidates",
        candidates,
        "--benchmark",
        "moviecore_mini",
        "--model",
        "org/vlm",
        "--no-overlap",
    )
    with JudgeServer(play) as server:
        done = ask(reelbench, server, *where, "--json", "--output", tmp_path / "out", judged=True)
        assert done.returncode == 0, done.stderr
        calls = len(server.calls)
        ask(reelbench, server, *where, "--json", judged=True)
        assert calls == len(server.calls)
    found = json.loads(done.stdout)
    assert list(found["chosen"].values()) == CHOSEN
    assert (found["ties"], found["unparsed"], found["not_first"]) == (3, 0, 6)
    picks = {"first": [0] * 10, "longest": LONGEST, "ace": CHOSEN, "oracle": BEST}
    for name, indices in picks.items():
        control = found["controls"][name]
        pairs = list(zip(TABLE, indices, strict=True))
        metric = control["metrics"]["accuracy_per_question"]
        assert (metric["value"], metric["n"]) == (
            pytest.approx(fmean(row[1][i] for row, i in pairs)),
            10,
        )
        assert control["mean_words"] == pytest.approx(fmean(row[2][i] for row, i in pairs))
    random = found["controls"]["random"]
    assert random["metrics"]["accuracy_per_question"]["value"] == pytest.approx(
        fmean(fmean(row[1]) for row in TABLE)
    )
    assert random["mean_words"] == pytest.approx(fmean(fmean(row[2]) for row in TABLE))
    assert random["metrics"]["accuracy_per_question"]["ci95"] is None  # of four videos
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["model"]["id"] == "org/vlm + ACE"
    stated = {name: result["settings"]["ranker"][name] for name in ("model", "k", "mode", "votes")}
    assert stated == {"model": "ranker", "k": 3, "mode": "pointwise", "votes": 1}
    assert result["metrics"]["accuracy_per_question"]["value"] == pytest.approx(
        found["controls"]["ace"]["metrics"]["accuracy_per_question"]["value"]
    )
    assert result["counts"]["unscored"] == {"prediction_missing": 2}


def test_the_choice_is_a_row_that_is_chosen_again_from_the_replies(reelbench, candidates, tmp_path):
    out, store = tmp_path / "out", tmp_path / "store"
    where = (
        "--candidates",
        candidates,
        "--benchmark",
        "moviecore_mini",
        "--model",
        "org/vlm",
        "--no-overlap",
    )
    with JudgeServer(play) as server:
        done = ask(reelbench, server, *where, "--output", out, judged=True)
    assert done.returncode == 0, done.stderr
    added = reelbench("leaderboard", "add", out, "--store", store)
    assert added.returncode == 0, added.stderr
    assert "ranker replies" in added.stderr + added.stdout
    import hashlib

    lines = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
    edited = next(line for line in lines if line["candidates"])
    edited["ranker_replies"][0] = ["10"]  # another candidate would have been chosen
    edited["ranker_replies"][1] = ["0"]
    write(out / "samples.jsonl", lines)
    result = json.loads((out / "result.json").read_text())
    result["provenance"]["samples_sha256"] = hashlib.sha256(
        (out / "samples.jsonl").read_bytes()
    ).hexdigest()
    (out / "result.json").write_text(json.dumps(result))
    refused = reelbench("leaderboard", "add", out, "--store", store)
    assert refused.returncode != 0
    assert (
        "its prediction is not candidate 0, which the ranker's replies choose"
        in refused.stderr + refused.stdout
    )


def test_a_list_in_an_order_of_its_own_and_several_votes(reelbench, tmp_path):
    path = write(
        tmp_path / "c.jsonl",
        [{"id": f"q{n}", "candidates": [f"worth {n}", "worth 3", "worth 0"]} for n in range(6)],
    )
    with JudgeServer(play) as server:
        done = ask(
            reelbench,
            server,
            "--candidates",
            path,
            "--mode",
            "listwise",
            "--llm-votes",
            3,
            "--json",
        )
        assert len(server.calls) == 18
    found = json.loads(done.stdout)
    # Of equal ones the stub names the one that it is shown first, in an order that the id and the
    # vote decide.
    shown_first = [min((0, 1), key=shuffled_order("q3", 3, vote).index) for vote in range(3)]
    tie = max((0, 1), key=lambda index: (shown_first.count(index), -index))
    assert found["chosen"] == {"q0": 1, "q1": 1, "q2": 1, "q3": tie, "q4": 0, "q5": 0}
    assert found["unparsed"] == 0


def test_a_run_with_candidates_and_several_sizes_with_a_plot(reelbench, candidates, tmp_path):
    rows = [json.loads(line) for line in candidates.read_text().splitlines()]
    first = write(
        tmp_path / "first.jsonl",
        [{"id": row["id"], "prediction": row["candidates"][0]} for row in rows],
    )
    run = tmp_path / "run"
    done = reelbench(
        "score",
        "moviecore_mini",
        "--predictions",
        first,
        "--model",
        "org/vlm",
        "--no-overlap",
        "--output",
        run,
    )
    assert done.returncode == 0, done.stderr
    by_id = {row["id"]: row["candidates"] for row in rows}
    samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    write(
        run / "samples.jsonl",
        [{**sample, "candidates": by_id.get(sample["id"])} for sample in samples],
    )
    out = tmp_path / "out"
    with JudgeServer(play) as server:
        done = ask(
            reelbench,
            server,
            run,
            "--k",
            "3,2",
            "--output",
            out,
            "--no-overlap",
            "--json",
            judged=True,
        )
        asked = {call.user for call in server.calls if call.body["model"] == "ranker"}
        assert len(asked) == 30  # the first two of three are not asked about again
    assert done.returncode == 0, done.stderr
    two, three = json.loads(done.stdout)
    assert (two["k"], three["k"]) == (2, 3)
    assert list(three["chosen"].values()) == CHOSEN
    assert list(two["chosen"].values()) == [1, 0, 0, 1, 0, 1, 0, 0, 0, 1]
    assert "What" in "".join(asked) or "Why" in "".join(
        asked
    )  # the question, from beside the samples
    svg = (out / "ace.svg").read_text()
    assert len(re.findall(r"<title>\w+, [23]: ", svg)) == 2 * 5
    assert "oracle, 3: " in svg
    assert json.loads((out / "k2" / "result.json").read_text())["settings"]["ranker"]["k"] == 2


@pytest.mark.slow
def test_the_controls_meteor_against_their_length(reelbench, candidates, tmp_path):
    where = (
        "--candidates",
        candidates,
        "--benchmark",
        "moviecore_mini",
        "--output",
        tmp_path / "out",
    )
    with JudgeServer(play) as server:
        done = ask(reelbench, server, *where, "--k", "2,3", "--json")
    assert done.returncode == 0, done.stderr
    drawn = ET.parse(tmp_path / "out" / "ace_length.svg").getroot()  # noqa: S314 - our own file
    told = [title.text for title in drawn.iterfind(".//{*}title")]
    for document in json.loads(done.stdout):
        for name in ("first", "random", "longest", "ace"):
            meteor = document["controls"][name]["metrics"]["meteor"]
            assert f"{name}, {document['k']}: {meteor['value']:.3f}, n = {meteor['n']}" in told
    # The longest of three answers have more words than those of two, and stand further to the
    # right.
    picture = ET.tostring(drawn, encoding="unicode")
    places = [mark_place(picture, tip) for tip in told if tip.startswith("longest, ")]
    assert places[0][0] < places[1][0]
    texts = [text.text for text in drawn.iterfind(".//{*}text")]
    for title in (
        "mean words of the answers chosen, and of how many candidates",
        "METEOR",
    ):  # a unit may stand behind
        assert any(text.startswith(title) for text in texts)


@pytest.mark.parametrize(
    ("lines", "arguments", "line"),
    [
        (
            [{"id": "a", "candidates": []}],
            (),
            "row 1: the candidates of 'a' are not a list of texts",
        ),
        (
            [{"id": "a", "candidates": ["x", 3]}],
            (),
            "row 1: the candidates of 'a' are not a list of texts",
        ),
        ([{"candidates": ["x"]}], (), "row 1: has no id"),
        ([{"id": "a", "candidates": ["x"]}] * 2, (), "row 2: the id 'a' occurs twice"),
        ([{"id": "a", "candidates": ["x"]}], ("--k", "0"), "--k '0': not numbers of candidates"),
        (
            [{"id": "a", "candidates": ["x"]}],
            ("--k", "2"),
            "--k 2: no question has so many candidates; there are 1",
        ),
        ([{"id": "a", "candidates": ["x"]}], ("--mode", "pairs"), "--mode: 'pairs' is neither"),
        ([{"id": "a", "candidates": ["x"]}], ("--judge", "j"), "name the benchmark"),
        (
            [{"id": "a", "candidates": ["x"]}],
            ("--benchmark", "moviecore_mini"),
            "none of its 1 ids",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_line_and_nothing_is_asked(
    lines, arguments, line, reelbench, tmp_path
):
    path = write(tmp_path / "c.jsonl", lines)
    with JudgeServer(play) as server:
        done = ask(reelbench, server, "--candidates", path, *arguments)
        assert not server.calls
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert line in done.stderr


def test_a_server_that_dies_loses_nothing(reelbench, tmp_path):
    path = write(
        tmp_path / "c.jsonl",
        [{"id": f"q{n}", "candidates": [f"worth {n}", "worth 1"]} for n in range(4)],
    )
    out = tmp_path / "out"
    with JudgeServer(lambda call: play(call) if call.number < 3 else Answer(status=401)) as server:
        done = reelbench(
            "ace",
            "--candidates",
            path,
            "--llm",
            f"ranker@{server.url}",
            "--llm-concurrency",
            1,
            "--output",
            out,
        )
        assert (done.returncode, out.exists()) == (1, False)
        assert "rerun the command to continue" in done.stderr.splitlines()[-1]
        server.script(play)
        asked = len(server.calls)
        done = ask(reelbench, server, "--candidates", path, "--output", out, "--json")
        assert (done.returncode, len(server.calls) - asked) == (
            0,
            4 - 3,
        )  # four different candidates, since no question is known
    assert json.loads(done.stdout)["chosen"] == {"q0": 1, "q1": 0, "q2": 0, "q3": 0}


def test_what_is_unread_is_asked_again_with_the_error_counted_and_if_all_is_a_failure(
    reelbench, candidates, tmp_path
):
    where = (
        "--candidates",
        candidates,
        "--benchmark",
        "moviecore_mini",
        "--no-overlap",
        "--output",
        tmp_path / "out",
    )
    with JudgeServer(lambda _: Answer("a fine answer")) as server:
        done = ask(reelbench, server, *where, "--keep-going")
        assert done.returncode == 1, done.stderr
        assert "none of the ranker's replies could be read" in done.stderr.splitlines()[-1]
        second = next(call for call in server.calls if len(call.body["messages"]) == 4)
        assert second.body["messages"][:2] in [call.body["messages"] for call in server.calls]
        assert second.body["messages"][2] == {"role": "assistant", "content": "a fine answer"}
        assert "one whole number from 0 to 10" in second.body["messages"][3]["content"]
        result = json.loads((tmp_path / "out" / "result.json").read_text())
        assert result["counts"]["unread_candidates"] == 30
        asked = len(server.calls)
        server.script(play)
        assert ask(reelbench, server, *where).returncode == 1
        assert len(server.calls) == asked
        done = ask(reelbench, server, *where, "--retry-unread", "--json")
        assert (done.returncode, json.loads(done.stdout)["unparsed"]) == (0, 0), done.stderr
        assert len(server.calls) > asked
    assert (
        "unread_candidates"
        not in json.loads((tmp_path / "out" / "result.json").read_text())["counts"]
    )


def test_rankings_that_differ_in_sampling_stand_beside_each_other(reelbench, candidates, tmp_path):
    where = (
        "--candidates",
        candidates,
        "--benchmark",
        "moviecore_mini",
        "--model",
        "org/vlm",
        "--no-overlap",
    )
    sampling = {"temperature": 0.5, "seed": 3}
    outcomes = []
    with JudgeServer(play) as server:
        for number, extra in enumerate(((), ("--llm-extra", json.dumps(sampling)))):
            out = tmp_path / f"out{number}"
            done = ask(reelbench, server, *where, *extra, "--output", out)
            assert done.returncode == 0, done.stderr
            added = reelbench("leaderboard", "add", out, "--store", tmp_path / "store", "--json")
            outcomes += [row["outcome"] for row in json.loads(added.stdout)["results"]]
        assert [call.body.get("seed") for call in server.calls].count(3) == len(server.calls) / 2
    assert outcomes == ["added", "added"]
    rankers = [
        json.loads((tmp_path / f"out{n}" / "result.json").read_text())["settings"]["ranker"]
        for n in (0, 1)
    ]
    assert (rankers[0].get("sampling"), rankers[1]["sampling"]) == (None, sampling)
    assert len(list((tmp_path / "store").rglob("result.json"))) == 2


@pytest.mark.lmms
@pytest.mark.slow
def test_a_model_in_this_process_runs_to_its_end(reelbench, tmp_path):
    from transformers import LlamaConfig, LlamaForCausalLM

    from tools.tiny_vlm import tokenizer_of_bytes

    tokenizer = tokenizer_of_bytes()
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=4096, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model = tmp_path / "tiny-llama"
    LlamaForCausalLM(config).save_pretrained(model)
    tokenizer.save_pretrained(model)
    path = write(tmp_path / "c.jsonl", [{"id": "a", "candidates": ["x", "a longer one"]}])
    done = reelbench("ace", "--candidates", path, "--llm", f"hf:{model}", "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["chosen"], found["unparsed"], found["not_first"]) == ({"a": 0}, 2, 0)
    assert (
        "none of the ranker's replies could be read, so the first candidate is always the choice"
        in done.stderr
    )
    absent = reelbench("ace", "--candidates", path, "--llm", f"hf:{tmp_path / 'absent'}")
    assert (absent.returncode, absent.stderr.count("\n")) == (2, 1), absent.stderr
