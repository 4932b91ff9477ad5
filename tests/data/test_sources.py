"""Annotations come from the user's own files, else from the Hub at one commit, else from a URL, and are what upstream
states that they are."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.data import hub, sources
from reelbench.registry import discovery
from reelbench.registry.spec import BenchmarkSpec, HubFile, LocalFile, SplitSpec, UrlFile
from tests.registry.upstream import MOVIECORE, REXTIME
from tests.servers.hub import Token


def with_source(source, *, name="moviecore", split="test", **changes) -> BenchmarkSpec:
    return replace(discovery.get(name), splits={split: SplitSpec(source=source)}, **changes)


# --- the Hub ---


@pytest.mark.parametrize(
    ("name", "repo_id", "filename", "content"),
    [
        ("moviecore", "MovieCORE/MovieCORE", "test.json", MOVIECORE),
        ("moviecore", "MovieCORE/MovieCORE", "annotation/test.json", MOVIECORE),
        ("rextime", "ReXTime/ReXTime", "rextime_val.json", REXTIME),
    ],
)
def test_each_hub_hosted_benchmark_is_fetched_in_upstream_shape(
    server, name, repo_id, filename, content
):
    repo = server.add(repo_id, {filename: content, "README.md": "# data"})

    spec = discovery.get(name)
    resolved = sources.resolve(spec, spec.default_split)

    assert [path.read_text() for path in resolved.paths] == [content]
    assert (resolved.kind, resolved.location, resolved.revision) == ("hub", repo_id, repo.head)


def test_the_first_commit_seen_stays_until_it_is_refreshed(server):
    spec = discovery.get("moviecore")
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    first = repo.head
    sources.resolve(spec, "test")
    second = repo.commit({"test.json": "{}"}, "new annotations")

    again = sources.resolve(spec, "test")
    assert (again.revision, again.paths[0].read_text()) == (first, MOVIECORE)

    refreshed = sources.resolve(spec, "test", refresh=True)
    assert (refreshed.revision, refreshed.paths[0].read_text()) == (second, "{}")
    assert sources.resolve(spec, "test").revision == second


def test_a_pinned_commit_is_read_whatever_main_is(server):
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    pinned = repo.head
    repo.commit({"test.json": "{}"})
    spec = with_source(HubFile(repo_id=repo.id, filenames=("test.json",), revision=pinned))

    assert sources.present(spec, "test") is None
    assert sources.resolve(spec, "test", refresh=True).paths[0].read_text() == MOVIECORE
    assert sources.present(spec, "test").revision == pinned


def test_a_second_use_asks_the_hub_nothing(server):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    sources.resolve(discovery.get("moviecore"), "test")
    before = len(server.requests)

    sources.resolve(discovery.get("moviecore"), "test")

    assert len(server.requests) == before


@pytest.mark.parametrize(("name", "below"), [("HF_HOME", "hub"), ("HF_HUB_CACHE", "")])
def test_the_clients_cache_is_where_the_environment_says_at_the_call(
    server, monkeypatch, tmp_path, name, below
):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))

    (path,) = sources.resolve(discovery.get("moviecore"), "test").paths

    assert path.is_relative_to(tmp_path / "elsewhere" / below / "datasets--MovieCORE--MovieCORE")


def test_offline_works_from_the_cache_in_a_process_of_its_own(server, tmp_path):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    resolve = (
        "from reelbench.registry import discovery; from reelbench.data import sources;"
        "print(sources.resolve(discovery.get('moviecore'), 'test').paths[0].read_text())"
    )
    env = {**os.environ, **server.env(tmp_path / "hf"), "REELBENCH_HOME": str(tmp_path / "home")}
    online = subprocess.run(
        [sys.executable, "-c", resolve], env=env, capture_output=True, text=True, check=True
    )
    before = len(server.requests)

    env["HF_HUB_OFFLINE"] = "1"
    offline = subprocess.run(
        [sys.executable, "-c", resolve], env=env, capture_output=True, text=True, check=True
    )

    assert offline.stdout == online.stdout == MOVIECORE + "\n"
    assert len(server.requests) == before


def test_offline_uses_what_the_hub_client_itself_has_cached(server, monkeypatch, tmp_path):
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    client_fetches_main(server, repo, tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    assert sources.resolve(discovery.get("moviecore"), "test").revision == repo.head


def client_fetches_main(server, repo, tmp_path):
    from huggingface_hub import hf_hub_download

    hf_hub_download(
        repo.id,
        "test.json",
        repo_type="dataset",
        endpoint=server.url,
        cache_dir=tmp_path / "hf" / "hub",
    )


def test_offline_refuses_to_refresh_and_keeps_the_record(server, monkeypatch, tmp_path):
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    spec = discovery.get("moviecore")
    sources.resolve(spec, "test")
    client_fetches_main(
        server, repo, tmp_path
    )  # what the client knows of `main` may be older than the record
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(DataUnavailableError, match="HF_HUB_OFFLINE is set"):
        sources.resolve(spec, "test", refresh=True)
    assert sources.resolve(spec, "test").revision == repo.head


def test_offline_with_nothing_cached_says_what_to_do(server, monkeypatch):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(
        DataUnavailableError, match=r"MovieCORE/MovieCORE.*HF_HUB_OFFLINE is set; unset it"
    ):
        sources.resolve(discovery.get("moviecore"), "test")
    assert not server.requests


def test_offline_the_client_is_told_so_at_the_call(server, monkeypatch):
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    with pytest.raises(DataUnavailableError, match="not in the cache and HF_HUB_OFFLINE is set"):
        hub.download(repo.id, "test.json", revision=repo.head)
    assert not server.requests


def test_no_network_is_one_line(server, monkeypatch):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    with pytest.raises(DataUnavailableError, match="could not be reached") as caught:
        sources.resolve(discovery.get("moviecore"), "test")
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("server")
def test_an_unknown_repository_is_one_line():
    with pytest.raises(
        DataUnavailableError,
        match="datasets/MovieCORE/MovieCORE: no such dataset, or it is private",
    ):
        sources.resolve(discovery.get("moviecore"), "test")


def test_a_repository_without_the_file_lists_what_it_has(server):
    server.add("MovieCORE/MovieCORE", {"data/test-00000.parquet": b"PAR1", "README.md": "# data"})

    with pytest.raises(DataUnavailableError) as caught:
        sources.resolve(discovery.get("moviecore"), "test")

    message = str(caught.value)
    assert "has no test.json or annotation/test.json" in message
    assert "README.md, data/test-00000.parquet" in message
    assert "--data or REELBENCH_DATA_MOVIECORE" in message


def test_a_gated_repository_names_the_page_to_visit_and_then_opens(server, monkeypatch):
    repo = server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE}, gated=True)
    spec = discovery.get("moviecore")
    server.tokens["hf_stranger"] = Token("stranger")
    server.tokens["hf_reader"] = Token("reader", reads={repo.id})

    for token in (None, "hf_stranger"):
        if token:
            monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(DataUnavailableError, match="gated") as caught:
            sources.resolve(spec, "test")
        assert f"accept its terms at {server.url}/datasets/MovieCORE/MovieCORE" in str(caught.value)
        assert "HF_TOKEN or run `hf auth login`" in str(caught.value)

    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    assert sources.resolve(spec, "test").paths[0].read_text() == MOVIECORE


def test_a_refused_token_is_called_that(server, monkeypatch):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    monkeypatch.setenv("HF_TOKEN", "hf_expired")

    with pytest.raises(DataUnavailableError, match="refused the token; check HF_TOKEN"):
        sources.resolve(discovery.get("moviecore"), "test")


def test_a_commit_that_is_gone_is_one_line(server):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    spec = with_source(
        HubFile(repo_id="MovieCORE/MovieCORE", filenames=("test.json",), revision="0" * 40)
    )

    with pytest.raises(DataUnavailableError, match="the commit asked for is not there"):
        sources.resolve(spec, "test")


def test_a_connection_dropped_in_mid_file_is_taken_up_again(server, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 256)  # the client keeps whole chunks only
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    server.fail("GET .*/resolve/.*test.json", cut_at=600)

    resolved = sources.resolve(discovery.get("moviecore"), "test")

    assert resolved.paths[0].read_text() == MOVIECORE
    ranges = [request.headers.get("Range") for request in server.asked("GET .*/resolve/")]
    assert ranges == [None, "bytes=512-"]


def test_bytes_with_another_hash_than_the_hub_states_are_refused_and_not_kept(server):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    server.fail("GET .*/resolve/.*test.json", corrupt=True)
    spec = discovery.get("moviecore")

    with pytest.raises(DataUnavailableError, match=r"test\.json: arrived damaged \(git blob id"):
        sources.resolve(spec, "test")

    assert sources.present(spec, "test") is None
    assert sources.resolve(spec, "test").paths[0].read_text() == MOVIECORE


def test_large_files_come_from_another_host_that_never_sees_the_token(server, monkeypatch):
    repo = server.add("MovieCORE/MovieCORE", {"test.parquet": b"PAR1" * 100}, gated=True)
    server.tokens["hf_reader"] = Token("reader", reads={repo.id})
    monkeypatch.setenv("HF_TOKEN", "hf_reader")

    path = hub.download(repo.id, "test.parquet", revision=repo.head)

    assert path.read_bytes() == b"PAR1" * 100
    assert server.cdn.requests
    assert all(request.token is None for request in server.cdn.requests)


def test_a_branch_is_no_revision_to_download_from(server):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})

    with pytest.raises(InputError, match="'main' is not a commit"):
        hub.download("MovieCORE/MovieCORE", "test.json", revision="main")


# --- the user's own files ---


def test_the_users_own_files_come_first(server, monkeypatch, tmp_path):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    for name in ("given", "named"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.json").write_text(f'"{name}"')
    monkeypatch.setenv("REELBENCH_DATA_MOVIECORE", str(tmp_path / "named"))
    spec = discovery.get("moviecore")

    assert sources.resolve(spec, "test").paths == (tmp_path / "named" / "test.json",)
    given = sources.resolve(spec, "test", tmp_path / "given")
    assert given.paths == (tmp_path / "given" / "test.json",)
    assert (given.kind, given.location, given.revision) == ("local", str(tmp_path / "given"), None)
    assert sources.resolve(spec, "test", tmp_path / "given" / "test.json").paths == given.paths
    assert not server.requests


@pytest.mark.parametrize(
    "layout",
    [
        "test.json",
        "annotation/test.json",
        "moviecore/annotation/test.json",
        "data/annotation/moviecore_test.json",
    ],
)
def test_a_folder_in_upstream_layout_is_understood(tmp_path, layout):
    path = tmp_path / layout
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MOVIECORE)

    assert sources.resolve(discovery.get("moviecore"), "test", tmp_path).paths == (path,)


def test_files_to_be_joined_are_taken_along_where_the_folder_has_them(tmp_path):
    (tmp_path / "rextime_val.json").write_text(REXTIME)
    spec = discovery.get("rextime")
    assert sources.resolve(spec, "val", tmp_path).paths == (tmp_path / "rextime_val.json",)

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rextime_val.jsonl").write_text("{}\n")
    assert sources.resolve(spec, "val", tmp_path).paths == (
        tmp_path / "rextime_val.json",
        tmp_path / "data" / "rextime_val.jsonl",
    )


def test_a_folder_without_the_file_says_what_was_expected_and_found(tmp_path):
    (tmp_path / "train.json").write_text("{}")
    (tmp_path / "frames").mkdir()

    with pytest.raises(InputError) as caught:
        sources.resolve(discovery.get("moviecore"), "test", tmp_path)

    assert (
        "expected test.json or annotation/test.json or moviecore_test.json, found frames/, train.json"
        in str(caught.value)
    )
    assert "--data" in str(caught.value)


def test_a_name_that_is_there_twice_is_not_guessed_at(tmp_path):
    for name in ("moviechat", "moviecore"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.json").write_text("{}")

    with pytest.raises(
        InputError,
        match=r"more than once \(moviechat/test.json, moviecore/test.json\); name one file",
    ):
        sources.resolve(discovery.get("moviecore"), "test", tmp_path)


def test_a_path_that_is_not_there_names_where_it_was_given(monkeypatch, tmp_path):
    monkeypatch.setenv("REELBENCH_DATA_MOVIECORE", str(tmp_path / "nowhere"))

    with pytest.raises(
        InputError, match=r"nowhere \(from REELBENCH_DATA_MOVIECORE\): no such file or folder"
    ):
        sources.resolve(discovery.get("moviecore"), "test")


def test_agreement_gated_data_is_never_fetched(server):
    local = LocalFile(filenames=("set.json",), form_url="https://example.org/form")
    hosted = HubFile(repo_id="somebody/reshared", filenames=("set.json",))
    server.add("somebody/reshared", {"set.json": "[]"})

    sources.resolve(with_source(hosted), "test")
    before = len(server.requests)
    for source in (local, hosted):
        spec = with_source(source, open_data=False)
        with pytest.raises(DataUnavailableError, match="never fetched") as caught:
            sources.resolve(spec, "test")
        assert "folder that contains set.json with --data or REELBENCH_DATA_MOVIECORE" in str(
            caught.value
        )
        assert sources.present(spec, "test") is None
    with pytest.raises(DataUnavailableError, match=r"https://example\.org/form"):
        sources.resolve(with_source(local, open_data=False), "test")
    assert len(server.requests) == before


def test_an_unknown_split_names_the_splits(tmp_path):
    with pytest.raises(InputError, match="moviecore has no split 'dev'; it has train, test, mini"):
        sources.resolve(discovery.get("moviecore"), "dev", tmp_path)


# --- a URL ---


def test_a_url_is_fetched_once_and_its_origin_recorded(web):
    url = web.put("/data/curve.json", b'[{"key": 1}]')
    spec = with_source(UrlFile(url=url))

    resolved = sources.resolve(spec, "test")
    assert resolved.paths[0].read_bytes() == b'[{"key": 1}]'
    assert (resolved.kind, resolved.location, resolved.revision) == ("url", url, None)
    record = json.loads((resolved.paths[0].parent / "curve.json.source.json").read_text())
    assert record["sha256"] == hashlib.sha256(b'[{"key": 1}]').hexdigest()
    assert (record["etag"], record["bytes"]) == (web.files["/data/curve.json"].headers["ETag"], 12)

    assert sources.resolve(spec, "test") == resolved
    assert len(web.requests) == 1


def test_a_url_is_fetched_again_on_request_only(web):
    spec = with_source(UrlFile(url=web.put("/curve.json", b"old")))
    sources.resolve(spec, "test")
    web.put("/curve.json", b"new")

    assert sources.resolve(spec, "test").paths[0].read_bytes() == b"old"
    assert sources.resolve(spec, "test", refresh=True).paths[0].read_bytes() == b"new"


def test_a_url_offline_uses_what_is_there(web, monkeypatch):
    here, missing = web.put("/a.json", b"[]"), web.put("/b.json", b"[]")
    sources.resolve(with_source(UrlFile(url=here)), "test")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    assert sources.resolve(with_source(UrlFile(url=here)), "test").paths[0].read_bytes() == b"[]"
    with pytest.raises(DataUnavailableError, match=r"b\.json: not in .* HF_HUB_OFFLINE is set"):
        sources.resolve(with_source(UrlFile(url=missing)), "test")


def test_a_dropped_download_continues_in_the_same_call(web):
    body = bytes(range(256)) * 40
    url = web.put("/curve.json", body)
    web.fail("GET /curve.json", cut_at=3000)

    assert sources.resolve(with_source(UrlFile(url=url)), "test").paths[0].read_bytes() == body
    assert [request.headers.get("Range") for request in web.requests] == [None, "bytes=3000-"]


def test_another_sha256_than_the_specs_is_refused(web):
    url = web.put("/curve.json", b"other bytes")
    spec = with_source(UrlFile(url=url, sha256="0" * 64))

    with pytest.raises(DataUnavailableError, match=r"sha256 .*, expected 0{64}: not kept"):
        sources.resolve(spec, "test")
    assert sources.present(spec, "test") is None


def test_the_hash_that_a_storage_server_states_is_checked(web):
    spec = with_source(UrlFile(url=web.put("/curve.json", b"some bytes", md5=True)))
    web.fail("GET /curve.json", corrupt=True)

    with pytest.raises(DataUnavailableError, match=r"md5 .* expected .*: not kept"):
        sources.resolve(spec, "test")
    assert sources.resolve(spec, "test").paths[0].read_bytes() == b"some bytes"


@pytest.mark.parametrize(
    ("status", "says"), [(404, "answered 404"), (403, "answered 403"), (500, "answered 500")]
)
def test_a_servers_refusal_is_one_line(web, status, says):
    url = web.put("/curve.json", b"[]")
    web.fail("GET .*", times=None, status=status)

    with pytest.raises(DataUnavailableError, match=says) as caught:
        sources.resolve(with_source(UrlFile(url=url)), "test")
    assert "\n" not in str(caught.value)


def test_a_file_without_its_record_is_not_taken_for_whole(web):
    spec = with_source(UrlFile(url=web.put("/curve.json", b"whole")))
    path = sources.resolve(spec, "test").paths[0]
    path.write_bytes(b"who")

    assert sources.present(spec, "test") is None
    assert sources.resolve(spec, "test").paths[0].read_bytes() == b"whole"
