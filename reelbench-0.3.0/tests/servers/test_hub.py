"""The local Hub against the real client: what the tests of cards and of the leaderboard will rely on."""

import pytest
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    DatasetCard,
    HfApi,
    WebhookPayload,
)
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError

from tests.servers.hub import HubServer, Token, skip_unless_cards_are_validated_here

CARD = "---\nlicense: mit\n---\n# Data\n"


@pytest.fixture
def server(monkeypatch, tmp_path):
    with HubServer() as server:
        server.use(monkeypatch, tmp_path / "hf")
        server.tokens["hf_reader"] = Token("owner", role="read")
        server.tokens["hf_stranger"] = Token("stranger")
        yield server


def api(server, token="hf_owner"):  # noqa: S107 - a token of the local server
    return HfApi(endpoint=server.url, token=token)


def test_a_repository_is_created_and_committed_to(server):
    hub = api(server)
    hub.create_repo("owner/data", repo_type="dataset")
    first = server.repo("owner/data").head

    info = hub.create_commit(
        "owner/data",
        [
            CommitOperationAdd("README.md", CARD.encode()),
            CommitOperationAdd("a.parquet", b"PAR1" * 9),
        ],
        commit_message="add data",
        repo_type="dataset",
        parent_commit=first,
    )

    repo = server.repo("owner/data")
    assert repo.head == info.oid != first
    assert repo.files()["README.md"] == CARD.encode()
    assert repo.files()["a.parquet"] == b"PAR1" * 9
    assert repo.commits[repo.head].files["a.parquet"].lfs
    assert [
        commit.title for commit in hub.list_repo_commits("owner/data", repo_type="dataset")
    ] == [
        "add data",
        "initial commit",
    ]


def test_a_stale_parent_is_refused(server):
    repo = server.add("owner/data", {"a.txt": "1"})
    stale = repo.head
    repo.commit({"a.txt": "2"})

    with pytest.raises(HfHubHTTPError) as caught:
        api(server).create_commit(
            "owner/data",
            [CommitOperationAdd("a.txt", b"3")],
            commit_message="x",
            repo_type="dataset",
            parent_commit=stale,
        )
    assert caught.value.response.status_code == 412
    assert repo.files()["a.txt"] == b"2"


def test_a_pull_request_leaves_main_alone_until_it_is_merged(server):
    repo = server.add("owner/data", {"a.txt": "1", "b.txt": "2"})

    info = api(server, "hf_stranger").create_commit(
        "owner/data",
        [CommitOperationAdd("a.txt", b"better"), CommitOperationDelete("b.txt")],
        commit_message="improve",
        repo_type="dataset",
        create_pr=True,
    )

    assert (info.pr_num, info.pr_revision) == (1, "refs/pr/1")
    assert repo.files()["a.txt"] == b"1"
    assert repo.files("refs/pr/1")["a.txt"] == b"better"
    (found,) = api(server).get_repo_discussions("owner/data", repo_type="dataset")
    assert (found.title, found.status, found.author) == ("improve", "open", "stranger")
    repo.merge(repo.pull_requests[0])
    assert repo.files()["a.txt"] == b"better"
    assert "b.txt" not in repo.files()


@pytest.mark.parametrize(
    ("token", "status"), [("hf_reader", 403), ("hf_stranger", 403), ("hf_bad", 401)]
)
def test_who_may_not_write_is_refused(server, token, status):
    server.add("owner/data")

    with pytest.raises(HfHubHTTPError) as caught:
        api(server, token).upload_file(
            path_or_fileobj=b"x", path_in_repo="a.txt", repo_id="owner/data", repo_type="dataset"
        )
    assert caught.value.response.status_code == status


def test_tokens_are_known_by_name(server):
    assert api(server).whoami()["name"] == "owner"
    with pytest.raises(HfHubHTTPError, match="Invalid user token"):
        api(server, "hf_bad").whoami()


def test_a_tree_comes_in_pages(server):
    server.add("owner/data", {f"folder/{number}.txt": "x" for number in range(7)})
    server.page_size = 3

    found = api(server).list_repo_tree("owner/data", recursive=True, repo_type="dataset")

    assert [entry.path for entry in found] == [
        ".gitattributes",
        "folder",
        *(f"folder/{number}.txt" for number in range(7)),
    ]
    assert len(server.asked("GET .*/tree/")) == 3
    (info,) = api(server).get_paths_info(
        "owner/data", ["folder/3.txt", "gone"], repo_type="dataset"
    )
    assert (info.path, info.size) == ("folder/3.txt", 1)


def test_gated_and_private_repositories_differ(server):
    server.add("owner/gated", {"a.txt": "1"}, gated=True)
    server.add("owner/private", {"a.txt": "1"}, private=True)
    stranger = api(server, "hf_stranger")

    assert stranger.dataset_info("owner/gated").gated == "manual"
    with pytest.raises(GatedRepoError):
        stranger.auth_check("owner/gated", repo_type="dataset")
    with pytest.raises(RepositoryNotFoundError):
        stranger.dataset_info("owner/private")
    assert api(server).dataset_info("owner/private").private


def test_cards_are_validated(server):
    skip_unless_cards_are_validated_here()
    server.add("owner/data")
    DatasetCard(CARD).validate()
    with pytest.raises(ValueError, match="license"):
        DatasetCard("---\nlicense: my own\n---\n# Data\n").validate()
    DatasetCard(CARD).push_to_hub("owner/data", token="hf_owner")  # noqa: S106 - a token of the local server
    assert server.repo("owner/data").files()["README.md"].decode().endswith("# Data\n")


@pytest.mark.parametrize("kind", ["model", "space"])
def test_models_and_spaces_are_served_like_datasets(server, kind):
    repo = server.add("owner/thing", {"index.html": "<p>"}, kind=kind)
    hub = api(server)

    assert hub.repo_info("owner/thing", repo_type=kind).sha == repo.head
    hub.upload_file(
        path_or_fileobj=b"<b>", path_in_repo="index.html", repo_id="owner/thing", repo_type=kind
    )
    assert repo.files()["index.html"] == b"<b>"


def test_a_pull_request_is_talked_about(server):
    repo = server.add("owner/data", {"a.txt": "1"})
    api(server, "hf_stranger").create_commit(
        "owner/data",
        [CommitOperationAdd("a.txt", b"better")],
        commit_message="improve",
        repo_type="dataset",
        create_pr=True,
    )
    hub = api(server)

    said = hub.comment_discussion("owner/data", 1, "Thank you", repo_type="dataset")
    hub.edit_discussion_comment("owner/data", 1, said.id, "Thank you!", repo_type="dataset")

    details = hub.get_discussion_details("owner/data", 1, repo_type="dataset")
    assert (details.is_pull_request, details.target_branch) == (True, "refs/heads/main")
    assert [event.type for event in details.events] == ["comment", "commit", "comment"]
    assert (details.events[-1].content, details.events[-1].author, details.events[-1].edited) == (
        "Thank you!",
        "owner",
        True,
    )
    with pytest.raises(HfHubHTTPError):
        api(server, "hf_stranger").edit_discussion_comment(
            "owner/data", 1, said.id, "No", repo_type="dataset"
        )
    payloads = repo.pull_requests[0].payloads(
        repo.id, repo.kind, server.url, repo.refs["refs/pr/1"]
    )
    assert [WebhookPayload.model_validate(payload).event.scope for payload in payloads] == [
        "discussion",
        "repo.content",
    ]
