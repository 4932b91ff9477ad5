"""Reading what a user names: the value, or one line that says what is wrong with the file; and status 2."""

import hashlib
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reelbench import registry
from reelbench.base import files
from reelbench.base.errors import InputError
from reelbench.data import loading

READERS = [files.read_json, files.read_jsonl, files.read_json_or_jsonl]
each_reader = pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)


def nested(depth, opening="[", closing="]"):
    return opening * depth + closing * depth


TOO_MUCH = {
    "lists in lists": (nested(100_000), "nested more than 100 deep"),
    "cut lists in lists": ("[" * 100_000, "nested more than 100 deep"),
    "objects in objects": (
        nested(500, '{"a":', "}").replace(":}", ":1}", 1),
        "nested more than 100 deep",
    ),
    "just too deep": (nested(101), "nested more than 100 deep"),
    "digits": ("9" * 4301, "more than 4300 digits"),
    "digits in a row": ('{"a": [1, ' + "9" * 100_000 + "]}", "more than 4300 digits"),
}


@each_reader
@pytest.mark.parametrize(("text", "message"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_what_is_too_much_for_a_reader_is_one_line(read, text, message, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value).splitlines()) == 1


def test_the_line_is_named_in_json_lines(tmp_path):
    path = tmp_path / "file.jsonl"
    path.write_text('{"a": 1}\n\n' + nested(2000) + "\n")
    for read in (files.read_jsonl, files.read_json_or_jsonl):
        with pytest.raises(InputError, match=r"file\.jsonl, line 3: .*nested"):
            read(path)


@each_reader
def test_what_is_deep_but_not_too_deep_is_read(read, tmp_path):
    path = tmp_path / "file.json"
    path.write_text(nested(100))
    value = read(path)
    depth = 102 if read is files.read_jsonl else 100  # a list of (number, value)
    assert json.dumps(value).count("[") == depth


@pytest.mark.parametrize("read", READERS[1:])
def test_a_key_that_stands_twice_is_said_once(read, tmp_path, caplog):
    path = tmp_path / "file.jsonl"
    path.write_text('{"a": 1}\n{"a": 1, "b": {"c": 1, "c": 2}}\n{"a": 1, "a": 2}\n')
    with caplog.at_level(logging.WARNING, "reelbench"):
        value = read(path)
    assert ({"a": 2} in value) or ((3, {"a": 2}) in value)
    (message,) = caplog.messages
    assert message == f"{path}, line 2: the key 'c' occurs twice in one object; the last one counts"


def fifo(folder):
    os.mkfifo(folder / "fifo")
    return folder / "fifo"


def loop(folder):
    (folder / "loop").symlink_to(folder / "loop")
    return folder / "loop"


def under_a_file(folder):
    (folder / "file").write_text("[]")
    return folder / "file" / "below"


NOT_FILES = {
    "missing": (lambda folder: folder / "missing", "no such file"),
    "folder": (lambda folder: folder, "is a folder"),
    "named pipe": (fifo, "is a pipe"),
    "endless device": (lambda _: Path("/dev/zero"), "is a device"),
    "loop of links": (loop, "symbolic links"),
    "below a file": (under_a_file, "Not a directory"),
    "long name": (lambda folder: folder / ("x" * 300), "File name too long"),
}


@pytest.mark.parametrize(("make", "message"), NOT_FILES.values(), ids=NOT_FILES)
def test_what_is_not_a_file_is_refused(make, message, tmp_path, reelbench):
    path = make(tmp_path)
    for read in (*READERS, files.sha256_of):
        with pytest.raises(InputError, match=message) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")
    done = reelbench("score", "rextime", "--predictions", path, "--split", "mini", timeout=1800)
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert message in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    path = tmp_path / "file"
    path.touch(mode=0)
    with pytest.raises(InputError, match="Permission denied"):
        files.read_json(path)


PIPED = """
import os, sys, threading
from reelbench.base import files
reading, writing = os.pipe()
threading.Thread(target=lambda: (os.write(writing, b'{"a": 1}\\n{"a": 2}\\n'), os.close(writing))).start()
path = f"/dev/fd/{reading}"
print(files.sha256_of(path), files.read_json_or_jsonl(path), files.read_jsonl(path))
"""


def test_a_pipe_of_the_shell_is_read_as_often_as_it_is_needed():
    done = subprocess.run(
        [sys.executable, "-c", PIPED], capture_output=True, text=True, timeout=1800, check=True
    )
    digest = hashlib.sha256(b'{"a": 1}\n{"a": 2}\n').hexdigest()
    assert (
        done.stdout.strip()
        == f"{digest} [{{'a': 1}}, {{'a': 2}}] [(1, {{'a': 1}}), (2, {{'a': 2}})]"
    )


def test_predictions_and_references_may_come_through_pipes(tmp_path):
    rows = loading.load("rextime", "mini")
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(
        "".join(json.dumps({"qid": row["id"], "ans": row["answer"]}) + "\n" for row in rows)
    )
    command = (
        f'{Path(sys.executable).with_name("reelbench")} score rextime --predictions <(cat "$1") '
        '--references <(cat "$2") --output "$3" --json'
    )
    truth = registry.specs()["rextime"].folder / "mini" / "rextime_val.json"
    done = subprocess.run(
        ["bash", "-c", command, "bash", predictions, truth, tmp_path / "out"],
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["metrics"]["accuracy"]["value"] == 100.0


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", "rextime", "--split", "mini", "--predictions"),
        ("score", "curve", "--split", "mini", "--predictions"),
        ("score", "moviecore", "--predictions"),
        ("score", "dramaqa_cogme", "--split", "mini", "--predictions"),
        ("data", "check", "rextime", "--data"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("text", [nested(2000), "9" * 5000], ids=["nested", "digits"])
def test_every_command_that_reads_json_says_it_in_one_line(arguments, text, tmp_path, reelbench):
    path = tmp_path / "file.json"
    path.write_text(text)
    done = reelbench(*arguments, path)
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1), done.stderr


def test_an_output_that_is_a_file_is_the_callers_mistake(tmp_path, reelbench):
    rows = loading.load("curve", "mini")
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(
        "".join(json.dumps({"key": row["id"], "pred": "x"}) + "\n" for row in rows)
    )
    (tmp_path / "out").touch()
    done = reelbench(
        "score",
        "curve",
        "--split",
        "mini",
        "--no-overlap",
        "--predictions",
        predictions,
        "--output",
        tmp_path / "out",
    )
    assert (done.returncode, len(done.stderr.strip().splitlines())) == (2, 1), done.stderr


def test_a_line_that_breaks_off_is_named_with_its_column(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n\n{"a": "b\n{"a": 2}\n', encoding="utf-8")
    for read in (files.read_jsonl, files.read_json_or_jsonl):
        with pytest.raises(
            InputError, match=r"line 3, column 7: not valid JSON \(Unterminated string"
        ):
            read(path)


@each_reader
def test_a_file_is_measured_before_it_is_read(read, tmp_path):
    path = tmp_path / "file.json"
    path.touch()
    os.truncate(path, 20_000_000_000)  # of holes: it takes no room, and would take this memory
    with pytest.raises(InputError, match=r"file\.json: bytes: 20,000,000,000, and at most"):
        read(path)


def test_a_file_has_as_many_bytes_as_are_taken_and_no_more(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("[1]", encoding="utf-8")
    assert files.read_json(path, most=3) == [1]
    path.write_text("[12]", encoding="utf-8")
    with pytest.raises(InputError, match=r"file\.json: bytes: 4, and at most 3 are taken"):
        files.read_json(path, most=3)


def test_a_small_file_takes_no_more_memory_than_it_has(tmp_path):
    """A bound of gigabytes is no request for as much: the webhook's processes have two."""
    path = tmp_path / "result.json"
    path.write_text("{}", encoding="utf-8")
    code = (
        "import resource, sys\n"
        "from reelbench.base import files\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (500_000_000, 500_000_000))\n"
        "print(files.read_json(sys.argv[1], most=2_000_000_000))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "{}\n"), done.stderr
