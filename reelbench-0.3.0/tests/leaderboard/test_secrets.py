"""Keys and passwords in forty places: none is in a file, a stream or a request body afterwards."""

import json

import pytest

from tests.leaderboard.packed import unpacked
from tests.servers.judge import Answer, JudgeServer

NESTED = {
    "key": '{"api_key": "SECRET"}',
    "header": '{"extra_headers": {"Authorization": "Bearer SECRET"}}',
    "deep": '{"a": {"b": [{"c": {"clientSecret": "SECRET"}}]}}',
    "by its form": '{"metadata": {"x": "sk-SECRET"}}',
    "user": '{"proxy": "http://me:SECRET@proxy:80"}',
    "query": '{"proxy": "http://proxy:80/?x=SECRET"}',
    "fragment": '{"proxy": "http://proxy:80/#SECRET"}',
    "password": '{"db": [{"password": "SECRET"}]}',
    "humps": '{"metadata": {"dbPassword": "SECRET"}}',
    "an id": '{"aws": {"accessKeyId": "SECRET"}}',
    "list": '{"tokens_of": {"token": ["SECRET"]}}',
    "plural": '{"api_keys": ["SECRET"]}',
    "a word more": '{"token_value": "SECRET"}',
    "a scheme": '{"metadata": {"x": "Token SECRET"}}',
}
URLS = {
    "password": "http://me:SECRET@{}/v1",
    "user": "http://SECRET@{}/v1",
    "query": "http://{}/v1?k=SECRET",
}
VALUES = ("label", "organisation", "url", "model")
SAID = ("OPENAI_KEY", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN_READ")
KEYS = (
    "REELBENCH_JUDGE_API_KEY",
    "REELBENCH_LLM_API_KEY",
    "OPENAI_API_KEY",
    "HF_TOKEN",
    "WEBHOOK_SECRET",
)
ADDRESSES = {
    "HF_ENDPOINT": "http://me:SECRET@127.0.0.1:9",
    "HTTPS_PROXY": "http://me:SECRET@127.0.0.1:9",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1?key=SECRET",
    "REELBENCH_LLM_URL": "http://me:SECRET@127.0.0.1:9/v1",
    "REELBENCH_CACHE": "postgresql://me:SECRET@127.0.0.1:9/replies",
}
PLACES = [
    *((option, name) for option in ("--judge-extra", "--llm-extra") for name in NESTED),
    *((option, name) for option in ("--judge-url", "--llm-url") for name in URLS),
    *(("typed", name) for name in VALUES),
    *(("said in capitals", name) for name in SAID),
    *(("an about file", name) for name in SAID),
    *(("key", name) for name in KEYS),
    *(("address", name) for name in ADDRESSES),
    *(("received", name) for name in ("args", "generation", "extra")),
]
SECRET = "Zq7wXr2mKp9tLv4n"  # noqa: S105 - made up
SPAN = '{"span": [0, 5], "answer": "A"}'


def answer(call):
    return Answer(SPAN if "judge" not in call.body["model"] else '{"score": 3}')


@pytest.fixture
def said(reelbench, tmp_path):
    """Run a command -> the process; what was printed is kept for the end."""

    class Said:
        def __init__(self):
            self.streams = []

        def __call__(self, *arguments, env=None):
            done = reelbench(*arguments, env=env, cwd=tmp_path)
            self.streams.append(done.stdout + done.stderr)
            return done

    return Said()


def commands(server, option, name, out):
    """What is typed, and the environment, for a secret in a place."""
    host = server.url.removeprefix("http://").removesuffix("/v1")
    ask = ["ask", "rextime_mini", "--llm", "m", "--frames", "none", "--limit", "2", "--output", out]
    judged = [
        "ask",
        "moviecore_mini",
        "--llm",
        "m",
        "--llm-url",
        server.url,
        "--judge",
        "judge",
        "--frames",
        "none",
    ]
    judged += ["--limit", "1", "--no-overlap", "--output", out]
    if option.startswith("--judge"):
        value = NESTED[name] if option.endswith("extra") else URLS[name].format(host)
        url = [] if option == "--judge-url" else ["--judge-url", server.url]
        return [*judged, *url, option, value], {}
    if option.startswith("--llm"):
        value = NESTED[name] if option.endswith("extra") else URLS[name].format(host)
        return [
            *ask,
            *([] if option == "--llm-url" else ["--llm-url", server.url]),
            option,
            value,
        ], {}
    if option == "typed":
        typed = {
            "url": ["--link", "https://models.example.org/SECRET"],
            "model": ["--about", "revision=SECRET"],
        }
        return [*ask, "--llm-url", server.url, *typed.get(name, [f"--{name}", "SECRET"])], {
            "OPENAI_API_KEY": "SECRET"
        }
    if option in ("said in capitals", "an about file"):
        about = out.parent / "about.yaml"
        about.write_text(f"organisation: {SECRET}\n")
        said = ["--label", SECRET.upper()] if option != "an about file" else ["--about", about]
        return [*ask, "--llm-url", server.url, *said], {name: "SECRET"}
    if option == "key":
        return [*judged, "--judge-url", server.url], {name: "SECRET"}
    own = [] if name in ("OPENAI_BASE_URL", "REELBENCH_LLM_URL") else ["--llm-url", server.url]
    patience = ["--cache-patience", "0"] if name == "REELBENCH_CACHE" else []
    return [*ask, *own, *patience], {name: ADDRESSES[name]}


@pytest.mark.parametrize(("option", "name"), [place for place in PLACES if place[0] != "received"])
def test_a_planted_secret_is_nowhere_afterwards(option, name, said, tmp_path):
    with JudgeServer(answer) as server:
        typed, environ = commands(server, option, name, tmp_path / "out")
        words = [str(word).replace("SECRET", SECRET) for word in typed]
        env = {variable: value.replace("SECRET", SECRET) for variable, value in environ.items()}
        said("--debug", *words, env=env)
        said("settings", "--json", env=env)
        said("doctor", env=env)
        result = next(iter(tmp_path.glob("out/*/result.json")), None)
        if result is not None:
            said("leaderboard", "add", result.parent, "--store", tmp_path / "store", env=env)
            said(
                "leaderboard",
                "build",
                "--store",
                tmp_path / "store",
                "--out",
                tmp_path / "site",
                env=env,
            )
            said("view", result.parent, "--out", tmp_path / "page", env=env)
        bodies = [json.dumps(call.body) for call in server.calls]
    (tmp_path / "about.yaml").unlink(missing_ok=True)  # the user's own
    secret = SECRET.lower()
    assert [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and secret.encode() in bytes_of(path).lower()
    ] == []
    assert [text for text in [*said.streams, *bodies] if secret in text.lower()] == []


def bytes_of(path):
    """Return a file's bytes, and what is packed in it."""
    data = path.read_bytes()
    if path.suffix == ".js":
        data += json.dumps(unpacked(data.decode())).encode()
    return data


@pytest.mark.parametrize("name", ["args", "generation", "extra"])
def test_a_received_result_s_secret_is_filed_and_shown_nowhere(
    name, said, rextime_run, tamper, tmp_path
):
    held = {"api_key": SECRET, "headers": [{"Authorization": f"Bearer {SECRET}"}], "seed": 3}

    def change(result):
        place = {
            "args": result["model"],
            "generation": result["settings"],
            "extra": result["settings"],
        }[name]
        place["generation" if name == "extra" else name] = (
            held if name != "extra" else {"client": held}
        )

    folder = tamper(rextime_run(), result=change)
    store, site = tmp_path / "store", tmp_path / "site"
    assert said("leaderboard", "add", folder, "--store", store).returncode == 0
    assert said("leaderboard", "build", "--store", store, "--out", site).returncode == 0
    said(
        "leaderboard",
        "export",
        store,
        "--format",
        "eee",
        "--out",
        tmp_path / "eee",
        "--organization",
        "museum",
    )
    made = [
        path for top in (store, site, tmp_path / "eee") for path in top.rglob("*") if path.is_file()
    ]
    assert made
    assert [path for path in made if SECRET.encode() in bytes_of(path)] == []
    assert [text for text in said.streams if SECRET in text] == []


def test_there_are_forty_places_at_least():
    assert len(PLACES) >= 40
