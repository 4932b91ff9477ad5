"""A stranger's files that name what lies elsewhere, each given to the commands that read it: nothing there is touched.

Beside the stranger's folder lies the user's own: a text, a film, rows and a result. A try has fallen where one of them
is in a request, an output or a file afterwards, or is otherwise than it was.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from reelbench.leaderboard import withheld
from reelbench.registry.data import loading
from reelbench.registry.media.mini import write_clip
from reelbench.scoring import calibration_file
from tests.forks import Forks
from tests.servers.judge import Answer, JudgeServer

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
    path.symlink_to({"private": folder.parent, "up": folder, "again": folder}.get(named.split("/")[0], folder) / named)


def rows_as(folder: Path, kind: str, path: str) -> None:
    """Write the folder's rows as a file of that kind, whose videos are elsewhere."""
    import pandas as pd

    lines = [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    rows = pd.DataFrame([line | {"clip": path, "choices": json.dumps(line["choices"])} for line in lines])
    write = {"csv": rows.to_csv, "parquet": rows.to_parquet, "xlsx": rows.to_excel}
    if kind == "jsonl":
        text = "".join(json.dumps(line | {"clip": path}) + "\n" for line in lines)
        (folder / "rows.jsonl").write_text(text, encoding="utf-8")
    else:
        write[kind](folder / f"rows.{kind}", index=False)
    spec = folder / "benchmark.yaml"
    spec.write_text(spec.read_text("utf-8").replace("rows.jsonl", f"rows.{kind}"), encoding="utf-8")


def tries(  # noqa: C901, PLR0915 - one kind of file after the other
    place: Path, server: JudgeServer, spec: str, paths: tuple[str, ...]
) -> Iterator[Try]:
    """Yield each kind of file, the path in it, and what writes that into a folder and returns what is typed then."""
    llm = ("--llm", "m", "--llm-url", server.url, "--limit", 1)
    result, out, store = place / "honest" / "00", place / "out", place / "store"
    private = place / "private"
    mini = [{"id": row["id"], "prediction": "A"} for row in loading.locate("rextime", "mini").read()]

    def asked(folder: Path, frames: str = "uniform:1") -> Commands:
        return [["ask", folder, *llm, "--frames", frames, "--output", out / "asked"], ["check", folder]]

    def filed(folder: Path) -> Commands:
        return [
            ["leaderboard", "check", folder],
            ["leaderboard", "add", folder, "--store", store, "--as-maintainer"],
            ["leaderboard", "build", "--store", store, "--out", out / "site"],
            ["view", folder, "--out", out / "page"],
        ]

    def stated(folder: Path, change: Callable[[dict[str, Any]], object]) -> Commands:
        shutil.rmtree(folder)
        shutil.copytree(result, folder)
        document = json.loads((folder / "result.json").read_text("utf-8"))
        change(document)
        (folder / "result.json").write_text(json.dumps(document), encoding="utf-8")
        return filed(folder)

    def rows(kind: str, path: str) -> Callable[[Path], Commands]:
        return lambda folder: rows_as(folder, kind, path) or asked(folder)

    def defaults(path: str) -> Callable[[Path], Commands]:
        def write(folder: Path) -> Commands:
            quoted = json.dumps(path)
            keys = "".join(f"{key} = {quoted}\n" for key in ("status-file", "output", "data", "references"))
            text = f'[score]\n{keys}["leaderboard.check"]\nmarkdown = {quoted}\n'
            (folder / "reelbench.toml").write_text(text.replace('["leaderboard.check"]', "[leaderboard.check]"))
            (folder / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in mini))
            return [["score", "rextime_mini", "--predictions", "p.jsonl", "--output", out / "scored"]]

        return write

    def predictions(path: str) -> Callable[[Path], Commands]:
        def write(folder: Path) -> Commands:
            lines = [{"id": f"q{n:02}", "prediction": path, "video": path, "frames": [path]} for n in range(36)]
            (folder / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            scored = [
                "score",
                folder,
                "--predictions",
                folder / "p.jsonl",
                "--output",
                out / "scored",
                "--model",
                "a/b",
            ]
            return [scored, *filed(out / "scored")]

        return write

    def samples(path: str) -> Callable[[Path], Commands]:
        def write(folder: Path) -> Commands:
            shutil.rmtree(folder)
            shutil.copytree(result, folder)
            lines = [json.loads(line) for line in (folder / "samples.jsonl").read_text("utf-8").splitlines()]
            text = "".join(json.dumps(line | {"video": path, "frame_timestamps": [0.0]}) + "\n" for line in lines)
            (folder / "samples.jsonl").write_text(text, encoding="utf-8")
            return filed(folder)

        return write

    def link(name: str, way: str, target: str, typed: Callable[[Path], Commands]) -> Callable[[Path], Commands]:
        return lambda folder: linked(folder, name, way, target) or typed(folder)

    def of_result(name: str, way: str, target: str) -> Callable[[Path], Commands]:
        def write(folder: Path) -> Commands:
            shutil.rmtree(folder)
            shutil.copytree(result, folder)
            linked(folder, name, way, target)
            return filed(folder)

        return write

    for path in (*paths, f"{private}/clip0.mp4", "up/clip0.mp4"):
        for kind in ("jsonl", "csv", "parquet", "xlsx"):
            yield f"rows.{kind}", path, rows(kind, path)
        yield "reelbench.toml", path, defaults(path)
        yield "predictions", path, predictions(path)
        yield "samples.jsonl", path, samples(path)
        for key in ("id", "revision"):
            yield (
                "result.json",
                f"model.{key}: {path}",
                lambda at, key=key, path=path: stated(at, lambda of: of["model"].update({key: path})),
            )
        yield (
            "result.json",
            f"source: {path}",
            lambda at, path=path: stated(at, lambda of: of["benchmark"]["source"].update(location=path)),
        )
    for way in LINKS:
        for name in ("samples.jsonl", "result.json", "check.json", calibration_file.FILE):
            yield f"{name}, a link", way, of_result(name, way, "secret.txt")
        for name in withheld.OWN:
            yield f"{name}, a link", way, of_result(name, way, "secret.txt")
        yield "rows, a link", way, link("rows.jsonl", way, "rows.jsonl", asked)
        yield (
            "datasheet.md, a link",
            way,
            link("datasheet.md", way, "secret.txt", lambda at: [["cards", "render", at, "--out", out / "card"]]),
        )
        for name, key in (
            ("ask.txt", "prompt: ask.txt\n"),
            ("judged/score.txt", "judge: {prompts: judged, scale: [0, 5]}\n"),
        ):

            def prompt(folder: Path, key: str = key) -> Commands:
                text = spec if key.startswith("prompt") else spec.replace("kind: choice", "kind: open")
                (folder / "benchmark.yaml").write_text(text.replace("options: choices, ", "") + key, encoding="utf-8")
                return asked(folder, "none")

            yield f"{name}, a link", way, link(name, way, "secret.txt", prompt)


def attack(place: Path, spec: str, benchmark: Callable[[Path], Path], paths: tuple[str, ...], counted: Any) -> None:  # noqa: ANN401 - the counts of a kind
    """Type what each try takes, and look for what is the user's own in all that there is then."""
    private = place / "private"
    private.mkdir()
    (private / "secret.txt").write_text(f"{MARK} {{question}} {{options}}", encoding="utf-8")
    line = {"qid": "q00", "clip": "c", "q": MARK, "choices": ["a", "b"], "gold": "A", "topic": MARK}
    (private / "rows.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    write_clip(private / "clip0.mp4", MARK, 1)

    def owned() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in private.rglob("*")}

    before = owned()
    with closing(Forks(place)) as forks, JudgeServer(lambda _: Answer("A")) as server:
        for kind, path, write in tries(place, server, spec, paths):
            for name in ("stranger", "out", "store"):
                shutil.rmtree(place / name, ignore_errors=True)
            folder, asked = benchmark(place / "stranger"), len(server.calls)
            (folder / "up").symlink_to(private)
            (folder / "link.txt").symlink_to(private / "secret.txt")
            around = {entry.name for entry in place.iterdir()}
            said = []
            for words in write(folder):
                env = {**os.environ, "HOME": str(private), "COLUMNS": "200"}
                done = forks.run([*map(str, words)], folder, env, 600)
                said.append(done.stdout + done.stderr)
            sent = [json.dumps(call.body) for call in server.calls[asked:]]
            made = [entry for name in ("out", "store") for entry in (place / name).rglob("*") if entry.is_file()]
            read = [text for text in (*said, *sent) if MARK in text or '"image_url"' in text]
            read += [str(entry) for entry in made if MARK.encode() in entry.read_bytes()]
            new = {entry.name for entry in place.iterdir()} - around - {"out", "store"}
            outcome = f"read: {read[0][:200]}" if read else f"wrote {sorted(new)}" if new else "refused"
            if owned() != before:
                outcome = "the user's own was changed"
            if any("Traceback" in text for text in said):
                outcome = f"a traceback: {next(text for text in said if 'Traceback' in text)[-300:]}"
            counted(f"paths out of: {kind}").count(path, outcome)
