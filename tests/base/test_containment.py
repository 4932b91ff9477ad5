"""What a stranger's folder names outside of itself is neither read nor written, whichever file names it, and how."""

import itertools
import json
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from reelbench.base import containment
from reelbench.base.errors import InputError
from reelbench.data.loading import locate
from reelbench.hub_cards import card_material
from reelbench.registry import benchmark_file, discovery, prompts
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.lmms import process
from reelbench.tasks.prompting import prompt_of
from reelbench.video.library import Library

ROW = {"n": "1", "clip": "film", "q": "Why?", "a": "so"}
COLUMNS = "columns: {id: n, video: clip, question: q, answer: a}\n"
SUBTITLES = "1\n00:00:01,000 --> 00:00:02,000\nsaid\n"
OUTER = {
    "prompt.txt": "Say it: {question}",
    "prompt.json": json.dumps({"en": "Say it: {question}"}),
    "rows.jsonl": json.dumps(ROW) + "\n",
    "judge/user.txt": "{question} {reference} {answer} {criterion}",
    "judge/depth.txt": "How deep?",
    "film.mp4": "no film, but a file of this name",
    "film.srt": SUBTITLES,
    "datasheet.md": "## Limitations\n\nnone\n",
    "benchmark.yaml": f"id: outer\nkind: exact\nsource: {{file: rows.jsonl}}\n{COLUMNS}",
}
NAMED = {  # key of the file, by which it names the outer one
    "prompt": ("prompt.txt", "prompt: {}\n"),
    "prompt in languages": ("prompt.json", "prompt: {}\n"),
    "rows": ("rows.jsonl", "source: {{file: {}}}\n"),
    "rows of a split": ("rows.jsonl", "splits: {{test: {{source: {{file: {}}}}}}}\n"),
    "judge": ("judge", "judge: {{prompts: {}, scale: [0, 5]}}\n"),
    "layouts": ("film", "media: {{layouts: ['{}']}}\n"),
    "roots": (".", "media: {{roots: [{}]}}\n"),
}
LINKED = {  # a file that is looked for by its name, and is a link
    "datasheet": ("datasheet.md", "datasheet.md"),
    "mini rows": ("rows.jsonl", "mini/rows.jsonl"),
    "subtitles": ("film.srt", "film.srt"),
    "video": ("film.mp4", "film.mp4"),
    "declaration": ("benchmark.yaml", "benchmark.yaml"),
}
WAYS = ("absolute", "dots", "round about", "link", "linked folder")
LINKS = ("absolute", "relative", "chain", "linked folder", "process")

opened: list[str] = []
sys.addaudithook(
    lambda event, arguments: (
        opened.append(os.fsdecode(arguments[0])) if watched(event, arguments) else None
    )
)


def watched(event, arguments):
    return event == "open" and isinstance(arguments[0], str | bytes)


@pytest.fixture
def places(tmp_path):
    outer, folder = tmp_path / "outer", tmp_path / "clone" / "kit"
    for name, text in OUTER.items():
        (outer / name).parent.mkdir(parents=True, exist_ok=True)
        (outer / name).write_text(text, encoding="utf-8")
    folder.mkdir(parents=True)
    (folder / "rows.jsonl").write_text(json.dumps(ROW) + "\n", encoding="utf-8")
    (folder / "film.mp4").write_text("", encoding="utf-8")
    return outer, folder


def used(folder):
    """All that is done with a benchmark's folder before anything of it is sent."""
    spec = discovery.open_file(folder)
    prompts.check(spec)
    sampling = FrameSampling.parse("uniform:2,subs=file")
    splits = ["test"]
    if (folder / "mini").is_dir():
        splits.append("mini")
    for split in splits:
        for row in locate(spec.id, split, fetch=False).read():
            prompt_of(spec, row)
            library = Library(spec, split, make=False)
            video = library.find(row)
            if video is not None:
                video.read_bytes()
            library.cues(row, sampling)
    if spec.judge:
        for file in prompts.judge_folder(spec, spec.judge).glob("*.txt"):
            file.read_text(encoding="utf-8")
    card_material.read_datasheet(spec)


def declared(folder, more="", kind="exact"):
    source = "" if more.startswith("source") else "source: {file: rows.jsonl}\n"
    (folder / "benchmark.yaml").write_text(
        f"id: kit\nkind: {kind}\n{source}{COLUMNS}{more}", encoding="utf-8"
    )


@contextmanager
def untouched(outer):
    """Nothing outside is opened."""
    before = {path: path.stat().st_mtime_ns for path in outer.rglob("*")}
    opened.clear()
    yield
    real = str(outer.resolve())
    assert [name for name in opened if os.path.realpath(name).startswith(real)] == []
    assert {path: path.stat().st_mtime_ns for path in outer.rglob("*")} == before


def refused(outer, folder):
    """Use the folder: it is refused in a line, and nothing outside is opened."""
    with (
        untouched(outer),
        pytest.raises(
            InputError,
            match=r"is outside|leads out|is not next to|is not a file's name|expected moviecore",
        ),
    ):
        used(folder)


@pytest.mark.parametrize(("what", "way"), list(itertools.product(NAMED, WAYS)))
def test_an_outer_path_that_a_declaration_names_is_not_read(what, way, places):
    outer, folder = places
    file, text = NAMED[what]
    target = outer / file
    if way == "link":
        place = target if target.exists() else outer
        (folder / "link").symlink_to(place)
    if way == "linked folder":
        (folder / "via").symlink_to(outer)
    link = "link" if target.exists() else f"link/{file}"
    named = {
        "absolute": str(target),
        "dots": f"../../outer/{file}",
        "round about": f"sub/../../../outer/{file}",
        "link": link,
        "linked folder": f"via/{file}",
    }[way]
    (folder / "film.mp4").unlink()
    video = "{video}" if what == "layouts" else ""
    declared(
        folder,
        text.format(named.removesuffix("film") + video if video else named),
        "open" if what == "judge" else "exact",
    )
    refused(outer, folder)


@pytest.mark.parametrize(("what", "way"), list(itertools.product(LINKED, LINKS)))
def test_a_link_to_a_file_outside_is_not_followed(what, way, places):
    outer, folder = places
    file, place = LINKED[what]
    target, link = outer / file, folder / place
    if what != "declaration":
        declared(folder)
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    if way == "chain":
        (folder / "first").symlink_to(target)
        target = folder / "first"
    if way == "linked folder":
        (folder / "via").symlink_to(outer)
        target = folder / "via" / file
    if way == "relative":
        target = os.path.relpath(target, link.parent)
    if way == "process":
        target = f"/proc/self/root{target}"
    link.symlink_to(target)
    refused(outer, folder)


def test_a_row_s_video_is_not_reached_by_a_linked_folder(places):
    outer, folder = places
    (folder / "via").symlink_to(outer)
    (folder / "rows.jsonl").write_text(
        json.dumps({**ROW, "clip": "via/film"}) + "\n", encoding="utf-8"
    )
    declared(folder)
    refused(outer, folder)


@pytest.mark.parametrize(
    "key",
    ["../../outer/film", "/outer/film", "..\\..\\outer\\film", "x/../../../outer/film"],
)
def test_of_a_path_that_leads_out_the_end_is_looked_for_in_the_folder(key, places):
    outer, folder = places
    (folder / "rows.jsonl").write_text(json.dumps({**ROW, "clip": key}) + "\n", encoding="utf-8")
    declared(folder)
    with untouched(outer):
        used(folder)
    spec = discovery.open_file(folder)
    assert Library(spec, "test").find({"video": key}) == folder / "film.mp4"
    (folder / "film.mp4").unlink()
    with untouched(outer):
        assert Library(spec, "test").find({"video": key}) is None


@pytest.mark.parametrize(
    "root", ["$HOME", "$OPENAI_API_KEY", "${REELBENCH_LLM_API_KEY}", "$REELBENCH_MEDIA/../x", "$X"]
)
def test_a_root_names_no_variable_that_is_not_for_videos(root, places):
    _, folder = places
    declared(folder, f"media: {{roots: ['{root}']}}\n")
    with pytest.raises(InputError, match=r"expected a folder, or one below \$REELBENCH_HOME, \$"):
        benchmark_file.read(folder)


@pytest.mark.parametrize("name", ["REELBENCH_LLM_URL", "REELBENCH_HUB_TOKEN"])
def test_a_key_in_a_variable_is_not_shown(name, places, monkeypatch):
    _, folder = places
    monkeypatch.setenv(name, "https://me:planted-0123456789@llm.example/v1")
    declared(folder, f"media: {{roots: [${name}]}}\n")
    with pytest.raises(InputError) as refused:
        benchmark_file.read(folder)
    assert "planted" not in str(refused.value)
    assert "$REELBENCH_MEDIA" in str(refused.value)


def test_a_variable_names_nothing_that_a_path_may_not(places, monkeypatch):
    outer, folder = places
    (folder / "film.mp4").unlink()
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(outer))
    for root in (
        "$REELBENCH_BENCHMARKS",
        "${REELBENCH_BENCHMARKS}/.",
        "$REELBENCH_HOME/media/private",
    ):
        declared(folder, f"media: {{roots: ['{root}']}}\n")
        with pytest.raises(InputError, match=r"yaml, line 5: roots: .* --allow-outside"):
            benchmark_file.read(folder)
    monkeypatch.delenv("REELBENCH_BENCHMARKS")
    declared(folder, "media: {roots: [$REELBENCH_BENCHMARKS]}\n")
    spec = discovery.open_file(folder)  # the variable is not set
    (row,) = locate(spec.id, "test", fetch=False).read()
    assert Library(spec, "test", make=False).find(row) is None
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(outer))
    assert Library(spec, "test", make=False).find(row) is None  # set since it was read
    containment.allow_outside_folder(folder, outer)
    spec = discovery.open_file(folder)
    assert Library(spec, "test", make=False).find(row) == outer / "film.mp4"


def test_a_variable_inside_of_a_path_stays_as_it_is_written(places, monkeypatch):
    _, folder = places
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    declared(folder, "media: {roots: ['films$OPENAI_API_KEY']}\n")
    spec = discovery.open_file(folder)
    assert "sk-planted" not in str(Library(spec, "test", make=False).roots)


def test_what_the_user_allows_is_read_from_then_on_by_the_folder_and_by_no_other(places, tmp_path):
    outer, folder = places
    declared(folder, f"media: {{roots: [{outer}]}}\n")
    with pytest.raises(InputError, match="--allow-outside"):
        benchmark_file.read(folder)
    containment.allow_outside_folder(folder, outer)
    (folder / "film.mp4").unlink()
    spec = discovery.open_file(folder)
    (row,) = locate(spec.id, "test", fetch=False).read()
    assert Library(spec, "test", make=False).find(row) == outer / "film.mp4"
    other_folder = tmp_path / "clone" / "other"  # of the same id: a folder is allowed, never a name
    folder.rename(other_folder)
    with pytest.raises(InputError, match="is outside"):
        benchmark_file.read(other_folder)


def test_a_snapshot_of_the_hub_has_links_to_its_own_files(tmp_path):
    repository = tmp_path / "datasets--org--kit"
    folder = repository / "snapshots" / "0123"
    folder.mkdir(parents=True)
    (repository / "blobs").mkdir()
    declared(repository / "blobs", "prompt: prompt.txt\n")
    for name, text in {
        "prompt.txt": "Say it: {question}",
        "rows.jsonl": json.dumps(ROW) + "\n",
    }.items():
        (repository / "blobs" / name).write_text(text, encoding="utf-8")
    for name in ("benchmark.yaml", "prompt.txt", "rows.jsonl"):
        (folder / name).symlink_to(f"../../blobs/{name}")
    spec = discovery.open_file(folder)
    (row,) = locate(spec.id, "test", fetch=False).read()
    assert prompt_of(spec, row) == "Say it: Why?"


def test_a_folder_here_is_never_taken_for_the_hubs_repository(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert containment.hub_id("org/model", "--llm") == "org/model"
    (tmp_path / "org" / "model").mkdir(parents=True)
    for name in ("./org/model", str(tmp_path / "org" / "model"), "org/other", "model"):
        assert containment.hub_id(name, "--llm") == name
    with pytest.raises(
        InputError, match=r"--llm: org/model is in this folder, too, .* write \./org/model"
    ):
        containment.hub_id("org/model", "--llm")
    (tmp_path / "gpt2").mkdir()
    with pytest.raises(InputError, match=r"gpt2 is in this folder, too"):
        containment.hub_id("gpt2", "--llm")
    with pytest.raises(InputError, match=r"--model_args: org/model is in this folder"):
        process.with_logging(["--model", "hf", "--model_args", "a=1,pretrained=org/model"])


def test_what_lmms_eval_reads_of_the_folder_one_stands_in_decides_nothing(tmp_path, monkeypatch):
    """A stranger's `.env` would say to whom the user's key goes."""
    pytest.importorskip("lmms_eval")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("OPENAI_API_BASE=http://127.0.0.1:9/v1\n")
    monkeypatch.delenv("OPENAI_API_BASE", raising=False)
    program = (
        "import dotenv, os; dotenv.load_dotenv('.env'); print(os.environ.get('OPENAI_API_BASE'))"
    )
    with process.start(["timeit", "-n1", "-r1", program], {}, stdout=subprocess.PIPE) as running:
        output = running.communicate()[0]
    assert running.returncode == 0
    assert output.startswith(b"None\n")
    # It takes all YAML files of a folder that is named as its --tasks are, with the code that they
    # name.
    for name in ("rextime", "rextime,rextime", "others"):
        (tmp_path / name).mkdir()
    assert process.by_name(["--tasks", "rextime"]) == ["--tasks", "rextime,rextime,rextime"]
    assert process.by_name(["--tasks=rextime"]) == ["--tasks=rextime,rextime,rextime"]
    assert process.by_name(["--tasks", "others"]) == [
        "--tasks",
        "others",
    ]  # none of ours: as lmms-eval has it
