"""`reelbench diagnose` as a user calls it: graphs that exist and graphs by a model, errors of a result, the report."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import ReelbenchError
from reelbench.data import loading
from reelbench.studio.diagnosis.folder import read_questions
from reelbench.tasks import curve
from reelbench.tasks.lmms import process, worker
from tests.program import app
from tests.servers.diagnosis import Models, graph_of, role_of
from tests.servers.judge import Answer, JudgeServer

TRACED = ("mini1", "mini2", "mini6", "mini10")
"""The mini questions whose steps are three."""


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def graphs_file(tmp_path):
    path = tmp_path / "given.jsonl"
    path.write_text("".join(json.dumps({"id": key, **graph_of(key)}) + "\n" for key in TRACED))
    return path


class TestGraphs:
    @pytest.mark.parametrize(
        "name", [(), ("curve",), ("curve_mini",)], ids=["alone", "without data", "with data"]
    )
    def test_graphs_that_exist_are_counted(
        self, name, reelbench, graphs_file, network_asked, tmp_path
    ):
        done = reelbench(
            "diagnose", "graphs", *name, "--from", graphs_file, "--out", tmp_path / "out", "--json"
        )
        assert done.returncode == 0, done.stderr
        counted = json.loads(done.stdout)
        assert counted["nodes"] == {"mean": 3, "sd": 0, "total": 12}
        assert counted["timestamps"]["total"] == counted["edges"]["total"] == 8
        assert counted["depth"] == {"mean": 1, "sd": 0}
        assert json.loads((tmp_path / "out" / "statistics.json").read_text()) == counted
        assert [line["id"] for line in lines(tmp_path / "out" / "graphs.jsonl")] == list(TRACED)
        assert counted.get("locales", {}).keys() == (
            {"en-GB", "ja-JP", "de-DE", "ru-RU"} if name == ("curve_mini",) else set()
        )
        assert not network_asked.exists()

    def test_a_file_that_is_wrong_writes_nothing(self, reelbench, graphs_file, tmp_path):
        graphs_file.write_text(
            '{"id": "q", "nodes": [{"id": "a", "evidence": "e", "parents": ["b"]}]}\n'
        )
        done = reelbench("diagnose", "graphs", "--from", graphs_file, "--out", tmp_path / "out")
        assert done.returncode == 2
        assert "line 1, id 'q': node 'a': parent 'b' does not exist" in done.stderr
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("form", "ending"), [("dot", ".dot"), ("mermaid", ".mmd"), ("svg", ".svg")]
    )
    def test_each_graph_is_drawn_into_a_file(self, form, ending, reelbench, tmp_path):
        path = tmp_path / "given.jsonl"
        path.write_text(json.dumps({"id": "../a b", **graph_of("q")}) + "\n")
        done = reelbench(
            "diagnose", "graphs", "--from", path, "--out", tmp_path / "out", "--format", form
        )
        assert done.returncode == 0, done.stderr
        assert [path.name for path in (tmp_path / "out" / "graphs").iterdir()] == [
            f"..%2Fa%20b{ending}"
        ]

    def test_a_model_makes_them_of_any_rows_with_steps(self, reelbench, tmp_path):
        rows = tmp_path / "rows.jsonl"
        given = {"question": "Why?", "answer": "So.", "reasoning_steps": ["1. one", "2. two"]}
        rows.write_text(
            "".join(
                json.dumps({"id": key, **given, "question": f"Why {key}?"}) + "\n" for key in "ab"
            )
        )

        def bad(call, _role):
            return Answer('{"nodes": []}') if "Why b?" in call.user else None

        with JudgeServer(Models(scripted=bad)) as server:
            done = reelbench(
                "diagnose", "graphs", rows, "--llm", f"m@{server.url}", "--out", tmp_path / "out"
            )
            assert done.returncode == 0, done.stderr
            assert len(server.calls) == 1 + 3
            assert "1. one\n2. two" in server.calls[0].user
        assert "no graph: 1 question (graph_invalid), first: b" in done.stderr
        assert "CURVE, Tab. 7" in done.stdout
        assert [line["id"] for line in lines(tmp_path / "out" / "graphs.jsonl")] == ["a"]
        stated = json.loads((tmp_path / "out" / "statistics.json").read_text())
        assert (stated["graph_invalid"], stated["invalid"]) == (1, ["b"])
        assert stated["models"]["graph"]["returned"] == {"m-0001": 4}
        assert len(stated["prompts"]["graph.txt"]) == 64

    def test_where_no_reply_reads_the_files_are_written_and_it_fails_until_one_does(
        self, reelbench, tmp_path
    ):
        rows = tmp_path / "rows.jsonl"
        rows.write_text(
            '{"id": "a", "question": "Why?", "answer": "So.", "reasoning_steps": "1. one"}\n'
        )
        with JudgeServer(Models(scripted=lambda _call, _role: Answer("I can't."))) as server:
            arguments = (
                "diagnose",
                "graphs",
                rows,
                "--llm",
                f"m@{server.url}",
                "--out",
                tmp_path / "out",
            )
            done = reelbench(*arguments, "--json")
            assert (done.returncode, json.loads(done.stdout)["graph_invalid"]) == (1, 1), (
                done.stderr
            )
            assert "could be read as a graph" in done.stderr.splitlines()[-1]
            assert (tmp_path / "out" / "statistics.json").is_file()
            server.script(Models())
            assert reelbench(*arguments).returncode == 1
            assert len(server.calls) == 3
            done = reelbench(*arguments, "--retry-unread")
            assert (done.returncode, len(server.calls)) == (0, 4), done.stderr
        assert [line["id"] for line in lines(tmp_path / "out" / "graphs.jsonl")] == ["a"]

    def test_prompts_may_be_ones_own_and_a_model_may_think_first(self, reelbench, tmp_path):
        rows, mine = tmp_path / "rows.jsonl", tmp_path / "mine"
        rows.write_text(
            '{"id": "a", "question": "Why?", "answer": "So.", "reasoning_steps": "1. one"}\n'
        )
        mine.mkdir()
        (mine / "graph.txt").write_text("Draw a graph of evidence, {briefly}.")

        def thinks(_call, _role):
            drafts = '{"nodes": [{"id": "x"}]} no, ' * 30
            return Answer(f"<think>{drafts}</think>{json.dumps(graph_of('Why?'))}")

        with JudgeServer(Models(scripted=thinks)) as server:
            arguments = ("diagnose", "graphs", rows, "--llm", f"m@{server.url}", "--prompts", mine)
            done = reelbench(*arguments, "--out", tmp_path / "out")
            assert (done.returncode, "no value for {briefly}" in done.stderr) == (2, True)
            (mine / "graph.txt").write_text("Draw a graph of evidence, as short as can be.")
            done = reelbench(*arguments, "--out", tmp_path / "out")
            assert done.returncode == 0, done.stderr
            (call,) = server.calls
        assert call.system.startswith(
            "Draw a graph of evidence, as short as can be.\n\nThe material stands"
        )
        assert [line["id"] for line in lines(tmp_path / "out" / "graphs.jsonl")] == ["a"]
        done = reelbench(
            "diagnose",
            "graphs",
            rows,
            "--llm",
            "m",
            "--prompts",
            tmp_path / "gone",
            "--out",
            tmp_path,
        )
        assert (done.returncode, "is not a folder; give one that contains" in done.stderr) == (
            2,
            True,
        )

    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            (("curve_mini",), "no model is named"),
            ((), "give NAME and --llm MODEL to make graphs, or --from FILE"),
            (
                ("rextime_mini", "--llm", "m@http://127.0.0.1:9/v1"),
                "rextime has no column reasoning_steps",
            ),
        ],
    )
    def test_what_is_lacking_is_one_line(self, arguments, line, reelbench, tmp_path):
        done = reelbench("diagnose", "graphs", *arguments, "--out", tmp_path / "out")
        assert done.returncode == 2
        assert line in done.stderr


@pytest.fixture
def result(reelbench, tmp_path):
    """A judged result of four answers: one of them right, all others wrong."""
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(
        "".join(json.dumps({"key": key, "pred": f"pred {key}"}) + "\n" for key in TRACED)
    )

    def judges(call, role):
        return Answer("2" if "pred mini6" in call.user else "1") if role == "judge" else None

    with JudgeServer(Models(scripted=judges)) as server:
        done = reelbench(
            "score", "curve", "--split", "mini", "--predictions", predictions, "--output", tmp_path / "result",
            "--judge", "j", "--judge-url", server.url,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return tmp_path / "result"


def test_questions_with_options_are_asked_in_words(tmp_path):
    """Rows of a declared file have their steps under `reasoning`, and answers by letter."""
    (tmp_path / "kitchen").mkdir()
    row = {
        "qid": "k1",
        "clip": "v",
        "q": "What boils?",
        "opts": ["Tea", "Soup"],
        "right": "B",
        "why": ["1. Steam."],
    }
    (tmp_path / "kitchen" / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "kitchen" / "benchmark.yaml").write_text(
        "id: kitchen\ntitle: Kitchen\nkind: choice\nsource: {file: rows.jsonl}\nanswer_is: letter\n"
        "columns: {id: qid, video: clip, question: q, options: opts, answer: right, reasoning: why}\n"
    )
    (question,) = read_questions(str(tmp_path / "kitchen"))
    assert question.question == "What boils?\nA. Tea\nB. Soup"
    assert (question.answer, question.steps) == ("B. Soup", "1. Steam.")


class TestErrors:
    def test_the_wrong_answers_of_a_result(self, reelbench, result, graphs_file, tmp_path):
        with JudgeServer(Models()) as server:
            arguments = (
                "diagnose", "errors", result, "--graphs", graphs_file, "--llm", f"m@{server.url}", "--json",
                "--out", tmp_path / "out",
            )  # fmt: skip
            done = reelbench(*arguments)
            assert done.returncode == 0, done.stderr
            roles = [role_of(call) for call in server.calls]
            again = reelbench(*arguments)
            assert len(server.calls) == len(roles)
        report = json.loads(done.stdout)
        assert json.loads(again.stdout) == report
        # Three wrong answers, three votes each; the Japanese and the Russian one are put into
        # English.
        assert {role: roles.count(role) for role in set(roles)} == {"tagger": 9, "translator": 6}
        assert report["questions"] == {"asked": 12, "right": 1, "unjudged": 8, "entered": 3}
        assert report["labels"]["Temporal Localization"] == {"n": 6, "share": 1, "ci95": None}
        assert report["rounds"][0]["open"] == 3
        assert report["consensus"] == {"3": 6, "2": 0, "none": 0}
        assert report["stops"] == {"limit": 3}
        assert report["judge"]["requested"] == "j"  # as the result says
        records = lines(tmp_path / "out" / "isolation.jsonl")
        assert [record["id"] for record in records] == ["mini1", "mini2", "mini10"]
        assert records[0].keys() >= {"id", "round", "nodes", "cue", "stop"}
        assert records[0]["nodes"]["a"].keys() >= {"status", "label", "sub_cause", "votes"}
        assert not (tmp_path / "out" / "result.json").exists()

    def test_another_result_needs_another_folder(self, reelbench, result, tmp_path):
        with JudgeServer(Models()) as server:
            arguments = ("--llm", f"m@{server.url}", "--out", tmp_path / "out")
            assert reelbench("diagnose", "errors", result, *arguments).returncode == 0
            samples = result / "samples.jsonl"
            samples.write_text(samples.read_text().replace("pred mini1", "another"))
            done = reelbench("diagnose", "errors", result, *arguments)
        assert done.returncode == 2
        assert "has a diagnosis with other settings (result:" in done.stderr

    def test_where_the_tagger_is_unreadable_it_fails_and_is_asked_again_on_demand(
        self, reelbench, result, tmp_path
    ):
        def unreadable(_call, role):
            return Answer("hm") if role == "tagger" else None

        with JudgeServer(Models(scripted=unreadable)) as server:
            arguments = (
                "diagnose",
                "errors",
                result,
                "--llm",
                f"m@{server.url}",
                "--out",
                tmp_path / "out",
                "--json",
            )
            done = reelbench(*arguments, "--keep-going")
            assert (done.returncode, json.loads(done.stdout)["stops"]) == (
                1,
                {"tagger_unparsable": 3},
            ), done.stderr
            assert (tmp_path / "out" / "report.json").is_file()
            server.script(Models())
            asked = len(server.calls)
            assert reelbench(*arguments).returncode == 1
            assert len(server.calls) == asked
            done = reelbench(*arguments, "--retry-unread")
            assert (done.returncode, len(server.calls) - asked) == (0, 9), done.stderr
        assert json.loads(done.stdout)["stops"] == {"limit": 3}

    def test_the_taggers_sampling_is_on_record_and_another_is_another_diagnosis(
        self, reelbench, result, tmp_path
    ):
        with JudgeServer(Models()) as server:
            arguments = (
                "diagnose",
                "errors",
                result,
                "--llm",
                f"m@{server.url}",
                "--out",
                tmp_path / "out",
            )
            assert reelbench(*arguments, "--llm-extra", '{"temperature": 0.5}').returncode == 0
            stated = json.loads((tmp_path / "out" / "diagnosis.json").read_text())
            assert stated["sampling"] == {
                role: {"temperature": 0.5} for role in ("graph", "tagger", "translator")
            }
            done = reelbench(*arguments)
        assert (done.returncode, "other settings (sampling:" in done.stderr) == (2, True), (
            done.stderr
        )

    def test_an_answer_that_nobody_judged_is_not_known_to_be_wrong(self, reelbench, tmp_path):
        predictions = tmp_path / "predictions.jsonl"
        predictions.write_text('{"key": "mini1", "pred": "x"}\n')
        out = ("--output", tmp_path / "result")
        reelbench("score", "curve", "--split", "mini", "--predictions", predictions, *out)
        done = reelbench(
            "diagnose",
            "errors",
            tmp_path / "result",
            "--llm",
            "m@http://127.0.0.1:9/v1",
            "--out",
            tmp_path / "out",
        )
        assert done.returncode == 2
        assert "no answer in it was judged" in done.stderr


class TestReport:
    def test_two_folders_stand_side_by_side(self, reelbench, result, tmp_path):
        one, other = tmp_path / "one", tmp_path / "other"
        with JudgeServer(Models()) as server:
            for out, model in ((one, "m"), (other, "n")):
                done = reelbench(
                    "diagnose", "errors", result, "--llm", f"{model}@{server.url}", "--out", out
                )
                assert done.returncode == 0, done.stderr
        done = reelbench("diagnose", "report", one, other, "--json")
        assert done.returncode == 0, done.stderr
        both = json.loads(done.stdout)
        assert both["agreement"] == {"nodes": 6, "same": 1, "kappa": None}
        assert both["differences"]["questions"] == 3
        assert both["differences"]["shares"]["perception"] == {
            "a": 1,
            "b": 1,
            "difference": 0,
            "ci95": None,
        }
        assert both["reports"][str(one)]["models"]["tagger"]["model"] == "m"
        assert Path(one / "report.html").is_file()

    @pytest.mark.parametrize(
        ("name", "field", "odd", "named"),
        [
            (
                "isolation.jsonl",
                "id",
                "other",
                "isolation.jsonl: round 1 is on 'other', which is not in questions.jsonl",
            ),
            ("questions.jsonl", "id", "other", "isolation.jsonl: round 1 is on 'mini"),
            ("rounds/1/asked.json", "tagger", 5, "asked.json, field tagger: Input should be"),
            (
                "rounds/1/asked.json",
                "tagger",
                {"model": "m"},
                "asked.json, field tagger.returned: Field required",
            ),
        ],
    )
    def test_a_file_that_does_not_fit_the_others_is_named(
        self, name, field, odd, named, *, reelbench, result, graphs_file, tmp_path
    ):
        with JudgeServer(Models()) as server:
            words = ("--graphs", graphs_file, "--llm", f"m@{server.url}", "--out", tmp_path / "out")
            assert reelbench("diagnose", "errors", result, *words).returncode == 0
        path = tmp_path / "out" / name
        first, *others = (
            path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
        )
        path.write_text("\n".join([json.dumps(json.loads(first) | {field: odd}), *others]) + "\n")
        done = reelbench("diagnose", "report", tmp_path / "out")
        assert done.returncode == 2, done.stderr
        assert named in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1

    def test_what_is_no_diagnosis_is_told(self, reelbench, tmp_path):
        done = reelbench("diagnose", "report", tmp_path)
        assert done.returncode == 2
        assert "is not a diagnosis" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("curve_mini", "--", "--model", "m"), "its answers need a judge; give --judge MODEL"),
        (
            ("curve_mini", "--judge", "j", "--", "--tasks", "curve"),
            "leave --tasks out of lmms-eval's arguments",
        ),
        (("curve_mini", "--judge", "j"), "give lmms-eval's arguments after --"),
        (
            ("moviecore", "--judge", "j", "--", "--model", "m"),
            "has no task that asks for steps; there are curve_reas",
        ),
    ],
)
def test_a_run_that_can_not_begin(arguments, line, reelbench, tmp_path):
    named = ("--llm", "m@http://127.0.0.1:9/v1", "--out", tmp_path / "out")
    done = reelbench("diagnose", "run", arguments[0], *named, *arguments[1:])
    assert done.returncode == 2
    assert line in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("reelbench_home")
@pytest.mark.parametrize(("llm", "started"), [("m", "kept"), ("hf:tagger", "a process of its own")])
def test_lmms_eval_is_kept_between_rounds_unless_a_model_of_ours_needs_the_room(
    monkeypatch, tmp_path, llm, started
):
    calls = []

    def stop(name):
        def run(*_):
            calls.append(name)
            raise ReelbenchError("far enough")

        return run

    monkeypatch.setattr(worker.Worker, "__call__", stop("kept"))
    monkeypatch.setattr(process, "lmms_eval", stop("a process of its own"))
    judge = ["--judge", "j", "--judge-url", "http://127.0.0.1:9/v1"]
    arguments = [
        "diagnose",
        "run",
        "curve_mini",
        "--llm",
        llm,
        *judge,
        "--out",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(app, [*arguments, "--", "--model", "openai"])
    assert (done.exit_code, calls) == (1, [started]), done.output


@pytest.fixture
def begin(reelbench_home, monkeypatch, tmp_path):
    """Begin `diagnose run` with lmms-eval's process replaced by one that fails at once -> what was to be asked."""
    del reelbench_home

    def stop(*_):
        raise ReelbenchError("far enough")

    monkeypatch.setattr(worker.Worker, "__call__", stop)
    monkeypatch.setenv("REELBENCH_DATA_CURVE", str(Path(curve.__file__).parent / "mini"))

    def run(name, *lmms_eval, judge=()):
        told = [
            "--llm",
            "m",
            "--llm-url",
            "http://127.0.0.1:9/v1",
            "--judge",
            "j",
            "--judge-url",
            "http://127.0.0.1:9/v1",
        ]
        arguments = ["diagnose", "run", name, *told, *judge, "--out", str(tmp_path / "out")]
        done = CliRunner().invoke(
            app, [*arguments, "--", "--model", "openai", *lmms_eval], catch_exceptions=True
        )
        return str(done.exception), lines(
            tmp_path / "out" / "rounds" / "1" / "run-1" / "cues.jsonl"
        )

    return run


def test_the_task_of_a_locale_asks_that_locale_alone(begin, tmp_path):
    _, asked = begin("curve_ja-JP")
    japanese = [
        row["id"] for row in loading.locate("curve_mini").read() if "ja-JP" in row["locale"]
    ]
    assert [line["id"] for line in asked] == japanese
    assert len(japanese) < 12
    assert json.loads((tmp_path / "out" / "diagnosis.json").read_text())["only"] == {
        "locale": "ja-JP"
    }


def test_frames_are_an_option_and_on_record(begin, tmp_path):
    assert "far enough" in begin("curve_mini", judge=("--frames", "uniform:16,times=text"))[0]
    assert (
        json.loads((tmp_path / "out" / "diagnosis.json").read_text())["frames"]
        == "uniform:16,times=text"
    )


def test_a_diagnosis_states_how_it_asks_and_goes_on_only_so(begin, monkeypatch, tmp_path):
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:8")
    given = ("--model_args", "model=org/vlm,base_url=http://127.0.0.1:9/v1,max_frames_num=8")
    done, _ = begin("curve_mini", *given)
    assert "far enough" in done
    stated = json.loads((tmp_path / "out" / "diagnosis.json").read_text())
    assert (stated["frames"], stated["model"], stated["judge"]) == ("uniform:8", "org/vlm", "j")
    assert stated["model_args"] == {"model": "org/vlm", "max_frames_num": "8"}
    assert stated["judge_prompts"]["name"] == "reelbench"
    assert len(stated["judge_prompts"]["sha256"]) == 64
    elsewhere = (given[0], given[1].replace(":9/", ":10/"))
    assert "far enough" in begin("curve_mini", *elsewhere)[0]
    for arguments, what in (
        (("--model_args", "model=org/vlm,max_frames_num=4"), "model_args"),
        ((*given, "--gen_kwargs", "temperature=1"), "gen_kwargs"),
    ):
        assert f"other settings ({what}:" in begin("curve_mini", *arguments)[0]
    assert (
        "other settings (judge_sampling:"
        in begin("curve_mini", *given, judge=("--judge-votes", "3"))[0]
    )
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:4")
    assert "other settings (frames: uniform:8, now uniform:4)" in begin("curve_mini", *given)[0]
