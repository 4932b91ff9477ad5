"""Frames that several machines share: each video is decoded once, whatever becomes of the store or of a machine."""

import io
import os
import socket
import subprocess
import sys
import tarfile
import time
from hashlib import sha256
from pathlib import Path

import pytest

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.registry.sampling import FrameSampling
from reelbench.video import shared_frames
from reelbench.video.frame_store import FrameStore
from tests.alarms import PATIENCE_S

SAMPLING = FrameSampling.parse("uniform:2,size=48")

NODE = """
import logging, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from reelbench.registry.sampling import FrameSampling
from reelbench.video.frame_store import FrameStore
logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
videos = sorted(Path(sys.argv[1]).iterdir())
store = FrameStore()
import reelbench.video.decoder
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(2) as pool:
    frames = list(pool.map(lambda video: store.get(video, FrameSampling.parse("uniform:2,size=48")), videos))
print("frames", sum(stored.given for stored in frames), flush=True)
"""
"""A machine: it says what it decodes, and the frames that it has in the end."""


class S3Server:
    """moto's server, which may go away and come back with what it had."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self):
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self._server.start()

    def stop(self):
        self._server.stop()


@pytest.fixture(scope="session")
def s3_server():
    pytest.importorskip("s3fs", reason="s3fs is not installed (reelbench[s3])")
    pytest.importorskip("moto", reason="moto is not installed")
    server = S3Server()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server, monkeypatch, tmp_path):
    """The server, and an address in a bucket of the test's own."""
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{s3_server.port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    bucket = f"films-{sha256(bytes(tmp_path)).hexdigest()[:16]}"
    s3fs.S3FileSystem(skip_instance_cache=True).mkdir(bucket)
    return s3_server, f"s3://{bucket}/frames"


@pytest.fixture
def address(request, tmp_path):
    """An address of each kind."""
    if request.param == "s3":
        _, in_bucket = request.getfixturevalue("s3")
        return in_bucket
    return str(tmp_path / "seen by all")


each_kind = pytest.mark.parametrize("address", ["folder", "s3"], indirect=True)


@pytest.fixture
def nodes(clip, tmp_path):
    """Starts machines with homes and copies of the films of their own."""
    source = clip("libx264", "mp4", frames=50).read_bytes()
    started = []

    def start(address, machines, videos):
        for machine in range(machines):
            films = tmp_path / f"films{machine}"
            films.mkdir()
            for number in range(videos):
                # A box that says nothing makes another film of the same pictures.
                (films / f"{number}.mp4").write_bytes(
                    source + b"\0\0\0\x0cfree" + number.to_bytes(4, "big")
                )
            environ = os.environ | {
                "REELBENCH_HOME": str(tmp_path / f"home{machine}"),
                "REELBENCH_FRAMES_STORE": address,
            }
            command = [sys.executable, "-c", NODE, films]
            started.append(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
                )
            )
        for process in started:
            assert process.stdout.readline() == "ready\n"
        for process in started:
            process.stdin.write("\n")
            process.stdin.flush()
        return started

    yield start
    for process in started:
        process.kill()
        process.wait()


def ended(process):
    """What a machine said: the names of the films that it decoded, and the number of its frames."""
    lines = process.communicate(timeout=PATIENCE_S * 10)[0].splitlines()
    assert process.returncode == 0
    decoded = [Path(line.split(":")[0]).name for line in lines if line.startswith("decoded ")]
    [frames] = [int(line.split()[1]) for line in lines if line.startswith("frames ")]
    return decoded, frames


@pytest.mark.slow
@each_kind
def test_two_machines_decode_each_video_once(nodes, address):
    films = 6
    said = [ended(process) for process in nodes(address, 2, films)]
    assert [frames for _, frames in said] == [2 * films] * 2
    decoded = [name for names, _ in said for name in names]
    assert sorted(decoded) == sorted(f"{number}.mp4" for number in range(films))


@pytest.mark.slow
def test_a_hundred_videos_and_a_server_that_is_away_for_ten_seconds(nodes, s3):
    films = 100
    server, address = s3
    machines = nodes(address, 2, films)
    while not machines[0].stdout.readline().startswith("decoded "):
        pass
    server.stop()
    time.sleep(10)
    server.start()
    said = [ended(process) for process in machines]
    assert [frames for _, frames in said] == [2 * films] * 2
    assert sum(len(names) for names, _ in said) == films - 1  # and the one whose line was read


@each_kind
def test_what_another_machine_decoded_is_fetched_byte_for_byte(
    clip, tmp_path, address, monkeypatch
):
    video = clip("libx264", "mp4", frames=50)
    first = FrameStore(tmp_path / "a", shared=address).get(video, SAMPLING, even=True)
    monkeypatch.setattr("reelbench.video.decoder.VideoFile", None)  # nothing can be decoded
    second = FrameStore(tmp_path / "b", shared=address).get(video, SAMPLING, even=True)
    assert second.path.read_bytes() == first.path.read_bytes()
    assert second.timestamps == first.timestamps


@each_kind
def test_a_dead_machines_claim_is_taken_over(clip, tmp_path, address, monkeypatch):
    monkeypatch.setattr(shared_frames, "DEAD_AFTER_S", 1.0)
    monkeypatch.setattr(shared_frames, "BEAT_S", PATIENCE_S * 100)  # it shows no sign of life
    video = clip("libx264", "mp4", frames=50)
    store = FrameStore(tmp_path / "a", shared=address)
    key = store.get(video, SAMPLING).path.stem
    other = tmp_path / "other.mp4"
    other.write_bytes(video.read_bytes() + b"\0\0\0\x08free")
    other_key = FrameStore(tmp_path / "measure", shared="").get(other, SAMPLING).path.stem
    assert shared_frames.SharedFrames(address, 10**9).claim(other_key) is not None
    assert FrameStore(tmp_path / "b", shared=address).get(other, SAMPLING).path.stem == other_key
    assert key != other_key


def test_a_living_machines_claim_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_frames, "DEAD_AFTER_S", 1.5)
    monkeypatch.setattr(shared_frames, "BEAT_S", 0.2)
    address = str(tmp_path / "shared")
    claim = shared_frames.SharedFrames(address, 10**9).claim("ab" * 20)
    waiting = shared_frames.SharedFrames(address, 10**9)
    watched_until = time.monotonic() + 4
    while time.monotonic() < watched_until:
        assert waiting.claim("ab" * 20) is None
        waiting.wait()
    with claim:
        pass
    assert waiting.claim("ab" * 20) is not None


def archive(*members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def link(name, target):
    member = tarfile.TarInfo(name)
    member.type = tarfile.SYMTYPE
    member.linkname = target
    return member


DAMAGE = {
    "no archive": b"nothing",
    "empty": b"",
    "elsewhere": archive((tarfile.TarInfo("../../outside"), b"x")),
    "a link": archive((link("frames.json", "/etc/passwd"), b"")),
    "too large": archive((tarfile.TarInfo("frames.json"), bytes(3_000_000))),
    "half": archive((tarfile.TarInfo("frames.json"), b"{}" * 6_000))[:2_000],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_decoded_anew_and_mended(clip, tmp_path, damage):
    video = clip("libx264", "mp4", frames=50)
    shared = tmp_path / "shared"
    right = FrameStore(tmp_path / "a", shared=str(shared)).get(video, SAMPLING)
    [packed] = shared.rglob("*.tar")
    packed.write_bytes(DAMAGE[damage])
    store = FrameStore(tmp_path / "b", shared=str(shared), cap_bytes=2_000_000)
    assert store.get(video, SAMPLING).path.read_bytes() == right.path.read_bytes()
    assert not list(tmp_path.rglob("outside"))
    with tarfile.open(packed) as tar:
        assert sorted(tar.getnames()) == sorted(["frames.json", right.path.name])


@pytest.mark.slow
def test_a_store_that_stays_away_ends_the_sharing_and_not_the_work(
    clip, tmp_path, s3, monkeypatch, caplog
):
    monkeypatch.setattr(shared_frames, "PATIENCE_S", 1.0)
    server, address = s3
    server.stop()
    store = FrameStore(tmp_path / "a", shared=address)
    assert store.get(clip("libx264", "mp4", frames=50), SAMPLING).given == 2
    assert "from here on this process shares no frames" in caplog.text
    server.start()


def test_what_the_store_refuses_is_said_in_one_line(clip, tmp_path, request):
    request.getfixturevalue("s3")
    store = FrameStore(tmp_path / "a", shared="s3://no-such-bucket/frames")
    with pytest.raises(ReelbenchError, match="s3://no-such-bucket/frames: is refused"):
        store.get(clip("libx264", "mp4", frames=50), SAMPLING)


@pytest.mark.parametrize(
    "address",
    [
        "nonsense://x",
        "memory://x",
        "https://user:verysecret@host.example/frames",
        "ftp://user:verysecret@127.0.0.1:9/frames",
        "simplecache::s3://films/frames",
        "s3://user:verysecret@films/frames",
    ],
)
def test_an_address_of_no_folder_and_no_bucket_is_refused_at_once(tmp_path, address):
    with pytest.raises(InputError, match=r"^\S+: no store of frames \(") as refused:
        FrameStore(tmp_path, shared=address)
    assert "verysecret" not in str(refused.value)


def test_a_store_that_stays_away_is_waited_for_once_in_a_process(
    clip, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(shared_frames, "PATIENCE_S", 0.1)
    (tmp_path / "file").write_bytes(b"")
    address = str(tmp_path / "file" / "no folder can be here")
    video = clip("libx264", "mp4", frames=50)
    for home in ("a", "b"):
        assert FrameStore(tmp_path / home, shared=address).get(video, SAMPLING).given == 2
    assert caplog.text.count("from here on this process shares no frames") == 1
