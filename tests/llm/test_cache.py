"""The cache of replies on disks that forget: a damaged file is saved from."""

import re
import sqlite3
from hashlib import sha256
from itertools import islice

import pytest

from reelbench.base.errors import InputError
from reelbench.llm.reply import Reply
from tests.llm.by_hand import ReplyCache


def reply(text="4", **more):
    return Reply(text, "stop", "judge-1-0001", 100, 10, "127.0.0.1:1", **more)


def key(number):
    return sha256(b"%d" % number).digest()


def filled(path, n):
    cache = ReplyCache(path, print)
    for number in range(n):
        cache.put(
            key(number),
            "judge-1",
            reply(f'{{"score": {number % 6}, "why": "{"so " * 300}"}}', seconds=0.25),
        )
    cache.close()
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()


@pytest.mark.parametrize("column", ["raw", "finish", "returned", "completion_tokens", "host"])
def test_a_reply_that_changed_on_disk_is_asked_for_again(tmp_path, column):
    path = tmp_path / "judge.sqlite"
    filled(path, 3)
    with sqlite3.connect(path) as raw:
        raw.execute(f"UPDATE replies SET {column} = 5 WHERE key = ?", (key(1),))  # noqa: S608
    raw.close()
    notes = []
    cache = ReplyCache(path, notes.append)
    assert cache.get(key(1)) is None
    assert len(notes) == 1
    assert cache.claim(key(1)) == "mine"
    cache.put(key(1), "judge-1", reply("5"))
    assert cache.get(key(1)) == reply("5")
    assert cache.get(key(2)) is not None


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("completion_tokens", "many"),
        ("raw", 5),
        ("seconds", "soon"),
        ("cached_tokens", b"3"),
        ("returned", "m" * 2000),
    ],
)
def test_a_field_that_holds_another_kind_is_damage_though_no_checksum_says_so(
    tmp_path, column, value
):
    path = tmp_path / "judge.sqlite"
    filled(path, 2)
    with sqlite3.connect(path) as raw:
        raw.execute(
            f"UPDATE replies SET {column} = ?, checksum = NULL WHERE key = ?",  # noqa: S608
            (value, key(1)),
        )
    raw.close()
    cache = ReplyCache(path, print)
    assert (cache.get(key(1)) is None) == (
        column != "raw"
    )  # a column of texts makes a text of a number
    assert cache.get(key(0)) is not None


@pytest.mark.parametrize("page", ["a leaf", "two leaves"])
def test_what_a_damaged_cache_still_holds_is_not_paid_for_again(tmp_path, page):
    path = tmp_path / "judge.sqlite"
    filled(path, 300)
    content = bytearray(path.read_bytes())
    leaves = [
        at for at in range(8192, len(content), 4096) if content[at] == 10
    ]  # leaf of an index b-tree
    assert len(leaves) > 30
    for at in leaves[10 : 11 if page == "a leaf" else 12]:
        content[at : at + 4096] = bytes(4096)
    path.write_bytes(content)
    damaged = path.read_bytes()
    notes = []
    cache = ReplyCache(path, notes.append)
    kept = [cache.get(key(number)) for number in range(300)]
    held = [one for one in kept if one is not None]
    assert len(held) >= 280
    assert {one.seconds for one in held} == {0.25}
    (note,) = notes
    assert int(re.search(r"(\d+) replies could be read", note)[1]) >= 280
    aside = next(file for file in tmp_path.iterdir() if ".corrupt-" in file.name)
    assert aside.read_bytes() == damaged
    assert not list(tmp_path.glob("*.corrupt-*-shm"))


def test_a_name_that_is_no_text_any_more_is_damage_too(tmp_path):
    path = tmp_path / "judge.sqlite"
    filled(path, 3)
    path.write_bytes(
        path.read_bytes()
        .replace(b"TABLE batched (", b"TABLX batched (")
        .replace(b"batched", b"batch\xa0d")
    )
    notes = []
    ReplyCache(path, notes.append).put(key(9), "judge-1", reply())
    assert "renamed to judge.sqlite.corrupt-" in notes[0]


def test_keys_that_go_round_in_a_circle_come_to_an_end(tmp_path):
    path = tmp_path / "judge.sqlite"
    cache = ReplyCache(path, print)
    for number in range(3):
        cache.put(key(number), "judge-1", reply())
    cache.close()
    with sqlite3.connect(path) as raw:
        (root,) = raw.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'replies'"
        ).fetchone()
    raw.close()
    content = bytearray(path.read_bytes())
    cells = (root - 1) * 4096 + 8  # behind the head of a leaf: where each of its cells is
    assert content[cells - 5 : cells - 3] == b"\0\3"
    content[cells + 2 : cells + 6] = content[cells + 4 : cells + 6] + content[cells + 2 : cells + 4]
    path.write_bytes(content)
    cache = ReplyCache(path, print)
    assert 1 <= len(list(islice(cache.store.replies(), 20))) < 20


def test_a_flipped_bit_in_a_damaged_cache_is_not_saved(tmp_path):
    path = tmp_path / "judge.sqlite"
    filled(path, 300)
    content = bytearray(path.read_bytes())
    leaves = [at for at in range(8192, len(content), 4096) if content[at] == 10]
    content[leaves[10] : leaves[10] + 4096] = bytes(4096)
    at = content.index(b'{"score": 3', leaves[20])
    content[at + 10] ^= 1  # a 2
    path.write_bytes(content)
    cache = ReplyCache(path, lambda _: None)
    for number in range(300):
        kept = cache.get(key(number))
        assert kept is None or kept.raw.startswith(f'{{"score": {number % 6}')


@pytest.mark.parametrize("what", ["text", "another program's database"])
def test_a_file_of_another_program_stays_as_it_is(what, tmp_path):
    path = tmp_path / "notes"
    if what == "text":
        path.write_bytes(b"my own notes\n" * 100)
    else:
        with sqlite3.connect(path) as raw:
            raw.execute("CREATE TABLE cookies (name TEXT)")
        raw.close()
    before = path.read_bytes()
    with pytest.raises(InputError, match="notes: is not a file of replies and was left as it is"):
        ReplyCache(path, print)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["notes"]


def test_a_cache_of_one_s_own_name_that_is_damaged_is_saved_from(tmp_path):
    path = tmp_path / "mine"
    filled(path, 30)
    path.write_bytes(path.read_bytes()[:4096] + bytes(8192))
    notes = []
    ReplyCache(path, notes.append).get(key(1))
    assert "renamed to mine.corrupt-" in notes[0]


def test_what_is_kept_is_the_user_s_own(tmp_path):
    ReplyCache(tmp_path / "judge.sqlite", print).put(key(1), "judge-1", reply())
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_a_file_of_an_unreleased_version_is_refused_in_one_line(tmp_path):
    path = tmp_path / "judge.sqlite"
    filled(path, 1)
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA user_version = 3")
    raw.close()
    line = r"written by an earlier, unreleased version \(schema 3\); name another one"
    with pytest.raises(InputError, match=line):
        ReplyCache(path, print)
