"""A stranger's files that name what lies elsewhere, each given to the commands that read it: nothing there is touched.

Beside the stranger's folder lies the user's own: a text, a film, rows and a result. A try has
fallen where one of them is in a request, an output or a file afterwards, or is otherwise than it
was.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from reelbench.data import loading
from reelbench.leaderboard import aliases, board_settings
from reelbench.registry import datasheet_form, parity
from reelbench.scoring import calibration_file
from reelbench.video.mini_clips import draw_clip
from tests.forks import Forks
from tests.servers.files import FileServer
from tests.servers.judge import Answer, JudgeServer
from tools.publishing import plain

MARK = "Zq7wXr2mKp9tLv4n"
Commands = list[list[object]]
Try = tuple[str, str, Callable[[Path], Commands]]
LINKS = ("private/{}", "up/{}", "again")


def linked(folder: Path, name: str, way: str, target: str) -> None:
    """Put a link to one of the user's files where the folder has a file of its own."""
    path = folder / name
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    outside = folder.parent / "private"
    (folder / "up").unlink(missing_ok=True)
    (folder / "up").symlink_to(outside)
    (folder / "again").unlink(missing_ok=True)
    (folder / "again").symlink_to(outside / target)
    named = way.format(target)
    path.symlink_to(
        {"private": folder.parent, "up": folder, "again": folder}.get(named.split("/")[0], folder)
        / named
    )


def rows_as(folder: Path, kind: str, path: str) -> None:
    """Write the folder's rows as a file of that kind, whose videos are elsewhere."""
    import pandas as pd

    lines = [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    rows = pd.DataFrame(
        [line | {"clip": path, "choices": json.dumps(line["choices"])} for line in lines]
    )
    write = {"csv": rows.to_csv, "parquet": rows.to_parquet, "xlsx": rows.to_excel}
    if kind == "jsonl":
        text = "".join(json.dumps(line | {"clip": path}) + "\n" for line in lines)
        (folder / "rows.jsonl").write_text(text, encoding="utf-8")
    else:
        write[kind](folder / f"rows.{kind}", index=False)
    spec = folder / "benchmark.yaml"
    spec.write_text(spec.read_text("utf-8").replace("rows.jsonl", f"rows.{kind}"), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Stranger:
    """What a stranger's folder is made from, and what is typed on it."""

    place: Path
    url: str
    spec: str
    own_url: str
    """A server of the user's own network, with rows that hold the mark."""

    def asked(self, folder: Path, frames: str = "uniform:1") -> Commands:
        """Ask about it, and check it."""
        words = ["--llm", "m", "--llm-url", self.url, "--limit", 1, "--frames", frames]
        return [
            ["ask", folder, *words, "--output", self.place / "out" / "asked"],
            ["check", folder],
        ]

    def filed(self, folder: Path) -> Commands:
        """Check it as a result, file it as one's own, and show it."""
        out, store = self.place / "out", self.place / "store"
        return [
            ["leaderboard", "check", folder],
            ["leaderboard", "add", folder, "--store", store, "--as-maintainer"],
            ["leaderboard", "build", "--store", store, "--out", out / "site"],
            ["view", folder, "--out", out / "page"],
        ]

    def copied(self, folder: Path) -> Path:
        """Make it an honest result."""
        shutil.rmtree(folder)
        return shutil.copytree(self.place / "honest" / "00", folder)

    def rows(self, kind: str, path: str, folder: Path) -> Commands:
        """Rows whose videos are elsewhere."""
        rows_as(folder, kind, path)
        return self.asked(folder)

    def source(self, address: str, folder: Path) -> Commands:
        """Rows that come from the user's own network."""
        spec = folder / "benchmark.yaml"
        source = f"source: {{url: '{address}'}}"
        text = spec.read_text("utf-8").replace("source: {file: rows.jsonl}", source)
        spec.write_text(text, encoding="utf-8")
        return [*self.asked(folder, "none"), ["data", "fetch", folder]]

    def roots(self, path: str, folder: Path) -> Commands:
        """Folders of videos that are elsewhere."""
        spec = folder / "benchmark.yaml"
        text = f"{spec.read_text('utf-8')}media: {{roots: [{json.dumps(path)}]}}\n"
        spec.write_text(text, encoding="utf-8")
        return self.asked(folder)

    def defaults(self, path: str, folder: Path) -> Commands:
        """Defaults by which a command writes and reads elsewhere."""
        quoted = json.dumps(path)
        keys = "".join(
            f"{key} = {quoted}\n" for key in ("status-file", "output", "data", "references")
        )
        (folder / "reelbench.toml").write_text(
            f"[score]\n{keys}[leaderboard.check]\nmarkdown = {quoted}\n"
        )
        rows = loading.locate("rextime", "mini").read()
        (folder / "p.jsonl").write_text(
            "".join(f"{json.dumps({'id': row['id'], 'prediction': 'A'})}\n" for row in rows)
        )
        return [
            [
                "score",
                "rextime_mini",
                "--predictions",
                "p.jsonl",
                "--output",
                self.place / "out" / "scored",
            ]
        ]

    def predictions(self, path: str, folder: Path) -> Commands:
        """Answers that are paths."""
        lines = [
            {"id": f"q{n:02}", "prediction": path, "video": path, "frames": [path]}
            for n in range(36)
        ]
        (folder / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        out = self.place / "out" / "scored"
        scored = [
            "score",
            folder,
            "--predictions",
            folder / "p.jsonl",
            "--output",
            out,
            "--model",
            "a/b",
        ]
        return [scored, *self.filed(out)]

    def samples(self, path: str, folder: Path) -> Commands:
        """Samples whose videos are elsewhere."""
        file = self.copied(folder) / "samples.jsonl"
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        text = "".join(
            json.dumps(line | {"video": path, "frame_timestamps": [0.0]}) + "\n" for line in lines
        )
        file.write_text(text, encoding="utf-8")
        return self.filed(folder)

    def stated(self, part: str, key: str, path: str, folder: Path) -> Commands:
        """A result that is named by a path, or says that its rows lie there."""
        file = self.copied(folder) / "result.json"
        document = json.loads(file.read_text("utf-8"))
        holder = document[part] if part == "model" else document["benchmark"][part]
        holder[key] = path
        file.write_text(json.dumps(document), encoding="utf-8")
        return self.filed(folder)

    def of_result(self, name: str, way: str, folder: Path) -> Commands:
        """A file of a result, or of what lies beside results, that is a link."""
        linked(self.copied(folder), name, way, "secret.txt")
        return self.filed(folder)

    def of_benchmark(self, name: str, way: str, folder: Path) -> Commands:
        """A file of a benchmark that is a link: its rows, its datasheet, a prompt, its judge's prompts."""
        linked(folder, name, way, "rows.jsonl" if name == "rows.jsonl" else "secret.txt")
        named = {
            "ask.txt": "prompt: ask.txt\n",
            "judged/score.txt": "judge: {prompts: judged, scale: [0, 5]}\n",
        }
        text = (
            self.spec.replace("options: choices, ", "").replace("choice", "open")
            if "/" in name
            else self.spec
        )
        (folder / "benchmark.yaml").write_text(text + named.get(name, ""), encoding="utf-8")
        card = ["cards", "render", folder, "--out", self.place / "out" / "card"]
        return [*self.asked(folder, "none"), card]


def tries(stranger: Stranger, paths: tuple[str, ...]) -> Iterator[Try]:
    """Yield each kind of file, the path in it, and what writes that into a folder and returns what is typed then."""
    for path in (*paths, f"{stranger.place}/private/clip0.mp4", "up/clip0.mp4"):
        for kind in ("jsonl", "csv", "parquet", "xlsx"):
            yield f"rows.{kind}", path, partial(stranger.rows, kind, path)
        yield "reelbench.toml", path, partial(stranger.defaults, path)
        yield "predictions", path, partial(stranger.predictions, path)
        yield "samples.jsonl", path, partial(stranger.samples, path)
        for part, key in (("model", "id"), ("model", "revision"), ("source", "location")):
            yield "result.json", f"{part}.{key}: {path}", partial(stranger.stated, part, key, path)
    port = urlsplit(stranger.own_url).port
    for address in (f"http://127.0.0.1:{port}", f"http://localhost:{port}", f"https://0:{port}"):
        yield "source.url", address, partial(stranger.source, f"{address}/rows.jsonl")
    for path in (f"{stranger.place}/private", "up", "$REELBENCH_ATTACKED", "../private"):
        yield "media.roots", path, partial(stranger.roots, path)
    for way in LINKS:
        for name in (
            "samples.jsonl",
            "result.json",
            calibration_file.FILE,
            aliases.FILE,
            board_settings.FILE,
        ):
            yield f"{name}, a link", way, partial(stranger.of_result, name, way)
        for name in ("rows.jsonl", datasheet_form.FILE, parity.FILE, "ask.txt", "judged/score.txt"):
            yield f"{name}, a link", way, partial(stranger.of_benchmark, name, way)


def _words_in(file: Path) -> bytes:
    """Return a file's bytes, with what is packed in it."""
    data = file.read_bytes()
    return data + plain(file.name, data)


def attack(
    place: Path,
    spec: str,
    benchmark: Callable[[Path], Path],
    paths: tuple[str, ...],
    counted: Any,  # noqa: ANN401
) -> None:
    """Type what each try takes, and look for what is the user's own in all that there is then."""
    private = place / "private"
    private.mkdir()
    (private / "secret.txt").write_text(f"{MARK} {{question}} {{options}}", encoding="utf-8")
    line = {"qid": "q00", "clip": "c", "q": MARK, "choices": ["a", "b"], "gold": "A", "topic": MARK}
    (private / "rows.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    draw_clip(private / "clip0.mp4", MARK, 1)

    def owned() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in private.rglob("*")}

    before = owned()
    with (
        closing(Forks(place)) as forks,
        JudgeServer(lambda _: Answer("A")) as server,
        FileServer() as own_server,
    ):
        own_server.put("/rows.jsonl", (private / "rows.jsonl").read_bytes())
        stranger = Stranger(place, server.url, spec, own_server.url)
        for kind, path, write in tries(stranger, paths):
            for name in ("stranger", "out", "store"):
                shutil.rmtree(place / name, ignore_errors=True)
            folder, asked = benchmark(place / "stranger"), len(server.calls)
            own_server.requests.clear()
            (folder / "up").symlink_to(private)
            (folder / "link.txt").symlink_to(private / "secret.txt")
            around = {entry.name for entry in place.iterdir()}
            said = []
            for words in write(folder):
                env = {**os.environ, "HOME": str(private), "COLUMNS": "200"}
                env["REELBENCH_ATTACKED"] = str(private)
                done = forks.run([*map(str, words)], folder, env, 600)
                said.append(done.stdout + done.stderr)
            sent = [json.dumps(call.body) for call in server.calls[asked:]]
            made = [
                entry
                for name in ("out", "store")
                for entry in (place / name).rglob("*")
                if entry.is_file()
            ]
            read = [text for text in (*said, *sent) if MARK in text or '"image_url"' in text]
            read += [str(entry) for entry in made if MARK.encode() in _words_in(entry)]
            new = {entry.name for entry in place.iterdir()} - around - {"out", "store", "home"}
            outcome = (
                f"read: {read[0][:200]}" if read else f"wrote {sorted(new)}" if new else "refused"
            )
            if own_server.requests:
                outcome = "a request to the user's own network"
            if owned() != before:
                outcome = "the user's own was changed"
            if any("Traceback" in text for text in said):
                outcome = (
                    f"a traceback: {next(text for text in said if 'Traceback' in text)[-300:]}"
                )
            counted(f"paths out of: {kind}").count(path, outcome)
