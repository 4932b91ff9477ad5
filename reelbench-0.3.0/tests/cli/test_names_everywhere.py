"""Names as servers have them, through every command that takes or keeps one: no path is filed."""

import json

import pytest
from typer.testing import CliRunner

from reelbench import registry
from reelbench.base.errors import InputError
from tests.program import app
from tests.servers.judge import Answer, JudgeServer
from tests.tasks.test_score_offline import predictions

MINI = "rextime_mini"
HUB = "/home/xyzzy/.cache/huggingface/hub/models--Org--Cached/snapshots/" + "0a" * 20

FILED = {
    # what is served -> what is filed; every path has a user's folder in it
    "gpt-6-luna": "gpt-6-luna",
    "Qwen/Qwen2.5-VL-7B-Instruct": "Qwen/Qwen2.5-VL-7B-Instruct",
    "qwen2.5vl:7b": "qwen2.5vl:7b",
    "hf.co/org/m-GGUF:Q4_K_M": "hf.co/org/m-GGUF:Q4_K_M",
    "lmstudio-community/m@q8_0": "lmstudio-community/m@q8_0",
    "anthropic.claude-9-v1:0": "anthropic.claude-9-v1:0",
    "us.amazon.nova-pro-v1:0": "us.amazon.nova-pro-v1:0",
    "ft:gpt-6-mini:org::A1b2C3": "ft:gpt-6-mini:org::A1b2C3",
    "my deployment": "my deployment",
    "team=blue": "team=blue",
    "m,n": "m,n",
    "m (merged)": "m (merged)",
    "模型-7b": "模型-7b",
    "m+lora": "m+lora",
    "m|chat": "m|chat",
    "q.gguf": "q.gguf",
    "/xyzzy/ft": "ft",
    "/xyzzy/q.gguf": "q.gguf",
    "/xyzzy/m/": "m",
    "/xyzzy/runs/kitchen/checkpoint-300": "kitchen",
    "/xyzzy/runs/garden/step_2000": "garden",
    "/xyzzy/runs/cellar/epoch-3": "cellar",
    "/xyzzy/runs/attic/final": "attic",
    "/xyzzy/runs/porch/best": "porch",
    "/xyzzy/runs/hall/merged": "hall",
    "/xyzzy/yard/output": "yard",
    "/xyzzy/shed/0123456789abcdef": "shed",
    "/home/xyzzy/barn": "barn",
    "/Users/xyzzy/loft": "loft",
    "~/xyzzy/q": "q",
    "./xyzzy/x": "x",
    "../xyzzy/y": "y",
    "C:\\xyzzy\\q7": "q7",
    "C:/xyzzy/q8": "q8",
    "\\\\xyzzy\\share\\q9": "q9",
    "s3://xyzzy/m10": "m10",
    "file:///xyzzy/m11": "m11",
    HUB: "Org/Cached",
}
NAMELESS = ["/home/xyzzy", "models/", "/home/xyzzy/final", "/Users/xyzzy/checkpoint-1"]
NAMED = "Kitchen 7B"


def command(*words):
    """Run a command in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def texts_under(*folders):
    for folder in folders:
        for file in folder.rglob("*"):
            if file.is_file():
                yield file, file.read_bytes()


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """One answer to a judged question."""
    path = tmp_path_factory.mktemp("answers") / "answers.json"
    whole = json.loads(predictions(path, registry.specs()["moviecore"]).read_text("utf-8"))
    path.write_text(json.dumps(dict([*whole.items()][:1])), "utf-8")
    return path


def commands_of(model, answers, url):
    """The commands that take a served name, each without the name that results have for it."""
    shape = (MINI, "--frames", "none", "--limit", 1, "--no-overlap")
    judging = ("--predictions", answers, "--split", "mini", "--no-overlap", "--model", "m")
    words: dict[str, tuple[object, ...]] = {
        "eval": ("eval", *shape, f"--model={model}", "--base-url", url)
    }
    if "," not in model:  # in these a comma parts several
        words["ask"] = ("ask", *shape, f"--llm={model}", "--llm-url", url)
        words["judge"] = ("score", "moviecore", *judging, f"--judge={model}", "--judge-url", url)
    return words


def faults_of(server, words, model, folder, store):
    """What is wrong with one command and the result that it files."""
    name, filed = words[0], FILED.get(model, NAMED)
    option = "--judge-name" if name == "score" else "--name"
    if model in NAMELESS:
        before = len(server.calls)
        refused = command(*words, "--output", folder)
        if not isinstance(refused.exception, InputError) or option not in str(refused.exception):
            yield f"no name is asked for: {refused.exception!r}"
        if len(server.calls) > before:
            yield "a call was made before the name was asked for"
        words = (*words, option, NAMED)
    done = command(*words, "--output", folder)
    if done.exit_code != 0:
        yield f"ended with {done.exception!r}"
        return
    if server.calls[-1].body["model"] != model:
        yield f"asked as {server.calls[-1].body['model']!r}"
    [written] = folder.rglob("result.json")
    result = json.loads(written.read_text("utf-8"))
    named = result["judge"]["requested"] if name == "score" else result["model"]["id"]
    if named != filed:
        yield f"filed as {named!r}"
    if name != "ask":  # the answers of `ask` are those of `eval`
        added = command("leaderboard", "add", written.parent, "--store", store)
        if added.exit_code != 0:
            yield f"not added: {added.exception!r}"


@pytest.mark.slow
@pytest.mark.usefixtures("reelbench_home")
def test_forty_forms_of_names_through_all_commands(answers, tmp_path):
    def script(call):
        return Answer('{"score": 1, "span": [0, 5], "answer": "A"}', model=call.body["model"])

    store = tmp_path / "store"
    faults = []
    models = [*FILED, *NAMELESS]
    assert len(models) >= 40
    with JudgeServer(script) as server:
        for place, model in enumerate(models):
            server.list_models({"id": model, "owned_by": "vllm", "root": "/xyzzy/root"})
            for name, words in commands_of(model, answers, server.url).items():
                folder = tmp_path / f"{place} {name}"
                for fault in faults_of(server, words, model, folder, store):
                    faults.append((model, name, fault))
    assert faults == []
    listed = command("leaderboard", "list", "--store", store, "--json")
    built = command("leaderboard", "build", "--store", store, "--out", tmp_path / "board")
    assert (listed.exit_code, built.exit_code) == (0, 0), (listed.exception, built.exception)
    filed = [tmp_path / "board", store, *tmp_path.glob("* eval"), *tmp_path.glob("* judge")]
    for file, content in texts_under(*filed):  # names stand whole in the cache alone
        assert b"xyzzy" not in content, file
    keys = [row["key"] for row in json.loads(listed.stdout)["results"]]
    removed = command("leaderboard", "remove", *keys, "--store", store)
    assert removed.exit_code == 0, removed.exception
    left = command("leaderboard", "list", "--store", store, "--json")
    assert json.loads(left.stdout)["results"] == []
