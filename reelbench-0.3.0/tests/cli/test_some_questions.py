"""Only what matters is asked again: by a file of ids, by what could not be read, by what two results disagree on."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
GOOD = '{"span": [0, 5], "answer": "A"}'
IDS = [f"mini{number}" for number in range(1, 13)]


def reelbench(*words):
    """Run a command in this process; its errors are raised."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def written(folder):
    samples = [
        json.loads(line)
        for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return json.loads((folder / "result.json").read_text(encoding="utf-8")), {
        s["id"]: s for s in samples
    }


def ask(server, out, *options):
    reelbench(
        "ask",
        MINI,
        "--llm",
        "org/model",
        "--llm-url",
        server.url,
        "--frames",
        "none",
        "--output",
        out,
        *options,
    )
    return written(out / MINI)


def scored(folder, texts, *options, model="org/model"):
    folder.mkdir(exist_ok=True)
    path = folder / "texts.csv"
    path.write_text(
        "id,prediction\n" + "".join(f"{name},{text}\n" for name, text in texts.items()),
        encoding="utf-8",
    )
    named = ("--model", model) if model else ()
    reelbench("score", MINI, "--predictions", path, "--output", folder / "result", *named, *options)
    return written(folder / "result")


@pytest.fixture(params=["file", "server"])
def kept_in(request, monkeypatch):
    """Where replies are kept: a server is never waited for in the event loop, where replies come in."""
    if request.param == "file":
        return
    from reelbench.llm.postgres_store import PostgresStore

    monkeypatch.setenv("REELBENCH_CACHE", request.getfixturevalue("postgres").database())

    def guarded(request):
        def apart(*arguments):
            with pytest.raises(RuntimeError, match="no running event loop"):
                asyncio.get_running_loop()
            return request(*arguments)

        return apart

    for name in ("get", "claim", "put", "claimed_elsewhere", "renew", "release"):
        monkeypatch.setattr(PostgresStore, name, guarded(getattr(PostgresStore, name)))


@pytest.mark.usefixtures("kept_in")
def test_unreadable_answers_are_asked_again_and_paid_for_once(tmp_path):
    unreadable = {1, 7}
    with JudgeServer(
        lambda call: Answer("no idea" if call.number in unreadable else GOOD)
    ) as server:
        first, before = ask(server, tmp_path / "out", "--llm-concurrency", 1)
        odd = [name for name in IDS if before[name]["flags"]]
        assert (first["counts"]["parse_failed"], len(odd), len(server.calls)) == (2, 2, 12)
        again = ("--only", "unreadable", "--from", tmp_path / "out" / MINI)
        server.script(
            lambda call: Answer("no idea" if call.number == 12 else GOOD.replace("5", "7"))
        )
        second, after = ask(server, tmp_path / "again", *again, "--llm-concurrency", 1)
        assert len(server.calls) == 14
        third, _ = ask(
            server, tmp_path / "again", *again
        )  # one is the same as before, and counts all the same
        assert len(server.calls) == 14 + 1  # a kept one, asked once more
    assert (second["counts"]["parse_failed"], third["metrics"]) == (1, second["metrics"])
    assert second["settings"]["merged"] == {
        "samples_sha256": first["provenance"]["samples_sha256"],
        "only": "unreadable",
        "asked_again": 2,
        "generation": {"max_tokens": 512, "temperature": 0},
    }
    assert sorted(after[name]["prediction"] for name in odd) == sorted(
        ["no idea", GOOD.replace("5", "7")]
    )
    assert all(after[name] == before[name] for name in IDS if name not in odd)


def test_a_file_names_the_questions(tmp_path):
    ids = tmp_path / "ids.txt"
    ids.write_text("mini3\n\nmini9\n", encoding="utf-8")
    lines = tmp_path / "ids.jsonl"
    lines.write_text('{"id": "mini9", "state": "scored"}\n{"id": "mini3"}\n', encoding="utf-8")
    texts = dict.fromkeys(IDS, "A [0 - 5 s]")
    part, samples = scored(tmp_path / "scored", texts, "--ids", ids)
    assert (list(samples), part["settings"]["limit"]) == (["mini3", "mini9"], 2)
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        part, samples = ask(server, tmp_path / "part", "--ids", ids)
        assert (list(samples), part["settings"]["limit"], len(server.calls)) == (
            ["mini3", "mini9"],
            2,
            2,
        )
        assert "merged" not in part["settings"]
        whole, _ = ask(server, tmp_path / "out")
        assert (whole["counts"]["items"], len(server.calls)) == (
            12,
            12 + 2,
        )  # the kept ones, asked once more
        server.script(lambda _: Answer(GOOD.replace("5", "8")))
        merged, samples = ask(
            server, tmp_path / "again", "--ids", lines, "--from", tmp_path / "out" / MINI
        )
        assert len(server.calls) == 16
    assert (merged["settings"]["merged"]["only"], merged["settings"]["merged"]["asked_again"]) == (
        "ids",
        2,
    )
    assert merged["settings"]["limit"] is None
    assert {name for name, sample in samples.items() if sample["parsed"]["span"] == [0, 8]} == {
        "mini3",
        "mini9",
    }


def test_where_two_results_differ_a_file_answers_anew(tmp_path):
    texts = dict.fromkeys(IDS, "A [0 - 5 s]")
    first, before = scored(tmp_path / "a", texts)
    other, _ = scored(
        tmp_path / "b",
        texts | {"mini2": "B [0 - 5 s]", "mini5": "A [1 - 4 s]", "mini6": "a [0 - 5 s]"},
    )
    folders = ("--from", tmp_path / "a" / "result", "--from", tmp_path / "b" / "result")
    new = dict.fromkeys(("mini1", "mini2", "mini5"), "C [0 - 5 s]")
    merged, after = scored(tmp_path / "c", new, "--only", "disagree", *folders, model=None)
    assert {name for name in IDS if after[name] != before[name]} == {"mini2", "mini5"}
    assert merged["model"] == first["model"]
    assert merged["settings"]["merged"] == {
        "samples_sha256": first["provenance"]["samples_sha256"],
        "only": "disagree",
        "asked_again": 2,
        "generation": {},
        "compared_with": other["provenance"]["samples_sha256"],
    }
    store = ("--store", tmp_path / "store")
    assert reelbench("leaderboard", "add", tmp_path / "c" / "result", *store).exit_code == 0


def test_an_unanswered_question_keeps_its_answer_and_a_line_says_so(tmp_path):
    _, before = scored(
        tmp_path / "a", dict.fromkeys(IDS, "A [0 - 5 s]") | {"mini4": "?", "mini8": "?"}
    )
    merged, after = scored(
        tmp_path / "b",
        {"mini4": "B [0 - 5 s]"},
        "--only",
        "unreadable",
        "--from",
        tmp_path / "a" / "result",
    )
    assert (merged["counts"]["parse_failed"], merged["settings"]["merged"]["asked_again"]) == (1, 1)
    assert after["mini8"] == before["mini8"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--only", "unreadable"), "give both"),
        (("--from", "A"), "give both"),
        (
            ("--ids", "IDS", "--only", "unreadable", "--from", "A"),
            "--ids and --only: give one of them",
        ),
        (("--only", "disagree", "--from", "A"), "--only disagree needs --from twice"),
        (
            ("--only", "unreadable", "--from", "A", "--from", "A"),
            "--only disagree needs --from twice",
        ),
        (
            ("--only", "disagree", "--from", "A", "--from", "A"),
            "none of its 12 questions is disagree",
        ),
        (("--ids", "IDS"), "has no question 'mini99'"),
        (("--ids", "IDS", "--from", "A"), "has no question 'mini99'"),
        (("--ids", "EMPTY"), "no id in it"),
    ],
)
def test_what_does_not_go_together_is_a_line(options, line, tmp_path):
    scored(tmp_path / "a", dict.fromkeys(IDS, "A [0 - 5 s]"))
    (tmp_path / "ids.txt").write_text("mini1\nmini99\n", encoding="utf-8")
    (tmp_path / "none.txt").write_text("\n", encoding="utf-8")
    places = {
        "A": tmp_path / "a" / "result",
        "IDS": tmp_path / "ids.txt",
        "EMPTY": tmp_path / "none.txt",
    }
    with pytest.raises(InputError, match=line):
        scored(
            tmp_path / "b", {"mini1": "A [0 - 5 s]"}, *(places.get(word, word) for word in options)
        )


@pytest.mark.lmms
def test_a_run_asks_some_questions_and_takes_the_others_from_a_result(tmp_path):
    def run(place, *options, kind):
        done = reelbench(
            "run", "--frames", "none", *options, "--", "--tasks", MINI, "--model", "reelbench_baseline",
            "--model_args", f"kind={kind},seed=1", "--output_path", tmp_path / place,
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        (path,) = (tmp_path / place).rglob("result.json")
        return path.parent, *written(path.parent)

    folder, _, before = run("first", kind="random")
    (tmp_path / "ids.txt").write_text("mini2\nmini11\n", encoding="utf-8")
    _, part, samples = run("part", "--ids", tmp_path / "ids.txt", kind="random")
    assert (list(samples), part["settings"]["limit"]) == (["mini2", "mini11"], 2)
    _, merged, after = run("again", "--ids", tmp_path / "ids.txt", "--from", folder, kind="random")
    assert (merged["counts"]["items"], merged["settings"]["merged"]["asked_again"]) == (12, 2)
    assert list(after) == list(before)
