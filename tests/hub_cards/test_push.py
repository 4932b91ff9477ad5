"""Pushing to a server that speaks the Hub's protocol to its real client."""

import io
import json
import os
import subprocess
import sys
from dataclasses import replace

import pyarrow.parquet
import pytest
import yaml

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.data.redistribution import why_withheld
from reelbench.hub_cards.push import TITLE, PushOptions, push
from reelbench.registry import discovery
from reelbench.registry import rows as rows_module
from tests.hub_cards.rendering import NAMES, with_mini_as_owners
from tests.servers.hub import skip_unless_cards_are_validated_here

REPO = "museum/films"
HUMAN = """---
# chosen by the museum
license: apache-2.0
tags:
- ours   # keep
annotations_creators: [found]
---
# Films of the museum

Our own words.

| a | b |
|---|---|
| 1 | 2 |
"""


class Told:
    """What the user was shown."""

    def __init__(self):
        self.shown = []
        self.notes = []


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def pushed(told):
    """Push a card with the mini files as the owners' data."""

    def run(name="moviecore", repo=REPO, *, data=True, **options):
        spec, mini = with_mini_as_owners(discovery.get(name))
        folder = mini if data is True else data
        return push(
            spec,
            repo,
            PushOptions(**options),
            data=folder,
            show=told.shown.append,
            note=told.notes.append,
        )

    return run


def readme(repo, revision="main"):
    return repo.files(revision)["README.md"].decode()


def metadata(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_a_repository_is_made_with_the_card_and_a_second_push_commits_nothing(hub, pushed, told):
    assert pushed().done == "committed"
    repo = hub.repo(REPO)
    assert set(repo.files()) >= {"README.md", "plots/classification.svg"}
    assert "eval.yaml" not in repo.files(), (
        "only on request: the Hub refuses frameworks that it doesn't list"
    )
    assert f'load_dataset("{REPO}"' not in readme(repo), "there are no rows to load"
    assert "configs" not in metadata(readme(repo))
    assert "+# MovieCORE" in told.shown[0]
    assert "new plots/classification.svg" in told.shown[0]

    commits = len(repo.history())
    assert pushed().done == "unchanged"
    assert len(repo.history()) == commits
    assert hub.asked("POST /api/datasets/museum/films/commit/.*")[1:] == []


def test_the_difference_is_shown_before_the_commit(hub, told):
    asked = []
    repo = hub.add(REPO, {"README.md": HUMAN})

    def show(text):
        asked.append((text, len(hub.asked("POST .*/commit/.*")), repo.head))

    before = repo.head
    push(discovery.get("rextime"), REPO, PushOptions(), show=show, note=told.notes.append)
    [(text, commits, head)] = asked
    assert (commits, head) == (0, before)
    assert "+++ b/README.md" in text
    assert repo.head != before


def test_a_dry_run_changes_nothing_and_needs_no_token(hub, pushed, told, monkeypatch):
    repo = hub.add(REPO, {"README.md": HUMAN})
    monkeypatch.delenv("HF_TOKEN")
    before = repo.head
    assert pushed(dry_run=True).done == "shown"
    assert repo.head == before
    assert "+## Scoring" in told.shown[0]
    assert not hub.asked("POST .*/(commit|preupload|create).*")


def test_people_s_text_and_metadata_stay(hub, pushed, told):
    repo = hub.add(REPO, {"README.md": HUMAN, "films.csv": "a,b\n"})
    pushed()
    text = readme(repo)
    assert HUMAN.split("---\n", 2)[2].strip() in text
    assert "# chosen by the museum\nlicense: apache-2.0\ntags:\n" in text
    found = metadata(text)
    assert found["license"] == "apache-2.0"
    assert found["tags"][0] == "ours"
    assert "reelbench" in found["tags"]
    assert found["annotations_creators"] == ["found", "machine-generated"]
    assert any("license is 'apache-2.0' and was kept" in note for note in told.notes)
    assert repo.files()["films.csv"] == b"a,b\n"

    edited = text.replace("Our own words.", "Our own words, revised.")
    edited = edited.replace("## Limitations\n", "## Limitations\n\n- We add one.\n")
    repo.commit({"README.md": edited}, "edit by hand")
    assert pushed().done == "unchanged"
    assert readme(repo) == edited
    assert any("'limitations' was edited by hand and was kept" in note for note in told.notes)


def test_where_the_user_is_not_the_owner_a_pull_request_is_offered_once(hub, pushed, monkeypatch):
    repo = hub.add(REPO, {"README.md": HUMAN})
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    before = repo.head
    first = pushed()
    assert first.done == "pull request"
    assert first.url.endswith("/discussions/1")
    assert repo.head == before
    assert "## Scoring" in readme(repo, "refs/pr/1")
    assert [pr.title for pr in repo.pull_requests] == [TITLE]

    assert pushed().done == "unchanged", "the open request is compared with, not main"
    with pytest.raises(InputError, match=r"README.md: is the card of moviecore"):
        pushed("rextime")
    assert pushed(eval_yaml=True).done == "committed", "the open request is brought up to date"
    assert "eval.yaml" not in repo.files(), "still only in the request"
    assert "eval.yaml" in repo.files("refs/pr/1")
    assert len(repo.pull_requests) == 1

    repo.merge(repo.pull_requests[0])
    assert pushed(eval_yaml=True).done == "unchanged"


def test_an_owner_can_ask_for_a_pull_request(hub, pushed):
    repo = hub.add(REPO, {"README.md": HUMAN})
    assert pushed(create_pr=True).done == "pull request"
    assert "Scoring" not in readme(repo)


def test_a_commit_in_between_is_not_overwritten(hub, told):
    repo = hub.add(REPO, {"README.md": HUMAN})

    def show(text):
        told.shown.append(text)
        if len(told.shown) == 1:
            repo.commit({"README.md": HUMAN + "\nA last thought.\n"}, "in between")

    def run():
        return push(
            discovery.get("rextime"), REPO, PushOptions(), show=show, note=told.notes.append
        )

    with pytest.raises(
        ReelbenchError, match="somebody committed while this ran; nothing was committed"
    ) as failure:
        run()
    assert failure.value.exit_code == 1
    assert readme(repo).endswith("A last thought.\n")
    assert "Scoring" not in readme(repo)
    run()
    assert "A last thought." in readme(repo)
    assert "## Scoring" in readme(repo)


def test_without_the_right_to_write_the_error_names_the_pull_request(hub, pushed, monkeypatch):
    repo = hub.add(REPO, {"README.md": HUMAN})
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    with pytest.raises(
        ReelbenchError, match="may not write there; offer a pull request with --create-pr"
    ):
        pushed(create_pr=False)
    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    with pytest.raises(ReelbenchError, match="may not write there"):
        pushed()
    assert readme(repo) == HUMAN


def test_a_bad_token_and_none_are_told(hub, pushed, monkeypatch):
    repo = hub.add(REPO, {"README.md": HUMAN})
    monkeypatch.setenv("HF_TOKEN", "hf_expired")
    with pytest.raises(ReelbenchError, match="the Hub refused the token; check HF_TOKEN"):
        pushed()
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(InputError, match="set HF_TOKEN or run `hf auth login`"):
        pushed()
    assert readme(repo) == HUMAN


@pytest.mark.usefixtures("hub")
def test_a_repository_that_is_not_there_and_not_ours_to_make(pushed):
    with pytest.raises(
        InputError, match=r"no such dataset, or it is private; curator can't create one there, only"
    ):
        pushed(repo="cinema/films")
    with pytest.raises(InputError, match="expected ORG/NAME"):
        pushed(repo="films")
    with pytest.raises(InputError, match="expected ORG/NAME"):
        pushed(repo="a/b/c")


def test_rows_go_along_as_parquet_in_the_normalised_schema(hub, pushed):
    pushed("rextime", with_data=True)
    repo = hub.repo(REPO)
    assert repo.commits[repo.head].files["data/val.parquet"].lfs
    table = pyarrow.parquet.read_table(io.BytesIO(repo.files()["data/val.parquet"]))
    assert {"id", "video", "question", "options", "answer", "span", "duration", "category"} <= set(
        table.column_names
    )
    assert str(table.schema.field("span").type) == "list<element: double>"
    hidden = pyarrow.parquet.read_table(io.BytesIO(repo.files()["data/test.parquet"]))
    assert set(hidden["answer"].to_pylist()) == {""}
    assert metadata(readme(repo))["configs"] == [
        {
            "config_name": "default",
            "data_files": [
                {"split": "val", "path": "data/val.parquet"},
                {"split": "test", "path": "data/test.parquet"},
            ],
        }
    ]
    assert pushed("rextime", with_data=True).done == "unchanged"
    assert pushed("rextime").done == "unchanged", "the rows that are there are still declared"


def test_rows_beside_a_configuration_of_the_owners_get_a_name_of_their_own(hub, pushed):
    configs = "configs:\n- config_name: default\n  data_files: films.csv\n"
    repo = hub.add(REPO, {"README.md": f"---\n{configs}---\n# Films\n", "films.csv": "a,b\n"})
    pushed("rextime", with_data=True)
    found = metadata(readme(repo))["configs"]
    assert found[0] == {"config_name": "default", "data_files": "films.csv"}
    assert found[1]["config_name"] == "reelbench"
    assert f'load_dataset("{REPO}", "reelbench", split="val")' in readme(repo)
    assert pushed("rextime", with_data=True).done == "unchanged"


def test_the_owners_data_file_of_the_same_name_is_not_overwritten(hub, pushed):
    repo = hub.add(REPO, {"README.md": "# Films\n", "data/val.parquet": b"theirs"})
    with pytest.raises(
        InputError, match=r"already has data/val.parquet, which is not from Reelbench"
    ):
        pushed("rextime", with_data=True)
    assert repo.files()["data/val.parquet"] == b"theirs"
    pushed("rextime")
    assert "configs" not in metadata(readme(repo)), "their file is not declared as ours"


def test_dramaqa_s_rows_are_refused_before_anything_is_asked(hub, pushed):
    with pytest.raises(
        InputError, match=r"under an agreement that forbids passing it on"
    ) as failure:
        pushed("dramaqa_cogme", with_data=True)
    assert "https://dramaqa.github.io/Download" in str(failure.value)
    assert failure.value.exit_code == 2
    assert hub.requests == []
    pushed("dramaqa_cogme")
    assert not [
        path for path in hub.repo(REPO).files() if path.endswith((".parquet", ".json", ".jsonl"))
    ]


def test_rows_without_a_licence_that_lets_them_be_passed_on_are_refused(hub, told):
    spec = replace(discovery.get("rextime"), license="unknown")
    with pytest.raises(
        InputError, match="the licence 'unknown', which doesn't say that its data may be passed on"
    ):
        push(
            spec, REPO, PushOptions(with_data=True), show=told.shown.append, note=told.notes.append
        )
    assert hub.requests == []


def test_an_interrupted_upload_commits_nothing_and_the_next_push_does(hub, pushed, monkeypatch):
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    repo = hub.add(REPO, {"README.md": HUMAN})
    hub.cdn.fail("PUT /upload/.*", times=None, hang_up=True)
    before = repo.head
    with pytest.raises(ReelbenchError, match="nothing was committed, run it again"):
        pushed("rextime", with_data=True)
    assert repo.head == before
    hub.cdn.mend()
    assert pushed("rextime", with_data=True).done == "committed"
    assert "data/val.parquet" in repo.files()


def test_eval_yaml_goes_along_on_request(hub, pushed):
    pushed(eval_yaml=True)
    found = yaml.safe_load(hub.repo(REPO).files()["eval.yaml"])
    assert found["evaluation_framework"] == "reelbench"
    assert found["tasks"] == [{"id": "moviecore", "config": "default", "split": "test"}]


def test_the_framework_is_an_option(hub, pushed):
    pushed(eval_yaml=True, framework="lmms-eval")
    assert (
        yaml.safe_load(hub.repo(REPO).files()["eval.yaml"])["evaluation_framework"] == "lmms-eval"
    )


def test_a_card_that_the_hub_refuses_is_told(hub, pushed):
    hub.add(REPO, {"README.md": "---\nlicense: my-own\n---\n"})
    with pytest.raises(ReelbenchError, match=r"the Hub refused what was sent: .*license"):
        pushed()


LOADED = """
import json, sys
from datasets import load_dataset
from datasets.info import DatasetInfosDict
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

told = {}
for repo in sys.argv[1:]:
    card = DatasetCard.load(repo)
    card.validate(repo_type="dataset")
    configs = MetadataConfigs.from_dataset_card_data(card.data)
    DatasetInfosDict.from_dataset_card_data(card.data)
    told[repo] = {"configs": list(configs), "again": DatasetCard(str(card)).data.to_dict() == card.data.to_dict()}
    try:
        found = load_dataset(repo)
        told[repo] |= {split: [len(rows), rows.column_names, str(rows.features)] for split, rows in found.items()}
    except Exception as error:
        told[repo]["error"] = f"{type(error).__name__}: {error}"
print(json.dumps(told))
"""


@pytest.mark.slow
def test_nine_cards_pass_the_clients_own_validators_and_load(hub, pushed, reelbench, tmp_path):
    """Eight of ours and one of a folder, through huggingface_hub's and datasets' own readers of cards."""
    skip_unless_cards_are_validated_here()
    for name in NAMES:
        pushed(
            name,
            f"museum/{name}",
            with_data=why_withheld(discovery.get(name)) is None,
            eval_yaml=True,
        )
    rows = [{"qid": n, "clip": f"{n}.mp4", "q": f"What is {n}?", "gold": str(n)} for n in range(5)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "benchmark.yaml").write_text(
        "id: kitchen\ntitle: Kitchen\nkind: exact\nsource: {file: rows.jsonl}\nlicence: cc-by-4.0\n"
        "columns: {id: qid, video: clip, question: q, answer: gold}\n"
    )
    own = ("cards", "push", tmp_path, "--repo", "museum/kitchen", "--with-data", "--eval-yaml")
    assert reelbench(*own).returncode == 0
    environment = {
        key: value for key, value in os.environ.items() if key not in {"HF_HUB_OFFLINE", "HF_TOKEN"}
    }
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *(f"museum/{name}" for name in (*NAMES, "kitchen"))],
        env={
            **environment,
            **hub.env(tmp_path / "other"),
            "HF_DATASETS_CACHE": str(tmp_path / "datasets"),
        },
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(hub.asked("POST /api/validate-yaml")) >= 2 * (len(NAMES) + 1)
    told = json.loads(done.stdout)
    assert {found["again"] for found in told.values()} == {True}
    withheld = {repo for repo, found in told.items() if "error" in found}
    assert withheld == {f"museum/{name}" for name in NAMES if why_withheld(discovery.get(name))}
    for repo in withheld:  # a card alone: nothing to load, and the card says why
        assert told[repo]["error"].startswith("DataFilesNotFoundError")
        assert told[repo]["configs"] == []
        assert "This repository has the card only" in readme(hub.repo(repo))
    for name in (*NAMES, "kitchen"):
        if (repo := f"museum/{name}") not in withheld:
            [declared] = metadata(readme(hub.repo(repo)))["configs"]
            assert {file["split"] for file in declared["data_files"]} == told[repo].keys() - {
                "configs",
                "again",
            }
            split = declared["data_files"][0]["split"]
            number, columns, features = told[repo][split]
            assert number == {"kitchen": 5, "video_holmes": 30}.get(name, 12)
            assert {"id", "video", "question", "language", "split"} <= set(columns)
            assert name == "kitchen" or features == str(rows_module.features(discovery.get(name)))


def test_the_command_offers_a_request_where_the_user_is_not_the_owner(hub, reelbench, tmp_path):
    repo = hub.add(REPO, {"README.md": HUMAN})
    before = repo.head
    done = reelbench(
        *("cards", "push", "moviecore", "--repo", REPO),
        env=hub.env(tmp_path / "hf") | {"HF_TOKEN": "hf_visitor"},
    )
    assert (done.returncode, repo.head, len(repo.pull_requests)) == (0, before, 1), done.stderr
    assert "Pull request: " in done.stderr


def test_a_card_in_a_clone_names_only_rows_that_lie_there(reelbench, tmp_path):
    """A repository of one file without `configs` loaded five rows; the rendered card made it load none."""
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "test.jsonl").write_text('{"a": 1}\n' * 5)
    assert (
        reelbench("cards", "render", "curve", "--out", clone, "--repo", "plain/curve").returncode
        == 0
    )
    assert "data/test.parquet" not in (clone / "README.md").read_text()
    from datasets import load_dataset

    assert load_dataset(str(clone), cache_dir=str(tmp_path / "cache"))["test"].num_rows == 5
