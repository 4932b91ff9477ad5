"""Pictures beside a row's video, and videos that are folders of numbered pictures."""

import base64
import json
import struct
import zlib
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import EpsImagePlugin, Image, ImageFile
from typer.testing import CliRunner

import reelbench as face
from reelbench.base import bounds
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.registry import discovery
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.lmms import adapters
from reelbench.tasks.lmms.task import LmmsTask
from reelbench.video.library import Library
from reelbench.video.mini_clips import draw_clip
from reelbench.video.shown_media import show
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

HEAD = "id: beside\nkind: choice\n"
COLUMNS = (
    'columns: {id: id, video: "{id}.mp4", question: question, options: options, answer: answer, '
)
UNIFORM = FrameSampling.parse("uniform:2")


@pytest.fixture(autouse=True)
def _forget(monkeypatch, reelbench_home):  # noqa: ARG001 - pictures are kept in the home
    monkeypatch.setattr(discovery, "_registry", None)


def picture(path=None, red=200):
    """Return the bytes of a PNG of one colour, written to a file where one is given."""
    buffer = BytesIO()
    Image.new("RGB", (40, 30), (red, 0, 0)).save(buffer, "PNG")
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(buffer.getvalue())
    return buffer.getvalue()


def row(number, **more):
    return {"id": f"q{number}", "question": "Which?", "options": ["a", "b"], "answer": "A", **more}


def declared(folder, head, rows, videos=True):
    """Write a benchmark of these rows with a clip for each."""
    folder.mkdir(exist_ok=True)
    (folder / "benchmark.yaml").write_text(head, encoding="utf-8")
    if "parquet" in head:
        pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    else:
        (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for entry in rows if videos else ():
        draw_clip(folder / f"{entry['id']}.mp4", entry["id"], 3)
    return discovery.open_file(folder)


def packed(tmp_path):
    """A benchmark of two rows, the first of which holds a picture."""
    head = f"{HEAD}source: {{file: rows.parquet}}\n{COLUMNS}pictures: image}}\n"
    image = {"bytes": picture(), "path": "diagram.png"}
    return declared(tmp_path / "b", head, [row(0, image=image), row(1, image=None)])


def test_a_picture_in_a_row_is_shown_after_the_frames(tmp_path):
    spec = packed(tmp_path)
    with_picture, without = face.load(spec.file)
    library = Library(spec, "test")
    assert library.missing([with_picture, without]) == []
    shown = show(library, with_picture, UNIFORM)
    pieces = shown.attachments("en")
    assert [getattr(piece, "media_type", piece) for piece in pieces] == [
        "image/jpeg", "image/jpeg", "Picture 1:", "image/png",
    ]  # fmt: skip
    assert pieces[-1].content() == picture()
    assert len(shown.timestamps) == 2
    assert show(library, without, UNIFORM).picture_count == 2
    assert show(library, with_picture, FrameSampling.parse("none")).attachments("en") == []
    with pytest.raises(ReelbenchError, match="a picture is shown after the pictures of the video"):
        show(library, with_picture, FrameSampling.parse("native"))
    with pytest.raises(InputError, match="shows pictures beside videos, or asks"):
        face.ask("m@http://127.0.0.1:9", spec.file, frames="native")


def test_an_adapter_gets_the_picture_last(tmp_path, monkeypatch):
    spec = packed(tmp_path)
    rows = face.load(spec.file)
    monkeypatch.setattr(adapters, "running", "qwen2_5_vl")
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:2")
    task = LmmsTask(spec)
    task.doc_to_text(rows[0])
    (message,) = task.doc_to_messages(rows[0])
    assert [part["type"] for part in message["content"]] == [
        "image", "image", "text", "image", "text",
    ]  # fmt: skip
    assert message["content"][2]["text"] == "Picture 1:"
    for part in message["content"]:
        if part["type"] == "image":
            part["url"].close()
    visuals = task.doc_to_visual(rows[0])
    assert len(visuals) == 3
    assert visuals[-1].size == (40, 30)
    assert len(task.doc_to_visual(rows[1])) == 2
    assert len(task.item(rows[0], "A").frame_timestamps) == 2


def test_a_server_gets_the_picture_before_the_question(tmp_path, monkeypatch):
    monkeypatch.setenv("REELBENCH_API_KEY", "x")
    spec = packed(tmp_path)
    with JudgeServer(lambda _: Answer("A")) as server:
        face.ask(f"m@{server.url}", spec.file, frames="uniform:2")
        contents = [call.body["messages"][-1]["content"] for call in server.calls]
    contents = [content for content in contents if "Which?" in json.dumps(content)]
    kinds = sorted([part["type"] for part in content] for content in contents)
    assert kinds == [
        ["image_url", "image_url", "text"],
        ["image_url", "image_url", "text", "image_url", "text"],
    ]
    [content] = [content for content in contents if len(content) == 5]
    sent = content[3]["image_url"]["url"]
    assert base64.b64decode(sent.partition("base64,")[2]) == picture()


NAMED = f"{HEAD}source: {{file: rows.jsonl}}\n{COLUMNS}pictures: image}}\n"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("art/face.png", None),
        ("absent.png", "the picture is missing: not in"),
        ("../face.png", "is not a file's name; expected one without '..'"),
        ("/etc/face.png", "is not a file's name; expected one without '..'"),
        ("notes.txt", "does not end in .jpg, .jpeg, .png, .webp, .bmp"),
        ("broken.png", "is not a picture that can be read"),
        ("out.png", "is outside"),
    ],
)
def test_a_row_names_pictures_of_its_own_folder_alone(name, line, tmp_path):
    spec = declared(tmp_path / "b", NAMED, [row(0, image=name)])
    picture(tmp_path / "b" / "art" / "face.png")
    picture(tmp_path / "secret.png")
    (tmp_path / "b" / "notes.txt").write_text("secret", encoding="utf-8")
    (tmp_path / "b" / "broken.png").write_text("secret", encoding="utf-8")
    (tmp_path / "b" / "out.png").symlink_to(tmp_path / "secret.png")
    (read,) = face.load(spec.file)
    library = Library(spec, "test")
    missing = library.missing([read])
    done = CliRunner().invoke(app, ["check", str(tmp_path / "b")])
    if line is None:
        assert missing == []
        assert done.exit_code == 0, done.output
        assert show(library, read, UNIFORM).picture_count == 3
        return
    assert line in missing[0].broken
    assert done.exit_code == 2
    said = " ".join(done.stderr.split())
    assert f"row 1): the picture {name!r} can't be shown" in said
    with pytest.raises(ReelbenchError):
        show(library, read, UNIFORM)


def test_bytes_that_are_no_picture_are_an_unreadable_row(tmp_path):
    head = f"{HEAD}source: {{file: rows.parquet}}\n{COLUMNS}pictures: image}}\n"
    spec = declared(
        tmp_path / "b",
        head,
        [row(0, image={"bytes": b"no picture", "path": "x.png"})],
        videos=False,
    )
    with pytest.raises(InputError, match=r"pictures \(image\): is not a picture that can be read"):
        face.load(spec.file)


FRAMES = f"{HEAD}source: {{file: rows.jsonl}}\nmedia: {{frames: 3}}\n" + COLUMNS.replace(
    '"{id}.mp4"', "film"
)


def framed(folder):
    """A benchmark whose film is a folder of twelve pictures, three a second."""
    spec = declared(folder, f"{FRAMES.removesuffix(', ')}}}\n", [row(0, film="a")], videos=False)
    for number in range(1, 13):
        picture(folder / "videos" / "a" / f"at720p_{number:05}.png", red=number * 20)
    return spec


def test_a_folder_of_numbered_pictures_is_a_video(tmp_path):
    spec = framed(tmp_path / "b")
    (read,) = face.load(spec.file)
    library = Library(spec, "test")
    assert library.missing([read]) == []
    shown = show(library, read, FrameSampling.parse("uniform:3,as=images"))
    # Pictures 1 to 12 at 3 a second: each numbered n is on screen at (n - 1) / 3.
    numbers = [int(path.stem.rpartition("_")[2]) for path in shown.images]
    assert shown.timestamps == pytest.approx([(number - 1) / 3 for number in numbers], abs=1e-6)
    clip = show(library, read, FrameSampling.parse("native"))
    assert clip.video.suffix == ".mp4"
    assert CliRunner().invoke(app, ["check", str(tmp_path / "b")]).exit_code == 0


def test_no_picture_of_a_folder_leads_out_of_it(tmp_path):
    spec = framed(tmp_path / "b")
    picture(tmp_path / "secret.png")
    (tmp_path / "b" / "videos" / "a" / "at720p_00013.png").symlink_to(tmp_path / "secret.png")
    (read,) = face.load(spec.file)
    with pytest.raises(InputError, match="is outside"):
        show(Library(spec, "test"), read, UNIFORM)


def test_links_in_a_circle_end(tmp_path):
    spec = framed(tmp_path / "b")
    folder = tmp_path / "b" / "videos" / "a"
    for file in folder.iterdir():
        file.unlink()
    for name in ("one", "two"):
        (folder / name).symlink_to(folder)
    (read,) = face.load(spec.file)
    assert len(Library(spec, "test").missing([read])) == 1


def test_a_folder_in_place_of_a_video_names_the_key(tmp_path):
    framed(tmp_path / "b")
    file = tmp_path / "b" / "benchmark.yaml"
    file.write_text(file.read_text().replace("media: {frames: 3}\n", ""), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", str(tmp_path / "b")])
    assert done.exit_code == 2
    assert "a folder has that name: of numbered pictures `media: {frames: 3}`" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize(
    ("media", "line"),
    [
        ("{frames: 0}", "media.frames is '0', expected a number above 0, such as 3 or 29.97"),
        ("{frames: many}", "media.frames is 'many', expected a number above 0"),
        ("{frames: 3, youtube: true}", "media.frames: videos of YouTube are files"),
    ],
)
def test_the_pictures_of_a_second_are_a_number(media, line, tmp_path):
    head = FRAMES.replace("{frames: 3}", media).removesuffix(", ")
    with pytest.raises(InputError) as caught:
        declared(tmp_path / "b", f"{head}}}\n", [row(0, film="a")], videos=False)
    assert line in str(caught.value)


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n%%EOF\n"


def encoded(form, size=(10, 10), mode="RGB"):
    """Return the bytes of a black picture of a format of Pillow's."""
    buffer = BytesIO()
    Image.new(mode, size).save(buffer, form)
    return buffer.getvalue()


def with_broken_chunk():
    """Return a PNG whose pixels are followed by a chunk without a name, which Pillow calls a SyntaxError."""
    content = picture()
    body = b"\x01\x02\x03\x04"
    chunk = struct.pack(">I", 0) + body + struct.pack(">I", zlib.crc32(body))
    start = content.index(b"IDAT") - 4
    size = struct.unpack(">I", content[start : start + 4])[0]
    pixels = content[start + 8 : start + 8 + size]
    parts = b""
    for part in (pixels[:10], pixels[10:]):
        crc = struct.pack(">I", zlib.crc32(b"IDAT" + part))
        parts += struct.pack(">I", len(part)) + b"IDAT" + part + crc + chunk
    return content[:start] + parts + content[start + 12 + size :]


@pytest.fixture
def ghostscript(monkeypatch, tmp_path):
    """Put a Ghostscript first that notes that it ran. Return its note."""
    note = tmp_path / "gs_ran.txt"
    program = tmp_path / "bin" / "gs"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> {note}\necho 10.0\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", None)
    return note


FOREIGN = {
    "EPS": EPS,
    "TIFF": encoded("TIFF"),
    "GIF": encoded("GIF"),
    "TGA": encoded("TGA"),
    "PPM": encoded("PPM"),
    "JPEG2000": b"\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a",
}


@pytest.mark.parametrize("form", FOREIGN)
def test_no_other_decoder_sees_a_picture_beside_a_video(form, tmp_path, ghostscript):
    spec = declared(tmp_path / "b", NAMED, [row(0, image="p.png"), row(1, image="ok.png")])
    (tmp_path / "b" / "p.png").write_bytes(FOREIGN[form])
    picture(tmp_path / "b" / "ok.png")
    read, other = face.load(spec.file)
    library = Library(spec, "test")
    [missing] = library.missing([read, other])
    assert missing.id == "q0"
    assert missing.broken.endswith(
        "p.png: is not a picture that can be read (none of JPEG, PNG, WEBP, BMP)"
    )
    with pytest.raises(ReelbenchError, match="is not a picture that can be read"):
        show(library, read, UNIFORM)
    assert not ghostscript.exists()


def test_no_other_decoder_sees_a_picture_of_a_folder(tmp_path, ghostscript):
    spec = framed(tmp_path / "b")
    for path in (tmp_path / "b" / "videos" / "a").iterdir():
        path.write_bytes(EPS)
    (read,) = face.load(spec.file)
    with pytest.raises(ReelbenchError, match="is not a picture that can be read"):
        show(Library(spec, "test"), read, FrameSampling.parse("uniform:3,as=images"))
    assert not ghostscript.exists()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (with_broken_chunk(), "is not a picture that can be read (broken PNG file"),
        (picture()[:60], "is not a picture that can be read ("),
        (encoded("JPEG"), "is a JPEG by its content; name it as one"),
        (encoded("PNG", (10_000, 9_000), "1"), "pixels: 90,000,000, and at most 89,000,000"),
        (encoded("PNG", (20_000, 9_000), "1"), "is not a picture that can be read (Image size"),
    ],
    ids=["broken chunk", "cut", "JPEG named PNG", "Pillow warns", "Pillow raises"],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_faulty_picture_is_one_line_and_ends_nothing_else(content, line, tmp_path, monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", False)  # lmms-eval sets it
    declared(tmp_path / "b", NAMED, [row(0, image="p.png"), row(1, image="absent.png")])
    (tmp_path / "b" / "p.png").write_bytes(content)
    done = CliRunner().invoke(app, ["check", str(tmp_path / "b")])
    assert done.exit_code == 2, done.output
    said = " ".join(done.stderr.split())
    assert "Traceback" not in said
    assert line in said
    assert "absent.png" in said


def test_a_row_shows_a_hundred_pictures_at_most(tmp_path):
    folder = tmp_path / "b"
    spec = declared(folder, NAMED, [row(0, image=["p.png"] * 101)], videos=False)
    with pytest.raises(InputError, match="pictures of a row: 101, and at most 100 are taken"):
        face.load(spec.file)


def test_the_pictures_of_a_row_are_a_file_s_bytes_together(tmp_path, monkeypatch):
    spec = declared(tmp_path / "b", NAMED, [row(0, image=["p.png", "p.png"])])
    size = len(picture(tmp_path / "b" / "p.png"))
    (read,) = face.load(spec.file)
    monkeypatch.setattr(bounds, "FILE_BYTES", 2 * size - 1)
    with pytest.raises(InputError, match=f"beside the video: {2 * size}, and at most"):
        show(Library(spec, "test"), read, UNIFORM)


def test_pictures_are_decoded_when_they_are_used(tmp_path, monkeypatch):
    spec = declared(tmp_path / "b", NAMED, [row(0, image=["p.png", "grey.png", "cameras.jpg"])])
    picture(tmp_path / "b" / "p.png")
    (tmp_path / "b" / "grey.png").write_bytes(encoded("PNG", mode="L"))
    cameras = BytesIO()  # a JPEG with a second picture behind it
    first, second = Image.new("RGB", (20, 20)), Image.new("RGB", (20, 20))
    first.save(cameras, "MPO", save_all=True, append_images=[second])
    (tmp_path / "b" / "cameras.jpg").write_bytes(cameras.getvalue())
    (read,) = face.load(spec.file)
    shown = show(Library(spec, "test"), read, UNIFORM)
    decoded = []
    load = ImageFile.ImageFile.load

    def noted_load(image):
        decoded.append(image.size)
        return load(image)

    monkeypatch.setattr(ImageFile.ImageFile, "load", noted_load)
    visuals = shown.visuals()[-3:]
    assert set(decoded) <= {(10, 10)}  # the grey one is decoded once, to make it RGB
    assert [(image.mode, image.size) for image in visuals] == [
        ("RGB", (40, 30)), ("RGB", (10, 10)), ("RGB", (20, 20)),
    ]  # fmt: skip
    assert [image.getpixel((0, 0)) for image in visuals] == [(200, 0, 0), (0, 0, 0), (0, 0, 0)]


def test_a_link_to_itself_is_missing_and_ends_nothing(tmp_path):
    declared(tmp_path / "b", NAMED, [row(0, image="l.png"), row(1, image="ok.png")])
    picture(tmp_path / "b" / "ok.png")
    (tmp_path / "b" / "l.png").symlink_to("l.png")
    done = CliRunner().invoke(app, ["check", str(tmp_path / "b")])
    said = " ".join(done.stderr.split())
    assert "the picture 'l.png' can't be shown: the picture is missing" in said
    assert "'ok.png'" not in said


def test_a_layout_names_the_folder_by_its_last_part(tmp_path):
    framed(tmp_path / "b")
    file = tmp_path / "b" / "benchmark.yaml"
    media = 'media: {frames: 3, layouts: ["videos/{name}"]}'
    file.write_text(file.read_text().replace("media: {frames: 3}", media), encoding="utf-8")
    rows = tmp_path / "b" / "rows.jsonl"
    rows.write_text(rows.read_text().replace('"film": "a"', '"film": "x/a"'), encoding="utf-8")
    spec = discovery.open_file(tmp_path / "b")
    assert Library(spec, "test").missing(face.load(spec.file)) == []
