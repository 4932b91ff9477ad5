"""Downloads: continued where they broke off, taken only when whole, and never stuck, whatever a server sends."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from reelbench.base import bounds
from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.data import download

BODY = bytes(range(256)) * 40


def test_a_dropped_download_continues_in_the_next_call(web, tmp_path):
    body = bytes(range(256)) * 40
    url = web.put("/curve.json", body)
    web.fail("GET /curve.json", cut_at=3000)
    web.fail("GET /curve.json", times=download.TRIES, status=503)
    path = tmp_path / "curve.json"

    with pytest.raises(DataUnavailableError, match=r"answered 503.*3000 bytes are kept"):
        download.download(url, path)
    assert not path.exists()

    download.download(url, path)
    assert path.read_bytes() == body
    assert web.requests[-1].headers["Range"] == "bytes=3000-"


@pytest.mark.parametrize(
    ("old", "new"), [('"old"', '"new"'), ('W/"weak"', 'W/"weak"'), (None, None)]
)
def test_bytes_of_two_versions_are_never_joined(web, tmp_path, old, new):
    url = web.put("/curve.json", b"a" * 5000, etag=old, date=False)
    web.fail("GET /curve.json", cut_at=3000)
    web.fail("GET /curve.json", times=download.TRIES, status=503)
    with pytest.raises(DataUnavailableError):
        download.download(url, tmp_path / "curve.json")
    web.put("/curve.json", b"b" * 4000, etag=new, date=False)
    told = []

    assert (
        download.download(url, tmp_path / "curve.json", on_bytes=told.append).read_bytes()
        == b"b" * 4000
    )
    assert told[-1] == 4000


def test_nor_are_they_after_an_end_before_the_first_byte_of_the_second(web, tmp_path, monkeypatch):
    url = web.put("/curve.json", b"a" * 5000)
    web.fail("GET /curve.json", cut_at=3000)
    web.fail("GET /curve.json", times=download.TRIES, status=503)
    with pytest.raises(DataUnavailableError):
        download.download(url, tmp_path / "curve.json")
    web.put("/curve.json", b"b" * 5000)

    def write_and_end(path, text):
        path.write_text(text)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(download, "write_text", write_and_end)
        with pytest.raises(KeyboardInterrupt):
            download.download(url, tmp_path / "curve.json")
    assert download.download(url, tmp_path / "curve.json").read_bytes() == b"b" * 5000


def test_an_address_that_is_not_http_is_refused(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("x")

    with pytest.raises(InputError, match="not an http or https address"):
        download.download(secret.as_uri(), tmp_path / "copy")


def test_two_addresses_with_one_file_name_have_two_places():
    assert download.place("https://a.org/x/curve.json") != download.place(
        "https://a.org/y/curve.json"
    )
    assert download.place("https://a.org/x/curve.json").name == "curve.json"


def stop_when_whole(have):
    if have == len(BODY):
        raise KeyboardInterrupt


@pytest.fixture
def whole_part(web, tmp_path):
    """A download that was killed when its last byte had come and nothing was verified yet; returns its address."""
    url = web.put("/films.tar", BODY, md5=True)
    with pytest.raises(KeyboardInterrupt):
        download.download(url, tmp_path / "films.tar", on_bytes=stop_when_whole)
    assert (tmp_path / "films.tar.part").read_bytes() == BODY
    return url


def test_a_download_killed_before_it_was_verified_is_verified_and_not_fetched_again(
    web, tmp_path, whole_part
):
    assert download.download(whole_part, tmp_path / "films.tar").read_bytes() == BODY
    assert [request.headers.get("Range") for request in web.requests] == [
        None,
        f"bytes={len(BODY)}-",
    ]
    remote = download.read_remote(tmp_path / "films.tar")
    assert remote is not None
    assert remote.size == len(BODY)
    assert not (tmp_path / "films.tar.part").exists()


def test_such_a_download_with_damaged_bytes_is_refused_and_had_next_time(tmp_path, whole_part):
    (tmp_path / "films.tar.part").write_bytes(bytes(len(BODY)))
    with pytest.raises(DataUnavailableError, match=r"md5 .* expected"):
        download.download(whole_part, tmp_path / "films.tar")
    assert download.download(whole_part, tmp_path / "films.tar").read_bytes() == BODY


@pytest.mark.parametrize("states_its_length", [True, False])
def test_a_part_longer_than_the_file_is_started_anew(web, tmp_path, whole_part, states_its_length):
    with (tmp_path / "films.tar.part").open("ab") as file:
        file.write(b"more")
    if not states_its_length:
        web.fail("GET /films.tar", status=416)
    assert download.download(whole_part, tmp_path / "films.tar").read_bytes() == BODY


def test_a_whole_part_of_an_older_file_is_not_taken(web, tmp_path, whole_part):
    web.fail(
        "GET /films.tar",
        status=416,
        headers={"Content-Range": f"bytes */{len(BODY)}", "ETag": '"newer"'},
    )
    web.put("/films.tar", BODY[::-1])
    assert download.download(whole_part, tmp_path / "films.tar").read_bytes() == BODY[::-1]


@pytest.mark.parametrize("have", [0, 100])
def test_a_part_that_was_not_asked_for_is_not_taken(web, tmp_path, have):
    url = web.put("/films.tar", BODY)
    (tmp_path / "films.tar.part").write_bytes(BODY[:have])
    web.fail(
        "GET /films.tar",
        status=206,
        headers={"Content-Range": f"bytes {have}-199/200"},
        body=b"x" * (200 - have),
    )
    assert download.download(url, tmp_path / "films.tar").read_bytes() == BODY


def test_a_shorter_part_than_asked_for_is_continued(web, tmp_path):
    url = web.put("/films.tar", BODY, etag='"one"')
    web.fail("GET /films.tar", cut_at=3000)
    headers = {"Content-Range": f"bytes 3000-3999/{len(BODY)}", "ETag": '"one"'}
    web.fail("GET /films.tar", status=206, headers=headers, body=BODY[3000:4000])
    assert download.download(url, tmp_path / "films.tar").read_bytes() == BODY
    assert web.requests[-1].headers["Range"] == "bytes=4000-"


@pytest.mark.parametrize(
    "record", ["", "[]", "{", '{"etag": 5, "last_modified": ["x"], "size": "y"}']
)
@pytest.mark.parametrize("of", ["films.tar.part.json", "films.tar.source.json"])
def test_a_damaged_record_is_as_good_as_none(web, tmp_path, record, of):
    url = web.put("/films.tar", BODY)
    (tmp_path / "films.tar").write_bytes(b"old")
    (tmp_path / "films.tar.part").write_bytes(b"part")
    (tmp_path / of).write_text(record)
    assert download.download(url, tmp_path / "films.tar").read_bytes() == BODY
    assert json.loads((tmp_path / "films.tar.source.json").read_text())["bytes"] == len(BODY)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"status": 302, "headers": {"Location": "http://[bad"}}, "redirection can't be followed"),
        ({"status": 302, "headers": {"Location": "/films.tar"}}, "answered 302"),  # for ever
        ({"status": 302, "headers": {"Location": "file:///etc/hostname"}}, "answered 302"),
        ({"status": 302, "headers": {"Location": "ftp://127.0.0.1:9/x"}}, "unknown url type: ftp"),
        ({"status": 200, "headers": {"Content-Length": "many"}}, "Content-Length is not a number"),
        (
            {"status": 200, "headers": {"Content-Length": "9" * 5000}},
            "Content-Length is not a number",
        ),
        ({"status": 200, "headers": {"Content-Length": "-5"}}, "Content-Length is not a number"),
        ({"status": 204}, "answered 204, which is not a file"),
        ({"unmeasured": True}, "states neither a length nor a hash"),
    ],
)
def test_what_a_server_sends_amiss_is_one_line(web, tmp_path, fault, said):
    url = web.put("/films.tar", BODY)
    web.fail(".*", times=None, **fault)
    with pytest.raises(DataUnavailableError, match=said) as caught:
        download.download(url, tmp_path / "films.tar")
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "films.tar").exists()


def test_without_a_length_a_hash_says_that_the_file_is_whole(web, tmp_path):
    url = web.put("/films.tar", BODY, md5=True)
    web.fail("GET /films.tar", unmeasured=True, cut_at=500)
    web.fail("GET /films.tar", unmeasured=True)
    with pytest.raises(DataUnavailableError, match=r"md5 .* expected"):
        download.download(url, tmp_path / "films.tar")
    assert download.download(url, tmp_path / "films.tar").read_bytes() == BODY


def test_a_disk_that_is_full_is_said_to_be_that(web, small_disk):
    url = web.put("/films.tar", BODY * 50, md5=True)  # 512 kB
    web.fail("GET /films.tar", times=None, unmeasured=True)  # so that it can't be foreseen
    with pytest.raises(
        DataUnavailableError,
        match=r"the disk of .* is full; make room, try again; \d+ bytes are kept",
    ):
        download.download(url, small_disk / "films.tar")
    assert len(web.requests) == 1


def test_a_body_without_end_is_not_kept(web, tmp_path, monkeypatch):
    url = web.put("/films.tar", BODY, md5=True)
    web.fail("GET /films.tar", times=None, unmeasured=True)
    monkeypatch.setattr(download, "_BLOCK", 1000)
    monkeypatch.setattr(bounds, "UNSTATED_BYTES", 5000)
    with pytest.raises(
        InputError,
        match="without a length that the server states: 6,000, and at most 5,000 are taken",
    ):
        download.download(url, tmp_path / "films.tar")
    assert not [file for file in tmp_path.iterdir() if file.stat().st_size > 1000]


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:{port}/rows.json", "plain http"),
        ("http://example.org/rows.json", "plain http"),
        ("https://127.0.0.1:{port}/rows.json", "leads to 127.0.0.1, which is not a public address"),
        ("https://localhost:{port}/rows.json", "which is not a public address"),
        ("https://0:{port}/rows.json", "which is not a public address"),
        ("https://2130706433:{port}/rows.json", "leads to 127.0.0.1"),
    ],
)
def test_an_address_that_a_file_names_reaches_no_private_host(
    web, tmp_path, monkeypatch, address, why
):
    monkeypatch.delenv("REELBENCH_ALLOW_HOSTS")
    web.files["/rows.json"] = b"[]"
    url = address.format(port=urlsplit(web.url).port)
    with pytest.raises(DataUnavailableError, match=why) as error:
        download.download(url, tmp_path / "rows.json")
    assert "allow it with REELBENCH_ALLOW_HOSTS=" in str(error.value)
    assert web.requests == []


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("http://localhost:{port}/rows.json", "plain http"),
        ("https://localhost:{port}/rows.json", "which is not a public address"),
        ("file:///etc/hosts", "answered 302"),
    ],
)
def test_nor_does_it_where_a_server_sends_on(web, tmp_path, monkeypatch, target, why):
    monkeypatch.setenv("REELBENCH_ALLOW_HOSTS", "127.0.0.1")
    location = target.format(port=urlsplit(web.url).port)
    web.fail("GET /on", status=302, headers={"Location": location})
    with pytest.raises(DataUnavailableError, match=why):
        download.download(f"{web.url}/on", tmp_path / "rows.json")
    assert {request.path for request in web.requests} == {"/on"}


@pytest.mark.parametrize(
    ("address", "is_refused"),
    [
        ("64:ff9b::a00:1", True),  # NAT64 of 10.0.0.1
        ("64:ff9b::808:808", False),
        ("2002:7f00:1::", True),  # 6to4 of 127.0.0.1
        ("::7f00:1", True),
        ("::ffff:10.0.0.1", True),
        ("fec0::1", True),
        ("fe80::1%eth0", True),
        ("2606:4700::1", False),
        ("8.8.8.8", False),
    ],
)
def test_an_address_is_public_by_the_address_to_which_it_leads(
    tmp_path, monkeypatch, address, is_refused
):
    class Connection(socket.socket):
        def getpeername(self):
            return (address, 443)

    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: Connection())
    with pytest.raises(DataUnavailableError) as error:
        download.download("https://data.example/rows.json", tmp_path / "rows.json")
    assert ("which is not a public address" in str(error.value)) == is_refused


def test_nor_through_a_proxy(web, tmp_path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", web.url)
    with pytest.raises(DataUnavailableError, match=r"169\.254\.169\.254, which is not a public"):
        download.download("https://169.254.169.254/latest", tmp_path / "rows.json")
    assert web.requests == []
