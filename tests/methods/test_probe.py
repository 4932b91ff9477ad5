"""`doctor --model`: two small questions with known pictures show what arrives at a served model."""

import base64
import json
import zlib

import pytest

from tests.servers.judge import Answer, JudgeServer

RGB = {(220, 20, 20): "Red", (20, 20, 220): "Blue", (20, 160, 20): "Green"}


def colours(call):
    """The colours of a call's pictures, read from their bytes."""
    named = []
    for part in call.body["messages"][0]["content"]:
        if part["type"] == "image_url":
            png = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            data = png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8]
            named.append(RGB[tuple(zlib.decompress(data)[1:4])])
    return named


def seeing(call):
    return Answer(", ".join(colours(call)), usage={"prompt_tokens": 20 + 64 * len(colours(call))})


def reversing(call):
    return Answer(" and ".join(reversed(colours(call))))


def blind(_):
    return Answer("I can't see any picture.", usage={"prompt_tokens": 20})


def uncounted(call):
    return Answer(" ".join(colours(call)), usage={"prompt_tokens": 0})


REFUSED = Answer(status=500, error={"message": "image input is not supported"})


@pytest.mark.parametrize(
    ("script", "pictures", "tokens"),
    [
        (seeing, "seen, in their order", "64 for a picture of 224 x 224"),
        (reversing, "seen, in another order", "0 for a picture of 224 x 224"),
        (blind, "not seen", "0 for a picture of 224 x 224"),
        (uncounted, "seen, in their order", "not counted"),
    ],
)
def test_what_arrives_is_said(script, pictures, tokens, reelbench):
    with JudgeServer(script) as server:
        words = ("doctor", "--model", "m", "--base-url", server.url)
        done = reelbench(*words, "--json")
        assert (done.returncode, len(server.calls)) == (0, 2), done.stderr
        assert [len(colours(call)) for call in server.calls] == [1, 3]
        facts = json.loads(done.stdout)["m"]
        assert (facts["pictures"], facts["tokens"]) == (pictures, tokens)
        again = reelbench(*words)
        assert (again.returncode, len(server.calls)) == (0, 4)
        assert pictures in again.stdout


def test_a_refusal_and_the_servers_own_words_are_shown(reelbench):
    with JudgeServer(lambda _: REFUSED) as server:
        server.list_models({"id": "/models/q.gguf", "owned_by": "llamacpp"})
        server.show_page("/props", {"total_slots": 2, "default_generation_settings": {}})
        done = reelbench("doctor", "--model", "m", "--base-url", server.url, "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)["m"]
    assert (facts["software"], facts["slots"]) == ("llama.cpp", 2)
    assert "--mmproj" in facts["pictures"]


def test_a_server_without_a_model_is_refused(reelbench):
    done = reelbench("doctor", "--base-url", "http://127.0.0.1:1/v1")
    assert done.returncode == 2
    assert "--model" in done.stderr
