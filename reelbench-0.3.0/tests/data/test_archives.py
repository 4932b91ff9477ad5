"""Archives of videos: what is wanted comes out, and each video ends as done or failed with the true reason."""

import io
import random
import re
import tarfile

import pytest

from reelbench.data import download, fetch
from tests.registry.upstream import MOVIECORE, clip, packed, root, tar_gz, with_media


@pytest.fixture
def server(server):
    server.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
    return server


def test_wanted_members_of_an_archive_are_unpacked(server, spec, tmp_path):
    films = {key: clip(tmp_path, key) for key in ("a", "b", "c")}
    films_tar = tar_gz({f"release/videos/{key}.mp4": data for key, data in films.items()})
    spec = with_media(spec, packed(server.put("/films.tar.gz", films_tar)))

    plan = fetch.plan(spec, "test", media_keys=["a", "c", "d"])
    assert plan.size == len(MOVIECORE) + len(films_tar)
    report = fetch.run(plan)

    assert {"a", "c"} <= set(report.done)
    assert report.failed == (("d", f"{server.url}/films.tar.gz has no videos/d.mp4"),)
    found = {path.name: path.read_bytes() for path in (root(spec) / "videos").iterdir()}
    assert found == {"a.mp4": films["a"], "c.mp4": films["c"]}

    # The rest of the archive is had without another download.
    plan = fetch.plan(spec, "test", media_keys=["a", "b"])
    assert plan.size == 0
    assert fetch.run(plan).done == ("b",)
    assert len(server.asked("GET /films.tar.gz")) == 1


def test_an_archive_dropped_in_mid_file_is_continued(server, spec, tmp_path):
    films_tar = tar_gz({"videos/a.mp4": clip(tmp_path, "a")})
    spec = with_media(spec, packed(server.put("/films.tar.gz", films_tar)))
    server.fail("GET /films.tar.gz", cut_at=500)

    assert "a" in fetch.run(fetch.plan(spec, "test", media_keys=["a"])).done
    assert [request.headers.get("Range") for request in server.asked("GET /films")] == [
        None,
        "bytes=500-",
    ]


def test_an_archive_cannot_write_outside_the_media_folder(server, spec, tmp_path):
    film = clip(tmp_path)
    evil = {
        "../../videos/a.mp4": film,
        "/videos/b.mp4": film,
        "videos/../../../c.mp4": film,
        "../../../evil": b"x",
    }
    spec = with_media(spec, packed(server.put("/films.tar.gz", tar_gz(evil))))

    fetch.run(fetch.plan(spec, "test", media_keys=["a", "b", "c"]))

    outside = [
        path for path in tmp_path.rglob("*") if path.name in {"a.mp4", "b.mp4", "c.mp4", "evil"}
    ]
    assert {path.parent for path in outside} <= {root(spec) / "videos"}


def test_a_damaged_archive_is_the_reason_for_what_it_lacks(server, spec, tmp_path):
    films_tar = tar_gz({f"videos/{key}.mp4": clip(tmp_path, key) for key in ("a", "b")})
    spec = with_media(
        spec, packed(server.put("/films.tar.gz", films_tar[: len(films_tar) * 2 // 3]))
    )

    report = fetch.run(fetch.plan(spec, "test", media_keys=["a", "b"]))

    assert "b" in dict(report.failed)
    assert re.search(
        r"films\.tar\.gz is damaged .* delete it and fetch again", dict(report.failed)["b"]
    )


NOISE = random.Random(0).randbytes(200_000)


def tar(members, mode="w", **fields):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            member.pax_headers = fields
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def long_names(count):
    """Return headers that each say that the next one's name follows, and no such name."""
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 512
    return (member.tobuf(tarfile.GNU_FORMAT) + b"x".ljust(512, b"\0")) * count


def overwritten(data):
    return data[:50_000] + bytes(1000) + data[51_000:]


NOISY = {"videos/a.mp4": NOISE, "videos/b.mp4": NOISE}
DAMAGED = {
    "cut in a video, gz": lambda: tar(NOISY, "w:gz")[:100_000],
    "cut in a video, xz": lambda: tar(NOISY, "w:xz")[:100_000],
    "cut in a video": lambda: tar(NOISY)[:100_000],
    "wrong bytes, bz2": lambda: overwritten(tar(NOISY, "w:bz2")),
    "no archive": lambda: b"<html>" * 1000,
    "a size beyond all": lambda: tar(NOISY, size="9" * 30),
    "a size that is not a number": lambda: tar(NOISY, size="many"),
    "a sparse map of junk": lambda: tar(NOISY, **{"GNU.sparse.map": "junk,1"}),
    "names upon names": lambda: long_names(5000) + tar(NOISY),
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_every_video_of_a_damaged_archive_ends_as_failed(server, spec, data):
    spec = with_media(spec, packed(server.put("/films.tar.gz", data())))
    report = fetch.run(fetch.plan(spec, "test", media_keys=["a", "b"]))
    assert sorted(what for what, _ in report.failed) == ["a", "b"]
    for _, reason in report.failed:
        assert len(reason.splitlines()) == 1
        assert re.search(
            r"films\.tar\.gz is damaged .* delete it and fetch again|has no|out of an archive of|broken",
            reason,
        )


def test_a_member_that_would_fill_the_disk_is_not_unpacked(server, spec, tmp_path):
    films = {"videos/a.mp4": bytes(20_000_000), "videos/b.mp4": clip(tmp_path)}
    spec = with_media(spec, packed(server.put("/films.tar.gz", tar_gz(films))))
    report = fetch.run(fetch.plan(spec, "test", media_keys=["a", "b"]))
    assert "b" in report.done
    ((what, reason),) = report.failed
    assert what == "a"
    assert re.search(r"would take 20000000 bytes, out of an archive of \d+: not a video", reason)


def test_a_full_disk_is_the_reason_and_costs_no_archive(
    server, spec, tmp_path, small_disk, monkeypatch
):
    monkeypatch.setenv("REELBENCH_HOME", str(small_disk))
    films = {"videos/a.mp4": clip(tmp_path), "videos/b.mp4": NOISE, "videos/c.mp4": clip(tmp_path)}
    url = server.put("/films.tar.gz", tar_gz(films))
    spec = with_media(spec, packed(url))

    report = fetch.run(fetch.plan(spec, "test", media_keys=["a", "b", "c"]))

    assert "a" in report.done
    assert [what for what, _ in report.failed] == ["b", "c"]
    assert all("disk is full" in reason and "damaged" not in reason for _, reason in report.failed)
    assert download.read_remote(download.place(url)) is not None
