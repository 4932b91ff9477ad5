"""What is taken for a key, and where none may stand: names in all their forms, words that people say, files."""

import json
from base64 import b64encode, urlsafe_b64encode

import pytest

from reelbench.base import files
from reelbench.base.credentials import is_secret, without_secrets
from reelbench.base.errors import InputError
from reelbench.llm.ask_options import AskOptions
from reelbench.registry.records import Item
from reelbench.tasks import about
from reelbench.tasks.score import Options, RunMetadata
from tests.servers.judge import Answer, JudgeServer

KEY = "Zq7wXr2mKp9tLv4n"
SECRETS = (
    "api_key",
    "apiKey",
    "API-KEY",
    "x-api-key",
    "api_keys",
    "token_value",
    "HF_TOKEN",
    "HF_TOKEN_READ",
    "HFToken",
    "HUGGING_FACE_HUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "OPENAI_KEY",
    "KAGGLE_KEY",
    "PGPASSWORD",
    "MYSQL_PWD",
    "dbPassword",
    "Authorization",
    "proxy-authorization",
    "client_secret_2",
    "secret_key_base",
    "tokens",
    "credentials",
    "GITHUB_TOKEN_OLD",
    "key",
    "OPENAI_API_KEY_PROD",
    "private key",
)
NAMES = (
    "max_tokens",
    "tokenizer",
    "stop_token_ids",
    "key_frames",
    "monkey",
    "compass",
    "author",
    "num_key_value_heads",
    "keyboard",
    "passage",
    "secretary",
    "TOKENIZERS_PARALLELISM",
    "frames",
)


@pytest.mark.parametrize("name", SECRETS)
def test_a_name_of_a_secret_in_all_its_forms(name, monkeypatch):
    assert is_secret(name, KEY)
    assert KEY not in json.dumps(without_secrets({"a": [{name: [KEY]}], "seed": 3}))
    with pytest.raises(InputError, match="--llm-extra: looks like a key"):
        AskOptions(model="m", url="http://h/v1", extra={"a": {name: KEY}})
    monkeypatch.setenv(name, KEY)
    assert KEY not in without_secrets(f"401: {KEY} is wrong")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_none(name, monkeypatch):
    plain_values = {name: [1, 2], "a": {name: "uniform"}}
    assert without_secrets(plain_values) == plain_values
    monkeypatch.setenv(name, "uniform-or-not")
    assert without_secrets("uniform-or-not") == "uniform-or-not"


@pytest.mark.parametrize(
    "value",
    [
        f"Token {KEY}",
        f"Bearer {KEY}",
        f"sk-{KEY}xxxx",
        f"gsk_{KEY}",
        f"xai-{KEY}",
        f"github_pat_{KEY}",
        f"nvapi-{KEY}",
    ],
)
def test_a_value_that_is_made_like_a_key(value):
    assert KEY not in without_secrets(value)
    assert KEY not in json.dumps(without_secrets({"x": value}))


@pytest.mark.parametrize(
    "holder",
    [
        [["X-Api-Key", KEY]],
        ["--api-key", KEY],
        [{"name": "Authorization", "value": f"Bearer {KEY}"}],
        [{"key": "Authorization", "value": KEY}],
        f"run --api-key {KEY}",
        f"curl -H 'X-Api-Key: {KEY}'",
        json.dumps({"a": json.dumps({"api_key": KEY})}),
    ],
    ids=str,
)
def test_what_stands_beside_a_secret_s_name(holder):
    assert KEY not in json.dumps(without_secrets({"held": holder}))


def test_words_beside_other_words_stay():
    plain_values = {
        "choices": ["pass", "fail"],
        "sort": {"by": "key", "order": "ascending"},
        "a": "- key points -token 1",
    }
    assert without_secrets(plain_values) == plain_values | {"a": "- key points -token ***"}


@pytest.mark.parametrize(
    ("name", "value"), [("MY_KEY", "/etc/hosts"), ("A_TOKEN", "16384000"), ("PWD", "/usr/lib")]
)
def test_a_path_or_a_number_in_the_environment_is_no_key(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    assert without_secrets(f"in {value}") == f"in {value}"


PARTED = " ".join(KEY)


@pytest.mark.parametrize(
    "words", [KEY, KEY.upper(), KEY.lower(), PARTED, f"my {KEY}.", "sk-" + "a1" * 12]
)
def test_words_that_go_on_record_hold_no_key(words, monkeypatch):
    monkeypatch.setenv("OPENAI_KEY", KEY)
    for make in (
        lambda: Options(label=words),
        lambda: RunMetadata(label=words),
        lambda: RunMetadata(url=words),
        lambda: AskOptions(model=words, url="http://h/v1"),
        lambda: about.parse({"organisation": words}, "a.yaml"),
        lambda: about.parse({"links": {words: "https://h/x"}}, "a.yaml"),
        lambda: about.parse({"trained_on": [words]}, "a.yaml"),
    ):
        with pytest.raises(InputError, match="a key, or an address with a user"):
            make()


@pytest.mark.parametrize(
    "words",
    ["web search", "token: none", "sk-learn-something-else", "key frames", "https://h/x?v=1"],
)
def test_other_words_stay(words):
    assert (Options(label=words).label, RunMetadata(url=words).url) == (words, words)


def test_what_is_written_holds_no_key_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    rows = [{"prediction": f"it is {KEY.upper()}", "n": 1}, {"prediction": f"parted: {PARTED}"}]
    files.write_jsonl(tmp_path / "a.jsonl", rows)
    files.write_json(tmp_path / "a.json", rows)
    for file in tmp_path.iterdir():
        assert "".join(file.read_text().split()).lower().count(KEY.lower()) == 0
    assert json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0]) == {
        "prediction": "it is ***",
        "n": 1,
    }


LONG_KEY = 'sk-Live-"7\\hQ2mXv9pLw4Zt8RkB3nYc6J'
TRACES = {
    "whole": LONG_KEY,
    "in capitals": LONG_KEY.upper(),
    "parted by line breaks": "\n".join(LONG_KEY),
    "parted by a rare blank": "\x1f".join(LONG_KEY),
    "parted by dashes": "-".join(LONG_KEY),
    "parted by invisible signs": "\u200b".join(LONG_KEY),
    "without its edges": LONG_KEY[2:-2],
    "its first half": LONG_KEY[:20],
    "its last half": LONG_KEY[-16:],
    "backwards": LONG_KEY[::-1],
    "in hexadecimal digits": LONG_KEY.encode().hex(),
    "in hexadecimal digits, parted": LONG_KEY.encode().hex(":").upper(),
    "percent-encoded": "".join(f"%{byte:02X}" for byte in LONG_KEY.encode()),
    "encoded": b64encode(LONG_KEY.encode()).decode(),
    "encoded behind a user": b64encode(f"ada:{LONG_KEY}".encode()).decode(),
    "encoded behind another": b64encode(f"ad:{LONG_KEY}".encode()).decode(),
    "encoded for an address": urlsafe_b64encode(f"a:{LONG_KEY}\n".encode()).decode(),
}


@pytest.mark.parametrize("said", TRACES.values(), ids=TRACES)
def test_no_trace_of_a_long_key_is_written_in_an_answer_or_a_document(said, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", LONG_KEY)
    words = f"it is {said} or so"
    files.write_jsonl(tmp_path / "a.jsonl", [{"prediction": {"deep": [words]}}])
    files.write_json(tmp_path / "a.json", {"label": words})
    [row] = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    document = json.loads((tmp_path / "a.json").read_text())
    for text in (row["prediction"]["deep"][0], document["label"], without_secrets(words)):
        assert text.startswith("it is ")
        assert "***" in text
        assert text.endswith(" or so")
        assert len(text) < len("it is  or so") + 12


@pytest.mark.parametrize("said", [LONG_KEY[:14], "A sk-live", "prediction"])
def test_what_is_no_trace_of_a_key_stays(said, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", LONG_KEY)
    assert without_secrets(said) == said


def test_a_password_that_is_a_word_goes_from_settings_and_not_from_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("POSTGRES_PASSWORD", "swordfish")
    files.write_jsonl(tmp_path / "a.jsonl", [{"prediction": "a swordfish"}])
    files.write_json(tmp_path / "a.json", {"label": "a Sword Fish", "swordfish": 1})
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"prediction": "a swordfish"}
    assert json.loads((tmp_path / "a.json").read_text()) == {"label": "a ***", "swordfish": 1}


def test_a_dummy_of_a_server_without_keys_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    files.write_json(tmp_path / "a.json", {"label": "EMPTY"})
    assert json.loads((tmp_path / "a.json").read_text()) == {"label": "EMPTY"}


WORDS_OF_A_RESULT = (
    "prediction",
    "unscored",
    "benchmark",
    "accuracy",
    "accuracy_at_iou_0.5",
    "recall_at_0.3",
    "correct_at_iou_0.5",
    "samples_sha256",
    "declaration",
    "breakdowns",
    "parse_failed",
    "percentile",
    "Accuracy",
)


@pytest.mark.parametrize("word", WORDS_OF_A_RESULT)
def test_a_password_that_is_a_word_of_ours_changes_no_result(word, tmp_path, monkeypatch):
    """Where `POSTGRES_PASSWORD` was `prediction`, every sample had `"***": "A"`."""
    item = Item(id="a", video="v", target={"text": "jar"}, prediction={word: "jar"})
    assert item.prediction == {word: "jar"}
    sample = item.sample(None, {"correct": 1.0}).model_dump(mode="json")
    document = {
        "benchmark": {"declaration": {"metrics": [{"name": "accuracy", "title": "Accuracy"}]}},
        "metrics": {word: 1.0},
        "statistics": {"interval": "percentile"},
        "state": "unscored",
    }
    monkeypatch.setenv("POSTGRES_PASSWORD", word)
    files.write_jsonl(tmp_path / "a.jsonl", [sample])
    files.write_json(tmp_path / "a.json", document)
    assert json.loads((tmp_path / "a.jsonl").read_text()) == sample
    assert json.loads((tmp_path / "a.json").read_text()) == document


def test_a_column_of_a_prediction_that_is_named_like_a_key_is_not_kept():
    cases = {
        "qid": 1,
        "ans": "A",
        "api_key": "x",
        "text": "the password: swordfish",
        "meta": {"auth_token": KEY},
    }
    item = Item(id="a", video="v", target={"text": ""}, prediction=cases)
    assert item.prediction == {"qid": 1, "ans": "A", "text": "the password: swordfish", "meta": {}}
    assert (
        Item(id="a", video="v", target={"text": ""}, prediction="password: x").prediction
        == "password: x"
    )


def test_a_label_of_the_home_s_file_holds_no_key(reelbench, tmp_path):
    (tmp_path / "config" / "reelbench").mkdir(parents=True)
    (tmp_path / "config" / "reelbench" / "reelbench.toml").write_text(f'[ask]\nlabel = "{KEY}"\n')
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "OPENAI_KEY": KEY}
    with JudgeServer(lambda _: Answer("A")) as server:
        command = [
            "ask",
            "rextime_mini",
            "--llm",
            "m",
            "--llm-url",
            server.url,
            "--frames",
            "none",
            "--limit",
            "2",
        ]
        done = reelbench(*command, "--output", tmp_path / "out", env=env)
    assert (done.returncode, KEY in done.stdout + done.stderr, server.calls) == (2, False, [])
    assert "--label: a key" in done.stderr
