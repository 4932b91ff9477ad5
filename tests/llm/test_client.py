"""How a call reaches its server: over TLS, through a proxy, for an organization."""

import asyncio
import shutil
import ssl
import subprocess
from base64 import b64encode

import pytest

from reelbench.llm import client
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.client import ChatClient
from reelbench.llm.retry_rules import RejectedError, TransientError
from tests.servers.judge import Answer, JudgeServer

QUESTION = [{"role": "user", "content": "What do you see?"}]


def asked(url):
    """Ask one question -> the reply's text."""

    async def go():
        client = ChatClient(AskOptions(model="m", url=url, api_key="sk-1", allow_http_key=True))
        try:
            return (await client.ask(QUESTION, {})).raw
        finally:
            await client.close()

    return asyncio.run(go())


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, path = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ),
            *("-keyout", key, "-out", path, "-days", "1", "-subj", "/CN=test"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    return key, path


def test_a_certificate_is_trusted_only_where_it_is_known(certificate, monkeypatch):
    key, path = certificate
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(path, key)
    with JudgeServer(lambda _: Answer("A dog."), tls) as server:
        with pytest.raises(TransientError, match="no connection to the model") as error:
            asked(server.url)
        assert "certificate verify failed" in str(error.value)
        assert not error.value.rule.may_be_paid
        assert server.calls == []
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
        assert asked(server.url) == "A dog."


def test_a_proxy_is_gone_through_but_for_what_is_excepted(monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with (
        JudgeServer(lambda _: Answer("A dog.")) as server,
        JudgeServer(lambda _: Answer("by proxy")) as proxy,
    ):
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        assert asked("http://judge.example/v1") == "by proxy"
        assert proxy.calls[0].path == "http://judge.example/v1/chat/completions"
        assert asked(server.url) == "A dog."  # on this machine
        assert len(proxy.calls) == 1
        monkeypatch.setenv("no_proxy", "judge.example")
        with pytest.raises(TransientError, match="no connection to the model"):
            asked("http://judge.example/v1")


def test_a_proxy_that_is_not_there_is_no_connection(monkeypatch):
    with JudgeServer() as proxy:
        gone = proxy.url.removesuffix("/v1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", gone)
    with pytest.raises(TransientError, match="no connection to the model") as error:
        asked("http://judge.example/v1")
    assert not error.value.rule.may_be_paid


def test_organization_and_project_are_those_of_openais_own_client(monkeypatch):
    with JudgeServer() as server:
        asked(server.url)
        monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
        monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
        asked(server.url)
    without, named = (call.headers for call in server.calls)
    assert not {"openai-organization", "openai-project"} & without.keys()
    assert (named["openai-organization"], named["openai-project"]) == ("org-1", "proj-1")


KEY = "sk-proj-0123456789abcdefghijABCDEFGHIJ98"


@pytest.mark.parametrize(
    "part",
    [
        KEY,
        KEY[:-1],
        KEY[1:],
        KEY[2:-2],
        KEY.upper(),
        " ".join(KEY),
        f"stop {KEY[:-1]}",
        KEY[: len(KEY) // 2 + 1],
        b64encode(f"Basic:{KEY}".encode()).decode(),
    ],
)
def test_no_part_of_a_key_is_kept_of_what_a_server_says(part):
    """A server is sent the key, and what it says of its reply is published."""
    options = AskOptions(model="m", url="http://127.0.0.1:1/v1", api_key=KEY)
    body = {"model": f"m-{part}", "choices": [{"finish_reason": part, "message": {"content": "A"}}]}
    reply = client.parsed_reply(body, options, None)
    told = f"{reply.finish} {reply.returned}"
    assert "[key]" in told
    assert not any(KEY[at : at + 12] in told for at in range(len(KEY) - 11))
    assert b64encode(KEY.encode()).decode()[4:20] not in told
    body["choices"][0]["message"]["content"] = f"It is {part}."
    with pytest.raises(RejectedError, match="repeats the key"):
        client.parsed_reply(body, options, None)
