"""`reelbench cards` as a user calls it."""

import pytest
import yaml

from reelbench.registry import discovery
from tests.servers.hub import HubServer, Token


@pytest.fixture
def hub(tmp_path):
    with HubServer() as server:
        server.tokens["hf_museum"] = Token("curator", orgs=("museum",))
        server.environment = {
            **server.env(tmp_path / "hf"),
            "HF_HUB_OFFLINE": "0",
            "HF_TOKEN": "hf_museum",
        }
        yield server


def test_render_says_where_the_card_is_and_what_is_not_counted(reelbench, tmp_path):
    done = reelbench(
        "cards", "render", "moviecore", "--out", tmp_path / "card", "--repo", "museum/films"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'card' / 'README.md'}\n"
    assert (
        "Not counted, because the data is not on this machine: train, test; `reelbench data fetch moviecore`"
        in done.stderr
    )
    assert {path.name for path in (tmp_path / "card").iterdir()} == {"README.md", "eval.yaml"}
    text = (tmp_path / "card" / "README.md").read_text(encoding="utf-8")
    assert 'load_dataset("museum/films", split="test")' in text
    assert yaml.safe_load(text.split("---\n")[1])["license"] == "mit"


def test_render_counts_data_and_keeps_text_that_is_there(reelbench, tmp_path):
    (tmp_path / "README.md").write_text(
        "---\nlicense: mit\n---\n# Ours\n\nKept.\n", encoding="utf-8"
    )
    tags = discovery.get("dramaqa_cogme").folder / "mini" / "cogme_tags.jsonl"
    done = reelbench(
        "cards", "render", "dramaqa_cogme", "--out", tmp_path, "--data", tags.parent, "--tags", tags
    )
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "# Ours\n\nKept.\n" in text
    assert "### Thinking" in text
    assert "license is 'mit' and was kept; Reelbench's spec has 'other'" in done.stderr
    assert (tmp_path / "plots" / "thinking.svg").is_file()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("render", "moviecor", "--out", "."),
            "unknown benchmark 'moviecor'; did you mean 'moviecore'?",
        ),
        (
            ("render", "moviecore", "--out", ".", "--data", "nowhere"),
            "nowhere (from --data): no such file or folder",
        ),
        (
            ("push", "dramaqa_cogme", "--repo", "a/b", "--with-data"),
            "under an agreement that forbids passing it on",
        ),
        (("push", "moviecore", "--repo", "a/b"), "HF_HUB_OFFLINE is set"),
    ],
)
def test_errors_are_one_line(reelbench, tmp_path, arguments, told):
    done = reelbench("cards", *arguments, cwd=tmp_path)
    assert done.returncode == (1 if "OFFLINE" in told else 2)
    [line] = done.stderr.splitlines()
    assert told in line
    assert list(tmp_path.iterdir()) == [], "nothing was written"


def test_push_shows_the_difference_commits_once_and_tells_where(reelbench, hub):
    data = discovery.get("rextime").folder / "mini"
    arguments = ("cards", "push", "rextime", "--repo", "museum/spans", "--data", data)
    dry = reelbench(*arguments, "--dry-run", env=hub.environment)
    assert dry.returncode == 0, dry.stderr
    # The mini rows are not the owners' val split.
    assert "+pretty_name: Own rows in the format of ReXTime" in dry.stdout
    assert "Dry run, nothing was changed" in dry.stderr
    assert hub.repos == {}

    first = reelbench(*arguments, "--with-data", env=hub.environment)
    assert first.returncode == 0, first.stderr
    assert "new data/val.parquet" in first.stdout
    assert f"Committed: {hub.url}/datasets/museum/spans/commit/" in first.stderr

    second = reelbench(*arguments, env=hub.environment)
    assert second.returncode == 0, second.stderr
    assert second.stdout == ""
    assert "Nothing to change" in second.stderr
    assert len(hub.asked("POST .*/commit/.*")) == 1


def test_push_with_a_bad_token_is_one_line(reelbench, hub):
    hub.add("museum/films")
    done = reelbench(
        "cards",
        "push",
        "rextime",
        "--repo",
        "museum/films",
        env={**hub.environment, "HF_TOKEN": "hf_x"},
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    refused = "the Hub refused the token; check HF_TOKEN, or run `hf auth login`"
    assert line == f"reelbench: {hub.url}/datasets/museum/films: {refused}"
