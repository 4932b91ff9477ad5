"""What is fuzzed. A target writes one damaged input into a folder, and holds us to it.

`write(draw, folder)` leaves all that the input is; `check(folder)` works on that alone, so that a
finding is repeated from its folder. It raises `Finding` where something came of the input that must
never come of any; an error that is not `ReelbenchError` is a finding by itself, and so are a crash
and more than `LIMIT_S` seconds.
"""

import csv
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tools.fuzzing import commands, damage, events, neighbours, python_face, seeds
from tools.fuzzing.holding import LIMIT_S, hold, one_line, require

SAMPLINGS = (
    "uniform:8",
    "fps:3",
    "keyframe:5",
    "window:1-3,4",
    "all",
    "uniform:4,size=64",
    "uniform:3,as=images",
)


@dataclass(frozen=True)
class Target:
    """Something that reads what others wrote; `weight` is its share of a run's inputs."""

    write: Callable[[Random, Path], None]
    check: Callable[[Path], None]
    weight: int


def _note(folder: Path, **said: object) -> None:
    (folder / "input.json").write_text(json.dumps(said), encoding="utf-8")


def _noted(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "input.json").read_text(encoding="utf-8"))


# --- predictions, references and tags
# --------------------------------------------------------------------------------


def write_scores(draw: Random, folder: Path) -> None:
    """Write predictions in one of a benchmark's formats, its references and tags; one or more of them damaged."""
    name = draw.choice(list(seeds.REFERENCES))
    entries, kind = seeds.predictions(name, draw), draw.choice(("owners", "owners", "table"))
    suffix = draw.choice(
        (".json", ".jsonl") if kind == "owners" else (".csv", ".tsv", ".json", ".jsonl", ".parquet")
    )
    predictions = folder / f"predictions{suffix}"
    which = draw.choice(("predictions", "predictions", "references", "tags", "all"))
    whole = which not in ("predictions", "all")
    if kind == "owners":
        predictions.write_bytes(_json(entries, draw, lines=suffix == ".jsonl", whole=whole))
    else:
        _write_table(predictions, seeds.table(name, draw), draw, whole=whole)
    references = seeds.REFERENCES[name]
    document = json.loads(references.read_text(encoding="utf-8"))
    (folder / references.name).write_bytes(
        _json(document, draw, whole=which not in ("references", "all"))
    )
    if name == "dramaqa_cogme":
        tags = [json.loads(line) for line in seeds.TAGS.read_text(encoding="utf-8").splitlines()]
        (folder / "tags.jsonl").write_bytes(
            _json(tags, draw, lines=True, whole=which not in ("tags", "all"))
        )
    own = which in ("predictions", "tags")
    _note(folder, name=name, predictions=predictions.name, references=references.name, own=own)


def _json(value: Any, draw: Random, *, lines: bool = False, whole: bool) -> bytes:  # noqa: ANN401 - any JSON value
    if not whole:
        return damage.json_text(value, draw, lines=lines)
    text = (
        "".join(json.dumps(entry) + "\n" for entry in value)
        if lines and isinstance(value, list)
        else None
    )
    return (text if text is not None else json.dumps(value)).encode()


def _write_table(path: Path, rows: list[dict[str, Any]], draw: Random, *, whole: bool) -> None:
    if path.suffix in (".json", ".jsonl"):
        path.write_bytes(_json(rows, draw, lines=path.suffix == ".jsonl", whole=whole))
        return
    if path.suffix == ".parquet":
        import pandas as pd

        pd.DataFrame(rows).to_parquet(path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(
                file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ","
            )
            writer.writeheader()
            writer.writerows(rows)
        if not whole and draw.random() < 0.7:  # noqa: PLR2004 - else its bytes
            text = damage.of_text(path.read_text(encoding="utf-8"), draw)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            return
    if not whole:
        path.write_bytes(damage.of_bytes(path.read_bytes(), draw))


def check_scores(folder: Path) -> None:
    """Score it: never anything but a result or one line, no file without a result, and what is scored can be added."""
    from reelbench.scoring.cognitive_profile import read_tags
    from reelbench.tasks.submissions import Inputs

    said = _noted(folder)
    tags, out = folder / "tags.jsonl", folder / "out"

    def inputs() -> Inputs:
        labels = read_tags(tags) if tags.is_file() else None
        return Inputs(
            folder / said["predictions"], folder / said["references"], labels, split="mini"
        )

    scored(said["name"], inputs, out)
    if out.exists():
        sound(out, own=said["own"])


def scored(name: str, inputs: Callable[[], Any], out: Path, judge: Any = None) -> None:  # noqa: ANN401 - JudgeOptions
    """Score into a folder; where the input is refused there must be no folder."""
    from reelbench.tasks.score import Options, RunMetadata, score_files

    options = Options(overlap=False, judge=judge)
    outcome = hold(
        lambda: score_files(name, inputs(), options, metadata=RunMetadata(model="org/model")).write(
            out
        )
    )
    require(outcome is not None or not out.exists(), "refused, and yet something was written")


def sound(out: Path, *, own: bool = True) -> None:
    """Hold a written result to what every result is: complete, within its scales, and fit to be added.

    With other references than the benchmark's `own` it may be refused.
    """
    from reelbench.leaderboard import store
    from reelbench.registry import discovery
    from reelbench.scoring import result_files

    result = result_files.read(out)
    samples = list(result_files.read_samples(out))
    spec = discovery.spec_of(result.benchmark)
    require(
        result.counts.items == len(samples) > 0,
        f"{len(samples)} samples, {result.counts.items} counted",
    )
    for name, metric in result.metrics.items():
        high = spec.metric(name).in_unit.high
        within = metric.value is None or 0 <= metric.value <= high
        require(within, f"{name} is {metric.value}, on a scale from 0 to {high}")
    [added] = store.add(out, out.parent / "store")
    require(added.outcome == "added" or not own, f"written, and refused: {added.why}")
    one_line(added.why or "-")
    require(not added.why.count("can't be checked"), f"not foreseen: {added.why}")


# --- the leaderboard's store
# ------------------------------------------------------------------------------------------


def write_entry(draw: Random, folder: Path) -> None:
    """Write an honest result with damaged files, whose hashes may fit again, in a store or on its way there."""
    name = draw.choice(list(seeds.REFERENCES))
    shutil.copytree(seeds.result(name), folder / "theirs")
    stored = draw.random() < 0.3  # noqa: PLR2004
    if stored:
        from reelbench.leaderboard import store

        [added] = store.add(folder / "theirs", folder / "store")
        place = added.place or folder
    else:
        place = folder / "theirs"
    names = ["result.json", "result.json", "samples.jsonl"]
    for target in {draw.choice(names) for _ in range(2)}:
        path = place / target
        lines = target == "samples.jsonl"
        text = path.read_text(encoding="utf-8")
        value = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
        path.write_bytes(damage.json_text(value, draw, lines=lines))
    if draw.random() < 0.8:  # noqa: PLR2004
        seeds.fit_hashes(place)
    _note(folder, stored=stored)


def check_entry(folder: Path) -> None:
    """Add, check and list it: never a traceback, a file outside the store, or a word about anybody else's result."""
    from reelbench.leaderboard import board, store

    ours = folder / "ours"
    shutil.copytree(seeds.result("rextime", model="org/other"), ours)
    [first] = store.add(ours, folder / "clean")
    require(first.outcome == "added", f"an honest result is refused: {first.why}")
    before = _files(folder)
    for added in store.add(folder / "theirs", folder / "clean"):
        one_line(added.why or "-")
        require(not added.why.count("can't be checked"), f"not foreseen: {added.why}")
    outside = {path for path in _files(folder) - before if "clean" not in path.split("/")[0]}
    require(not outside, f"written outside the store: {outside}")
    require(first.place and (first.place / "result.json").is_file(), "another's result is gone")
    for place in ("clean", "store"):
        if (folder / place).is_dir():
            hold(lambda place=place: board.make(folder / place))
            for checked in hold(lambda place=place: store.check(folder / place)) or ():
                one_line(checked.why or "-")
                require(not checked.why.count("can't be checked"), f"not foreseen: {checked.why}")


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


# --- cards
# ------------------------------------------------------------------------------------------------------------


def write_card(draw: Random, folder: Path) -> None:
    """Write a README that has our sections and people's words, damaged."""
    text = seeds.card(draw.choice(list(seeds.REFERENCES)))
    text = (
        text.replace("---\n", "---\n" + draw.choice(seeds.YAML) + "\n", 1)
        if draw.random() < 0.5  # noqa: PLR2004
        else text
    )
    data = damage.of_text(text, draw).encode("utf-8", "surrogatepass")
    data = damage.of_bytes(data, draw) if draw.random() < 0.2 else data  # noqa: PLR2004
    (folder / "README.md").write_bytes(data)


def check_card(folder: Path) -> None:
    """Merge our card with it: one line or a card that is whole, and that a second merge leaves as it is."""
    from reelbench.hub_cards import merge

    path = folder / "README.md"
    existing = hold(lambda: merge.decode(path.read_bytes(), str(path)))
    if existing is None:
        return
    ours = seeds.rendered("rextime")
    made = hold(lambda: merge.merge_card(ours, existing))
    if made is not None:
        again = hold(lambda: merge.merge_card(ours, made.text))
        require(
            again is not None and again.text == made.text, "a second merge changes the card again"
        )
    hold(lambda: merge.own_config(existing))


# --- archives and videos
# ----------------------------------------------------------------------------------------------


def write_archive(draw: Random, folder: Path) -> None:
    """Write a tar of videos, packed in some way, damaged before or after it was packed."""
    kind = draw.choice(("", "gz", "bz2", "xz"))
    plain = seeds.tar(draw)
    if draw.random() < 0.5:  # noqa: PLR2004
        plain = damage.of_bytes(plain, draw)
    packed = seeds.pack(plain, kind)
    (folder / "films.tar").write_bytes(
        damage.of_bytes(packed, draw) if draw.random() < 0.6 else packed  # noqa: PLR2004
    )


def check_archive(folder: Path) -> None:
    """Fetch from it: each video ends as done or failed with a reason, and nothing lands outside the home."""
    from reelbench.data import fetch, transfers
    from reelbench.registry import discovery
    from reelbench.registry.spec import MediaSource
    from reelbench.video import media_roots, playable
    from tests.servers.files import FileServer

    spec = discovery.get("moviecore")
    with FileServer() as server, seeds.home_in(folder / "home"):
        url = server.put("/films.tar", (folder / "films.tar").read_bytes())
        source = MediaSource(
            title="films",
            kind="archive",
            location=url,
            path="videos/{video}.mp4",
            layouts=("videos/{video}",),
        )
        media = media_roots.fetched_root(spec)
        bring = partial(transfers.archive, seeds.FILMS, source, transfers.VerifiedFiles(media))
        transfer = transfers.Transfer(tuple(seeds.FILMS), None, bring)
        report = fetch.run(fetch.FetchPlan(spec, "test", (transfer,), (), ()))
        for name, reason in report.failed:
            one_line(reason)
            require("please report" not in reason and "Error:" not in reason, f"{name}: {reason}")
        ends = sorted([*report.done, *(name for name, _ in report.failed)])
        require(ends == sorted(seeds.FILMS), f"not each film has one end: {report}")
        for name in report.done:
            require(
                playable.defect(media / "videos" / f"{name}.mp4") is None,
                f"{name} is done, and can't be played",
            )
    require(
        {path.name for path in folder.iterdir()} == {"films.tar", "home"},
        "written outside the home",
    )


def write_video(draw: Random, folder: Path) -> None:
    """Write a small real video, damaged, in one of the containers and codecs that there are."""
    source = draw.choice(seeds.clips())
    (folder / f"film{source.suffix}").write_bytes(
        damage.of_bytes(source.read_bytes(), draw, edges=4000)
    )
    _note(folder, sampling=draw.choice(SAMPLINGS), store=draw.random() < 0.2)  # noqa: PLR2004


def check_video(folder: Path) -> None:
    """Take frames of it: some frames or one line, and a store that holds whole entries only."""
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.decoder import decode
    from reelbench.video.frame_store import FrameStore

    said = _noted(folder)
    [path] = folder.glob("film.*")
    sampling = FrameSampling.parse(said["sampling"])
    if not said["store"]:
        frames = hold(lambda: sum(1 for _ in decode(path, sampling, time_limit=LIMIT_S / 2)))
        require(frames is None or frames > 0, "no frames, and no error")
        return
    store = FrameStore(folder / "store", time_limit=LIMIT_S / 2)
    stored = hold(lambda: store.get(path, sampling))
    if stored is not None:
        require(all(file.stat().st_size for file in stored.files), "an empty file is kept")
        require(
            len(stored.timestamps) - stored.padding == stored.given > 0,
            f"times and frames differ: {stored}",
        )
        require(
            sorted(stored.timestamps) == list(stored.timestamps),
            f"times out of order: {stored.timestamps}",
        )
    left = [name for name in _files(folder / "store") if name.endswith(".tmp")]
    require(not left, f"left in the store: {left}")


# --- what models and judges say
# ---------------------------------------------------------------------------------------


def write_answers(draw: Random, folder: Path) -> None:
    """Write what a model might say, damaged."""
    text = draw.choice(seeds.ANSWERS)
    parts: Iterable[str] = (damage.of_text(text, draw) for _ in range(draw.choice((1, 1, 2, 40))))
    (folder / "answer.txt").write_bytes("\n".join(parts).encode("utf-8", "surrogatepass"))


def check_answers(folder: Path) -> None:
    """Read it for each benchmark: always a letter of the options, an ordered pair of numbers, a text, or None."""
    from reelbench.judges.parsing import parse_score
    from reelbench.registry import discovery
    from reelbench.scoring import answers

    text = (folder / "answer.txt").read_bytes().decode("utf-8", "surrogatepass")
    options = ["a dog barked", "it rained", "a man sang", "nothing"]
    letter, span = answers.read_option(text, options), answers.read_span(text)
    require(letter in (None, *"ABCD"), f"read {letter!r} of four options")
    finite = span is None or (
        len(span) == 2 and all(isinstance(at, float) and abs(at) < 1e12 for at in span)  # noqa: PLR2004
    )
    require(finite, f"read the span {span!r}")
    for spec in discovery.specs().values():
        answers.flags(text, answers.parse(spec, text, options))
    for bare in (True, False):
        score = parse_score(text, 0, 5, bare_integer=bare)
        require(
            score is None or (type(score) is int and 0 <= score <= 5),  # noqa: PLR2004
            f"a judge's score {score!r}",
        )


def write_replies(draw: Random, folder: Path) -> None:
    """Write what a judge's server sends, damaged as JSON, as text or in what the judge says."""
    body = {
        "id": "1",
        "object": "chat.completion",
        "model": "judge-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": '{"score": 3}'},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    for number in range(4):
        (folder / f"reply{number}").write_bytes(damage.json_text(body, draw, lines=False))
    _note(
        folder,
        name=draw.choice(("moviecore", "curve", "moviechat")),
        status=draw.choice((200, 200, 200, 400, 500)),
    )


def check_replies(folder: Path) -> None:
    """Judge by it: each item has a score within its scale or a reason, the key is kept nowhere, and it can be added."""
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.tasks.submissions import Inputs
    from tests.servers.judge import Answer, JudgeServer

    said, key = _noted(folder), "sk-secret-1f2e3d4c"
    bodies = [
        path.read_bytes().replace(b"secret", key.encode()) for path in sorted(folder.glob("reply*"))
    ]
    predictions = folder / "predictions.json"
    predictions.write_text(json.dumps(seeds.predictions(said["name"], Random(1))), encoding="utf-8")  # noqa: S311
    with JudgeServer(
        lambda call: Answer(raw=bodies[call.number % 4], status=said["status"])
    ) as server:
        judge = JudgeOptions(
            model="judge",
            url=server.url,
            api_key=key,
            cache=folder / "judge.sqlite",
            backoff=0.001,
            tries=2,
            timeout=5,
        )
        scored(said["name"], lambda: Inputs(predictions, split="mini"), folder / "out", judge)
    sound(
        folder / "out", own=False
    )  # the board refuses a judge that calls itself what no model is called
    for path in (path for path in folder.rglob("*") if path.is_file()):
        require(key.encode() not in path.read_bytes(), f"the key stands in {path.name}")


TARGETS = {
    "scores": Target(write_scores, check_scores, 10),
    "entries": Target(write_entry, check_entry, 6),
    "cards": Target(write_card, check_card, 6),
    "archives": Target(write_archive, check_archive, 4),
    "answers": Target(write_answers, check_answers, 8),
    "replies": Target(write_replies, check_replies, 6),
    "videos": Target(write_video, check_video, 16),
    "neighbours": Target(neighbours.write, neighbours.check, 12),
    "python": Target(python_face.write, python_face.check, 8),
    "webhook": Target(events.write, events.check, 4),
    **{
        name: Target(partial(commands.write, name), partial(commands.check, name), surface.weight)
        for name, surface in commands.SURFACES.items()
    },
}
